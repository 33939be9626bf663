"""Which conclusions flip when a reasonable choice changes: the base pair, the measure, the form of the words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.report.figures import figures
from biasgauge.report.page.section import Cell, Section, Table, between, cell, charts_of, number, undefined

if TYPE_CHECKING:
    from biasgauge.audit import AuditResult

TITLE = "Do conclusions survive another choice?"
ABOUT = (
    "Gender base pairs of Zhang, Sneyd & Stevenson 2020. A set of words leans to an end of a pair when the mean score "
    "of its words differs from 0. One choice is changed at a time: another base pair, another measure, plurals for "
    "singulars. A conclusion that such a change reverses is one about the choice."
)
CHARTS = ("kappas", "pairs")
COLUMNS = ("Words", "Changed", "To", "Before", "After", "Outcome", "Words that flip", "Of")


def robustness_section(result: AuditResult) -> Section:
    """Sentences about each set of words, agreement of pairs, and every single change."""
    audited = result.robustness
    if audited.found is None or audited.flips is None:
        return Section(title=TITLE, about=f"Not known: {audited.reason}.")
    several = f" Of {audited.model}." if len(result.models) > 1 else ""
    return Section(
        title=TITLE,
        about=ABOUT + several,
        sentences=audited.headlines,
        more=audited.found.verdicts,
        charts=charts_of("robustness", figures(audited.found), only=CHARTS),
        tables=(
            Table(
                "Every single change of a choice, and what it does to the conclusion",
                COLUMNS,
                tuple(_row(one) for one in audited.flips.rows),
                frozenset(COLUMNS[6:]),
            ),
            Table(
                "Agreement of base pairs: Fleiss' kappa, words on which all agree, changes by one standard deviation",
                ("Measure", "Kappa", "95 % interval", "All agree on", "Relevant changes", "Words"),
                tuple(_pairs(one) for one in audited.found.base_pairs),
                frozenset({"Kappa", "95 % interval", "All agree on", "Relevant changes", "Words"}),
            ),
        ),
    )


def _row(one: Any) -> tuple[Cell, ...]:  # noqa: ANN401 - a flip of the robustness room
    start = (cell(one.concept), cell(one.choice), cell(one.new))
    if one.outcome is None:
        return (*start, *undefined(one.share.reason, 5))
    mark = {"holds": "good", "reversed": "bad"}.get(one.outcome, "part")
    return (
        *start,
        cell(one.before),
        cell(one.after),
        cell(one.outcome, mark=mark),
        _share(one.share.value),
        cell(one.share.n),
    )


def _pairs(one: Any) -> tuple[Cell, ...]:  # noqa: ANN401 - base pairs of the robustness room
    if one.kappa.value is None:
        return (cell(one.measure), *undefined(one.kappa.reason, 5))
    return (
        cell(one.measure),
        number(one.kappa.value),
        between(one.kappa.low, one.kappa.high),
        _share(one.unanimous.value),
        _share(one.changed_by_one_sd.value),
        cell(one.kappa.n),
    )


def _share(value: float | None) -> Cell:
    return cell(None) if value is None else Cell(f"{100 * value:.0f} %", order=value)
