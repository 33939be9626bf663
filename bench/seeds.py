"""Coherence of 90 pairs of seed sets on replicates: against the bare product, and against a sort for every pair.

    python bench/seeds.py [--models 3] [--words 50000] [--dimensions 100]

All on the same vectors (32-bit), in one run, on one thread. The bare product is what no method can avoid: every
vocabulary times 90 directions. Ours also finds the directions, and ranks exactly: where single precision could decide,
in double precision. The plain way is what a user would write: cosines with one direction, `argsort`, ranks, for each
pair. Sets have the sizes of the seed bank's pairings; their words are drawn at random around a center of their own.
`--models 20` is the published study.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from biasgauge.analyses.seeds.coherence import in_every_model
from biasgauge.analyses.seeds.word_pairs import SeedPair, locate
from biasgauge.core import WordPolicy
from biasgauge.lexicons import seed_bank
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from biasgauge.analyses.seeds.word_pairs import Located


def problem(models: int, words: int, dimensions: int) -> tuple[list[Embedding], list[Located]]:
    """Replicates in which seeds lie around centers, and sets of the sizes that the bank's pairings have."""
    random = np.random.default_rng(0)
    bank = seed_bank().bank
    vocabulary = tuple(f"w{row}" for row in range(words))
    centers = random.standard_normal((words, dimensions), np.float32) * np.geomspace(
        2, 0.2, dimensions, dtype=np.float32
    )
    pairs = []
    for number, sets in enumerate(bank.pairings):
        drawn = [random.choice(words, len(set(bank.sets[one])), replace=False) for one in sets]
        for rows in drawn:
            centers[rows] += random.standard_normal(dimensions, np.float32)
        pairs.append(SeedPair(f"a{number}", f"b{number}", *(tuple(vocabulary[row] for row in rows) for rows in drawn)))
    found = [
        Embedding(
            vocabulary, centers + random.standard_normal((words, dimensions), np.float32) * np.float32(0.3), str(run)
        )
        for run in range(models)
    ]
    return found, locate(pairs, found, WordPolicy(1, "exact"))


def directions(vectors: NDArray[Any], located: Sequence[Located], place: int) -> NDArray[np.float32]:
    both = [(one.rows[place].a, one.rows[place].b) for one in located]
    means = np.stack([vectors[a].mean(axis=0) - vectors[b].mean(axis=0) for a, b in both])
    return np.ascontiguousarray(means / np.linalg.norm(means, axis=1, keepdims=True))


def bare(models: Sequence[Embedding], towards: Sequence[NDArray[np.float32]]) -> None:
    for model, one in zip(models, towards, strict=True):
        model.vectors @ one.T


def sorted_each(models: Sequence[Embedding], located: Sequence[Located]) -> NDArray[np.float64]:
    """Cosines, argsort and ranks for every pair in every model."""
    found = np.empty((len(located), len(models)))
    for place, model in enumerate(models):
        lengths = np.linalg.norm(model.vectors, axis=1)
        towards = directions(np.asarray(model.vectors), located, place)
        for pair, one in enumerate(located):
            order = np.argsort(-(model.vectors @ towards[pair]) / lengths)
            ranks = np.empty(len(order))
            ranks[order] = np.arange(len(order))
            rows = one.rows[place]
            found[pair, place] = abs(ranks[rows.a].mean() - ranks[rows.b].mean()) / len(order)
    return found


def ours(models: Sequence[Embedding], located: Sequence[Located], *, left_out: int = 0) -> NDArray[np.float64]:
    numbers = in_every_model(located, models, "mean-difference", scaled=False, published=False, left_out=left_out)
    return np.stack([one.coherence for one in numbers])


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def side_by_side(models: Sequence[Embedding], located: Sequence[Located], repeat: int = 5) -> tuple[float, float]:
    """The bare products and ours, model by model and in turn; the best of each, so that a busy machine hurts both."""
    totals = [0.0, 0.0]
    for model in models:
        towards = [directions(np.asarray(model.vectors), located, 0)]
        times = [
            (seconds(lambda: bare([model], towards)), seconds(lambda: ours([model], located)))  # noqa: B023 - called here
            for _ in range(repeat)
        ]
        for which, one in enumerate(zip(*times, strict=True)):
            totals[which] += min(one)
    return totals[0], totals[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=3)
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--dimensions", type=int, default=100)
    asked = parser.parse_args()
    models, located = problem(asked.models, asked.words, asked.dimensions)
    alone = locate([one.pair for one in located], models[:1], WordPolicy(1, "exact"))
    with threadpool_limits(1):
        product, counted = side_by_side(models, alone)
        plain = seconds(lambda: sorted_each(models, located))
        off = np.abs(ours(models, located) - sorted_each(models, located)).max()
        started = time.perf_counter()
        ours(
            models[:1],
            locate([one.pair for one in located], models[:1], WordPolicy(1, "exact")),
            left_out=1,
        )
        left = time.perf_counter() - started
    seeds = sum(len(one.a) + len(one.b) for one in located)
    print(f"coherence, {len(located)} pairs of sets × {asked.models} models × {asked.words:,} × {asked.dimensions}")
    print(f"  bare products       {product:7.3f} s")
    print(f"  biasgauge           {counted:7.3f} s   {counted / product:5.2f} × the products")
    print(f"  a sort for each     {plain:7.3f} s   {plain / counted:5.2f} × biasgauge; differ by at most {off:.1e}")
    print(f"  without each of {seeds:,} seeds, one model: {left:.1f} s")


if __name__ == "__main__":
    main()
