"""A result of `extrinsic` from its JSON, as `biasgauge extrinsic --json` prints it."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from biasgauge.errors import InputError, ParameterError
from biasgauge.extrinsic.gaps_result import Gap
from biasgauge.extrinsic.tasks_result import SeedRun, TaskGap, TaskMetric, TaskResult
from biasgauge.scores import Interval

if TYPE_CHECKING:
    from collections.abc import Callable

Made = TypeVar("Made")

_LARGEST = sys.float_info.max


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
        InputError: the file cannot be read, is no JSON, or is no such result; names the key.
    """
    place = Path(path)
    try:
        content = json.loads(place.read_bytes())
    except OSError as problem:
        raise InputError(f"{place}: cannot be read: {problem.strerror or problem}") from problem
    except (ValueError, RecursionError) as problem:
        raise InputError(
            f"{place}: is no JSON ({problem}); expected what biasgauge extrinsic --json prints"
        ) from problem
    try:
        found = _made(TaskResult, content, "")
        _level(found.settings)
    except _WrongError as problem:
        raise InputError(
            f"{place}: is no result of a task ({problem}); expected what biasgauge extrinsic --json prints"
        ) from None
    return found


class _WrongError(Exception):
    """Something is missing, or something else stands there."""


def _wrong(place: str, expected: str, found: object) -> _WrongError:
    at = f"{place!r}: " if place else ""
    return _WrongError(f"{at}expected {expected}, found {str(found)[:40]!r}")


def _level(settings: dict[str, Any]) -> None:
    """The one setting that pages need: the level of intervals."""
    if "level" not in settings:
        raise _WrongError("'settings.level' is missing")
    level = _number(settings["level"], "settings.level")
    if not 0 < level < 1:
        raise _wrong("settings.level", "a number between 0 and 1", level)


def _made(kind: type[Made], content: object, place: str) -> Made:
    """One part of a result, each of its fields read by its type; keys that it does not know are left out."""
    content = _mapping(content, place)
    made: dict[str, Any] = {}
    for one in fields(kind):  # type: ignore[arg-type]  # a dataclass
        at = f"{place}.{one.name}" if place else one.name
        if one.name == "items":  # never printed
            continue
        if one.name in content:
            made[one.name] = _READ[str(one.type)](content[one.name], at)
        elif one.default is MISSING:
            raise _WrongError(f"{at!r} is missing")
    return kind(**made)


def _mapping(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(place, "an object with keys", value)
    return value


def _settings(value: object, place: str) -> dict[str, Any]:
    """Anything under keys, but no NaN."""
    _finite(_mapping(value, place), place)
    return dict(_mapping(value, place))


def _finite(value: object, place: str) -> None:
    if isinstance(value, dict):
        for name, one in value.items():
            _finite(one, f"{place}.{name}")
    elif isinstance(value, list):
        for at, one in enumerate(value):
            _finite(one, f"{place}[{at}]")
    elif isinstance(value, float):
        _number(value, place)


def _number(value: object, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= _LARGEST:
        raise _wrong(place, "a number", value)
    return value


def _whole(value: object, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(place, "a whole number", value)
    return value


def _truth(value: object, place: str) -> bool:
    if not isinstance(value, bool):
        raise _wrong(place, "true or false", value)
    return value


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise _wrong(place, "text", value)
    return value


def _label(value: object, place: str) -> Any:  # noqa: ANN401 - a class or a group may be text or a number
    if isinstance(value, (dict, list)):
        raise _wrong(place, "text or a number", value)
    _finite(value, place)
    return value


def _maybe(read: Callable[[object, str], Any]) -> Callable[[object, str], Any]:
    """The same, or null."""
    return lambda value, place: None if value is None else read(value, place)


def _several(read: Callable[[object, str], Any]) -> Callable[[object, str], tuple[Any, ...]]:
    """A list of the same."""

    def every(value: object, place: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _wrong(place, "a list", value)
        return tuple(read(one, f"{place}[{at}]") for at, one in enumerate(value))

    return every


def _part(kind: type) -> Callable[[object, str], Any]:
    return lambda value, place: _made(kind, value, place)


def _counts(value: object, place: str) -> dict[str, int]:
    return {name: _whole(one, f"{place}.{name}") for name, one in _mapping(value, place).items()}


_READ: dict[str, Callable[[object, str], Any]] = {
    "str": _text,
    "str | None": _maybe(_text),
    "int": _whole,
    "float": _number,
    "float | None": _maybe(_number),
    "bool": _truth,
    "Label": _label,
    "dict[str, int]": _counts,
    "dict[str, Any]": _settings,
    "Interval | None": _maybe(_part(Interval)),
    "tuple[str, ...]": _several(_text),
    "tuple[float | None, ...]": _several(_maybe(_number)),
    "tuple[TaskMetric, ...]": _several(_part(TaskMetric)),
    "tuple[TaskGap, ...]": _several(_part(TaskGap)),
    "tuple[SeedRun, ...]": _several(_part(SeedRun)),
    "tuple[Gap, ...]": _several(_part(Gap)),
}
"""How to read a field, by its type as it is written in the class."""
