"""Checks of parameters: one sentence for each kind of mistake, the same in every function.

Each check takes parameters by their names and hands nothing back:

>>> check_whole(1, resamples=500, neighbors=10)
>>> check_choice(("mean", "any"), to="all")
Traceback (most recent call last):
biasgauge.errors.ParameterError: The 'to' parameter must be one of mean, any. Got 'all'.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isfinite
from numbers import Integral, Real

from biasgauge.errors import ParameterError


def check_whole(least: int, /, **parameters: object) -> None:
    """Each must be a whole number of at least so much.

    Raises:
        ParameterError: one is something else.
    """
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            raise ParameterError(f"The {name!r} parameter must be a whole number of at least {least}. Got {value!r}.")


def check_choice(allowed: Iterable[object], /, **parameters: object) -> None:
    """Each must be one of the values that are allowed.

    Raises:
        ParameterError: one is something else.
    """
    values = list(allowed)
    for name, value in parameters.items():
        if value not in values:
            raise ParameterError(f"The {name!r} parameter must be one of {', '.join(map(str, values))}. Got {value!r}.")


def check_number(low: float = -inf, high: float = inf, /, *, ends: bool = True, **parameters: object) -> None:
    """Each must be a finite number from `low` to `high`; with `ends=False`, strictly between them.

    Raises:
        ParameterError: one is something else.
    """
    for name, value in parameters.items():
        number = not isinstance(value, bool) and isinstance(value, Real) and isfinite(value)
        if not number or not (low <= value <= high if ends else low < value < high):  # type: ignore[operator]
            raise ParameterError(f"The {name!r} parameter must be {_range(low, high, ends=ends)}. Got {value!r}.")


def _range(low: float, high: float, *, ends: bool) -> str:
    if low == -inf and high == inf:
        return "a finite number"
    if high == inf:
        return f"a number {'of at least' if ends else 'above'} {low:g}"
    if low == -inf:
        return f"a number {'of at most' if ends else 'below'} {high:g}"
    return f"a number {'from' if ends else 'strictly between'} {low:g} {'to' if ends else 'and'} {high:g}"
