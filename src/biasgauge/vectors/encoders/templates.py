"""Templates: sentences with a gap for a word. Those that ship, and the user's own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from biasgauge.core import did_you_mean
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import read_toml

GAP = "{}"
DEFAULT = "any"
SHIPPED = Path(__file__).with_name("templates.toml")

TemplatesLike: TypeAlias = "str | os.PathLike[str] | Iterable[str]"
"""Templates, or where they are: a set that ships ("noun"), a sentence with a gap, a TOML file, one of its sets."""


def templates_of(templates: TemplatesLike) -> tuple[str, ...]:
    """The templates that are meant, each once.

    - a name: one of the sets that ship: any, bare, noun, name, adjective, verb;
    - a sentence with a gap `{}`, or several of them in a list;
    - `my.toml`: every template of its table `[templates]`; `my.toml:SET`: those of one key.

    Raises:
        ParameterError: a template has no gap or several, or there is no such set.
        InputError: the file is not what it should be.
    """
    if isinstance(templates, (str, os.PathLike)):
        return _by_name(os.fspath(templates))
    if not isinstance(templates, Iterable):
        raise ParameterError(f"The 'templates' parameter must be a name, a file or sentences. Got {templates!r}.")
    chosen = tuple(dict.fromkeys(_checked(template) for template in templates))
    if not chosen:
        raise ParameterError("The 'templates' parameter must hold at least one template. Got none.")
    return chosen


def filled(template: str, word: str) -> tuple[str, tuple[int, int]]:
    """The sentence with the word in its gap, and where the word stands in it."""
    start = template.index(GAP)
    return template.replace(GAP, word), (start, start + len(word))


def _by_name(name: str) -> tuple[str, ...]:
    shipped = _shipped()
    if name in shipped:
        return shipped[name]
    if GAP in name:
        return (_checked(name),)
    path, colon, chosen = name, "", ""
    if not Path(name).is_file():
        path, colon, chosen = name.rpartition(":")
    if path and Path(path).is_file():
        sets = _read(Path(path))
        if not colon:
            return tuple(dict.fromkeys(template for members in sets.values() for template in members))
        if chosen in sets:
            return sets[chosen]
        raise ParameterError(f"{path}: has no set {chosen!r} of templates; it has {', '.join(sets)}.")
    meant = did_you_mean(name, shipped) or f"; the sets are {', '.join(shipped)}."
    raise ParameterError(
        f"Templates must be a set that ships, a TOML file or sentences with {GAP}. Got {name!r}{meant}"
    )


@cache
def _shipped() -> Mapping[str, tuple[str, ...]]:
    return _read(SHIPPED)


def _read(path: Path) -> dict[str, tuple[str, ...]]:
    table: Any = read_toml(path).get("templates")
    if not isinstance(table, Mapping) or not table:
        raise InputError(
            f"{path}: needs a table [templates] with lists of sentences, such as plain = ['This is {GAP}.']"
        )
    return {str(name): tuple(dict.fromkeys(_checked(template, path) for template in _listed(path, name, members)))
            for name, members in table.items()}  # fmt: skip


def _listed(path: Path, name: str, members: object) -> Sequence[object]:
    if not isinstance(members, list) or not members:
        raise InputError(f"{path}: the set {name!r} of [templates] must be a list of sentences")
    return members


def _checked(template: object, path: Path | None = None) -> str:
    if not isinstance(template, str) or template.count(GAP) != 1:
        where = "" if path is None else f"{path}: "
        raise ParameterError(f"{where}A template must be a sentence with one gap {GAP}. Got {template!r}.")
    return template
