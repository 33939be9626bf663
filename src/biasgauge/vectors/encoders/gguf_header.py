"""The header of a GGUF file, walked before a library reads it: it may promise no more than the file holds.

The library makes an object of each number and text of the header, and at the end of a file it goes on with empty ones:
a few altered bytes took gigabytes.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from biasgauge.errors import InputError

_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of the types of numbers."""
_TEXT, _ARRAY = 8, 9
_MOST_VALUES = 2**21
"""Numbers and texts in a header; the largest vocabularies, with their scores, types and merges, take 1.3 million."""
_FEW_VALUES, _BYTES_PER_VALUE = 2**17, 32
"""Beyond the first, bytes of the file for each value: the library takes 1.4 KB of memory for a text, and a model has a
row of weights for it.
"""
_MOST_ENTRIES = 2**13
"""Fields or tensors; the library takes some 20 KB of memory for each, and the largest models have a thousand or two."""
_MOST_DIMENSIONS = 4
_MOST_EXPANSION = 16
"""Bytes of single precision that a byte of the file becomes, at most: weights have two bits at least."""


def check_header(path: Path) -> None:
    """Refuse a header that promises more than the file holds.

    Raises:
        InputError: it does, or has more than `_MOST_VALUES` values.
    """
    with path.open("rb") as file:
        try:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as problem:
            raise InputError(f"{path}: the file is empty") from problem
    with content:
        _Header(path, content).walk()


class _Header:
    def __init__(self, path: Path, content: mmap.mmap) -> None:
        self._path = path
        self._content = content
        self._position = 4  # behind the mark
        self._values = 0
        self._order = "<"

    def walk(self) -> None:
        if self._number("I") & 0xFFFF == 0:  # the version: that of a file with the other order of bytes
            self._order = ">"
        tensors, fields = self._number("Q"), self._number("Q")
        if max(tensors, fields) > _MOST_ENTRIES:
            raise self._problem(f"promises {max(tensors, fields):,} fields or tensors, more than any model has")
        for _ in range(self._bounded(fields, 12)):
            self._text()
            self._value(self._number("I"))
        elements = 0
        for _ in range(self._bounded(tensors, 24)):
            self._text()
            elements += self._tensor()
        size = len(self._content)
        if self._values > max(_FEW_VALUES, size // _BYTES_PER_VALUE):
            raise self._problem(f"has {self._values:,} values, more than a model of {size:,} bytes needs")
        if elements * 4 > _MOST_EXPANSION * size:
            raise self._problem(f"promises {elements:,} weights, more than a file of {size:,} bytes can hold")

    def _tensor(self) -> int:
        """Pass over the description of a tensor; return its number of elements."""
        count, elements = self._number("I"), 1
        if count > _MOST_DIMENSIONS:
            raise self._problem(f"holds a tensor of {count:,} dimensions")
        for _ in range(count):
            elements *= self._number("Q")
        self._skip(12)  # the type and the place
        return elements

    def _value(self, kind: int) -> None:
        if kind in _SIZES:
            self._skip(_SIZES[kind])
        elif kind == _TEXT:
            self._text()
        elif kind == _ARRAY:
            self._array()
        else:
            raise self._problem(f"holds a value of the unknown type {kind}")

    def _array(self) -> None:
        kind, length = self._number("I"), self._number("Q")
        if kind in _SIZES:
            self._bounded(length, _SIZES[kind])
            self._skip(length * _SIZES[kind])
        elif kind == _TEXT:
            for _ in range(self._bounded(length, 8)):
                self._text()
        else:
            raise self._problem(f"holds an array of values of the type {kind}")

    def _text(self) -> None:
        self._skip(self._number("Q"))

    def _bounded(self, count: int, least: int) -> int:
        """Return a number of values, each of which takes `least` bytes at least."""
        self._values += count
        if count * least > len(self._content) - self._position:
            raise self._problem(f"promises {count:,} values, more than the file holds")
        if self._values > _MOST_VALUES:
            raise self._problem(f"has a header of more than {_MOST_VALUES:,} values")
        return count

    def _number(self, code: str) -> int:
        start = self._position
        self._skip(struct.calcsize(code))
        return int(struct.unpack_from(f"{self._order}{code}", self._content, start)[0])

    def _skip(self, size: int) -> None:
        self._position += size
        if self._position > len(self._content):
            raise self._problem("ends in the middle of its header: it was cut short; copy it again")

    def _problem(self, sentence: str) -> InputError:
        return InputError(f"{self._path}: is damaged: {sentence}")
