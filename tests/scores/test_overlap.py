"""`neighbor_overlap`: full sorting, planted models, and the jackknife done in earnest."""

from __future__ import annotations

import json
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import t as student

from biasgauge.errors import ParameterError
from biasgauge.scores import neighbor_overlap
from biasgauge.scores.engine import LEAST_FOR_ALL_PAIRS
from biasgauge.scores.overlap import REASONS
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from numpy.typing import NDArray


def model(vectors: NDArray[Any], name: str, words: list[str] | None = None) -> Embedding:
    chosen = [f"w{row}" for row in range(len(vectors))] if words is None else words
    return Embedding(tuple(chosen), vectors, name=name)


def replicates(seed: int, count: int, *, noise: float = 0.5, lose: int = 0, size: int = 120) -> list[Embedding]:
    random = np.random.default_rng(seed)
    truth = random.normal(size=(size, 6))
    models = []
    for number in range(count):
        rows = random.permutation(size)[: size - lose]
        vectors = (truth + noise * random.normal(size=truth.shape))[rows].astype(np.float32)
        models.append(model(vectors, f"m{number}", [f"w{row}" for row in rows]))
    return models


def slow_overlap(models: list[Embedding], k: int) -> dict[str, float]:
    """Sort all shared words by cosine, in double precision, for every word and model."""
    shared = [word for word in models[0].words if all(word in one and one[word].any() for one in models)]
    near = []
    for one in models:
        wide = np.array([one[word] for word in shared]).astype(np.float64)
        units = (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(np.float32).astype(np.float64)
        near.append(
            {
                word: set(
                    sorted(
                        (other for other in range(len(shared)) if other != place),
                        key=lambda other: (-round(float(units[place] @ units[other]), 12), other),
                    )[:k]
                )
                for place, word in enumerate(shared)
            }
        )
    return {word: float(np.mean([len(a[word] & b[word]) / k for a, b in combinations(near, 2)])) for word in shared}


@pytest.mark.parametrize(("seed", "count", "k"), [(0, 2, 10), (1, 3, 1), (2, 4, 7)])
def test_equal_to_full_sorting(seed: int, count: int, k: int) -> None:
    models = replicates(seed, count, lose=15)
    expected = slow_overlap(models, k)
    found = neighbor_overlap(*models, k=k)
    assert dict(zip(found.words, found.values, strict=True)) == pytest.approx(expected, abs=1e-12)
    assert found.mean.value == pytest.approx(np.mean(list(expected.values())))
    assert found.pool == len(expected)
    assert found.chance == pytest.approx(k / (len(expected) - 1))


def test_search_over_all_pairs_gives_the_same() -> None:
    """Of a large pool, most words are searched for over all pairs of words, and few words one by one."""
    size = LEAST_FOR_ALL_PAIRS + 8
    models = replicates(5, 2, size=size)
    whole = neighbor_overlap(*models, n_jobs=2)
    for share in (0.1, 0.8):
        some = [f"w{row}" for row in range(round(share * size), 10, -1)]
        picked = neighbor_overlap(*models, words=some, n_jobs=1)
        places = {word: place for place, word in enumerate(whole.words)}
        np.testing.assert_array_equal(picked.values, whole.values[[places[word] for word in some]])


def test_what_keeps_cosines_keeps_neighbors() -> None:
    """A rotation, other lengths, further dimensions of nothing: no alignment is needed."""
    random = np.random.default_rng(0)
    vectors = random.normal(size=(80, 5))
    rotation = np.linalg.qr(random.normal(size=(5, 5)))[0]
    other = np.concatenate([vectors @ rotation * random.uniform(0.5, 2, (80, 1)), np.zeros((80, 3))], axis=1)
    found = neighbor_overlap(model(vectors, "a"), model(other, "b"), k=5)
    np.testing.assert_array_equal(found.values, 1)
    three = neighbor_overlap(model(vectors, "a"), model(other, "b"), model(2 * vectors, "c"), k=5)
    assert (three.mean.value, three.mean.low) == (1, None)
    assert three.mean.reason == "leaving out any model gives the same value"
    assert np.isnan(three.low).all()


def test_unrelated_models_agree_by_chance() -> None:
    random = np.random.default_rng(0)
    found = neighbor_overlap(*(model(random.normal(size=(600, 20)), name) for name in "abcd"), k=30)
    assert found.chance == pytest.approx(30 / 599)
    assert found.mean.value == pytest.approx(found.chance, abs=0.003)
    low, high = found.mean.low, found.mean.high
    assert low is not None
    assert high is not None
    assert low <= 30 / 599 <= high


def test_interval_is_the_jackknife_over_models() -> None:
    models = replicates(3, 5)
    found = neighbor_overlap(*models)
    without = []
    for left in range(5):
        one = neighbor_overlap(*models[:left], *models[left + 1 :], words=found.words)
        without.append(one.values)
    spread = np.sqrt(4 / 5 * np.square(np.array(without) - np.mean(without, axis=0)).sum(axis=0))
    margin = np.where(spread > 0, student.ppf(0.975, 4) * spread, np.nan)
    np.testing.assert_allclose(found.low, np.maximum(found.values - margin, 0), atol=1e-12)
    np.testing.assert_allclose(found.high, np.minimum(found.values + margin, 1), atol=1e-12)
    means = np.mean(without, axis=1)
    overall = student.ppf(0.975, 4) * np.sqrt(4 / 5 * np.square(means - means.mean()).sum())
    assert found.mean.low == pytest.approx(found.values.mean() - overall)
    assert (found.mean.method, found.mean.over) == ("jackknife-t", "models")


def test_two_models_have_an_interval_over_words_alone() -> None:
    found = neighbor_overlap(*replicates(0, 2))
    assert np.isnan(found.low).all()
    margin = 1.959964 * found.values.std(ddof=1) / len(found.values) ** 0.5
    assert found.mean.high == pytest.approx(found.values.mean() + margin, rel=1e-6)
    assert (found.mean.method, found.mean.over) == ("normal", "words")


def test_undefined_has_a_reason() -> None:
    a, b = replicates(1, 2, size=30)
    vectors = np.array(a.vectors)
    vectors[a.index["w4"]] = 0
    a = model(vectors, "a", list(a.words))
    b = b.subset([word for word in b.words if word != "w5"])
    found = neighbor_overlap(a, b, words=["w1", "w4", "w5", "nowhere"], k=5)
    assert [REASONS[place] for place in found.undefined] == [
        "",
        "its vector is zero in a model",
        "not in every model",
        "not in every model",
    ]
    assert np.array_equal(np.isnan(found.values), found.undefined > 0)
    assert found.pool == 28
    expected = slow_overlap([a, b], 5)
    assert found.values[0] == pytest.approx(expected["w1"])
    few = neighbor_overlap(a, b, words=["w1", "w5"], k=28)
    assert [REASONS[place] for place in few.undefined] == [
        "fewer than k other words are in every model",
        "not in every model",
    ]
    assert (few.mean.value, few.mean.reason, few.chance) == (None, "no words have a value", None)
    told = json.loads(json.dumps(found.to_dict()))
    assert told["undefined"] == {"not in every model": 2, "its vector is zero in a model": 1}
    assert list(found.to_frame()["undefined"]) == [REASONS[place] for place in found.undefined]
    assert "undefined" in few._repr_html_()


def test_models_that_share_nothing() -> None:
    found = neighbor_overlap(model(np.eye(3), "a"), model(np.eye(3), "b", ["x", "y", "z"]))
    assert (found.words, found.mean.value, found.pool) == ((), None, 0)


def test_arguments_that_cannot_be_used() -> None:
    a, b = replicates(0, 2)
    for wrong in ({"k": 0}, {"k": 2.5}, {"n_jobs": 0}, {"words": "w1"}, {"level": 1}):
        with pytest.raises(ParameterError, match=r"must (be|lie)"):
            neighbor_overlap(a, b, **wrong)
    with pytest.raises(ParameterError, match="Every model needs a name of its own"):
        neighbor_overlap(a, a)
