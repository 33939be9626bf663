"""Numbers in headers that promise gigabytes: every reader of vectors refuses them before it takes memory for them."""

from __future__ import annotations

import random
import struct
import tracemalloc
import warnings
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from biasgauge.errors import BiasgaugeError

if TYPE_CHECKING:
    from pathlib import Path

CEILING = 64 * 2**20
"""Bytes that reading some hundred bytes may take, on the heap of Python and in Arrow's."""
HUGE = [
    *(struct.pack(f"{order}i", number) for order in "<>" for number in (2**31 - 1, 2**30, 2**24)),
    *(struct.pack(f"{order}q", number) for order in "<>" for number in (2**62, 2**40, 2**33, 2**31)),
    *(struct.pack(f"{order}I", 2**32 - 1) for order in "<>"),
]
READERS = (
    *("vectors", "vectors-binary", "vectors-npz", "vectors-npy", "vectors-safetensors", "subwords", "npz"),
    *("vectors-pickle", "vectors-histwords", "vectors-gensim", "vectors-fasttext", "vectors-parquet", "vectors-arrow"),
    *("vectors-tokenizer", "vectors-variances", "vectors-r", "vectors-pytorch"),
    *("text-r", "text-warc", "text-parquet", "documents-parquet", "documents-rds"),
)


def promising(content: bytes, chance: random.Random) -> bytes:
    """The input with a huge number in the place of one of its numbers, mostly in its first part."""
    number = chance.choice(HUGE)
    start = min(chance.randrange(len(content)) for _ in range(2))
    return content[:start] + number + content[start + len(number) :]


@pytest.mark.fuzz
@pytest.mark.parametrize("name", READERS)
def test_huge_numbers_take_no_memory(
    name: str, tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(repository / "scripts"))
    from fuzz_readers import target_of

    target = target_of(name)
    chance = random.Random(name)  # noqa: S311 - repeatable, not secret
    path = tmp_path / "input"

    def read(content: bytes) -> Any:  # noqa: ANN401 - whatever it gives
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return target.read(path)
            except BiasgaugeError:
                return None

    for seed in target.seeds:
        read(seed)  # imports what the reader needs
    largest = 0
    before = pa.default_memory_pool().max_memory()
    tracemalloc.start()
    try:
        for turn in range(150):
            tracemalloc.reset_peak()
            read(promising(target.seeds[turn % len(target.seeds)], chance))
            largest = max(largest, tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()
    assert largest <= CEILING
    assert pa.default_memory_pool().max_memory() <= max(before, CEILING)
