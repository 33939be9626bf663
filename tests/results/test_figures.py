"""Figures as files: every chart is as wide as the grid, whatever its labels; PDF beside SVG and PNG."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import altair as alt
import pandas as pd
import pytest

from biasgauge.errors import ParameterError
from biasgauge.io.text_file import csv_text
from biasgauge.results import Chart, Column, Summary, Table
from biasgauge.results.drawing import WIDTHS, scaled_panels, spelled, with_right_labels
from biasgauge.results.latex_tables import latex
from biasgauge.results.saving import save_figures
from biasgauge.results.slope_charts import Slope, slope_chart, slope_panels

if TYPE_CHECKING:
    from pathlib import Path

SLOPES = [Slope("own", 0.2, -0.1), Slope("other", 0.3, 0.25), Slope("third", -0.1, -0.12)]


def dots(label: str) -> Any:  # noqa: ANN401 - a chart
    frame = pd.DataFrame({"what": [label, "b"], "value": [0.1, 0.2], "panel": ["one", "two"]})
    return alt.Chart(frame).mark_point().encode(x="value:Q", y="what:N")


def labeled() -> Any:  # noqa: ANN401 - a chart
    chart = dots("a")
    labels = {"a": "0.10 [0.05, 0.15]", "b": "0.20 [0.15, 0.25]"}
    return with_right_labels(chart, chart.data, "what", ["a", "b"], labels).properties(height=44)


DRAWN = {
    "short": lambda: dots("a"),
    "long": lambda: dots("a label that is a good deal longer than the other one"),
    "rows": lambda: dots("a").properties(width=200, height=alt.Step(30)),
    "layers": lambda: alt.layer(dots("a"), dots("a").mark_rule()),
    "right": labeled,
    "slopes": lambda: slope_chart(SLOPES, "contrast"),
    "facets": lambda: dots("a").properties(width=100).facet(column="panel:N"),
    "row of panels": lambda: alt.hconcat(dots("a").properties(width=50), dots("longer").properties(width=90)),
    "stack": lambda: alt.vconcat(dots("a").properties(width=200), dots("longer").properties(width=200)),
    "wrapped": lambda: slope_panels(dict.fromkeys("abcd", SLOPES)),
}


def outer_width(path: Path) -> float:
    return float(re.findall(r'<svg[^>]*? width="([\d.]+)"', path.read_text())[0])


@pytest.mark.parametrize("name", DRAWN)
def test_every_chart_is_as_wide_as_the_grid(name: str, tmp_path: Path) -> None:
    chart = Chart(name, "A claim", "How to read it", DRAWN[name]).drawn()
    (file,) = save_figures({name: chart}, tmp_path, ("svg",))
    assert outer_width(file) == pytest.approx(WIDTHS["full"], abs=1.5)


@pytest.mark.parametrize("name", ["short", "long", "layers", "right"])
def test_a_chart_of_one_column_is_as_wide_as_a_column(name: str, tmp_path: Path) -> None:
    chart = Chart(name, "A claim", "How to read it", DRAWN[name], width="column").drawn()
    (file,) = save_figures({name: chart}, tmp_path, ("svg",))
    assert outer_width(file) == pytest.approx(WIDTHS["column"], abs=1.5)


def test_figures_are_saved_as_pdf_svg_and_png(tmp_path: Path) -> None:
    chart = Chart("dots", "A claim", "How to read it", DRAWN["short"]).drawn()
    files = save_figures({"dots": chart}, tmp_path, ("pdf", "svg", "png"))
    assert [file.name for file in files] == ["dots.pdf", "dots.svg", "dots.png"]
    starts = [file.read_bytes()[:4] for file in files]
    assert starts == [b"%PDF", b"<svg", b"\x89PNG"]
    with pytest.raises(ParameterError, match="svg, png, pdf, html, json"):
        save_figures({"dots": chart}, tmp_path, ("gif",))


def test_panels_are_scaled_and_data_are_not() -> None:
    spec = {"hconcat": [{"width": 10, "data": {"values": [{"width": 3}]}}, {"width": 20}], "width": "container"}
    assert scaled_panels(spec, 2) == {
        "hconcat": [{"width": 20, "data": {"values": [{"width": 3}]}}, {"width": 40}],
        "width": "container",
    }


def test_names_are_no_formulas() -> None:
    assert [spelled(name) for name in ("he~she", "word:pair:model", "plain")] == [
        "he–she",
        "word × pair × model",
        "plain",
    ]


def test_a_slope_that_crosses_zero_is_marked_and_zero_is_drawn() -> None:
    spec = slope_chart(SLOPES, "contrast").to_dict()
    rows = [row for table in spec["datasets"].values() for row in table if "value" in row]
    assert {row["what"]: row["sign"] for row in rows} == {
        "own": "sign flipped",
        "other": "same sign",
        "third": "same sign",
    }
    assert any(layer["encoding"].get("y", {}).get("datum") == 0 for layer in spec["layer"])
    assert not Slope("accuracy", 0.5, -0.5, signed=False).flipped
    labels = [row["label"] for table in spec["datasets"].values() for row in table if "label" in row]
    assert "+0.200 → −0.100  own" in labels


def test_labels_of_slopes_stand_apart_and_keep_their_order() -> None:
    crowded = [Slope(str(at), 0.0, at / 1000) for at in range(8)] + [Slope("far", 0.0, 1.0)]
    spec = slope_chart(crowded, "contrast").to_dict()
    places = [row["place"] for table in spec["datasets"].values() for row in table if "place" in row]
    steps = [later - earlier for earlier, later in pairwise(places)]
    assert steps[:7] == pytest.approx([steps[0]] * 7)
    assert steps[0] > 0.001
    assert places[-1] == 1.0


def test_latex_holds_the_numbers_and_nothing_that_it_cannot_set() -> None:
    about = Table.of("a table", "p < .05 → 10 %", ["word_list", Column("value", "number", 3)], [("he & she", -0.5)])
    frame = pd.DataFrame([{"effect_size": 1.25, "splits": 12870, "name": "weat7", "p_value": float("nan")}])
    text = latex(Summary("weat_7", "h", tables=(about,)), frame)
    assert r"effect size & 1.25 \\" in text
    assert r"splits & 12,870 \\" in text
    assert "p value" not in text
    assert r"he \& she & $-$0.500 \\" in text
    assert r"\caption{p $<$ .05 $\rightarrow$ 10 \%}" in text
    assert r"\label{tab:a-table}" in text
    assert text.isascii()
    assert text.count(r"\begin{table}") == 2
    long = Table.of("long", "", ["why"], [("word " * 20,)])
    assert r"\begin{tabular}{p{0.6\linewidth}}" in latex(Summary("", "", tables=(long,)))


def test_text_that_starts_a_formula_is_quoted_and_numbers_are_not() -> None:
    frame = pd.DataFrame({"cell": ["=1+1", "-0.5", "+3", "-x", "@a", "plain", "-1e-3", "-inf"]})
    cells = csv_text(frame).split("\n")[1:-1]
    assert cells == ["'=1+1", "-0.5", "+3", "'-x", "'@a", "plain", "-1e-3", "'-inf"]
