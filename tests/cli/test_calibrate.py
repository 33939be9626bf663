"""`biasgauge calibrate` as its users type it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from biasgauge.cli.entry import run


@pytest.fixture
def text(tmp_path: Path) -> Path:
    random = np.random.default_rng(3)
    words = [f"w{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(80)]
    ends = ["he", "she", "man", "woman", "him", "her", "boy", "girl"]
    lines = [" ".join([*random.choice(words, 8), ends[number % 8], ends[number * 3 % 8]]) for number in range(6_000)]
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


SMALL = [
    "--doses", "-1,0,1", "--per-dose", "10", "--set", "blanks=20", "--plantings", "1", "--seeds", "1",
    "--measures", "dbwa", "--sizes", "4", "--dim", "8", "--epochs", "1",
]  # fmt: skip
FURTHER = ["--set", "others=0", "--set", "shuffled=0", "--set", "tests=weat", "--set", "recipe.negative=3"]


def test_a_text_is_calibrated(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "calibration.json"
    command = ["calibrate", str(text), "--work", str(tmp_path / "work"), "--out", str(out), *SMALL, *FURTHER]
    assert run([*command, "--json"]) == 0
    captured = capsys.readouterr()
    told = json.loads(captured.out)
    assert {"curves", "limits", "false_positives", "frequency", "corpus_bias", "settings", "version"} <= told.keys()
    assert "1 model: 1 planted text × 1 random seed" in captured.err
    assert {rate["name"] for rate in told["false_positives"]} >= {"verdict: report", "weat, p over targets"}
    assert told["settings"]["design"]["doses"] == [-1.0, 0.0, 1.0]
    assert told["settings"]["recipe"] == {"algorithm": "sgns", "dim": 8, "epochs": 1, "negative": 3}
    kept = json.loads(out.read_text(encoding="utf-8"))
    assert kept["limits"] == told["limits"]
    assert len(told["corpus_bias"]) == 40


def test_calibrations_of_other_texts_make_limits_of_a_new_one(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.txt"
    other.write_text("\n".join(reversed(text.read_text(encoding="utf-8").splitlines())), encoding="utf-8")
    command = ["calibrate", "--out", str(tmp_path / "other.json"), *SMALL, *FURTHER]
    assert run([*command, str(other), "--work", str(tmp_path / "work of other"), "--quiet"]) == 0
    capsys.readouterr()
    command[2] = str(tmp_path / "joined.json")
    joining = ["--work", str(tmp_path / "work"), "--set", f"calibrations={tmp_path / 'other.json'}", "--json"]
    assert run([*command, str(text), *joining]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in told["texts"]] == ["text", "other"]
    assert all(limit["texts"] == ["text", "other"] for limit in told["limits"] if limit["of"] == "measure")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--doses", "--json"], "commas. Got '--json'"),
        (["--doses", "1,two"], "commas. Got '1,two'"),
        (["--doses", "1,2"], "must hold 0 (the blanks)"),
        (["--carriers", "waa,wba"], "to 40 carriers; 2 of the 2"),
        (["--per-dose", "400"], "needs 820 carriers"),
        (["--pairs", "nothing"], "nothing"),
        (["--set", "recipe=glove"], "recipe is set as a whole"),
        (["--set", "recipe.dimm=9"], "dimm"),
    ],
)
def test_bad_input_gets_one_sentence(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str
) -> None:
    asked = {**dict(zip(SMALL[::2], SMALL[1::2], strict=True)), **dict([more])}
    typed = [part for option in asked.items() for part in option]
    assert run(["calibrate", str(text), "--work", str(tmp_path / "work"), *typed, *FURTHER, "--quiet"]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_a_calibration_that_is_none_is_refused_by_the_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.json").write_text("{}", encoding="utf-8")
    assert run(["audit", "--calibration", str(tmp_path / "c.json"), "--out", str(tmp_path / "a"), "--quiet"]) == 2
    assert "is not a calibration" in capsys.readouterr().err
