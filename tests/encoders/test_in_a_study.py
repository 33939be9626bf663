"""A whole study of a transformer: views keep their facets from encoding to components, and equal those of the API."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.encoders.conftest import small_bert, wordpieces

import biasgauge as bg
from biasgauge.analyses.reliability import decision_study, variance_components
from biasgauge.core import WordPolicy
from biasgauge.errors import InputError
from biasgauge.study import plan_study, read_study, run_study
from biasgauge.vectors.encoders import Views, draw_contexts, encode, encode_to_folder, open_views
from biasgauge.vectors.encoders.views import FACETS

TEMPLATES = ["this is {}.", "the word is {}."]
PAIRS = [["he", "she"], ["man", "woman"]]
WORDS = ["math", "algebra", "art", "poetry", "nurse", "word"]
ALL = [*WORDS, "he", "she", "man", "woman"]
SETS = 'x = ["math", "algebra"], y = ["art", "poetry"], a = ["he", "man"], b = ["she", "woman"]'
STUDY = f"""
[study]
name = "transformer"
seed = 3

[corpora.text]
path = "text.txt"

[encoders.bert]
path = ["bert-*"]
words = {json.dumps(ALL)}
templates = {json.dumps(TEMPLATES)}
layers = [1, 2]
pooling = ["mean", "cls"]

[encoders.natural]
path = "bert-one"
words = {json.dumps(ALL)}
corpus = "text"
draws = 3
layers = [1, 2]

[vectors.written]
path = "views:views"

[mitigations.hard]
of = ["natural"]
method = "hard"
settings = {{ lexicon = "pairs.toml" }}

[scores.words]
of = ["bert", "hard", "written"]
pairs = {json.dumps(PAIRS)}
words = {json.dumps(WORDS)}
measures = ["dbwa", "ripa"]

[analyses.parts]
kind = "components"
of = ["words"]
settings = {{ measure = "ripa" }}
[analyses.trust]
kind = "reliability"
of = ["words/bert"]
[analyses.enough]
kind = "decision"
of = ["words/bert"]
settings = {{ measure = "ripa", templates = [1, 4], fixed = ["layer", "pooling"] }}
[analyses.fit]
kind = "seeds"
of = ["natural"]
settings = {{ a = ["he", "man"], b = ["she", "woman"], shuffles = 20 }}
[analyses.choices]
kind = "robustness"
of = ["written"]
[analyses.choices.settings]
pairs = {json.dumps(PAIRS)}
words = {json.dumps(WORDS)}
forms = []
pair_forms = []
truths = []
pool = "none"
k = 2
[analyses.distances]
kind = "bayes"
of = ["written"]
settings = {{ lexicon = "stereotypes.toml", human = "none", neutral = "none", draws = 200, min_coverage = 0.0 }}
[analyses.math]
kind = "specification-curve"
of = ["bert"]
settings = {{ {SETS}, samples = 99 }}
[analyses.sentences]
kind = "seat"
of = ["bert"]
settings = {{ {SETS}, interval = "none" }}
[analyses.contexts]
kind = "ceat"
of = ["natural"]
settings = {{ {SETS}, interval = "none" }}

[report]
title = "A transformer"
"""
LINE = "the {} is a word. he is the {}, she is a {}; this is the {} of a man."
PAIRS_FILE = """
name = "own_pairs"
kind = "pairs"
source = "a test"
pairs = [["he", "she"], ["man", "woman"]]
"""
STEREOTYPES = """
name = "own_stereotypes"
kind = "stereotypes"
source = "a test"
[groups.men]
protected = ["he", "man"]
attributes = ["math", "algebra"]
[groups.women]
protected = ["she", "woman"]
attributes = ["art", "poetry"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two checkpoints, a text, a folder of views and the study."""
    place = tmp_path_factory.mktemp("study")
    for seed, name in enumerate(("bert-one", "bert-two")):
        small_bert(seed).save_pretrained(place / name)
        wordpieces().save_pretrained(place / name)
    (place / "text.txt").write_text("\n".join(LINE.format(*[word] * 4) for word in ALL) + "\n")
    encode_to_folder(str(place / "bert-one"), ALL, place / "views", TEMPLATES[:1], layers=[0, 2])
    (place / "pairs.toml").write_text(PAIRS_FILE)
    (place / "stereotypes.toml").write_text(STEREOTYPES)
    (place / "study.toml").write_text(STUDY)
    return place


@pytest.fixture(scope="module")
def results(folder: Path) -> dict[str, Any]:
    """Every result as its JSON."""
    run = run_study(folder / "study.toml", workers=0)
    assert run.failed == 0, [failure["error"] for failure in run.to_dict()["failures"]]
    return {
        name: json.loads((Path(place) / "result.json").read_text(encoding="utf-8"))
        for name, place in run.results.items()
        if name != "report"
    }


@pytest.fixture(scope="module")
def bert(folder: Path) -> Views:
    return encode(
        [str(folder / "bert-one"), str(folder / "bert-two")], ALL, TEMPLATES, layers=[1, 2], pooling=["mean", "cls"]
    )


def same(found: Any, expected: Any) -> bool:  # noqa: ANN401 - JSON
    return np.allclose(np.array(found, float), np.array(expected, float), atol=1e-5, equal_nan=True)


def test_components_by_facet_are_those_of_the_views(results: dict[str, Any], bert: Views) -> None:
    expected = variance_components(
        bg.score(bert, pairs=PAIRS, words=WORDS, measures=["dbwa", "ripa"]), measure="ripa", random_state=3
    )
    found = results["parts/bert"]
    assert found["design"] == dict(expected.facets)
    assert set(found["design"]) == {"word", "pair", "checkpoint", "layer", "pooling", "template"}
    assert same([part["variance"] for part in found["components"]], [part.variance for part in expected.components])


def test_reliability_and_decisions_speak_of_templates(results: dict[str, Any], bert: Views) -> None:
    tensor = bg.score(bert, pairs=PAIRS, words=WORDS, measures=["dbwa", "ripa"])
    expected = decision_study(
        variance_components(tensor, measure="ripa", random_state=3), templates=[1, 4], fixed=["layer", "pooling"]
    )
    found = results["enough/bert"]
    assert expected.solved == "template"
    assert [row["templates"] for row in found["designs"]] == [int(row.levels["template"]) for row in expected.designs]
    assert same([row["dependability"] for row in found["designs"]], [row.dependability for row in expected.designs])
    assert any("views of transformers" in warning for warning in results["trust/bert"]["warnings"])


def test_contexts_and_mitigation_keep_their_facets(results: dict[str, Any], folder: Path) -> None:
    drawn = draw_contexts(folder / "text.txt", ALL, draws=3, random_state=3)
    views = encode(str(folder / "bert-one"), ALL, contexts=drawn, layers=[1, 2])
    changed = bg.mitigate(views, "hard", lexicon=PAIRS)
    tensor = bg.score(changed, pairs=PAIRS, words=WORDS, measures=["dbwa", "ripa"])
    expected = variance_components(tensor, measure="ripa", random_state=3)
    found = results["parts/hard/natural"]
    assert found["design"] == dict(expected.facets) == {"word": 6, "pair": 2, "layer": 2, "context": 3}
    assert same([part["variance"] for part in found["components"]], [part.variance for part in expected.components])


def test_views_of_a_folder_are_models_with_facets(results: dict[str, Any], folder: Path) -> None:
    assert results["parts/written"]["design"] == {"word": 6, "pair": 2, "layer": 2}
    names = [row["model"] for row in results["choices/written"]["models"]]
    assert names == ["written/layer0-mean-this-is", "written/layer2-mean-this-is"]
    plan = plan_study(folder / "study.toml")
    assert len({name for name in plan.models if name.startswith("bert/")}) == 2 * 2 * 2 * 2


def test_tests_in_context_equal_the_functions(results: dict[str, Any], bert: Views, folder: Path) -> None:
    sets: dict[str, Any] = {"x": ["math", "algebra"], "y": ["art", "poetry"], "a": ["he", "man"], "b": ["she", "woman"]}
    curve = bg.analyses.robustness.specification_curve(bert, **sets, samples=99, random_state=3)
    found = results["math/bert"]
    effects = {tuple(row["facets"][name] for name in FACETS): row["effect_size"] for row in found["specifications"]}
    assert same(
        [effects[tuple(row.facets[name] for name in FACETS)] for row in curve.specifications],
        [row.effect_size for row in curve.specifications],
    )
    assert found["p_median"] == curve.p_median
    sentences = bg.scores.seat(bert, **sets, interval=None, random_state=3)
    assert by_group(results["sentences/bert"]) == pytest.approx(by_group(sentences.to_dict()), abs=1e-4)
    drawn = draw_contexts(folder / "text.txt", ALL, draws=3, random_state=3)
    natural = encode(str(folder / "bert-one"), ALL, contexts=drawn, layers=[1, 2])
    contexts = bg.scores.ceat(natural, **sets, interval=None, random_state=3)
    assert by_group(results["contexts/natural"]) == pytest.approx(by_group(contexts.to_dict()), abs=1e-4)


def by_group(result: dict[str, Any]) -> dict[str, float]:
    """Effect sizes by checkpoint, layer and pooling."""
    return {
        f"{row['checkpoint']} {row['layer']} {row['pooling']}": row["result"]["effect_size"] for row in result["rows"]
    }


def test_a_further_template_encodes_that_template_alone(folder: Path) -> None:
    more = STUDY.replace(json.dumps(TEMPLATES), json.dumps([*TEMPLATES, "a {} is this."]), 1)
    (folder / "more.toml").write_text(more)
    before, after = plan_study(folder / "study.toml"), plan_study(folder / "more.toml")
    known = {cell.key for cell in before.cells}
    new = [cell.label for cell in after.cells if cell.key not in known and cell.step == "encode"]
    assert new == ["encode bert a {} is this."] * 2


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('path = ["bert-*"]', 'path = ["no-such"]', "there is no model 'no-such'"),
        ('path = ["bert-*"]', 'path = ["views"]', "holds no config.json"),
        ('pooling = ["mean", "cls"]', 'pooling = ["mean", "middle"]', "must be 'all' or some of mean"),
        ("draws = 3\nlayers = [1, 2]", "draws = 3\nlayers = [1, 9]", "numbers from 0 to 2"),
        ('corpus = "text"', 'corpus = "txt"', "there is no corpus 'txt'"),
        ("draws = 3", "drows = 3", "has no setting 'drows'"),
        ('templates = ["this is {}."', 'templates = ["this is."', "one gap {}"),
        ('path = "views:views"', 'path = "views:bert-one"', "is not a folder of views"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(folder: Path, old: str, new: str, sentence: str) -> None:
    assert old in STUDY
    (folder / "wrong.toml").write_text(STUDY.replace(old, new, 1))
    with pytest.raises(InputError, match=re.escape(sentence)):
        read_study(folder / "wrong.toml")


def test_a_folder_of_views_can_be_moved_and_written_again(folder: Path, tmp_path: Path) -> None:
    views = open_views(folder / "views")
    bg.vectors.encoders.save_views(bg.mitigate(views, "hard", lexicon=PAIRS), tmp_path / "changed")
    (tmp_path / "changed").rename(tmp_path / "moved")
    back = open_views(tmp_path / "moved")
    assert [view.facets for view in back] == [view.facets for view in views]
    gap = back[0]["he"] - back[0]["she"]
    assert (
        abs(float(gap @ back[0]["nurse"])) < 1e-5 < abs(float((views[0]["he"] - views[0]["she"]) @ views[0]["nurse"]))
    )


def test_what_is_asked_of_one_model_can_be_asked_of_every_view(folder: Path) -> None:
    views = open_views(folder / "views")
    policy = WordPolicy(min_coverage=0.0, case="exact")
    asked: dict[str, Any] = {"human": None, "neutral": None, "draws": 200, "policy": policy}
    lexicon = str(folder / "stereotypes.toml")
    several: Any = views
    both: Any = bg.bayes(several, lexicon, **asked)
    alone = [bg.bayes(view, lexicon, **asked) for view in views]
    assert [row.facets["layer"] for row in both.models] == [0, 2]
    assert [row.result.to_dict() for row in both.models] == [result.to_dict() for result in alone]
    frame = both.to_frame()
    assert len(frame) == sum(len(result.to_frame()) for result in alone)
    assert set(frame["layer"]) == {0, 2}
    assert "2 views" in both.summary().headline
    named: Any = bg.robustness(
        f"views:{folder / 'views'}", pairs=PAIRS, words=WORDS, forms=[], pair_forms=[], truths=[]
    )
    assert [row.model for row in named.models] == [view.name for view in views]
    nothing: Any = []
    with pytest.raises(bg.ParameterError, match="at least one model"):
        bg.bayes(nothing, lexicon)
