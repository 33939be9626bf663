"""Bias in applications: whether intrinsic numbers track it, and gaps of downstream tasks."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from biasgauge.audits.part import ShippedPart
from biasgauge.audits.verdicts import Verdict
from biasgauge.core import JsonMapping, JsonObject, check_object, to_plain
from biasgauge.results import (
    Listing,
    Result,
    Stored,
    Summary,
)

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext

HOW_TO_GET = (
    "no points were given: measure several embeddings (biasgauge weat), train a task on each (biasgauge extrinsic), "
    "put one row for each into a table, and name it (biasgauge audit --points POINTS.csv)"
)
POINTS = "points"
TRACKING = "correlation"
"""Test of the verdict on whether intrinsic numbers track the application."""
ABOUT_POINTS = (
    "Each point is an embedding: across, an intrinsic number; upwards, a gap between groups of people in an "
    "application that was trained on it. Intrinsic numbers need not say anything about an application "
    "(Goldfarb-Tarrant et al. 2021)."
)
UNKNOWN = (
    "An association in vectors need not show in an application that uses them, and an application can be unfair "
    "without one (Goldfarb-Tarrant et al. 2021). This audit says nothing about either."
)
COMMANDS = """\
# an intrinsic number for each of several embeddings
biasgauge weat a.bin --test weat7 --json
# a task trained on each, and gaps between groups of people
biasgauge extrinsic TASK --vectors a.bin --data DATA --json > a.json
# points.csv: one row per embedding, columns weat and gap
biasgauge correlate points.csv --x weat --y gap
biasgauge audit a.bin --points points.csv --tasks a.json"""
LIMITS = (
    "What this does not say: a correlation over these embeddings is none over others, over another task or another "
    "measure of harm; it does not say that changing the one number changes the other; and no correlation seen is not "
    "none there."
)


@dataclass(frozen=True, eq=False, repr=False)
class Extrinsic(Result):
    """Correlation of an intrinsic number with an extrinsic one, and results of downstream tasks.

    Attributes:
        correlation: of the points that were given; None without points.
        tasks: results of downstream tasks that were given.
    """

    correlation: Any = None
    tasks: tuple[Any, ...] = ()

    @property
    def source(self) -> str:
        """Source of the points."""
        return str(self.correlation.settings.get("points", POINTS))

    def to_dict(self) -> JsonObject:
        """The correlation, or how to get points; the tasks beside it."""
        correlation = {"groups": [], "reason": HOW_TO_GET} if self.correlation is None else self.correlation.to_dict()
        return {**correlation, "tasks": to_plain(self.tasks)}

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """The result of which `to_dict` made `content`."""
        check_object(cls, content)
        stored = {name: value for name, value in content.items() if name != "tasks"}
        correlation = None if stored.get("reason") == HOW_TO_GET else Stored.from_dict(stored)
        return cls(correlation, tuple(map(Stored.from_dict, content["tasks"])))

    def summary(self) -> Summary:
        """The section of the page."""
        return summarize(self)


def measure(context: AuditContext) -> Extrinsic:
    """Correlate the points that were given, and read the tasks."""
    points, tasks = context.options.get("points"), context.options.get("tasks", ())
    correlation = None
    if points is not None:
        from biasgauge.audits.tracking import track

        correlation = track(points, random_state=context.random_state)
    if not tasks:
        return Extrinsic(correlation)
    from biasgauge.applications import TaskResult, as_task

    sources = (tasks,) if isinstance(tasks, (str, os.PathLike, TaskResult)) else tasks
    return Extrinsic(correlation, tuple(map(as_task, sources)))


def summarize(result: Extrinsic) -> Summary:
    """Points and correlations, then the gaps of each task; or how to get points."""
    tasks = [task.summary() for task in result.tasks]
    names: list[str] = []
    for task in tasks:
        same = names.count(task.title)
        names.append(f"{task.title} ({same + 1})" if same else task.title)
    charts = [
        replace(chart, group=name if len(tasks) > 1 else "")
        for name, task in zip(names, tasks, strict=True)
        for chart in task.charts
    ]
    parts = tuple(replace(task, charts=(), title=name) for name, task in zip(names, tasks, strict=True))
    introduction = (
        "What applications that were trained on vectors do: how differently groups of people fare. " if tasks else ""
    )
    if result.correlation is None:
        return Summary(
            "Bias in applications",
            "Unknown: no application was measured.",
            (UNKNOWN,),
            about=introduction,
            charts=tuple(charts),
            parts=parts,
            listings=(Listing("Commands that measure an application", COMMANDS),),
        )
    points_section: Summary = result.correlation.summary()
    return replace(
        points_section,
        about=ABOUT_POINTS,
        sentences=(*points_section.sentences, LIMITS),
        charts=(*points_section.charts, *charts),
        parts=(*points_section.parts, *parts),
    )


def summarize_if_given(result: Extrinsic) -> Summary | None:
    """Summarize for the page; None where neither points nor tasks were given."""
    return summarize(result) if result.correlation is not None or result.tasks else None


def verdicts(result: Extrinsic, context: AuditContext) -> tuple[Verdict, ...]:
    """Judge whether the intrinsic number tracks the extrinsic one, where points were given."""
    if result.correlation is None:
        return ()
    from biasgauge.audits.tracking import answer_points

    return (answer_points(result.correlation, context.rules),)


PART = ShippedPart(
    "extrinsic", "Bias in applications", measure, summarize_if_given, order=80, stage="applications",
    read=Extrinsic.from_dict, verdicts=verdicts,
)  # fmt: skip
