"""Sections: tables carry what charts draw, numbers are shown as readers expect them."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd
import pytest

import biasgauge as bg
from biasgauge.report.page.section import Cell, Chart, Section, Table, between, cell, charts_of, shown
from biasgauge.report.page.sections import SECTIONS, sections_of


def chart(frame: pd.DataFrame) -> Any:  # noqa: ANN401 - the library has no stubs
    title = alt.TitleParams("What it shows", subtitle=["one", "two"])
    return alt.Chart(frame, title=title).mark_bar(color="#16324a").encode(x="value:Q", y="name:N")


FRAME = pd.DataFrame({"name": ["a", "b"], "value": [0.123456, -2.0], "mean_of": [None, None]})


def test_a_chart_has_its_numbers_in_a_table_and_its_title_apart() -> None:
    one = Chart.of("key", chart(FRAME))
    assert (one.title, one.remarks) == ("What it shows", ("one", "two"))
    assert not {"title", "config", "$schema"} & set(one.spec)
    assert one.spec["description"] == "What it shows"
    (table,) = one.tables
    assert table.columns == ("name", "value")
    assert table.numbers == {"value"}
    assert [[each.text for each in row] for row in table.rows] == [["a", "0.1235"], ["b", "−2"]]
    assert [row[1].order for row in table.rows] == [0.123456, -2.0]


def test_charts_without_data_are_left_out_and_others_chosen_by_name() -> None:
    drawn = {"one": chart(FRAME), "none": chart(FRAME[:0]), "two": chart(FRAME)}
    assert [one.key for one in charts_of("section", drawn)] == ["section-one", "section-two"]
    assert [one.key for one in charts_of("section", drawn, "group", ["two", "lost"])] == ["section-group-two"]
    assert Section("title", charts=charts_of("s", drawn, "group")).groups == ("group",)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (True, "yes"), (12_345, "12,345"), (0.00001234, "1.234e−05"), (float("nan"), "–"), (3.0, "3")],
)
def test_cells_show_what_readers_expect(value: object, text: str) -> None:
    assert cell(value).text == text


def test_undefined_ends_and_signs() -> None:
    assert shown(-0.5, 2) == "−0.50"
    assert between(-1.0, None) == Cell("−1.00 to –", order=-1.0)
    assert Table.of("c", [{"a": 1, "_hidden": 2}]).columns == ("a",)


def test_every_section_has_something_to_say_about_the_shipped_vectors() -> None:
    found = sections_of(bg.audit(lexicons=["weat7", "religion"]))
    assert [name for name in SECTIONS if name not in found] == ["warnings", "change"]
    keys = [one.key for section in found.values() for one in section.charts]
    assert len(keys) == len(set(keys))
    assert {"bias-weat", "bias-mac", "reliability-design", "uncertainty-religion-groups"} <= set(keys)
