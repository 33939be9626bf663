"""Inputs that somebody broke: bytes of a sound file with a few changes, blind or with an eye for JSON."""

from __future__ import annotations

import json
import random
import struct
from copy import deepcopy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKENS = (
    *(b"[", b"{", b"]", b"}", b'"', b"'", b",", b"\t", b";", b"\n", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b"1e999"),
    *(b"NaN", b"Infinity", b"-1", b"99999999999999999999", b"null", b"true", b"\xed\xa0\x80", b"\x1b[2J", b"=1+1"),
    *(b"#begin document", b"#end document", b"(7", b"7)", b"[[", b"\\u0000", b"\\ud800", b"\x80\x04", b"PK\x03\x04"),
)
NUMBERS = (
    *(struct.pack("<f", number) for number in (float("nan"), float("inf"), -0.0, 3e38, 1e-45)),
    *(struct.pack("<i", number) for number in (-1, 0, 1, 2, 7, 255, 2**31 - 1, -(2**31))),
    *(struct.pack("<q", number) for number in (-1, 0, 1, 2, 3, 5, 2**40, 2**63 - 1, -(2**63))),
    *(bytes([number]) for number in (0, 1, 2, 5, 127, 128, 255)),
)
"""Numbers that may stand in an array of somebody who means harm."""
HOSTILE: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**31, 2**63, 10**30, -0.5, 1e308, "", "\x00", "../../x", "\ud800", "nan", "a" * 300),
    *([], {}, [[]], [None], {"": None}, [0, "a", None], {"a": {"b": []}}),
)
"""What may stand anywhere in a JSON file of somebody who means harm."""


def mutated(content: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """Bytes with a few changes: flipped bits, tokens put in, pieces cut out, doubled or taken from another input."""
    data = bytearray(content)
    if data and chance.random() < 0.3:
        return _overwritten(data, chance)
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        place, end = sorted((chance.randint(0, len(data)), chance.randint(0, len(data))))
        kind = chance.randrange(6)
        if kind == 0 and data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[place:place] = chance.choice(TOKENS) * chance.choice((1, 1, 1, 3, 300))
        elif kind == 2:
            del data[place : min(end, place + chance.choice((1, 4, 64, 4096)))]
        elif kind == 3:
            data[place:place] = data[place : min(end, place + 64)] * chance.choice((1, 2, 50))
        elif kind == 4:
            other = chance.choice(others)
            start = chance.randint(0, len(other))
            data[place : min(end, place + 32)] = other[start : start + chance.choice((4, 32, 256))]
        else:
            data[place:end] = bytes(chance.randrange(256) for _ in range(min(end - place, 8)))
    return bytes(data[:100_000])


def _overwritten(data: bytearray, chance: random.Random) -> bytes:
    """As many bytes as before, with some numbers exchanged: what lies behind a header that must fit is reached."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        number = chance.choice(NUMBERS)
        place = max(chance.randrange(len(data)) for _ in range(chance.choice((1, 4))))  # headers come first
        start = place // len(number) * len(number)
        data[start : start + len(number)] = number[: len(data) - start]
    return bytes(data)


def altered_json(content: bytes, chance: random.Random) -> bytes | None:
    """JSON in which some value was exchanged, removed or renamed; None where the bytes are no JSON, or nested deep."""
    try:
        return _altered(json.loads(content), chance)
    except (ValueError, RecursionError):
        return None


def _altered(tree: Any, chance: random.Random) -> bytes:  # noqa: ANN401 - JSON
    for _ in range(chance.choice((1, 1, 2, 4))):
        places = list(_places(tree))
        if not places:
            break
        parent, key = chance.choice(places)
        kind = chance.randrange(8)
        if kind == 0:
            del parent[key]
        elif kind == 1 and isinstance(parent, dict):
            parent[f"{key}x"] = parent.pop(key)
        elif kind == 2 and isinstance(parent, list):
            parent.extend(deepcopy(parent[key]) for _ in range(chance.choice((1, 100))))
        elif kind == 3:
            other, where = chance.choice(places)
            parent[key] = deepcopy(other[where]) if _has(other, where) else None
        else:
            parent[key] = deepcopy(chance.choice(HOSTILE))
    return json.dumps(tree, ensure_ascii=chance.random() < 0.9).encode("utf-8", "surrogatepass")


def _has(parent: Any, key: Any) -> bool:  # noqa: ANN401 - a list or a dict
    return key in parent if isinstance(parent, dict) else key < len(parent)


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - JSON
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, child in list(children):
        yield tree, key
        yield from _places(child)
