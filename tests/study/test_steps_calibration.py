"""A calibration in a study: many cells, and the numbers of `calibrate`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.audits.calibrated import verdict_rates
from biasgauge.study import plan_study, run_study

if TYPE_CHECKING:
    from pathlib import Path

STUDY = """
[study]
name = "calibrated"
seed = 3

[corpora.one]
path = "text.txt"

[analyses.limits]
kind = "calibrate"
of = ["one"]

[analyses.limits.settings]
recipe = { dim = 8, epochs = 1 }
pairs = [["he", "she"]]
doses = [-1.5, 0.0, 1.5]
per_dose = 8
blanks = 16
plantings = 2
seeds = 2
shuffled = 1
others = 0
measures = ["dbwa"]
tests = ["weat"]
sizes = [4]
"""
SETTINGS: dict[str, Any] = {
    "pairs": [("he", "she")], "doses": [-1.5, 0.0, 1.5], "per_dose": 8, "blanks": 16, "plantings": 2, "seeds": 2,
    "shuffled": 1, "others": 0, "measures": ["dbwa"], "tests": ["weat"], "sizes": [4], "random_state": 3,
}  # fmt: skip


def study_in(folder: Path) -> Path:
    random = np.random.default_rng(3)
    words = [f"w{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(120)]
    lines = [f"{' '.join(random.choice(words, 8))} {('he', 'she')[number % 2]}" for number in range(6_000)]
    (folder / "text.txt").write_text("\n".join(lines), encoding="utf-8")
    (folder / "study.toml").write_text(STUDY)
    return folder / "study.toml"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return study_in(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same study, run from beginning to end in this process."""
    file = study_in(tmp_path_factory.mktemp("whole"))
    done = run_study(file, out=file.parent / "out", workers=0)
    assert not done.failed, done.failures
    return file.parent


def result(folder: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads((folder / "results" / "limits" / "one" / "result.json").read_bytes())


def test_it_is_planned_as_texts_models_scores_and_verdicts(file: Path) -> None:
    plan = plan_study(file)
    steps = [cell.step for cell in plan.cells]
    counts = {step: steps.count(step) for step in dict.fromkeys(steps)}
    assert counts == {
        "corpus": 1, "calibration-plan": 1, "plant": 3, "train": 5, "calibration-scores": 5, "calibration-verdicts": 2,
        "calibrate": 1,
    }  # fmt: skip
    more = file.with_name("more.toml")
    more.write_text(STUDY.replace("seeds = 2", "seeds = 3").replace('["weat"]', '["weat", "nas"]'))
    longer = {cell.key for cell in plan_study(more).cells}
    kept = {cell.step for cell in plan.cells if cell.key not in longer}
    assert kept == {"calibration-verdicts", "calibrate"}, "texts, models and scores are found again"


def test_it_is_that_of_the_function(whole: Path) -> None:
    expected = bg.calibrate(whole / "text.txt", {"dim": 8, "epochs": 1}, verdicts=verdict_rates, **SETTINGS).to_dict()
    found = result(whole / "out")
    assert any(rate["name"].startswith("verdict") for rate in found["false_positives"])
    assert {key: value for key, value in found.items() if key in expected} == json.loads(json.dumps(expected))


def test_bootstrap_samples_and_no_verdicts(file: Path) -> None:
    file.write_text(STUDY.replace("seeds = 2", "seeds = 1\nbootstrap = 2\nverdicts = false"))
    assert "calibration-verdicts" not in {cell.step for cell in plan_study(file).cells}
    done = run_study(file, out=file.parent / "out", workers=0)
    assert not done.failed, done.failures
    asked = {**SETTINGS, "seeds": 1, "bootstrap": 2}
    expected = bg.calibrate(file.with_name("text.txt"), {"dim": 8, "epochs": 1}, **asked).to_dict()
    found = result(file.parent / "out")
    for part in ("curves", "limits", "false_positives", "frequency", "corpus_bias", "settings"):
        assert found[part] == json.loads(json.dumps(expected))[part]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("dim = 8", "dimm = 8", "has no setting 'dimm'"),
        ("dim = 8", "seeds = 8", "A recipe has no 'seeds'"),
        ("dim = 8", 'algorithm = "sgnss"', "sgns"),
        ("doses = [-1.5, 0.0, 1.5]", "doses = [1.0]", "must hold 0"),
        ("blanks = 16", "blanks = 2", "at least 10"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_runs(file: Path, old: str, new: str, said: str) -> None:
    file.write_text(STUDY.replace(old, new))
    with pytest.raises(bg.errors.InputError, match=said):
        plan_study(file)


@pytest.mark.crash
def test_killed_and_run_again_it_computes_only_what_is_missing(file: Path, whole: Path) -> None:
    def started() -> subprocess.Popen[bytes]:
        typed = ["study", "run", str(file), "--out", str(file.parent / "out"), "--workers", "1", "--quiet"]
        return subprocess.Popen([sys.executable, "-m", "biasgauge", *typed])

    def cells() -> dict[str, int]:
        """When each finished cell was written."""
        manifests = (file.parent / "out" / "cells").glob("*/*/manifest.json")
        return {path.parent.name: path.stat().st_mtime_ns for path in manifests}

    trained = {cell.key for cell in plan_study(file).cells if cell.step == "train"}
    killed = started()
    end = time.monotonic() + 400
    while not trained & cells().keys():
        assert killed.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < end
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    assert killed.wait(30) == -signal.SIGKILL
    before = cells()
    assert not (file.parent / "out" / "results" / "limits").exists()
    assert started().wait(400) == 0
    assert before.items() <= cells().items(), "a cell that was there was computed again"
    assert len(before) < len(cells())
    assert result(file.parent / "out") == result(whole / "out")
