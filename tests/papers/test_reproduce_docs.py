"""The page about reproducing papers: its programs run, its counts are true."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from scipy.stats import pearsonr

from biasgauge import registry
from biasgauge.applications import read_points
from biasgauge.cli.reproduce import app
from biasgauge.papers import Row, reproduce

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "reproduce.md").read_text()


def blocks(page: str, language: str) -> str:
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))


def test_the_commands_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "DIR").mkdir()
    lines = [line for line in blocks(page, "sh").splitlines() if line]
    assert len(lines) == 5
    for line in lines:
        program, command, *words = shlex.split(line, comments=True)
        assert (program, command) == ("biasgauge", "reproduce")
        app(words, exit_on_error=False, print_error=False, result_action="return_value")
    assert (tmp_path / "goldfarb.html").is_file()


def test_the_program_runs(page: str) -> None:
    done = subprocess.run([sys.executable, "-c", blocks(page, "python")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("0.38 0.3845 0.0083 ")


def test_every_paper_and_every_column_is_told(page: str) -> None:
    assert re.findall(r"^\| `(\w+\d{4})` \|", page, re.MULTILINE) == sorted(
        registry.names("paper"),
        key=["du2021", "dobrzeniecka2023", "badderseeds2022", "zhang2020", "goldfarbtarrant2021"].index,
    )
    told = set(re.findall(r"`(\w+)`", page.split("## The papers", maxsplit=1)[0]))
    assert set(Row("a", "", "").to_dict()) <= told


def test_the_counts_are_true(page: str) -> None:
    assert f"({reproduce('du2021').count('agrees')} numbers)" in page


def test_the_tolerances_are_those_of_the_rows(page: str) -> None:
    named: set[str] = set()
    for name, starts, told in (
        ("dobrzeniecka2023", ("posterior.", ".mean"), ".003 for a mean"),
        *(("dobrzeniecka2023", ("posterior.", end), ".006 for an end") for end in (".low", ".high")),
        ("dobrzeniecka2023", ("coverage.", ".89"), ".98 for 89 %"),
        ("dobrzeniecka2023", ("coverage.", ".50"), "1.38 for 50 %"),
        ("zhang2020", ("sums.table", ".mean"), "zhang2020`: .01,"),
        ("zhang2020", ("analogies.cosine.digits", ""), "seven digits: 1e-06,"),
        *(("du2021", (start, ""), "by eye: .02") for start in ("test_retest.", "inter_rater.", "alpha.")),
    ):
        rows = [row for row in reproduce(name).rows if row.id.startswith(starts[0]) and row.id.endswith(starts[1])]
        kept = {f"{row.tolerance:.12g}".removeprefix("0") for row in rows}
        assert len(kept) == 1
        assert kept.pop() in told
        assert told.replace("1e-06", ".000001") in page
        named |= {row.id for row in rows}
    for name in registry.names("paper"):
        for row in reproduce(name).rows if name != "badderseeds2022" else ():
            if row.tolerance and not isinstance(row.published, str) and row.id not in named:
                assert row.tolerance <= 0.5 * _unit(float(row.published or 0)) * (1 + 1e-9), row.id


def _unit(printed: float) -> float:
    """What the last digit of a number stands for."""
    return float(10.0 ** int(Decimal(f"{printed:.12g}").as_tuple().exponent))


@pytest.mark.shared
def test_the_counts_with_data_are_true(page: str, shared_data: Path) -> None:
    found = reproduce("goldfarbtarrant2021", shared_data)
    assert (
        f"with them {found.count('agrees')} numbers or claims are reached and {found.count('differs')} are not" in page
    )
    # those of dobrzeniecka2023 are held by its own tests: 38 + 132 agree, 16 + 2 differ
    assert "170 numbers are reached and 18 are not" in page


@pytest.mark.shared
def test_what_is_told_of_the_negative_correlation_is_true(page: str, shared_data: Path) -> None:
    found = reproduce("goldfarbtarrant2021", shared_data, parts=["figure4b", "unfiltered"])
    points = read_points(shared_data / "goldfarb_tarrant_results" / "hsd_en.csv").without("Test=9")
    cells = zip(*(points.texts(name) for name in ("Metric", "Method")), strict=True)
    chosen = points.take([place for place, cell in enumerate(cells) if cell == ("Recall", "Preprocess")])
    oracle = pearsonr(chosen.numbers("WEAT"), chosen.numbers("Performance Gap"))
    labeled = found.row("unfiltered.recall.preprocess.r")
    assert labeled.as_published == pytest.approx(oracle.statistic)
    all_points = f"r = {oracle.statistic:.2f}, p = {oracle.pvalue:.4f}"
    p = found.row("hsd_en.recall.preprocess.both.p").corrected
    once = f"r = {labeled.corrected:.2f} [{labeled.low:.2f}, {labeled.high:.2f}], p = {p:.3f}"
    for told in (page, found.about):
        for numbers in (all_points, once):
            assert numbers.replace("0.", ".").replace("-", "−") in told
