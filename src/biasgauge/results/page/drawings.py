"""Forest plots, strips, histograms and bars as shapes of a page: where everything stands, for the templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasgauge.results.page.axis import Axis
from biasgauge.results.wording import interval_text, signed_text

if TYPE_CHECKING:
    from biasgauge.results.blocks import Bar, Bars, Dot, Drawing, Forest, ForestRow, Histogram, Strip

DOT = 1.7
"""Percent of the width that a dot takes in a strip of usual width."""
STEP = 10
"""Pixels from one dot to the one above it, and from one line of labels to the next."""
LETTER = 2.0
"""Percent of the width that a letter takes in a strip on a phone."""
MOST_LABELS = 6
TALLEST = 64


@dataclass(frozen=True)
class RowView:
    """A line of a forest plot: where its point and the ends of its interval stand, and its numbers as text."""

    row: ForestRow
    anchor: str
    point: float | None = None
    low: float | None = None
    high: float | None = None
    number: str = ""
    interval: str = ""


@dataclass(frozen=True)
class ForestView:
    """A forest plot: its lines by group, its axis, and the band of what is too small to matter."""

    forest: Forest
    axis: Axis
    zero: float
    band: tuple[float, float] | None
    groups: Mapping[str, tuple[RowView, ...]]

    @property
    def drawn(self) -> bool:
        """Return whether any line has a number."""
        return any(row.point is not None for rows in self.groups.values() for row in rows)


def forest_view(forest: Forest, anchor: str) -> ForestView:
    """Lay out a forest plot; `anchor` is the name of its section in the page."""
    drawn = [row.estimate for row in forest.rows if row.estimate is not None and row.drawn]
    band = forest.band
    ends = [end for estimate in drawn for end in (estimate.value, estimate.low, estimate.high)]
    axis = Axis.over([*ends, *(() if band is None else (-band, band))])
    return ForestView(
        forest,
        axis,
        axis.at(0),
        None if band is None else (axis.at(-band), round(axis.at(band) - axis.at(-band), 2)),
        {name: tuple(_row(row, axis, anchor, forest.digits) for row in rows) for name, rows in forest.groups.items()},
    )


def _row(row: ForestRow, axis: Axis, anchor: str, digits: int) -> RowView:
    link = f"{anchor}-{row.part}" if row.part else ""
    estimate: Any = row.estimate
    if estimate is None or estimate.value is None:
        return RowView(row, link)
    point, low, high = (
        None if end is None or not row.drawn else axis.at(end) for end in (estimate.value, estimate.low, estimate.high)
    )
    interval = interval_text(estimate.low, estimate.high, digits, signed=True)
    return RowView(row, link, point, low, high, signed_text(estimate.value, digits), interval)


@dataclass(frozen=True)
class Label:
    """A label under a strip, as far down as it must be to stand clear of the others."""

    text: str
    x: float
    y: int
    anchor: str


@dataclass(frozen=True)
class StripView:
    """A strip: each dot with its place, the labels of those apart, and how high all of it is."""

    drawing: Strip
    axis: Axis
    dots: tuple[tuple[Dot, float, int], ...]
    labels: tuple[Label, ...]
    base: int
    height: int


def _strip(strip: Strip) -> StripView:
    axis = Axis.over([*(dot.value for dot in strip.dots), strip.at])
    stacked: list[tuple[Dot, float, int]] = []
    for dot in sorted(strip.dots, key=lambda dot: dot.value):
        x = axis.at(dot.value)
        near = {level for _, position, level in stacked if abs(position - x) < DOT}
        stacked.append((dot, x, next(level for level in range(len(near) + 1) if level not in near)))
    base = 8 + STEP * (1 + max((level for *_, level in stacked), default=0))
    labels: list[Label] = []
    for dot, x, _ in [placed_dot for placed_dot in stacked if placed_dot[0].apart][:MOST_LABELS]:
        labels.append(_label(dot.label, x, labels))
    bottom = max((label.y for label in labels), default=0)
    placed = tuple((dot, x, base - STEP * level) for dot, x, level in stacked)
    below = tuple(Label(label.text, label.x, base + 8 + label.y, label.anchor) for label in labels)
    return StripView(strip, axis, placed, below, base, base + 12 + bottom)


def _label(text: str, x: float, placed: list[Label]) -> Label:
    """A label on the first line on which it touches no other."""
    width = LETTER * (len(text) + 1)
    anchor = "start" if x < width / 2 else "end" if x > 100 - width / 2 else "middle"
    left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]

    def touches(label: Label) -> bool:
        wide = LETTER * (len(label.text) + 1)
        start = {"start": label.x, "middle": label.x - wide / 2, "end": label.x - wide}[label.anchor]
        return left < start + wide and start < left + width

    line = 13
    while any(label.y == line and touches(label) for label in placed):
        line += 13
    return Label(text, x, line, anchor)


@dataclass(frozen=True)
class HistogramView:
    """A histogram: left end, width and height of each bar, and where the marked value stands."""

    drawing: Histogram
    axis: Axis
    bars: tuple[tuple[float, float, float], ...]
    at: float
    label: Label
    base: int = 20 + TALLEST
    height: int = 22 + TALLEST


def _histogram(histogram: Histogram) -> HistogramView:
    axis = Axis.over([*histogram.edges, histogram.at])
    most = max(histogram.counts, default=0) or 1
    bars = tuple(
        (axis.at(low), round(axis.at(high) - axis.at(low), 2), round(TALLEST * count / most, 1))
        for low, high, count in zip(histogram.edges[:-1], histogram.edges[1:], histogram.counts, strict=True)
        if count
    )
    text = f"measured {signed_text(histogram.at, 3)}"
    at = axis.at(histogram.at)
    anchor = "end" if at > 80 else "start" if at < 20 else "middle"
    return HistogramView(histogram, axis, bars, at, Label(text, at, 12, anchor))


@dataclass(frozen=True)
class BarView:
    """One bar: from where to how far, and the number beside it."""

    bar: Bar
    left: float
    width: float
    text: str


@dataclass(frozen=True)
class BarsView:
    """Bars by group; `for_it` is the sign of the whole, against which bars of the other sign stand out."""

    drawing: Bars
    axis: Axis
    groups: Mapping[str, tuple[BarView, ...]]
    sizes: Mapping[str, int]
    for_it: float


def _bars(bars: Bars) -> BarsView:
    names = dict.fromkeys(bar.group for bar in bars.bars)
    members = {name: [bar for bar in bars.bars if bar.group == name] for name in names}
    shown = {name: group[: bars.most] for name, group in members.items()}
    axis = Axis.over([bar.value for group in shown.values() for bar in group], margin=0.02)
    total = sum(bar.value for bar in bars.bars)
    return BarsView(
        bars,
        axis,
        {name: tuple(_bar(bar, axis) for bar in group) for name, group in shown.items()},
        {name: len(group) for name, group in members.items()},
        -1.0 if total < 0 else 1.0,
    )


def _bar(bar: Bar, axis: Axis) -> BarView:
    ends = sorted((axis.at(0), axis.at(bar.value)))
    return BarView(bar, ends[0], round(ends[1] - ends[0], 2), signed_text(bar.value, 3))


_VIEWS: dict[str, Callable[[Any], StripView | HistogramView | BarsView]] = {
    "strip": _strip,
    "histogram": _histogram,
    "bars": _bars,
}


def drawing_view(drawing: Drawing) -> StripView | HistogramView | BarsView:
    """Lay out a drawing."""
    return _VIEWS[drawing.kind](drawing)
