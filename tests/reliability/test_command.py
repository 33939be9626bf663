"""`biasgauge reliability` as a user meets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.analyses.reliability import reliability
from biasgauge.cli.entry import run
from biasgauge.lexicons import lexicon
from biasgauge.scores import ScoreStore
from biasgauge.scores.tensor import ModelScores

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.scores import ScoreTensor


def write(scores: ScoreTensor, folder: Path) -> Path:
    """A tensor as a store; its reasons are all of words."""
    store = ScoreStore.create(
        folder, measures=scores.measures, pairs=scores.pairs, words=scores.words, provenance=scores.provenance
    )
    for place, model in enumerate(scores.models):
        nothing = np.zeros(scores.values.shape[:2], np.uint8)
        store.append(model, ModelScores(scores.values[..., place], scores.undefined[0, 0, :, place], nothing), {})
    return folder


@pytest.fixture(scope="module")
def scores(tensor: Any) -> ScoreTensor:  # noqa: ANN401 - the maker of tensors
    words = list(dict.fromkeys([*lexicon("occ18").words, *lexicon("du2021_queries").words]))
    made: ScoreTensor = tensor(words, models=4, lost=["nurse"])
    return made


@pytest.fixture(scope="module")
def store(scores: ScoreTensor, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(scores, tmp_path_factory.mktemp("stores") / "store")


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_json(store: Path, scores: ScoreTensor, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reliability", str(store), "--json", "--seed", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = json.loads(json.dumps(reliability(scores, random_state=3).to_dict()))
    for part in ("components", "design"):
        assert found[part] == expected[part]
    for part in ("test_retest", "inter_rater", "internal"):
        assert found[part] == expected[part]
        assert {"of", "name", "measure", "list", "value", "low", "high", "n", "k"} <= set(found[part][0])
    assert [one["measure"] for one in found["components"]] == ["dbwa", "ripa", "nbm", None]
    assert [one["target"] for one in found["design"]] == [0.8] * 4
    assert found["coverage"]["lists"]["occ18"]["lost"] == ["nurse"]
    assert found["settings"]["seed"] == 3
    assert {"settings", "warnings", "version"} <= set(found)


def test_tables_fit_and_speak(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reliability", str(store)]) == 0
    shown = capsys.readouterr().out
    assert all(len(line) <= 80 for line in shown.splitlines())
    for words in ("occ18: 1 of 76 words have no scores: nurse", "Test–retest", "Inter-rater", "Internal consistency",
                  "of poor reliability", "Variance components", "deviation of NBM", "the median word of"):  # fmt: skip
        assert words in shown


def test_lists_queries_and_levels(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--lists", "occ18", "--queries", "du2021_queries:math,weat7:arts", "--level", "0.9", "--json"]
    assert run(["reliability", str(store), *arguments]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"]["queries"] == ["math", "arts"]
    assert found["intervals"]["test_retest"]["level"] == 0.9


def test_one_model_is_an_outcome(scores: ScoreTensor, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    single = write(scores.select(model=["seed0"], measure=["dbwa"]), tmp_path / "single")
    assert run(["reliability", str(single)]) == 0
    shown = capsys.readouterr().out
    assert "there is one model" in shown
    assert "undefined" in shown
    assert run(["reliability", str(single), "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["test_retest"][0]
    assert (row["value"], row["reason"]) == (None, "fewer than two models have scores")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere"], "is not a score store"),
        (["STORE", "--lists", "occ99"], "occ99"),
        (["STORE", "--level", "95"], "between 0 and 1"),
        (["STORE", "--target", "80"], "between 0 and 1"),
        (["STORE", "--min-coverage", "2"], "number from 0 to 1"),
    ],
)
def test_mistakes_get_one_sentence(
    store: Path, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(store) if one == "STORE" else one for one in arguments]
    assert run(["reliability", *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1
