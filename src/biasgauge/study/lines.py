"""Where the keys of a TOML file stand, so that a sentence about one can name its line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_QUOTES = re.compile(r'"""|' + "'''")


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
        for mark in _QUOTES.findall(line):  # a text of several lines opens or ends here
            inside = mark if inside is None else None if mark == inside else inside
    return found


def line_of(lines: Mapping[tuple[str, ...], int], path: Sequence[str]) -> int | None:
    """The line of a key, or of the innermost table around it that has one."""
    for end in range(len(path), 0, -1):
        if (number := lines.get(tuple(path[:end]))) is not None:
            return number
    return None


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(_PART, dotted))
