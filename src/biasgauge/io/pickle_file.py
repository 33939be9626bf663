"""Pickles of plain values, interpreted here opcode by opcode: nothing is imported, called or run.

A pickle is a program for a small stack machine (protocols 0 to 5). Most of its opcodes push plain values: lists,
tuples, dicts, sets, text, bytes, numbers, True, False and None. The few that name a class, call it or set its state are
refused by their name, unless a reader lists the names that it knows: what such an opcode would make then becomes a
`PickledRecord`, which holds the name, the arguments and the state as plain values and does nothing.

No step recurses, so depth costs no stack. Keys of dicts and members of sets are text, bytes, numbers or None, which are
hashed without recursion.
"""

from __future__ import annotations

import codecs
import mmap
import struct
from collections.abc import Callable, Collection
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from biasgauge.io.source import physical_memory, readable_size

PERSISTENT = "persistent id"
"""Among the names that a reader lists: references to something outside the pickle become records of that name."""
LONGEST_LINE = 2**24
"""Bytes of a line of protocol 0, which holds one number or text."""
_LONGEST_INTEGER = 16
"""Bytes; beyond 64 bits there is no count of words, and reading decimal digits takes quadratic time."""
_LONGEST_DIGITS = 40
_MOST_MARKS = 100
_LONGEST_RUN = 4096
"""Texts that are read before memory is looked at again."""
_LONGEST_PYTHON_2_TEXT = 2**20
"""Bytes of a Python 2 string that may be text; longer ones are the numbers of an array."""
_VALUE_BYTES = 64
"""Bytes that a value takes at least on average: what bounds the number of opcodes by the machine's memory."""


class PickleProblem(ValueError):  # noqa: N818 - a sentence for whoever reads the file, who raises an error of their own
    """Reason why a pickle is not read, and the byte where that is."""

    def __init__(self, sentence: str, offset: int) -> None:
        super().__init__(sentence)
        self.offset = offset


class PickleRefusal(PickleProblem):
    """The pickle may be sound, but holds more than plain values."""


class PickledName(NamedTuple):
    """Name of a class or function in a pickle, which is looked up nowhere."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class PickledRecord:
    """An object in a pickle: the name of its class or function, arguments, state and entries, all of them plain."""

    __slots__ = ("arguments", "entries", "name", "state")

    def __init__(self, name: PickledName, arguments: tuple[Any, ...]) -> None:
        self.name = name
        self.arguments = arguments
        self.state: Any = None
        self.entries: dict[Any, Any] | None = None


class _Mark(NamedTuple):
    """The stack below a mark."""

    stack: list[Any]


def interpret_pickle(content: bytes | mmap.mmap, names: Collection[str] = frozenset()) -> object:
    """Return the value that a pickle makes, as plain containers; `names` are those of records that it may hold.

    Long bytes are views of `content`, not copies.

    Raises:
        PickleProblem: it is damaged, has opcodes beyond plain values, or names that are not among `names`.
    """
    return _Machine(content, names).run()


class _Machine:
    """The stack machine. Each method is one opcode or several that differ in width."""

    def __init__(self, content: bytes | mmap.mmap, names: Collection[str]) -> None:
        self.content = content
        self.size = len(content)
        self.view = memoryview(content)
        self.names = names
        self.position = 0
        self.start = 0
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.values = 0  # at most, which bounds their memory

    def run(self) -> object:
        try:
            self.execute()
            value = self.stack.pop()
        except PickleProblem:
            raise
        except (IndexError, KeyError, ValueError, TypeError, struct.error, OverflowError) as problem:
            name = _NAMES.get(self.content[self.start], "unknown")
            reason = f"{type(problem).__name__}: {str(problem)[:100]}"
            sentence = f"the pickle is damaged at its opcode {name} ({reason}); copy it again"
            raise PickleProblem(sentence, self.start) from None
        if self.stack or self.marks:
            raise PickleProblem("the pickle leaves more than one value; copy it again", self.start)
        return value

    def execute(self) -> None:
        """Interpret opcodes up to STOP."""
        content, size, opcodes = self.content, self.size, _OPCODES
        most = physical_memory() // _VALUE_BYTES
        while self.position < size:
            code = content[self.position]
            self.start = self.position
            self.position += 1
            if code == _STOP:
                return
            opcodes[code](self)
            self.values += 1
            if self.values > most:
                needed = readable_size(self.values * _VALUE_BYTES)
                raise PickleProblem(f"the values of the pickle take more than {needed} of memory", self.start)
        raise PickleProblem("the pickle ends before its STOP: it was cut short; copy it again", size)

    def refuse(self) -> None:
        start, code = self.start, self.content[self.start]
        if code not in _NAMES:
            raise PickleProblem(f"the byte 0x{code:02x} is no opcode of a pickle: the file is damaged", start)
        self.refuse_object("")

    def refuse_object(self, name: str) -> NoReturn:
        """Refuse the current opcode, which would make or call `name`."""
        subject = f" for {name[:100]!r}" if name else ""
        raise PickleRefusal(
            f"the pickle has the opcode {_NAMES[self.content[self.start]]}{subject}, which could run code",
            self.start,
        )

    # Reading of arguments

    def take(self, size: int) -> bytes:
        """Copy the next bytes."""
        end = self.position + size
        if end > len(self.content):
            raise PickleProblem("the pickle ends in the middle of a value: it was cut short; copy it again", end)
        piece = self.content[self.position : end]
        self.position = end
        return piece

    def line(self) -> bytes:
        end = self.content.find(b"\n", self.position, self.position + LONGEST_LINE)
        if end < 0:
            raise PickleProblem("the pickle ends in the middle of a line: it was cut short", self.position)
        piece = self.content[self.position : end]
        self.position = end + 1
        return piece

    def length(self, width: int) -> int:
        if width == 1:
            self.position += 1
            return self.content[self.position - 1]
        return int.from_bytes(self.take(width), "little")

    def chunk(self, size: int) -> bytes | memoryview:
        """Bytes of the pickle; long ones as a view, so that they take no memory."""
        if size < _LONGEST_PYTHON_2_TEXT:
            return self.take(size)
        end = self.position + size
        if end > len(self.content):
            raise PickleProblem("the pickle ends in the middle of a value: it was cut short; copy it again", end)
        piece = self.view[self.position : end]
        self.position = end
        return piece

    def pop_to_mark(self) -> list[Any]:
        values = self.stack
        self.stack = self.marks.pop()
        return values

    # Opcodes

    def protocol(self) -> None:
        version = self.length(1)
        if version > 5:
            raise PickleProblem(f"the pickle is of protocol {version}; biasgauge reads 0 to 5", self.start)

    def frame(self) -> None:
        size = self.length(8)
        if size > len(self.content) - self.position:
            raise PickleProblem("the pickle ends in the middle of a frame: it was cut short", self.start)

    def mark(self) -> None:
        if len(self.marks) == _MOST_MARKS:
            raise PickleProblem(f"the pickle is nested deeper than {_MOST_MARKS} levels", self.start)
        self.marks.append(self.stack)
        self.stack = []

    def pop(self) -> None:
        if self.stack:
            self.stack.pop()
        else:
            self.pop_to_mark()

    def pop_mark(self) -> None:
        self.pop_to_mark()

    def duplicate(self) -> None:
        self.stack.append(self.stack[-1])

    def none(self) -> None:
        self.stack.append(None)

    def true(self) -> None:
        self.stack.append(True)

    def false(self) -> None:
        self.stack.append(False)

    def decimal_integer(self) -> None:
        line = self.line()
        if line in {b"00", b"01"}:  # truth values of protocol 0
            self.stack.append(line == b"01")
        else:
            self.stack.append(_integer(line))

    def decimal_long(self) -> None:
        self.stack.append(_integer(self.line().removesuffix(b"L")))

    def four_byte_integer(self) -> None:
        self.stack.append(int.from_bytes(self.take(4), "little", signed=True))

    def one_byte_integer(self) -> None:
        self.stack.append(self.length(1))

    def two_byte_integer(self) -> None:
        self.stack.append(self.length(2))

    def long(self, width: int) -> None:
        size = self.length(width)
        if size > _LONGEST_INTEGER:
            raise PickleRefusal(f"the pickle has an integer of {size:,} bytes", self.start)
        self.stack.append(int.from_bytes(self.take(size), "little", signed=True))

    def decimal_float(self) -> None:
        line = self.line()
        if b"_" in line or len(line) > _LONGEST_DIGITS:
            raise ValueError(f"no number: {line[:_LONGEST_DIGITS]!r}")
        self.stack.append(float(line))

    def eight_byte_float(self) -> None:
        self.stack.append(struct.unpack(">d", self.take(8))[0])

    def quoted(self) -> None:
        line = self.line().rstrip()
        if len(line) < 2 or line[:1] != line[-1:] or line[:1] not in {b'"', b"'"}:
            raise ValueError("text without quotation marks")
        raw, _ = codecs.escape_decode(line[1:-1])
        self.stack.append(_python_2_text(raw))

    def python_2_string(self, width: int) -> None:
        self.stack.append(_python_2_text(self.chunk(self.length(width))))

    def escaped_text(self) -> None:
        self.stack.append(self.line().decode("raw-unicode-escape"))

    def text(self, width: int) -> None:
        """Read a text, and those that follow it: most opcodes of a vocabulary are texts and what remembers them."""
        content, stack, memo, position = self.content, self.stack, self.memo, self.position
        again = content[self.start]
        for _ in range(_LONGEST_RUN):
            start = position + width
            position = start + int.from_bytes(content[position:start], "little")
            if position > self.size:
                raise PickleProblem("the pickle ends in the middle of a value: it was cut short; copy it again", start)
            value = str(content[start:position], "utf-8", "surrogatepass")
            stack.append(value)
            tail = content[position : position + 6]
            if tail[:1] == b"\x94":  # MEMOIZE
                memo[len(memo)] = value
                size = 1
            elif tail[:1] == b"q" and len(tail) > 1:  # BINPUT
                memo[tail[1]] = value
                size = 2
            elif tail[:1] == b"r" and len(tail) > 4:  # LONG_BINPUT
                memo[int.from_bytes(tail[1:5], "little")] = value
                size = 5
            else:
                size = 0
            position += size
            if len(tail) <= size or tail[size] != again:
                break
            self.start = position
            position += 1
            self.values += 2  # opcodes
        else:
            position = self.start  # the main loop goes on with this text
        self.position = position

    def byte_string(self, width: int) -> None:
        self.stack.append(self.chunk(self.length(width)))

    def empty_list(self) -> None:
        self.stack.append([])

    def make_list(self) -> None:
        values = self.pop_to_mark()
        self.stack.append(values)

    def append(self) -> None:
        value = self.stack.pop()
        _expect(self.stack[-1], list).append(value)

    def append_all(self) -> None:
        values = self.pop_to_mark()
        _expect(self.stack[-1], list).extend(values)

    def empty_tuple(self) -> None:
        self.stack.append(())

    def make_tuple(self) -> None:
        values = self.pop_to_mark()
        self.stack.append(tuple(values))

    def short_tuple(self, size: int) -> None:
        values = tuple(self.stack[-size:])
        if len(values) < size:
            raise IndexError("too few values for a tuple")
        self.stack[-size:] = [values]

    def empty_dict(self) -> None:
        self.stack.append({})

    def make_dict(self) -> None:
        values = self.pop_to_mark()
        self.stack.append(_pairs(values))

    def set_entry(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        _entries(self.stack[-1])[_key(key)] = value

    def set_entries(self) -> None:
        values = self.pop_to_mark()
        _entries(self.stack[-1]).update(_pairs(values))

    def empty_set(self) -> None:
        self.stack.append(set())

    def add_members(self) -> None:
        values = self.pop_to_mark()
        _expect(self.stack[-1], set).update(map(_key, values))

    def frozen_set(self) -> None:
        values = self.pop_to_mark()
        self.stack.append(frozenset(map(_key, values)))

    def put_decimal(self) -> None:
        self.memo[_integer(self.line())] = self.stack[-1]

    def put(self, width: int) -> None:
        self.memo[self.length(width)] = self.stack[-1]

    def memoize(self) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def get_decimal(self) -> None:
        self.stack.append(self.memo[_integer(self.line())])

    def get(self, width: int) -> None:
        self.stack.append(self.memo[self.length(width)])

    # Opcodes of objects, for readers that know their names

    def named(self) -> None:
        self.push_name(self.line().decode("ascii"), self.line().decode("ascii"))

    def named_on_stack(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        self.push_name(_expect(module, str), _expect(name, str))

    def push_name(self, module: str, name: str) -> None:
        full = PickledName(module, name)
        if str(full) not in self.names:
            self.refuse_object(str(full))
        self.stack.append(full)

    def call(self) -> None:
        if not self.names:
            self.refuse()
        arguments, name = self.stack.pop(), self.stack.pop()
        self.stack.append(PickledRecord(_expect(name, PickledName), _expect(arguments, tuple)))

    def persistent(self) -> None:
        """Refer to something outside the pickle, such as a member of an archive."""
        if PERSISTENT not in self.names:
            self.refuse()
        self.stack.append(PickledRecord(PickledName("", PERSISTENT), (self.stack.pop(),)))

    def build(self) -> None:
        if not self.names:
            self.refuse()
        state = self.stack.pop()
        _expect(self.stack[-1], PickledRecord).state = state


def _expect(value: object, kind: type[Any]) -> Any:  # noqa: ANN401 - of that type
    if type(value) is not kind:
        raise TypeError(f"{kind.__name__} expected, {type(value).__name__} found")
    return value


def _entries(value: object) -> dict[Any, Any]:
    """Dict that entries go to: a dict itself, or that of a record such as a defaultdict."""
    if type(value) is PickledRecord:
        if value.entries is None:
            value.entries = {}
        return value.entries
    entries: dict[Any, Any] = _expect(value, dict)
    return entries


def _key(value: object) -> object:
    if type(value) not in _KEYS:
        raise TypeError(f"a {type(value).__name__} is no key")
    return value


def _pairs(values: list[Any]) -> dict[Any, Any]:
    if len(values) % 2:
        raise ValueError("a key without a value")
    keys = values[::2]
    if not _KEYS.issuperset(map(type, keys)):
        raise TypeError("a key that is neither text nor a number")
    return dict(zip(keys, values[1::2], strict=True))


def _integer(digits: bytes) -> int:
    if len(digits) > _LONGEST_DIGITS or b"_" in digits:
        raise ValueError(f"no integer: {digits[:_LONGEST_DIGITS]!r}")
    return int(digits)


def _python_2_text(raw: bytes | memoryview) -> str | bytes | memoryview:
    """Text of Python 2, which was bytes; what is no UTF-8 stays bytes."""
    if isinstance(raw, memoryview):
        return raw
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw


_KEYS = frozenset({str, bytes, int, float, bool, type(None)})
_STOP = ord(".")
_TABLE: tuple[tuple[bytes, str, Callable[..., None] | None, int | None], ...] = (
    (b"\x80", "PROTO", _Machine.protocol, None),
    (b"\x95", "FRAME", _Machine.frame, None),
    (b".", "STOP", None, None),
    (b"(", "MARK", _Machine.mark, None),
    (b"0", "POP", _Machine.pop, None),
    (b"1", "POP_MARK", _Machine.pop_mark, None),
    (b"2", "DUP", _Machine.duplicate, None),
    (b"N", "NONE", _Machine.none, None),
    (b"\x88", "NEWTRUE", _Machine.true, None),
    (b"\x89", "NEWFALSE", _Machine.false, None),
    (b"I", "INT", _Machine.decimal_integer, None),
    (b"L", "LONG", _Machine.decimal_long, None),
    (b"J", "BININT", _Machine.four_byte_integer, None),
    (b"K", "BININT1", _Machine.one_byte_integer, None),
    (b"M", "BININT2", _Machine.two_byte_integer, None),
    (b"\x8a", "LONG1", _Machine.long, 1),
    (b"\x8b", "LONG4", _Machine.long, 4),
    (b"F", "FLOAT", _Machine.decimal_float, None),
    (b"G", "BINFLOAT", _Machine.eight_byte_float, None),
    (b"S", "STRING", _Machine.quoted, None),
    (b"T", "BINSTRING", _Machine.python_2_string, 4),
    (b"U", "SHORT_BINSTRING", _Machine.python_2_string, 1),
    (b"V", "UNICODE", _Machine.escaped_text, None),
    (b"X", "BINUNICODE", _Machine.text, 4),
    (b"\x8c", "SHORT_BINUNICODE", _Machine.text, 1),
    (b"\x8d", "BINUNICODE8", _Machine.text, 8),
    (b"B", "BINBYTES", _Machine.byte_string, 4),
    (b"C", "SHORT_BINBYTES", _Machine.byte_string, 1),
    (b"\x8e", "BINBYTES8", _Machine.byte_string, 8),
    (b"\x96", "BYTEARRAY8", _Machine.byte_string, 8),
    (b"]", "EMPTY_LIST", _Machine.empty_list, None),
    (b"l", "LIST", _Machine.make_list, None),
    (b"a", "APPEND", _Machine.append, None),
    (b"e", "APPENDS", _Machine.append_all, None),
    (b")", "EMPTY_TUPLE", _Machine.empty_tuple, None),
    (b"t", "TUPLE", _Machine.make_tuple, None),
    (b"\x85", "TUPLE1", _Machine.short_tuple, 1),
    (b"\x86", "TUPLE2", _Machine.short_tuple, 2),
    (b"\x87", "TUPLE3", _Machine.short_tuple, 3),
    (b"}", "EMPTY_DICT", _Machine.empty_dict, None),
    (b"d", "DICT", _Machine.make_dict, None),
    (b"s", "SETITEM", _Machine.set_entry, None),
    (b"u", "SETITEMS", _Machine.set_entries, None),
    (b"\x8f", "EMPTY_SET", _Machine.empty_set, None),
    (b"\x90", "ADDITEMS", _Machine.add_members, None),
    (b"\x91", "FROZENSET", _Machine.frozen_set, None),
    (b"p", "PUT", _Machine.put_decimal, None),
    (b"q", "BINPUT", _Machine.put, 1),
    (b"r", "LONG_BINPUT", _Machine.put, 4),
    (b"\x94", "MEMOIZE", _Machine.memoize, None),
    (b"g", "GET", _Machine.get_decimal, None),
    (b"h", "BINGET", _Machine.get, 1),
    (b"j", "LONG_BINGET", _Machine.get, 4),
    (b"c", "GLOBAL", _Machine.named, None),
    (b"\x93", "STACK_GLOBAL", _Machine.named_on_stack, None),
    (b"R", "REDUCE", _Machine.call, None),
    (b"\x81", "NEWOBJ", _Machine.call, None),
    (b"b", "BUILD", _Machine.build, None),
    (b"\x92", "NEWOBJ_EX", None, None),
    (b"P", "PERSID", None, None),
    (b"Q", "BINPERSID", _Machine.persistent, None),
    (b"i", "INST", None, None),
    (b"o", "OBJ", None, None),
    (b"\x82", "EXT1", None, None),
    (b"\x83", "EXT2", None, None),
    (b"\x84", "EXT4", None, None),
    (b"\x97", "NEXT_BUFFER", None, None),
    (b"\x98", "READONLY_BUFFER", None, None),
)
"""Opcode, its name in Python's documentation, the method that interprets it (None: refused) and its argument."""


def _bound(method: Callable[..., None], argument: int | None) -> Callable[[_Machine], None]:
    return method if argument is None else lambda machine: method(machine, argument)


_NAMES = MappingProxyType({code[0]: name for code, name, _, _ in _TABLE})
_METHODS = {code[0]: _bound(method, argument) for code, _, method, argument in _TABLE if method is not None}
_OPCODES = tuple(_METHODS.get(code, _Machine.refuse) for code in range(256))
