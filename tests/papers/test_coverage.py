"""What of a paper is covered, part by part: counted from its rows, without identities."""

from __future__ import annotations

import csv
import re
import runpy
from typing import TYPE_CHECKING

import pytest

from biasgauge import registry
from biasgauge.papers import Reproduction, Row
from biasgauge.papers.figures import STATES, coverage_charts, coverage_table, part_coverage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = (
    Row("a.reached", "", "", 0.5, 0.5, tolerance=0.005, part="a"),
    Row("a.differs", "", "", 0.5, 0.6, tolerance=0.005, part="a"),
    Row("a.claim", "", "", "none", 0.4, between=(0.05, 1), part="a"),
    Row("a.length", "", "", 8, 8, tolerance=0, kind="identity", part="a"),
    Row("b.beside", "", "", 0.5, 0.7, part="b"),
    Row("b.alone", "", "", None, 0.7, part="b"),
    Row("b.models", "", "", 0.5, needs="models", part="b"),
    Row("b.text", "", "", 0.5, needs="text", part="b"),
    Row("b.more", "", "", 0.6, needs="text", part="b"),
    Row("b.linked", "", "", 0.6, needs="files", part="b", obtainable=True),
    Row("b.plot", "", "", part="b"),
    Row("b.turned", "", "", 0.6, None, 0.4, part="b"),
    Row("b.drawn", "", "", 0.5, 0.5, tolerance=0.005, part="b", source="figure"),
    Row("b.listed", "", "", 0.5, 0.5, tolerance=0.005, part="b", source="file"),
    Row("c.length", "", "", 8, 9, tolerance=0, kind="identity", part="c"),
)
PARTS = {"a": "first", "b": "second", "c": "third"}


def test_parts_are_counted_by_what_came_of_their_numbers() -> None:
    first, second, third = part_coverage("p1900", PARTS, ROWS)
    assert (first.reached, first.differ, first.beside, first.alone, first.unchecked, first.identities) == (
        2,
        1,
        0,
        0,
        0,
        1,
    )
    assert (second.reached, second.differ, second.beside, second.alone, second.unchecked) == (2, 0, 1, 1, 3)
    assert (second.from_figures, second.from_files) == (1, 1)
    assert (second.rearranged, second.obtainable, second.unprinted) == (1, 1, 1)
    assert second.missing == ("models", "text", "files")
    assert second.command == "biasgauge reproduce p1900 --part b"
    assert (third.identities, third.reached, third.differ) == (1, 0, 0)


def test_every_row_is_in_one_count() -> None:
    for part in part_coverage("p1900", PARTS, ROWS):
        counts = [getattr(part, name) for name, _, _ in STATES.values()]
        assert sum(counts) + part.identities == sum(row.part == part.part for row in ROWS)


def test_the_chart_leaves_identities_out_and_the_table_has_every_part() -> None:
    parts = part_coverage("p1900", PARTS, ROWS)
    (chart,) = coverage_charts(parts)
    (table,) = chart.draw().to_dict()["datasets"].values()
    assert {(row["part"], row["state"]): row["numbers"] for row in table} == {
        ("a", "reached"): 2,
        ("a", "differ"): 1,
        ("b", "reached"): 2,
        ("b", "other data"): 1,
        ("b", "derived"): 1,
        ("b", "unpublished"): 1,
        ("b", "not at hand"): 1,
        ("b", "not checkable"): 3,
        ("b", "no number"): 1,
    }
    assert len(coverage_table(parts).rows) == 3
    assert coverage_charts(part_coverage("p1900", {"c": "third"}, ROWS[-1:])) == ()


def test_results_have_it_first() -> None:
    found = Reproduction("p1900", "t", "c", "about", PARTS, ROWS, (), {"files": {}})
    assert [part["part"] for part in found.to_dict()["coverage"]] == ["a", "b", "c"]
    assert [chart.name for chart in found.summary().charts] == ["differences", "coverage"]
    assert found.summary().tables[0].name == "coverage"


@pytest.mark.shared
@pytest.mark.parametrize("name", ["du2021", "goldfarbtarrant2021", "nadeem2021", "nangia2020", "may2019", "guo2021"])
def test_the_page_says_what_the_rows_say(
    name: str, shared_data: Path, repository: Path, reproduced: Callable[..., Reproduction]
) -> None:
    script = runpy.run_path(str(repository / "scripts" / "paper_coverage.py"))
    page = (repository / "docs" / "studies" / "coverage.md").read_text(encoding="utf-8")
    found = reproduced(name, shared_data)
    assert script["section"](found).strip() in page
    assert [tuple(row.values()) for row in part_rows(repository) if row["paper"] == name] == list(
        script["parts"](found)
    )


def test_the_page_has_every_paper(repository: Path) -> None:
    page = (repository / "docs" / "studies" / "coverage.md").read_text(encoding="utf-8")
    assert [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")] == list(
        registry.names("paper")
    )


def test_totals_add_up_to_the_parts(repository: Path) -> None:
    page = (repository / "docs" / "studies" / "coverage.md").read_text(encoding="utf-8")
    columns = runpy.run_path(str(repository / "scripts" / "paper_coverage.py"))["COLUMNS"]
    pattern = r"^\| `(\w+)` \| " + r" \| ".join([r"(\d+)"] * len(columns)) + r" \|$"
    told = {row[0]: [int(cell) for cell in row[1:]] for row in re.findall(pattern, page, re.MULTILINE)}
    assert set(told) == set(registry.names("paper"))
    for name, counts in told.items():
        rows = [row for row in part_rows(repository) if row["paper"] == name]
        assert counts == [sum(int(row[column] or 0) for row in rows) for column in columns], name


def part_rows(repository: Path) -> list[dict[str, str]]:
    with (repository / "docs" / "studies" / "coverage.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
