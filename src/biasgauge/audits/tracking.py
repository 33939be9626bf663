"""Correlation of an intrinsic number with an extrinsic one over points that were given, with a verdict.

The rules of the verdict are in docs/measures/verdicts.md.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.audits.parts.extrinsic import POINTS, TRACKING
from biasgauge.audits.verdicts import Evidence, Rules, Verdict
from biasgauge.core import decide, decide_tracking
from biasgauge.errors import ParameterError
from biasgauge.results import (
    count_of,
    figures_text,
    interval_text,
    level_text,
    number_text,
    p_phrase,
    share_text,
    signed_text,
)
from biasgauge.stats import decide_equivalence

if TYPE_CHECKING:
    from biasgauge.analyses.correlate import CorrelationGroup, CorrelationResult, Points, SeedReliability

NAMES = {
    "x": ("weat", "effect size", "intrinsic", "x"),
    "y": ("gap", "performance gap", "extrinsic", "y"),
    "by": ("test", "metric", "method", "of", "a", "b", "task"),
    "unit": ("variant", "name", "embedding", "vectors", "model"),
    "seed": ("seed", "task seed"),
}
"""Usual names of columns, in lower case: the first match is taken, and every match of `by`."""
TITLE = "Do the intrinsic numbers track the application?"
POWER = 0.8
"""Power below which a correlation that is not found is no evidence of none (Cohen 1988)."""
LINK = "extrinsic"


def track(
    points: object,
    x: str | None = None,
    y: str | None = None,
    by: Sequence[str] | None = None,
    unit: str | None = None,
    seed_column: str | None = None,
    *,
    random_state: int = 0,
) -> CorrelationResult:
    """Correlate two columns of a table as `correlate` does; columns that are not named are found by their usual names.

    Args:
        points: a file, a data frame, what `read_points` gave or anything with a `to_frame`; a result of `correlate` is
            handed back as it is.
        x: the intrinsic number; "weat" or alike by default.
        y: the extrinsic one; "gap" or alike by default.
        by: columns that make strata; by default those of test, metric, method, of, a, b and task with several values.
        unit: which points belong together; "variant", "name" or "embedding" by default, where there is one.
        seed_column: with which seed the task was trained; "seed" by default, where rows differ in nothing else.
        random_state: seed of the resampling.

    Raises:
        InputError: the file is no table, or a cell of x or y is no number; names the line.
        ParameterError: a column is missing, or cannot be told from the names.
    """
    from biasgauge.analyses.correlate import CorrelationResult, as_points, correlate

    if isinstance(points, CorrelationResult):
        return points
    table = as_points(points.to_frame() if hasattr(points, "to_frame") else points)  # type: ignore[arg-type]  # says so
    x, y = (_needed(table, column, axis) for column, axis in ((x, "x"), (y, "y")))
    if by is None:
        by = [name for name in _called(table, "by") if len(set(table.texts(name))) > 1 and name not in {x, y}]
    if unit is None:
        unit = next((name for name in _called(table, "unit") if name not in {x, y, *by}), None)
    if seed_column is None:
        seed_column = next((name for name in _called(table, "seed") if _repeats(table, name, x, y, by, unit)), None)
    result = correlate(table, x, y, by, unit=unit, seed_column=seed_column, random_state=random_state)
    named = Path(points).name if isinstance(points, (str, os.PathLike)) else POINTS
    return replace(result, settings={"points": named, **result.settings})


def _called(table: Points, role: str) -> list[str]:
    """Columns with a usual name, in the order in which the names are listed."""
    plain = {name.casefold().replace("_", " ").strip(): name for name in table.columns}
    return [plain[name] for name in NAMES[role] if name in plain]


def _needed(table: Points, column: str | None, role: str) -> str:
    if column is not None:
        table.at(column)
        return column
    columns = _called(table, role)
    if not columns:
        meaning = {"x": "intrinsic number", "y": "extrinsic number"}[role]
        raise ParameterError(
            f"{table.name} has no column called {' or '.join(NAMES[role])}: name the one of the {meaning} "
            f"(--points-{role}); its columns are {', '.join(table.columns)}."
        )
    return columns[0]


def _repeats(table: Points, seed: str, x: str, y: str, by: Sequence[str], unit: str | None) -> bool:
    """Return true if rows differ in nothing but the seed and y, so that there is something to average."""
    apart = [x, *by, unit] if unit is not None else [name for name in table.columns if name not in {y, seed}]
    return seed not in {x, y, *by, unit} and len(set(zip(*map(table.texts, apart), strict=True))) < len(table)


def answer_points(result: CorrelationResult, rules: Rules) -> Verdict:
    """The verdict on whether the intrinsic number tracks the extrinsic one."""
    from biasgauge.stats import holm

    name = result.settings.get("points", POINTS)
    corrected = holm([group.p for group in result.groups])
    tested = [(p, group) for p, group in zip(corrected, result.groups, strict=True) if p is not None]
    if not tested:
        reasons = (group.reason or group.estimate.p_reason for group in result.groups)
        why = next(filter(None, reasons), "r has no p")
        return Verdict("extrinsic", TITLE, name, TRACKING, decide(found=None), "", why)
    p, best = min(tested, key=lambda pair: pair[0])
    seen = p <= rules.alpha
    ends = {"low": best.estimate.low, "high": best.estimate.high}
    numbers = {"r": best.r, **ends, "p": best.p, "p_adjusted": p, "n": float(best.units)}
    reason = f"{result.x} and {result.y}: {_correlation(best, result)}, Holm-adjusted {p_phrase(p)}"
    effect = Evidence(TRACKING, numbers, rules.alpha, seen, reason, LINK)
    first = (_strata(result, best, rules),) if seen else (_power(result, rules, len(tested)), _equivalent(result))
    checks = [piece for piece in (*first, _independent(result), _reliable(result, best, rules)) if piece is not None]
    decision = decide_tracking(found=seen, checks=[piece.passes for piece in checks])
    failed, unknown = ([piece.reason for piece in checks if piece.passes is state] for state in (False, None))
    way = "rises" if (best.r or 0.0) > 0 else "falls"
    claim = f"{result.y} {way} with {result.x}" if seen else ""
    why = "; ".join([reason, *(failed or unknown)])
    return Verdict("extrinsic", TITLE, name, TRACKING, decision, claim, why, (effect, *checks))


def _correlation(group: CorrelationGroup, result: CorrelationResult) -> str:
    interval = group.estimate
    ends = "" if interval.low is None else f" [{signed_text(interval.low, 2)}, {signed_text(interval.high, 2)}]"
    unit_name = "points" if result.settings["unit"] is None else f"units ({result.settings['unit']})"
    where = f" of {group.name}" if group.by else ""
    return f"r = {signed_text(group.r, 2)}{ends} over {group.units} {unit_name}{where}"


def _strata(result: CorrelationResult, best: CorrelationGroup, rules: Rules) -> Evidence | None:
    """Evidence on whether strata agree; None where there are fewer than two."""
    strata = [group for group in result.groups if group.by and group.r is not None]
    if len(strata) < 2:
        return None
    agree = sum((group.r or 0.0) * (best.r or 0.0) > 0 for group in strata)
    levels = result.levels
    q_p = None if levels is None else levels.q_p
    one_way = agree >= rules.agreement * len(strata)
    share = agree / len(strata)
    reason = f"{count_of(agree, len(strata))} strata ({level_text(rules.agreement)} required) give the same direction"
    if q_p is None:
        why = "points share units" if levels is not None and levels.q is not None else "points are too few"
        reason += f"; unknown whether they share one correlation ({why})"
        passes = None if one_way else False
    else:
        apart = q_p <= rules.alpha
        reason += f" and {'do not ' if apart else ''}share one correlation (Cochran's Q, {p_phrase(q_p)})"
        passes = one_way and not apart
    numbers = {"agree": agree, "of": len(strata), "share": share, "q_p": q_p}
    return Evidence("strata", numbers, rules.agreement, passes, reason, LINK)


def _equivalent(result: CorrelationResult) -> Evidence:
    """Evidence that passes if the interval of every correlation lies within ± the r that the power is for."""
    margin = result.power_of
    ends = [(group.estimate.low, group.estimate.high) for group in result.groups if group.r is not None]
    known = [(low, high) for low, high in ends if low is not None and high is not None]
    least, most = min((low for low, _ in known), default=None), max((high for _, high in known), default=None)
    passes = len(known) == len(ends) and decide_equivalence(least, most, margin) == "equivalent"
    level = level_text(result.groups[0].estimate.level)
    within = f"lie in {interval_text(least, most, 2, signed=True)}" if known else "are unknown"
    reason = f"{level} intervals of all r {within}; a correlation of ±{margin:g} would matter"
    return Evidence("equivalence", {"low": least, "high": most}, margin, passes, reason, LINK)


def _power(result: CorrelationResult, rules: Rules, number: int) -> Evidence:
    """Evidence on the power to detect a correlation at the level that Holm's adjustment gives the smallest p."""
    from biasgauge.stats import FEWEST, correlation_power

    alpha = rules.alpha / number
    least = min(result.groups, key=lambda group: group.units)
    power = 0.0
    if least.units >= FEWEST:
        power = 1.0 if alpha >= 1 else correlation_power(least.units, result.power_of, alpha=alpha)
    where = f"in the smallest stratum ({least.units})" if least.by else f"with all {least.units}"
    reason = (
        f"power to see a true r of {result.power_of:g} at p ≤ {figures_text(alpha, 2)} {where}: {share_text(power)} "
        f"({share_text(POWER)} required)"
    )
    return Evidence("power", power, POWER, power >= POWER, reason, LINK)


def _independent(result: CorrelationResult) -> Evidence:
    all_points, unit = result.groups[0], result.settings["unit"]
    reason = (
        "each point has a measurement of its own" if result.independent else "one measurement stands in several rows"
    )
    if unit is not None:
        treatment = "has one point" if all_points.units == all_points.n else "was resampled and permuted as a whole"
        reason = f"each unit ({unit}) {treatment}"
    return Evidence(
        "points", {"points": all_points.n, "units": all_points.units}, None, result.independent, reason, LINK
    )


def _reliable(result: CorrelationResult, best: CorrelationGroup, rules: Rules) -> Evidence:
    """Evidence on the reliability of the extrinsic number over task seeds, of the best or of the median stratum."""
    estimated = [
        group for group in result.groups if group.reliability is not None and group.reliability.single.value is not None
    ]
    measured = [best] if best.by else [group for group in estimated if group.by] or estimated
    sizes = sorted(
        (group.reliability for group in measured if group in estimated and group.reliability is not None), key=_size
    )
    least = rules.reliability
    if not sizes:
        single = None if best.reliability is None else best.reliability.single
        why = "each point has one" if single is None or single.k < 2 else single.reason
        reason = f"unknown whether {result.y} holds over task seeds: {why}"
        return Evidence("reliability", None, least, None, reason, LINK)
    middle = sizes[(len(sizes) - 1) // 2]
    reliability = _size(middle)
    reason = (
        f"reliability of {result.y} over {middle.single.k} task seeds, {middle.form}, "
        f"{number_text(max(reliability, 0.0), 2)} ({least:g} required)"
        f"{'' if reliability >= least else ', too low to detect most correlations'}"
    )
    return Evidence("reliability", reliability, least, reliability >= least, reason, LINK)


def _size(reliability: SeedReliability) -> float:
    """That of the mean over seeds; 0 where embeddings do not differ beyond seeds."""
    return 0.0 if reliability.mean.value is None else float(reliability.mean.value)
