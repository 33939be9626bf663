"""A file as a stream: gzipped or not, counted, with each problem told in one sentence."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from biasgauge._io.memory import physical_memory, readable_size
from biasgauge._io.source import ByteSource
from biasgauge.errors import EmbeddingFormatError

CONTENT = bytes(range(256)) * 400


@pytest.fixture(params=[False, True], ids=["plain", "gzipped"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    file = tmp_path / "file"
    file.write_bytes(gzip.compress(CONTENT, mtime=0) if request.param else CONTENT)
    return file


@pytest.mark.parametrize("size", [1_000, 102_400, 500_000])
def test_content_is_read_in_pieces_of_the_size_asked_for(size: int, path: Path) -> None:
    told: list[tuple[int, int]] = []
    with ByteSource(path, error=EmbeddingFormatError, progress=lambda *numbers: told.append(numbers)) as source:
        pieces = []
        while piece := source.read(size):
            pieces.append(piece)
            assert source.offset == sum(map(len, pieces))
        assert source.read(size) == b""
    assert b"".join(pieces) == CONTENT
    assert all(len(piece) == size for piece in pieces[:-1])
    assert told == sorted(told)
    assert told[-1] == (path.stat().st_size, path.stat().st_size)


def test_rewinding_starts_again(path: Path) -> None:
    with ByteSource(path, error=EmbeddingFormatError) as source:
        source.read(1_000)
        source.rewind()
        assert source.offset == 0
        assert source.read(len(CONTENT)) == CONTENT


def test_seekable_copy_is_the_whole_content(path: Path) -> None:
    with ByteSource(path, error=EmbeddingFormatError) as source:
        source.read(10)
        with source.seekable() as file:
            assert file.read(3) == CONTENT[:3]
            assert file.seek(0, 2) == len(CONTENT)
            file.seek(-2, 2)
            assert file.read() == CONTENT[-2:]


def test_damage_is_placed_in_the_decompressed_bytes(tmp_path: Path) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(CONTENT, mtime=0)[:-8])
    with ByteSource(path, error=EmbeddingFormatError) as source:
        assert source.read(1_000) == CONTENT[:1_000]
        with pytest.raises(
            EmbeddingFormatError, match=r"cut\.gz, byte \d+: the gzip stream is damaged or cut"
        ) as raised:
            source.read(len(CONTENT))
    assert raised.value.offset is not None
    assert 1_000 <= raised.value.offset <= len(CONTENT)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.0 KB"),
        (1536, "1.5 KB"),
        (3 * 2**30, "3.0 GB"),
        (2**50, "1024.0 TB"),
    ],
)
def test_sizes_are_told_in_powers_of_1024(size: int, text: str) -> None:
    assert readable_size(size) == text


def test_memory_of_this_machine_is_what_the_system_says() -> None:
    told = Path("/proc/meminfo")
    if not told.exists():
        pytest.skip("this system tells its memory in another way")
    total = int(told.read_text(encoding="ascii").split()[1]) * 1024
    assert physical_memory() == pytest.approx(total, rel=0.01)
