"""Our GloVe beside the official tool's: the same cells, and vectors as near to its as its are to each other."""

from __future__ import annotations

import itertools
import json
import lzma
import re
from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from biasgauge.text.training.algorithms import GloveSettings
from biasgauge.text.training.cooccurrence import Cooccurrence, count_cooccurrences
from biasgauge.text.training.glove import train_glove

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


class Text(NamedTuple):
    tokens: NDArray[np.uint32]
    lines: NDArray[np.int64]
    places: NDArray[np.int32]
    words: list[str]


SPREAD = {"cost": 0.0008, "overlap": 0.0019, "norm": 0.0031}
"""Spread between seeds, over eight fits of ours to this text: sd of the costs (as a share, pooled over iterations), of
the overlap of two fits' neighbors (28 pairs), of the mean norm."""
DRIFT = 0.004
"""Share by which costs may be higher in the reference. It ran in two threads, which do not keep in step, so that the
order in which cells are visited changes from iteration to iteration; ours stays, which lowers costs a little. Two seeds
gave up to 0.27 and 0.40 % more in two threads (most in the last iterations), and one up to 0.55 % more in one thread
whose halves were shifted against each other at random; 64 instead of 32 bits changed costs by 0.0002 % at most."""


@pytest.fixture(scope="module")
def reference(shared_data: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared_data / "glove_reference" / "reference.json").read_text())
    return found


@pytest.fixture(scope="module")
def text(shared_data: Path) -> Text:
    """The text of the reference run, by the rule in its SOURCE.txt."""
    rule = re.compile(r"[a-z]+(?:'[a-z]+)?")
    numbers: dict[str, int] = {}
    tokens, ends = array("I"), [0]
    path = shared_data / "enwiki_sample" / "enwiki_long_articles_5M.txt.xz"
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            words = rule.findall(line.lower())
            tokens.extend(numbers.setdefault(word, len(numbers)) for word in words)
            if words:
                ends.append(len(tokens))
    names, counts = list(numbers), np.bincount(tokens)
    kept = sorted(np.flatnonzero(counts >= 5).tolist(), key=lambda number: (-counts[number], names[number]))
    places = np.full(len(names), -1, np.int32)
    places[kept] = np.arange(len(kept))
    return Text(np.array(tokens, np.uint32), np.array(ends), places, [names[number] for number in kept])


@pytest.fixture(scope="module")
def cells(text: Text) -> Cooccurrence:
    return count_cooccurrences(text.tokens, text.lines, np.arange(len(text.lines) - 1), text.places, len(text.words))


@pytest.mark.shared
def test_as_many_cells_as_the_official_tool(reference: dict[str, Any], text: Text, cells: Cooccurrence) -> None:
    found = len(text.tokens), len(text.lines) - 1, len(text.words), len(cells)
    assert found == tuple(reference[name] for name in ("tokens", "lines", "vocabulary", "cooccurrence_entries"))


def neighbors(vectors: NDArray[Any], k: int = 10) -> NDArray[np.intp]:
    units = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    similarity = units @ units.T
    np.fill_diagonal(similarity, -np.inf)
    return np.argsort(-similarity, axis=1, kind="stable")[:, :k]


def overlap(one: NDArray[np.intp], other: NDArray[np.intp]) -> float:
    return float(np.mean([len(np.intersect1d(a, b)) / len(a) for a, b in zip(one, other, strict=True)]))


@pytest.mark.slow
@pytest.mark.shared
def test_fits_like_the_official_tool(
    shared_data: Path, reference: dict[str, Any], text: Text, cells: Cooccurrence
) -> None:
    """Two fits of ours differ from two of the official tool as fits with different seeds do.

    An error shows: with biases that move at the rate of vectors, as before 2020, the cost of the first iteration is
    10 % higher and that of the second 1.3 % lower; fits that share the order of the cells overlap by .871, not .831.
    """
    official = np.load(shared_data / "glove_reference" / "official_glove_100d_top4000.npz")
    assert official["words"].tolist() == text.words[:4000]
    theirs = [official["seed_1"], official["seed_2"]]
    fits = [train_glove(cells, GloveSettings(dim=100, epochs=15), seed=seed) for seed in (1, 2)]
    ours = [fit.vectors[:4000] for fit in fits]

    expected = np.mean([*reference["loss_per_iteration"].values()], axis=0)
    excess = np.mean([fit.losses for fit in fits], axis=0) / expected - 1
    assert excess.max() < 4 * SPREAD["cost"]
    assert excess.min() > -4 * SPREAD["cost"] - DRIFT

    near_theirs, near_ours = ([neighbors(vectors) for vectors in side] for side in (theirs, ours))
    published = reference["top10_neighbour_overlap_between_seeds_first_4000_words"]
    assert overlap(*near_theirs) == pytest.approx(published, abs=1e-3)
    found = [overlap(*near_ours), *(overlap(a, b) for a, b in itertools.product(near_ours, near_theirs))]
    np.testing.assert_allclose(found, published, rtol=0, atol=4 * SPREAD["overlap"])

    norms = [np.linalg.norm(vectors.astype(np.float64), axis=1).mean() for vectors in ours]
    their_norms = list(reference["norm_mean"].values())
    assert np.mean(norms) == pytest.approx(np.mean(their_norms), abs=4 * SPREAD["norm"])
