"""GloVe: counting, an iteration, and N models from one count, beside the official C tool's stored figures.

    python bench/glove.py [--part count|train|replicates] [--tokens 5000000]

On English Wikipedia from the shared data folder (BIASGAUGE_SHARED), or on random words with a natural spread of
frequencies where that is absent. Everything runs on one core, and times are processor time, so that other work on the
machine does not count. The official figures were measured once, not in this run: 27 s an iteration for 11.5 million
cells (100 numbers a vector, one thread); 691 and 830 s for 15 iterations of 23.7 million cells on two busy cores.
"""

from __future__ import annotations

import argparse
import lzma
import os
import re
import time
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasgauge.text.training.algorithms import GloveSettings
from biasgauge.text.training.cooccurrence import Cooccurrence, count_cooccurrences
from biasgauge.text.training.glove import shuffled, train_glove

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

SHARED = Path(os.environ.get("BIASGAUGE_SHARED", Path(__file__).parents[2] / "shared" / "data"))
OFFICIAL = 11.5e6 / 27
"""Cells a second of the official tool on one core."""
DIM, MIN_COUNT = 100, 5


class Text(NamedTuple):
    """A text as count_cooccurrences reads it."""

    tokens: NDArray[np.uint32]
    lines: NDArray[np.int64]
    places: NDArray[np.int32]
    size: int


def counted(read: Text) -> Cooccurrence:
    return count_cooccurrences(read.tokens, read.lines, np.arange(len(read.lines) - 1), read.places, read.size)


def wikipedia() -> Iterator[list[str]]:
    with lzma.open(SHARED / "enwiki_sample" / "enwiki_long_articles_5M.txt.xz", "rt", encoding="utf-8") as file:
        for line in file:
            yield re.findall(r"[a-z]+(?:'[a-z]+)?", line.lower())


def random_words() -> Iterator[list[str]]:
    random = np.random.default_rng(0)
    shares = 1 / np.arange(2, 60_002)
    while True:
        yield random.choice(60_000, 54, p=shares / shares.sum()).astype(str).tolist()


@cache
def text(tokens: int) -> Text:
    """Lines with so many tokens in all, at most; words that occur five times and more."""
    numbers: dict[str, int] = {}
    lines, total = [], 0
    for line in wikipedia() if SHARED.is_dir() else islice(random_words(), tokens // 54):
        total += len(line)
        if total > tokens:
            break
        if line:
            lines.append([numbers.setdefault(word, len(numbers)) for word in line])
    ends = np.cumsum([0, *map(len, lines)])
    everything = np.concatenate([np.array(line, np.uint32) for line in lines])
    counts = np.bincount(everything)
    ranked = np.argsort(-counts, kind="stable")[: int((counts >= MIN_COUNT).sum())]
    places = np.full(len(counts), -1, np.int32)
    places[ranked] = np.arange(len(ranked))
    return Text(everything, ends, places, len(ranked))


def compile_loops() -> None:
    train_glove(counted(text(2_000)), GloveSettings(dim=DIM, epochs=1), seed=0)


def count(tokens: int) -> None:
    read = text(tokens)
    started = time.process_time()
    cells = counted(read)
    seconds = time.process_time() - started
    print(f"counting, window 15: {len(read.tokens):,} tokens, {read.size:,} words, {len(cells):,} cells")
    print(f"  biasgauge          {seconds:7.2f} s   {len(read.tokens) / seconds:12,.0f} tokens a second")


def train(tokens: int, iterations: int = 3) -> None:
    cells = counted(text(tokens))
    started = time.process_time()
    shuffled(cells, x_max=100.0, alpha=0.75, seed=0, memory=2**31)
    shuffling = time.process_time() - started
    started = time.process_time()
    train_glove(cells, GloveSettings(dim=DIM, epochs=iterations), seed=0)
    seconds = (time.process_time() - started - shuffling) / iterations
    rate = len(cells) / seconds
    print(f"training, {DIM} numbers a vector, {len(cells):,} cells")
    print(f"  shuffling, once    {shuffling:7.2f} s")
    print(f"  one iteration      {seconds:7.2f} s   {rate / 1e6:6.2f} million cells a second")
    print(
        f"  official, stored   {len(cells) / OFFICIAL:7.2f} s   {OFFICIAL / 1e6:6.2f}   {rate / OFFICIAL:.1f} × slower"
    )
    print("  official, stored   691 and 830 s for 15 iterations of 23.7 million cells on two busy cores")


def replicates(tokens: int) -> None:
    read = text(tokens // 10)
    print(f"N models, one after the other, from one count of {len(read.tokens):,} tokens; 5 iterations each")
    for models in (1, 2, 4, 8):
        started = time.process_time()
        cells = counted(read)
        counting = time.process_time() - started
        for seed in range(models):
            train_glove(cells, GloveSettings(dim=DIM, epochs=5), seed=seed)
        total = time.process_time() - started
        print(f"  N = {models}              {total:7.2f} s   {total / models:6.2f} a model, counting {counting:.2f}")


def main() -> None:
    parts = {"count": count, "train": train, "replicates": replicates}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=parts)
    parser.add_argument("--tokens", type=int, default=5_100_000)
    asked = parser.parse_args()
    compile_loops()
    for name, part in parts.items():
        if asked.part in (None, name):
            part(asked.tokens)


if __name__ == "__main__":
    main()
