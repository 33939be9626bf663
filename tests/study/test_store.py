from __future__ import annotations

import errno
import hashlib
import json
import multiprocessing
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import fsspec
import pytest

from biasgauge.errors import InputError
from biasgauge.study.cell import Cell, Failure
from biasgauge.study.store import CellStore, DamagedCellError

if TYPE_CHECKING:
    from collections.abc import Iterator

CELL = Cell("any", 1, {"size": 3}, inputs={"of": "0" * 64}, files={"text": "1" * 64}, label="any of three")
FILES = {"a.txt": b"alpha", "deep/b.bin": bytes(range(256))}


@pytest.fixture(params=["folder", "file URL", "memory URL"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[CellStore]:
    start = {"folder": "", "file URL": "file://", "memory URL": "memory://"}[request.param]
    yield CellStore(f"{start}{tmp_path}/s [1]*")
    fsspec.filesystem("memory").store.clear()


def publish(store: CellStore, cell: Cell = CELL, files: dict[str, bytes] | None = None) -> None:
    with store.scratch() as scratch:
        out = scratch / "out"
        for name, content in (FILES if files is None else files).items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_bytes(content)
        store.publish(cell, out, 1.5)


def cell_file(name: str) -> str:
    return f"cells/{CELL.key[:2]}/{CELL.key}/{name}"


def test_an_outcome_is_kept_with_what_it_was_made_of(store: CellStore, tmp_path: Path) -> None:
    assert not store.is_intact(CELL.key)
    publish(store)
    assert store.is_intact(CELL.key)
    assert store.finished() == {CELL.key}
    assert store.seconds(CELL.key) == 1.5
    folder = store.folder(CELL.key, tmp_path / "fetched")
    assert {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*")} == FILES
    manifest = store.manifest(CELL.key)
    assert manifest is not None
    assert manifest["address"]["files"] == {"text": "1" * 64}  # the user's files, which are not the outcome's
    assert manifest["files"]["a.txt"] == {"bytes": 5, "sha256": hashlib.sha256(b"alpha").hexdigest()}


def test_manifests_are_the_same_bytes_in_every_kind_of_store(tmp_path: Path) -> None:
    kept = []
    for place in (tmp_path / "one", f"file://{tmp_path}/two", f"memory://{tmp_path}/three"):
        store = CellStore(place)
        publish(store)
        kept.append(store.read(cell_file("manifest.json")))
    assert kept[0] is not None
    assert kept[0] == kept[1] == kept[2]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("manifest.json", b""),
        ("manifest.json", b"[]"),
        ("manifest.json", b'{"key": 1}'),
        ("files/a.txt", b"alph"),
        ("files/deep/b.bin", None),
    ],
)
def test_a_damaged_outcome_is_not_whole_and_can_be_made_again(
    store: CellStore, name: str, content: bytes | None
) -> None:
    publish(store)
    if content is None:
        store.remove(cell_file(name))
    else:
        store.write(cell_file(name), content)
    assert not store.is_intact(CELL.key)
    store.discard(CELL.key)
    assert store.finished() == frozenset()
    publish(store)
    assert store.is_intact(CELL.key)


def test_one_changed_bit_or_one_file_too_many_is_found_in_a_folder(tmp_path: Path) -> None:
    store = CellStore(tmp_path)
    publish(store)
    store.write(cell_file("files/a.txt"), b"alphb")
    assert not store.is_intact(CELL.key)
    store.write(cell_file("files/a.txt"), b"alpha")
    assert store.is_intact(CELL.key)
    store.write(cell_file("files/c.txt"), b"")
    assert not store.is_intact(CELL.key)


def test_a_changed_bit_in_an_object_store_is_found_when_it_is_fetched(tmp_path: Path) -> None:
    store = CellStore(f"memory://{tmp_path}/s")
    publish(store)
    store.write(cell_file("files/a.txt"), b"alphb")
    with pytest.raises(DamagedCellError, match="outcome"):
        store.folder(CELL.key, tmp_path / "fetched")
    store.remove(cell_file("files/a.txt"))
    with pytest.raises(DamagedCellError, match=r"has lost a\.txt"):
        store.folder(CELL.key, tmp_path / "again")


def test_an_outcome_that_is_not_there_is_named(store: CellStore, tmp_path: Path) -> None:
    with pytest.raises(DamagedCellError, match=f"the outcome {CELL.key[:12]} is not there"):
        store.folder(CELL.key, tmp_path / "fetched")


def test_a_manifest_with_settings_of_another_cell_is_damaged(store: CellStore) -> None:
    publish(store)
    manifest = store.manifest(CELL.key)
    assert manifest is not None
    manifest["address"]["settings"] = {"size": 4}
    store.write(cell_file("manifest.json"), json.dumps(manifest).encode())
    assert store.manifest(CELL.key) is None


@pytest.mark.parametrize("name", ["../../escaped", "/escaped", "a/../../escaped", "..\\escaped", ""])
def test_a_manifest_cannot_name_files_outside_its_cell(tmp_path: Path, name: str) -> None:
    store = CellStore(f"memory://{tmp_path}/s")
    publish(store)
    manifest = store.manifest(CELL.key)
    assert manifest is not None
    manifest["files"] = {name: {"bytes": 0, "sha256": hashlib.sha256(b"").hexdigest()}}
    store.write(cell_file("manifest.json"), json.dumps(manifest).encode())
    assert not store.is_intact(CELL.key)
    with pytest.raises(DamagedCellError):
        store.folder(CELL.key, tmp_path / "fetched")


def test_the_first_of_two_writers_stays(tmp_path: Path) -> None:
    store = CellStore(tmp_path)
    publish(store)
    first = Path(tmp_path, cell_file("run.json")).stat().st_ino
    publish(store)
    assert Path(tmp_path, cell_file("run.json")).stat().st_ino == first


def test_a_writer_replaces_a_damaged_outcome(tmp_path: Path) -> None:
    store = CellStore(tmp_path)
    publish(store)
    store.write(cell_file("files/a.txt"), b"")
    publish(store)
    assert store.is_intact(CELL.key)


def test_many_writers_of_one_cell_leave_one_whole_outcome(store: CellStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: publish(store), range(40)))
    assert store.is_intact(CELL.key)
    assert store.finished() == {CELL.key}


def test_writers_that_find_a_damaged_outcome_at_once_leave_a_whole_one(tmp_path: Path) -> None:
    store = CellStore(tmp_path)
    for _ in range(20):
        publish(store)
        store.write(cell_file("files/a.txt"), b"")
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: publish(store), range(4)))
        assert store.is_intact(CELL.key)


def test_nothing_is_left_in_scratch(store: CellStore, tmp_path: Path) -> None:
    publish(store)
    publish(store)
    store.discard(CELL.key)
    store.close()
    if store.local:
        assert list((tmp_path / "s [1]*" / "scratch").iterdir()) == []


def _hold_scratch(folder: str, says: multiprocessing.connection.Connection) -> None:
    with CellStore(folder).scratch() as scratch:
        (scratch / "half.txt").write_text("half")
        says.send(str(scratch))
        says.recv()


def test_scratch_of_a_killed_process_is_swept_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_hold_scratch, args=(str(tmp_path), theirs))
    process.start()
    scratch = Path(ours.recv())
    store = CellStore(tmp_path)
    with store.scratch() as own:
        store.sweep()
        assert scratch.is_dir()
        assert own.is_dir()
        process.kill()
        process.join()
        process.close()
        store.sweep()
        assert not scratch.exists()
        assert own.is_dir()
    store.close()
    assert list((tmp_path / "scratch").iterdir()) == []


def test_scratch_of_another_machine_is_left_alone(tmp_path: Path) -> None:
    store = CellStore(tmp_path)
    theirs = tmp_path / "scratch" / "other_machine-17-abc"
    theirs.mkdir()
    theirs.with_suffix(".lock").touch()
    store.sweep()
    assert theirs.is_dir()


def test_failures_are_kept_and_forgotten(store: CellStore) -> None:
    failure = Failure(CELL.key, CELL.label, "any", "It went wrong", "a\nlog\n", transient=True)
    store.keep_failure(failure)
    assert store.failures() == {CELL.key: failure}
    store.write("failed/half.json", b'{"key": ')
    assert store.failures() == {CELL.key: failure}
    store.forget_failure(CELL.key)
    store.forget_failure(CELL.key)
    assert store.failures() == {}


@pytest.mark.parametrize("fails_at", range(8))
def test_a_full_disk_at_any_write_leaves_nothing_that_looks_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    store = CellStore(tmp_path)
    calls = iter(range(100))

    def limited(name: str) -> None:
        real = getattr(Path, name)

        def write(self: Path, *args: object, **more: object) -> object:
            if "scratch" in str(self) and next(calls) == fails_at:
                raise OSError(errno.ENOSPC, "No space left on device", str(self))
            return real(self, *args, **more)

        monkeypatch.setattr(Path, name, write)

    for name in ("mkdir", "write_text", "replace"):
        limited(name)
    with pytest.raises(OSError, match="No space left"):
        publish(store)
    monkeypatch.undo()
    assert store.finished() == frozenset()
    assert not store.is_intact(CELL.key)
    publish(store)
    assert store.is_intact(CELL.key)


def test_places_that_cannot_hold_outcomes_get_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="outcomes"):
        CellStore(tmp_path / "file")
    with pytest.raises(InputError, match="directory"):
        CellStore(tmp_path / "file" / "below")
    with pytest.raises(InputError, match="outcomes"):
        CellStore("nosuch://place")


def test_a_relative_path_means_the_same_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = CellStore("here")
    publish(store)
    monkeypatch.chdir(tmp_path.parent)
    assert CellStore(store.url).is_intact(CELL.key)
    shutil.rmtree(tmp_path / "here")
