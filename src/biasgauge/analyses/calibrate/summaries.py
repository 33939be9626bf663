"""What a calibration comes to: headline, sentences, tables, charts."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

from biasgauge.analyses.calibrate.equivalents import limit_text, odds_text
from biasgauge.analyses.calibrate.figures import curve_chart, drawable_limits, limit_chart
from biasgauge.results import Chart, Column, Shown, Summary, Table, number_text, registered_name

if TYPE_CHECKING:
    from biasgauge.analyses.calibrate.parts import CalibrationLimit, Curve, Rate
    from biasgauge.analyses.calibrate.result import Calibration


def calibration_summary(result: Calibration) -> Summary:
    """Limits first, then curves, false positives, frequency and specificity."""
    charts = [
        Chart(
            "curves",
            "Scores against the planted association",
            "Mean score of carriers at each dose with its 95 % interval over carriers; across, the log odds ratio that "
            "was counted.\nA measure that does not rise does not see what the text says.",
            lambda: curve_chart(result),
        )
    ]
    if drawable_limits(result):
        charts.append(
            Chart(
                "limits",
                "Smallest planted odds ratio that is detected, by number of words",
                "Detected: 95 % of sets with this dose lie beyond the limit that 5 % of blanks pass. Lower is better.\n"
                "Only what can be detected is drawn; lines end where it cannot.",
                lambda: limit_chart(result),
            )
        )
    return Summary(
        title="Calibration",
        headline=_headline(result),
        sentences=tuple(_sentences(result)),
        tables=(
            _curves(result), _limits(result), _rates(result), _power(result), _test_curves(result), _frequency(result),
            _specificity(result),
        ),
        charts=tuple(charts),
        warnings=result.warnings,
    )  # fmt: skip


def _best(result: Calibration, words: int) -> CalibrationLimit | None:
    """The measure with the lowest limit of detection, the worse of its two sides counting."""
    worst: dict[str, CalibrationLimit] = {}
    for limit in result.limits:
        if limit.words == words and limit.of == "measure":
            known = worst.get(limit.name)
            if known is None or _size(limit) > _size(known):
                worst[limit.name] = limit
    return min(worst.values(), key=_size, default=None)


def _size(limit: CalibrationLimit) -> float:
    return float("inf") if limit.detection.value is None else limit.detection.value


def _headline(result: Calibration) -> str:
    tokens = result.settings["corpus"]["tokens"]
    best = _best(result, 1)
    if best is None or best.detection.value is None:
        return f"In {tokens:,} tokens no measure detects what was planted on a single word."
    largest = odds_text(max(abs(point.dose) for curve in result.curves for point in curve.points))
    if best.beyond:
        return (
            f"In {tokens:,} tokens no measure detects an odds ratio of {largest}, the largest planted, on one word "
            f"(the best, {_called(best.name)}: {limit_text(best.detection)} by extrapolation)."
        )
    return (
        f"In {tokens:,} tokens a single word needs an odds ratio of {limit_text(best.detection)} to be detected by the "
        f"best measure, {_called(best.name)}."
    )


def _sentences(result: Calibration) -> list[str]:
    told = []
    largest = max((limit.words for limit in result.limits if limit.of == "measure"), default=1)
    best = _best(result, largest)
    if largest > 1 and best is not None and best.detection.value is not None:
        told.append(
            f"The mean of {largest} words detects an odds ratio of {limit_text(best.detection)} at best "
            f"({_called(best.name)})."
        )
    for curve in result.curves:
        retest = "" if curve.retest is None else f"; two runs agree at {number_text(curve.retest)}"
        told.append(
            f"{_called(curve.measure)}: correlation with the planted dose {number_text(curve.response.r)}{retest}"
            f". {_shape(curve)}"
        )
    return told


def _shape(curve: Curve) -> str:
    response = curve.response
    if not response.follows:
        return "It does not follow the dose."
    monotone = "falls nowhere clearly" if response.monotone else "falls between some doses"
    straight = response.p_lack_of_fit is None or response.p_lack_of_fit >= 0.05
    bend = ", and flattens at large doses" if response.saturating else ""
    return f"It {monotone}; {'a straight line fits' if straight else 'a straight line does not fit'}{bend}."


def _named(name: str) -> Shown:
    """A measure or a test in a table: readers see its display name, files have the one that is typed."""
    return Shown(name, _called(name))


def _called(name: str) -> str:
    """A measure or a test by its display name, with what is said about it: "DB/WA, frequency-corrected"."""
    head, comma, rest = name.partition(", ")
    return f"{registered_name(head)}{comma}{rest}"


def _shown(limit: CalibrationLimit) -> Shown | None:
    """A limit of detection in a table."""
    if limit.detection.value is None:
        return None
    return Shown(limit.odds_ratio, limit_text(limit.detection))


def _curves(result: Calibration) -> Table:
    columns = [
        "measure", Column("slope", "estimate", 4),
        Column("r", "number", 2, about="correlation with the dose: validity"),
        Column("retest", "number", 2, about="correlation of two runs: reliability"),
        *(Column(name, "share", about=about) for name, about in (
            ("dose", "share of the variance of a single score"), ("carrier", "the word, whatever its dose"),
            ("planting", "where the dose was put"), ("run", "training again, each word by itself"),
            ("shift", "training again, all words alike"),
        )),
        Column("p, line", "p", about="small: a straight line does not fit"),
    ]  # fmt: skip
    rows = [
        (
            _named(curve.measure), curve.response.slope, curve.response.r, curve.retest,
            *(curve.shares[name] for name in ("dose", "carrier", "planting", "run", "shift")),
            curve.response.p_lack_of_fit,
        )
        for curve in result.curves
    ]  # fmt: skip
    return Table.of("curves", "Scores against the dose, and what else moves them", columns, rows).without_empty()


def _limits(result: Calibration) -> Table:
    columns = [
        "found by", Column("words", "count"), "end", Column("limit of blank", "number", 4),
        Column("detected from odds", "number", 2, about="limit of detection, as an odds ratio"), "remark",
    ]  # fmt: skip
    rows = [
        (
            _named(limit.name), limit.words, limit.side, limit.blank, _shown(limit),
            limit.detection.reason or ("extrapolated" if limit.beyond else ""),
        )
        for limit in result.limits
    ]  # fmt: skip
    note = "Extrapolated: beyond the largest odds ratio that was planted."
    return Table.of("limits", "What can be told from nothing", columns, rows, most=12, note=note)


def _rate_rows(rates: tuple[Rate, ...]) -> list[tuple[Any, ...]]:
    return [(_named(rate.name), rate.words, exp(rate.dose), rate.share, rate.sets) for rate in rates]


def _rates(result: Calibration) -> Table:
    columns = ["found by", Column("words", "count"), Column("share", "estimate", 3), Column("looked at", "count")]
    rows = [(name, words, share, sets) for name, words, _, share, sets in _rate_rows(result.false_positives)]
    return Table.of("false-positives", "How often something is found where nothing was planted", columns, rows, most=12)


def _power(result: Calibration) -> Table:
    columns = [
        "found by", Column("words", "count"), Column("odds ratio", "number", 2), Column("share", "estimate", 3),
        Column("looked at", "count"),
    ]  # fmt: skip
    return Table.of("power", "How often it is found at other doses", columns, _rate_rows(result.power), folded=True)


def _test_curves(result: Calibration) -> Table:
    columns = [
        "test", Column("words", "count"), Column("r", "number", 2, about="correlation with the dose, over sets"),
        Column("odds ratio", "number", 2), Column("mean", "estimate", 4),
    ]  # fmt: skip
    rows = [
        (_named(curve.test), curve.words, curve.r, exp(point.dose), point.mean)
        for curve in result.test_curves
        for point in curve.points
    ]
    note = "Carriers of a dose against as many blanks; intervals over planted texts."
    return Table.of("test-curves", "Association tests against the dose", columns, rows, note=note, folded=True)


def _frequency(result: Calibration) -> Table:
    columns = [
        Column("measure", "name"), Column("slope", "estimate", 4), Column("in shuffled text", "estimate", 4),
        Column("corrected", "estimate", 4), Column("gain of r", "estimate", 3),
    ]  # fmt: skip
    rows = [
        (effect.measure, effect.slope, effect.shuffled_slope, effect.corrected_slope, effect.helps)
        for effect in result.frequency
    ]
    note = "Change of the score with ten times the frequency; in shuffled text all of it is artifact."
    return Table.of("frequency", "What frequency alone does", columns, rows, note=note).without_empty()


def _specificity(result: Calibration) -> Table:
    columns = [Column("measure", "name"), Column("slope on the other dose", "estimate", 4),
               Column("on its own", "number", 4)]  # fmt: skip
    rows = [(row.measure, row.slope, row.own_slope) for row in result.specificity]
    return Table.of("specificity", "What a dose of something else does", columns, rows)
