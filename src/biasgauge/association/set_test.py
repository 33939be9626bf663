"""What an association test declares about itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from biasgauge.association.result import AssociationResult
    from biasgauge.stats.bootstrap import Resampled

Swap = Literal["negates", "unchanged", "changes"]


@dataclass(frozen=True)
class SetTest:
    """An association test: its function, the sets it needs and the properties it promises.

    The property suite holds every declaration against the function, also that a "changes" does change something.

    Attributes:
        name: under which it is found.
        function: called with the sets as keyword arguments; further keywords are the test's settings.
        resampled: called with one mapping of the sets, and the settings that change the value: the same number as a
            function of how often each word is drawn.
        sets: which of x, y (targets) and a, b (attributes) it needs.
        rotation_invariant: turning all vectors together leaves the value as it is.
        scale_invariant: multiplying all vectors by one positive number leaves it as it is.
        length_invariant: multiplying every word's vector by its own positive number leaves it as it is.
        swap_xy: what exchanging the target sets does; None when the test has only one.
        swap_ab: what exchanging the attribute sets does; None when the test has only one.
        range: smallest and largest value; None where there is no bound that holds for all sets.
        zero: what a value of 0 means.
        source: paper and place of the formula.
        paired: x[i] and y[i] belong together, so that losing one word loses the pair.
    """

    name: str
    function: Callable[..., AssociationResult]
    resampled: Callable[..., Resampled]
    sets: tuple[str, ...]
    rotation_invariant: bool
    scale_invariant: bool
    length_invariant: bool
    swap_xy: Swap | None
    swap_ab: Swap | None
    range: tuple[float | None, float | None]
    zero: str
    source: str
    paired: bool = False
