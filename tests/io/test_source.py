"""A file as a stream: compressed or not, counted, with each problem told in one sentence."""

from __future__ import annotations

import gzip
import io
import lzma
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import zstandard

from biasgauge.errors import EmbeddingFormatError
from biasgauge.io.source import ByteSource, physical_memory, readable_size

if TYPE_CHECKING:
    from collections.abc import Callable

CONTENT = bytes(range(256)) * 400


def _zstd(content: bytes, *, checksum: bool = False, size: bool = True) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=checksum, write_content_size=size).compress(content)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda content: gzip.compress(content, mtime=0),
    "xz": lzma.compress,
    "zstd": _zstd,
}


@pytest.fixture(params=["plain", *PACKERS])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    file = tmp_path / "file"
    file.write_bytes(PACKERS.get(request.param, bytes)(CONTENT))
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


def test_content_is_read_into_a_buffer(path: Path) -> None:
    buffer = memoryview(bytearray(len(CONTENT) + 10))
    with ByteSource(path, error=EmbeddingFormatError) as source:
        assert source.readinto(buffer[:5]) == 5
        assert source.readinto(buffer[5:]) == len(CONTENT) - 5
        assert source.readinto(buffer) == 0
    assert buffer[: len(CONTENT)] == CONTENT


@pytest.mark.parametrize("name", PACKERS)
def test_damage_is_placed_in_the_decompressed_bytes(name: str, tmp_path: Path) -> None:
    path = tmp_path / "cut"
    content = CONTENT + bytes(range(200))
    path.write_bytes(PACKERS[name](content)[:-8])
    with ByteSource(path, error=EmbeddingFormatError) as source:
        if name == "gzip":
            assert source.read(1_000) == content[:1_000]
        with pytest.raises(EmbeddingFormatError, match=rf"cut, byte \d+: the {name} stream is damaged") as raised:
            _read_all(source)
    assert raised.value.offset is not None
    assert 0 <= raised.value.offset <= len(content)


@pytest.mark.parametrize("name", PACKERS)
@pytest.mark.parametrize("many", [1, 40])
def test_cut_at_any_byte_is_noticed(name: str, many: int, tmp_path: Path) -> None:
    """No prefix of a compressed file but the whole is taken as whole; zstd's library itself would take any."""
    whole = PACKERS[name](b"some text of several words, " * many)
    path = tmp_path / "cut"
    magic = {"gzip": 2, "xz": 6, "zstd": 4}[name]
    for length in range(magic, len(whole)):
        path.write_bytes(whole[:length])
        with ByteSource(path, error=EmbeddingFormatError) as source, pytest.raises(EmbeddingFormatError, match=name):
            source.read(10_000)


def _read_all(source: ByteSource) -> None:
    while source.read(10_000):
        pass


def _changed(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0x55]) + content[middle + 1 :]


@pytest.mark.parametrize("name", PACKERS)
def test_changed_byte_is_noticed(name: str, tmp_path: Path) -> None:
    path = tmp_path / "changed"
    packed = _zstd(CONTENT, checksum=True) if name == "zstd" else PACKERS[name](CONTENT)
    path.write_bytes(_changed(packed))
    with (
        ByteSource(path, error=EmbeddingFormatError) as source,
        pytest.raises(EmbeddingFormatError, match=rf"the {name} stream is damaged or cut short \(.+\); copy or"),
    ):
        _read_all(source)


SKIPPED = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"aside"
NOISE = bytes((number * number * 31 + number // 7) % 251 for number in range(400_000))


@pytest.mark.parametrize(
    ("packed", "content"),
    [
        (_zstd(b"one") + _zstd(b"two"), b"onetwo"),
        (_zstd(b"one", checksum=True, size=False) + SKIPPED + _zstd(b"two"), b"onetwo"),
        (_zstd(b"one") + SKIPPED, b"one"),
        (_zstd(b""), b""),
        (_zstd(b"a" * 10_000_000), b"a" * 10_000_000),
        (_zstd(NOISE, checksum=True), NOISE),
        (zstandard.ZstdCompressor(level=1, write_content_size=False).compress(NOISE), NOISE),
        (lzma.compress(b"one") + lzma.compress(b"two"), b"onetwo"),
        (gzip.compress(b"one") + gzip.compress(b"two"), b"onetwo"),
    ],
    ids=lambda value: f"{len(value)} bytes",
)
def test_every_frame_of_a_file_is_read(packed: bytes, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "frames"
    path.write_bytes(packed)
    with ByteSource(path, error=EmbeddingFormatError) as source:
        assert source.read(len(content) + 100) == content


def test_window_of_the_large_archives(tmp_path: Path) -> None:
    """`zstd --long=31`, as forum archives are packed: more than the library allows unless it is told."""
    settings = zstandard.ZstdCompressionParameters(window_log=31, enable_ldm=True, compression_level=1)
    packed = io.BytesIO()
    with zstandard.ZstdCompressor(compression_params=settings).stream_writer(packed, closefd=False) as stream:
        stream.write(CONTENT)
    path = tmp_path / "long"
    path.write_bytes(packed.getvalue())
    assert zstandard.get_frame_parameters(packed.getvalue()).window_size == 2**31
    with ByteSource(path, error=EmbeddingFormatError) as source:
        assert source.read(len(CONTENT) + 1) == CONTENT


@pytest.mark.parametrize("name", PACKERS)
def test_small_file_that_unpacks_to_much_is_read_in_little_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(PACKERS[name](bytes(50_000_000)))
    tracemalloc.start()
    with ByteSource(path, error=EmbeddingFormatError) as source:
        assert source.read(1_000) == bytes(1_000)
        _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000


def test_zstd_without_its_library_says_how_to_get_it(tmp_path: Path) -> None:
    path = tmp_path / "text.zst"
    path.write_bytes(_zstd(b"text"))
    code = (
        "import sys; sys.modules['zstandard'] = None\n"
        "from biasgauge.io.source import ByteSource\n"
        "from biasgauge.errors import EmbeddingFormatError\n"
        "try:\n    ByteSource(sys.argv[1], error=EmbeddingFormatError)\n"
        "except EmbeddingFormatError as problem:\n    sys.exit(str(problem))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-Werror", "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    assert ended.stderr == f'{path}: is compressed with zstd; to read it: pip install "biasgauge[train]"\n'


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
