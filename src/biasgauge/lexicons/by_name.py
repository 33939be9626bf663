"""Every lexicon by name: those that ship, those of registered folders, and the user's own by their paths."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import ModuleType

from biasgauge import registry
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons.model import Lexicon
from biasgauge.lexicons.parse import parse_lexicon, read_lexicon
from biasgauge.lexicons.table import found, parse_toml, shown
from biasgauge.spelling import nearest

SUFFIX = ".toml"
FOLDER = Path(__file__).with_name("data")
"""The lexicons that ship."""


def lexicon(reference: str | os.PathLike[str] | Lexicon) -> Lexicon:
    """Give a lexicon: a registered one by its name, a user's by the path of its TOML file, a Lexicon as it is.

    A registered name wins over a file of the same name; a path is known by its ".toml" or by a separator in it.
    """
    match reference:
        case Lexicon():
            return reference
        case str():
            if reference in registry.names("lexicon"):
                return registry.get("lexicon", reference)
            if looks_like_path(reference):
                return read_lexicon(reference)
            raise LexiconError(f"{unknown(reference)}, or give the path of a {SUFFIX} file")
        case os.PathLike():
            path = os.fspath(reference)
            if isinstance(path, str):
                return read_lexicon(path)
    raise ParameterError(f"a lexicon must be a name, a path or a Lexicon, found {found(reference)}")


def looks_like_path(reference: str) -> bool:
    """Say whether a string means a file rather than a name."""
    separators = [separator for separator in (os.sep, os.altsep) if separator]
    return reference.endswith(SUFFIX) or any(separator in reference for separator in separators)


def unknown(name: str) -> str:
    """Say that a name is not known, with the nearest that are."""
    near = nearest(name, registry.names("lexicon"), count=3)
    hint = f"; nearest: {', '.join(near)}" if near else ""
    return f"there is no lexicon named {shown(name)}{hint}; `biasgauge lexicons list` shows all"


def lexicons_in(folder: Path | ModuleType) -> dict[str, Callable[[], Lexicon]]:
    """What a folder of TOML files, or a package with such files, holds: a loader for each name.

    Raises:
        LexiconError: there is no such folder, or it holds no lexicon.
    """
    place: Traversable = folder if isinstance(folder, Path) else files(folder)
    try:
        inside = [file for file in place.iterdir() if file.name.endswith(SUFFIX)]
    except OSError as problem:
        raise LexiconError(f"cannot be read as a folder of lexicons ({problem.strerror})", path=str(place)) from problem
    if not inside:
        raise LexiconError(f"holds no lexicon, which would be a file with the ending {SUFFIX}", path=str(place))
    return {file.name.removesuffix(SUFFIX): _loader(file, shipped=folder == FOLDER) for file in inside}


def _loader(file: Traversable, *, shipped: bool) -> Callable[[], Lexicon]:
    """What reads a lexicon when it is first asked for."""
    return cache(lambda: parse_lexicon(parse_toml(file.read_bytes(), str(file)), path=str(file), shipped=shipped))
