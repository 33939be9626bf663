"""Finds the measures: every module of this room that holds a `MEASURE`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from biasgauge.errors import ParameterError
from biasgauge.measures.measure import Measure


@cache
def _found() -> dict[str, Measure]:
    found = {}
    for module in sorted(info.name for info in iter_modules([str(Path(__file__).parent)])):
        one = getattr(import_module(f"{__package__}.{module}"), "MEASURE", None)
        if isinstance(one, Measure):
            found[one.name] = one
    return found


def measure_names() -> tuple[str, ...]:
    """Names of all measures, sorted."""
    return tuple(sorted(_found()))


def measure(name: str | Measure) -> Measure:
    """The measure of that name; a `Measure` is handed back as it is."""
    if isinstance(name, Measure):
        return name
    if name not in _found():
        raise ParameterError(f"A measure must be one of {', '.join(measure_names())}. Got {name!r}.")
    return _found()[name]
