"""Scores of words, summed up over pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import biasgauge as bg
from biasgauge.scores import score, word_scores

PAIRS = [("he", "she"), ("man", "woman"), ("king", "queen")]


@pytest.fixture(scope="module")
def scores() -> bg.scores.ScoreTensor:
    return score(bg.vectors.load_default(), pairs=PAIRS, words=["nurse", "surgeon", "zzz"], measures="dbwa")


def test_mean_interval_and_agreement_are_over_pairs(scores: bg.scores.ScoreTensor) -> None:
    found = {row.word: row for row in word_scores(scores, level=0.9).scores}
    values = scores.to_numpy()[0, :, 0, 0].astype(np.float64)
    expected = stats.t.interval(0.9, len(values) - 1, values.mean(), stats.sem(values))
    nurse = found["nurse"]
    assert nurse.value == pytest.approx(values.mean(), rel=1e-12)
    assert (nurse.low, nurse.high) == pytest.approx(expected, rel=1e-9)
    assert nurse.agree == (np.sign(values) == np.sign(values.mean())).mean()
    assert (nurse.n, nurse.level, nurse.method) == (3, 0.9, "t over pairs")
    assert (found["zzz"].value, found["zzz"].agree, found["zzz"].reason) == (None, None, "no pair gives it a score")


def test_one_pair_has_no_interval(scores: bg.scores.ScoreTensor) -> None:
    row = word_scores(scores.select(pair=[PAIRS[0]], word=["nurse"])).scores[0]
    assert row.value is not None
    assert (row.low, row.high, row.reason) == (None, None, "one pair gives no interval")


def test_two_pairs_have_an_interval(scores: bg.scores.ScoreTensor) -> None:
    two = scores.select(pair=PAIRS[:2], word=["nurse"])
    row = word_scores(two).scores[0]
    values = two.to_numpy().astype(np.float64).ravel()
    expected = stats.t.interval(0.95, 1, values.mean(), stats.sem(values))
    assert (row.low, row.high) == pytest.approx(expected, rel=1e-9)


def test_a_long_list_is_summed_up_in_part_and_says_so() -> None:
    words = tuple(f"w{row}" for row in range(10_001))
    vectors = np.random.default_rng(0).normal(size=(len(words), 3)).astype(np.float32)
    long = score(bg.Embedding(words, vectors, name="m"), pairs=[("w0", "w1")], words="full", measures="dbwa")
    assert word_scores(long.select(word=words[:10_000])).warnings == ()
    part = word_scores(long)
    assert tuple(row.word for row in part.scores) == words[:10_000]
    assert part.warnings == ("summed up are the first 10,000 of 10,001 words; the scores have all",)


def test_a_word_without_a_score_comes_last(scores: bg.scores.ScoreTensor) -> None:
    (table,) = word_scores(scores).summary().tables
    values = {row.word: abs(row.value or 0) for row in word_scores(scores).scores}
    assert [row[0] for row in table.rows] == sorted(values, key=lambda word: -values[word])
    assert table.rows[-1][0] == "zzz"


def test_each_model_has_its_row_and_their_average_the_last() -> None:
    models = bg.vectors.load_default_replicates()[:2]
    both = score(models, pairs=PAIRS, words=["nurse"], measures="dbwa")
    values = both.to_numpy()[0, :, 0, :].astype(np.float64)  # pair × model
    rows = word_scores(both).scores
    assert [row.model for row in rows] == [*both.models, None]
    assert [row.value for row in rows] == pytest.approx([*values.mean(axis=0), values.mean(axis=1).mean()], rel=1e-6)
    spread = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values.mean(axis=1)))
    assert (rows[-1].low, rows[-1].high) == pytest.approx(spread, rel=1e-6)


def test_json_and_summary(scores: bg.scores.ScoreTensor) -> None:
    result = word_scores(scores)
    shape = result.to_dict()
    assert shape["shape"] == {"measure": 1, "pair": 3, "word": 3, "model": 1}
    row = shape["scores"][0]
    assert row.keys() == {"word", "measure", "model", "mean", "interval", "agree", "pairs", "reason"}
    assert math.isclose(row["interval"]["high"] - row["mean"], row["mean"] - row["interval"]["low"])
    assert result.summary().headline == "1 measure × 3 pairs × 3 words × 1 model"
    assert list(result.to_frame()["word"]) == ["nurse", "surgeon", "zzz"]
