"""What was done to the vectors: every number before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.report.figures import figures
from biasgauge.report.page.section import Cell, Section, Table, between, cell, charts_of, number, undefined

if TYPE_CHECKING:
    from biasgauge.audit import AuditResult
    from biasgauge.mitigation.effect_result import Row

CAPTION = "Every number before and after"
COLUMNS = ("What", "Of", "Number", "Before", "After", "Change", "Interval of the change", "Rests on")


def change_section(result: AuditResult) -> Section | None:
    """Bias, side effects and what is left, before and after."""
    effect = result.change
    if effect is None:
        return None
    return Section(
        title="What did the change do?",
        about=(
            f"From {effect.before} to {effect.after}, on the {effect.words:,} words that both have: what became of "
            "the bias, what moved that should not have, and what can still be recovered (Gonen & Goldberg 2019)."
        ),
        sentences=(*effect.warnings, *effect.sentences),
        charts=charts_of("change", figures(effect)),
        tables=(Table(CAPTION, COLUMNS, tuple(map(_row, effect.rows)), frozenset(COLUMNS[3:])),),
    )


def _row(row: Row) -> tuple[Cell, ...]:
    start = (cell(row.part), cell(row.of), cell(row.name))
    if row.after is None:
        return (*start, *undefined(row.reason, 5))
    ends = row.change_interval
    return (
        *start,
        number(row.before, 3),
        number(row.after, 3),
        number(row.change, 3),
        cell(None) if ends is None or ends.low is None else between(ends.low, ends.high, 3),
        cell(row.count),
    )
