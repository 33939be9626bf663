"""The verdict on whether intrinsic numbers track the application. The rules are in docs/verdicts.md."""

from __future__ import annotations

from biasgauge.analyses.correlate import CorrelationGroup, CorrelationResult, SeedReliability
from biasgauge.audits.parts.extrinsic import POINTS
from biasgauge.audits.verdicts import Evidence, Rules, Verdict, decide_tracking
from biasgauge.results import count_of, figures_text, level_text, number_text, p_phrase, share_text, signed_text
from biasgauge.stats import FEWEST, correlation_power, holm

TITLE = "Do the intrinsic numbers track the application?"
POWER = 0.8
"""Chance to see a true correlation below which nothing found says nothing (Cohen 1988)."""
LINK = "extrinsic"
TEST = "correlation"
_PAIR = 2


def answer_points(result: CorrelationResult, rules: Rules) -> Verdict:
    """The verdict on whether the intrinsic number tracks the extrinsic one."""
    name = result.settings.get("points", POINTS)
    corrected = holm([group.p for group in result.groups])
    tested = [(p, group) for p, group in zip(corrected, result.groups, strict=True) if p is not None]
    if not tested:
        reasons = (group.reason or group.estimate.p_reason for group in result.groups)
        why = next(filter(None, reasons), "r has no p")
        return Verdict("extrinsic", TITLE, name, TEST, "not-measurable", "", why)
    p, best = min(tested, key=lambda pair: pair[0])
    seen = p <= rules.alpha
    numbers = {
        "r": best.r,
        "low": best.estimate.low,
        "high": best.estimate.high,
        "p": best.p,
        "p_adjusted": p,
        "n": float(best.units),
    }
    reason = f"{result.x} and {result.y}: {_correlation(best, result)}, Holm-adjusted {p_phrase(p)}"
    effect = Evidence(TEST, numbers, rules.alpha, seen, reason, LINK)
    main_check = _strata(result, best, rules) if seen else _power(result, rules, len(tested))
    checks = [
        piece for piece in (main_check, _independent(result), _reliable(result, best, rules)) if piece is not None
    ]
    decision = decide_tracking(found=seen, checks=[piece.passes for piece in checks])
    failed = [piece.reason for piece in checks if piece.passes is False]
    unknown = [piece.reason for piece in checks if piece.passes is None]
    way = "rises" if (best.r or 0.0) > 0 else "falls"
    claim = f"{result.y} {way} with {result.x}" if seen else ""
    why = "; ".join([reason, *(failed or unknown)])
    return Verdict("extrinsic", TITLE, name, TEST, decision, claim, why, (effect, *checks))


def _correlation(group: CorrelationGroup, result: CorrelationResult) -> str:
    interval = group.estimate
    ends = "" if interval.low is None else f" [{signed_text(interval.low, 2)}, {signed_text(interval.high, 2)}]"
    unit_name = "points" if result.settings["unit"] is None else f"units ({result.settings['unit']})"
    where = f" of {group.name}" if group.by else ""
    return f"r = {signed_text(group.r, 2)}{ends} over {group.units} {unit_name}{where}"


def _strata(result: CorrelationResult, best: CorrelationGroup, rules: Rules) -> Evidence | None:
    """Evidence on whether strata agree; None where there are fewer than two."""
    strata = [group for group in result.groups if group.by and group.r is not None]
    if len(strata) < _PAIR:
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


def _power(result: CorrelationResult, rules: Rules, number: int) -> Evidence:
    """Evidence on the power to see a correlation, as the smallest of so many p, adjusted for their number."""
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
        why = "each point has one" if single is None or single.k < _PAIR else single.reason
        reason = f"unknown whether {result.y} holds over task seeds: {why}"
        return Evidence("reliability", None, least, None, reason, LINK)
    middle = sizes[(len(sizes) - 1) // 2]
    reliability = _size(middle)
    reason = (
        f"reliability of {result.y} over {middle.single.k} task seeds, {middle.form}, "
        f"{number_text(max(reliability, 0.0), 2)} ({least:g} required)"
        f"{'' if reliability >= least else ', so that hardly any correlation can be seen'}"
    )
    return Evidence("reliability", reliability, least, reliability >= least, reason, LINK)


def _size(reliability: SeedReliability) -> float:
    """That of the mean over seeds; 0 where embeddings do not differ beyond seeds."""
    return 0.0 if reliability.mean.value is None else float(reliability.mean.value)
