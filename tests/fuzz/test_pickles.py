"""Pickles, bare or hidden in other files, are refused and never run."""

from __future__ import annotations

import gzip
import io
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz.conftest import Build, Judge

pytestmark = pytest.mark.fuzz


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[[Path], None], tuple[Path]]:
        return Path.touch, (self.mark,)


def _array(trap: Trap, shape: tuple[int, ...]) -> bytes:
    array = np.empty(shape, dtype=object)
    array[...] = trap
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def _dumped(protocol: int) -> Callable[[Build, Trap], bytes]:
    return lambda _, trap: pickle.dumps(trap, protocol)


HIDDEN: dict[str, Callable[[Build, Trap], bytes]] = {
    **{f"protocol {number}": _dumped(number) for number in range(2, 6)},
    "words of an archive": lambda b, trap: b.archive(
        {"words.npy": _array(trap, (2,)), "vectors.npy": b.matrix([[1.0], [2.0]])}
    ),
    "vectors of an archive": lambda b, trap: b.archive(
        {"words.npy": b.words(["a", "b"]), "vectors.npy": _array(trap, (2, 3))}
    ),
    "array": lambda _, trap: _array(trap, (2, 3)),
    "PyTorch's archive": lambda b, trap: b.archive(
        {"model/data.pkl": pickle.dumps(trap, 2), "model/data/0": bytes(24), "model/version": b"3\n"}
    ),
}


def test_the_trap_works(tmp_path: Path) -> None:
    mark = tmp_path / "opened"
    pickle.loads(pickle.dumps(Trap(mark)))  # noqa: S301 - our own bytes
    assert mark.exists()


@pytest.mark.parametrize("gzipped", [False, True], ids=["plain", "gzipped"])
@pytest.mark.parametrize("name", HIDDEN)
def test_pickle_is_refused_by_name_and_not_opened(
    name: str, build: Build, judge: Judge, tmp_path: Path, *, gzipped: bool
) -> None:
    mark = tmp_path / "opened"
    content = HIDDEN[name](build, Trap(mark))
    judge(gzip.compress(content) if gzipped else content, "pickle", b"a\nb\n")
    assert not mark.exists()


@pytest.mark.parametrize("protocol", [0, 1])
def test_pickle_without_a_mark_is_not_opened(protocol: int, judge: Judge, tmp_path: Path) -> None:
    mark = tmp_path / "opened"
    judge(pickle.dumps(Trap(mark), protocol), "")
    assert not mark.exists()


def test_pickle_beside_good_arrays_is_not_opened(build: Build, judge: Judge, tmp_path: Path) -> None:
    mark = tmp_path / "opened"
    members = {
        "words.npy": build.words(["a"]),
        "vectors.npy": build.matrix([[1.5]]),
        "notes.npy": _array(Trap(mark), ()),
    }
    judge(build.archive(members), {"words": ["a"], "rows": [[1.5]], "format": "npz"})
    assert not mark.exists()


def test_pickle_as_vocabulary_is_not_opened(build: Build, judge: Judge, tmp_path: Path) -> None:
    mark = tmp_path / "opened"
    judge(build.matrix([[1.0], [2.0]]), None, pickle.dumps(Trap(mark)))
    assert not mark.exists()
