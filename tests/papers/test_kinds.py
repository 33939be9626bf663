"""Values, list lengths and claims in words are counted apart, everywhere."""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from biasgauge import registry
from biasgauge.cli.entry import run
from biasgauge.papers import Recomputed, Reproduction, Row
from biasgauge.papers.figures import difference_charts, part_charts

if TYPE_CHECKING:
    from pathlib import Path

ROWS = (
    Row("a.near", "near", "T1", 0.50, 0.50, 0.50, tolerance=0.005, part="a"),
    Row("a.off", "off", "T1", 0.50, 0.52, 0.60, tolerance=0.005, low=0.55, high=0.65, part="a", note="typed in"),
    Row("a.far", "far", "T1", 0.50, 0.90, 0.95, tolerance=0.005, part="a"),
    Row("a.length", "length", "T1", 8, 8, tolerance=0, part="a", kind="identity"),
    Row("a.none", "none", "T1", "no correlation", 0.4, part="a", between=(0.05, 1)),
    Row("a.large", "large", "T1", 7_000, 7_100, part="a", tolerance=1),
)


def result(rows: tuple[Row, ...] = ROWS) -> Reproduction:
    return Reproduction("p", "t", "c", "about", {"a": "part"}, rows, (), {"files": {}})


def test_words_are_a_range_and_stay_one_on_other_data() -> None:
    row = ROWS[4]
    assert row.kind == "range"
    assert row.filled(Recomputed(0.3, same_data=False)).kind == "range"


def test_kinds_are_counted_apart() -> None:
    found = result()
    assert found.conclusion == "The paper's own rule gives 1 of 4 published values that can be checked here; 3 differ."
    counts = found.to_dict()["counts"]
    assert {kind: (states["agrees"], states["differs"]) for kind, states in counts.items()} == {
        "value": (1, 3),
        "identity": (1, 0),
        "range": (1, 0),
    }
    assert found.count("agrees") == 3
    assert [row["kind"] for row in found.to_dict()["rows"]] == ["value"] * 3 + ["identity", "range", "value"]
    told = " ".join(found.summary().sentences)
    assert "1 of 1 list lengths" in told
    assert "1 of 1 claims in words" in told


def test_without_values_the_headline_says_so() -> None:
    found = result(ROWS[3:5])
    assert found.conclusion == "None of the paper's values can be checked with the data at hand."


def test_the_chart_puts_the_farthest_first_and_holds_values_alone() -> None:
    (chart,) = difference_charts(ROWS)
    tables = chart.draw().to_dict()["datasets"].values()
    drawn = list(dict.fromkeys(row["number"] for table in tables for row in table))
    assert [number for number in drawn if number != "a.large"] == ["a.far", "a.off"]
    assert set(drawn) == {"a.large", "a.far", "a.off"}
    (chart,) = part_charts("a", ROWS)
    tables = chart.draw().to_dict()["datasets"].values()
    steps = {(row["number"], row["step"]): row["value"] for table in tables for row in table}
    assert steps["a.off", "published"] == 0.50
    assert steps["a.off", "its own rule, here"] == 0.52
    assert steps["a.off", "corrected"] == 0.60
    assert not {"a.length", "a.none"} & {number for number, _ in steps}
    assert difference_charts(ROWS[:1]) == ()
    assert part_charts("a", ROWS[3:5]) == ()


@pytest.mark.parametrize("name", registry.names("paper"))
def test_kinds_in_the_data_follow_their_rule(name: str) -> None:
    rows = list(csv.DictReader(files(f"biasgauge.papers.{name}").joinpath("published.csv").read_text().splitlines()))
    for row in rows:
        assert row["kind"] in {"value", "identity", "range"}
        assert (row["kind"] == "range") == bool(row["least"]), row["id"]
        if row["kind"] == "identity":
            assert row["tolerance"], row["id"]
            assert float(row["published"]) >= 0 or ".change." in row["id"], row["id"]  # a difference may be negative
        if row["id"].startswith(("lists.", "files.")):
            assert row["kind"] != "value", row["id"]
            if row["kind"] == "identity":
                assert row["tolerance"] == "0", row["id"]
                assert row["published"].isdigit(), row["id"]
        if row["id"].startswith("sums.") and row["published"] and row["tolerance"]:
            assert row["kind"] != "value", row["id"]


def test_the_command_prints_the_conclusion(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "zhang2020", "--part", "lists", "--part", "sums"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "None of the paper's values can be checked" in printed
    assert "36 of 37 list lengths and sums of printed numbers" in printed


def test_tables_go_to_papers(tmp_path: Path) -> None:
    found = result()
    assert r"\toprule" in found.save(tmp_path / "x.tex").read_text()
    assert "| a.…" in found.save(tmp_path / "x.md").read_text()
