"""Values as a page shows them: results with their chart, frames as tables, charts as drawings, the rest as text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from html import escape
from pprint import pformat
from typing import Any

WIDTH = 100
"""Characters of a line of text."""
MOST_ROWS, MOST_COLUMNS, MOST_LINES = 8, 14, 40
NAMED = {"black": "#000000", "white": "#ffffff", "transparent": ""}


def shown(value: Any) -> str:  # noqa: ANN401 - whatever an example ends in
    """A value as HTML; nothing for None."""
    import pandas as pd

    from biasgauge.results.result import Result

    if value is None:
        return ""
    if isinstance(value, Result):
        return _result(value)
    if isinstance(value, pd.Series):
        value = value.to_frame(value.name if value.name is not None else "value")
    if isinstance(value, pd.DataFrame):
        return scrolling(_table(value), "table")
    if _is_chart(value):
        return figure(value)
    if isinstance(value, Mapping) and value and all(_is_chart(part) for part in value.values()):
        return "".join(figure(chart, name) for name, chart in value.items())
    return text(_written(value))


def text(written: str) -> str:
    """Text as it stands; long text scrolls in itself."""
    written = written.rstrip()
    return f'<pre class="output" tabindex="0">{escape(written)}</pre>' if written else ""


def scrolling(inner: str, kind: str) -> str:
    """What may be wider than a phone, in a box that scrolls by itself."""
    return f'<div class="output {kind}" tabindex="0">{inner}</div>'


def _written(value: Any) -> str:  # noqa: ANN401
    own: object = type(value).__str__
    if own not in {object.__str__, str.__str__} and is_dataclass(value):
        return str(value)  # what print would say
    plain = isinstance(value, list | tuple | dict | set) or (is_dataclass(value) and not isinstance(value, type))
    lines = (pformat(value, width=WIDTH, sort_dicts=False) if plain else repr(value)).split("\n")
    if len(lines) > MOST_LINES:
        lines = [*lines[:MOST_LINES], f"… and {len(lines) - MOST_LINES} more lines"]
    return "\n".join(lines)


def _table(frame: Any) -> str:  # noqa: ANN401 - a frame
    import pandas as pd

    few = frame.head(MOST_ROWS)
    few = few.astype(object).where(few.notna(), "")
    rows: str = few.to_html(
        border=0,
        max_cols=MOST_COLUMNS,
        float_format=lambda number: f"{number:.3g}",
        na_rep="",
        index=not isinstance(frame.index, pd.RangeIndex),
        justify="left",
    )
    more = len(frame) - len(few)
    return rows + (f"<p>… and {more:,} more rows</p>" if more else "")


def _result(result: Any) -> str:  # noqa: ANN401 - a result
    """What a notebook shows, and the first of its charts."""
    summed = f'<div class="result">{result._repr_html_()}</div>'
    first = next(iter(result.summary().named_charts()), None)
    return scrolling(summed, "result") + ("" if first is None else figure(first[1].drawn(), first[0]))


def _is_chart(value: Any) -> bool:  # noqa: ANN401
    import altair as alt

    return isinstance(value, alt.TopLevelMixin)


def figure(chart: Any, name: str = "") -> str:  # noqa: ANN401 - a chart
    """A chart as a drawing within the page, in colors that follow the page's."""
    import vl_convert

    from biasgauge.results.drawing import fitted_to_grid
    from biasgauge.results.page.colors import mixes_colors, themed

    spec = fitted_to_grid(chart).to_dict()
    own_colors = mixes_colors(spec)  # what is written on a heat map is written on its own colors: it stays on paper
    drawn = vl_convert.vegalite_to_svg(spec if own_colors else themed(spec))
    kind, label = "output paper" if own_colors else "output", _title(spec) or name or "figure"
    return f'<figure class="{kind}" tabindex="0">{inline(drawn, label, of_page=not own_colors)}</figure>'


def _title(spec: Mapping[str, Any]) -> str:
    title = spec.get("title", "")
    words = title.get("text", "") if isinstance(title, Mapping) else title
    return " ".join(words) if isinstance(words, list) else str(words)


def inline(svg: str, label: str, *, of_page: bool = True) -> str:
    """A drawing that can stand beside others in one page: names of its own, one label, the colors of the page."""
    from hashlib import sha256

    own = "f" + sha256(svg.encode()).hexdigest()[:8]
    opening, rest = re.match(r"(<svg[^>]*>)(.*)", svg, re.DOTALL).groups()  # type: ignore[union-attr]
    rest = re.sub(r' (?:role|aria-[a-z]+)="[^"]*"', "", rest)
    rest = re.sub(r'\bid="([^"]+)"', rf'id="{own}-\1"', rest)
    rest = re.sub(r"url\(#([^)]+)\)", rf"url(#{own}-\1)", rest)
    if of_page:
        rest = re.sub(r' (fill|stroke)="([^"]+)"', _variable, rest)
    wide, high = (float(re.search(rf'\b{name}="([\d.]+)"', opening)[1]) for name in ("width", "height"))  # type: ignore[index]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" '
        f'aria-label="{escape(label)}" width="{wide:g}" height="{high:g}" viewBox="0 0 {wide:g} {high:g}">{rest}'
    )


def _variable(found: re.Match[str]) -> str:
    """A color as a variable of the page."""
    from biasgauge.results.page.colors import variable

    place, color = found.groups()
    color = NAMED.get(color, color)
    if short := re.fullmatch(r"#([0-9a-fA-F])([0-9a-fA-F])([0-9a-fA-F])", color):
        color = "#" + "".join(2 * digit for digit in short.groups())
    return f' {place}="var({variable(color)})"' if re.fullmatch(r"#[0-9a-fA-F]{6}", color) else found[0]


def color_sheet(html: str) -> str:
    """The variables of the drawings in a page, for light and dark pages."""
    from biasgauge.results.page.colors import on_dark, variable

    colors = sorted({f"#{digits}" for digits in re.findall(r"var\(--c([0-9a-f]{6})\)", html)})
    if not colors:
        return ""
    special = {"#ffffff": "transparent"}
    light = "".join(f"{variable(color)}:{special.get(color, color)};" for color in colors)
    dark = "".join(f"{variable(color)}:{special.get(color) or on_dark(color)};" for color in colors)
    return (
        f"<style>:root{{{light}}}@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f":root[data-theme=dark]{{{dark}}}</style>"
    )
