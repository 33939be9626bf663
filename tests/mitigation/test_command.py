"""`biasgauge mitigate` as a user meets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge import registry
from biasgauge.cli.entry import run
from biasgauge.mitigation import Mitigated, mitigate, mitigate_to_file, mitigation_effect
from biasgauge.mitigation.methods.attract_repel import AttractRepel
from biasgauge.vectors import load, load_default, save

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.vectors import Embedding


@pytest.fixture
def file(embedding: Embedding, tmp_path: Path) -> Path:
    return save(embedding, tmp_path / "planted.safetensors")


def result(capsys: pytest.CaptureFixture[str], *words: object) -> Any:  # noqa: ANN401 - JSON
    assert run(["mitigate", *map(str, words), "--json", "--force"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_and_the_file(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "debiased.safetensors"
    found = result(capsys, file, "--out", out, "--seed", 3)
    assert found["path"] == str(out)
    expected = mitigate(file, "hard")
    np.testing.assert_array_equal(load(out).vectors, expected.vectors)
    assert found["changed"] == int((expected.vectors != load(file).vectors).any(axis=1).sum())
    assert found["words"] == len(expected)
    assert found["settings"]["seed"] == 3
    assert found["settings"]["method"] == "hard"
    assert found["coverage"]["found"] > 0
    assert found["effect"] is None
    assert {"settings", "warnings", "version"} <= found.keys()


def test_options_reach_the_method(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "x.safetensors"
    asked = ["--method", "attract_repel", "--lexicon", "weat6b,weat7", "--direction", "overbias", "--strength", "0.5"]
    result(capsys, file, "--out", out, *asked, "--set", "epochs=2", "--norms", "unit", "--seed", 5)
    expected = AttractRepel(
        lexicon=["weat6b", "weat7"], direction="overbias", strength=0.5, epochs=2, norms="unit", random_state=5
    ).fit_transform(file)
    np.testing.assert_array_equal(load(out).vectors, expected.vectors)
    result(capsys, file, "--out", out, "--equalize", "none", "--specific", "other1,other2", "--strength", "0.25")
    told = mitigate(file, "hard", equalize=None, specific=["other1", "other2"], strength=0.25)
    np.testing.assert_array_equal(load(out).vectors, told.vectors)
    result(capsys, file, "--out", out, "--method", "multiclass_soft", "--set", "weight=3", "--set", "components=1")
    np.testing.assert_array_equal(
        load(out).vectors, mitigate(file, "multiclass_soft", weight=3.0, components=1).vectors
    )
    result(capsys, file, "--out", out, "--method", "half_sibling", "--set", "alpha=3", "--lexicon", "he,she")
    np.testing.assert_array_equal(
        load(out).vectors, mitigate(file, "half_sibling", alpha=3.0, lexicon=["he", "she"]).vectors
    )


@pytest.mark.parametrize("method", registry.names("mitigation"))
def test_every_method_runs(method: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--set", "epochs=3"] if method == "ran" else []
    found = result(capsys, file, "--method", method, "--out", tmp_path / "x.txt", *more)
    assert found["changed"] > 0
    assert load(found["path"]).words == load(file).words


def test_effect(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "x.safetensors"
    found = result(capsys, file, "--out", out, "--effect", "--compare", "weat7")
    expected = mitigation_effect(load(file), load(out), "weat7")
    assert found["effect"]["rows"] == json.loads(json.dumps(expected.to_dict()["rows"]))
    assert run(["mitigate", str(file), "--out", str(out), "--effect", "--compare", "weat7", "--force"]) == 0
    shown = capsys.readouterr().out
    assert "recovery" in shown
    assert max(len(line) for line in shown.splitlines() if "vectors:" not in line) <= 80
    assert "Effect size of WEAT 7" in shown


def test_json_there_and_back(file: Path, tmp_path: Path) -> None:
    found = mitigate_to_file(file, out=tmp_path / "x.safetensors", effect=True, compare=["weat7"])
    shape = json.loads(json.dumps(found.to_dict()))
    assert Mitigated.from_dict(shape).to_dict() == shape


def test_the_vectors_that_ship(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = result(capsys, "--out", tmp_path / "x.bin")
    assert found["words"] == len(load_default())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--method", "soft"], "must be one of attract_repel"),
        (["--method", "ran", "--direction", "overbias"], "has no inverse"),
        (["--strength", "2"], "must be a number from 0 to 1"),
        (["--set", "alpha=2"], "has no setting 'alpha'"),
        (["--lexicon", "nolist"], "there is no lexicon named"),
        (["--out", "x.pkl"], "must be one of arrow"),
        (["--effect", "--compare", "bolukbasi2016"], "is of kind 'pairs'"),
    ],
)
def test_mistakes(words: list[str], said: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = [] if "--out" in words else ["--out", str(tmp_path / "x.safetensors")]
    assert run(["mitigate", str(file), *words, *out]) == 2
    assert said in capsys.readouterr().err
