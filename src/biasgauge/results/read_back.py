"""Results that were read back from JSON, and that may be altered beyond what the types of their fields show.

A label that no table has, lists of different lengths, settings without a key: reading or showing such a result is one
sentence that names the class and the key. A computed result raises what it raises, since that is a defect of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import Any

from biasgauge.errors import InputError
from biasgauge.results.summary import Chart, Summary

SHOWING = (
    *("summary", "to_dict", "to_frame", "figures", "frames_beside", "pages_beside", "page"),
    *("_repr_html_", "_repr_mimebundle_", "__repr__"),
)
"""Methods of results that show them."""
_DAMAGE = (ArithmeticError, AttributeError, LookupError, RuntimeError, StopIteration, TypeError, ValueError)
_MARK = "_read_back"


@contextmanager
def explain_damage(name: str) -> Iterator[None]:
    """Turn what content raises that does not fit together into one sentence.

    Raises:
        InputError: it does not fit together.
    """
    try:
        yield
    except InputError:
        raise
    except _DAMAGE as problem:
        reason = f"it has no {problem}" if isinstance(problem, KeyError) else f"{type(problem).__name__}: {problem}"
        raise InputError(
            f"The JSON of {name} does not fit together ({reason}); it was altered, or is of another version. Make the "
            "result again."
        ) from problem


@contextmanager
def showing(result: object) -> Iterator[None]:
    """Explain what a result raises that was read back; a computed one raises what it raises."""
    if _MARK not in vars(result):
        yield
        return
    with explain_damage(type(result).__name__):
        yield


def explain_showing(show: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method that shows a result."""

    @wraps(show)
    def run(self: object, *arguments: Any, **settings: Any) -> Any:  # noqa: ANN401 - whatever the method gives
        if _MARK not in vars(self):
            return show(self, *arguments, **settings)
        name = type(self).__name__
        with explain_damage(name):
            shown = show(self, *arguments, **settings)
        return _explain_charts(shown, name) if isinstance(shown, Summary) else shown

    return run


def _explain_charts(summary: Summary, name: str) -> Summary:
    """Wrap the charts of a summary and of its parts, which are drawn when a renderer asks for them."""

    def explained(draw: Callable[[], Any]) -> Callable[[], Any]:
        @wraps(draw, assigned=())
        def run() -> Any:  # noqa: ANN401 - a chart, or its tables
            with explain_damage(name):
                return draw()

        return run

    def wrapped(chart: Chart) -> Chart:
        numbers = None if chart.numbers is None else explained(chart.numbers)
        return replace(chart, draw=explained(chart.draw), numbers=numbers)

    parts = tuple(_explain_charts(part, name) for part in summary.parts)
    return replace(summary, charts=tuple(map(wrapped, summary.charts)), parts=parts)


def explain_reading(read: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the function of a class method that makes a result from JSON; the result remembers that it was read."""

    @wraps(read)
    def run(kind: type[Any], content: Any) -> Any:  # noqa: ANN401 - JSON to a result
        with explain_damage(kind.__name__):
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
