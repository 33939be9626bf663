"""`biasgauge bayes --band` and `--width` as a user meets them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from biasgauge.analyses.posterior import bayes, plan_attributes, read_distances, within_band
from biasgauge.cli.entry import run

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.analyses.posterior import DistanceTable


def written(table: DistanceTable, path: Path) -> Path:
    frame = table.to_frame()
    frame["cosine_similarity"] = 1 - frame["cosine_distance"]
    frame.to_csv(path)
    return path


@pytest.fixture
def file(table: DistanceTable, tmp_path: Path) -> Path:
    return written(table, tmp_path / "distances.csv")


def result(capsys: pytest.CaptureFixture[str], *words: str) -> Any:  # noqa: ANN401 - JSON
    assert run(["bayes", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = result(
        capsys, "--distances", str(file), "--band", "mac", "--width", "0.1", "--set", "contrast=human,neutral"
    )
    table = read_distances(file)
    posterior = bayes(table)
    plan = plan_attributes(posterior, width=0.1, contrast=("human", "neutral"))
    assert found["within_band"] == json.loads(json.dumps(within_band(table).to_dict()))
    assert found["plan"] == json.loads(json.dumps(plan.to_dict()))
    assert found["groups"] == posterior.to_dict()["groups"]
    given = result(capsys, "--distances", str(file), "--band", "0.14", "--seed", "5")
    assert given["within_band"]["band"] == 0.14
    assert given["within_band"]["shares"] == within_band(table, band=0.14, random_state=5).to_dict()["shares"]
    assert "plan" not in given


def test_before_and_after(file: Path, table: DistanceTable, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    after = replace(table, distance=table.distance + 0.02)
    other = written(after, tmp_path / "after.csv")
    found = result(capsys, "--distances", str(file), "--after", str(other), "--band", "0.1")
    sides = [one["side"] for one in found["within_band"]["shares"]]
    assert sides == ["before", "after", "change"] * 4
    assert found["change"]
    assert run(["bayes", "--distances", str(file), "--after", str(other), "--band", "0.1"]) == 0
    assert "associated  change  " in capsys.readouterr().out


def test_what_a_person_sees(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bayes", "--distances", str(file), "--band", "mac", "--width", "0.05"]) == 0
    shown = capsys.readouterr().out
    band = within_band(read_distances(file))
    one = band.shares[0]
    assert f"Similarities within ±{band.band:.3f} (1 − MAC)" in shown
    assert f"associated  before  {one.share:.3f} [{one.low:.3f}, {one.high:.3f}]" in shown
    plan = plan_attributes(bayes(read_distances(file)), width=0.05)
    assert " ".join(plan.reading.split()) in " ".join(shown.split())
    assert "Attribute words needed (associated / different)" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_figures(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "figures"
    asked = ["--band", "0.1", "--figures", str(folder), "--word", "imam", "--draws", "400"]
    assert run(["bayes", "--distances", str(file), *asked]) == 0
    assert capsys.readouterr().out
    assert {"groups.svg", "words.svg", "within_band.svg", "distances.png"} <= {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--width", "-1"], "'width' parameter must be a number above 0"),
        (["--width", "0.1", "--set", "contrast=human"], "A contrast is of two connections"),
        (["--width", "0.1", "--set", "contrast=human,people"], "There is no posterior of 'people'"),
        (["--band", "3"], "'band' parameter must be a number from 0 to 2"),
        (["--band", "auto"], "Try: biasgauge bayes --help"),
        (["--after", "{file}", "--word", "imam"], "one set of distances"),
        (["--after", "{file}", "--width", "0.1"], "does not go with --after"),
    ],
)
def test_mistakes_get_one_sentence(
    file: Path, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bayes", "--distances", str(file), *(word.format(file=file) for word in words)]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1
