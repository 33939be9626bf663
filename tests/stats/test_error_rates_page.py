"""docs/measures/error_rates.md names every interval, p, rule and null: what is added must be measured."""

from __future__ import annotations

import csv
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.stats.test_calibration import CASES, SETTLED_ELSEWHERE

from biasgauge import registry

if TYPE_CHECKING:
    from pathlib import Path

AGAIN = "run python scripts/calibration_report.py"


@pytest.fixture(scope="module")
def null_cases(repository: Path) -> Any:  # noqa: ANN401 - a module
    sys.path.insert(0, str(repository / "scripts"))
    try:
        import null_cases
    finally:
        sys.path.remove(str(repository / "scripts"))
    return null_cases


@pytest.fixture(scope="module")
def page(repository: Path) -> dict[str, set[str]]:
    """The first column of every table of the page, and the names in backquotes, by heading."""
    text = (repository / "docs" / "measures" / "error_rates.md").read_text(encoding="utf-8")
    parts = dict(part.split("\n", 1) for part in text.split("\n## ")[1:])
    return {
        heading: {cell.strip("` ") for line in part.splitlines() for cell in line.strip("|").split("|")[:2]}
        | set(re.findall(r"`([^`]+)`", part))
        | {cell for row in file_rows(repository, heading) for cell in row[:2]}
        for heading, part in parts.items()
    }


def file_rows(repository: Path, heading: str) -> list[list[str]]:
    """Rows of the file that has the whole table of a section; none where the page has it."""
    path = repository / "docs" / "measures" / "error_rates" / f"{heading.split(maxsplit=1)[0].lower()}.csv"
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_every_giver_of_p_has_a_world(package: Path, null_cases: Any) -> None:  # noqa: ANN401 - a module
    found = set(null_cases.givers_of_p([package / "stats", package / "metrics"]))
    assert found == {case.giver for case in null_cases.NULLS} | set(null_cases.SAME_AS)


def test_a_giver_without_a_world_is_found(tmp_path: Path, null_cases: Any) -> None:  # noqa: ANN401 - a module
    (tmp_path / "new.py").write_text(
        "class Held:\n    p_value: float\nclass Holder:\n    held: Held\nclass Other:\n    n: int\n"
        "def guess() -> Holder | None: ...\ndef share_p() -> float: ...\ndef other() -> Other: ...\n"
        "def _own() -> Held: ...\n"
    )
    assert list(null_cases.givers_of_p([tmp_path])) == ["guess", "share_p"]


def test_every_interval_is_on_the_page(page: dict[str, set[str]]) -> None:
    assert {*CASES, *SETTLED_ELSEWHERE} - page["Intervals"] == set(), AGAIN


def test_every_test_is_on_the_page(page: dict[str, set[str]], null_cases: Any) -> None:  # noqa: ANN401 - a module
    asked = {case.giver for case in null_cases.NULLS} | {case.what for case in null_cases.NULLS}
    assert (asked | set(null_cases.SAME_AS)) - page["Tests"] == set(), AGAIN


def test_every_rule_and_null_of_verdicts_is_on_the_page(page: dict[str, set[str]], repository: Path) -> None:
    assert set(registry.names("verdict_rule")) - page["Rules of these verdicts"] == set(), AGAIN
    nulls = re.findall(
        r'^        "([^"]+)": lambda random', (repository / "bench" / "verdicts.py").read_text(), re.MULTILINE
    )
    assert len(nulls) > 10
    assert set(nulls) - page["Verdicts of the audit"] == set(), AGAIN


def test_no_row_is_beyond_what_it_promises(repository: Path) -> None:
    """What is known to be short stands here by name, with the reason on its own page."""
    text = (repository / "docs" / "measures" / "error_rates.md").read_text(encoding="utf-8")
    beyond = re.findall(r"^\| `?([\w ,×]+)`? \|.*\*\*(?:short|over) by (0\.\d+)", text, re.MULTILINE)
    assert {name: float(by) for name, by in beyond if float(by) > KNOWN.get(name, 0.0)} == {}


@pytest.mark.parametrize("heading", ["Intervals", "Tests"])
def test_the_page_sums_up_its_files(repository: Path, heading: str) -> None:
    """Number and range of the rows without a remark, and every row with one."""
    section = (
        (repository / "docs" / "measures" / "error_rates.md")
        .read_text(encoding="utf-8")
        .split(f"\n## {heading}\n", 1)[1]
    )
    section = section.split("\n## ", 1)[0]
    rows = file_rows(repository, heading)[1:]
    shares = [float(row[2].split()[0]) for row in rows if not row[-1]]
    said = re.search(r"(\d+) of (\d+) are within three standard errors of their level \((\S+) to (\S+);", section)
    assert said is not None
    assert [int(said[1]), int(said[2])] == [len(shares), len(rows)]
    assert [float(said[3]), float(said[4])] == [min(shares), max(shares)]
    marked = {row[0]: row[2] for row in rows if row[-1]}
    shown = re.findall(r"^\| `([^`]+)` \| [^|]* \| ([^|]*) \|", section, re.MULTILINE)
    assert dict(shown) == marked


KNOWN: dict[str, float] = {}
"""Largest shortfall of what is only approximate at these sizes."""
