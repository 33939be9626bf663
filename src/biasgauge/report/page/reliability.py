"""Whether the measurement can be trusted: the three reliabilities, what scores vary with, how many are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.report.figures import figures
from biasgauge.report.page.section import Cell, Section, Table, between, cell, charts_of, number

if TYPE_CHECKING:
    from biasgauge.audit import AuditResult

CAPTION = (
    "Reliability: 1 is perfect, about 0 no better than chance; bands of Koo & Li (2016) and, for internal consistency, "
    "Nunnally (1978)"
)
COLUMNS = ("What", "Of", "List", "Measure", "Number", "Median", "5 % to 95 %", "Poor", "The median is")
PLURALS = {"word": "words", "pair": "pairs", "query": "queries"}


def reliability_section(result: AuditResult) -> Section:
    """The reliabilities as distributions, and their summary."""
    audited = result.reliability
    title = "Can the measurement be trusted?"
    if audited.found is None:
        return Section(title=title, about=f"Not known: {audited.reason}.")
    shipped = " that ship with biasgauge" if result.settings["shipped"] else ""
    drawn: dict[str, Any] = figures(audited.found)
    for one in (audited.components, audited.design):
        if one is not None:
            drawn |= figures(one)
    return Section(
        title=title,
        about=(
            f"Scores of the word lists of Du et al. 2021 on {len(result.replicates)} models{shipped}: do they hold "
            "when the model is trained again, do measures agree, do the words of a query measure one thing?"
        ),
        sentences=audited.headlines,
        more=audited.verdicts,
        charts=charts_of("reliability", drawn),
        tables=(Table(CAPTION, COLUMNS, tuple(_row(one) for one in audited.found.summaries), frozenset(COLUMNS[4:8])),),
    )


def _row(one: Any) -> tuple[Cell, ...]:  # noqa: ANN401 - a summary of the reliability room
    about = (
        cell(one.reliability.replace("_", " ").capitalize()),
        cell(PLURALS.get(one.of, one.of)),
        cell(one.list),
        cell(one.measure or "all"),
        cell(one.count),
    )
    if one.median is None:
        return (*about, Cell("undefined", mark="bad"), *[cell(None)] * 3)
    return (*about, number(one.median), between(one.p05, one.p95), cell(one.below), cell(one.band))
