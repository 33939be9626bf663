"""The scripts that disturb readers and jobs, a little of each; `make fuzz`, `make kills`, `make faults` do all."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process that can be copied"),
]


def printed(repository: Path, script: str, *arguments: str) -> list[str]:
    command = [sys.executable, str(repository / "scripts" / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    return done.stdout.splitlines()


def test_killed_wherever_it_writes_a_job_ends_in_the_same_bytes(repository: Path) -> None:
    *lines, last = printed(repository, "kill_test.py", "--only", "balance", "score", "--most", "6")
    assert [json.loads(line)["resumed"] for line in lines if line.startswith("{")] == [6, 6]
    assert lines[2] == "| job | points tried | of | other bytes afterwards |"
    assert lines[4].startswith("| balance | 6 | ")
    assert last == "12 kills, 0 differences"


def test_flipped_bits_are_found_and_two_writers_take_turns(repository: Path) -> None:
    told = [
        json.loads(line)
        for line in printed(repository, "fault_test.py", "--only", "corpus", "--faults", "bits", "writers")
        if line.startswith("{")
    ]
    assert [(one["fault"], one["tried"], one["refused"]) for one in told] == [("bits", 30, 30), ("writers", 12, 0)]


def test_hostile_files_with_a_right_checksum_are_refused_in_a_sentence(repository: Path, tmp_path: Path) -> None:
    readers = ["scores-scores.npy, signed", "corpus-tokens.npy, signed", "scores-store.json, signed"]
    lines = printed(repository, "fuzz.py", "--runs", "60", "--out", str(tmp_path / "found"), "--only", *readers)
    assert lines[-1].startswith("180 inputs, ")
    assert lines[-1].endswith(" refused, 0 findings")
    assert not (tmp_path / "found").exists()


def test_tables_are_printed_and_written(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(repository / "scripts"))
    from disturbance_table import FOLDER, show_table

    show_table("kills", [{"job": "a", "n": 1200}, {"job": "b", "n": "none"}], docs=True, folder=tmp_path)
    assert capsys.readouterr().out == "| job | n |\n| --- | --- |\n| a | 1,200 |\n| b | none |\n"
    assert (tmp_path / "kills.csv").read_text() == "job,n\na,1200\nb,none\n"
    assert repository / "docs" / "maintainers" / "hardening" == FOLDER


def test_the_page_sums_up_its_tables(repository: Path) -> None:
    page = (repository / "docs" / "maintainers" / "hardening.md").read_text(encoding="utf-8")
    tables = {}
    for name in ("inputs", "kills", "faults", "readers"):
        assert f"(hardening/{name}.csv)" in page
        with (repository / "docs" / "maintainers" / "hardening" / f"{name}.csv").open(
            encoding="utf-8", newline=""
        ) as file:
            tables[name] = list(csv.DictReader(file))
    inputs, refused, others = (
        sum(int(row[column]) for row in tables["inputs"]) for column in ("inputs", "refused", "other errors")
    )
    assert f"{inputs:,} inputs: {refused:,} refused" in page
    assert f"{others} other errors" in page
    killed = sum(int(row["points tried"]) for row in tables["kills"])
    assert f"{len(tables['kills'])} jobs, {killed} kills" in page
    assert f"{len(tables['faults'])} jobs, below" in page
    added = sum(int(row["inputs"]) for row in tables["readers"])
    assert f"{len(tables['readers'])} readers added since had {added:,} inputs" in page
    assert f"with {sum(int(row['other errors']) for row in tables['readers'])} other errors" in page
