"""The figure of a specification curve: effects in order above, and which choice each analysis made below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.results import ACCENT, NEUTRAL, SECOND, ZERO, AltairChart, altair, top_legend, zero_line

if TYPE_CHECKING:
    from biasgauge.analyses.robustness.specifications import SpecificationCurve

_MARGIN = 150
"""Pixels left of the panels, so that the titles of their axes stand in one line."""
_LABEL = 34
"""Characters of a level that are shown."""


def curve(result: SpecificationCurve) -> AltairChart:
    """Points of all analyses with the band of chance, over a table of dots."""
    import pandas as pd

    alt = altair()
    ordered = sorted(
        (row for row in result.specifications if row.effect_size is not None), key=lambda row: row.effect_size or 0.0
    )
    alpha = result.settings["alpha"]
    clear, unclear = f"p adjusted for all ≤ {alpha:g}".replace("0.", "."), "not clear"
    points = pd.DataFrame(
        {
            "rank": range(1, len(ordered) + 1),
            "d": [row.effect_size for row in ordered],
            "low": result.null_low,
            "high": result.null_high,
            "analysis": [row.model for row in ordered],
            "p adjusted": [row.p_adjusted for row in ordered],
            "evidence": [clear if (row.p_adjusted or 0.0) <= alpha else unclear for row in ordered],
        }
    )
    scale = alt.Scale(domain=[0.5, len(ordered) + 0.5], nice=False)
    x = alt.X("rank:Q", title=None, scale=scale, axis=alt.Axis(labels=False, ticks=False, grid=False))
    base = alt.Chart(points).encode(x=x)
    colors = alt.Scale(domain=[clear, unclear], range=[ACCENT, NEUTRAL])
    size = max(6, min(40, 2400 // len(ordered)))
    top = alt.layer(
        base.mark_area(opacity=0.18, color=ZERO).encode(
            y=alt.Y("low:Q", title="effect size d", axis=alt.Axis(minExtent=_MARGIN)), y2="high:Q"
        ),
        zero_line(horizontal=True),
        base.mark_point(filled=True, size=size, opacity=1).encode(
            y="d:Q",
            color=alt.Color("evidence:N", scale=colors, legend=top_legend()),
            tooltip=["analysis", "d", "p adjusted"],
        ),
    ).properties(width=520, height=220)
    facets = dict.fromkeys(row.facet for row in result.facets)
    panels = [top]
    for facet in facets:
        order = [row.level for row in result.facets if row.facet == facet]
        marks = pd.DataFrame(
            {
                "rank": range(1, len(ordered) + 1),
                "level": [_short(str(row.facets.get(facet))) for row in ordered],
                "analysis": [row.model for row in ordered],
                "d": [row.effect_size for row in ordered],
            }
        )
        y = alt.Y(
            "level:N",
            title=facet,
            sort=[_short(level) for level in order],
            axis=alt.Axis(grid=True, ticks=False, minExtent=_MARGIN),
        )
        ticks = alt.Chart(marks).mark_tick(thickness=max(1, min(4, 480 // len(ordered))), height=9, color=SECOND)
        panels.append(ticks.encode(x=x, y=y, tooltip=["analysis", "d"]).properties(width=520, height=14 * len(order)))
    return alt.vconcat(*panels, spacing=8).resolve_scale(x="shared")


def _short(level: str) -> str:
    return level if len(level) <= _LABEL else f"{level[: _LABEL - 1]}…"
