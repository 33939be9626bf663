"""Criterion validity: known correlations come back, thin words are left out, lists are told apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import biasgauge as bg
from biasgauge.analyses.corpus_bias import CorpusBias, SetOdds, WordOdds
from biasgauge.analyses.criterion import criterion_values
from biasgauge.errors import ParameterError
from biasgauge.lexicons import pairs_of
from biasgauge.vectors import load_default_replicates

if TYPE_CHECKING:
    from pathlib import Path

TRUTH = {f"word{number}": float(number) for number in range(60)}


def table(noise: float, models: int = 4) -> pd.DataFrame:
    random = np.random.default_rng(2)
    real = {word: -value / 20 + random.normal() for word, value in TRUTH.items()}
    return pd.DataFrame(
        [
            {"word": word, "model": model, "score": value + noise * random.normal()}
            for word, value in real.items()
            for model in range(models)
        ]
    )


def test_scores_lean_to_the_first_end_and_the_share_of_women_to_the_second() -> None:
    frame = table(0.5)
    means = frame.groupby("word", sort=False)["score"].mean()
    row = bg.criterion(frame, TRUTH).rows[0]
    assert row.pearson is not None
    assert row.pearson.value is not None
    assert row.pearson.value == pytest.approx(-np.corrcoef(means, list(TRUTH.values()))[0, 1])
    assert row.pearson.value > 0
    other = bg.criterion(frame, TRUTH, end="first").rows[0]
    assert other.pearson is not None
    assert other.pearson.value == pytest.approx(-row.pearson.value)


def test_the_pairs_are_by_default_those_of_the_language_of_the_truth(tmp_path: Path) -> None:
    """Spanish truths are scored along Spanish pairs, English ones along English pairs."""
    words = [f"palabra{number}" for number in range(12)]
    truth = tmp_path / "cuota.toml"
    values = "\n".join(f'{word} = "{number}"'.replace('"', "") for number, word in enumerate(words))
    truth.write_text(
        f'kind = "values"\ntitle = "t"\nlanguage = "es"\nsource = "s"\nunit = "share"\n\n[values]\n{values}\n'
    )
    random = np.random.default_rng(3)
    ends = [word for pair in pairs_of("es_pairs").pairs for word in pair]
    vectors = {word: random.normal(size=8) for word in (*words, *dict.fromkeys(ends))}
    by_default = bg.criterion(vectors, truth, measures=["dbwa"]).rows[0]
    named = bg.criterion(vectors, truth, measures=["dbwa"], pairs="es_pairs").rows[0]
    assert by_default.pearson == named.pearson
    assert by_default.words == len(words)
    assert criterion_values("bls2015").pairs(None) == "du2021"
    assert (
        criterion_values(first="es_occupations:masculine", second="es_occupations:feminine").pairs(None) == "es_pairs"
    )
    assert criterion_values(truth).pairs([("a", "b")]) == [("a", "b")]


def test_disattenuated_is_r_over_the_root_of_alpha() -> None:
    frame = table(2.0)
    row = bg.criterion(frame, TRUTH).rows[0]
    wide = frame.pivot_table(index="word", columns="model", values="score", sort=False).to_numpy()
    whole = bg.stats.cronbach_alpha(wide)
    assert isinstance(whole, bg.Estimate)
    alpha = whole.value
    assert alpha is not None
    assert row.reliability is not None
    assert row.pearson is not None
    assert row.pearson.value is not None
    assert row.disattenuated is not None
    assert row.reliability.value == pytest.approx(alpha)
    assert row.disattenuated.value == pytest.approx(row.pearson.value / alpha**0.5)
    given = bg.criterion(frame, TRUTH, reliability=0.5).rows[0]
    assert given.disattenuated is not None
    assert given.disattenuated.value == pytest.approx(row.pearson.value / 0.5**0.5)


def corpus_bias_of(contexts: dict[str, int]) -> CorpusBias:
    words = tuple(
        WordOdds(word, -TRUTH[word] / 30 + (number % 3) / 10, -1, 1, 0.2, count, 900, 0, 900, se_documents=0.25)
        for number, (word, count) in enumerate(contexts.items())
    )
    sets: tuple[SetOdds, ...] = ()
    return CorpusBias(words, sets, ("he",), ("she",), ("he", "she"), {}, {"corpus": "", "weighting": "flat"})


def test_words_of_few_contexts_are_left_out_and_listed() -> None:
    bias = corpus_bias_of({word: 3 if number < 10 else 40 for number, word in enumerate(TRUTH)})
    result = bg.criterion(bias, TRUTH)
    assert result.rows[0].words == 50
    assert result.lost == tuple(list(TRUTH)[:10])
    odds = np.array([row.log_odds for row in bias.words[10:]], np.float64)
    assert result.rows[0].reliability is not None
    assert result.rows[0].reliability.value == pytest.approx(1 - 0.25**2 / odds.var(ddof=1))
    assert bg.criterion(bias, TRUTH, min_contexts=0).rows[0].words == 60


def test_two_lists_are_told_apart_by_the_area_under_the_curve() -> None:
    scores = {"bob": 2.0, "jim": 1.0, "ann": -1.0, "eve": 1.5}
    row = bg.criterion(scores, first=["bob", "jim"], second=["ann", "eve"]).rows[0]
    assert row.auc is not None
    assert row.auc.value == pytest.approx(3 / 4)


@pytest.mark.parametrize("truth", ["bls2015", "winobias", "winogender"])
def test_shipped_replicates_lean_with_the_share_of_women(truth: str) -> None:
    """Scores by hand: the mean over pairs and models of the public `score`, correlated by NumPy."""
    models = load_default_replicates()[:2]
    result = bg.criterion(models, truth, measures=["dbwa"])
    words = [point["word"] for point in result.points]
    scores = bg.score(models, pairs="du2021", words=words, measures="dbwa").to_numpy()[0].astype(float)
    usable = np.isfinite(scores).any(axis=(1, 2))
    known = [point["truth"] for point in result.points]
    expected = -np.corrcoef(scores[usable].mean(axis=(0, 2)), known)[0, 1]
    assert result.rows[0].pearson is not None
    assert result.rows[0].pearson.value == pytest.approx(expected, abs=1e-6)
    assert result.rows[0].reliability_over == "models"
    assert {*words, *result.lost} == {
        *bg.lexicon({"bls2015": truth, "winobias": "occupations_percent_female"}.get(truth, "winogender_bls")).words
    }
    content = json.loads(json.dumps(result.to_dict()))
    assert type(result).from_dict(content).to_dict() == content


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"truth": "occ16"}, "of kind 'values' or 'test'"),
        ({"first": ["a"]}, "both lists"),
        ({"end": "left"}, "'end' parameter"),
        ({"reliability": 2.0}, "'reliability' parameter"),
        ({"truth": pd.DataFrame({"word": ["a"]})}, "lacks 'value'"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_sentence(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        bg.criterion({"a": 1.0, "b": 2.0}, **given)
