"""Error rates: how often an audit of random word lists in these vectors would have found an association."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.audits.null_lists import ErrorRate, error_rates
from biasgauge.audits.part import Part, Rows
from biasgauge.core import Estimate
from biasgauge.results import Column, Summary, Table, level_text, share_text

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext

ABOUT = (
    "The same audit of lists that mean nothing, in these vectors: how often would it have found something? Where the "
    "attributes of a question are relabeled by a coin toss, where every word is a random one, and where the attributes "
    "are random words of like frequency. The audit promises at most {alpha}."
)


def measure(context: AuditContext) -> Rows:
    """Audit random lists of the same sizes, on each subject and under each null."""
    return Rows(error_rates(context.outcomes, context.rules.alpha, context.random_state))


def summarize(result: Rows) -> Summary | None:
    """Section on the error rates: how often meaningless lists would have shown an association."""
    if not result.rows:
        return None
    columns: list[Column | str] = [
        "vectors", "lists", Column("audits", "count"), Column("found something", "count"),
        Column("share", "estimate", 3),
    ]  # fmt: skip
    rows = [
        (rate.subject, rate.about, rate.audits, rate.found, Estimate(value=rate.rate, low=rate.low, high=rate.high))
        for rate in result.rows
    ]
    worst = max(result.rows, key=lambda rate: rate.rate)
    introduction = ABOUT.format(alpha=level_text(worst.alpha))
    return Summary(
        title=PART.title,
        headline=(
            f"Of {worst.audits} audits of lists that mean nothing, at most {share_text(worst.rate, 1)} would have "
            f"found an association ({worst.about})."
        ),
        name="error-rates",
        about=introduction,
        tables=(Table.of("error-rates", "Audits of meaningless lists in these vectors", columns, rows),),
    )


PART = Part(
    "error_rates", "Error rates of this audit", measure, summarize, order=100, stage="chance lists",
    read=Rows.reader(ErrorRate.from_dict),
)  # fmt: skip
