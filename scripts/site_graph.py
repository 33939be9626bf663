"""Flowcharts (the small part of Mermaid that our pages use), drawn when the site is built: no script is needed."""

from __future__ import annotations

import re
from html import escape

ARROW = re.compile(r"\s+--(?:\s+(?P<label>[\w ]+?)\s+--)?>\s+")
WIDE, HIGH, GAP, RISE = 100, 30, 12, 74
"""Width and height of a box, and the distances between boxes and between rows, in pixels."""

Edge = tuple[str, str, str]


def edges_of(source: str) -> list[Edge]:
    """From, to and label of every arrow; `a & b --> c --> d` has three."""
    found: list[Edge] = []
    for line in source.splitlines()[1:]:
        pieces = ARROW.split(line.strip())
        for at in range(0, len(pieces) - 2, 2):
            starts, ends = (pieces[place].split(" & ") for place in (at, at + 2))
            found += [(start.strip(), end.strip(), pieces[at + 1] or "") for start in starts for end in ends]
    return found


def rows_of(edges: list[Edge]) -> list[list[str]]:
    """Boxes by row: each below all that lead to it, and near to them."""
    names = list(dict.fromkeys(name for start, end, _ in edges for name in (start, end)))
    depth = dict.fromkeys(names, 0)
    for _ in names:
        for start, end, _label in edges:
            depth[end] = max(depth[end], depth[start] + 1)
    rows = [[name for name in names if depth[name] == level] for level in range(max(depth.values(), default=0) + 1)]
    place = {name: at - (len(row) - 1) / 2 for row in rows for at, name in enumerate(row)}
    for row in rows[1:]:
        above = {name: [place[start] for start, end, _ in edges if end == name] for name in row}
        row.sort(key=lambda name: sum(above[name]) / max(1, len(above[name])))
        place |= {name: at - (len(row) - 1) / 2 for at, name in enumerate(row)}
    return rows


def drawn(source: str, label: str) -> str:
    """A flowchart as SVG in the colors of the page."""
    edges = edges_of(source)
    rows = rows_of(edges)
    total = max(len(row) for row in rows) * (WIDE + GAP)
    left = {
        name: (total - len(row) * (WIDE + GAP)) / 2 + at * (WIDE + GAP) + GAP / 2
        for row in rows
        for at, name in enumerate(row)
    }
    top = {name: 2 + level * RISE for level, row in enumerate(rows) for name in row}
    lines = [
        f'<path d="M{left[start] + WIDE / 2:g} {top[start] + HIGH} '
        f"C{left[start] + WIDE / 2:g} {top[start] + RISE * 0.8:g} "
        f'{left[end] + WIDE / 2:g} {top[end] - RISE * 0.4:g} {left[end] + WIDE / 2:g} {top[end]}"/>'
        for start, end, _ in edges
    ]
    boxes = [
        f'<rect x="{left[name]:g}" y="{top[name]}" width="{WIDE}" height="{HIGH}" rx="4"/>'
        f'<text x="{left[name] + WIDE / 2:g}" y="{top[name] + HIGH / 2 + 4:g}">{escape(name)}</text>'
        for row in rows
        for name in row
    ]
    high = len(rows) * RISE - RISE + HIGH + 4
    return (
        f'<figure class="graph" tabindex="0"><svg role="img" aria-label="{escape(label)}" width="{total}" '
        f'height="{high}" viewBox="0 0 {total} {high}">{"".join(lines)}{"".join(boxes)}</svg></figure>'
    )
