"""Finished cells on disk: one JSON file for each (vectors, data, settings, seed), whole or not there.

A file holds the outcome, the key that it belongs to and a checksum, so that a damaged or foreign file is noticed and
its cell is computed again. Nothing in it depends on when or how fast it was computed.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from biasgauge.core import JsonMapping, JsonObject
from biasgauge.errors import InputError
from biasgauge.io import as_read_back, make_folder, parse_json, portable_name, utf8, write_text

VERSION = 1
"""Raised when the same key would give another outcome, so that old cells are not taken for new ones."""


class CellCache:
    """Outcomes in a folder, or nowhere where the folder is None; `notes` are sentences about damaged files."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.notes: list[str] = []
        if folder is not None:
            if folder.exists() and not folder.is_dir():
                raise InputError(f"{folder}: is a file; name a folder for finished cells")
            make_folder(folder)

    def read(self, key: JsonMapping) -> JsonObject | None:
        """The outcome of a cell; None where it is not there or damaged."""
        if self.folder is None or not (path := self._path(key)).is_file():
            return None
        try:
            content = parse_json(path.read_bytes())
            outcome: JsonObject = content["outcome"]
            if content["key"] == _plain(key) and content["sha256"] == _digest(outcome):
                return outcome
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        self.notes.append(f"{path.name} was damaged; the cell was computed again")
        return None

    def write(self, key: JsonMapping, outcome: JsonObject) -> None:
        """Keep an outcome."""
        if self.folder is not None:
            content = {"key": _plain(key), "sha256": _digest(outcome), "outcome": outcome}
            write_text(self._path(key), json.dumps(content, ensure_ascii=False, sort_keys=True) + "\n")

    def _path(self, key: JsonMapping) -> Path:
        assert self.folder is not None  # noqa: S101 - asked by the callers
        return self.folder / f"{portable_name(str(key['task']))}-{_digest(_plain(key))[:24]}.json"


def _plain(key: JsonMapping) -> JsonObject:
    """A key as JSON gives it back."""
    plain: JsonObject = as_read_back({**key, "version": VERSION})
    return plain


def _digest(content: JsonMapping) -> str:
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(utf8(text)).hexdigest()
