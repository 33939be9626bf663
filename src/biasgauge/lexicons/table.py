"""A TOML file, read and taken apart key by key; every problem is one sentence that names the file and the key."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from functools import partial
from typing import Any, NoReturn

from biasgauge import io
from biasgauge.core import did_you_mean
from biasgauge.errors import LexiconError

_LONGEST_SHOWN = 40
read_toml = partial(io.read_toml, error=LexiconError)
"""Read a TOML file as a dictionary. Raises LexiconError, and nothing else, for whatever is wrong with it."""
parse_toml = partial(io.parse_toml, error=LexiconError)
"""Parse the bytes of a TOML file; the path is only named in errors."""


def read_text(path: str | os.PathLike[str], wanted: str) -> str:
    """Read a word list as text. Raises LexiconError alone, also where there is too much of it."""
    most = io.LARGEST_TOML
    content = io.read_whole(path, error=LexiconError, most=most, wanted=wanted)
    if len(content) > most:
        raise LexiconError(f"holds more than {most // 2**20} MiB; a lexicon must be smaller", path=path)
    return io.decode_utf8(content.removeprefix(b"\xef\xbb\xbf"), path, error=LexiconError)


def describe(value: object) -> str:
    """Say what a value is, in TOML's words and in few characters."""
    match value:
        case bool():
            return f"the boolean {str(value).lower()}"
        case str():
            return f"the string {shown(value)}"
        case int() | float():
            return f"the number {shown(value)}"
        case list() | tuple():
            return f"an array of {len(value)}" if value else "an empty array"
    return {dict: "a table", type(None): "nothing"}.get(type(value), f"a {type(value).__name__}")


def shown(value: str | float) -> str:
    """Write a string in quotes, or a number; shortened where it is long."""
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python converts
        text = "with very many digits"
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"


class TomlTable:
    """A table under the key `key_path` ("" for the top level) of a file; it remembers which keys were taken."""

    def __init__(
        self,
        data: Mapping[str, object],
        path: str | os.PathLike[str] | None,
        key_path: str = "",
        noun: str = "this kind of lexicon",
    ) -> None:
        self._data, self._path, self._key_path, self._noun = data, path, key_path, noun
        self._taken: list[str] = []
        self._inner: list[TomlTable] = []

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def fail(self, problem: str) -> NoReturn:
        """Raise the error for this file."""
        raise LexiconError(problem, path=self._path)

    def key(self, key: str) -> str:
        """Give the full name of a key, as in 'groups.man.protected'."""
        return f"{self._key_path}.{key}" if self._key_path else key

    def take(self, key: str, expected: str, kind: Any = object, default: Any = None) -> Any:  # noqa: ANN401 - of `kind`
        """Give the value of a key, which must be of a kind; `default` where the key may be missing."""
        self._taken.append(key)
        if key not in self._data:
            if default is None:
                strangers = [key_in_file for key_in_file in self._data if key_in_file not in self._taken]
                hint = did_you_mean(key, strangers).replace("did you mean", "is it")
                self.fail(f"the key '{self.key(key)}' is missing: expected {expected}{hint}")
            return default
        value = self._data[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind not in (object, bool)):
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
        rows = []
        for number, value in enumerate(self.array(key, noun, f"of {noun}", optional=optional), 1):
            key_path = f"{self.key(key)}, item {number}"
            if not isinstance(value, list):
                self.fail(f"'{key_path}' must be an array of {size} words, found {describe(value)}")
            if len(value) != size:
                self.fail(f"'{key_path}' must have {size} words, found {len(value)}")
            rows.append(tuple(self.word(word, f"{key_path}, word {place}") for place, word in enumerate(value, 1)))
        return tuple(rows)

    def pairs(self, key: str, noun: str, *, optional: bool = False) -> tuple[tuple[str, str], ...]:
        """Give an array of arrays of two words each."""
        return tuple((first, second) for first, second in self.rows(key, 2, noun, optional=optional))

    def word(self, value: object, key_path: str) -> str:
        """Give a word: a string with something in it and no white space around it."""
        if not isinstance(value, str):
            self.fail(f"'{key_path}' must be a word in quotes, found {describe(value)}")
        if not value:
            self.fail(f"'{key_path}' must be a word, found an empty string")
        if value != value.strip():
            self.fail(f"'{key_path}' must be a word without white space around it, found {shown(value)}")
        return value

    def whole(self, key: str, default: int | None = None) -> int:
        """Give a whole number; `default` where the key may be missing."""
        value: int = self.take(key, "a whole number", int, default)
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """Give a finite number; `default` where the key may be missing."""
        value: float = self.take(key, "a number", int | float, default)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail(f"'{self.key(key)}' must be a finite number, found {describe(value)}")
        return number

    def bounds(self, key: str, low: float, high: float) -> tuple[float, float]:
        """Give two numbers, from and to, within `low` and `high`; these where the key is missing."""
        values = self.array(key, "two numbers, from and to", "number", optional=True)
        numbers = [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
        if key not in self:
            return low, high
        if len(values) != 2 or len(numbers) != 2 or not low <= numbers[0] <= numbers[1] <= high:
            limits = f" within {low:g} and {high:g}" if high < math.inf else f" of at least {low:g}"
            self.fail(f"'{self.key(key)}' must be two numbers, from and to,{limits}, found {shown(str(values))}")
        return numbers[0], numbers[1]

    def table(self, key: str, noun: str, *, optional: bool = False) -> TomlTable:
        """Give the table under a key."""
        return self._table(self.take(key, f"a table of {noun}", dict, {} if optional else None), self.key(key))

    def tables(self, key: str, noun: str) -> list[TomlTable]:
        """Give an array of tables that holds at least one."""
        tables = []
        for number, value in enumerate(self.array(key, f"tables of {noun}", f"table of {noun}"), 1):
            key_path = f"{self.key(key)}, item {number}"
            if not isinstance(value, dict):
                self.fail(f"'{key_path}' must be a table of {noun}, found {describe(value)}")
            tables.append(self._table(value, key_path))
        return tables

    def table_or_tables(self, key: str, noun: str) -> list[TomlTable]:
        """Give the table under a key, or each of its array of tables; none where the key is missing."""
        if key not in self._data:
            self._taken.append(key)
            return []
        return self.tables(key, noun) if isinstance(self._data[key], list) else [self.table(key, noun)]

    def _table(self, data: Mapping[str, object], key_path: str) -> TomlTable:
        self._inner.append(TomlTable(data, self._path, key_path, self._noun))
        return self._inner[-1]

    def beside(self, data: Mapping[str, object], key: str) -> TomlTable:
        """Give a table under a key that somebody else takes apart and finishes."""
        return TomlTable(data, self._path, self.key(key), self._noun)

    def allow(self, key: str) -> None:
        """Let a key be there, whether or not it was taken."""
        self._taken.append(key)

    def names(self, noun: str) -> list[str]:
        """Give the keys of a table whose keys the user chooses; there must be one, and none padded or empty."""
        if not self._data:
            self.fail(f"'{self._key_path}' must hold at least one of {noun}, found an empty table")
        self._taken += self._data
        return [self.word(name, f"a key of {self._key_path}") for name in self._data]

    def finish(self) -> None:
        """Refuse keys that were not taken, here and in the tables inside."""
        for key in self._data:
            if key not in self._taken:
                keys = ", ".join(dict.fromkeys(self._taken))
                where = f"the table '{self._key_path}'" if self._key_path else self._noun
                hint = did_you_mean(key, self._taken)
                self.fail(f"the key {shown(key)} is not known in {where}{hint or f'; known keys: {keys}'}")
        for inner in self._inner:
            inner.finish()
