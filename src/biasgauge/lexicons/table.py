"""A TOML file, read and taken apart key by key; every problem is one sentence that names the file and the key."""

from __future__ import annotations

import math
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from biasgauge.errors import LexiconError
from biasgauge.spelling import did_you_mean

LARGEST = 16 * 2**20
"""Bytes. A lexicon is read whole; ten thousand words take about 0.1 MiB."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_PLACE = re.compile(r" ?\(at (?:line (\d+), column \d+|end of document)\)$")


def read_toml(path: str | os.PathLike[str]) -> dict[str, object]:
    """Read a TOML file as a dictionary. Raises LexiconError, and nothing else, for whatever is wrong with it."""
    return parse_toml(_read_bytes(path), path)


def parse_toml(content: bytes, path: str | os.PathLike[str]) -> dict[str, object]:
    """Parse the bytes of a TOML file; `path` is only named in errors."""
    if len(content) > LARGEST:
        raise LexiconError(f"holds more than {LARGEST // 2**20} MiB; a lexicon must be smaller", path=path)
    if content.startswith(_BYTE_ORDER_MARK):
        raise LexiconError("starts with a byte order mark; save it as plain UTF-8 without one", path=path)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise LexiconError(
            f"is not UTF-8 text: found the byte 0x{content[problem.start]:02x}; save it as UTF-8",
            path=path,
            line=line,
            offset=problem.start,
        ) from None
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise LexiconError("has tables or arrays nested too deeply to read", path=path) from None
    except ValueError as problem:  # tomllib's own error is one; numbers too long to convert raise a bare one
        place = _PLACE.search(str(problem))
        stated = place.group(1) if place else None
        last = len(text.splitlines())
        raise LexiconError(
            f"is not valid TOML: {_PLACE.sub('', str(problem))}",
            path=path,
            line=int(stated) if stated else last if place else None,
        ) from None


def _read_bytes(path: str | os.PathLike[str]) -> bytes:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116  # Path(...) of a name with a null byte fails too, but later
        if stat.S_ISDIR(mode):
            raise LexiconError("is a folder; name a TOML file", path=path)
        if not stat.S_ISREG(mode):
            raise LexiconError("is not a regular file; name a TOML file", path=path)
        with Path(path).open("rb") as stream:
            return stream.read(LARGEST + 1)
    except FileNotFoundError:
        raise LexiconError("there is no such file; check the path", path=path) from None
    except OSError as problem:
        raise LexiconError(f"cannot be read: {problem.strerror or problem}", path=path) from problem
    except ValueError as problem:
        raise LexiconError(f"is not a usable file name: {problem}", path=path) from None


_LONGEST_SHOWN = 40


def found(value: object) -> str:
    """Say what a value is, in TOML's words and in few characters."""
    match value:
        case bool():
            name = f"the boolean {str(value).lower()}"
        case str():
            name = f"the string {shown(value)}"
        case int() | float():
            name = f"the number {_shortened(_digits(value))}"
        case list() | tuple():
            name = f"an array of {len(value)}" if value else "an empty array"
        case dict():
            name = "a table"
        case None:
            name = "nothing"
        case _:
            name = f"a {type(value).__name__}"
    return name


def shown(text: str) -> str:
    """Quote a string, shortened where it is long."""
    return _shortened(repr(text))


def _digits(number: float) -> str:
    try:
        return repr(number)
    except ValueError:  # an integer with more digits than Python converts
        return "with very many digits"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


class Table:
    """A table under the key `place` ("" for the top level) of the file `path`. Keys taken are remembered."""

    def __init__(self, data: Mapping[str, object], path: str | os.PathLike[str] | None, place: str = "") -> None:
        self._data = data
        self._path = path
        self._place = place
        self._known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def fail(self, problem: str) -> NoReturn:
        """Raise the error for this file."""
        raise LexiconError(problem, path=self._path)

    def key(self, key: str) -> str:
        """Give the full name of a key, as in 'groups.man.protected'."""
        return f"{self._place}.{key}" if self._place else key

    def take(self, key: str, expected: str) -> object:
        """Give the value of a key that must be there."""
        self._known.append(key)
        if key not in self._data:
            self.fail(f"the key '{self.key(key)}' is missing: expected {expected}{self._misspelled(key)}")
        return self._data[key]

    def text(self, key: str, default: str | None = None) -> str:
        """Give a string; `default` where the key may be missing."""
        self._known.append(key)
        if default is not None and key not in self._data:
            return default
        value = self.take(key, "a string")
        if not isinstance(value, str):
            self.fail(f"'{self.key(key)}' must be a string, found {found(value)}")
        if default is None and not value.strip():
            self.fail(f"'{self.key(key)}' must not be empty")
        return value

    def array(self, key: str, of: str, *, optional: bool = False) -> list[object]:
        """Give an array; empty where it is optional and missing."""
        self._known.append(key)
        if optional and key not in self._data:
            return []
        value = self.take(key, f"an array of {of}")
        if not isinstance(value, list):
            self.fail(f"'{self.key(key)}' must be an array of {of}, found {found(value)}")
        return value

    def words(self, key: str, *, optional: bool = False, empty: bool = False) -> tuple[str, ...]:
        """Give an array of words, checked one by one; `empty` says whether it may hold none."""
        values = self.array(key, "words", optional=optional)
        if not values and not empty and not optional:
            self.fail(f"'{self.key(key)}' must hold at least one word, found an empty array")
        return tuple(self.word(value, f"{self.key(key)}, item {number}") for number, value in enumerate(values, 1))

    def rows(self, key: str, size: int, of: str, *, optional: bool = False) -> tuple[tuple[str, ...], ...]:
        """Give an array of arrays of `size` words each."""
        values = self.array(key, of, optional=optional)
        if not values and not optional:
            self.fail(f"'{self.key(key)}' must hold at least one of {of}, found an empty array")
        place = self.key(key)
        return tuple(self._row(value, f"{place}, item {number}", size) for number, value in enumerate(values, 1))

    def _row(self, value: object, place: str, size: int) -> tuple[str, ...]:
        if not isinstance(value, list):
            self.fail(f"'{place}' must be an array of {size} words, found {found(value)}")
        if len(value) != size:
            self.fail(f"'{place}' must have {size} words, found {len(value)}")
        return tuple(self.word(word, f"{place}, word {number}") for number, word in enumerate(value, 1))

    def word(self, value: object, place: str) -> str:
        """Give a word: a string with something in it and no white space around it."""
        if not isinstance(value, str):
            self.fail(f"'{place}' must be a word in quotes, found {found(value)}")
        if not value:
            self.fail(f"'{place}' must be a word, found an empty string")
        if value != value.strip():
            self.fail(f"'{place}' must be a word without white space around it, found {shown(value)}")
        return value

    def number(self, key: str) -> float:
        """Give a finite number."""
        value = self.take(key, "a number")
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fail(f"'{self.key(key)}' must be a number, found {found(value)}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail(f"'{self.key(key)}' must be a finite number, found {found(value)}")
        return number

    def table(self, key: str, of: str, *, optional: bool = False) -> Table:
        """Give the table under a key."""
        self._known.append(key)
        if optional and key not in self._data:
            return Table({}, self._path, self.key(key))
        value = self.take(key, f"a table of {of}")
        if not isinstance(value, dict):
            self.fail(f"'{self.key(key)}' must be a table of {of}, found {found(value)}")
        return Table(value, self._path, self.key(key))

    def tables(self, key: str, of: str) -> list[Table]:
        """Give an array of tables that holds at least one."""
        values = self.array(key, f"tables of {of}")
        if not values:
            self.fail(f"'{self.key(key)}' must hold at least one table of {of}, found an empty array")
        tables = []
        for number, value in enumerate(values, 1):
            if not isinstance(value, dict):
                self.fail(f"'{self.key(key)}, item {number}' must be a table of {of}, found {found(value)}")
            tables.append(Table(value, self._path, f"{self.key(key)}, item {number}"))
        return tables

    def names(self, of: str) -> list[str]:
        """Give the keys of a table whose keys the user chooses; there must be one, and none padded or empty."""
        if not self._data:
            self.fail(f"'{self._place}' must hold at least one of {of}, found an empty table")
        return [self.word(name, f"a key of {self._place}") for name in self._data]

    def finish(self) -> None:
        """Refuse keys that were not taken."""
        for key in self._data:
            if key not in self._known:
                known = ", ".join(dict.fromkeys(self._known))
                where = f"the table '{self._place}'" if self._place else "this kind of lexicon"
                hint = did_you_mean(key, self._known)
                self.fail(f"the key {shown(key)} is not known in {where}{hint or f'; known keys: {known}'}")

    def _misspelled(self, key: str) -> str:
        strangers = [given for given in self._data if given not in self._known]
        hint = did_you_mean(key, strangers)
        return f"{hint.replace('did you mean', 'is it')}" if hint else ""
