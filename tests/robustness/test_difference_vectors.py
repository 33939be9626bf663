"""Likeness of pairs and their agreement, against NumPy and SciPy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import pearsonr

from biasgauge.analyses.robustness import robustness
from biasgauge.analyses.robustness.agreements import difference_cosines, mean_cosine
from biasgauge.lexicons import pairs_of
from biasgauge.vectors import Embedding, load

PAIRS = [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h"), ("i", "j"), ("k", "l")]
WORDS = [f"w{number}" for number in range(60)]


@pytest.fixture(scope="module")
def model() -> object:
    random = np.random.default_rng(3)
    shared = random.normal(size=20)
    vectors = {word: random.normal(size=20) for pair in PAIRS for word in pair}
    for weight, (first, second) in enumerate(PAIRS):
        vectors[first] = vectors[first] + weight * shared
        vectors[second] = vectors[second] - weight * shared
    return load((list(vectors) + WORDS, np.array([*vectors.values(), *random.normal(size=(60, 20))])))


def test_cosines_are_those_of_differences_of_unit_vectors(model: Embedding) -> None:
    vectors = load(model)
    found = difference_cosines(vectors, [*PAIRS, ("a", "gone")])
    unit = {word: vectors[word] / np.linalg.norm(vectors[word]) for pair in PAIRS for word in pair}
    for (i, one), (j, other) in combinations(enumerate(PAIRS), 2):
        x, y = unit[one[0]] - unit[one[1]], unit[other[0]] - unit[other[1]]
        assert found[i, j] == pytest.approx(x @ y / np.linalg.norm(x) / np.linalg.norm(y))
    assert np.isnan(found[6]).all()
    part = found[:6, :6]
    assert mean_cosine(found, with_itself=True) == pytest.approx(part.mean())
    assert mean_cosine(found, with_itself=False) == pytest.approx(part[np.triu_indices(6, 1)].mean())
    assert mean_cosine(found[:1, :1], with_itself=False) is None


@pytest.mark.parametrize("as_published", [False, True])
def test_correlations(model: Embedding, *, as_published: bool) -> None:
    found = robustness(model, pairs=PAIRS, words=WORDS, measures="dbwa", truths={}, forms=(), as_published=as_published)
    kappa = {frozenset({"~".join(one.pair), one.against}): one.kappa.value for one in found.pairwise}
    names = ["~".join(pair) for pair in pairs_of(PAIRS).pairs]
    rows = {one.pair: one for one in found.similarity}
    for i, name in enumerate(names):
        points = [(found.cosines[i, j], kappa[frozenset({name, other})]) for j, other in enumerate(names) if j != i]
        if as_published:
            points.append((1.0, 1.0))
        expected = pearsonr(*zip(*points, strict=True))
        one = rows[PAIRS[i]]
        assert (one.r.value, one.p) == pytest.approx(tuple(expected))
        assert one.r.n == 5 + as_published
    every = rows[None]
    points = [(found.cosines[i, j], kappa[frozenset({names[i], names[j]})]) for i, j in combinations(range(6), 2)]
    assert every.r.value == pytest.approx(pearsonr(*zip(*points, strict=True))[0])
    assert (every.r.n, every.r.k, every.p) == (15, 6, None)
    low, value, high = every.r.low, every.r.value, every.r.high
    assert low is not None
    assert value is not None
    assert high is not None
    assert low < value < high


def test_too_few_pairs_have_a_reason(model: Embedding) -> None:
    found = robustness(model, pairs=PAIRS[:3], words=WORDS, measures="dbwa", truths={}, forms=())
    assert {one.r.reason for one in found.similarity} == {
        "fewer than 4 have both numbers",
        "an interval takes at least 4 pairs",
    }
