"""Tables and sentences of `biasgauge reliability`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.cli.screen import print_table, print_title, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from biasgauge.reliability import ReliabilityResult
    from biasgauge.reliability.rows import Rows

WORST = 8
"""Untrusted words that are shown."""


def show(found: ReliabilityResult, studies: Sequence[Any], screen: Console) -> None:
    """Three reliabilities, what cannot be trusted, what scores vary with, and what it comes to in words."""
    for warning in found.warnings:
        screen.print(f"note: {warning}", markup=False)
    for one in (*found.lists, *found.queries):
        if one.lost:
            screen.print(
                f"lost from {one.name} ({len(one.lost):,} of {one.asked:,}): {shorten(one.lost, 6)}", markup=False
            )
    print_title(screen, "Test-retest", "do scores hold when the model is trained again? ICC(2,1)")
    _distributions(found, screen, {"test_retest": ""})
    screen.print("\nThe words of a list, scores averaged over pairs:")
    _each(found.test_retest.where(of="rule"), screen)
    print_title(screen, "Inter-rater", "do measures agree? ICC(3,1) of scores averaged over models")
    _distributions(found, screen, {"inter_rater": "as they are", "inter_rater_standardised": "one SD"})
    print_title(screen, "Internal consistency", "do words, or pairs, measure one thing? Cronbach's alpha")
    _each(found.internal, screen, found.omega)
    _untrusted(found, screen)
    _components(studies, screen)
    print_title(screen, "In words", "")
    for sentence in found.verdicts:
        screen.print(f"- {sentence}", markup=False)


def _distributions(found: ReliabilityResult, screen: Console, parts: dict[str, str]) -> None:
    rows: list[list[str | int]] = []
    lists = [one.name for one in found.lists]
    mine = [one for one in found.summaries if one.reliability in parts]
    for one in sorted(mine, key=lambda one: (lists.index(one.list or ""), one.of != "word")):
        names = [one.list or "", f"{one.of}s", one.measure or parts[one.reliability]]
        if one.median is None:
            rows.append([*names, 0, "–", "–", 0, "undefined"])
        else:
            spread = f"{one.p05:5.2f} to {one.p95:5.2f}"
            rows.append([*names, one.count, f"{one.median:6.2f}", spread, one.below, one.band or ""])
    kind = "measure" if "test_retest" in parts else "scores"
    print_table(screen, ("list", "of", kind, "number", "median", "5 to 95 %", "poor", "median is"), rows)


def _each(rows: Rows, screen: Console, omega: Rows | None = None) -> None:
    """One line for each row: with its interval, and omega beside alpha."""
    titles = {"rule": "list", "query": "query", "pairs": "all pairs on"}
    shown: list[list[str | int]] = []
    for place in range(len(rows)):
        of = str(rows.of[place])
        names = [titles[of], str((rows.name if of == "query" else rows.list)[place]), str(rows.measure[place])]
        value, low, high = (float(one[place]) for one in (rows.value, rows.low, rows.high))
        if value != value:  # noqa: PLR0124 - NaN
            shown.append([*names, "–", "–", *([] if omega is None else ["–"]), str(rows.reason[place])])
            continue
        judged = rows.verdict(place) if omega is None else str(rows.band[place])
        other = [] if omega is None else ["–" if omega.reason[place] else f"{omega.value[place]:5.2f}"]
        shown.append([*names, f"{value:5.2f}", f"{low:5.2f} to {high:5.2f}", *other, judged])
    interval = f"{rows.level:.0%} interval"
    print_table(
        screen, ("of", "", "measure", "value", interval, *([] if omega is None else ["omega"]), "so it is"), shown
    )


def _untrusted(found: ReliabilityResult, screen: Console) -> None:
    poor = [one for one in found.untrusted if one.kind == "poor" and one.reliability == "test_retest"]
    words: dict[str, list[Any]] = {}
    for one in poor:
        if one.of in {"word", "pair"}:
            words.setdefault(f"{one.of} {one.name}", []).append(one)
    print_title(screen, "Not to be trusted", f"{len(words):,} words and pairs are poor under some measure")
    for name, several in list(words.items())[:WORST]:
        values = ", ".join(dict.fromkeys(f"{one.measure} {one.value:.2f}" for one in several))
        screen.print(f"- {name} ({values}): {several[0].because}", markup=False)
    if len(words) > WORST:
        screen.print(f"… and {len(words) - WORST:,} more; --json lists all of them, with the reason.")


def _components(studies: Sequence[Any], screen: Console) -> None:
    """What scores vary with, one column a measure, and which designs are enough; or why that is not known."""
    known = [one for one in studies if not isinstance(one, dict)]
    print_title(screen, "What scores vary with", "share of the variance")
    names = list(dict.fromkeys(part.name for components, _ in known for part in components.components))
    rows = []
    for name in names:
        shares = [{part.name: part for part in components.components}.get(name) for components, _ in known]
        rows.append([name, *("–" if one is None else f"{one.share:8.1%}" for one in shares)])
    print_table(screen, ("of", *(components.measure or "together" for components, _ in known)), rows)
    for components, design in known:
        screen.print(f"\n{components.measure or 'All measures together'}:", markup=False)
        for sentence in design.sentences():
            screen.print(f"- {sentence}", markup=False)
    for one in studies:
        if isinstance(one, dict):
            screen.print(f"{one['measure'] or 'all measures together'}: {one['reason']}", markup=False)
