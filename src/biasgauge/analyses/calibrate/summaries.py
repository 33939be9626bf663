"""Summary of a calibration: headline, sentences, tables, charts."""

from __future__ import annotations

from collections.abc import Callable
from math import exp
from typing import TYPE_CHECKING, Any

from biasgauge.analyses.calibrate.result import LARGEST, limit_text, odds_text
from biasgauge.results import (
    AltairChart,
    Chart,
    Column,
    RecordTable,
    Shown,
    Summary,
    Table,
    altair,
    number_text,
    registered_name,
)

if TYPE_CHECKING:
    from biasgauge.analyses.calibrate.result import Calibration
    from biasgauge.analyses.calibrate.rows import CalibrationLimit, Curve

VARIANCE_PARTS = {
    "dose": "share of the variance of a single score",
    "carrier": "the word, whatever its dose",
    "planting": "where the dose was put",
    "run": "training again, each word by itself",
    "shift": "training again, all words alike",
}
"""Variance components of a score, with their explanations."""


def calibration_summary(result: Calibration) -> Summary:
    """Limits first, then curves, false positives, frequency and specificity."""
    remark = (
        "Mean score of carriers at each dose with its 95 % interval over carriers; across, the log odds ratio that was "
        "counted.\nA measure that does not rise does not reflect the associations of the text."
    )
    charts = [Chart("curves", "Scores against the planted association", remark, lambda: curve_chart(result))]
    if drawable_limits(result):
        title = "Smallest planted odds ratio that is detected, by number of words"
        remark = (
            "Detected: 95 % of sets with this dose lie beyond the limit that 5 % of blanks pass. Lower is better.\n"
            "Only what can be detected is drawn; lines end where it cannot."
        )
        charts.append(Chart("limits", title, remark, lambda: limit_chart(result)))
    return Summary(
        title="Calibration",
        headline=_headline(result),
        sentences=tuple(_sentences(result)),
        tables=(
            *(table.fill(result) for table in (CURVES, LIMITS, FALSE_POSITIVES, POWER)),
            _test_curve_table(result),
            *(table.fill(result) for table in (FREQUENCY, SPECIFICITY)),
        ),
        charts=tuple(charts),
        warnings=result.warnings,
    )


def _best_limit(result: Calibration, words: int) -> CalibrationLimit | None:
    """Limit of the most sensitive measure, the worse of its two sides counting."""
    worst: dict[str, CalibrationLimit] = {}
    for limit in result.limits:
        if limit.words == words and limit.of == "measure":
            worst[limit.name] = max(worst.get(limit.name, limit), limit, key=_detectable_dose)
    return min(worst.values(), key=_detectable_dose, default=None)


def _detectable_dose(limit: CalibrationLimit) -> float:
    return float("inf") if limit.detection.value is None else limit.detection.value


def _headline(result: Calibration) -> str:
    tokens = result.settings["corpus"]["tokens"]
    best = _best_limit(result, 1)
    if best is None or best.detection.value is None:
        return f"In {tokens:,} tokens no measure detects what was planted on a single word."
    largest = odds_text(max(abs(point.dose) for curve in result.curves for point in curve.points))
    if best.beyond:
        return (
            f"In {tokens:,} tokens no measure detects an odds ratio of {largest}, the largest planted, on one word "
            f"(the best, {_display_name(best.name)}: {limit_text(best.detection)} by extrapolation)."
        )
    return (
        f"In {tokens:,} tokens a single word needs an odds ratio of {limit_text(best.detection)} to be detected by the "
        f"best measure, {_display_name(best.name)}."
    )


def _sentences(result: Calibration) -> list[str]:
    sentences = []
    largest = max((limit.words for limit in result.limits if limit.of == "measure"), default=1)
    best = _best_limit(result, largest)
    if largest > 1 and best is not None and best.detection.value is not None:
        limit = limit_text(best.detection)
        sentences.append(
            f"The mean of {largest} words detects an odds ratio of {limit} at best ({_display_name(best.name)})."
        )
    for curve in result.curves:
        retest = "" if curve.retest is None else f"; two runs agree at {number_text(curve.retest)}"
        r = number_text(curve.response.r)
        sentences.append(
            f"{_display_name(curve.measure)}: correlation with the planted dose {r}{retest}. {_shape(curve)}"
        )
    return sentences


def _shape(curve: Curve) -> str:
    """Shape of a curve in one sentence."""
    response = curve.response
    if not response.follows:
        return "It does not follow the dose."
    monotone = "falls nowhere clearly" if response.monotone else "falls between some doses"
    linear = response.p_lack_of_fit is None or response.p_lack_of_fit >= 0.05
    saturation = ", and flattens at large doses" if response.saturating else ""
    return f"It {monotone}; a straight line {'fits' if linear else 'does not fit'}{saturation}."


def _name_cell(name: str) -> Shown:
    """Measure or test in a table: pages show its display name, files the registered one."""
    return Shown(name, _display_name(name))


def _display_name(name: str) -> str:
    """Display name of a measure or a test, with its qualifier: "DB/WA, frequency-corrected"."""
    registered, comma, qualifier = name.partition(", ")
    return f"{registered_name(registered)}{comma}{qualifier}"


def _variance_share(name: str) -> Callable[[Curve], float | None]:
    return lambda curve: curve.shares[name]


_DETECTED_BY = Column("found by", source=lambda row: _name_cell(row.name))
_WORDS, _SHARE = Column("words", "count"), Column("share", "estimate", 3)
_ODDS_RATIO = Column("odds ratio", "number", 2, source=lambda row: exp(row.dose))
_SETS = Column("looked at", "count", source="sets")
_MEASURE = Column("measure", "name")
CURVES = RecordTable(
    "curves", "Scores against the dose, and what else moves them",
    (
        Column("measure", source=lambda curve: _name_cell(curve.measure)),
        Column("slope", "estimate", 4, source="response.slope"),
        Column("r", "number", 2, about="correlation with the dose: validity", source="response.r"),
        Column("retest", "number", 2, about="correlation of two runs: reliability"),
        *(Column(name, "share", about=text, source=_variance_share(name)) for name, text in VARIANCE_PARTS.items()),
        Column("p, line", "p", about="small: a straight line does not fit", source="response.p_lack_of_fit"),
    ), drop_empty=True,
)  # fmt: skip
LIMITS = RecordTable(
    "limits", "Limits of blank and of detection",
    (
        _DETECTED_BY, _WORDS, Column("end", source="side"), Column("limit of blank", "number", 4, source="blank"),
        Column("detected from odds", "number", 2, about="limit of detection, as an odds ratio",
               source=lambda limit: limit.odds_ratio and Shown(limit.odds_ratio, limit_text(limit.detection))),
        Column("remark", source=lambda limit: limit.detection.reason or ("extrapolated" if limit.beyond else "")),
    ), "Extrapolated: beyond the largest odds ratio that was planted.", most=12,
)  # fmt: skip
FALSE_POSITIVES = RecordTable(
    "false_positives", "False positives: detections where nothing was planted",
    (_DETECTED_BY, _WORDS, _SHARE, _SETS), most=12, name="false-positives",
)  # fmt: skip
POWER = RecordTable(
    "power", "Power: rates of detection at other doses", (_DETECTED_BY, _WORDS, _ODDS_RATIO, _SHARE, _SETS), folded=True
)
FREQUENCY = RecordTable(
    "frequency", "Effect of word frequency alone",
    (
        _MEASURE, Column("slope", "estimate", 4), Column("in shuffled text", "estimate", 4, source="shuffled_slope"),
        Column("corrected", "estimate", 4, source="corrected_slope"),
        Column("gain of r", "estimate", 3, source="helps"),
    ), "Change of the score with ten times the frequency; in shuffled text all of it is artifact.", drop_empty=True,
)  # fmt: skip
SPECIFICITY = RecordTable(
    "specificity", "Specificity: effect of a dose of another attribute",
    (
        _MEASURE, Column("slope on the other dose", "estimate", 4, source="slope"),
        Column("on its own", "number", 4, source="own_slope"),
    ),
)  # fmt: skip


def _test_curve_table(result: Calibration) -> Table:
    columns = [
        "test", _WORDS, Column("r", "number", 2, about="correlation with the dose, over sets"),
        Column("odds ratio", "number", 2), Column("mean", "estimate", 4),
    ]  # fmt: skip
    rows = [
        (_name_cell(curve.test), curve.words, curve.r, exp(point.dose), point.mean)
        for curve in result.test_curves
        for point in curve.points
    ]
    note = "Carriers of a dose against as many blanks; intervals over planted texts."
    return Table.of("test-curves", "Association tests against the dose", columns, rows, note=note, folded=True)


def curve_chart(result: Calibration) -> AltairChart:
    """Mean score at each dose with its interval, one panel per measure with its own scale."""
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
    panel = alt.layer(
        base.mark_line(color="#b9bdb6").encode(y=alt.Y("line:Q", title="mean score")),
        base.mark_rule(color="#1f5f8b").encode(y="low:Q", y2="high:Q"),
        base.mark_point(filled=True, color="#1f5f8b", size=45, opacity=1).encode(
            y=score, tooltip=["measure:N", "odds ratio:Q", "score:Q", "low:Q", "high:Q"]
        ),
    ).properties(width=230, height=170)
    return panel.facet(facet=alt.Facet("measure:N", title=None), columns=3).resolve_scale(y="independent")


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
    """Limits that are defined and below the largest odds ratio drawn."""
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
