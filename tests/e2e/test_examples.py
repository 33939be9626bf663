"""Every study in examples/ runs, at a reduced size, and finds what the functions themselves find."""

from __future__ import annotations

import json
import re
import tomllib
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.lexicons import Lexicon, language_of, lexicons_in_language, pairs_of
from biasgauge.results.wording import unbroken
from biasgauge.study import plan_study, run_study, study_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from biasgauge.study import Plan, StudyRun

pytestmark = pytest.mark.e2e

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NAMES = tuple(sorted(path.stem for path in EXAMPLES.glob("*.toml")))
LONG = ("badder-seeds2022", "du2021", "goldfarb-tarrant2021", "spanish")
"""Examples that are run with the slow tests."""
LEXICONS = ("weat6b", "weat7", "weat8", "weat1")
FEW = {"resamples": 100}


def content(name: str) -> dict[str, Any]:
    """What an example's file holds."""
    found: dict[str, Any] = tomllib.loads((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8"))
    return found


SMALLER: dict[str, dict[str, Any]] = {
    "weat": {"interval": FEW},
    "mac": {"interval": FEW},
    "mitigation-effect": {"lexicons": ["weat7"], "interval": FEW, "benchmarks": [], "recovery": "none"},
    "robustness": {"resamples": 100, "measures": ["dbwa"], "forms": ["plural"]},
    "correlate": {"resamples": 1000},
    "bayes": {"draws": 500},
    "bayes-change": {"draws": 500},
    "factors": {"draws": 50, "refits": 2},
    "reliability": {"lists": ["occ16"], "queries": "none"},
    "seeds": {"shuffles": 10, "leave_one_out": False},
    "specification-curve": {"samples": 99},
    "seat": {"interval": "none"},
}
"""Settings of analyses that cost less."""
TEXTS = {"spanish": "spanish.txt"}
OWN_LISTS = ("spanish",)
"""Examples whose words are none of the shipped English lists."""


def shrunk(name: str) -> dict[str, Any]:
    """An example on little data: two seeds, few dimensions, one epoch, few resamples; all tables stay."""
    study = content(name)
    for number, one in enumerate(study.get("corpora", {}).values()):
        text = "other.txt" if number and name == "compare-two-corpora" else TEXTS.get(name, "text.txt")
        one.update({"path": text} if "path" in one else {"balance": {**one["balance"], "max_removed": 0.5}})
    for one in study.get("models", {}).values():
        few = {"bootstrap": 2} if "bootstrap" in one else {"seeds": 1 if "tasks" in study else 2}
        one.update({**few, "dim": 8, "epochs": 1, "min_count": 1})
    for one in study.get("encoders", {}).values():
        one.update({"path": "tiny-bert", "layers": [1, 2], "templates": ["{}", "this is {}."]})
    for one in study.get("analyses", {}).values():
        smaller = SMALLER.get(one["kind"], {})
        if name in OWN_LISTS:
            smaller = {key: value for key, value in smaller.items() if key not in ("lists", "forms")}
        one["settings"] = {**one.get("settings", {}), **smaller}
    for one in study.get("tasks", {}).values():
        cheap = {"epochs": 1, "filters": 2, "widths": [2]}
        one.update({"task": "csv", "data": "texts.csv", "seeds": 2, "settings": cheap})
    return study


def _in_spanish() -> list[Lexicon]:
    return lexicons_in_language(language_of("es"))


def tiny_bert(place: Path) -> None:
    """A transformer of two layers with random weights, where transformers is installed."""
    if find_spec("transformers") is not None:
        from tests.encoders.conftest import small_bert, wordpieces

        small_bert().save_pretrained(place)
        wordpieces().save_pretrained(place)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text of random sentences from words of the lexicons; and some of them with labels, in the place of HatEval."""
    place = tmp_path_factory.mktemp("data")
    random = np.random.default_rng(5)
    listed = [word for name in LEXICONS for words in bg.lexicon(name).sets.values() for word in words]
    pairs = [word for pair in pairs_of("du2021").pairs for word in pair]
    jobs = list(bg.lexicon("occ16").words)[:60]
    words = sorted({word.lower() for word in (*listed, *pairs, *jobs) if word.isalpha()})
    sentences = [" ".join(random.choice(words, size=10)) for _ in range(2500)]
    (place / "text.txt").write_text("\n".join(sentences) + "\n", encoding="utf-8")
    others = [" ".join(random.choice(words, size=10)) for _ in range(2500)]
    (place / "other.txt").write_text("\n".join(others) + "\n", encoding="utf-8")
    spanish = sorted({word.lower() for one in _in_spanish() for word in one.words if word.isalpha()})
    lines = [" ".join(random.choice(spanish, size=10)) for _ in range(2500)]
    (place / "spanish.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    tiny_bert(place / "tiny-bert")
    rows = [f"{sentence},{random.integers(2)},{'ab'[place % 2]}" for place, sentence in enumerate(sentences[:300])]
    (place / "texts.csv").write_text("\n".join(["text,label,group", *rows]) + "\n", encoding="utf-8")
    return place


@pytest.fixture(scope="session")
def ran(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], StudyRun]:
    """Runs an example once; examples share their outcomes."""
    out = tmp_path_factory.mktemp("studies")
    done: dict[str, StudyRun] = {}

    def once(name: str) -> StudyRun:
        if name not in done:
            done[name] = run_study(study_from(shrunk(name), folder=folder), out=out / name, workers=0)
        return done[name]

    return once


def result(run: StudyRun, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(run.results[name]) / "result.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_an_example_says_what_it_needs(name: str) -> None:
    text = (EXAMPLES / f"{name}.toml").read_text(encoding="utf-8")
    head = text.split("\n\n")[0]
    assert all(line.startswith("#") for line in head.splitlines())
    for part in ("Does:", "Needs:", "Takes:", "Command:"):
        assert f"# {part}" in head
    assert f"biasgauge study run {name}.toml" in head
    assert content(name)["study"]["name"] == name
    assert f"({name}.toml)" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in NAMES]
)
def test_an_example_runs(name: str, ran: Callable[[str], StudyRun]) -> None:
    found = ran(name)
    assert [one.error for one in found.failures] == []
    assert found.done == len(found.cells)
    asked = {*content(name)["analyses"], *content(name).get("tasks", {})}
    assert {one.split("/")[0] for one in found.results} == {*asked, "report"}
    page = (Path(found.results["report"]) / "page.html").read_text(encoding="utf-8")
    assert all(re.search(rf"<h2[^>]*>{one}\b", page) for one in asked)
    assert content(name)["report"]["title"] in unescape(page)


def test_the_numbers_are_those_of_the_functions(ran: Callable[[str], StudyRun]) -> None:
    found = ran("five-minutes")
    vectors, replicates = bg.vectors.load_default(), bg.vectors.load_default_replicates()
    (mathematics,) = result(found, "mathematics-and-arts/glove")["models"]
    expected = bg.weat(vectors, "weat7", alternative="two-sided")
    assert mathematics["result"]["effect_size"] == expected.effect_size
    assert mathematics["result"]["p_value"] == expected.p_value
    each = [one["result"]["effect_size"] for one in result(found, "mathematics-and-arts/replicates")["models"]]
    assert each == [bg.weat(one, "weat7").effect_size for one in replicates]
    (spread,) = result(found, "mathematics-and-arts/replicates")["spread"]
    assert spread["mean"] == pytest.approx(np.mean(each))
    scores = bg.score(replicates, pairs="du2021", words="occ16")
    trust = bg.reliability(scores, lists=["occ16"]).to_dict()["summary"]
    told = result(found, "reliability/replicates")["summary"]
    assert [one["median"] for one in told] == [one["median"] for one in trust]


def test_debiased_vectors_are_compared_with_those_before(ran: Callable[[str], StudyRun]) -> None:
    found = ran("did-my-debiasing-work")
    (before,) = result(found, "mathematics-and-arts/mine")["models"]
    (after,) = result(found, "mathematics-and-arts/hard/mine")["models"]
    (effect,) = result(found, "effect/hard/mine")["models"]
    row = next(one for one in effect["result"]["rows"] if (one["name"], one["of"]) == ("weat", "weat7"))
    assert row["before"] == pytest.approx(before["result"]["effect_size"])
    assert row["after"] == pytest.approx(after["result"]["effect_size"])


def test_two_corpora_are_compared(ran: Callable[[str], StudyRun]) -> None:
    found = ran("compare-two-corpora")
    models = json.loads((Path(found.out) / "results" / "models.json").read_text())["models"]
    assert len({one["key"] for one in models.values()}) == 2 * 2
    first, second = (result(found, f"mathematics-and-arts/sgns/{corpus}") for corpus in ("first", "second"))
    assert [one["model"] for one in first["models"]] == ["sgns/first/seed0", "sgns/first/seed1"]
    contrasts = [[one["result"]["contrast"]["value"] for one in of["models"]] for of in (first, second)]
    told = result(found, "difference")
    assert [group["name"] for group in told["groups"]] == ["first", "second"]
    assert [group["replicates"] for group in told["groups"]] == ["seeds", "seeds"]  # read from the recipes
    row = told["differences"][0]
    assert (row["question"], row["first"], row["second"]) == ("weat7", "first", "second")
    assert row["difference"] == pytest.approx(np.mean(contrasts[1]) - np.mean(contrasts[0]))
    page = unescape((Path(found.results["report"]) / "page.html").read_text(encoding="utf-8"))
    assert unbroken(told["headline"]) in page
    titles = re.findall(r"<h2[^>]*>([^<]*)", page)
    assert titles[:2] == ["Summary", "difference: compare"]  # conclusions, then the answer, before everything else


def test_spanish_is_measured_in_spanish(ran: Callable[[str], StudyRun]) -> None:
    found = ran("spanish")
    audited = result(found, "audit/sgns/text")
    assert audited["settings"]["language"] == "es"
    published = {row["test"] for row in audited["published"]}
    assert {"weat_es_gender", "xweat7_es"} <= published
    asked = {verdict["question"] for verdict in audited["verdicts"]} | published
    assert {bg.lexicon(name).language for name in asked} == {"es"}
    robust = result(found, "choices/sgns/text")["models"][0]["result"]
    assert robust["settings"]["pairs"] == "es_pairs"
    assert "feminine" in robust["settings"]["forms"]
    assert "plural" not in robust["settings"]["forms"]  # that of English nouns
    trust = result(found, "reliability/sgns/text")
    assert set(trust["coverage"]["lists"]) == {"es_occupations:masculine", "es_occupations:feminine"}


@pytest.mark.slow
def test_intrinsic_and_extrinsic_numbers_stand_side_by_side(ran: Callable[[str], StudyRun]) -> None:
    found = ran("goldfarb-tarrant2021")
    versions = {one["variant"]: one for one in result(found, "points")["points"]}
    assert {one["method"] for one in versions.values()} >= {"original", "attract_repel"}
    assert len(versions) == 2 * 3 + 2 * 2  # recipes × corpora + mitigations × recipes
    tracking = result(found, "tracking/points")
    assert tracking["groups"][0]["n"] > 0


def as_it_stands(name: str, folder: Path) -> Plan:
    """The plan of an example at its full size, with a line of text wherever it wants data."""
    study = content(name)
    for number, one in enumerate(study.get("corpora", {}).values()):
        if "path" in one:
            (folder / one["path"]).write_text("he and she\n" * (number + 1))
    for one in study.get("encoders", {}).values():
        tiny_bert(folder / one["path"])
    for one in study.get("tasks", {}).values():
        (folder / one["data"]).mkdir()
        (folder / one["data"] / "hateval2019_en_train.csv").write_text("id,text,HS,TR,AG\n")
    return plan_study(study_from(study, folder=folder))


@pytest.mark.parametrize(
    ("name", "train", "score", "task"),
    [
        ("badder-seeds2022", 20, 0, 0),
        ("compare-two-corpora", 2 * 8, 2 * 8, 0),
        ("did-my-debiasing-work", 0, 0, 0),
        ("dobrzeniecka2023", 0, 0, 0),
        ("du2021", 3 * 2 * 32, 3 * 2 * 32, 0),
        ("five-minutes", 0, 4, 0),
        ("goldfarb-tarrant2021", 2 * 3 * 2, 0, (2 * 3 + 2 * 2) * 2 * 3),
        ("spanish", 3, 3, 0),
        ("transformer", 0, 18, 0),
        ("zhang2020", 0, 0, 0),
    ],
)
def test_an_example_is_planned_as_it_stands(name: str, train: int, score: int, task: int, tmp_path: Path) -> None:
    steps = [cell.step for cell in as_it_stands(name, tmp_path).cells]
    assert [steps.count(step) for step in ("train", "score", "task")] == [train, score, task]
