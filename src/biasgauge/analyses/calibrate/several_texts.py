"""Limits that hold for a text that was not calibrated, from calibrations of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from biasgauge.analyses.calibrate.result import Calibration
from biasgauge.analyses.calibrate.rows import CalibratedText, CalibrationLimit, MeasureLine
from biasgauge.core import Estimate
from biasgauge.errors import ParameterError
from biasgauge.results import number_text
from biasgauge.stats import Limit, new_text_limits

NOT_REACHED = (
    "an excess of {} ends in 100 occurrences is needed; words of this text have {} ends beside them, too few for it "
    "whatever their odds"
)


def join_calibrations(calibrations: Mapping[str, Calibration]) -> Calibration:
    """Calibration whose limits of measures hold for a new text, from calibrations of several, trained alike.

    Its curves, rates, limits of tests and odds ratios are those of the first. Limits are found in the unit in which
    texts are alike, the excess of first ends beside a word for each of its occurrences, and told as the odds ratio
    that gives a carrier of the first text so much.

    Args:
        calibrations: by names of their texts; one that was joined before has names of its own.

    Raises:
        ParameterError: they are fewer than two, were trained differently, hold the same text twice, or were made by a
            version that kept no lines.
    """
    texts = [_named(text, name) for name, each in calibrations.items() for text in each.texts]
    lines = [_line_named(line, name) for name, each in calibrations.items() for line in each.lines]
    if len(texts) < 2:
        raise ParameterError(f"Calibrations of two texts or more can be joined. Got {len(texts)}.")
    for name, each in calibrations.items():
        if not each.lines:
            raise ParameterError(f"The calibration {name!r} has no lines: it was made before 'lines' were kept.")
    if len({text.name for text in texts}) < len(texts) or len({text.checksum for text in texts}) < len(texts):
        names = ", ".join(text.name for text in texts)
        raise ParameterError(f"Each text counts once, under a name of its own. Got {names}.")
    base = next(iter(calibrations.values()))
    for name, each in calibrations.items():
        if each.settings["recipe"] != base.settings["recipe"]:
            raise ParameterError(f"Calibrations are joined that were trained alike; the recipe of {name!r} differs.")
    limits: list[CalibrationLimit] = []
    for measure in dict.fromkeys(line.measure for line in base.lines):
        of_measure = [line for line in lines if line.measure == measure]
        if len(of_measure) == len(texts):
            limits += _limits(measure, of_measure, texts[0], _sizes(base, measure))
    of_tests = [limit for limit in base.limits if limit.of != "measure"]
    return replace(base, limits=(*limits, *of_tests), texts=tuple(texts), lines=tuple(lines))


def _sizes(base: Calibration, measure: str) -> tuple[int, ...]:
    """Numbers of words that the first calibration has limits of."""
    return tuple(dict.fromkeys(limit.words for limit in base.limits if limit.name == measure))


def _limits(
    measure: str, lines: Sequence[MeasureLine], base: CalibratedText, sizes: tuple[int, ...]
) -> list[CalibrationLimit]:
    """Limits of a measure in a new text, told as odds ratios of the first."""
    names = tuple(line.text for line in lines)
    rows = []
    for limit in new_text_limits([line.line for line in lines], words=sizes):
        detection, excess = _as_dose(limit, base)
        rows.append(
            CalibrationLimit(
                "measure", measure, limit.words, limit.side, limit.blank, detection, limit.beyond,
                texts=names, excess=excess, sources=limit.sources,
            )
        )  # fmt: skip
    return rows


def _as_dose(limit: Limit, base: CalibratedText) -> tuple[Estimate, float | None]:
    """Limit of detection as a log odds ratio of the first text, where one reaches it, and as an excess of ends."""
    excess = limit.detection.value
    if excess is None:
        return limit.detection, None
    dose = base.dose_of_excess(excess if limit.side == "first" else -excess)
    if dose is not None:
        return replace(limit.detection, value=abs(dose)), excess
    reason = NOT_REACHED.format(number_text(100 * excess, 0), number_text(100 * base.ends, 0))
    return replace(limit.detection, value=None, reason=reason), excess


def _named(text: CalibratedText, name: str) -> CalibratedText:
    """The text under its name; one of a joined calibration keeps its own."""
    return text if text.name else replace(text, name=name)


def _line_named(line: MeasureLine, name: str) -> MeasureLine:
    return line if line.text else replace(line, text=name)
