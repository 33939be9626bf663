"""Charts of numbers before and after a change: a slope each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from biasgauge.results.drawing import (
    ACCENT,
    SECOND,
    SOFT,
    AltairChart,
    altair,
    top_legend,
    zero_line,
)
from biasgauge.results.wording import signed_text

LEGEND = {False: "same sign", True: "sign flipped"}
_TYPE, _LABEL = 13, 20
"""Size of the type of labels, and pixels between two of them."""
_ROUNDS, _MARGIN = 6, 0.06
_LONGEST = 410
"""Pixels of a label."""
_LEFT, _RIGHT = -0.35, 4.0
"""The lines run from 0 to 1; right of them stand labels."""


@dataclass(frozen=True)
class Slope:
    """One number before and after.

    Attributes:
        what: what it is of.
        before: its value before.
        after: its value after.
        signed: whether 0 is no difference, so that a change of sign means something.
        note: further words for its label.
    """

    what: str
    before: float
    after: float
    signed: bool = True
    note: str = ""

    @property
    def flipped(self) -> bool:
        """Return whether its sign changed."""
        return self.signed and self.before * self.after < 0


def slope_chart(slopes: Sequence[Slope], axis: str, *, height: int | None = None, digits: int = 3) -> AltairChart:
    """Lines from before to after, each with its numbers and its name at the right end."""
    import pandas as pd

    alt = altair()
    tall = height or max(180, (_LABEL + 3) * len(slopes) + 40)
    names = [LEGEND[slope.flipped] for slope in slopes]
    ends = _label_positions(slopes, tall)
    rows = [
        {"what": slope.what, "side": side, "at": at, "value": value, "sign": name}
        for slope, name in zip(slopes, names, strict=True)
        for side, at, value in (("before", 0, slope.before), ("after", 1, slope.after))
    ]
    labels = [
        {
            "what": slope.what, "at": 1.08, "place": position, "sign": name,
            "label": f"{_from_to(slope, digits)}  {slope.what}{slope.note}",
        }
        for slope, name, position in zip(slopes, names, ends, strict=True)
    ]  # fmt: skip
    low, high = _extent(slopes)
    margin = _MARGIN * (max(high, *ends) - min(low, *ends))  # labels of the axes stand clear of those of the lines
    reach = [min(low, *ends) - margin, max(high, *ends) + margin]
    sides = alt.Axis(
        values=[0, 1], labelExpr="datum.value === 0 ? 'before' : 'after'", grid=False, domain=False, ticks=False
    )
    x = alt.X("at:Q", title=None, axis=sides, scale=alt.Scale(domain=[_LEFT, _RIGHT], nice=False))
    scale = alt.Scale(domain=reach, nice=False, zero=True)
    signs = [name for name in LEGEND.values() if name in names]
    hues = {LEGEND[False]: SECOND, LEGEND[True]: ACCENT}
    color = alt.Color(
        "sign:N",
        title=None,
        scale=alt.Scale(domain=signs, range=[hues[name] for name in signs]),
        legend=top_legend() if len(signs) > 1 else None,
    )
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=x, y=alt.Y("value:Q", title=axis, scale=scale), color=color, tooltip=["what", "side", "value", "sign"]
    )
    words = alt.Chart(pd.DataFrame(labels)).mark_text(align="left", baseline="middle", fontSize=_TYPE, limit=_LONGEST)
    return alt.layer(
        zero_line(horizontal=True).encode(x=alt.datum(_LEFT), x2=alt.datum(1.04)),
        base.mark_line(strokeWidth=2).encode(detail="what:N"),
        base.mark_point(filled=True, size=46, opacity=1),
        words.encode(x=x, y=alt.Y("place:Q", scale=scale), text="label:N", color=color),
    ).properties(height=tall)


def slope_panels(panels: Mapping[str, Sequence[Slope]], *, columns: int = 3) -> AltairChart:
    """Small slope charts side by side, each with a scale of its own and its name above."""
    alt = altair()
    titles = {name: alt.TitleParams(name, anchor="start", fontSize=12, color=SOFT) for name in panels}
    charts = [_panel(slopes).properties(title=titles[name], width=170) for name, slopes in panels.items()]
    return alt.concat(*charts, columns=columns, spacing={"row": 16, "column": 24})


def _panel(slopes: Sequence[Slope]) -> AltairChart:
    import pandas as pd

    alt = altair()
    rows = [
        {"what": slope.what, "side": side, "value": value, "sign": LEGEND[slope.flipped]}
        for slope in slopes
        for side, value in (("before", slope.before), ("after", slope.after))
    ]
    scale = alt.Scale(domain=list(LEGEND.values()), range=[SECOND, ACCENT])
    base = alt.Chart(pd.DataFrame(rows)).encode(
        x=alt.X(
            "side:N", title=None, sort=["before", "after"], axis=alt.Axis(labelAngle=0), scale=alt.Scale(padding=0.8)
        ),
        y=alt.Y("value:Q", title=None, scale=alt.Scale(zero=all(slope.signed for slope in slopes))),
        color=alt.Color("sign:N", title=None, scale=scale, legend=top_legend()),
        tooltip=["what", "side", "value", "sign"],
    )
    lines = [base.mark_line(strokeWidth=2).encode(detail="what:N"), base.mark_point(filled=True, size=40, opacity=1)]
    after = base.transform_filter(alt.datum.side == "after").mark_text(align="left", dx=7, fontSize=11)
    lines.append(after.encode(text="what:N", tooltip=alt.value(None)))
    zero = [zero_line(horizontal=True)] if all(slope.signed for slope in slopes) else []
    return alt.layer(*zero, *lines).properties(height=130)


def _extent(slopes: Sequence[Slope]) -> tuple[float, float]:
    numbers = [0.0, *(value for slope in slopes for value in (slope.before, slope.after))]
    return min(numbers), max(numbers)


def _label_positions(slopes: Sequence[Slope], height: int) -> list[float]:
    """Positions of labels: labels that are pushed apart may need a longer axis, on which they must be apart again."""
    extent = _extent(slopes)
    ends = [slope.after for slope in slopes]
    for _ in range(_ROUNDS):
        positions = _apart(ends, extent, height)
        extent = min(extent[0], *positions), max(extent[1], *positions)
    return positions


def _apart(values: Sequence[float], extent: tuple[float, float], height: int) -> list[float]:
    """Places of labels, as near to their values as they can stand without touching."""
    span = (extent[1] - extent[0]) or 1.0
    gap = _LABEL * span / max(height - 3 * _LABEL, _LABEL)
    order = sorted(range(len(values)), key=lambda at: values[at])
    blocks: list[list[float]] = []  # blocks of labels: middle and count
    for at in order:
        block = [values[at], 1.0]
        while blocks and block[0] - (block[1] - 1) / 2 * gap - gap < blocks[-1][0] + (blocks[-1][1] - 1) / 2 * gap:
            middle, count = blocks.pop()
            block = [(middle * count + block[0] * block[1]) / (count + block[1]), count + block[1]]
        blocks.append(block)
    spread = [middle + (at - (count - 1) / 2) * gap for middle, count in blocks for at in range(int(count))]
    positions = [0.0] * len(values)
    for at, position in zip(order, spread, strict=True):
        positions[at] = position
    return positions


def _from_to(slope: Slope, digits: int) -> str:
    return f"{signed_text(slope.before, digits)} → {signed_text(slope.after, digits)}"
