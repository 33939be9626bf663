"""Sections of a page: tables carry what charts draw, numbers are shown as readers expect them."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import altair as alt
import pandas as pd
import pytest

import biasgauge as bg
from biasgauge.core.estimate import Estimate
from biasgauge.results import Chart, Column, Extra, Shown, Summary, Table
from biasgauge.results.page.rendering import PageCell, page_cell, page_chart, records_table, summary_page

FRAME = pd.DataFrame({"name": ["a", "b"], "value": [0.123456, -2.0], "mean_of": [None, None]})


def chart(frame: pd.DataFrame) -> Any:  # noqa: ANN401 - the library has no stubs
    return alt.Chart(frame).mark_bar(color="#16324a").encode(x="value:Q", y="name:N")


CHART = Chart("name", "What it shows", "one\ntwo", lambda: chart(FRAME))


def test_a_chart_has_its_numbers_in_a_table_and_its_title_apart() -> None:
    drawn = page_chart("section", CHART)
    assert (drawn.key, drawn.chart.title, drawn.remarks) == ("section-name", "What it shows", ["one", "two"])
    assert not {"title", "config", "$schema"} & set(drawn.spec)
    assert drawn.spec["description"] == "What it shows"
    (table,) = drawn.tables
    assert [(column.name, column.kind) for column in table.columns] == [("name", "text"), ("value", "number")]
    cells = [page_cell(row[1], table.columns[1]) for row in table.rows]
    assert [row[0] for row in table.rows] == ["a", "b"]
    assert [(cell.text, cell.order) for cell in cells] == [("0.1235", 0.123456), ("−2", -2.0)]


def test_a_chart_of_a_group_and_with_numbers_of_its_own() -> None:
    own = Table.of("own", "Own", ["name"], [("a",)])
    drawn = page_chart("section", replace(CHART, group="group", numbers=lambda: (own,)))
    assert drawn.key == "section-group-name"
    assert [table.title for table in drawn.tables] == ["Own"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (True, "yes"), (12_345, "12,345"), (0.00001234, "1.234e−05"), (float("nan"), "–"), (3.0, "3")],
)
def test_numbers_of_a_figure_are_as_readers_expect_them(value: object, text: str) -> None:
    table = records_table("c", [{"a": "x", "b": value}, {"a": "y", "b": 1}])
    assert page_cell(table.rows[0][1], table.columns[1]).text == text


def test_cells_of_every_kind() -> None:
    columns: list[Column | str] = [
        Column("estimate", "estimate"),
        Column("mark", "mark", tones={"bad word": "bad"}),
        Column("words", "words"),
        "link",
    ]
    words = {"first": [f"w{n}" for n in range(20)], "second": ["x"]}
    values = (Estimate(value=-0.5, low=-1, high=0.25), "bad word", words, Shown(3, "three", "s", "bias"))
    row = [page_cell(*pair) for pair in zip(values, Table.of("t", "T", columns, [values]).columns, strict=True)]
    assert row[0] == PageCell("−0.50", "[−1.00,\u00a00.25]", -0.5)
    assert row[1].mark == "bad"
    assert (row[2].text, row[2].words["second"]) == ("21 words", "x")
    assert (row[3].text, row[3].small, row[3].order, row[3].link) == ("three", "s", 3.0, "bias")
    undefined = page_cell(Estimate(value=None, reason="too few"), Column("estimate", "estimate"))
    assert undefined == PageCell("undefined", "too few", mark="bad")


def test_a_page_of_any_summary_needs_no_room() -> None:
    table = Table.of("t", "Folded", ["a"], [("<b>",)], folded=True)
    part = Summary(
        "Part <i>", "", name="part", tables=(table,), parts=(Summary("Card", "Why.", mark="fine", tone="good"),)
    )
    page = summary_page(Summary("Title", "Headline", parts=(part,), warnings=("beware",)))
    assert page.index('<section id="part"') < page.index('<section id="warnings"')
    assert "<details><summary>Folded</summary>" in page
    assert "&lt;b&gt;" in page
    assert '<article id="part-0" class="card good">' in page
    assert "<p>Why.</p>" in page


def test_an_extra_block_brings_its_markup_data_and_scripts(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    package = tmp_path / "my_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "block.html").write_text("<p id='own'>{{ word }}</p>")
    (package / "block.js").write_text('extras["own-data"] = () => () => {};')
    monkeypatch.syspath_prepend(tmp_path)
    extra = Extra("my_package", "block.html", {"word": "<script>"}, {"own-data": {"a": 1}}, ("block.js",))
    page = summary_page(Summary("Title", "", parts=(Summary("Part", "", name="part", extra=extra),)))
    assert "<p id='own'>&lt;script&gt;</p>" in page
    (held,) = re.findall(r'<script type="text/plain" id="own-data">([^<]*)</script>', page)
    assert zlib.decompress(base64.b64decode(held)) == b'{"a":1}'
    assert 'extras["own-data"] = () => () => {};' in page


def test_every_section_has_something_to_say_about_the_shipped_vectors(
    shipped_audit: Callable[..., bg.audits.AuditResult],
) -> None:
    summary = shipped_audit().summary()
    names = [part.name for part in summary.parts]
    assert names == [
        "verdicts", "write", "error-rates", "explorer", "reliability", "robustness", "seeds", "uncertainty",
        "published", "calibration", "word-frequency", "chance", "bias", "replicates", "lexicons", "explanations",
        "vectors", "settings",
    ]  # fmt: skip
    assert [part.name for part in summary.parts if not part.appendix] == names[:3]
    assert all(part.headline for part in summary.parts if part.appendix)  # the index shows it
    charts = [name for name, _ in summary.named_charts()]
    assert len(charts) == len(set(charts))
    assert {"bias-weat", "bias-mac", "reliability-design", "uncertainty-posterior"} <= set(charts)
