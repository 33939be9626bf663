"""Tables and sentences of `biasgauge robustness`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.cli.screen import print_table, print_title, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from biasgauge.reliability import Estimate
    from biasgauge.robustness import Agreement, RobustnessResult

TITLES = {
    "pair_forms": ("Other forms of the pairs", "does She~He give what she~he gives?"),
    "word_forms": ("Other forms of the words", "do words and their plurals lean alike?"),
    "correspondence": ("Against what is known", "do words lean where they should?"),
    "between_measures": ("Between measures", "do measures agree?"),
}


def show(found: RobustnessResult, screen: Console) -> None:
    """One table for each question, what was lost, and what it comes to in words."""
    for warning in found.warnings:
        screen.print(f"note: {warning}", markup=False)
    for name, lost in found.coverage.lost.items():
        screen.print(f"lost from {name} ({len(lost):,}): {shorten(lost, 6)}", markup=False)
    _base_pairs(found, screen)
    for part, (title, question) in TITLES.items():
        rows = getattr(found, part)
        if rows:
            print_title(screen, title, f"{question} kappa")
            _agreements(found, part, rows, screen)
    for form in found.forms:
        if form.found and form.lost:
            screen.print(
                f"without the form {form.name}: {len(form.lost):,} of {len(form.found) + len(form.lost):,} words"
            )
    if found.analogies is not None:
        print_title(screen, "Analogies", "")
        for sentence in found.analogies.verdicts:
            screen.print(f"- {sentence}", markup=False)
    print_title(screen, "In words", "")
    for sentence in found.verdicts:
        screen.print(f"- {sentence}", markup=False)


def _base_pairs(found: RobustnessResult, screen: Console) -> None:
    print_title(screen, "Base pairs", "does another pair give the same scores?")
    published = any(one.as_published for one in found.base_pairs)
    rows: list[list[str | int]] = [
        [
            one.measure,
            _number(one.kappa),
            _interval(one.kappa),
            _percent(one.unanimous),
            _percent(one.changed_by_one_sd),
            *([_published(one.changed_by_one_sd)] if published else []),
            one.kappa.n,
        ]
        for one in found.base_pairs
    ]
    columns = ("measure", "kappa", f"{_level(found)} interval", "all agree", "moved by 1 sd")
    print_table(screen, (*columns, *(["as printed"] if published else []), "words"), rows)


def _agreements(found: RobustnessResult, part: str, rows: Sequence[Agreement], screen: Console) -> None:
    """For each form, truth or measure the mean over pairs, the worst and the best pair; or why there is none."""
    lines: list[list[str | int]] = []
    reasons: dict[str, str] = {}
    for mean in found.means:
        if mean.part != part:
            continue
        mine = [one for one in rows if (one.measure, one.against) == (mean.measure, mean.against)]
        known = sorted((one.kappa.value, "~".join(one.pair)) for one in mine if one.kappa.value is not None)
        if mean.kappa.value is None or not known:
            reasons[mean.against] = next((one.kappa.reason for one in mine if one.kappa.reason), "") or "no kappas"
            continue
        ends = f"{known[0][0]:.2f} {known[0][1]}, {known[-1][0]:.2f} {known[-1][1]}"
        lines.append(
            [mean.measure, mean.against, _number(mean.kappa), _interval(mean.kappa), len(known), mean.kappa.n, ends]
        )
    against = {"correspondence": "truth", "between_measures": "with"}.get(part, "form")
    if lines:
        columns = ("measure", against, "mean", f"{_level(found)} interval", "pairs", "words", "lowest, highest")
        print_table(screen, columns, lines)
    for name, reason in reasons.items():
        screen.print(f"{name}: not known; {reason}", markup=False)


def _level(found: RobustnessResult) -> str:
    return f"{found.settings['level']:.0%}"


def _number(estimate: Estimate) -> str:
    return "–" if estimate.value is None else f"{estimate.value:5.2f}"


def _percent(estimate: Estimate) -> str:
    return "–" if estimate.value is None else f"{estimate.value:.0%}"


def _published(changed: Estimate) -> str:
    return "–" if changed.value is None else f"{1 - changed.value:.0%}"


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return "–"
    return f"{estimate.low:5.2f} to {estimate.high:5.2f}"
