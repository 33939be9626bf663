"""Limits of detection: planted odds are read back by counts, small differences are not seen, large ones are."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.regress.slow_regression import DIM, small_vectors

import biasgauge as bg
from biasgauge.analyses.regress import EmbeddingRegression, RegressionLimits
from biasgauge.errors import ParameterError

A, B = ["w0", "w1", "w2", "w3", "w4"], ["w10", "w11", "w12", "w13", "w14"]


def sparse_text(documents: int, seed: int = 0) -> list[dict[str, Any]]:
    """Random words, one target in fifty; a tenth of the text stands near one."""
    rng = np.random.default_rng(seed)
    records = []
    for number in range(documents):
        tokens = [f"w{word}" for word in rng.integers(0, 30, 200)]
        tokens[25::50] = ["t0"] * 4
        records.append({"tokens": tokens, "group": "xy"[number % 2], "author": f"a{number % 40}"})
    return records


def fitted(documents: int, **more: Any) -> EmbeddingRegression:  # noqa: ANN401 - settings of regress
    settings: dict[str, Any] = {"vectors": small_vectors(), "transform": np.eye(DIM), "text": "tokens", "window": 3}
    return bg.regress(sparse_text(documents), "t0 ~ group", permutations=19, **settings, **more)


@pytest.fixture(scope="module")
def limits() -> RegressionLimits:
    return fitted(200, cluster="author").detection(A, B, odds=(1, 3, 9, 27), draws=12, permutations=39)


def test_counts_read_the_planted_odds_back(limits: RegressionLimits) -> None:
    means = {point.odds: point.mean for point in limits.points if point.reading == "counts"}
    assert means[1] == pytest.approx(0, abs=0.15)
    for ratio in (3, 9, 27):
        # Words of A that are planted also stand near other words, by which the rest of the text shifts a little.
        assert means[ratio] == pytest.approx(np.log(ratio), rel=0.15)


def test_what_is_shown_grows_with_the_difference_and_limits_lie_between(limits: RegressionLimits) -> None:
    for reading in ("embedding regression", "projection", "counts", "verdict"):
        shares = [point.shown for point in limits.points if point.reading == reading]
        assert len(shares) == 4
        assert shares[0] <= 0.25
        assert shares[-1] == 1
        assert all(later >= earlier - 0.1 for earlier, later in pairwise(shares))
    assert [row.reading for row in limits.limits] == ["embedding regression", "projection", "counts"]
    for row in limits.limits:
        assert row.odds is not None
        assert 1 < row.odds < 27
        assert row.low is not None
        assert row.log_odds == pytest.approx(np.log(row.odds))
    assert limits.occurrences == 800
    assert {"reading", "odds", "log_odds", "low", "high", "shown"} <= set(limits.to_frame().columns)
    assert limits.settings["clusters"] == 40


def test_more_text_lowers_the_limits() -> None:
    few, many = (fitted(number).detection(A, B, odds=(1, 2, 4, 16), draws=8, permutations=19) for number in (40, 240))
    for less, more in zip(few.limits, many.limits, strict=True):
        assert (more.odds or np.inf) < (less.odds or np.inf)


def test_the_same_seed_gives_the_same_limits_and_the_text_stays_as_it_was() -> None:
    fit = fitted(40)
    assert fit.model is not None
    before = np.array(fit.model.reader.corpus.tokens)
    first, second = (fit.detection(A, B, odds=(1, 4), draws=4, permutations=9) for _ in range(2))
    assert first.to_dict() == second.to_dict()
    np.testing.assert_array_equal(fit.model.reader.corpus.tokens, before)
    assert RegressionLimits.from_dict(first.to_dict()).to_dict() == first.to_dict()


def test_limits_that_cannot_be_estimated_are_one_sentence() -> None:
    fit = fitted(40)
    for change, sentence in (
        ({"odds": (2, 4)}, "must hold 1"),
        ({"odds": (1, 0.5)}, "'odds' parameter"),
        ({"draws": 2}, "'draws' parameter"),
        ({"a": ["absent"]}, "no word of A"),
    ):
        arguments: dict[str, Any] = {"a": A, "b": B, **change}
        with pytest.raises(ParameterError, match=sentence):
            fit.detection(**arguments)
    undetected = fitted(40).detection(["w0"], ["w1"], odds=(1, 1.1), draws=4, permutations=9)
    assert all(row.odds is None and row.reason for row in undetected.limits)
    assert "not even 1.1" in str(undetected.summary().headline)
