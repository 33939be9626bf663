"""`biasgauge audit` as a user meets it: one screen, the rest on request, an exit code for CI."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.audits.parts.lexicons import count_lexicons
from biasgauge.cli import screen
from biasgauge.cli.command import Options
from biasgauge.cli.entry import run
from biasgauge.cli.screen import ProgressBar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ASKED = ("weat6", "weat7", "weat3")
QUICK = tuple(word for name in ASKED for word in ("--lexicon", name))


@pytest.fixture(scope="module")
def default(
    tmp_path_factory: pytest.TempPathFactory, shipped_audit: Callable[..., bg.audits.AuditResult]
) -> tuple[list[str], Path]:
    """What `biasgauge audit` prints, and its folder."""
    folder, printed, result = tmp_path_factory.mktemp("audit"), StringIO(), shipped_audit()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        patch.chdir(folder)
        patch.setattr("biasgauge.audits.audit", lambda *_, **__: result)
        assert run(["audit"]) == 0
    return printed.getvalue().splitlines(), folder / "biasgauge-audit"


def test_the_default_audit_fits_on_one_screen(default: tuple[list[str], Path]) -> None:
    lines, folder = default
    assert len(lines) <= 30
    assert all(len(line) <= 80 for line in lines if not line.startswith("page: "))
    assert "may be reported" in lines[0]
    (vectors,) = [line for line in lines if line.startswith("- SGNS enwiki × 4 (25,000 words × 64); ")]
    assert vectors.endswith(" in the vocabulary.")
    assert "GloVe 6B 100d (subset)" in "\n".join(lines)
    assert f"page: {folder / 'report.html'}" in lines
    assert (folder / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert lines[-1].startswith("next: biasgauge audit VECTORS")


def test_every_question_has_one_line_with_decision_and_failed_rule(default: tuple[list[str], Path]) -> None:
    lines, folder = default
    verdicts = json.loads((folder / "report.json").read_text())["verdicts"]
    for verdict in verdicts:
        shown = [line for line in lines if line.split()[1:2] == [verdict["question"]]]
        if not shown:  # of many questions the screen has the first
            continue
        (line,) = shown
        assert line.split()[0] == verdict["decision"]
        if verdict["decision"] == "no-association-shown":
            assert "  none: too small" in line
            continue
        if verdict["plan_command"]:
            assert "  needs " in line
            continue
        failed = [one["rule"] for one in verdict["evidence"] if one["passes"] is False]
        unknown = [one["rule"] for one in verdict["evidence"] if one["passes"] is None]
        if failed:
            assert f"  {failed[0]}: " in line
        elif unknown:
            assert f"  unknown: {unknown[0]}" in line
    order = [
        line.split()[0]
        for line in lines
        if line.split()[1:2] and line.split()[1] in {one["question"] for one in verdicts}
    ]
    assert order == sorted(order, key=["report", "report-with-care", "do-not-report", "no-association-shown",
                                       "inconclusive", "not-measurable"].index)  # fmt: skip


@pytest.fixture
def audited_once(
    monkeypatch: pytest.MonkeyPatch, shipped_audit: Callable[..., bg.audits.AuditResult]
) -> bg.audits.AuditResult:
    """Whatever is asked of the command, what was measured is this: the tests here are about what it says of it."""
    result = shipped_audit(*ASKED)
    monkeypatch.setattr("biasgauge.audits.audit", lambda *_, **__: result)
    return result


@pytest.mark.usefixtures("audited_once")
def test_verbose_prints_the_evidence_quiet_the_path_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert run(["audit", *QUICK, "--out", str(out), "--verbose"]) == 0
    shown = capsys.readouterr().out
    assert "Association tests by model" in shown
    assert "Error rates of this audit" in shown
    assert run(["audit", *QUICK, "--out", str(out), "--quiet", "--force"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{out / 'report.html'}\n"
    assert printed.err == ""


def test_fail_on_leaves_with_3_and_says_why(
    audited_once: bg.audits.AuditResult,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = ["audit", *QUICK, "--quiet", "--force", "--out", str(tmp_path / "out")]
    decisions = {one.question: one.decision for one in audited_once.verdicts}
    there = decisions["weat6"]
    absent = next(word for word in ("report", "do-not-report", "report-with-care") if word not in decisions.values())
    assert run([*command, "--fail-on", absent]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(type(audited_once), "save", lambda _, path: path)  # the page was written once
    for words in ([there], [f"{absent},{there}"], [absent, "--fail-on", there], [absent, there]):
        assert run([*command, "--fail-on", *words]) == 3
        printed = capsys.readouterr()
        assert printed.err == f"biasgauge: --fail-on: weat6 is {there}\n"
        assert printed.out == f"{tmp_path / 'out' / 'report.html'}\n"  # the page is there all the same
    assert run([*command, "--fail-on", there, "--json"]) == 3
    assert {one["question"] for one in json.loads(capsys.readouterr().out)["verdicts"]} == set(decisions)


def test_a_decision_that_does_not_exist_is_refused_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "--fail-on", "biased", "--out", str(tmp_path / "out")]) == 2
    assert "must be one of report" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("quick_audits")
def test_several_models_are_told_apart_and_lexicons_counted_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], small_replicates: list[bg.Embedding]
) -> None:
    files = []
    for seed, model in enumerate(small_replicates[:2]):
        noise = np.random.default_rng(seed).normal(0, 0.01, model.vectors.shape)
        changed = bg.Embedding(model.words, (model.vectors + noise).astype(np.float32))
        files.append(str(bg.save(changed, tmp_path / f"model{seed}.bin")))
    assert run(["audit", *files, *QUICK, "--out", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in ("model0", "model1"):
        assert sum(name in line and "weat7" in line for line in lines) == 1
    content = json.loads((tmp_path / "out" / "report.json").read_text())
    result = bg.audits.AuditResult.from_dict(content)
    assert len(result.lexicons) == 6
    assert sum(count_lexicons(result.lexicons, word) for word in ("measurable", "partly", "undefined")) == 3


@pytest.mark.usefixtures("quick_audits")
def test_a_plain_list_of_words_works_as_a_lexicon(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], small_replicates: list[bg.Embedding]
) -> None:
    vectors = str(bg.save(small_replicates[0], tmp_path / "vectors.bin"))
    words = tmp_path / "words.txt"
    words.write_text("\ufeffnurse\n\nsurgeon\nengineer\nnurse\nteacher\n", encoding="utf-8")
    out = ["--out", str(tmp_path / "out"), "--force", "--json"]
    assert run(["audit", vectors, "--lexicon", str(words), "--lexicon", "du2021", *out]) == 0
    found = json.loads(capsys.readouterr().out)
    (verdict,) = found["verdicts"]
    assert verdict["question"] == "words"
    assert verdict["decision"] != "not-measurable"
    asked = next(one["coverage"]["asked"] for one in found["lexicons"] if one["lexicon"] == "words")
    assert asked == 4
    assert run(["audit", vectors, "--lexicon", str(words), *out]) == 0
    (alone,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert alone["why"] == "a list of words asks nothing by itself: give base pairs too, as --lexicon du2021 for gender"
    assert bg.lexicon(words).words == ("nurse", "surgeon", "engineer", "teacher")
    words.write_bytes(b"caf\xe9\n")
    assert run(["audit", vectors, "--lexicon", str(words), *out]) == 2
    assert "words.txt, line 1, byte 3" in capsys.readouterr().err


@pytest.mark.usefixtures("quick_audits")
def test_the_bar_names_the_stages_of_an_audit() -> None:
    stages: list[str] = []
    steps: list[tuple[int, int]] = []
    bg.audit(lexicons=["weat7"], stage=stages.append, progress=lambda done, total: steps.append((done, total)))
    assert stages[0] == "reading"
    assert stages[-1] == "verdicts"
    assert {"testing", "scoring", "reliability", "robustness"} <= set(stages)
    shares = [done / total for done, total in steps]
    assert shares == sorted(shares)
    assert shares[-1] < 1  # verdicts are still to come
    bar = ProgressBar("auditing")
    bar.stage("robustness")
    assert bar.description == "auditing: robustness"
    bar.stop()


def test_a_log_file_gets_lines_of_progress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten minutes of training left a log without a line."""
    clock = iter([0.0, 10.0, 31.0, 40.0, 62.0, 70.0])
    monkeypatch.setattr("biasgauge.cli.screen.time.monotonic", lambda: next(clock))
    with screen.progress(Options(), "training") as report:
        assert isinstance(report, screen.ProgressLines)
        for done in (1, 2, 3, 4):
            report(done, 8)
        report.stage("page")  # eight seconds after the last line
    assert capsys.readouterr().err.splitlines() == [
        "biasgauge: training: 25 %, about 2 min left",
        "biasgauge: training: 50 %, about 1 min left",
    ]
    clock = iter([0.0, 31.0])
    with screen.progress(Options(), "training") as report:
        assert report is not None
        report(1, 100)  # most of the time so far was compilation: no estimate yet
    assert capsys.readouterr().err.splitlines() == ["biasgauge: training: 1 %"]
    with screen.progress(Options(quiet=True), "training") as report:
        assert report is None
