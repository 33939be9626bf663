"""The embedding's own distribution, and which words stand for it."""

from __future__ import annotations

import numpy as np
import pytest

from biasgauge.analyses.robustness import limited, neutral, reference_scores
from biasgauge.analyses.robustness.base_pairs import describe
from biasgauge.errors import ParameterError
from biasgauge.lexicons import lexicon
from biasgauge.scores import score
from biasgauge.vectors import load


def test_limited_and_neutral_words() -> None:
    words = ("the", "The", "New_York", "x1", "don't", "_", "été", "a" * 19, "b" * 20, "c" * 21, "he", "king", "rare")
    model = load((words, np.ones((len(words), 2)) + np.arange(len(words))[:, None]))
    assert limited(model) == ("the", "The", "New_York", "été", "a" * 19, "b" * 20, "he", "king", "rare")
    assert limited(model, as_published=True) == ("the", "The", "New_York", "a" * 19, "he", "king", "rare")
    assert limited(model, 2) == ("the", "The")
    assert "king" in lexicon("gender_specific").words
    assert neutral(model, [("he", "she")]) == ("the", "été", "a" * 19, "b" * 20, "rare")
    assert neutral(model, [("rare", "common")]) == ("the", "été", "a" * 19, "b" * 20, "he", "king")
    assert neutral(model, [("rare", "common")], as_published=True) == ("the", "a" * 19)
    with pytest.raises(ParameterError, match="Got 0"):
        limited(model, 0)


def test_mean_and_sd_are_those_of_all_scores() -> None:
    random = np.random.default_rng(0)
    words = [f"w{letter}" for letter in "abcdefghij"]
    model = load(([*words, "he", "she", "man", "woman"], random.normal(size=(14, 5))))
    pairs = [("he", "she"), ("man", "woman"), ("no", "yes")]
    found = reference_scores(model, pairs, words, ["dbwa", "nbm"], k=3, pool=words)
    scores = score(model, pairs=pairs, words=words, measures=["dbwa", "nbm"], k=3, pool=words).values
    for place, one in enumerate(found):
        values = scores[place].astype(float).ravel()
        assert one.mean.value == pytest.approx(np.nanmean(values))
        assert one.sd.value == pytest.approx(np.nanstd(values))
        assert (one.words, one.pairs, one.undefined) == (10, 2, 10)
        assert one.quantiles is not None
        assert list(one.quantiles.values()) == pytest.approx(np.nanquantile(values, list(one.quantiles)))


def test_intervals_are_those_of_a_bootstrap_over_words() -> None:
    """Words are drawn again with all their scores; the normal interval agrees within a few percent of its width."""
    random = np.random.default_rng(2)
    scores = random.normal(size=(1, 400)) + 0.3 * random.normal(size=(10, 400))
    found = describe("dbwa", scores, 0.95)
    drawn = scores[:, random.integers(0, 400, (4_000, 400))]
    for one, several in ((found.mean, drawn.mean(axis=(0, 2))), (found.sd, drawn.std(axis=(0, 2)))):
        low, high = np.quantile(several, [0.025, 0.975])
        assert one.low is not None
        assert one.high is not None
        assert abs(one.low - low) < 0.1 * (high - low)
        assert abs(one.high - high) < 0.1 * (high - low)


def test_nothing_scored_is_undefined() -> None:
    found = describe("dbwa", np.full((2, 3), np.nan), 0.95)
    assert (found.mean.value, found.sd.value, found.quantiles, found.undefined) == (None, None, None, 6)
    assert found.to_dict()["reason"] == "fewer than two words have scores"
