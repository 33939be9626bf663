"""What commands read: looked for before outputs are tried, so that a mistyped path is the first thing that is told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from biasgauge.errors import InputError

_OWN_FILE = (".toml", ".txt")
"""How a text ends that names a word list of one's own, not a shipped one."""
_SOURCE = re.compile(r"\w[\w.+-]+:")
"""How an address, and vectors of a registered encoder begin: s3://…, views:FOLDER. One letter is a drive of Windows."""


def check_there(typed: object) -> None:
    """Refuse files that are not there: typed as a path, as one of several, or as a text that ends as a word list does.

    In a list of words, which has commas, only NAME=PATH names a file.

    Raises:
        InputError: there is no such file.
    """
    if isinstance(typed, str):
        parts = [typed] if "," not in typed else [part for part in typed.split(",") if "=" in part]
        check_files(Path(part.rpartition("=")[2]) for part in parts if part.endswith(_OWN_FILE))
    elif isinstance(typed, Path):
        check_files([typed])
    elif isinstance(typed, list | tuple):
        for each in typed:
            check_there(each)


def check_files(paths: Iterable[Path]) -> None:
    """Refuse files and folders that are not there.

    Raises:
        InputError: there is no such file.
    """
    for path in paths:
        if _SOURCE.match(str(path)):
            continue
        try:
            there = path.exists()
        except (OSError, ValueError):  # a name too long, or with a null byte: whoever reads it says so
            continue
        if not there:
            raise InputError(f"{path}: there is no such file; check the path")


def check_named(typed: Iterable[str]) -> None:
    """Refuse files that are not there, each typed as NAME=PATH; what has another form is left to whoever reads it.

    Raises:
        InputError: there is no such file.
    """
    check_files(Path(path) for text in typed if (path := text.partition("=")[2]))


def check_nothing(typed: object) -> None:
    """For texts that never name a file, whatever they end in."""


def check_stores(folders: Path | Iterable[Path]) -> None:
    """Refuse stores of scores that are not there.

    Raises:
        InputError: there is no such folder.
    """
    from biasgauge.scores import ABSENT

    for folder in [folders] if isinstance(folders, Path) else folders:
        if not folder.exists():
            raise InputError(f"{folder}: {ABSENT.format('there is no such folder')}")


def check_models(typed: Path | str | Iterable[Path] | None) -> None:
    """Refuse language models that are not there.

    Raises:
        InputError: there is no such folder or file.
    """
    from biasgauge.vectors.encoders import check_model_path

    given = [typed] if isinstance(typed, str | Path) else typed or ()
    for path in given:
        check_model_path(Path(path))
