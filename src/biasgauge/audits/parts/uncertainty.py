"""Posterior of each question's contrast: probabilities beside the verdicts, from the same similarities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.audits.measurement import Measured
from biasgauge.audits.part import PartRows, ShippedPart
from biasgauge.core import Estimate
from biasgauge.results import (
    Chart,
    Column,
    RecordTable,
    chart_of_rows,
    counted,
    level_text,
    lexicon_name,
    number_text,
    share_text,
)

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext

AXIS = "contrast, in cosine units"
ABOUT = (
    "Posterior of the contrast of each question under a hierarchical model of targets, attributes and replicates "
    "(biasgauge posterior), for the similarities that its verdict uses. Each probability is of one question by itself "
    "and decides nothing: verdicts also adjust for the number of questions and for words near each other."
)
SURE = 0.95
"""Posterior probability above which a headline counts a contrast."""


@dataclass(frozen=True, kw_only=True)
class QuestionPosterior(Estimate):
    """Posterior of a question's contrast, in cosine units: median and credible interval.

    Attributes:
        question: the question.
        model: the vectors.
        smallest: the smallest contrast that matters, as in the verdict.
        sd: posterior standard deviation.
        p_direction: probability of the median's sign, in [.5, 1]; .5 says nothing.
        p_above: probability that the contrast is larger than `smallest`.
        p_equivalent: probability that it is no larger than `smallest` either way.
        p_below: probability that it is smaller than −`smallest`.
        at_equal_frequency: the contrast is that at equal word frequency.
        problems: what is wrong with the draws, in sentences; empty when they can be trusted.
    """

    renamed: ClassVar[Mapping[str, str]] = {"value": "median", **Estimate.renamed}
    hidden: ClassVar[frozenset[str]] = frozenset({"n", "statistic", "k", "resamples", "undefined_resamples", "warning"})

    question: str
    model: str
    smallest: float
    sd: float | None = None
    p_direction: float | None = None
    p_above: float | None = None
    p_equivalent: float | None = None
    p_below: float | None = None
    at_equal_frequency: bool = False
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class QuestionPosteriors(PartRows):
    """Posteriors of all questions that could be measured."""

    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "rows",
            "Posterior of each contrast, and the probability that it is larger than the smallest that matters",
            (
                Column("question", "lexicon"),
                Column("vectors", source="model"),
                Column("median [{level} {method}]", "estimate", 3, source="."),
                Column("P(contrast > smallest)", "share", source="p_above"),
                Column("P(|contrast| < smallest)", "share", source="p_equivalent"),
                Column("P(contrast < −smallest)", "share", source="p_below"),
                Column("smallest", "number", 3),
            ),
            note="smallest: the smallest contrast that matters, as in the verdicts",
            drop_constant=("vectors",),
            name="uncertainty",
        ),
    )

    def _headline(self) -> str:
        defined = [row for row in self.rows if row.defined]
        if not defined:
            return "No question has a posterior."
        sizes = dict.fromkeys(f"±{number_text(row.smallest, 3)}" for row in defined)
        sure = sum(max(row.p_above or 0.0, row.p_below or 0.0) > SURE for row in defined)
        return (
            f"{sure} of {counted(defined, 'question has', 'questions have')} a posterior probability above "
            f"{share_text(SURE)} of a contrast that matters (beyond {', '.join(sizes)})."
        )

    def _sentences(self) -> list[str]:
        """Reasons why there is no posterior, and problems of the sampler."""
        sentences = []
        for row in self.rows:
            reason = f"there is no posterior: {row.reason}" if row.reason else "; ".join(row.problems)
            sentences += [f"{lexicon_name(row.question)} ({row.model}): {reason}."] if reason else []
        return sentences

    def _charts(self) -> tuple[Chart, ...]:
        rows = [row for row in self.rows if row.defined]
        if not rows:
            return ()
        sizes, models = {row.smallest for row in rows}, len({row.model for row in rows})
        lines = [end for size in sizes for end in (-size, size)] if len(sizes) == 1 else []
        remark = f"Point and line: median and {level_text(rows[0].level)} interval; gray lines: 0"
        remark += ", and the smallest contrast that matters either way" if lines else ""
        remark += ". One line per model, in the order of the table" if models > 1 else ""
        drawn = [
            {
                "question": lexicon_name(row.question), "model": row.model, "median": row.value, "low": row.low,
                "high": row.high, "P(contrast > smallest)": row.p_above, "P(|contrast| < smallest)": row.p_equivalent,
            }
            for row in rows
        ]  # fmt: skip
        ordered = sorted(drawn, key=lambda row: -row["median"])
        chart = chart_of_rows(
            "posterior", "Posterior of each contrast", remark, AXIS, drawn, number="median", row="question",
            lines=(0.0, *lines), order=list(dict.fromkeys(row["question"] for row in ordered)), width=480,
            offset="model" if models > 1 else "",
        )  # fmt: skip
        return (chart,)


def measure(context: AuditContext) -> QuestionPosteriors:
    """Draw from the posterior of each question that was measured, on each subject."""
    return QuestionPosteriors(
        tuple(_posterior(outcome, context) for outcome in context.outcomes if isinstance(outcome, Measured))
    )


def _posterior(measured: Measured, context: AuditContext) -> QuestionPosterior:
    from biasgauge.analyses.posterior import contrast_mean, fit_similarities, why_undefined
    from biasgauge.stats import Credible

    query, table = measured.query, measured.similarities
    smallest = context.smallest_contrast(measured.subject)
    labels: dict[str, Any] = {"question": query.name, "model": measured.subject.name, "smallest": smallest}
    attributes = ["base pairs"] if query.pairs else [group.name for group in query.attributes]
    names = [group.name for group in query.targets], attributes
    decisive = measured.test.decisive.contrast
    reason = (
        decisive.reason
        if decisive.value is None
        else why_undefined(measured.table, names, measured.test.contrast.words)
    )
    if reason is not None:
        return QuestionPosterior(value=None, reason=reason, **labels)
    fit = fit_similarities(table, measured.table, random_state=context.random_state)
    credible = Credible()
    numbers = contrast_mean(fit.contrast, credible, smallest)
    median = numbers.pop("median")
    return QuestionPosterior(
        **{**numbers, **labels, "value": median},
        over=decisive.over,
        at_equal_frequency=table.centered is not None,
        problems=fit.diagnostics.problems,
    )


PART = ShippedPart(
    "uncertainty", "Posterior of each contrast", measure, about=ABOUT, order=90, stage="posteriors",
    read=QuestionPosteriors.reader(QuestionPosterior.from_dict),
)  # fmt: skip
