"""Mean vectors by frequency, and frequency-centered similarities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasgauge.core import (
    Floats,
    FrequencyMeans,
    Query,
    SimilarityTable,
    WordPolicy,
    frequency_means,
    resolve,
)
from biasgauge.vectors import Embedding, Frequencies

EXACT = WordPolicy(case="exact")


def log_frequencies(model: Embedding) -> Floats:
    log = model.log_frequencies("en")
    assert log is not None
    return log.values


def means_of(vectors: Any, frequencies: Floats) -> FrequencyMeans:  # noqa: ANN401 - any matrix
    means = frequency_means(vectors, frequencies)
    assert means is not None
    return means


def centered_of(table: SimilarityTable) -> Floats:
    assert table.centered is not None
    return table.centered


def frequent_and_rare(words: int = 4_000, dim: int = 30, seed: int = 0) -> Embedding:
    """Words without meaning whose vectors share a direction that follows their frequency; most frequent first."""
    random = np.random.default_rng(seed)
    rank = np.arange(1, words + 1)
    shared = np.linspace(3.0, -1.0, words)[:, None] * np.eye(dim)[0] + np.cos(np.log(rank))[:, None] * np.eye(dim)[1]
    return Embedding(
        tuple(f"w{index}" for index in range(words)),
        random.normal(size=(words, dim)) + shared,
        frequencies=Frequencies(rank, "ranks"),
    )


def test_means_follow_frequency() -> None:
    model = frequent_and_rare(20_000)
    log = log_frequencies(model)
    means = means_of(model.vectors, log)
    units = model.vectors / np.linalg.norm(model.vectors, axis=1, keepdims=True)
    for low, high in ((1_000, 1_500), (9_000, 10_000)):
        fitted = means.at(log[low:high]).mean(axis=0)
        np.testing.assert_allclose(fitted, units[low:high].mean(axis=0), atol=0.03)


def test_no_word_has_more_than_a_hundredth_of_a_mean() -> None:
    model = frequent_and_rare(3_000)
    log = log_frequencies(model)
    vectors = np.array(model.vectors)
    moved = vectors.copy()
    moved[0] = -moved[0]
    before, after = (means_of(some, log).at(log[:1]) for some in (vectors, moved))
    assert np.linalg.norm(before - after) < 2 * 0.01 * 1.5


def test_few_words_have_no_means() -> None:
    model = frequent_and_rare(150)
    assert model.frequency_means("en") is None


@pytest.mark.calibration
def test_random_words_of_unequal_frequency_have_no_contrast_once_centered() -> None:
    model = frequent_and_rare(20_000)
    random = np.random.default_rng(1)
    plain, centered = [], []
    for _ in range(60):
        frequent, rare = random.permutation(2_000)[:50], 8_000 + random.permutation(12_000)[:50]
        lists = (frequent[:25], rare[:25], frequent[25:], rare[25:])
        sets = {role: [model.words[row] for row in rows] for role, rows in zip("xyab", lists, strict=True)}
        table = SimilarityTable(resolve(Query.from_sets(sets), model, EXACT))
        signs = np.where(table.target_groups == 0, 1, -1)[:, None] * np.where(table.attribute_groups == 0, 1, -1)
        plain.append((table.values[0] * signs).mean())
        centered.append((centered_of(table)[0] * signs).mean())
    assert abs(np.mean(plain)) > 20 * np.std(plain) / np.sqrt(60)
    assert abs(np.mean(centered)) < 3 * np.std(centered) / np.sqrt(60)


def test_centered_similarities_are_products_of_vectors_less_the_means_of_their_frequency() -> None:
    model = frequent_and_rare()
    sets = {"x": ["w10", "w900"], "y": ["w20", "w3000"], "a": ["w30", "w50"], "b": ["w2000", "w40"]}
    table = SimilarityTable(resolve(Query.from_sets(sets), model, EXACT))
    log = log_frequencies(model)
    means = means_of(model.vectors, log)

    def vector(word: str) -> np.ndarray:
        row = model.index[word]
        return np.asarray(model.vectors[row] / np.linalg.norm(model.vectors[row]) - means.at(log[[row]])[0])

    expected = [[vector(t) @ vector(a) for a in table.attribute_words] for t in table.target_words]
    np.testing.assert_allclose(centered_of(table)[0], expected, rtol=1e-12)


def test_forms_of_a_lemma_are_one_row_with_their_mean() -> None:
    words = ["run", "runs", "walk", "swim", "good", "bad", "nice", "colour", "color", "tree"]
    model = Embedding(tuple(words), np.random.default_rng(0).normal(size=(len(words), 6)))
    sets = {"x": ["run", "runs", "walk"], "y": ["swim", "tree"], "a": ["good", "nice"], "b": ["bad", "color", "colour"]}
    table = SimilarityTable(resolve(Query.from_sets(sets), model, EXACT))
    assert table.target_words == ("run/runs", "walk", "swim", "tree")
    assert table.attribute_words == ("good", "nice", "bad", "color/colour")
    units = {word: vector / np.linalg.norm(vector) for word, vector in zip(words, model.vectors, strict=True)}
    expected = np.mean([units[one] @ units[other] for one in ("run", "runs") for other in ("color", "colour")])
    assert table.values[0, 0, 3] == pytest.approx(expected)


def test_a_target_that_is_an_attribute_in_another_form_goes() -> None:
    words = ["dog", "dogs", "cat", "horse", "car", "bus", "good", "bad", "fine", "poor"]
    model = Embedding(tuple(words), np.random.default_rng(0).normal(size=(len(words), 6)))
    sets = {"x": ["dog", "cat", "horse"], "y": ["car", "bus"], "a": ["good", "fine", "dogs"], "b": ["bad", "poor"]}
    found = resolve(Query.from_sets(sets), model, WordPolicy(case="exact", min_coverage=0.5))
    assert found.sets["x"].words == ("cat", "horse")
    assert "attribute" in found.sets["x"].lost["dog"]
    assert found.sets["a"].words == ("good", "fine", "dogs")
