"""Every lexicon by name: those that ship and those of the user."""

from __future__ import annotations

import os
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons.model import Lexicon
from biasgauge.lexicons.nearest import nearest
from biasgauge.lexicons.parse import parse_lexicon, read_lexicon
from biasgauge.lexicons.reading import parse_toml
from biasgauge.lexicons.table import found, shown

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

SUFFIX = ".toml"


def lexicon(reference: str | os.PathLike[str] | Lexicon) -> Lexicon:
    """Give a lexicon: a shipped one by its name, a user's by the path of its TOML file, a Lexicon as it is.

    A shipped name wins over a file of the same name; a path is known by its ".toml" or by a separator in it.
    """
    match reference:
        case Lexicon():
            return reference
        case str():
            if reference in lexicon_names():
                return _shipped(reference)
            if looks_like_path(reference):
                return read_lexicon(reference)
            raise LexiconError(f"{unknown(reference)}, or give the path of a {SUFFIX} file")
        case os.PathLike():
            path = os.fspath(reference)
            if isinstance(path, str):
                return read_lexicon(path)
    raise ParameterError(f"a lexicon must be a name, a path or a Lexicon, found {found(reference)}")


@cache
def lexicon_names() -> tuple[str, ...]:
    """Names of the lexicons that ship, numbers sorted as numbers: weat2 before weat10."""
    names = [file.name.removesuffix(SUFFIX) for file in _folder().iterdir() if file.name.endswith(SUFFIX)]
    return tuple(sorted(names, key=_natural))


def looks_like_path(reference: str) -> bool:
    """Say whether a string means a file rather than a name."""
    separators = [separator for separator in (os.sep, os.altsep) if separator]
    return reference.endswith(SUFFIX) or any(separator in reference for separator in separators)


def unknown(name: str) -> str:
    """Say that a name is not known, with the nearest that are."""
    near = nearest(name, lexicon_names(), count=3)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    return f"there is no lexicon named {shown(name)}{hint}; `biasgauge lexicons list` shows all"


@cache
def _shipped(name: str) -> Lexicon:
    file = _folder() / f"{name}{SUFFIX}"
    return parse_lexicon(parse_toml(file.read_bytes(), str(file)), path=str(file), shipped=True)


def _folder() -> Traversable:
    return files("biasgauge.lexicons") / "data"


def _natural(name: str) -> list[tuple[bool, int, str]]:
    parts = re.split(r"(\d+)", name)
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts if part]
