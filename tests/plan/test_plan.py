"""`bg.plan` and `biasgauge plan`: power before measuring."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats as scipy_stats
from tests.lexicons.tiny_wordnet import write_wordnet

import biasgauge as bg
from biasgauge.cli.entry import run
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons import parse_lexicon
from biasgauge.stats import contrast_power, detectable_contrast, plan_words
from biasgauge.vectors import load_default

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def vectors() -> bg.Embedding:
    return load_default()


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_the_detectable_contrast_has_the_power_that_was_asked_for(vectors: bg.Embedding, power: float) -> None:
    contrast = bg.weat(vectors, "weat7", interval=None).contrast
    assert contrast is not None
    assert contrast.se is not None
    assert contrast.df is not None
    size = detectable_contrast(contrast, power=power, alpha=0.01)
    # The definition, by SciPy's noncentral t.
    critical = scipy_stats.t.ppf(1 - 0.01 / 2, contrast.df)
    assert scipy_stats.nct.sf(critical, contrast.df, size / contrast.se) == pytest.approx(power, abs=1e-6)
    assert contrast_power(contrast, size, alpha=0.01) == pytest.approx(power, abs=1e-6)
    # For other numbers of words, degrees of freedom are those of lists of one length and spread.
    assert plan_words(contrast, size, power=power, alpha=0.01).now == pytest.approx(power, abs=0.03)


def test_normal_draws_are_detected_as_often_as_planned() -> None:
    """Means of two samples with the planned difference: how often |t| is beyond its critical value."""
    from biasgauge.stats import contrast_estimate

    random = np.random.default_rng(4)
    se, df = (2 / 30) ** 0.5, 58
    template = contrast_estimate(random.normal(size=(1, 60, 60)), [0] * 30 + [1] * 30, [0] * 30 + [1] * 30)
    from dataclasses import replace

    size = detectable_contrast(replace(template, se=se, df=df), power=0.8)
    draws = random.normal(size=(20_000, 2, 30))
    draws[:, 0] += size
    t, _ = scipy_stats.ttest_ind(draws[:, 0], draws[:, 1], axis=1)
    assert np.mean(t > scipy_stats.t.ppf(0.975, df)) == pytest.approx(0.8, abs=0.01)


def test_the_answer_is_not_looked_at(vectors: bg.Embedding) -> None:
    given = bg.lexicon("weat7")
    turned = bg.lexicon("weat7").to_dict()
    turned["a"], turned["b"] = turned["b"], turned["a"]
    one, other = (bg.plan(vectors, test, size=0.05) for test in (given, parse_lexicon(turned)))
    assert one.detectable == pytest.approx(other.detectable)
    assert one.both == other.both


def test_longer_lists_detect_less(vectors: bg.Embedding) -> None:
    plan = bg.plan(vectors, "weat7")
    assert plan.detectable is not None
    assert plan.power_now is not None
    assert plan.both is not None
    assert plan.power_now < 0.8 < plan.both
    assert not plan.enough
    assert "too few for" in plan.summary().headline
    large = bg.plan(vectors, "weat7", size=0.5)
    assert large.enough
    assert large.both is not None
    assert large.both <= 8
    assert plan.to_dict()["words_needed"] == {"targets": plan.targets, "attributes": plan.attributes, "both": plan.both}
    assert {row.role for row in plan.lists} == set("xyab")
    assert sum(row.side_variance for row in plan.lists) == pytest.approx(2)
    assert plan.bottleneck in "xyab"


def test_words_to_reconsider(vectors: bg.Embedding) -> None:
    x = ["doctor", "doctors", "lawyer", "judge", "zyzzyva", "nurse", "teacher"]
    sets = {"x": x, "y": ["river", "tree", "mountain", "the", "lake", "valley", "hill"],
            "a": ["good", "nice", "happy"], "b": ["bad", "ugly", "sad"]}  # fmt: skip
    test = parse_lexicon({"kind": "test", **{role: {"words": words} for role, words in sets.items()}})
    reasons = {row.word: row.reason for row in bg.plan(vectors, test, size=0.1).drop}
    assert reasons["doctors"] == "of one family with doctor"
    assert "zyzzyva" in reasons
    assert "times more frequent than the median word of the list" in reasons["the"]
    assert not {"doctor", "river", "good"} & reasons.keys()


def test_ambiguous_words_are_found_by_wordnet(vectors: bg.Embedding, tmp_path: Path) -> None:
    """In the tiny database *sum* has two meanings used alike; 10 of 13 uses of *plant* are of one, 2 of 3 of *rose*."""
    sets = {"x": ["plant", "rose"], "y": ["sum", "tulip"], "a": ["good", "nice"], "b": ["bad", "ugly"]}
    test = parse_lexicon({"kind": "test", **{role: {"words": words} for role, words in sets.items()}})
    plan = bg.plan(vectors, test, size=0.1, data=write_wordnet(tmp_path))
    (row,) = [row for row in plan.drop if "meanings" in row.reason]
    assert (row.role, row.word) == ("y", "sum")
    assert row.reason == "the most frequent of its 2 meanings is 0.50 of its use in WordNet's tagged text"
    assert not any("Ambiguous" in warning for warning in plan.warnings)
    german = parse_lexicon({"language": "de", "kind": "test", **{key: {"words": words} for key, words in sets.items()}})
    assert any("no WordNet of the language 'de'" in text for text in bg.plan(vectors, german, size=0.1).warnings)


def test_words_to_add_are_those_that_passed(vectors: bg.Embedding) -> None:
    jobs = ["doctor", "lawyer", "judge", "nurse", "teacher", "engineer", "writer", "doctors", "ice cream"]
    places = ["river", "tree", "mountain", "lake", "valley", "hill"]
    recipe: dict[str, Any] = {
        "kind": "test",
        "lists": {
            "x": {"size": 4, "source": {"name": "words", "words": jobs}},
            "y": {"source": {"name": "words", "words": places}},
            "a": {"source": {"name": "words", "words": ["good", "nice", "happy"]}},
            "b": {"source": {"name": "words", "words": ["bad", "ugly", "sad"]}},
        },
    }
    built = bg.lexicons.build(recipe, vectors=vectors).lexicon
    plan = bg.plan(vectors, built, size=0.1, recipe=recipe)
    assert [(row.role, row.word) for row in plan.candidates] == [("x", "teacher"), ("x", "engineer"), ("x", "writer")]
    assert not any("recipe" in warning for warning in plan.warnings)


def test_lists_without_words_are_undefined(vectors: bg.Embedding) -> None:
    sets = {key: ["zyzzyva", "qqq"] for key in "xy"} | {"a": ["good", "nice"], "b": ["bad", "ugly"]}
    test = parse_lexicon({"kind": "test", **{role: {"words": words} for role, words in sets.items()}})
    plan = bg.plan(vectors, test, size=0.1)
    assert plan.detectable is None
    assert plan.reason
    assert "is unknown" in plan.summary().headline


def test_mistakes_are_named(vectors: bg.Embedding) -> None:
    with pytest.raises(LexiconError, match="'du2021' holds pairs; a plan is for a lexicon of kind test"):
        bg.plan(vectors, "du2021")
    with pytest.raises(LexiconError, match="biasgauge lexicons list --kind test"):
        bg.plan(vectors, "occ16")
    with pytest.raises(ParameterError, match="'power'"):
        bg.plan(vectors, "weat7", power=1.0)
    with pytest.raises(ParameterError, match=r"'power' parameter must be above 'alpha'.*Got 0\.01 and 0\.05"):
        bg.plan(vectors, "weat7", power=0.01)
    with pytest.raises(ParameterError, match=r"'size' parameter must be a number above 0\. Got 0\.0"):
        bg.plan(vectors, "weat7", size=0.0)


@pytest.mark.parametrize(
    ("x", "remedy"),
    [
        (["river"], "Add words to the list x: the vectors must have 2 words"),
        (["river", "tree", "zyzzyva", "qqq"], "Remove words that are not in the vocabulary"),
    ],
)
def test_an_unknown_power_comes_with_a_remedy(vectors: bg.Embedding, x: list[str], remedy: str) -> None:
    sets = {"x": x, "y": ["table", "lamp"], "a": ["good", "nice"], "b": ["bad", "ugly"]}
    test = parse_lexicon({"kind": "test", **{role: {"words": words} for role, words in sets.items()}})
    plan = bg.plan(vectors, test)
    assert plan.detectable is None
    assert any(sentence.startswith(remedy) for sentence in plan.summary().sentences)
    # The remedy works.
    sets["x"] = ["river", "tree", "mountain"]
    mended = parse_lexicon({"kind": "test", **{role: {"words": words} for role, words in sets.items()}})
    assert bg.plan(vectors, mended).detectable is not None


def test_word_lists_in_the_place_of_vectors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('title = "mine"\nkind = "test"\n')
    assert run(["plan", str(path), "--test", "weat7"]) == 2
    assert "word lists are named with --test or --lexicon" in " ".join(capsys.readouterr().err.split())


def test_the_command(tmp_path: Path, vectors: bg.Embedding, capsys: pytest.CaptureFixture[str]) -> None:
    path = bg.save(vectors, tmp_path / "vectors.bin")
    assert run(["plan", str(path), "--test", "weat7", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"detectable", "words_needed", "drop", "candidates"} <= found.keys()
    assert run(["plan", str(path), "--test", "weat7"]) == 0
    assert "With power 0.8, the lists of weat7 detect" in " ".join(capsys.readouterr().out.split())
