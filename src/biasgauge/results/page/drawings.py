"""Layout of forest plots, strips, histograms and bars for the templates of a page.

Positions are percent of whatever width there is, so that drawings reflow on a phone and print as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

from biasgauge.results.wording import signed_text

if TYPE_CHECKING:
    from biasgauge.results.forest import Forest
    from biasgauge.results.summary import Bars, Dot, Drawing, Histogram, Strip

MOST_STEPS = 5.5
"""Steps between ticks: as many as have room for labels of two decimals in the forest plot of a small laptop."""
DOT = 1.7
"""Percent of the width that a dot takes in a strip of usual width."""
STEP = 10
"""Pixels from one dot to the one above it."""
LINE = 13
"""Pixels from one line of labels to the next."""
LETTER = 2.0
"""Percent of the width that a letter takes in a strip on a phone."""
MOST_LABELS = 6
TALLEST = 64


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`; positions are percent from the left."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float | None], margin: float = 0.06) -> Axis:
        """Return an axis that shows 0 and all these values, with a margin at its ends."""
        defined = [0.0, *(value for value in values if value is not None)]
        low, high = min(defined), max(defined)
        padding = margin * ((high - low) or 1.0)
        return cls(low - padding, high + padding)

    def at(self, value: float) -> float:
        """Position of a value in percent."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    def span(self, start: float, end: float) -> tuple[float, float]:
        """Left end and width in percent of what reaches from one value to another."""
        left, right = sorted((self.at(start), self.at(end)))
        return left, round(right - left, 2)

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Positions and labels of round numbers; 0 is one of them."""
        step = _round_up((self.high - self.low) / MOST_STEPS)
        digits = max(0, -floor(log10(step)))
        multiples = range(ceil(self.low / step), floor(self.high / step) + 1)
        return tuple((self.at(multiple * step), signed_text(multiple * step, digits)) for multiple in multiples)


def _round_up(step: float) -> float:
    """Return the next of 1, 2, 5, 10, … times a power of ten."""
    power = 10.0 ** floor(log10(step))
    return next(size * power for size in (1, 2, 5, 10) if size * power >= step * 0.999)


def forest_axis(forest: Forest) -> Axis:
    """Return the common axis of a forest plot, wide enough for its intervals and its band."""
    ends: list[float | None] = [] if forest.band is None else [-forest.band, forest.band]
    for row in forest.drawn:
        ends += [getattr(row.estimate, end) for end in ("value", "low", "high")]
    return Axis.over(ends)


@dataclass(frozen=True)
class Label:
    """Text at a position; `anchor`: the end of it that stands there."""

    text: str
    x: float
    y: int
    anchor: str

    @property
    def reach(self) -> tuple[float, float]:
        """Left and right end, in percent."""
        width = LETTER * (len(self.text) + 1)
        left = {"start": self.x, "middle": self.x - width / 2, "end": self.x - width}[self.anchor]
        return left, left + width


@dataclass(frozen=True)
class DrawingView:
    """A drawing on its axis.

    Attributes:
        drawing: the numbers.
        axis: positions across.
        marks: of a strip, each dot with its position; of a histogram, left end, width and height of each bar.
        labels: text in the drawing; of a strip, those of dots that stand apart.
        base: pixels from the top to the line on which marks stand.
        height: pixels.
    """

    drawing: Drawing
    axis: Axis
    marks: tuple[Any, ...] = ()
    labels: tuple[Label, ...] = ()
    base: int = 0
    height: int = 0


def drawing_view(drawing: Any) -> DrawingView:  # noqa: ANN401 - a subclass of Drawing, by its kind
    """Lay out a drawing."""
    layouts: dict[str, Callable[[Any], DrawingView]] = {"strip": _strip, "histogram": _histogram, "bars": _bars}
    return layouts[drawing.kind](drawing)


def _strip(strip: Strip) -> DrawingView:
    """Stack dots that would cover each other, and put the labels of those apart on as many lines as they need."""
    axis = Axis.over(dot.value for dot in strip.dots)
    stacked: list[tuple[Dot, float, int]] = []
    for dot in sorted(strip.dots, key=lambda dot: dot.value):
        x = axis.at(dot.value)
        near = {level for _, position, level in stacked if abs(position - x) < DOT}
        stacked.append((dot, x, next(level for level in range(len(near) + 1) if level not in near)))
    base = 8 + STEP * (1 + max((level for *_, level in stacked), default=0))
    labels: list[Label] = []
    for dot, x, _ in [mark for mark in stacked if mark[0].apart][:MOST_LABELS]:
        labels.append(_label(dot.label, x, labels))
    bottom = max((label.y for label in labels), default=0)
    marks = tuple((dot, x, base - STEP * level) for dot, x, level in stacked)
    below = tuple(replace(label, y=base + 8 + label.y) for label in labels)
    return DrawingView(strip, axis, marks, below, base, base + 12 + bottom)


def _label(text: str, x: float, labels: list[Label]) -> Label:
    """Return a label on the first line on which it touches no other."""
    half = LETTER * (len(text) + 1) / 2
    label = Label(text, x, LINE, "start" if x < half else "end" if x > 100 - half else "middle")
    left, right = label.reach
    while any(other.y == label.y and left < other.reach[1] and other.reach[0] < right for other in labels):
        label = replace(label, y=label.y + LINE)
    return label


def _histogram(histogram: Histogram) -> DrawingView:
    axis = Axis.over([*histogram.edges, histogram.at])
    most = max(histogram.counts, default=0) or 1
    bars = tuple(
        (*axis.span(low, high), round(TALLEST * count / most, 1))
        for low, high, count in zip(histogram.edges[:-1], histogram.edges[1:], histogram.counts, strict=True)
        if count
    )
    at = axis.at(histogram.at)
    anchor = "end" if at > 80 else "start" if at < 20 else "middle"
    label = Label(f"measured {signed_text(histogram.at, 3)}", at, 12, anchor)
    return DrawingView(histogram, axis, bars, (label,), 20 + TALLEST, 22 + TALLEST)


def _bars(bars: Bars) -> DrawingView:
    drawn = [bar.value for group in bars.groups.values() for bar in group[: bars.most]]
    return DrawingView(bars, Axis.over(drawn, margin=0.02))
