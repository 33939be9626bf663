"""A result of `extrinsic` from its JSON, as `biasgauge extrinsic --json` prints it."""

from __future__ import annotations

import json
import os
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar

from biasgauge.errors import InputError, ParameterError
from biasgauge.extrinsic.gaps_result import Gap
from biasgauge.extrinsic.tasks_result import SeedRun, TaskGap, TaskMetric, TaskResult
from biasgauge.scores import Interval

Made = TypeVar("Made")


def as_task(given: object) -> TaskResult:
    """A result as it is, or read from a file.

    Raises:
        InputError: the file cannot be read or holds something else.
        ParameterError: it is neither.
    """
    if isinstance(given, TaskResult):
        return given
    if isinstance(given, (str, os.PathLike)):
        return read_task(given)
    raise ParameterError(f"A task must be a result of extrinsic or a file of its JSON. Got {type(given).__name__}.")


def read_task(path: str | os.PathLike[str]) -> TaskResult:
    """Read what `biasgauge extrinsic … --json` printed; it has no items, so it cannot be compared by `compare_tasks`.

    Raises:
        InputError: the file cannot be read, is no JSON, or is no such result.
    """
    place = Path(path)
    try:
        content = json.loads(place.read_bytes())
    except OSError as problem:
        raise InputError(f"{place}: cannot be read: {problem.strerror or problem}") from problem
    except ValueError as problem:
        raise InputError(
            f"{place}: is no JSON ({problem}); expected what biasgauge extrinsic --json prints"
        ) from problem
    try:
        return _task(content)
    except (KeyError, TypeError, AttributeError, IndexError) as problem:
        told = f"{problem} is missing" if isinstance(problem, KeyError) else str(problem)
        raise InputError(
            f"{place}: is no result of a task ({told}); expected what biasgauge extrinsic --json prints"
        ) from problem


def _task(content: dict[str, Any]) -> TaskResult:
    return TaskResult(
        task=_text(content["task"]),
        about=_text(content["about"]),
        vectors=_text(content["vectors"]),
        metrics=tuple(_row(TaskMetric, one) for one in content["metrics"]),
        gaps=tuple(_row(TaskGap, one) for one in content["gaps"]),
        seeds=tuple(
            SeedRun(one["seed"], one["about"], tuple(_row(Gap, gap) for gap in one["gaps"]), bool(one["reused"]))
            for one in content["seeds"]
        ),
        counts=dict(content["counts"]),
        coverage=dict(content["coverage"]),
        settings=dict(content["settings"]),
        warnings=tuple(map(_text, content["warnings"])),
        no_gaps=content.get("no_gaps"),
    )


def _row(kind: type[Made], content: dict[str, Any]) -> Made:
    """One metric or gap: every number is a number or None, and intervals are intervals."""
    made: dict[str, Any] = {}
    for one in fields(kind):  # type: ignore[arg-type]  # a dataclass
        value = content[one.name] if one.default is MISSING else content.get(one.name, one.default)
        if one.name == "interval" or one.name.endswith("_interval"):
            value = None if value is None else Interval(**value)
        elif one.name == "values":
            value = tuple(map(_number, value))
        elif one.name in _NUMBERS:
            value = _number(value)
        made[one.name] = value
    return kind(**made)


_NUMBERS = frozenset({"value", "sd", "p_value", "p_holm", "n", "n_a", "n_b"})


def _number(value: object) -> float | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise TypeError(f"expected a number, found {str(value)[:40]!r}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected text, found {str(value)[:40]!r}")
    return value
