"""Files that appear whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from biasgauge.errors import InputError
from biasgauge.io.atomic import atomic_file, write_text

if TYPE_CHECKING:
    from pathlib import Path


def test_new_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "new"
    with atomic_file(path) as part:
        part.write_bytes(b"content")
        assert not path.exists()
    assert path.read_bytes() == b"content"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("old", [None, b"old"])
@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt])
def test_problem_leaves_things_as_they_were(old: bytes | None, problem: type[BaseException], tmp_path: Path) -> None:
    path = tmp_path / "file"
    if old is not None:
        path.write_bytes(old)

    def write_half() -> None:
        with atomic_file(path) as part:
            part.write_bytes(b"half")
            raise problem

    with pytest.raises(problem):
        write_half()
    assert {item.name: item.read_bytes() for item in tmp_path.iterdir()} == ({} if old is None else {"file": old})


def test_block_that_writes_nothing_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with pytest.raises(FileNotFoundError), atomic_file(path):
        pass
    assert path.read_bytes() == b"old"


def test_part_lies_beside_and_is_hidden(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "file.bin") as part:
        part.write_bytes(b"x")
        assert part.parent == tmp_path
        assert part.name.startswith(".file.bin.")
        assert part.name.endswith(".part")


def test_folder_that_does_not_exist(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "file"
    with pytest.raises(InputError, match="nowhere"), atomic_file(path):
        pytest.fail("the block must not run")
    assert not (tmp_path / "nowhere").exists()


def test_folder_in_place_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder; name a file inside it"), atomic_file(tmp_path):
        pytest.fail("the block must not run")


def test_text_is_utf8_with_unix_line_ends(tmp_path: Path) -> None:
    write_text(tmp_path / "text", "é\nb\r\n")
    assert (tmp_path / "text").read_bytes() == b"\xc3\xa9\nb\r\n"


def _run(code: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, check=False, timeout=600)


KILLED = """
import os, signal, sys
from biasgauge.io.atomic import atomic_file
with atomic_file(sys.argv[1]) as part:
    with part.open("wb") as file:
        file.write(b"half of it")
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.crash
@pytest.mark.parametrize("old", [None, b"old"])
def test_killed_process_leaves_the_old_file(old: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "file"
    if old is not None:
        path.write_bytes(old)
    assert _run(KILLED, str(path)).returncode == -signal.SIGKILL
    assert (path.read_bytes() if path.exists() else None) == old
    left = [item.name for item in tmp_path.iterdir() if item != path]
    assert len(left) == 1
    assert left[0].startswith(".file.")
    assert left[0].endswith(".part")

    write_text(path, "next attempt")
    assert path.read_bytes() == b"next attempt"


FULL = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from biasgauge.vectors import Embedding, save
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    save(Embedding(tuple(map(str, range(5_000))), np.ones((5_000, 50), np.float32)), sys.argv[1])
except OSError as problem:
    sys.exit(f"errno {problem.errno}")
"""


@pytest.mark.crash
@pytest.mark.parametrize("ending", [".bin", ".txt", ".safetensors"])
@pytest.mark.parametrize("old", [None, b"old"])
def test_disk_that_is_full_leaves_the_old_file(old: bytes | None, ending: str, tmp_path: Path) -> None:
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    path = tmp_path / f"vectors{ending}"
    if old is not None:
        path.write_bytes(old)
    ended = _run(FULL, str(path))
    assert ended.returncode == 1
    assert f"errno {errno.EFBIG}".encode() in ended.stderr, ended.stderr
    assert {item.name: item.read_bytes() for item in tmp_path.iterdir()} == ({} if old is None else {path.name: old})


def test_writers_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = [bytes([65 + writer]) * 200_000 for writer in range(8)]

    def write(content: bytes) -> None:
        for _ in range(10):
            with atomic_file(path) as part:
                part.write_bytes(content)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, contents))
    assert path.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [path]


def test_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    contents = {b"a" * 500_000, b"b" * 300_000}
    path.write_bytes(b"a" * 500_000)

    def write(content: bytes) -> None:
        for _ in range(25):
            with atomic_file(path) as part:
                part.write_bytes(content)

    with ThreadPoolExecutor(2) as pool:
        writing = [pool.submit(write, content) for content in sorted(contents)]
        while not all(job.done() for job in writing):
            assert path.read_bytes() in contents
    for job in writing:
        job.result()


def test_bytes_reach_the_disk_before_the_name_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut after the move must not find an empty file under the new name."""
    path = tmp_path / "file"
    flushed: list[tuple[int, bool]] = []
    fsync = os.fsync

    def watch(handle: int) -> None:
        flushed.append((os.fstat(handle).st_ino, path.exists()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", watch)
    write_text(path, "content")
    assert flushed[0] == (path.stat().st_ino, False)
