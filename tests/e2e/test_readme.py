"""The README, run as it is written."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.cli.entry import run
from biasgauge.text import planted_corpus

pytestmark = pytest.mark.e2e


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def console_lines(page: str) -> list[str]:
    """Every command of the console blocks, without the prompt and the remark behind it."""
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    return [line.removeprefix("$ ").split("  #")[0].strip() for line in lines if line.startswith("$ ")]


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "README.md").read_text()


@pytest.fixture
def folder(tmp_path: Path, small_replicates: list[bg.Embedding]) -> Path:
    """A folder with the files that the README's commands name."""
    bg.save(small_replicates[0], tmp_path / "vectors.bin")
    (tmp_path / "my_words.toml").write_text('kind = "words"\nwords = ["nurse", "surgeon"]\n')
    random = np.random.default_rng(3)
    words = [word.lower() for words in bg.lexicon("weat7").sets.values() for word in words]
    for name, lines in (("corpus", 500), ("other", 520)):
        planted_corpus([-0.8, 0.0, 0.8], lines=lines).write(tmp_path / f"{name}.txt")
        with (tmp_path / f"{name}.txt").open("a", encoding="utf-8") as text:
            text.writelines(" ".join(random.choice(words, size=10)) + "\n" for _ in range(200))
    return tmp_path


def test_the_two_commands_come_first(page: str, repository: Path) -> None:
    assert console_lines(page)[:2] == ["make audit", "make test"]
    makefile = (repository / "Makefile").read_text()
    assert re.search(r"^audit: .*\n\t\$\(BIN\)/biasgauge audit --force$", makefile, re.MULTILINE)
    assert re.search(r"^test: .*\n\t\$\(PYTEST\) ", makefile, re.MULTILINE)
    assert re.search(r"^PYTEST = \$\(BIN\)/python -m pytest ", makefile, re.MULTILINE)
    assert "make test" in (repository / ".ci" / "run").read_text()


def expanded(word: str, folder: Path) -> list[str]:
    """What a shell makes of a word."""
    return sorted(str(path.relative_to(folder)) for path in folder.glob(word)) if "*" in word else [word]


LONG = ("biasgauge calibrate ", "--calibration", "my-model")
"""Commands that train or load models of their own are left to a slow test."""


def run_all(commands: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Run the commands in the folder, one after the other; each ends well. Lines on stderr, but for progress."""
    for line in commands:
        _, *words = (path for word in line.split() for path in expanded(word, folder))
        assert run(words) == 0, (line, capsys.readouterr().err)
    lines = capsys.readouterr().err.splitlines()  # a busy machine takes the half minute after which progress is printed
    return [line for line in lines if not re.fullmatch(r"biasgauge: .+: \d+ %(, about .+ left)?", line)]


def biasgauge_commands(page: str, *, long: bool) -> list[str]:
    """Commands of the package on the README, those that take a while or the others."""
    lines = [line for line in console_lines(page) if line.startswith("biasgauge ")]
    return [line for line in lines if any(part in line for part in LONG) == long]


@pytest.mark.usefixtures("quick_audits")
def test_every_biasgauge_command_runs(
    page: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = biasgauge_commands(page, long=False)
    assert len(commands) >= 14
    monkeypatch.chdir(folder)
    (plan,) = run_all(commands, folder, capsys)
    assert "cells, 0 of them there already" in plan  # of `study run`, which says what it will do
    assert (folder / "report" / "report.html").is_file()


@pytest.mark.slow
def test_every_long_command_runs(
    page: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tests.encoders.conftest import small_bert, wordpieces

    commands = biasgauge_commands(page, long=True)
    assert len(commands) == 3
    random = np.random.default_rng(4)
    genders = [end for pair in bg.lexicons.pairs_of("du2021").pairs for end in pair]
    carriers = [f"{first}o{second}" for first in "abcdefghij" for second in "klmnopqrstuvwxyzabcdefghij"]
    with (folder / "corpus.txt").open("w", encoding="utf-8") as text:
        text.writelines(
            " ".join([*random.choice(carriers, 8), *random.choice(genders, 2)]) + "\n" for _ in range(9_000)
        )
    small_bert().save_pretrained(folder / "my-model")
    wordpieces().save_pretrained(folder / "my-model")
    capsys.readouterr()  # the library tells of its progress
    monkeypatch.chdir(folder)
    (plan,) = run_all(["biasgauge train corpus.txt --seeds 2 --out models", *commands], folder, capsys)
    assert plan.startswith("7 models: 3 planted texts × 2 random seeds, 1 shuffled;")
    assert (folder / "calibrated" / "report.html").is_file()
    assert (folder / "contextual" / "report.html").is_file()


def test_every_python_block_runs(page: str, folder: Path) -> None:
    programs = blocks(page, "python")
    assert programs
    for program in programs:
        done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert "32 of 32 words; lost: {}" in done.stdout
        assert "exact" in done.stdout
        assert "weat7 inconclusive WEAT 7: math and arts" in done.stdout  # METHODS 7.5: it excludes 0 on neither


def test_every_link_leads_somewhere(page: str, repository: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", page)
    assert targets
    assert [target for target in targets if "://" not in target and not (repository / target).exists()] == []


@pytest.mark.slow
def test_both_commands_work_in_a_fresh_clone(repository: Path, tmp_path: Path) -> None:
    """A newcomer's machine: a clone, no virtual environment; needs the package index."""
    git, make = shutil.which("git"), shutil.which("make")
    assert git, "git is needed"
    assert make, "make is needed"
    clone = tmp_path / "clone"
    subprocess.run([git, "clone", "--quiet", str(repository), str(clone)], check=True)
    audit = subprocess.run([make, "audit"], cwd=clone, capture_output=True, text=True, check=False)
    assert audit.returncode == 0, audit.stderr
    told = re.search(r"page: (.*report\.html)", audit.stdout.replace("\n", ""))
    assert told
    assert Path(told.group(1)).is_file()
    tested = subprocess.run([make, "test"], cwd=clone, capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stdout[-3000:]
