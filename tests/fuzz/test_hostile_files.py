"""Odd and hostile files, one or more for each row of the table in `docs/reference/formats.md`, plain and gzipped."""

from __future__ import annotations

import gzip
import struct
import zlib
from typing import TYPE_CHECKING

import pytest

from biasgauge.vectors.formats.vector_format import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz.conftest import Build, Judge, Outcome, Table

pytestmark = pytest.mark.fuzz

A, B, C = [1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]
NAN, INF = float("nan"), float("inf")
BOM = b"\xef\xbb\xbf"
ROW_A, ROW_B, ROW_C = b"a 1 2 3\n", b"b 4 5 6\n", b"c 7 8 9\n"
THREE = ROW_A + ROW_B + ROW_C
ABC: Table = {"words": ["a", "b", "c"], "rows": [A, B, C]}
AC: Table = {"words": ["a", "c"], "rows": [A, C]}

# Text without a header: bytes, rows in it, and the table or (line, pattern of the error). Each is also read with one.
TEXT: dict[str, tuple[bytes, int, Table | tuple[int, str]]] = {
    "plain": (THREE, 3, ABC),
    "byte order mark": (BOM + THREE, 3, {**ABC, "codes": {"bom"}}),
    "CR LF": (THREE.replace(b"\n", b"\r\n"), 3, {**ABC, "codes": {"crlf"}}),
    "byte order mark and CR LF": (BOM + THREE.replace(b"\n", b"\r\n"), 3, {**ABC, "codes": {"bom", "crlf"}}),
    "blank line between": (ROW_A + b"\n" + ROW_B + b"\n\n" + ROW_C, 3, {**ABC, "codes": {"blank-line"}}),
    "line of blanks between": (ROW_A + b"  \t \n" + ROW_B + ROW_C, 3, {**ABC, "codes": {"blank-line"}}),
    "blank lines at the end": (THREE + b"\n\n\n", 3, ABC),
    "tabs": (THREE.replace(b" ", b"\t"), 3, ABC),
    "several blanks": (THREE.replace(b" ", b"   "), 3, ABC),
    "tab and space mixed": (THREE.replace(b" ", b" \t "), 3, ABC),
    "blanks at the end of lines": (THREE.replace(b"\n", b"  \n"), 3, ABC),
    "blanks and CR LF at the end of lines": (THREE.replace(b"\n", b" \r\n"), 3, {**ABC, "codes": {"crlf"}}),
    "no final line feed": (THREE[:-1], 3, {**ABC, "codes": {"no-final-newline"}}),
    "cut-off last number": (
        THREE + b"d 1 2 0.5",
        4,
        {"words": ["a", "b", "c", "d"], "rows": [A, B, C, [1.0, 2.0, 0.5]], "codes": {"no-final-newline"}},
    ),
    "word with a space": (
        ROW_A + b"new york 4 5 6\n" + ROW_C,
        3,
        {"words": ["a", "new york", "c"], "rows": [A, B, C], "codes": {"spaced-word"}},
    ),
    "word of spaced dots": (
        ROW_A + b". . . 4 5 6\n" + ROW_C,
        3,
        {"words": ["a", ". . .", "c"], "rows": [A, B, C], "codes": {"spaced-word"}},
    ),
    "spaced word that starts with another word": (
        ROW_A + b"a b 4 5 6\n" + ROW_C,
        3,
        {"words": ["a", "a b", "c"], "rows": [A, B, C], "codes": {"spaced-word"}},
    ),
    "no-break space in a word": (
        "a\u00a0b 1 2 3\n\u00a0 4 5 6\n".encode() + ROW_C,
        3,
        {"words": ["a\u00a0b", "\u00a0", "c"], "rows": [A, B, C]},
    ),
    "ideographic space, line separator, next line": (
        "\u3000 1 2 3\na\u2028 4 5 6\n\u0085 7 8 9\n".encode(),
        3,
        {"words": ["\u3000", "a\u2028", "\u0085"], "rows": [A, B, C]},
    ),
    "zero-width words": (
        "a 1 2 3\n\u200b 4 5 6\n\ufeff 7 8 9\n".encode(),
        3,
        {"words": ["a", "\u200b", "\ufeff"], "rows": [A, B, C]},
    ),
    "Latin-1 word": (
        ROW_A + b"caf\xe9 4 5 6\n" + ROW_C,
        3,
        {"words": ["a", "caf\\xe9", "c"], "rows": [A, B, C], "codes": {"invalid-utf8"}},
    ),
    "two Latin-1 words that a replacement character would merge": (
        b"\xe9 1 2 3\n\xe8 4 5 6\n" + ROW_C,
        3,
        {"words": ["\\xe9", "\\xe8", "c"], "rows": [A, B, C], "codes": {"invalid-utf8"}},
    ),
    "surrogate in UTF-8": (
        b"\xed\xa0\x80 1 2 3\n" + ROW_B,
        2,
        {"words": ["\\xed\\xa0\\x80", "b"], "rows": [A, B], "codes": {"invalid-utf8"}},
    ),
    "empty word": (ROW_A + b" 4 5 6\n" + ROW_C, 3, {**AC, "codes": {"empty-word"}}),
    "duplicate": (ROW_A + b"a 4 5 6\n" + ROW_C, 3, {**AC, "codes": {"duplicate"}}),
    "NaN": (ROW_A + b"b 4 nan 6\n" + ROW_C, 3, {**AC, "codes": {"not-finite"}, "dropped": ["b"]}),
    "infinity": (ROW_A + b"b -inf 5 6\n" + ROW_C, 3, {**AC, "codes": {"not-finite"}, "dropped": ["b"]}),
    "too large for 32 bits": (ROW_A + b"b 4 1e39 6\n" + ROW_C, 3, {**AC, "codes": {"not-finite"}, "dropped": ["b"]}),
    "too large for 64 bits": (ROW_A + b"b 4 -1e400 6\n" + ROW_C, 3, {**AC, "codes": {"not-finite"}, "dropped": ["b"]}),
    "zero vector": (ROW_A + b"b 0 -0.0 0e9\n", 2, {"words": ["a", "b"], "rows": [A, [0, 0, 0]], "codes": {"zero"}}),
    "too small for 32 bits": (ROW_A + b"b 4 1e-400 6\n", 2, {"words": ["a", "b"], "rows": [A, [4.0, 0.0, 6.0]]}),
    "number spelled at length": (
        ROW_A + b"b 4 0." + b"0" * 20_000 + b"1 +6.e0\n" + ROW_C,
        3,
        {"words": ["a", "b", "c"], "rows": [A, [4.0, 0.0, 6.0], C]},
    ),
    "words that look like numbers": (
        b"1 1 2 3\nnan 4 5 6\ninf 7 8 9\n1e5 1 2 3\n-7 4 5 6\n",
        5,
        {"words": ["1", "nan", "inf", "1e5", "-7"], "rows": [A, B, C, A, B]},
    ),
    "word with an underscore among digits": (b"1_000 1 2 3\n" + ROW_B, 2, {"words": ["1_000", "b"], "rows": [A, B]}),
    "too few numbers": (ROW_A + b"b 4 5\n" + ROW_C, 3, (2, "")),
    "too few numbers in the last row": (ROW_A + ROW_B + b"c 7 8\n", 3, (3, "")),
    "word alone": (ROW_A + b"b\n" + ROW_C, 3, (2, "")),
    "field that is no number": (ROW_A + b"b 4 five 6\n" + ROW_C, 3, (2, "five")),
    "underscore in a number": (ROW_A + ROW_B + b"c 7 8_0 9\n", 3, (3, "8_0")),
    "decimal comma": (ROW_A + b"b 4 5,5 6\n" + ROW_C, 3, (2, "5,5")),
    "hexadecimal number": (ROW_A + b"b 4 0x5 6\n" + ROW_C, 3, (2, "0x5")),
    "digits of another script": (ROW_A + "b 4 ५ 6\n".encode() + ROW_C, 3, (2, "")),
    "no-break space between numbers": (ROW_A + "b 4\u00a05 6\n".encode() + ROW_C, 3, (2, "")),
    "two signs": (ROW_A + b"b 4 --5 6\n" + ROW_C, 3, (2, "--5")),
    "very long word that is no row": (ROW_A + b"x" * 100_000 + b"\n" + ROW_C, 3, (2, "")),
    "very long word": (b"w" * 50_000 + b" 1 2 3\n" + ROW_B, 2, {"words": ["w" * 50_000, "b"], "rows": [A, B]}),
    "very long word with a vector that is not finite": (
        b"w" * 50_000 + b" 1 nan 3\n" + ROW_B,
        2,
        {"words": ["b"], "rows": [B], "codes": {"not-finite"}, "dropped": ["w" * 50_000]},
    ),
    "very long word that is not UTF-8": (
        b"w" + b"\xff" * 50_000 + b" 1 2 3\n" + ROW_B,
        2,
        {"words": ["w" + "\\xff" * 50_000, "b"], "rows": [A, B], "codes": {"invalid-utf8"}},
    ),
}

Row = tuple["str | bytes", list[float]]

# word2vec binary: what a builder writes, and the table or the pattern of the error.
BINARY: dict[str, tuple[Callable[[Build], bytes], Outcome]] = {
    "plain": (
        lambda b: b.binary([("a", A), ("b", B), ("c", C)]),
        {**ABC, "format": "word2vec-binary"},
    ),
    "with line feeds": (
        lambda b: b.binary([("a", A), ("b", B), ("c", C)], line_feed=True),
        {**ABC, "format": "word2vec-binary"},
    ),
    "promises more, ends with a row": (
        lambda b: b.binary([("a", A), ("b", B), ("c", C)], "5 3\n"),
        {**ABC, "codes": {"header-count"}},
    ),
    "promises a quintillion rows": (
        lambda b: b.binary([("a", A), ("b", B), ("c", C)], "999999999999999999 3\n", line_feed=True),
        {**ABC, "codes": {"header-count"}},
    ),
    "promises fewer": (
        lambda b: b.binary([("a", A), ("b", B), ("c", C)], "2 3\n"),
        {"words": ["a", "b"], "rows": [A, B], "codes": {"trailing-bytes"}},
    ),
    "bytes after the last row": (
        lambda b: b.binary([("a", A), ("b", B), ("c", C)]) + b"\0junk",
        {**ABC, "codes": {"trailing-bytes"}},
    ),
    "ends in the middle of a vector": (
        lambda b: b.binary([("a", A), ("b", B), ("c", C)])[:-5],
        r"byte \d+: ",
    ),
    "ends in the middle of a word": (
        lambda b: b.binary([("a", A), ("b", B)], "3 3\n") + b"cc",
        r"byte \d+: ",
    ),
    "more dimensions promised than there are": (lambda b: b.binary([("a", A), ("b", B)], "2 9\n"), r"byte \d+: "),
    "a billion dimensions promised": (lambda b: b.binary([("a", A), ("b", B)], "3 999999999\n"), ""),
    "no dimensions promised": (lambda b: b.binary([("a", A)], "1 0\n"), ""),
    "no-break space in a word": (
        lambda b: b.binary([("a\u00a0", A), ("\u3000", B)]),
        {"words": ["a\u00a0", "\u3000"], "rows": [A, B]},
    ),
    "Latin-1 word": (
        lambda b: b.binary([("a", A), (b"caf\xe9", B)]),
        {"words": ["a", "caf\\xe9"], "rows": [A, B], "codes": {"invalid-utf8"}},
    ),
    "empty word": (lambda b: b.binary([("a", A), ("", B), ("c", C)]), {**AC, "codes": {"empty-word"}}),
    "duplicate": (lambda b: b.binary([("a", A), ("a", B), ("c", C)]), {**AC, "codes": {"duplicate"}}),
    "NaN and infinity": (
        lambda b: b.binary([("a", A), ("b", [1.0, NAN, 2.0]), ("c", C), ("d", [-INF, 0.0, 0.0])]),
        {**AC, "codes": {"not-finite"}, "dropped": ["b", "d"]},
    ),
    "squares overflow, numbers do not": (
        lambda b: b.binary([("a", [2.0**127, 2.0**127, 0.0]), ("b", [2.0**-149, 0.0, 0.0])]),
        {"words": ["a", "b"], "rows": [[2.0**127, 2.0**127, 0.0], [2.0**-149, 0.0, 0.0]]},
    ),
    "zero vector": (
        lambda b: b.binary([("a", A), ("b", [0.0, -0.0, 0.0])]),
        {"words": ["a", "b"], "rows": [A, [0.0, 0.0, 0.0]], "codes": {"zero"}},
    ),
    "numbers whose bytes are letters": (
        lambda b: b.binary([("a", [12.078431129455566]), ("b", [12.078431129455566])]),
        {"words": ["a", "b"], "rows": [[12.078431129455566]] * 2, "format": "word2vec-binary"},
    ),
    "numbers whose bytes are spaces and line feeds": (
        lambda b: b.binary(
            [("a", list(struct.unpack("<3f", b"\n" * 12))), ("b", list(struct.unpack("<3f", b" " * 12)))]
        ),
        {
            "words": ["a", "b"],
            "rows": [list(struct.unpack("<3f", b"\n" * 12)), list(struct.unpack("<3f", b" " * 12))],
            "format": "word2vec-binary",
        },
    ),
    "numbers whose bytes hold a digit at the end of a line": (
        lambda b: b.binary(
            [("</s>", list(struct.unpack("<3f", b"\x81\x3d 7\n\xc1\x07\x3e\x11\x3c\x8d\xbd"))), ("b", B)]
        ),
        {
            "words": ["</s>", "b"],
            "rows": [list(struct.unpack("<3f", b"\x81\x3d 7\n\xc1\x07\x3e\x11\x3c\x8d\xbd")), B],
            "format": "word2vec-binary",
        },
    ),
    "very long word": (
        lambda b: b.binary([("w" * 1_000_000, A), ("b", B)]),
        {"words": ["w" * 1_000_000, "b"], "rows": [A, B]},
    ),
    "no blank ever": (lambda _: b"2 3\n" + b"\x01" * 3_000_000, ""),
    "row of noughts": (lambda _: b"2 3\n" + bytes(3_000_000), ""),
    "header alone": (lambda _: b"2 3\n\x00", r""),
    "word with a line feed inside": (lambda b: b.binary([("a", A), ("b\nc", B)]), None),
    "CR LF after the header": (lambda b: b.binary([("a", A), ("b", B)], "2 3\r\n"), None),
    "byte order mark": (lambda b: BOM + b.binary([("a", A), ("b", B)]), None),
}


def _npz(change: Callable[[Build], dict[str, bytes]], *, deflated: bool = False) -> Callable[[Build], bytes]:
    """Build a good archive with some members replaced."""

    def built(build: Build) -> bytes:
        members = {"words.npy": build.words(["a", "b"]), "vectors.npy": build.matrix([A, B])}
        return build.archive(members | change(build), deflated=deflated)

    return built


def _vectors(descr: object, shape: object, data: bytes, *, fortran: bool = False) -> Callable[[Build], bytes]:
    return _npz(lambda b: {"vectors.npy": b.npy(descr, shape, data, fortran=fortran)})


def _header(header: bytes) -> Callable[[Build], bytes]:
    return _npz(lambda b: {"vectors.npy": b.npy(None, None, struct.pack("<6f", *A, *B), header=header)})


def _flagged(archive: bytes) -> bytes:
    """Set the flag that says a zip member is encrypted, in the local and in the central header."""
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = archive.find(mark)
        archive = archive[: start + place] + b"\x01" + archive[start + place + 1 :]
    return archive


AB: Table = {"words": ["a", "b"], "rows": [A, B]}
SIX = struct.pack("<6f", *A, *B)

ARCHIVES: dict[str, tuple[Callable[[Build], bytes], Outcome]] = {
    "plain": (_npz(lambda _: {}), {**AB, "format": "npz"}),
    "deflated, with a further array": (
        _npz(lambda b: {"source.npy": b.words(["x"])}, deflated=True),
        {**AB, "format": "npz"},
    ),
    "a further array that is a pickle": (_npz(lambda b: {"notes.npy": b.npy("|O", (1,), b"\x80\x04N.")}), AB),
    "half precision": (_vectors("<f2", (2, 3), struct.pack("<6e", *A, *B)), AB),
    "double precision": (_vectors("<f8", (2, 3), struct.pack("<6d", *A, *B)), AB),
    "big-endian": (_vectors(">f4", (2, 3), struct.pack(">6f", *A, *B)), AB),
    "column by column": (
        _vectors("<f4", (2, 3), struct.pack("<6f", A[0], B[0], A[1], B[1], A[2], B[2]), fortran=True),
        AB,
    ),
    "integers": (_vectors("<i8", (2, 3), struct.pack("<6q", 1, 2, 3, 4, 5, 6)), {**AB, "codes": {"integers"}}),
    "unsigned bytes": (_vectors("|u1", (2, 3), bytes([1, 2, 3, 4, 5, 6])), {**AB, "codes": {"integers"}}),
    "NaN": (
        _vectors("<f4", (2, 3), struct.pack("<6f", *A, 1.0, NAN, 2.0)),
        {"words": ["a"], "rows": [A], "codes": {"not-finite"}, "dropped": ["b"]},
    ),
    "zero vector": (
        _vectors("<f4", (2, 3), struct.pack("<6f", *A, 0.0, -0.0, 0.0)),
        {"words": ["a", "b"], "rows": [A, [0.0, 0.0, 0.0]], "codes": {"zero"}},
    ),
    "half precision with infinity": (
        _vectors("<f2", (2, 3), struct.pack("<3e", *A) + struct.pack("<3H", 0x7C00, 0, 0)),
        {"words": ["a"], "rows": [A], "codes": {"not-finite"}, "dropped": ["b"]},
    ),
    "half precision whose squares overflow or vanish": (
        _vectors("<f2", (2, 3), struct.pack("<6e", 65504.0, 65504.0, 65504.0, 2.0**-24, 0.0, 0.0)),
        {"words": ["a", "b"], "rows": [[65504.0] * 3, [2.0**-24, 0.0, 0.0]]},
    ),
    "duplicate": (
        _npz(lambda b: {"words.npy": b.words(["a", "a"])}),
        {"words": ["a"], "rows": [A], "codes": {"duplicate"}},
    ),
    "empty word": (
        _npz(lambda b: {"words.npy": b.words(["", "b"])}),
        {"words": ["b"], "rows": [B], "codes": {"empty-word"}},
    ),
    "word with a space": (_npz(lambda b: {"words.npy": b.words(["new york", "b"])}), None),
    "no-break space in a word": (
        _npz(lambda b: {"words.npy": b.words(["\u00a0", "b"])}),
        {"words": ["\u00a0", "b"], "rows": [A, B]},
    ),
    "fewer words than vectors": (_npz(lambda b: {"words.npy": b.words(["a"])}), ""),
    "more words than vectors": (_npz(lambda b: {"words.npy": b.words(["a", "b", "c"])}), ""),
    "no words": (lambda b: b.archive({"vectors.npy": b.matrix([A, B])}), "words"),
    "no vectors": (lambda b: b.archive({"words.npy": b.words(["a", "b"])}), "vectors"),
    "no rows": (
        _npz(lambda b: {"words.npy": b.npy("<U1", (0,), b""), "vectors.npy": b.npy("<f4", (0, 3), b"")}),
        "",
    ),
    "no columns": (_vectors("<f4", (2, 0), b""), ""),
    "one dimension": (_vectors("<f4", (6,), SIX), ""),
    "three dimensions": (_vectors("<f4", (2, 3, 1), SIX), ""),
    "no shape": (_vectors("<f4", (), SIX[:4]), ""),
    "shape larger than the data": (_vectors("<f4", (2, 4), SIX), ""),
    "shape of a gigabyte": (_vectors("<f4", (2, 2**27), SIX), ""),
    "shape of a gigabyte, column by column": (_vectors("<f4", (2, 2**27), SIX, fortran=True), ""),
    "shape of a quintillion": (_vectors("<f4", (2, 10**18), SIX), ""),
    "shape that wraps round 64 bits": (_vectors("<f4", (2, 2**63 + 3), SIX), ""),
    "shape of astronomical size": (_vectors("<f4", (2, 10**40), SIX), ""),
    "negative shape": (_vectors("<f4", (2, -3), SIX), ""),
    "two negative shapes": (_vectors("<f4", (-2, -3), SIX), ""),
    "shape of floats": (_vectors("<f4", (2.0, 3.0), SIX), ""),
    "shape of truth values": (_vectors("<f4", (True, True), SIX), ""),
    "structured type": (_vectors([("x", "<f4"), ("y", "<f4")], (2, 3), SIX + SIX), ""),
    "type of rows": (_vectors(("<f4", (3,)), (2,), SIX), None),
    "complex": (_vectors("<c8", (2, 3), SIX + SIX), ""),
    "dates": (_vectors("<M8[s]", (2, 3), SIX + SIX), ""),
    "void": (_vectors("|V4", (2, 3), SIX), ""),
    "text for vectors": (_vectors("<U1", (2, 3), "abcdef".encode("utf-32-le")), ""),
    "unknown type": (_vectors("<f3", (2, 3), SIX), ""),
    "truth values": (_vectors("|b1", (2, 3), bytes([1, 0, 1, 1, 1, 0])), None),
    "long double": (_vectors("<f16", (2, 3), bytes(96)), None),
    "header of Python 2": (_header(b"{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }"), None),
    "header that is no literal": (_header(b"{'descr': '<f4', 'fortran_order': False, 'shape': (exit(), 3), }"), ""),
    "header with a key too many": (
        _header(b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 1, }"),
        "",
    ),
    "header of brackets": (_header(b"(" * 9_000), ""),
    "header of minus signs": (_header(b"-" * 9_000 + b"1"), ""),
    "header that is too long": (_header(b"{" + b" " * 60_000), ""),
    "header not in Latin-1": (_header("{'descr': 'é', 'shape': (2, 3)}".encode()), ""),
    "header of NULs": (_header(bytes(100)), ""),
    "unknown version": (_npz(lambda b: {"vectors.npy": b"\x93NUMPY\x09" + b.matrix([A, B])[7:]}), ""),
    "header longer than the file": (_npz(lambda _: {"vectors.npy": b"\x93NUMPY\x02\x00\xff\xff\xff\xff{"}), ""),
    "not an array": (_npz(lambda _: {"vectors.npy": b"1 2 3\n4 5 6\n"}), ""),
    "empty array file": (_npz(lambda _: {"vectors.npy": b""}), ""),
    "objects for vectors": (_vectors("|O", (2, 3), b"\x80\x04N."), "pickle"),
    "objects for words": (_npz(lambda b: {"words.npy": b.npy("|O", (2,), b"\x80\x04N.")}), "pickle"),
    "words as a table": (_npz(lambda b: {"words.npy": b.npy("<U1", (1, 2), "ab".encode("utf-32-le"))}), None),
    "words as numbers": (_npz(lambda b: {"words.npy": b.npy("<i8", (2,), struct.pack("<2q", 1, 2))}), ""),
    "words as bytes": (_npz(lambda b: {"words.npy": b.npy("|S2", (2,), b"a\0\xc3\xa9")}), None),
    "words as bytes that are not UTF-8": (_npz(lambda b: {"words.npy": b.npy("|S2", (2,), b"a\0\xff\xfe")}), None),
    "words of no width": (_npz(lambda b: {"words.npy": b.npy("<U0", (2,), b"")}), None),
    "lone surrogate in a word": (_npz(lambda b: {"words.npy": b.words(["a", "\ud800"])}), None),
    "no code point": (_npz(lambda b: {"words.npy": b.npy("<U1", (2,), struct.pack("<2I", 97, 0x110000))}), None),
    "big-endian words": (
        _npz(lambda b: {"words.npy": b.npy(">U1", (2,), "ab".encode("utf-32-be"))}),
        {**AB, "format": "npz"},
    ),
    "members without their ending": (
        lambda b: b.archive({"words": b.words(["a"]), "vectors": b.matrix([A]), "x.npy": b.matrix([A])}),
        "words",
    ),
    "names with line feeds": (lambda b: b.archive({"a\nb.npy": b.matrix([A])}), "words"),
    "thousands of members": (lambda b: b.archive({f"array {number}.npy": b"" for number in range(2_000)}), "words"),
    "words of a megabyte each": (_npz(lambda b: {"words.npy": b.npy("<U262145", (2,), bytes(2 * 4 * 262145))}), None),
    "encrypted": (lambda b: _flagged(b.npz(["a", "b"], [A, B])), ""),
    "damaged member": (lambda b: b.npz(["a", "b"], [A, B]).replace(SIX, SIX[:-1] + b"\x41"), ""),
    "end cut off": (lambda b: b.npz(["a", "b"], [A, B])[:-30], ""),
    "bytes before the archive": (lambda b: b"#!/bin/sh\n" + b.npz(["a", "b"], [A, B]), ""),
    "two members of one name": (
        lambda b: b.archive({"words.npy": b.words(["a", "b"]), "vectors.npy": b.matrix([A, B])}).replace(
            b"vectors.npy", b"./words.npy"
        ),
        "",
    ),
}

VOCABULARY = b"a\nb\n"

# A bare matrix and its vocabulary.
MATRICES: dict[str, tuple[Callable[[Build], bytes], bytes, Outcome]] = {
    "plain": (lambda b: b.matrix([A, B]), VOCABULARY, {**AB, "format": "npy"}),
    "half precision, big-endian": (lambda b: b.matrix([A, B], "e", ">f2"), VOCABULARY, AB),
    "integers": (
        lambda b: b.matrix([[1, 2], [3, 4]], "h", "<i2"),
        VOCABULARY,
        {
            "words": ["a", "b"],
            "rows": [[1.0, 2.0], [3.0, 4.0]],
            "codes": {"integers"},
        },
    ),
    "vocabulary with a byte order mark": (lambda b: b.matrix([A, B]), BOM + VOCABULARY, {**AB, "codes": {"bom"}}),
    "vocabulary with CR LF": (lambda b: b.matrix([A, B]), b"a\r\nb\r\n", {**AB, "codes": {"crlf"}}),
    "vocabulary without a final line feed": (lambda b: b.matrix([A, B]), b"a\nb", None),
    "vocabulary with an empty line": (lambda b: b.matrix([A, B, C]), b"a\n\nc\n", None),
    "vocabulary with spaced words": (lambda b: b.matrix([A, B]), b"new york\nb\n", None),
    "vocabulary with a no-break space": (
        lambda b: b.matrix([A, B]),
        "\u00a0\n\u2028\n".encode(),
        {"words": ["\u00a0", "\u2028"], "rows": [A, B]},
    ),
    "vocabulary not in UTF-8": (
        lambda b: b.matrix([A, B]),
        b"\xe9\n\xe8\n",
        {"words": ["\\xe9", "\\xe8"], "rows": [A, B], "codes": {"invalid-utf8"}},
    ),
    "vocabulary with a duplicate": (
        lambda b: b.matrix([A, B]),
        b"a\na\n",
        {"words": ["a"], "rows": [A], "codes": {"duplicate"}},
    ),
    "vocabulary too short": (lambda b: b.matrix([A, B]), b"a\n", ""),
    "vocabulary too long": (lambda b: b.matrix([A, B]), b"a\nb\nc\n", ""),
    "vocabulary empty": (lambda b: b.matrix([A, B]), b"", ""),
    "vocabulary of NULs": (lambda b: b.matrix([A, B]), bytes(10), None),
    "NaN": (
        lambda b: b.matrix([A, [1.0, NAN, 2.0]]),
        VOCABULARY,
        {"words": ["a"], "rows": [A], "codes": {"not-finite"}, "dropped": ["b"]},
    ),
    "zero vector": (
        lambda b: b.matrix([A, [0.0, 0.0, -0.0]]),
        VOCABULARY,
        {"words": ["a", "b"], "rows": [A, [0.0, 0.0, 0.0]], "codes": {"zero"}},
    ),
    "header promises more rows": (lambda b: b.npy("<f4", (3, 3), SIX), b"a\nb\nc\n", ""),
    "header promises a quintillion columns": (lambda b: b.npy("<f4", (2, 10**18), SIX), VOCABULARY, ""),
    "header with a size beyond 64 bits": (lambda b: b.npy("<f4", (2, 10**40), SIX), VOCABULARY, ""),
    "negative shape": (lambda b: b.npy("<f4", (2, -3), SIX), VOCABULARY, ""),
    "structured type": (lambda b: b.npy([("x", "<f4")], (2, 3), SIX), VOCABULARY, ""),
    "objects": (lambda b: b.npy("|O", (2, 3), b"\x80\x04N."), VOCABULARY, "pickle"),
    "one dimension": (lambda b: b.npy("<f4", (6,), SIX), VOCABULARY, ""),
    "no rows": (lambda b: b.npy("<f4", (0, 3), b""), b"", ""),
    "no columns": (lambda b: b.npy("<f4", (2, 0), b""), VOCABULARY, ""),
    "header of Python 2": (
        lambda b: b.npy(None, None, SIX, header=b"{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L), }"),
        VOCABULARY,
        None,
    ),
    "header of brackets": (lambda b: b.npy(None, None, SIX, header=b"[" * 9_000), VOCABULARY, ""),
    "mark alone": (lambda _: b"\x93NUMPY", VOCABULARY, ""),
}


def _renamed(replace: dict[str, tuple[str, list[int], bytes]]) -> Callable[[Build], bytes]:
    """Build a good safetensors file with some tensors replaced."""
    good = {
        "vectors": ("F32", [2, 3], SIX),
        "words": ("U8", [2], b"ab"),
        "word_ends": ("I64", [2], struct.pack("<2q", 1, 2)),
    }
    return lambda b: b.tensors(good | replace)


def _entry(entry: bytes) -> Callable[[Build], bytes]:
    """Build a safetensors file in which the entry of the vectors is written as given."""
    return lambda b: b.raw_tensors(
        b'{"words":{"dtype":"U8","shape":[2],"data_offsets":[24,26]},'
        b'"word_ends":{"dtype":"I64","shape":[2],"data_offsets":[26,42]},"vectors":' + entry + b"}",
        SIX + b"ab" + struct.pack("<2q", 1, 2),
    )


TENSORS: dict[str, tuple[Callable[[Build], bytes], Outcome]] = {
    "plain": (lambda b: b.safetensors(["a", "b"], [A, B]), {**AB, "format": "safetensors"}),
    "entry written by hand": (_entry(b'{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}'), AB),
    "double precision": (_renamed({"vectors": ("F64", [2, 3], struct.pack("<6d", *A, *B))}), AB),
    "half precision": (_renamed({"vectors": ("F16", [2, 3], struct.pack("<6e", *A, *B))}), AB),
    "integers": (_renamed({"vectors": ("I8", [2, 3], bytes([1, 2, 3, 4, 5, 6]))}), {**AB, "codes": {"integers"}}),
    "bfloat16": (_renamed({"vectors": ("BF16", [2, 3], bytes(12))}), None),
    "eight-bit floats": (_renamed({"vectors": ("F8_E4M3", [2, 3], bytes(6))}), None),
    "truth values": (_renamed({"vectors": ("BOOL", [2, 3], bytes([1, 0, 1, 1, 1, 0]))}), None),
    "unknown type": (_renamed({"vectors": ("F31", [2, 3], SIX)}), ""),
    "word with a space and a line feed": (
        lambda b: b.safetensors(["new york", "b\nb"], [A, B]),
        {"words": ["new york", "b\nb"], "rows": [A, B]},
    ),
    "Latin-1 word": (
        lambda b: b.safetensors(["a", b"caf\xe9"], [A, B]),
        {"words": ["a", "caf\\xe9"], "rows": [A, B], "codes": {"invalid-utf8"}},
    ),
    "empty word": (
        lambda b: b.safetensors(["", "b"], [A, B]),
        {"words": ["b"], "rows": [B], "codes": {"empty-word"}},
    ),
    "duplicate": (
        lambda b: b.safetensors(["a", "a"], [A, B]),
        {"words": ["a"], "rows": [A], "codes": {"duplicate"}},
    ),
    "infinity": (
        lambda b: b.safetensors(["a", "b"], [A, [INF, 0.0, 0.0]]),
        {"words": ["a"], "rows": [A], "codes": {"not-finite"}, "dropped": ["b"]},
    ),
    "zero vector": (
        lambda b: b.safetensors(["a", "b"], [A, [0.0, 0.0, 0.0]]),
        {"words": ["a", "b"], "rows": [A, [0.0, 0.0, 0.0]], "codes": {"zero"}},
    ),
    "ends that go back": (lambda b: b.safetensors(["a", "b"], [A, B], [2, 1]), ""),
    "ends below nought": (lambda b: b.safetensors(["a", "b"], [A, B], [-1, 2]), ""),
    "ends beyond the words": (lambda b: b.safetensors(["a", "b"], [A, B], [1, 2**62]), ""),
    "ends before the end": (lambda b: b.safetensors(["a", "bbb"], [A, B], [1, 2]), None),
    "fewer ends than vectors": (lambda b: b.safetensors(["ab"], [A, B]), ""),
    "more ends than vectors": (lambda b: b.safetensors(["a", "b", "c"], [A, B]), ""),
    "ends as floats": (_renamed({"word_ends": ("F64", [2], struct.pack("<2d", 1.0, 2.0))}), None),
    "ends as NaN": (_renamed({"word_ends": ("F64", [2], struct.pack("<2d", NAN, 2.0))}), ""),
    "ends as a table": (_renamed({"word_ends": ("I64", [1, 2], struct.pack("<2q", 1, 2))}), None),
    "ends beyond 63 bits": (_renamed({"word_ends": ("U64", [2], struct.pack("<2Q", 1, 2**64 - 1))}), ""),
    "words as floats": (_renamed({"words": ("F32", [1], b"abcd")}), None),
    "words as a table": (_renamed({"words": ("U8", [1, 2], b"ab")}), None),
    "one dimension": (_renamed({"vectors": ("F32", [6], SIX)}), ""),
    "three dimensions": (_renamed({"vectors": ("F32", [1, 2, 3], SIX)}), ""),
    "no columns": (_renamed({"vectors": ("F32", [2, 0], b"")}), ""),
    "no rows": (
        lambda b: b.tensors(
            {"vectors": ("F32", [0, 3], b""), "words": ("U8", [0], b""), "word_ends": ("I64", [0], b"")}
        ),
        "",
    ),
    "no tensors": (lambda b: b.tensors({}), ""),
    "words but no vectors": (lambda b: b.tensors({"words": ("U8", [2], b"ab")}), ""),
    "a matrix without a vocabulary": (lambda b: b.tensors({"embedding.weight": ("F32", [2, 3], SIX)}), "vocabulary"),
    "offsets that go back": (_entry(b'{"dtype":"F32","shape":[2,3],"data_offsets":[24,0]}'), ""),
    "offsets below nought": (_entry(b'{"dtype":"F32","shape":[2,3],"data_offsets":[-24,0]}'), ""),
    "offsets beyond the file": (_entry(b'{"dtype":"F32","shape":[2,3],"data_offsets":[9000,9024]}'), ""),
    "offsets beyond 64 bits": (_entry(b'{"dtype":"F32","shape":[2,3],"data_offsets":[1e30,1e31]}'), ""),
    "offsets over the words": (_entry(b'{"dtype":"F32","shape":[2,3],"data_offsets":[10,34]}'), ""),
    "offsets missing": (_entry(b'{"dtype":"F32","shape":[2,3]}'), ""),
    "shape larger than the data": (_entry(b'{"dtype":"F32","shape":[2,4],"data_offsets":[0,24]}'), ""),
    "shape that wraps round 64 bits": (
        _entry(b'{"dtype":"F32","shape":[6,3074457345618258603],"data_offsets":[0,24]}'),
        "",
    ),
    "negative shape": (_entry(b'{"dtype":"F32","shape":[-2,-3],"data_offsets":[0,24]}'), ""),
    "shape of text": (_entry(b'{"dtype":"F32","shape":"23","data_offsets":[0,24]}'), ""),
    "entry that is a number": (_entry(b"5"), ""),
    "entry that is null": (_entry(b"null"), ""),
    "name with line feeds": (
        lambda b: b.raw_tensors(b'{"a\\nb":{"dtype":"F32","shape":[2,3],"data_offsets":[0,99]}}', SIX),
        "",
    ),
    "name of a megabyte": (lambda b: b.tensors({"a" * 2**20: ("F32", [6], SIX)}), ""),
    "type of a megabyte": (lambda b: b.tensors({"a": ("F" * 2**20, [6], SIX)}), ""),
    "header that is a list": (lambda b: b.raw_tensors(b"{[]}", SIX), ""),
    "header of brackets": (lambda b: b.raw_tensors(b'{"a":' + b"[" * 100_000, SIX), ""),
    "header not in UTF-8": (lambda b: b.raw_tensors(b'{"\xff":{}}', SIX), ""),
    "header longer than the file": (lambda _: struct.pack("<Q", 10**6) + b'{"vectors":{}}', ""),
    "header of a quintillion bytes": (lambda _: struct.pack("<Q", 10**18) + b'{"vectors":{}}', ""),
    "data cut short": (lambda b: b.safetensors(["a", "b"], [A, B])[:-1], ""),
    "data after the end": (lambda b: b.safetensors(["a", "b"], [A, B]) + b"junk", ""),
}

# Files that are no text, whatever they are: bytes, and the pattern of the error (or None).
OTHER: dict[str, tuple[bytes, str | None]] = {
    "empty": (b"", "empty"),
    "line feeds alone": (b"\n\n\n", ""),
    "one space": (b" ", ""),
    "byte order mark alone": (BOM, ""),
    "one letter": (b"a", ""),
    "words without vectors": (b"a\nb\nc\n", ""),
    "header alone": (b"3 3\n", ""),
    "header alone, no line feed": (b"3 3", ""),
    "header and line feeds": (b"3 3\n\n\n", ""),
    "header of more rows than atoms, other dimensions": (b"999999999999999999 300\n" + THREE, r"line \d"),
    "header of a billion dimensions": (b"3 999999999\n" + THREE, r"line \d"),
    "header of too few dimensions": (b"3 2\nxa 1 2\nb 4\n", r"line \d"),
    "header of too many dimensions": (b"3 4\n" + THREE, r"line \d"),
    "header of no dimensions": (b"3 0\n" + THREE, ""),
    "header of 5,000 digits": (b"9" * 5_000 + b" 3\n" + THREE, None),
    "header of 5,000 digits of dimensions": (b"3 " + b"9" * 5_000 + b"\n" + THREE, ""),
    "negative header": (b"-3 3\n" + THREE, "line 1"),
    "three numbers for a header": (b"3 3 3 3 3\n" + THREE, None),
    "lone carriage returns": (b"a 1 2 3\rb 4 5 6\rc 7 8 9\r", None),
    "carriage return inside a line": (b"a 1 2 3\nb 4\r5 6\nc 7 8 9\n", None),
    "form feeds": (b"a\f1 2 3\nb 4\f5 6\nc 7 8 9\f\n", None),
    "vertical tabs": (b"a\v1 2 3\nb 4\v5 6\nc 7 8 9\n", None),
    "NUL after a number": (b"3 3\n" + ROW_A + b"b 4 5\0 6\n" + ROW_C, "line 3"),
    "NUL before a number": (b"3 3\n" + ROW_A + b"b 4 \x005 6\n" + ROW_C, "line 3"),
    "NUL in a word, after a header": (b"2 3\na 1 2 3\nb\0b 4 5 6\n", None),
    "one number of a megabyte among thousands": (
        THREE * 1_000 + b"d 1 0." + b"0" * 1_000_000 + b"1 2\n",
        None,
    ),
    "NUL in a word": (b"a\0b 1 2 3\nb 4 5 6\n", None),
    "NULs": (bytes(1_000), ""),
    "ones": (b"\xff" * 1_000, ""),
    "very long line": (b"a" + b" 1" * 3_000_000 + b"\nb 1 2 3\n", None),
    "very long line without a blank": (b"a" * 8_000_000, ""),
    "fastText's own": (struct.pack("<12i", 793712314, 12, 100, 5, 5, 5, 1, 2, 2, 3, 6, 100) + bytes(500), "0 words"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(500), "HDF5"),
    "xz": (b"\xfd7zXZ\x00\x00\x04" + bytes(50), "xz"),
    "bzip2": (b"BZh91AY&SY" + bytes(50), "bzip2"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\x58" + bytes(50), "(?i)zstd|zstandard"),
    "7z": (b"7z\xbc\xaf\x27\x1c\x00\x04" + bytes(50), "(?i)7z|7-zip"),
    "UTF-16, little end first": (THREE.decode().encode("utf-16"), "UTF-16"),
    "UTF-16, big end first": (b"\xfe\xff" + THREE.decode().encode("utf-16-be"), "UTF-16"),
    "UTF-16 without a mark": (THREE.decode().encode("utf-16-le"), ""),
    "UTF-32": (b"\xff\xfe\0\0" + THREE.decode().encode("utf-32-le"), ""),
    "web page": (b"<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n", "(?i)web page|html"),
    "web page in small letters": (b"<!doctype html><html lang=en><title>Sign in</title>", "(?i)web page|html"),
    "web page, no doctype": (b"\n<html lang='en'>\n<body>Sign in</body></html>\n", "(?i)web page|html"),
    "Git LFS pointer": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 3644258522\n",
        "LFS",
    ),
    "PDF": (b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "PDF"),
    "pickle of protocol 2": (b"\x80\x02]q\x00.", "pickle"),
    "pickle of protocol 5": (b"\x80\x05\x95\x02\x00\x00\x00\x00\x00\x00\x00]\x94.", "pickle"),
    "pickle of protocol 0": (b"(lp0\nVa\np1\na.", ""),
    "end of an empty zip archive": (b"PK\x05\x06" + bytes(18), ""),
    "start of a zip archive": (b"PK\x03\x04" + bytes(100), ""),
    "gzip inside": (gzip.compress(THREE, mtime=0), None),
    "compress of Unix": (b"\x1f\x9d\x90" + bytes(50), ""),
    "JSON": (b'{"a": [1, 2, 3], "b": [4, 5, 6]}\n', ""),
    "comma-separated": (b"word,x,y\na,1,2\nb,3,4\n", ""),
}

ZIPS: dict[str, tuple[dict[str, bytes], str]] = {
    "zip of a text file": ({"glove.6B.50d.txt": THREE}, "zip"),
    "word processor's": ({"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<w/>"}, "zip"),
    "PyTorch's": ({"archive/data.pkl": b"\x80\x02}q\x00.", "archive/version": b"3\n"}, "pickle"),
    "no members": ({}, ""),
}


def _with_header(body: bytes, rows: int) -> bytes:
    end = b"\r\n" if b"\r\n" in body else b"\n"
    mark = BOM if body.startswith(BOM) else b""
    return mark + f"{rows} 3".encode() + end + body.removeprefix(BOM)


def _packed(content: bytes, *, gzipped: bool) -> bytes:
    return gzip.compress(content, compresslevel=1, mtime=0) if gzipped else content


both = pytest.mark.parametrize("gzipped", [False, True], ids=["plain", "gzipped"])


@both
@pytest.mark.parametrize("header", [False, True], ids=["glove", "word2vec"])
@pytest.mark.parametrize("name", TEXT)
def test_text(name: str, judge: Judge, *, header: bool, gzipped: bool) -> None:
    body, rows, expected = TEXT[name]
    content = _with_header(body, rows) if header else body
    outcome: Outcome
    if isinstance(expected, tuple):
        line, found = expected
        outcome = f"line {line + header}: .*{found}"
    else:
        outcome = {**expected, "format": "word2vec-text" if header else "glove-text"}
    judge(_packed(content, gzipped=gzipped), outcome)


@both
@pytest.mark.parametrize("promised", [0, 1, 2, 4, 10**17])
def test_text_header_with_another_number_of_rows(promised: int, judge: Judge, *, gzipped: bool) -> None:
    content = f"{promised} 3\n".encode() + THREE
    judge(_packed(content, gzipped=gzipped), {**ABC, "codes": {"header-count"}, "format": "word2vec-text"})


@both
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, build: Build, judge: Judge, *, gzipped: bool) -> None:
    make, outcome = BINARY[name]
    judge(_packed(make(build), gzipped=gzipped), outcome)


@both
@pytest.mark.parametrize("name", ARCHIVES)
def test_npz(name: str, build: Build, judge: Judge, *, gzipped: bool) -> None:
    make, outcome = ARCHIVES[name]
    judge(_packed(make(build), gzipped=gzipped), outcome)


@both
@pytest.mark.parametrize("name", MATRICES)
def test_npy(name: str, build: Build, judge: Judge, *, gzipped: bool) -> None:
    make, vocabulary, outcome = MATRICES[name]
    judge(_packed(make(build), gzipped=gzipped), outcome, vocabulary)


@both
@pytest.mark.parametrize("name", [name for name in MATRICES if "vocabulary" in name or name == "plain"])
def test_bare_matrix_in_safetensors(name: str, build: Build, judge: Judge, *, gzipped: bool) -> None:
    """The vocabularies of the `.npy` cases, beside a safetensors file with one good matrix of as many rows."""
    _, vocabulary, expected = MATRICES[name]
    rows = [A, B, C] if name == "vocabulary with an empty line" else [A, B]
    flat = [number for row in rows for number in row]
    content = build.tensors({"embedding.weight": ("F32", [len(rows), 3], struct.pack(f"<{len(flat)}f", *flat))})
    outcome: Outcome = {**expected, "format": "safetensors"} if isinstance(expected, dict) else expected
    judge(_packed(content, gzipped=gzipped), outcome, vocabulary)


@both
@pytest.mark.parametrize("name", TENSORS)
def test_safetensors(name: str, build: Build, judge: Judge, *, gzipped: bool) -> None:
    make, outcome = TENSORS[name]
    judge(_packed(make(build), gzipped=gzipped), outcome)


@both
@pytest.mark.parametrize("name", OTHER)
def test_other_files(name: str, judge: Judge, *, gzipped: bool) -> None:
    content, outcome = OTHER[name]
    judge(_packed(content, gzipped=gzipped), outcome)


@both
@pytest.mark.parametrize("name", ZIPS)
def test_other_zip_archives(name: str, build: Build, judge: Judge, *, gzipped: bool) -> None:
    members, outcome = ZIPS[name]
    judge(_packed(build.archive(members), gzipped=gzipped), outcome)


DAMAGED_GZIP: dict[str, tuple[bytes, Outcome]] = {
    "two streams in one file": (gzip.compress(ROW_A) + gzip.compress(ROW_B + ROW_C), ABC),
    "padded with noughts": (gzip.compress(THREE) + bytes(512), ABC),
    "followed by something else": (gzip.compress(THREE) + b"something else", None),
    "wrong check sum": (gzip.compress(THREE)[:-8] + bytes(4) + gzip.compress(THREE)[-4:], r"byte \d+: .*gzip"),
    "wrong length": (gzip.compress(THREE)[:-4] + bytes(4), r"byte \d+: .*gzip"),
    "cut short": (gzip.compress(THREE)[:-9], r"byte \d+: .*gzip"),
    "mark alone": (b"\x1f\x8b", "gzip"),
    "unknown method": (b"\x1f\x8b\x07" + bytes(30), "gzip"),
    "broken deflate stream": (gzip.compress(THREE)[:10] + b"\xff" * 50, "gzip"),
    "zlib, not gzip": (zlib.compress(THREE), ""),
    "nothing inside": (gzip.compress(b""), "empty"),
}


@pytest.mark.parametrize("name", DAMAGED_GZIP)
def test_gzip(name: str, judge: Judge) -> None:
    content, outcome = DAMAGED_GZIP[name]
    judge(content, outcome)


def test_every_notice_is_produced_by_some_file_of_the_corpus() -> None:
    """What the corpus expects is what it gets, by the tests above; so it is enough to look at what it expects."""
    outcomes: list[Outcome | tuple[int, str]] = [
        *(expected for _, _, expected in TEXT.values()),
        *(outcome for _, outcome in BINARY.values()),
        *(outcome for _, outcome in ARCHIVES.values()),
        *(outcome for _, _, outcome in MATRICES.values()),
        *(outcome for _, outcome in TENSORS.values()),
    ]
    produced = {code for outcome in outcomes if isinstance(outcome, dict) for code in outcome.get("codes", ())}
    assert produced == set(OUTCOMES)
