"""Bytes that Arrow and Parquet files take in memory, summed over their headers before anything is unpacked.

pyarrow sets memory aside for whatever a header promises: some hundred bytes may become gigabytes, by compression, by
numbers that are repeated, or by texts that are named again and again. Arrow's headers are FlatBuffers, Parquet's are
Thrift in its compact protocol; both are read here as far as sizes go.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

Content = Any
"""Bytes, or a memory map of a file."""
ARROW_MARK = b"ARROW1"
_CONTINUATION = 0xFFFFFFFF
_DICTIONARY, _BATCH = 2, 3
"""Types of messages that have buffers."""
_PAGES, _DICTIONARY_PAGE = (5, 7, 8), 7
"""Fields of a page's header by its type."""
_NUMBER = 8
"""Bytes of the largest number in a column."""
_DEEPEST = 20
_TRUE, _FALSE = 1, 2


class TableSizeError(ValueError):
    """The headers of a table do not fit its bytes."""


def arrow_unpacked_size(content: Content) -> int:
    """Bytes of all buffers of an Arrow file or stream, once they are unpacked.

    Raises:
        TableSizeError: it is damaged, or a stream that ends without the mark of its end.
    """
    messages = _listed_messages if content[: len(ARROW_MARK)] == ARROW_MARK else _messages_in_turn
    try:
        return sum(_message_size(content, header, body) for header, body in messages(content))
    except (struct.error, IndexError, TypeError) as problem:
        raise TableSizeError("a header points beyond the end") from problem


def _listed_messages(content: Content) -> Iterator[tuple[int, int]]:
    """Place of each header and of its body, as the list at the end of a file has them."""
    end = len(content) - len(ARROW_MARK) - 4
    if end < 0 or content[end + 4 :] != ARROW_MARK:
        raise TableSizeError("it ends without Arrow's mark")
    start = end - struct.unpack_from("<i", content, end)[0]
    footer = start + struct.unpack_from("<I", content, start)[0]
    for blocks in (_reference(content, footer, field) for field in (2, 3)):  # of dictionaries, of batches
        if blocks is None:
            continue
        (number,) = struct.unpack_from("<I", content, blocks)
        for place in range(blocks + 4, blocks + 4 + 24 * number, 24):
            offset, length = struct.unpack_from("<qi", content, place)
            (mark,) = struct.unpack_from("<I", content, offset)
            yield offset + (8 if mark == _CONTINUATION else 4), offset + length


def _messages_in_turn(content: Content) -> Iterator[tuple[int, int]]:
    """Place of each header of a stream and of its body, to the mark of the end."""
    place = 0
    while True:
        mark, length = struct.unpack_from("<II", content, place)
        if mark != _CONTINUATION:
            raise TableSizeError("a message does not begin as it should")
        if not length:
            return
        header = place + 8
        yield header, header + length
        (root,) = struct.unpack_from("<I", content, header)
        body = _field(content, header + root, 3)
        place = header + length + (0 if body is None else struct.unpack_from("<q", content, body)[0])
        if place < header + length:
            raise TableSizeError("a message has a length below 0")


def _message_size(content: Content, header: int, body: int) -> int:
    message = header + struct.unpack_from("<I", content, header)[0]
    kind, batch = _field(content, message, 1), _reference(content, message, 2)
    if kind is None or batch is None or content[kind] not in (_DICTIONARY, _BATCH):
        return 0
    if content[kind] == _DICTIONARY:
        batch = _reference(content, batch, 1)
    buffers = None if batch is None else _reference(content, batch, 2)
    if batch is None or buffers is None:
        return 0
    packed = _reference(content, batch, 3) is not None
    (number,) = struct.unpack_from("<I", content, buffers)
    size = 0
    for place in range(buffers + 4, buffers + 4 + 16 * number, 16):
        offset, length = struct.unpack_from("<qq", content, place)
        unpacked = struct.unpack_from("<q", content, body + offset)[0] if packed and length >= 8 else -1
        if min(offset, length) < 0 or unpacked < -1:
            raise TableSizeError("a buffer has a length below 0")
        size += max(length, unpacked)
    return size


def _field(content: Content, table: int, number: int) -> int | None:
    """Place of a field of a table of FlatBuffers; None where it is left out."""
    names = table - struct.unpack_from("<i", content, table)[0]
    entry = 4 + 2 * number
    if names < 0 or table < 0 or entry >= struct.unpack_from("<H", content, names)[0]:
        return None
    (offset,) = struct.unpack_from("<H", content, names + entry)
    return table + offset if offset else None


def _reference(content: Content, table: int, number: int) -> int | None:
    """Place of the table or vector to which a field points."""
    place = _field(content, table, number)
    return None if place is None else place + int(struct.unpack_from("<I", content, place)[0])


class ParquetSizes(NamedTuple):
    """Bytes of all pages, once they are unpacked, with the numbers they stand for; and of the largest dictionary."""

    unpacked: int
    dictionary: int


def parquet_sizes(content: Content) -> ParquetSizes:
    """Return what the pages of a Parquet file take in memory.

    Raises:
        TableSizeError: it is damaged.
    """
    try:
        (length,) = struct.unpack_from("<I", content, len(content) - 8)
        footer = _Compact(content, len(content) - 8 - length).structure()
        chunks = [chunk[3] for group in footer.get(4, ()) for chunk in group.get(1, ()) if 3 in chunk]
        sizes = [_chunk_sizes(content, chunk) for chunk in chunks]
        return ParquetSizes(sum(size.unpacked for size in sizes), max((size.dictionary for size in sizes), default=0))
    except (struct.error, IndexError, KeyError, TypeError, AttributeError) as problem:
        raise TableSizeError("a header points beyond the end") from problem


def _chunk_sizes(content: Content, chunk: dict[int, Any]) -> ParquetSizes:
    """Sizes of the pages of one column in one group of rows."""
    dictionary, data = chunk.get(11) or 0, chunk[9]
    place = dictionary if 0 < dictionary < data else data
    end = min(place + chunk[7], len(content))
    size = largest = 0
    while place < end and chunk[5]:  # without values no page is read, and places may be 0
        reader = _Compact(content, place)
        page = reader.structure()
        values = [page[kind][1] for kind in _PAGES if kind in page]
        if page[3] < 0 or page[2] < 0 or min(values, default=0) < 0:
            raise TableSizeError("a page has a length below 0")
        size += page[2] + _NUMBER * sum(values)
        largest = max(largest, page[2] if _DICTIONARY_PAGE in page else 0)
        place = reader.place + page[3]
    return ParquetSizes(size, largest)


class _Compact:
    """Reads Thrift's compact protocol from some place on."""

    def __init__(self, content: Content, place: int) -> None:
        if place < 0:
            raise TableSizeError("a header lies before the beginning")
        self._content, self.place = content, place

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """Read the fields of a structure, by their numbers."""
        if depth > _DEEPEST:
            raise TableSizeError("a header is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while (byte := self._byte()) != 0:
            number = number + (byte >> 4) if byte >> 4 else self._integer()
            kind = byte & 15
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:  # noqa: ANN401 - of any type
        match kind:
            case 4 | 5 | 6:
                return self._integer()
            case 8:
                return self._skip(self._whole())
            case 9 | 10:
                return self._list(depth)
            case 12:
                return self.structure(depth + 1)
            case 1 | 2 | 3:  # in a list, a truth value takes a byte
                return self._byte()
            case 7:
                return self._skip(8)
        raise TableSizeError("a header has a field of an unknown type")

    def _list(self, depth: int) -> list[Any]:
        byte = self._byte()
        number = byte >> 4 if byte >> 4 < 15 else self._whole()
        if number > len(self._content) or depth > _DEEPEST:
            raise TableSizeError("a list is longer than the file")
        return [self._value(byte & 15, depth + 1) for _ in range(number)]

    def _byte(self) -> int:
        self.place += 1
        return int(self._content[self.place - 1])

    def _whole(self) -> int:
        byte = self._content[self.place]
        self.place += 1
        number, shift = byte & 127, 7
        while byte > 127:
            byte = self._content[self.place]
            self.place += 1
            number |= (byte & 127) << shift
            shift += 7
            if shift > 70:
                raise TableSizeError("a number is too long")
        return int(number)

    def _integer(self) -> int:
        number = self._whole()
        return (number >> 1) ^ -(number & 1)

    def _skip(self, length: int) -> None:
        """Pass over bytes, which must be there."""
        self.place += length


def column_texts(column: Any) -> list[str | None]:  # noqa: ANN401 - of pyarrow, which has no types
    """Texts of a column; those of a dictionary are made once, however often they are named."""
    import pyarrow as pa

    if not isinstance(column, pa.DictionaryArray):
        texts: list[str | None] = column.to_pylist()
        return texts
    codes = column.indices.to_pylist()
    used = sorted({code for code in codes if code is not None})
    # pa.array imports pandas, which takes longer than most files
    rows = pa.Array.from_buffers(pa.int64(), len(used), [None, pa.py_buffer(array("q", used))])
    values = dict(zip(used, column.dictionary.take(rows).to_pylist(), strict=True))
    return [values.get(code) for code in codes]
