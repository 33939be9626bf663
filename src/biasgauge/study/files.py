"""The user's own files: where they are, what they hold, and how settings name them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from glob import has_magic
from pathlib import Path
from typing import Any

from biasgauge import registry
from biasgauge.errors import InputError
from biasgauge.io import file_stamp, folder_files, parse_json, path_sha256, write_text
from biasgauge.lexicons import lexicon, words_of

FILE = "\0file"
"""The key of a mark; no table of a user has it by chance."""
_SUFFIX = ".toml"


class Checksums:
    """SHA-256 of files and folders, remembered in a file by path, size and time, so that large ones are read once.

    Nothing but speed hangs on what is remembered: another size or time of any file means that all is read again.
    """

    def __init__(self, memory: Path | None = None) -> None:
        self._memory = memory
        self._changed = False

    @cached_property
    def _remembered(self) -> dict[str, tuple[str, str]]:
        """Stamp and checksum by path; nothing where the memory is not there yet or damaged."""
        if self._memory is None:
            return {}
        try:
            content = parse_json(self._memory.read_bytes())
            return {str(path): (str(stamp), str(checksum)) for path, (stamp, checksum) in content.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}

    def checksum(self, path: Path) -> str:
        """SHA-256 of a file or folder."""
        try:
            return self._checksum(path)
        except OSError as problem:
            raise InputError(f"{path}: cannot be read: {problem.strerror}; check its permissions") from problem

    def _checksum(self, path: Path) -> str:
        absolute = str(path.resolve())
        stamp, stable = _stamp(path)
        remembered_stamp, checksum = self._remembered.get(absolute, ("", ""))
        if remembered_stamp != stamp:
            checksum = path_sha256(path)
            if stable and _stamp(path)[0] == stamp:
                self._remembered[absolute] = stamp, checksum
                self._changed = True
        return checksum

    def keep(self) -> None:
        """Write down what was found; where that cannot be done, or the folder is not there yet, it is found again."""
        if self._memory is not None and self._changed and self._memory.parent.is_dir():
            with suppress(OSError, InputError):
                write_text(self._memory, json.dumps(self._remembered, sort_keys=True, indent=0) + "\n")
                self._changed = False


def _stamp(path: Path) -> tuple[str, bool]:
    """Sizes and times of all files, as one number; and whether none was written just now."""
    names = [path] if path.is_file() else [path / name for name in folder_files(path)]
    stamps, stable = file_stamp(names)
    listing = "".join(f"{name.relative_to(path)}\0" for name in names)
    return hashlib.sha256(f"{listing}\n{stamps}".encode("utf-8", "surrogatepass")).hexdigest(), stable


def matching_paths(pattern: str, folder: Path) -> list[Path]:
    """The files or folders that a path or a pattern with * ? [ ] means, sorted by name; empty where there are none."""
    if path_exists(folder / pattern):
        return [folder / pattern]
    if not has_magic(pattern):
        return []
    path = Path(pattern)  # signs like [ in the folder's own name are no pattern
    base, relative = (Path(path.anchor), path.relative_to(path.anchor)) if path.is_absolute() else (folder, path)
    return sorted(base.glob(str(relative)))


def path_outside(path: Path, folders: Sequence[Path]) -> Path | None:
    """Return a path that lies outside of all these folders: the file or folder itself, or a link below it."""

    def leads_out(candidate: Path) -> bool:
        resolved = candidate.resolve()
        return not any(resolved.is_relative_to(folder.resolve()) for folder in folders)

    if leads_out(path):
        return path
    below = (Path(folder) / name for folder, inner, names in os.walk(path) for name in (*inner, *names))
    return next((link for link in below if link.is_symlink() and leads_out(link)), None)


def path_exists(path: Path) -> bool:
    """Return whether there is such a file or folder; False for what cannot be the name of one."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


class FileSettings:
    """Settings that name files of the user: each becomes a mark, and the file an input of the cell.

    Attributes:
        paths: the files, by the names of their marks.
        missing: what looks like a file and is none.
    """

    def __init__(self, folder: Path, paths: Collection[str] = ()) -> None:
        self._folder = folder
        self._paths = paths
        self.paths: dict[str, Path] = {}
        self.missing: list[str] = []

    def marked(self, value: Any) -> Any:  # noqa: ANN401 - JSON
        """The value with every name of a file in it replaced; what a key of `paths` names must be there."""
        if isinstance(value, dict):
            return {
                name: self._path(item) if name in self._paths and isinstance(item, str) else self.marked(item)
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [self.marked(item) for item in value]
        return self._mark(value) if isinstance(value, str) else value

    def _mark(self, text: str) -> str | dict[str, str]:
        if registry.has("lexicon", text):
            return text
        name, set_name = text, ""
        if not text.endswith(_SUFFIX) and f"{_SUFFIX}:" in text:
            name, _, set_name = text.rpartition(":")
        path = self._folder / name
        if not (name.endswith(_SUFFIX) or "/" in name or path.suffix):
            return text
        if not path_exists(path) or not path.is_file():
            if name.endswith(_SUFFIX) or path_exists(
                Path(name)
            ):  # a file of the working directory is none of the study
                self.missing.append(name)
            return text
        return {**self._register(path), **({"set": set_name} if set_name else {})}

    def _path(self, text: str) -> str | dict[str, str]:
        if path_exists(self._folder / text):
            return self._register(self._folder / text)
        self.missing.append(text)
        return text

    def _register(self, path: Path) -> dict[str, str]:
        mark = next((mark for mark, marked in self.paths.items() if marked == path), f"file{len(self.paths)}")
        self.paths[mark] = path
        name = _SUFFIX if path.suffix == _SUFFIX else path.name  # a lexicon has its own; of others results tell it
        return {FILE: mark, "name": name}


def restored(value: Any, paths: Mapping[str, Path]) -> Any:  # noqa: ANN401 - JSON
    """Settings with marks replaced: by the lexicon (or one set of it) of a TOML file, by the path of any other."""
    if isinstance(value, list):
        return [restored(item, paths) for item in value]
    if not isinstance(value, dict):
        return value
    if FILE not in value:
        return {name: restored(item, paths) for name, item in value.items()}
    path = paths[value[FILE]]
    if "set" in value:
        return words_of(f"{path}:{value['set']}")
    return lexicon(path) if value["name"].endswith(_SUFFIX) else path
