"""Neighbors that differ and typical contexts, against plain loops over single occurrences."""

from __future__ import annotations

import numpy as np
import pytest
from tests.regress.slow_regression import DIM, slow_occurrences, small_text, small_vectors

import biasgauge as bg
from biasgauge.analyses.regress import EmbeddingRegression
from biasgauge.errors import ParameterError

RECORDS = small_text(7, odds=20.0, documents=80)
SLOW = slow_occurrences(RECORDS, ["t0"], small_vectors(), np.eye(DIM), 3, lambda r: [1, r["group"] == "y"])


@pytest.fixture(scope="module")
def fit() -> EmbeddingRegression:
    return bg.regress(
        RECORDS, "t0 ~ group", vectors=small_vectors(), transform=np.eye(DIM), text="tokens", window=3, permutations=19
    )


def test_ratios_of_cosines_are_those_of_group_means(fit: EmbeddingRegression) -> None:
    neighbors = fit.neighbors({"group": "y"}, {"group": "x"}, most=5, resamples=200)
    means = {group: SLOW.embeddings[SLOW.design[:, 1] == code].mean(axis=0) for group, code in (("y", 1), ("x", 0))}
    units = {word: vector / np.linalg.norm(vector) for word, vector in small_vectors().items()}
    cosines = {
        group: {word: float(unit @ mean / np.linalg.norm(mean)) for word, unit in units.items()}
        for group, mean in means.items()
    }
    nearest = {group: sorted(row, key=lambda word: -row[word])[:5] for group, row in cosines.items()}
    assert {row.word for row in neighbors.rows} == {*nearest["y"], *nearest["x"]}
    for row in neighbors.rows:
        assert row.first == pytest.approx(cosines["y"][row.word])
        assert row.second == pytest.approx(cosines["x"][row.word])
        if row.ratio is not None:
            assert row.ratio == pytest.approx(row.first / row.second)
            if row.low is not None and row.high is not None:
                assert row.low <= row.ratio <= row.high
        assert (row.nearest_of == "both") == (row.word in nearest["y"] and row.word in nearest["x"])
    assert list(neighbors.to_frame().columns[:3]) == ["word", "first", "second"]
    assert fit.neighbors({"group": "y"}, {"group": "x"}, most=5, resamples=200).rows == neighbors.rows


def test_nearest_words_are_those_of_the_mean_of_a_group(fit: EmbeddingRegression) -> None:
    mean = SLOW.embeddings[SLOW.design[:, 1] == 1].mean(axis=0)
    cosines = {w: float(v @ mean / np.linalg.norm(v) / np.linalg.norm(mean)) for w, v in small_vectors().items()}
    nearest = fit.nearest({"group": "y"}, most=5, resamples=200)
    assert [row.word for row in nearest.rows] == sorted(cosines, key=lambda word: -cosines[word])[:5]
    for row in nearest.rows:
        assert row.cosine == pytest.approx(cosines[row.word])
        assert row.low is not None
        assert row.high is not None
        assert row.low < row.cosine < row.high
    # The interval is about as wide as those of means of documents drawn by hand.
    rng, documents = np.random.default_rng(1), np.unique(SLOW.documents)
    word, drawn = small_vectors()[nearest.rows[0].word], []
    for _ in range(200):
        sample = np.concatenate([np.flatnonzero(SLOW.documents == d) for d in rng.choice(documents, len(documents))])
        chosen = SLOW.embeddings[sample][SLOW.design[sample, 1] == 1].mean(axis=0)
        drawn.append(word @ chosen / np.linalg.norm(word) / np.linalg.norm(chosen))
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert (nearest.rows[0].high or 0) - (nearest.rows[0].low or 0) == pytest.approx(high - low, rel=0.3)
    with pytest.raises(ParameterError, match="has no value"):
        fit.nearest({"group": "z"})


def test_planted_words_are_nearer_in_the_group_where_they_were_planted(fit: EmbeddingRegression) -> None:
    rows = fit.neighbors({"group": "y"}, {"group": "x"}, candidates=["w0", "w1", "w2", "w3", "w4"], resamples=100).rows
    changes = [row.first - row.second for row in rows]
    assert np.mean(changes) > 0.1
    with pytest.raises(ParameterError, match="No candidate"):
        fit.neighbors({"group": "y"}, {"group": "x"}, candidates=["absent"])


def test_typical_contexts_are_those_of_the_largest_cosine(fit: EmbeddingRegression) -> None:
    mean = SLOW.embeddings[SLOW.design[:, 1] == 1].mean(axis=0)
    lengths = np.linalg.norm(SLOW.embeddings, axis=1) * np.linalg.norm(mean)
    cosines = np.where(SLOW.design[:, 1] == 1, SLOW.embeddings @ mean / lengths, -2.0)
    best = np.argsort(-cosines)[:4]
    rows = fit.contexts({"group": "y"}, most=4).rows
    np.testing.assert_allclose([row.cosine for row in rows], cosines[best])
    assert [row.document for row in rows] == [str(SLOW.documents[index] + 1) for index in best]
    assert all(row.text is None for row in rows)
    shown = fit.contexts({"group": "y"}, most=4, text=True).rows
    for row in shown:
        tokens = RECORDS[int(row.document) - 1]["tokens"]
        assert tokens[row.position] == "t0"
        around = tokens[max(0, row.position - 3) : row.position + 4]
        assert row.text == " ".join(around)
