"""Which lines go: how many of each class, and which ones.

A line is known by the sets it has a word of: X and Y are the targets, A and B the attributes of a test.

    pro 1   X and A            anti 1  Y and A            mixed    words of three or four sets
    pro 2   Y and B            anti 2  X and B            neutral  anything else

A line of two sets is of one class, so the classes share no line.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from biasgauge.errors import ParameterError

Direction = Literal["debias", "overbias"]
Degree = float | Literal["max"]
Keep = Literal["random", "earliest"]

X, Y, A, B = 1, 2, 4, 8
CLASSES = {"pro 1": X | A, "pro 2": Y | B, "anti 1": Y | A, "anti 2": X | B}
"""The sets that a line of each class has, and no other."""
MIXED = tuple(sets for sets in range(16) if sets.bit_count() > 2)
REMOVED_FROM = {"debias": ("pro 1", "pro 2"), "overbias": ("anti 1", "anti 2")}
OPPOSITE = {"pro 1": "anti 1", "pro 2": "anti 2"}


@dataclass(frozen=True)
class Plan:
    """What is to be removed.

    Attributes:
        gone: for each line that could go, whether it does.
        asked: how many lines the degree asks to remove; more than go where the limit stands against it.
        limit: how many lines may be removed; None without a limit.
    """

    gone: NDArray[np.bool_]
    asked: int
    limit: int | None


def holding(name: str) -> NDArray[np.bool_]:
    """For each sum of sets whether a line with it holds both sets of a class, mixed lines included."""
    both = CLASSES[name]
    return np.array([sets & both == both for sets in range(16)])


def removable(direction: Direction) -> NDArray[np.bool_]:
    """For each sum of sets whether a line with it could go in this direction, under any rule."""
    first, second = REMOVED_FROM[direction]
    return holding(first) | holding(second)


def plan(
    counts: NDArray[np.int64],
    sets: NDArray[np.uint8],
    *,
    direction: Direction,
    degree: Degree,
    keep: Keep,
    max_removed: float,
    random_state: int,
) -> Plan:
    """Choose lines of the classes that stand against the direction; mixed lines stay.

    Args:
        counts: lines of the corpus, by their sum of sets.
        sets: those of the lines that could go, in the order of the corpus.
        direction: "debias" removes pro lines, "overbias" anti lines.
        degree: for "debias" the share of the surplus of pro 1 over anti 1, and of pro 2 over anti 2; for "overbias"
            the share of all anti lines; "max" is all lines of both classes. Parts of a line are not removed.
        keep: which lines of a class stay: a random sample or the earliest. A smaller degree removes some of those
            lines that a larger one removes with the same seed.
        max_removed: the largest share of all lines that may go; where the degree asks for more, both classes give way
            in proportion.
        random_state: seed.
    """
    names = REMOVED_FROM[direction]
    asked = [_asked(counts, name, degree) for name in names]
    limit = _share(max_removed, int(counts.sum()))
    allowed = _within(asked, limit)
    gone = np.zeros(len(sets), np.bool_)
    for place, (name, number) in enumerate(zip(names, allowed, strict=True)):
        members = np.flatnonzero(sets == CLASSES[name])
        if keep == "random":
            members = np.random.default_rng([random_state, place]).permutation(members)
        else:
            members = members[::-1]
        gone[members[:number]] = True
    return Plan(gone, sum(asked), limit)


def published_plan(counts: NDArray[np.int64], sets: NDArray[np.uint8], *, direction: Direction, degree: Degree) -> Plan:
    """The rule of the released code of Goldfarb-Tarrant et al. 2021.

    Debias: the earliest lines with X and A stay, as many as there are lines with Y and A; of the others, the earliest
    lines with Y and B stay, as many as there are lines with X and B. A line of all kinds counts for each. Degree "max"
    drops them all. Overbias drops every line with Y and A or with X and B. There is no limit.
    """
    if direction == "overbias":
        gone = removable("overbias")[sets]
        return Plan(gone, int(gone.sum()), None)
    gone = np.zeros(len(sets), np.bool_)
    first = holding("pro 1")[sets]
    for name, members in (("pro 1", first), ("pro 2", holding("pro 2")[sets] & ~first)):
        stay = 0 if degree == "max" else int(counts[holding(OPPOSITE[name])].sum())
        gone[np.flatnonzero(members)[stay:]] = True
    return Plan(gone, int(gone.sum()), None)


def check_degree(degree: object, *, as_published: bool) -> None:
    """Refuse what is no degree."""
    if degree == "max" or (_is_share(degree) and not as_published):
        return
    if as_published and degree == 1 and _is_share(degree):
        return
    wanted = '1 or "max": the released code knows no others' if as_published else 'from 0 to 1, or "max"'
    raise ParameterError(f"The 'degree' parameter of balance must be {wanted}. Got {degree!r}.")


def check_share(max_removed: object) -> None:
    """Refuse what is no share of lines."""
    if not _is_share(max_removed):
        raise ParameterError(f"The 'max_removed' parameter of balance must be from 0 to 1. Got {max_removed!r}.")


def _is_share(number: object) -> bool:
    return isinstance(number, (int, float)) and not isinstance(number, bool) and 0 <= number <= 1


def _asked(counts: NDArray[np.int64], name: str, degree: Degree) -> int:
    here = int(counts[CLASSES[name]])
    if degree == "max":
        return here
    return _share(degree, max(here - int(counts[CLASSES[OPPOSITE[name]]]), 0) if name in OPPOSITE else here)


def _share(share: float, number: int) -> int:
    """That share of a number, as it is written in decimals, rounded down: .29 of 100 is 29."""
    return int(Fraction(str(share)) * number)


def _within(asked: list[int], limit: int) -> list[int]:
    total = sum(asked)
    if total <= limit:
        return asked
    second = asked[1] * limit // total
    return [limit - second, second]
