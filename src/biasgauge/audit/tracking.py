"""The verdict on whether intrinsic numbers track the application. The rules are in docs/verdicts.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.audit.extrinsic import POINTS
from biasgauge.audit.questions import Evidence, Question, chance, decide_tracking
from biasgauge.extrinsic.draws import holm
from biasgauge.extrinsic.power import FEWEST, correlation_power

if TYPE_CHECKING:
    from biasgauge.audit.questions import Rules
    from biasgauge.extrinsic import CorrelationGroup, CorrelationResult

TITLE = "Do the intrinsic numbers track the application?"
POWER = 0.8
"""Chance to see a true correlation below which nothing found says nothing (Cohen 1988)."""
_PAIR = 2


def answer_points(found: CorrelationResult, rules: Rules) -> Question:
    """The verdict on whether the intrinsic number tracks the extrinsic one."""
    name = found.settings.get("points", POINTS)
    corrected = holm([one.p for one in found.groups])
    known = [(p, one) for p, one in zip(corrected, found.groups, strict=True) if p is not None]
    if not known:
        why = next((one.to_dict()["reason"] for one in found.groups if one.to_dict()["reason"]), "r has no p")
        return Question("extrinsic", TITLE, name, "undefined", why)
    p, best = min(known, key=lambda one: one[0])
    seen = p <= rules.alpha
    effect = Evidence(
        "correlation",
        f"{found.x} and {found.y}: {_told(best, found)}, corrected p {chance(p)}",
        f"p, corrected for all points and strata together, at most {rules.alpha:g}",
        passed=seen,
        link="extrinsic",
    )
    other = _strata(found, best, rules) if seen else _power(found, rules, len(known))
    rest = [other, _independent(found), _reliable(found, best, rules)]
    evidence = (effect, *(one for one in rest if one is not None))
    decision = decide_tracking(found=seen, rest=[one.passed for one in evidence[1:]])
    failed = [one.value for one in evidence[1:] if one.passed is False]
    unknown = [one.value for one in evidence[1:] if one.passed is None]
    return Question("extrinsic", TITLE, name, decision, "; ".join([effect.value, *(failed or unknown)]), evidence)


def _told(one: CorrelationGroup, found: CorrelationResult) -> str:
    around = one.interval
    ends = "" if around is None or around.low is None else f" [{around.low:+.2f}, {around.high:+.2f}]"
    what = "points" if found.settings["unit"] is None else f"units ({found.settings['unit']})"
    where = f" of {one.name}" if one.by else ""
    return f"r {one.r:+.2f}{ends} over {one.units} {what}{where}"


def _strata(found: CorrelationResult, best: CorrelationGroup, rules: Rules) -> Evidence | None:
    """Whether other strata say the same; None where there are none."""
    others = [one for one in found.groups if one.by and one.r is not None]
    if len(others) < _PAIR:
        return None
    agree = sum((one.r or 0.0) * (best.r or 0.0) > 0 for one in others)
    q_p = None if found.levels is None else found.levels.q_p
    one_way = agree >= rules.agreement * len(others)
    value = f"direction agrees over {agree} of {len(others)} strata"
    if q_p is None:
        why = "points share units" if found.levels is not None and found.levels.q is not None else "points are too few"
        value += f"; not known whether they share one correlation ({why})"
        passed = None if one_way else False
    else:
        apart = q_p <= rules.alpha
        value += f", which {'do not ' if apart else ''}share one correlation (p {chance(q_p)})"
        passed = one_way and not apart
    rule = f"at least {100 * rules.agreement:g} % of the strata give one direction, and Cochran's Q finds no difference"
    return Evidence("strata", value, rule, passed=passed, link="extrinsic")


def _power(found: CorrelationResult, rules: Rules, number: int) -> Evidence:
    """Whether a correlation could have been seen at all: as the smallest of so many p, corrected for their number."""
    alpha = rules.alpha / number
    least = min(found.groups, key=lambda one: one.units)
    power = 0.0
    if least.units >= FEWEST:
        power = 1.0 if alpha >= 1 else correlation_power(least.units, found.power_of, alpha=alpha)
    rule = f"a true r of {found.power_of:g} would be seen at least {POWER:.0%} of the time, in every stratum"
    rule += f", p corrected for {number}" if number > 1 else ""
    where = f" in the smallest stratum ({least.units})" if least.by else f" with all {least.units}"
    value = f"a true r of {found.power_of:g} would be seen (p ≤ {alpha:.2g}) {power:.0%} of the time{where}"
    return Evidence("power", value, rule, passed=power >= POWER, link="extrinsic")


def _independent(found: CorrelationResult) -> Evidence:
    value = "each point has a measurement of its own" if found.independent else "one measurement stands in several rows"
    if found.settings["unit"] is not None:
        whole = found.groups[0]
        kept = "has one point" if whole.units == whole.n else "was drawn and shuffled as a whole"
        value = f"each unit ({found.settings['unit']}) {kept}"
    return Evidence("points", value, "points are independent, or a unit is named", found.independent, "extrinsic")


def _reliable(found: CorrelationResult, best: CorrelationGroup, rules: Rules) -> Evidence:
    """Whether the extrinsic number holds over task seeds: of the stratum in question, else of the middle one."""
    rule = f"ICC(1,k) of {found.y} over task seeds at least {rules.reliability:g}"
    known = [one for one in found.groups if one.reliability is not None and one.reliability.single.value is not None]
    measured = [best] if best.by else [one for one in known if one.by] or known
    sizes = sorted((one.reliability for one in measured if one in known), key=_size)
    if not sizes:
        single = None if best.reliability is None else best.reliability.single
        why = "each point has one" if single is None or single.k < _PAIR else single.reason
        value = f"not known whether {found.y} holds over task seeds: {why}"
        return Evidence("reliability", value, rule, passed=None, link="extrinsic")
    one: Any = sizes[(len(sizes) - 1) // 2]
    held = _size(one)
    over = f"over {one.single.k} task seeds"
    told = f"reliability of {found.y} {over} {max(held, 0.0):.2f}"
    if held < rules.reliability:
        told = f"{found.y} is not reliable {over} ({max(held, 0.0):.2f}), so hardly any correlation can be seen"
    return Evidence("reliability", told, rule, passed=held >= rules.reliability, link="extrinsic")


def _size(one: Any) -> float:  # noqa: ANN401 - a reliability over seeds
    """ICC(1,k); 0 where embeddings do not differ beyond seeds."""
    return 0.0 if one.mean.value is None else float(one.mean.value)
