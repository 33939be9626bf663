"""Where the keys of a TOML file stand, so that a sentence about one can name its line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_MARK = re.compile(r'"{3}|"(?:\\.|[^"\\])*"|' + r"'{3}|'[^']*'|#")
_REST = {'"""': re.compile(r'(?:\\.|[^"\\]|"(?!""))*"{3,5}'), "'''": re.compile(r"(?:[^']|'(?!''))*'{3,5}")}
"""What remains of a text of several lines, to its end."""


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line of every table and key, from 1 on, by its path; what stands in an inline table is on its key's line."""
    found: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    inside: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if inside is None:
            if header := _HEADER.match(line):
                table = _parts(header[1])
                found.setdefault(table, number)
            elif key := _KEY.match(line):
                path = (*table, *_parts(key[1]))
                for end in range(len(table) + 1, len(path) + 1):
                    found.setdefault(path[:end], number)
        inside = _after(line, inside)
    return found


def _after(line: str, inside: str | None) -> str | None:
    """The quotes of the text of several lines that is open after a line, given those before it; remarks hold none."""
    place = 0
    while True:
        if inside is not None:
            if (rest := _REST[inside].match(line, place)) is None:
                return inside
            place, inside = rest.end(), None
        mark = _MARK.search(line, place)
        if mark is None or mark[0] == "#":
            return None
        place = mark.end()
        inside = mark[0] if mark[0] in _REST else None


def line_of(lines: Mapping[tuple[str, ...], int], path: Sequence[str]) -> int | None:
    """The line of a key, or of the innermost table around it that has one."""
    for end in range(len(path), 0, -1):
        if (number := lines.get(tuple(path[:end]))) is not None:
            return number
    return None


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_PART, dotted))
