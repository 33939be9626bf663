"""`save`: the format follows from the name, and the bytes are those that the formats prescribe."""

from __future__ import annotations

import gzip
import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.errors import InputError, ParameterError
from biasgauge.vectors import Embedding, load, save

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def embedding() -> Embedding:
    return Embedding(("a", "é"), np.array([[0.5, -0.1], [1e-45, 2.0**100]], np.float32))


BINARY = b"2 2\na " + struct.pack("<2f", 0.5, -0.1) + "é ".encode() + struct.pack("<2f", 1e-45, 2.0**100)
TEXT = "2 2\na 0.5 -0.100000001\né 1.40129846e-45 1.2676506e+30\n".encode()


def test_binary_bytes(embedding: Embedding, tmp_path: Path) -> None:
    assert save(embedding, tmp_path / "v.bin").read_bytes() == BINARY


@pytest.mark.parametrize("ending", [".txt", ".vec"])
def test_text_bytes(ending: str, embedding: Embedding, tmp_path: Path) -> None:
    assert save(embedding, tmp_path / f"v{ending}").read_bytes() == TEXT


def test_gzipped_bytes_carry_no_name_and_no_time(embedding: Embedding, tmp_path: Path) -> None:
    packed = save(embedding, tmp_path / "v.vec.gz").read_bytes()
    assert gzip.decompress(packed) == TEXT
    flags, time = packed[3], packed[4:8]
    assert (flags, time) == (0, bytes(4))


def test_format_may_be_named_instead(embedding: Embedding, tmp_path: Path) -> None:
    assert save(embedding, tmp_path / "v.dat", format="word2vec-binary").read_bytes() == BINARY
    assert save(embedding, tmp_path / "v.bin", format="word2vec-text").read_bytes() == TEXT


def test_path_is_returned_and_an_old_file_replaced(embedding: Embedding, tmp_path: Path) -> None:
    path = tmp_path / "v.bin"
    path.write_bytes(b"old")
    assert save(embedding, str(path)) == path
    assert path.read_bytes() == BINARY
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("name", "format_"), [("v.h5", None), ("v", None), ("v.gz", None), ("v.bin", "glove-text")])
def test_unknown_format_is_refused(name: str, format_: str | None, embedding: Embedding, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="'format'"):
        save(embedding, tmp_path / name, format=format_)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", [".bin", ".txt", ".txt.gz"])
def test_refusal_leaves_the_old_file(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"v{ending}"
    path.write_bytes(b"old")
    with pytest.raises(ParameterError, match="safetensors"):
        save(Embedding(("a", "new york"), np.ones((2, 1))), path)
    with pytest.raises(ParameterError, match="the vector of 'b', which is too large"):
        save(Embedding(("a", "b"), np.array([[1.0], [1e39]])), path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_folder_must_exist(embedding: Embedding, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        save(embedding, tmp_path / "nowhere" / "v.bin")


def test_file_that_is_being_read_from_can_be_replaced(embedding: Embedding, tmp_path: Path) -> None:
    """A mapped matrix keeps the old file's numbers while the new file takes its place."""
    path = save(embedding, tmp_path / "v.safetensors")
    mapped = load(path)
    save(Embedding(("b",), np.full((1, 2), 7, np.float32)), path)
    np.testing.assert_array_equal(mapped.vectors, embedding.vectors)


def test_vectors_are_never_saved_over_their_own_file(embedding: Embedding, tmp_path: Path) -> None:
    path = save(embedding, tmp_path / "v.safetensors")
    before = path.read_bytes()
    with pytest.raises(InputError, match="overwritten"):
        save(load(path), path)
    assert path.read_bytes() == before
