"""Charts of a calibration."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

from biasgauge.analyses.calibrate.equivalents import LARGEST
from biasgauge.results import AltairChart, altair, registered_name

if TYPE_CHECKING:
    from biasgauge.analyses.calibrate.result import Calibration


def curve_chart(result: Calibration) -> AltairChart:
    """Mean score at each dose with its interval, a small picture for each measure with a scale of its own."""
    alt = altair()
    rows = [
        {
            "measure": curve.measure,
            "dose": point.dose,
            "odds ratio": exp(point.dose),
            "score": point.mean.value,
            "low": point.mean.low,
            "high": point.mean.high,
            "line": curve.response.intercept + (curve.response.slope.value or 0.0) * point.dose,
        }
        for curve in result.curves
        for point in curve.points
    ]
    base = alt.Chart(alt.Data(values=rows)).encode(x=alt.X("dose:Q", title="log odds ratio, counted"))
    score = alt.Y("score:Q", title="mean score", scale=alt.Scale(zero=False))
    drawn = alt.layer(
        base.mark_line(color="#b9bdb6").encode(y=alt.Y("line:Q", title="mean score")),
        base.mark_rule(color="#1f5f8b").encode(y="low:Q", y2="high:Q"),
        base.mark_point(filled=True, color="#1f5f8b", size=45, opacity=1).encode(
            y=score, tooltip=["measure:N", "odds ratio:Q", "score:Q", "low:Q", "high:Q"]
        ),
    ).properties(width=230, height=170)
    return drawn.facet(facet=alt.Facet("measure:N", title=None), columns=3).resolve_scale(y="independent")


def limit_chart(result: Calibration) -> AltairChart:
    """Limits of detection by number of words, measures and tests apart."""
    alt = altair()
    base = alt.Chart(alt.Data(values=drawable_limits(result))).encode(
        x=alt.X("words:O", title="words"),
        y=alt.Y("odds ratio:Q", scale=alt.Scale(type="log"), title="limit of detection, odds ratio"),
        color=alt.Color("name:N", title=None),
        tooltip=["name:N", "words:Q", "leaning to:N", "odds ratio:Q"],
    )
    return (
        alt.layer(base.mark_line(), base.mark_point(filled=True, size=40))
        .properties(width=230, height=200)
        .facet(column=alt.Column("of:N", title=None), row=alt.Row("leaning to:N", title=None))
    )


def drawable_limits(result: Calibration) -> list[dict[str, Any]]:
    """Limits that were found and can be drawn; a thousand is far beyond what is ever planted."""
    return [
        {
            "of": "measures (mean of words)" if limit.of == "measure" else "tests (sets of words)",
            "name": registered_name(limit.name),
            "words": limit.words,
            "leaning to": f"{limit.side} words of pairs",
            "odds ratio": limit.odds_ratio,
        }
        for limit in result.limits
        if limit.odds_ratio is not None and limit.odds_ratio < LARGEST
    ]
