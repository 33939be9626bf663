"""Results that were read back from JSON, and that may be altered beyond what the types of their fields show.

A label that no table has, lists of different lengths, settings without a key: reading or showing such a result is one
sentence that names the class and, as far as it can be seen, the path of the key. A computed result raises what it
raises, since that is a defect of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from functools import wraps
from itertools import islice
from traceback import walk_tb
from typing import Any

from biasgauge.errors import InputError, cut_middle
from biasgauge.results.summary import Chart, Summary

SHOWING = (
    *("summary", "to_dict", "to_frame", "figures", "frames_beside", "pages_beside", "page"),
    *("_repr_html_", "_repr_mimebundle_", "__repr__"),
)
"""Methods of results that show them."""
_DAMAGE = (ArithmeticError, AttributeError, LookupError, RuntimeError, StopIteration, TypeError, ValueError)
_MARK = "_read_back"
_LONGEST_PATH = 80
_SEARCHED = 20_000
"""Values of a result among which a key is looked for."""


@contextmanager
def explain_damage(name: str, content: object = None) -> Iterator[None]:
    """Turn what content raises that does not fit together into one sentence, with the path of the key.

    Raises:
        InputError: it does not fit together.
    """
    try:
        yield
    except InputError:
        raise
    except _DAMAGE as problem:
        reason = f"it has no {problem}" if isinstance(problem, KeyError) else f"{type(problem).__name__}: {problem}"
        path = damage_path(content, problem)
        at = f" at {cut_middle(path, _LONGEST_PATH)}" if path else ""
        raise InputError(
            f"The JSON of {name} does not fit together{at} ({reason}); it was altered, or is of another version. Make "
            "the result again."
        ) from problem


def damage_path(content: object, problem: BaseException) -> str:
    """Path of the part of `content` that the innermost function held; empty where none is seen.

    Of a key that is missing, or a label that no table has, the path is its own.
    """
    parts = list(islice(_parts(content), _SEARCHED))
    paths = {id(value): path for path, value in parts if not isinstance(value, str)}
    near, used = "", frozenset[str]()
    for frame, _ in reversed(list(walk_tb(problem.__traceback__))):
        held = [paths[id(value)] for value in frame.f_locals.values() if id(value) in paths]
        if held:
            near = max(held, key=lambda path: path.count(".") + path.count("["))
            used = frozenset(frame.f_code.co_names)  # attributes, of which one may hold the mapping
            break
    key = problem.args[0] if isinstance(problem, KeyError) and problem.args else None
    if not isinstance(key, str):
        return near
    inside = [
        (path, value) for path, value in parts if path.startswith((f"{near}.", f"{near}[")) or path == near or not near
    ]
    labels = [path for path, value in inside if value == key]
    if labels and (near or len(labels) == 1):
        return labels[0]
    lacking = [path for path, value in inside if isinstance(value, Mapping) and key not in value]
    if near not in lacking and len(lacking) > 1:
        lacking = [path for path in lacking if path.removeprefix(near).removeprefix(".") in used]
    if key.isidentifier() and (near in lacking or len(lacking) == 1):
        return f"{lacking[0]}.{key}".removeprefix(".")
    return near


def _parts(content: object) -> Iterator[tuple[str, object]]:
    """Yield the texts and whatever holds further values in a result or in its JSON, each with its path."""
    waiting: list[tuple[str, object]] = [("", content)]
    while waiting:
        path, value = waiting.pop()
        members: list[tuple[str, object]] = []
        if is_dataclass(value) and not isinstance(value, type):
            members = [(f"{path}.{field.name}", getattr(value, field.name, None)) for field in fields(value)]
        elif isinstance(value, Mapping):
            members = [(f"{path}.{name}", item) for name, item in value.items()]
        elif isinstance(value, list | tuple):
            members = [(f"{path}[{number}]", item) for number, item in enumerate(value)]
        elif not isinstance(value, str):
            continue
        if value != ():  # of which there is one, wherever it stands
            yield path, value
        waiting.extend((place.removeprefix("."), item) for place, item in reversed(members))


@contextmanager
def showing(result: object) -> Iterator[None]:
    """Explain what a result raises that was read back; a computed one raises what it raises."""
    if _MARK not in vars(result):
        yield
        return
    with explain_damage(type(result).__name__, result):
        yield


def explain_showing(show: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method that shows a result."""

    @wraps(show)
    def run(self: object, *arguments: Any, **settings: Any) -> Any:  # noqa: ANN401 - whatever the method gives
        if _MARK not in vars(self):
            return show(self, *arguments, **settings)
        name = type(self).__name__
        with explain_damage(name, self):
            shown = show(self, *arguments, **settings)
        return _explain_charts(shown, self) if isinstance(shown, Summary) else shown

    return run


def _explain_charts(summary: Summary, result: object) -> Summary:
    """Wrap the charts of a summary and of its parts, which are drawn when a renderer asks for them."""
    name = type(result).__name__

    def explained(draw: Callable[[], Any]) -> Callable[[], Any]:
        @wraps(draw, assigned=())
        def run() -> Any:  # noqa: ANN401 - a chart, or its tables
            with explain_damage(name, result):
                return draw()

        return run

    def wrapped(chart: Chart) -> Chart:
        numbers = None if chart.numbers is None else explained(chart.numbers)
        return replace(chart, draw=explained(chart.draw), numbers=numbers)

    parts = tuple(_explain_charts(part, result) for part in summary.parts)
    return replace(summary, charts=tuple(map(wrapped, summary.charts)), parts=parts)


def explain_reading(read: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the function of a class method that makes a result from JSON; the result remembers that it was read."""

    @wraps(read)
    def run(kind: type[Any], content: Any) -> Any:  # noqa: ANN401 - JSON to a result
        with explain_damage(kind.__name__, content):
            result = read(kind, content)
        vars(result)[_MARK] = True
        return result

    return run


def wrap_methods(kind: type[Any]) -> None:
    """Wrap the methods of a class of results that it defines itself."""
    for name in SHOWING:
        if name in vars(kind):
            setattr(kind, name, explain_showing(vars(kind)[name]))
    if "from_dict" in vars(kind):
        kind.from_dict = classmethod(explain_reading(vars(kind)["from_dict"].__func__))
