"""R's own files (`saveRDS`, `save`), in their binary form (XDR, versions 2 and 3): values, without R.

An R object is a vector, a list or a table with attributes, or code. Vectors, lists and attributes become `RValue`;
functions' code, formulas, environments and pointers are passed over as `None`, and nothing of them is run. Numbers are
views of the file's bytes, and text is decoded element by element when it is used. A file may promise no more than its
bytes can hold, and objects nest at most `DEEPEST` deep.
"""

from __future__ import annotations

import mmap
import struct
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

DEEPEST = 100
RDS_MARKS = (b"X\n\x00\x00\x00\x02", b"X\n\x00\x00\x00\x03")
RDATA_MARKS = (b"RDX2\nX\n", b"RDX3\nX\n")
_VERSIONS = (2, 3)
_NULL, _REFERENCE, _ALTREP = 254, 255, 238
_SYMBOL, _CHARACTER, _ENVIRONMENT, _POINTER, _WEAK, _S4 = 1, 9, 4, 22, 23, 25
_PAIRS = frozenset([2, 3, 5, 6, 17, 239, 240])
"""Pair lists, calls, closures, promises."""
_CODE = frozenset([3, 5, 6, 239])
_LISTS = frozenset([19, 20])
_BUILTIN = frozenset([7, 8])
_FIXED = frozenset([241, 242, 250, 251, 252, 253])
"""The global environment and other things that a file only names."""
_NAMESPACES = frozenset([247, 248, 249])
_NUMBERS = {10: ">i4", 13: ">i4", 14: ">f8", 15: ">c16", 24: "u1"}
_STRINGS = 16
_HAS_ATTRIBUTES, _HAS_TAG = 0x200, 0x400
_LATIN1 = 1 << 2
_HEAD_OF_TEXT = struct.Struct(">ii")
"""Flags and length."""
_CUT_SHORT = "the R object ends in the middle of a value: it was cut short; copy it again"
R_MISSING = -(2**31)
"""An integer, factor level or truth value that R knows as NA."""


class RProblem(ValueError):  # noqa: N818 - a sentence for whoever reads the file, who raises an error of their own
    """Reason why an R file is not read, and the byte where that is."""

    def __init__(self, sentence: str, offset: int) -> None:
        super().__init__(sentence)
        self.offset = offset


class RTexts(Sequence[str | None]):
    """Elements of a character vector, decoded from the file when they are used; None for NA."""

    def __init__(self, content: bytes | mmap.mmap, starts: array[int]) -> None:
        self._content, self._starts = content, starts

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> str | None: ...

    @overload
    def __getitem__(self, index: slice) -> list[str | None]: ...

    def __getitem__(self, index: int | slice) -> str | list[str | None] | None:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        start = self._starts[index]
        flags, length = _HEAD_OF_TEXT.unpack_from(self._content, start)
        return _decode(self._content[start + 8 : start + 8 + length], flags) if length >= 0 else None


def _decode(raw: bytes, flags: int) -> str:
    return raw.decode("latin-1") if flags >> 12 & _LATIN1 else raw.decode("utf-8", "backslashreplace")


@dataclass(eq=False)
class RValue:
    """A vector or a list of R.

    Attributes:
        values: numbers as an array; text as `RTexts` or a list; a list of values for a list.
        attributes: by name, such as "dim", "dimnames", "names", "class", "row.names", "levels".
    """

    values: Any
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def strings(self, attribute: str) -> list[str | None]:
        """Text of an attribute; none where it is no text."""
        value = self.attributes.get(attribute)
        return list(value.values) if isinstance(value, RValue) and _is_text(value.values) else []


def _is_text(values: object) -> bool:
    strings = isinstance(values, list) and all(text is None or isinstance(text, str) for text in values)
    return strings or isinstance(values, RTexts)


def column_text(column: RValue) -> Sequence[str | None] | None:
    """Text of a column of a data frame, which may be a factor; None where it holds something else."""
    if isinstance(column.values, list | RTexts):
        return column.values if _is_text(column.values) else None
    levels = column.strings("levels")
    if "factor" not in column.strings("class") or not isinstance(column.values, np.ndarray):
        return None
    codes = column.values.tolist()
    if not all(isinstance(code, int) and code <= len(levels) for code in codes):
        return None
    return [levels[code - 1] if code > 0 else None for code in codes]


def read_r(content: bytes | mmap.mmap) -> dict[str, Any]:
    """Return the objects of a file by name; that of an `.rds` file, which has none, under "".

    Raises:
        RProblem: it is damaged, or in another form than R writes by default.
    """
    reader = _Reader(content)
    try:
        return reader.read()
    except RProblem:
        raise
    except (struct.error, ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError) as problem:
        sentence = f"the R object is damaged ({type(problem).__name__}: {str(problem)[:100]}); copy or save it again"
        raise RProblem(sentence, reader.position) from None


@dataclass
class _Pairs:
    """A pair list: its tags and values."""

    tags: list[str]
    values: list[Any]


class _Reader:
    def __init__(self, content: bytes | mmap.mmap) -> None:
        self.content = content
        self.size = len(content)
        self.position = 0
        self.references: list[Any] = []

    def read(self) -> dict[str, Any]:
        head = self.content[:7]
        packed = head.startswith(RDATA_MARKS)
        self.position = 5 if packed else 0
        if self.take(2) != b"X\n":
            raise RProblem("is not in R's binary form; write it with saveRDS(…) and its defaults", 0)
        version, _, _ = (self.integer() for _ in range(3))
        if version not in _VERSIONS:
            raise RProblem(f"is of version {version} of R's format; biasgauge reads 2 and 3", 2)
        if version == _VERSIONS[1]:
            self.take(self.integer())  # the encoding of the session
        value = self.item(0)
        if not packed:
            return {"": value}
        if not isinstance(value, _Pairs):
            raise RProblem("holds no objects by name", self.position)
        return dict(zip(value.tags, value.values, strict=True))

    def take(self, size: int) -> bytes:
        end = self.position + size
        if size < 0 or end > self.size:
            raise RProblem(_CUT_SHORT, self.position)
        piece = self.content[self.position : end]
        self.position = end
        return piece

    def integer(self) -> int:
        return int.from_bytes(self.take(4), "big", signed=True)

    def length(self, least: int) -> int:
        """Number of elements, each of which takes `least` bytes of the file at least."""
        length = self.integer()
        if length == -1:
            length = (self.integer() << 32) + self.integer()
        if not 0 <= length * least <= self.size - self.position:
            raise RProblem(f"a vector promises {length:,} elements, more than the file holds", self.position)
        return length

    def item(self, depth: int) -> Any:  # noqa: ANN401 - any value of R
        if depth > DEEPEST:
            raise RProblem(f"the R object is nested deeper than {DEEPEST} levels", self.position)
        flags = self.integer()
        kind = flags & 0xFF
        if kind in _PAIRS:
            return self.pairs(flags, depth)
        if kind == _REFERENCE:
            number = (flags >> 8) or self.integer()
            return self.references[number - 1]
        if kind in _SIMPLE:
            return _SIMPLE[kind](self, flags, depth)
        if kind in _NUMBERS:
            dtype = np.dtype(_NUMBERS[kind])
            length = self.length(dtype.itemsize)
            values: Any = np.frombuffer(self.content, dtype, length, self.position)
            self.position += length * dtype.itemsize
        elif kind == _STRINGS:
            values = self.texts()
        elif kind in _LISTS:
            values = [self.item(depth + 1) for _ in range(self.length(4))]
        elif kind == _S4:
            values = []
        else:
            raise RProblem(f"the R object has a part of type {kind}, which is no data", self.position - 4)
        return RValue(values, self.attributes(flags, depth))

    def texts(self) -> RTexts:
        """Find where each element of a character vector starts."""
        starts = array("q")
        for _ in range(self.length(8)):
            start = self.position
            flags, length = self.integer(), self.integer()
            if flags & 0xFF != _CHARACTER:
                raise RProblem("a character vector has an element that is no text", start)
            if not -1 <= length <= self.size - self.position:
                raise RProblem(_CUT_SHORT, start)
            self.position += max(length, 0)
            starts.append(start)
        return RTexts(self.content, starts)

    def attributes(self, flags: int, depth: int) -> dict[str, Any]:
        if not flags & _HAS_ATTRIBUTES:
            return {}
        pairs = self.item(depth + 1)
        return dict(zip(pairs.tags, pairs.values, strict=True)) if isinstance(pairs, _Pairs) else {}

    def pairs(self, flags: int, depth: int) -> _Pairs | None:
        """Walk along a pair list; code is read like one, and forgotten."""
        pairs = _Pairs([], [])
        is_code = flags & 0xFF in _CODE
        while flags & 0xFF in _PAIRS:
            self.attributes(flags, depth)
            tag = self.item(depth + 1) if flags & _HAS_TAG else ""
            pairs.tags.append(tag if isinstance(tag, str) else "")
            pairs.values.append(self.item(depth + 1))
            flags = self.integer()
        if flags & 0xFF != _NULL:  # the last cell holds something else than the end: a closure's body
            self.position -= 4
            self.item(depth + 1)
        return None if is_code else pairs

    def character(self, flags: int, _depth: int) -> str | None:
        length = self.integer()
        if length == -1:
            return None
        return _decode(self.take(length), flags)

    def symbol(self, _flags: int, depth: int) -> str:
        name = self.item(depth + 1)
        self.references.append(name if isinstance(name, str) else "")
        return str(self.references[-1])

    def environment(self, _flags: int, depth: int) -> None:
        self.integer()
        self.references.append(None)
        for _ in range(4):  # enclosure, frame, table, attributes
            self.item(depth + 1)

    def pointer(self, flags: int, depth: int) -> None:
        self.references.append(None)
        for _ in range(2):
            self.item(depth + 1)
        self.attributes(flags, depth)

    def weak(self, flags: int, depth: int) -> None:
        self.references.append(None)
        self.attributes(flags, depth)

    def namespace(self, _flags: int, depth: int) -> None:
        self.integer()
        for _ in range(self.length(4)):
            self.item(depth + 1)
        self.references.append(None)

    def builtin(self, _flags: int, _depth: int) -> None:
        self.take(self.integer())

    def alternative(self, _flags: int, depth: int) -> RValue | None:
        """Compact forms of vectors: ranges, wrapped vectors, numbers to be shown as text."""
        described, state, attributes = (self.item(depth + 1) for _ in range(3))
        name = described.values[0] if isinstance(described, _Pairs) and described.values else ""
        named = dict(zip(attributes.tags, attributes.values, strict=True)) if isinstance(attributes, _Pairs) else {}
        if name in {"compact_intseq", "compact_realseq"}:
            count, start, step = (float(number) for number in state.values)
            if not 0 <= count < 2**31 or not abs(start) < 2**53 or not abs(step) < 2**31:
                raise RProblem("a compact range is too long", self.position)
            return RValue(range(int(start), int(start) + int(count) * int(step), int(step) or 1), named)
        if str(name).startswith("wrap_"):
            inner = state.values[0]
            return RValue(inner.values, {**inner.attributes, **named})
        if name == "deferred_string":
            numbers = state.values[0].values
            if len(numbers) > self.size:  # a range, which takes no room
                raise RProblem("a vector promises more elements than the file holds", self.position)
            return RValue([_number_text(number) for number in numbers], named)
        raise RProblem(
            f"the R object has a compact form that biasgauge does not know ({str(name)[:40]})", self.position
        )


def _number_text(number: Any) -> str:  # noqa: ANN401 - of NumPy or a range
    """Text as which R shows a number: with 15 digits at most, and an exponent where that is shorter."""
    value = float(f"{float(number):.15g}")
    if not np.isfinite(value):
        return {float("inf"): "Inf", float("-inf"): "-Inf"}.get(value, "NaN")
    fixed = np.format_float_positional(value, trim="-")
    short = np.format_float_scientific(value, trim="-", exp_digits=2)
    return short if len(short) < len(fixed) else fixed


def _nothing(_reader: _Reader, _flags: int, _depth: int) -> None:
    """Read nothing more."""


_SIMPLE: Mapping[int, Callable[[_Reader, int, int], Any]] = {
    _NULL: _nothing,
    **dict.fromkeys(_FIXED, _nothing),
    _CHARACTER: _Reader.character,
    _SYMBOL: _Reader.symbol,
    _ENVIRONMENT: _Reader.environment,
    _POINTER: _Reader.pointer,
    _WEAK: _Reader.weak,
    _ALTREP: _Reader.alternative,
    **dict.fromkeys(_NAMESPACES, _Reader.namespace),
    **dict.fromkeys(_BUILTIN, _Reader.builtin),
}
