"""Gaps and performance of one version, seed by seed, from a `TaskResult` or from the JSON of a run elsewhere."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from biasgauge.applications.coref.paired import PERCENT
from biasgauge.applications.coref.scores import CONLL
from biasgauge.applications.coref.winobias_pairs import VERSIONS
from biasgauge.applications.tasks.result import TaskResult, read_task
from biasgauge.errors import InputError, ParameterError

_NO_VALUE = "undefined with this seed"


class SeedGap(NamedTuple):
    """One gap with one seed."""

    metric: str
    of: str | None
    a: str
    b: str
    gap: float | None
    gap_reason: str | None
    seed: int


class SeedMetric(NamedTuple):
    """One metric with one seed."""

    metric: str
    of: str | None
    group: str | None
    value: float | None
    seed: int


class Outcome(NamedTuple):
    """What a task gave with one version."""

    task: str
    gaps: tuple[SeedGap, ...]
    metrics: tuple[SeedMetric, ...]
    warnings: tuple[str, ...]


def outcome_of(result: object) -> Outcome:
    """Read a `TaskResult`, a file of its JSON, or results of scripts/train_coref.py as a file or already parsed.

    Raises:
        InputError: a file is neither.
        ParameterError: it is something else, or has no gaps.
    """
    if isinstance(result, (str, os.PathLike)):
        content = _content(Path(result))
        result = content if "winobias" in content else read_task(result)
    if isinstance(result, TaskResult):
        found = _from_task(result)
    elif isinstance(result, Mapping):
        found = _from_coref(result)
    else:
        raise ParameterError(
            f"An extrinsic result must be a TaskResult, or a file of its JSON. Got {type(result).__name__}."
        )
    if not found.gaps:
        why = getattr(result, "no_gaps", None) or "none were computed"
        raise ParameterError(f"The task {found.task} has no gaps between groups, which points need: {why}.")
    return found


def _content(path: Path) -> Mapping[str, Any]:
    """What a file says, if that is JSON; `read_task` tells what is wrong with others."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _from_task(result: TaskResult) -> Outcome:
    seeds = [one.seed for one in result.seeds]
    counts = [(one.metric, len(one.values)) for one in result.gaps]
    counts += [(one.metric, len(one.values)) for one in result.metrics]
    for metric, count in counts:
        if count != len(seeds):
            raise InputError(
                f"The result of {result.task} on {result.vectors} has {count} values of {metric!r} for {len(seeds)} "
                "seeds; expected one a seed"
            )
    gaps = tuple(
        SeedGap(one.metric, one.of, one.a, one.b, value, _reason(value, one.reason), seed)
        for one in result.gaps
        for value, seed in zip(one.values, seeds, strict=True)
    )
    metrics = tuple(
        SeedMetric(one.metric, one.of, one.group, value, seed)
        for one in result.metrics
        for value, seed in zip(one.values, seeds, strict=True)
    )
    return Outcome(result.task, gaps, metrics, result.warnings)


def _from_coref(result: Mapping[str, Any]) -> Outcome:
    """Gaps of WinoBias, as fractions and under the names that the task `coref` gives them."""
    try:
        seed = int(result["seed"])
        scores, rows = result["test"]["scores"], result["winobias"]["gaps"]
        metrics = [SeedMetric(one["rate"], CONLL, None, one["value"], seed) for one in scores if one["metric"] == CONLL]
        gaps = []
        for one in rows:
            of, metric, gap = f"winobias {one['of']}", one["metric"], _fraction(one["gap"])
            gaps.append(SeedGap(metric, of, *VERSIONS, gap, _reason(gap, one["reason"]), seed))
            sides = zip(VERSIONS, ("first", "second"), strict=True)
            metrics += [SeedMetric(metric, of, version, _fraction(one[side]), seed) for version, side in sides]
    except (KeyError, TypeError, ValueError) as problem:
        raise InputError(
            f"A result of coreference is not what scripts/train_coref.py --winobias writes: {problem!r}"
        ) from problem
    return Outcome("coref", tuple(gaps), tuple(metrics), tuple(result["winobias"].get("warnings", ())))


def _fraction(percent: float | None) -> float | None:
    return None if percent is None else percent / PERCENT


def _reason(value: float | None, reason: str | None) -> str | None:
    return None if value is not None else reason or _NO_VALUE
