"""`biasgauge correlate` as a user meets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from biasgauge.analyses.correlate import correlate
from biasgauge.cli.entry import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def points(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    rows = [
        {"name": f"e{at}", "WEAT": random.standard_normal(), "metric": metric, "method": method, "seed": seed}
        for at in range(8)
        for metric in ("precision", "recall")
        for method in ("pre", "post")
        for seed in range(2)
    ]
    frame = pd.DataFrame(rows)
    frame["WEAT"] = frame.groupby(["name", "method"])["WEAT"].transform("first")
    frame["the gap"] = frame["WEAT"] + random.standard_normal(len(frame))
    path = tmp_path / "points.csv"
    frame.to_csv(path, index=False)
    return path


def result(capsys: pytest.CaptureFixture[str], *words: str) -> Any:  # noqa: ANN401 - JSON
    assert run(["correlate", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_is_the_result(points: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = result(capsys, str(points), "--x", "WEAT", "--y", "the gap", "--by", "metric, method", "--seed", "3")
    expected = correlate(points, "WEAT", "the gap", ["metric", "method"], random_state=3).to_dict()
    plain = json.loads(json.dumps(expected))
    assert {key: found[key] for key in plain if key != "settings"} == {
        k: v for k, v in plain.items() if k != "settings"
    }
    assert found["settings"]["by"] == ["metric", "method"]
    assert found["settings"]["seed"] == found["settings"]["random_state"] == 3
    assert found["groups"][0]["by"] == {}
    assert {"r", "low", "high", "n", "p", "spearman"} <= found["groups"][1].keys()
    assert {"groups", "settings", "warnings", "version"} <= found.keys()


def test_options_reach_the_analysis(points: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--method", "spearman", "--drop", "method=pre", "--drop", "name=e[67]", "--duplicates", "drop"]
    words += ["--seed-column", "seed", "--unit", "name", "--power-of", "0.7", "--interval", "percentile"]
    words += ["--level", "0.9", "--resamples", "100", "--by", "metric"]
    found = result(capsys, str(points), "--x", "WEAT", "--y", "the gap", *words)
    expected = correlate(
        points,
        "WEAT",
        "the gap",
        ["metric"],
        method="spearman",
        drop=["method=pre", "name=e[67]"],
        duplicates="drop",
        seed_column="seed",
        unit="name",
        power_of=0.7,
        interval="percentile",
        level=0.9,
        resamples=100,
    )
    assert found["groups"] == json.loads(json.dumps(expected.to_dict()["groups"]))
    assert [one["n"] for one in found["groups"]] == [12, 6, 6]
    assert found["groups"][1]["reliability"]["mean"]["k"] == 2


def test_what_a_person_sees(points: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["correlate", str(points), "--x", "WEAT", "--y", "the gap", "--by", "metric,method"]) == 0
    shown = capsys.readouterr().out
    expected = correlate(points, "WEAT", "the gap", ["metric", "method"])
    for one in expected.groups:
        line = next(line for line in shown.splitlines() if line.startswith(one.name))
        assert one.r is not None
        assert all(f"{abs(number):.3f}" in line for number in (one.r, one.estimate.low or 0, one.estimate.high or 0))
    assert expected.levels is not None
    assert f"r within strata           {expected.levels.within_r.value:.3f} [" in shown.replace("−", "-")
    for sentence in expected.readings:
        assert sentence in " ".join(shown.split())
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_a_stratum_without_a_correlation_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "few.csv"
    path.write_text("x,y,s\n1,2,a\n2,1,a\n3,5,a\n4,4,b\n")
    assert run(["correlate", str(path), "--x", "x", "--y", "y", "--by", "s"]) == 0
    assert "a correlation takes 3 points or more, and there is 1" in capsys.readouterr().out


def test_figures_are_written(points: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--x", "WEAT", "--y", "the gap", "--by", "metric,method", "--figures", str(tmp_path / "new")]
    assert run(["correlate", str(points), *words, "--resamples", "50"]) == 0
    assert capsys.readouterr().out
    assert {path.name for path in (tmp_path / "new").iterdir()} == {
        f"{name}.{kind}" for name in ("points", "correlations") for kind in ("svg", "png", "pdf")
    }


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--x", "WAET", "--y", "the gap"], "has no column 'WAET'; did you mean 'WEAT'?"),
        (["--x", "name", "--y", "the gap"], "points.csv, line 2: 'name' must be a number or empty; found 'e0'"),
        (["--x", "WEAT", "--y", "the gap", "--drop", "seed=["], "is no regular expression"),
        (["--x", "WEAT"], "--y"),
        (["--x", "WEAT", "--y", "the gap", "--method", "kendall"], "--method"),
    ],
)
def test_mistakes_get_one_sentence(
    points: Path, capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    assert run(["correlate", str(points), *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.strip().splitlines()) == 1
