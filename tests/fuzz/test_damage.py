"""Good files cut short or with bytes changed, and bytes of chance: a valid table or one clear error."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from tests.fuzz.conftest import Judge, ValidFile

pytestmark = pytest.mark.fuzz

FORMATS = [
    "glove-text",
    "word2vec-text",
    "word2vec-binary",
    "word2vec-binary-lines",
    "npz",
    "npz-deflated",
    "npy",
    "safetensors",
    "npy-pickled-vocabulary",
    "pickle",
    "pickle-protocol-0",
]
CHECKED = ["npz", "npz-deflated", *(f"{name}.gz" for name in FORMATS)]
"""Formats that carry a check sum, so that damage cannot pass for data."""


def _codes(table: Embedding) -> set[str]:
    return {notice.code for notice in table.notices}


def _assert_prefix(table: Embedding, file: ValidFile) -> None:
    """The rows are the first of the true ones; only the last may have lost the end of a number, and that is noted."""
    count = len(table)
    assert table.words == file.words[:count]
    if "no-final-newline" not in _codes(table):
        np.testing.assert_array_equal(table.vectors, np.array(file.rows[:count]))
        return
    width = table.dim
    assert width == len(file.rows[0]) or count == 1
    np.testing.assert_array_equal(table.vectors[:-1], np.array(file.rows[: count - 1]).reshape(count - 1, width))
    last = file.rows[count - 1]
    np.testing.assert_array_equal(table.vectors[-1, :-1], last[: width - 1])
    assert str(last[width - 1]).startswith(str(table.vectors[-1, -1]).removesuffix(".0"))


@pytest.mark.parametrize("name", [*FORMATS, *(f"{name}.gz" for name in FORMATS)])
def test_cut_at_every_byte(name: str, valid_files: dict[str, ValidFile], judge: Judge) -> None:
    file = valid_files[name]
    for length in range(len(file.content)):
        whole = judge.attempt(file.content[:length], file.vocabulary)
        picked = judge.attempt(None, file.vocabulary, words=[file.words[0], file.words[2]])
        if isinstance(whole, Embedding):
            assert "text" in name or "binary" in name, f"{length} bytes of {len(file.content)} were enough"
            assert not name.endswith(".gz")
            _assert_prefix(whole, file)
            # A line feed lost at the very end takes nothing with it.
            assert _codes(whole) & {"no-final-newline", "header-count"} or whole.words == file.words or "glove" in name
        if isinstance(picked, Embedding) and "no-final-newline" not in _codes(picked):
            rows = [file.rows[file.words.index(word)] for word in picked.words]
            np.testing.assert_array_equal(picked.vectors, np.array(rows).reshape(len(rows), picked.dim))
    intact = judge.attempt(file.content, file.vocabulary)
    assert isinstance(intact, Embedding), intact
    assert intact.words == file.words
    assert not intact.notices
    np.testing.assert_array_equal(intact.vectors, np.array(file.rows))


@pytest.mark.parametrize("name", ["npy", "npy.gz"])
def test_vocabulary_cut_at_every_byte(name: str, valid_files: dict[str, ValidFile], judge: Judge) -> None:
    file = valid_files[name]
    assert file.vocabulary is not None
    start = file.vocabulary.rindex(b"\n", 0, -1) + 1
    for length in range(start + 1):
        refusal = judge.attempt(file.content, file.vocabulary[:length])
        assert isinstance(refusal, str), f"{length} bytes of the vocabulary were enough"


def _flipped(content: bytes, seed: int) -> bytes:
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    changed = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2, 5])):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in CHECKED])
def test_flipped_bits_without_check_sum(name: str, valid_files: dict[str, ValidFile], judge: Judge) -> None:
    file = valid_files[name]
    for seed in range(150):
        judge(_flipped(file.content, seed), None, file.vocabulary)


@pytest.mark.parametrize("name", CHECKED)
def test_flipped_bits_with_check_sum(name: str, valid_files: dict[str, ValidFile], judge: Judge) -> None:
    file = valid_files[name]
    for seed in range(150):
        table = judge.attempt(_flipped(file.content, seed), file.vocabulary)
        if isinstance(table, Embedding):
            assert table.words == file.words, f"seed {seed}"
            np.testing.assert_array_equal(table.vectors, np.array(file.rows))


@pytest.mark.parametrize("name", [pytest.param("npz", marks=pytest.mark.slow), "npz-deflated"])
def test_every_bit_of_an_archive(name: str, valid_files: dict[str, ValidFile], judge: Judge) -> None:
    file = valid_files[name]
    for place in range(len(file.content)):
        for value in (0x00, 0xFF, file.content[place] ^ 1, file.content[place] ^ 0x80):
            changed = file.content[:place] + bytes([value]) + file.content[place + 1 :]
            table = judge.attempt(changed)
            if isinstance(table, Embedding):
                assert table.words == file.words, f"{value:#x} at byte {place}"
                np.testing.assert_array_equal(table.vectors, np.array(file.rows))


@pytest.mark.parametrize("start", [b"", b"4 3\n", b"\x93NUMPY\x01\x00", b"PK\x03\x04", b"\x1f\x8b\x08\x00", b"a 1 2\n"])
def test_bytes_of_chance(start: bytes, judge: Judge) -> None:
    chance = random.Random(start)  # noqa: S311 - repeatable, not secret
    for _ in range(100):
        judge(start + chance.randbytes(chance.choice([1, 10, 100, 1_000])), None, b"a\nb\n")


@settings(deadline=None, max_examples=300)
@given(content=st.binary(max_size=300))
def test_any_bytes(content: bytes, judge: Judge) -> None:
    judge(content, None)


@settings(deadline=None, max_examples=300)
@given(
    lines=st.lists(
        st.lists(
            st.sampled_from(["a", "b", "1", "2.5", "-3e2", "nan", "1e99", "\u00a0", "é", "", "\t", "\r", "\f", "\0"])
        ),
        max_size=8,
    ),
    header=st.sampled_from(["", "2 3\n", "4 2\n", "\ufeff", "\ufeff2 2\r\n"]),
    end=st.sampled_from(["\n", "\r\n", "\n\n", ""]),
)
def test_any_lines(lines: list[list[str]], header: str, end: str, judge: Judge) -> None:
    judge((header + "\n".join(map(" ".join, lines)) + end).encode(), None)


edits = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.sampled_from(["replace", "insert", "delete", "repeat"]),
        st.binary(max_size=6),
    ),
    min_size=1,
    max_size=5,
)


@settings(deadline=None, max_examples=400)
@given(name=st.sampled_from([*FORMATS, "word2vec-text.gz", "npz.gz"]), edits=edits)
def test_edited_files(
    name: str, edits: list[tuple[float, str, bytes]], valid_files: dict[str, ValidFile], judge: Judge
) -> None:
    file = valid_files[name]
    content = file.content
    for share, action, piece in edits:
        place = int(share * len(content))
        stop = place + len(piece)
        inserted = {"delete": b"", "repeat": content[place:stop] * 2}.get(action, piece)
        content = content[:place] + inserted + content[place if action == "insert" else stop :]
    judge(content, None, file.vocabulary)
