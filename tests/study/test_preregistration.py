"""A study is frozen before its data is seen; what is done otherwise is told by the run and on the page."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

import biasgauge as bg
from biasgauge.cli.entry import run
from biasgauge.errors import InputError
from biasgauge.study import Preregistration, preregister
from biasgauge.study.preregistration import Deviation, read_preregistration

if TYPE_CHECKING:
    from pathlib import Path

TOML = """
[study]
name = "small"
title = "A title"

[vectors.shipped]
default = "glove"

[analyses.mathematics]
kind = "weat"
of = ["shipped"]
settings = { test = "own.toml", alternative = "two-sided" }

[report]
title = "A page"
"""
LIST = """
kind = "test"
x = { name = "math", words = ["math", "algebra", "geometry"] }
y = { name = "arts", words = ["poetry", "art", "dance"] }
a = { name = "male", words = ["he", "him", "man"] }
b = { name = "female", words = ["she", "her", "woman"] }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "own.toml").write_text(LIST)
    study = tmp_path / "small.toml"
    study.write_text(TOML.replace("own.toml", str(tmp_path / "own.toml")))
    return study


def test_what_is_frozen_is_every_choice_and_the_words_of_every_list(file: Path) -> None:
    frozen = preregister(file)
    assert frozen.choices == {
        "study.name": "small",
        "study.seed": 0,
        "vectors.shipped.default": "glove",
        "analyses.mathematics.kind": "weat",
        "analyses.mathematics.of": ["shipped"],
        "analyses.mathematics.settings.test": str(file.with_name("own.toml")),
        "analyses.mathematics.settings.alternative": "two-sided",
    }
    assert frozen.lists == {"own.toml": hashlib.sha256(LIST.encode()).hexdigest()}
    assert frozen.results == ("mathematics/shipped", "report")
    written = json.loads(file.with_name("small.preregistration.json").read_text())
    told = written.pop("sha256")
    assert told == frozen.sha256
    plain = json.dumps(written, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert hashlib.sha256(plain.encode()).hexdigest() == told  # anybody can check it without this package
    assert Preregistration.from_dict(written).sha256 == told


def test_a_run_says_that_it_was_done_as_planned_or_what_was_not(file: Path) -> None:
    frozen = preregister(file)
    kept = bg.run_study(file, workers=0)
    assert kept.preregistration is not None
    assert (kept.preregistration.sha256, kept.preregistration.deviations) == (frozen.sha256, ())
    assert "done as planned" in kept.preregistration.sentence
    file.write_text(file.read_text().replace("two-sided", "greater").replace("A title", "Another").replace(
        "[report]", '[analyses.more]\nkind = "weat"\nof = ["shipped"]\nsettings = { test = "weat6" }\n\n[report]'
    ))  # fmt: skip
    file.with_name("own.toml").write_text(LIST.replace('"dance"', '"novel"'))
    changed = bg.run_study(file, workers=0)
    assert changed.preregistration is not None
    *settings, words = changed.preregistration.deviations
    assert settings == [
        Deviation("analyses.mathematics.settings.alternative", "two-sided", "greater"),
        Deviation("analyses.more.kind", "not in the plan", "weat"),
        Deviation("analyses.more.of", "not in the plan", "shipped"),
        Deviation("analyses.more.settings.test", "not in the plan", "weat6"),
    ]
    assert words.what == "words of own.toml"
    assert frozen.lists["own.toml"][:12] in words.planned
    page = (file.with_name("small-study") / "results" / "report" / "page.html").read_text()
    assert "with 5 deviations" in page
    assert "analyses.more.settings.test" in page
    assert bg.study.StudyRun.from_dict(changed.to_dict()).preregistration == changed.preregistration


def test_it_is_read_once_a_run(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    preregister(file)
    read: list[Path] = []

    def counted(path: Path) -> Preregistration:
        read.append(path)
        return read_preregistration(path)

    monkeypatch.setattr("biasgauge.study.preregistration.read_preregistration", counted)
    assert bg.run_study(file, workers=0).preregistration is not None
    assert len(read) == 1


def test_a_dropped_analysis_is_told(file: Path) -> None:
    preregister(file)
    file.write_text(file.read_text().replace(', alternative = "two-sided"', ""))
    (dropped,) = (bg.run_study(file, workers=0).preregistration or pytest.fail("none")).deviations
    assert dropped == Deviation("analyses.mathematics.settings.alternative", "two-sided", "left out")


def test_without_one_nothing_is_said(file: Path) -> None:
    result = bg.run_study(file, workers=0)
    assert result.preregistration is None
    assert "Preregist" not in (file.with_name("small-study") / "results" / "report" / "page.html").read_text()


def test_it_is_written_once_and_a_changed_one_is_refused(file: Path) -> None:
    preregister(file)
    with pytest.raises(InputError, match="preregistration"):
        preregister(file)
    path = file.with_name("small.preregistration.json")
    path.write_text(path.read_text().replace("two-sided", "greater"))
    with pytest.raises(InputError, match="changed"):
        bg.run_study(file, workers=0)
    for damaged in ("", "[]", '{"sha256": 1}', "[" * 100_000):
        path.write_text(damaged)
        with pytest.raises(InputError, match="preregistration"):
            read_preregistration(path)


def test_the_command(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["study", "preregister", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "7 choices, 1 word list and 2 results were frozen" in shown
    assert f"preregistration: {file.with_name(f'{file.stem}.preregistration.json').resolve()}" in shown.splitlines()
    assert run(["study", "preregister", str(file), "--json", "--out", str(file.with_name("other.json"))]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sha256"] in shown
    assert run(["study", "preregister", str(file)]) == 2
    assert run(["study", "run", str(file), "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["preregistration"]["deviations"] == []
