"""Figures of what a mitigation did show its numbers, before and after."""

from __future__ import annotations

from typing import Any

import pytest

import biasgauge as bg
from biasgauge.mitigation.effect_result import MitigationEffect, Row

ROWS = (
    Row("association", "weat", "weat7", 1.3, -0.2, -1.5),
    Row("association", "rnd", "weat7", None, 0.5, None, reason="lost"),
    Row("recovery", "classifier accuracy", "bolukbasi2016", 1.0, 0.9, -0.1, chance=0.5),
    Row("moved", "cosine", "human", None, 0.98, None),
)


def effect(rows: tuple[Row, ...]) -> MitigationEffect:
    return MitigationEffect("a", "b", 10, 5, rows, (), {})


def held(chart: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - a chart
    (rows,) = chart.to_dict()["datasets"].values()
    return list(rows)


def test_every_number_with_two_sides_is_drawn_once_a_side() -> None:
    charts = bg.figures(effect(ROWS))
    assert set(charts) == {"association", "recovery"}
    drawn = {(row["what"], row["side"]): row["value"] for row in held(charts["association"])}
    assert drawn == {("weat7: weat", "before"): 1.3, ("weat7: weat", "after"): -0.2}


def test_nothing_to_draw() -> None:
    assert bg.figures(effect(ROWS[1:2])) == {}


@pytest.mark.parametrize("name", ["association", "recovery"])
def test_titles_name_the_vectors(name: str) -> None:
    title = bg.figures(effect(ROWS))[name].to_dict()["title"]
    assert title["text"].endswith(": b")
    assert title["subtitle"]
