"""A TOML file, read and taken apart key by key; every problem is one sentence that names the file and the key."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, NoReturn

from biasgauge.core import did_you_mean
from biasgauge.errors import LexiconError
from biasgauge.io import LARGEST_TOML, decode_utf8, read_whole
from biasgauge.io import parse_toml as parse_toml_bytes
from biasgauge.io import read_toml as read_toml_file


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file as a dictionary. Raises LexiconError, and nothing else, for whatever is wrong with it."""
    return read_toml_file(path, error=LexiconError)


def parse_toml(content: bytes, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Parse the bytes of a TOML file; `path` is only named in errors."""
    return parse_toml_bytes(content, path, error=LexiconError)


def read_text(path: str | os.PathLike[str], wanted: str) -> str:
    """Read a word list as text. Raises LexiconError alone, also where there is too much of it."""
    content = read_whole(path, error=LexiconError, most=LARGEST_TOML, wanted=wanted)
    if len(content) > LARGEST_TOML:
        raise LexiconError(f"holds more than {LARGEST_TOML // 2**20} MiB; a lexicon must be smaller", path=path)
    return decode_utf8(content.removeprefix(b"\xef\xbb\xbf"), path, error=LexiconError)


_LONGEST_SHOWN = 40


def describe(value: object) -> str:
    """Say what a value is, in TOML's words and in few characters."""
    match value:
        case bool():
            return f"the boolean {str(value).lower()}"
        case str():
            return f"the string {shown(value)}"
        case int() | float():
            return f"the number {_shortened(_digits(value))}"
        case list() | tuple():
            return f"an array of {len(value)}" if value else "an empty array"
    return {dict: "a table", type(None): "nothing"}.get(type(value), f"a {type(value).__name__}")


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

    def __init__(self, data: Mapping[str, object], path: str | os.PathLike[str] | None, key_path: str = "") -> None:
        self._data, self._path, self._place = data, path, key_path
        self._known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def fail(self, problem: str) -> NoReturn:
        """Raise the error for this file."""
        raise LexiconError(problem, path=self._path)

    def key(self, key: str) -> str:
        """Give the full name of a key, as in 'groups.man.protected'."""
        return f"{self._place}.{key}" if self._place else key

    def take(self, key: str, expected: str, kind: Any = object, default: Any = None) -> Any:  # noqa: ANN401 - of `kind`
        """Give the value of a key, which must be of a kind; `default` where the key may be missing."""
        self._known.append(key)
        if key not in self._data:
            if default is None:
                strangers = [key_in_file for key_in_file in self._data if key_in_file not in self._known]
                hint = did_you_mean(key, strangers).replace("did you mean", "is it")
                self.fail(f"the key '{self.key(key)}' is missing: expected {expected}{hint}")
            return default
        value = self._data[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not object):
            self.fail(f"'{self.key(key)}' must be {expected}, found {describe(value)}")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        """Give a string; `default` where the key may be missing."""
        value: str = self.take(key, "a string", str, default)
        if default is None and not value.strip():
            self.fail(f"'{self.key(key)}' must not be empty")
        return value

    def array(self, key: str, noun: str, fewest: str, *, optional: bool = False, empty: bool = False) -> list[object]:
        """Give an array, empty where it is optional and missing; `fewest` says what it must hold unless it may be."""
        values: list[object] = self.take(key, f"an array of {noun}", list, [] if optional else None)
        if not values and not empty and not optional:
            self.fail(f"'{self.key(key)}' must hold at least one {fewest}, found an empty array")
        return values

    def words(self, key: str, *, optional: bool = False, empty: bool = False) -> tuple[str, ...]:
        """Give an array of words, checked one by one; `empty` says whether it may hold none."""
        values = self.array(key, "words", "word", optional=optional, empty=empty)
        return tuple(self.word(value, f"{self.key(key)}, item {number}") for number, value in enumerate(values, 1))

    def rows(self, key: str, size: int, noun: str, *, optional: bool = False) -> tuple[tuple[str, ...], ...]:
        """Give an array of arrays of `size` words each."""
        values, key_path = self.array(key, noun, f"of {noun}", optional=optional), self.key(key)
        return tuple(self._row(value, f"{key_path}, item {number}", size) for number, value in enumerate(values, 1))

    def _row(self, value: object, key_path: str, size: int) -> tuple[str, ...]:
        if not isinstance(value, list):
            self.fail(f"'{key_path}' must be an array of {size} words, found {describe(value)}")
        if len(value) != size:
            self.fail(f"'{key_path}' must have {size} words, found {len(value)}")
        return tuple(self.word(word, f"{key_path}, word {number}") for number, word in enumerate(value, 1))

    def word(self, value: object, key_path: str) -> str:
        """Give a word: a string with something in it and no white space around it."""
        if not isinstance(value, str):
            self.fail(f"'{key_path}' must be a word in quotes, found {describe(value)}")
        if not value:
            self.fail(f"'{key_path}' must be a word, found an empty string")
        if value != value.strip():
            self.fail(f"'{key_path}' must be a word without white space around it, found {shown(value)}")
        return value

    def number(self, key: str) -> float:
        """Give a finite number."""
        value: float = self.take(key, "a number", int | float)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail(f"'{self.key(key)}' must be a finite number, found {describe(value)}")
        return number

    def table(self, key: str, noun: str, *, optional: bool = False) -> Table:
        """Give the table under a key."""
        return Table(self.take(key, f"a table of {noun}", dict, {} if optional else None), self._path, self.key(key))

    def tables(self, key: str, noun: str) -> list[Table]:
        """Give an array of tables that holds at least one."""
        tables = []
        for number, value in enumerate(self.array(key, f"tables of {noun}", f"table of {noun}"), 1):
            key_path = f"{self.key(key)}, item {number}"
            if not isinstance(value, dict):
                self.fail(f"'{key_path}' must be a table of {noun}, found {describe(value)}")
            tables.append(Table(value, self._path, key_path))
        return tables

    def names(self, noun: str) -> list[str]:
        """Give the keys of a table whose keys the user chooses; there must be one, and none padded or empty."""
        if not self._data:
            self.fail(f"'{self._place}' must hold at least one of {noun}, found an empty table")
        return [self.word(name, f"a key of {self._place}") for name in self._data]

    def finish(self) -> None:
        """Refuse keys that were not taken."""
        for key in self._data:
            if key not in self._known:
                keys = ", ".join(dict.fromkeys(self._known))
                where = f"the table '{self._place}'" if self._place else "this kind of lexicon"
                hint = did_you_mean(key, self._known)
                self.fail(f"the key {shown(key)} is not known in {where}{hint or f'; known keys: {keys}'}")
