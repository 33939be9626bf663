"""Contrasts of random words of like frequency, beside those measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.audits.null_lists import ChanceBand, chance_band
from biasgauge.audits.part import Part, Rows
from biasgauge.audits.parts.bias import concept_cell
from biasgauge.results import Column, Summary, Table, counted

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext

ABOUT = (
    "Contrasts of the same targets with random attributes of like frequency; along base pairs, of random targets. "
    "Topics differ from each other along any direction: a contrast that random words give too says nothing about these."
)


def measure(context: AuditContext) -> Rows:
    """Draw random attributes for each contrast; along base pairs, random targets."""
    bands = (chance_band(outcome, context.random_state) for outcome in context.outcomes)
    return Rows(tuple(band for band in bands if band is not None))


def summarize(result: Rows) -> Summary | None:
    """Contrasts with random attributes beside those measured."""
    if not result.rows:
        return None
    columns: list[Column | str] = [
        "question", "vectors", Column("contrast", "number", 3), Column("95 % of random lists below", "number", 3),
    ]  # fmt: skip
    rows = [(concept_cell(band.question), band.model, band.contrast, band.band) for band in result.rows]
    outside = sum(abs(band.contrast) > band.band for band in result.rows)
    return Summary(
        title=PART.title,
        headline=f"{outside} of {counted(rows, 'contrast is', 'contrasts are')} larger than those of 95 % of "
        "random lists.",
        name="chance",
        about=ABOUT,
        tables=(Table.of("chance", "Contrasts of random words, and those measured", columns, rows, folded=True),),
    )


PART = Part(
    "chance", "Contrasts of random words", measure, summarize, order=108, stage="chance lists",
    read=Rows.reader(ChanceBand.from_dict),
)  # fmt: skip
