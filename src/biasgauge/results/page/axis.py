"""An axis in percent of whatever width there is: drawings that reflow on a phone and print as they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, log10

from biasgauge.results.wording import signed_text

MOST_TICKS = 5


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`; positions are percent from the left."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float | None], margin: float = 0.06) -> Axis:
        """An axis that shows 0 and all these values, with a margin at its ends."""
        defined = [0.0, *(value for value in values if value is not None)]
        low, high = min(defined), max(defined)
        padding = margin * ((high - low) or 1.0)
        return cls(low - padding, high + padding)

    def at(self, value: float) -> float:
        """Position of a value in percent."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Positions and labels of round numbers; 0 is one of them."""
        step = _round_up((self.high - self.low) / MOST_TICKS)
        digits = max(0, -floor(log10(step)))
        multiples = range(ceil(self.low / step), floor(self.high / step) + 1)
        return tuple((self.at(multiple * step), signed_text(multiple * step, digits)) for multiple in multiples)


def _round_up(step: float) -> float:
    """The next of 1, 2, 5, 10, … times a power of ten."""
    power = 10.0 ** floor(log10(step))
    return next(size * power for size in (1, 2, 5, 10) if size * power >= step * 0.999)
