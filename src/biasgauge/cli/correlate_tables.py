"""Tables and sentences of `biasgauge correlate`."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from biasgauge.cli.screen import print_table

if TYPE_CHECKING:
    from rich.console import Console

    from biasgauge.extrinsic import CorrelationResult, LevelEstimate
    from biasgauge.scores import Interval

WIDEST = 100
"""Characters of a sentence in a line, on wide screens."""
LEVELS = {
    "within_r": "r within strata",
    "between_r": "r of their means",
    "within_slope": "slope within strata",
    "random_intercept": "slope, random intercepts",
    "random_slope": "slope, random slopes",
}


def show(found: CorrelationResult, screen: Console) -> None:
    """Correlations by stratum, the levels, and what it comes to in words."""
    for warning in found.warnings:
        _say(screen, f"note: {warning}")
    shared = any(one.units != one.n for one in found.groups)
    corrected = len(found.groups) > 2  # noqa: PLR2004 - all points and one stratum
    ranks = found.settings["method"] == "spearman"
    rows: list[tuple[str | int, ...]] = [
        (
            one.name,
            one.n,
            *([one.units] if shared else []),
            *(("–", one.reason or "") if one.r is None else (_signed(one.r), _ends(one.interval))),
            _chance(one.p),
            *([_chance(one.p_holm)] if corrected else []),
            _signed((one.pearson if ranks else one.spearman).value),
        )
        for one in found.groups
    ]
    level = f"{found.settings['level']:.0%}"
    names = ("rho", "r") if ranks else ("r", "rho")
    columns = [", ".join(found.by) or "points", "n", *(["units"] if shared else [])]
    columns += [names[0], f"{level} {found.settings['interval']}", "p", *(["Holm"] if corrected else []), names[1]]
    print_table(screen, columns, rows)
    for one in found.groups:
        if one.r is not None and one.p is None:
            _say(screen, f"note: {one.name} without p: {one.to_dict()['reason']}")
    if found.levels is not None:
        screen.print()
        lines = [_level(title, getattr(found.levels, name)) for name, title in LEVELS.items()]
        print_table(screen, ("strata kept apart", "value", level, "p", ""), lines)
        if shared:
            _say(screen, f"note: {found.levels.within_r.reason}")
    screen.print()
    for sentence in found.readings:
        _say(screen, f"- {sentence}")


def _level(title: str, one: LevelEstimate) -> tuple[str, ...]:
    reason = one.reason if one.value is None else None
    return title, _signed(one.value), _ends(one.interval), _chance(one.p), reason or ""


def _ends(interval: Interval | None) -> str:
    if interval is None:
        return "–"
    if interval.low is None or interval.high is None:
        return f"undefined: {interval.reason}"
    return f"[{interval.low:.2f}, {interval.high:.2f}]"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"


def _chance(p: float | None) -> str:
    return "–" if p is None else f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"  # noqa: PLR2004 - three decimals


def _say(screen: Console, line: str) -> None:
    screen.print("\n".join(wrap(line, min(screen.width, WIDEST))), markup=False)
