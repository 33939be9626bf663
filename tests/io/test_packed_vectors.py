"""Vectors compressed with xz or zstd are the vectors themselves, in every format."""

from __future__ import annotations

import lzma
from typing import TYPE_CHECKING

import numpy as np
import pytest
import zstandard

from biasgauge.errors import EmbeddingFormatError
from biasgauge.vectors import Embedding, load, save

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "xz": lzma.compress,
    "zstd": lambda content: zstandard.ZstdCompressor().compress(content),
}


@pytest.fixture
def embedding() -> Embedding:
    words = tuple(f"w{number}" for number in range(300))
    return Embedding(words, np.random.default_rng(0).normal(size=(300, 7)).astype(np.float32))


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("name", ["v.bin", "v.txt", "v.safetensors", "v.npz", "glove.txt"])
def test_packed_vectors_are_read(name: str, packer: str, embedding: Embedding, tmp_path: Path) -> None:
    plain = tmp_path / name
    if name == "v.npz":
        np.savez(plain, words=np.array(embedding.words), vectors=embedding.vectors)
    else:
        save(embedding, tmp_path / name)
    if name == "glove.txt":
        plain.write_bytes(plain.read_bytes().partition(b"\n")[2])
    packed = tmp_path / "packed"
    packed.write_bytes(PACKERS[packer](plain.read_bytes()))
    for words in (None, ["w7", "w299"]):
        found, expected = load(packed, words=words), load(plain, words=words)
        assert found.words == expected.words
        np.testing.assert_array_equal(found.vectors, expected.vectors)
        assert found.format == expected.format


@pytest.mark.parametrize("packer", PACKERS)
def test_packed_vectors_cut_short(packer: str, embedding: Embedding, tmp_path: Path) -> None:
    save(embedding, tmp_path / "v.txt")
    packed = PACKERS[packer]((tmp_path / "v.txt").read_bytes())
    (tmp_path / "cut").write_bytes(packed[:-20])
    with pytest.raises(EmbeddingFormatError, match=f"cut, byte .* the {packer} stream is damaged or cut short"):
        load(tmp_path / "cut")
