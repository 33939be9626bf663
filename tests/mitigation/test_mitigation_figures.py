"""Figures of what a mitigation did show its numbers, before and after."""

from __future__ import annotations

from typing import Any

import pytest

from biasgauge.core.estimate import Estimate
from biasgauge.mitigation.effect_result import EffectRow, MitigationEffect


def row(part: str, name: str, of: str, before: float | None, after: float) -> EffectRow:
    old = None if before is None else Estimate(value=before)
    change = None if before is None else Estimate(value=after - before)
    return EffectRow(
        part=part, name=name, subject=of, before=old, after=Estimate(value=after), change=change, chance=0.5
    )


ROWS = (
    row("association", "weat", "weat7", 1.3, -0.2),
    row("association", "rnd", "weat7", None, 0.5),
    row("recovery", "classifier accuracy", "bolukbasi2016", 1.0, 0.9),
    row("moved", "cosine", "human", None, 0.98),
)


def effect(rows: tuple[EffectRow, ...]) -> MitigationEffect:
    return MitigationEffect("a", "b", 10, 5, rows, (), {})


def held(chart: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - a chart
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows if "value" in row]


def test_every_number_with_two_sides_is_drawn_once_a_side() -> None:
    charts = effect(ROWS).figures()
    assert set(charts) == {"association", "recovery"}
    drawn = {(row["what"], row["side"]): row["value"] for row in held(charts["association"])}
    assert drawn == {("WEAT 7", "before"): 1.3, ("WEAT 7", "after"): -0.2}
    assert {row["sign"] for row in held(charts["association"])} == {"sign flipped"}
    recovered = {(row["what"], row["side"]): row["value"] for row in held(charts["recovery"])}
    assert recovered["Bolukbasi et al. 2016: classifier accuracy", "before"] == 1.0


def test_nothing_to_draw() -> None:
    assert effect(ROWS[1:2]).figures() == {}


@pytest.mark.parametrize("name", ["association", "recovery"])
def test_titles_name_the_vectors(name: str) -> None:
    title = effect(ROWS).figures()[name].to_dict()["title"]
    assert title["text"].endswith(": b")
    assert title["subtitle"]
