"""Specification curve of each test over the views of a transformer: layers, poolings, templates, contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.audits.part import Part, Rows
from biasgauge.results import Summary, counted

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext


def measure(context: AuditContext) -> Rows | None:
    """Run every association test under every view of every transformer; None where there is no transformer."""
    viewed = [subject for subject in context.subjects if subject.viewed and subject.replicated]
    if not viewed:
        return None
    from biasgauge.analyses.robustness import specification_curve

    return Rows(
        tuple(
            specification_curve(list(subject.models), lexicon, policy=context.policy, random_state=context.random_state)
            for subject in viewed
            for lexicon in context.lexicons
            if lexicon.kind == "test"
        )
    )


def read(content: list[object]) -> Rows:
    """Read the curves back from the JSON of an audit."""
    from biasgauge.analyses.robustness import SpecificationCurve

    return Rows.reader(SpecificationCurve.from_dict)(content)


def summarize(result: Rows) -> Summary | None:
    """Section on what layer, pooling and template do to each test."""
    curves = [curve for curve in result.rows if curve.defined]
    if not result.rows:
        return None
    turning = sum(0 < curve.positive < curve.defined for curve in curves)
    return Summary(
        title=PART.title,
        headline=f"In {turning} of {counted(curves, 'test')} the direction changes with layer, pooling or template.",
        name="views",
        question="layers, poolings and templates",
        parts=tuple(curve.summary() for curve in curves),
    )


PART = Part(
    "specifications", "Layers, poolings and templates", measure, summarize, order=30, stage="layers and templates",
    read=read,
)  # fmt: skip
