"""One writer at a time, across processes; the lock says who holds it, and is free when its process has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge import weat
from biasgauge.errors import InputError
from biasgauge.io.atomic import Scratch, atomic_file, is_occupied, write_text
from biasgauge.io.locks import lock_holder, writer_lock
from biasgauge.mitigation import balance
from biasgauge.scores import score
from biasgauge.text import read_corpus
from biasgauge.text.training import train
from biasgauge.vectors import Embedding, save

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ADD = """
import sys
from pathlib import Path
from biasgauge.io.locks import writer_lock
folder = Path(sys.argv[1])
for _ in range(int(sys.argv[2])):
    with writer_lock(folder / "lock"):
        count = int((folder / "count").read_text())
        (folder / "count").write_text(str(count + 1))
"""
HOLD = """
import sys, time
from pathlib import Path
from biasgauge.io.locks import writer_lock
with writer_lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


def test_processes_take_turns(tmp_path: Path) -> None:
    """Each reads a number and writes the next: without a lock, many are lost."""
    (tmp_path / "count").write_text("0")
    processes = [subprocess.Popen([sys.executable, "-c", ADD, str(tmp_path), "150"]) for _ in range(4)]
    assert [process.wait(300) for process in processes] == [0] * 4
    assert (tmp_path / "count").read_text() == "600"
    assert not (tmp_path / "lock").exists()


def test_who_holds_it_is_said_and_a_kill_frees_it(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert lock_holder(lock).startswith(f"process {process.pid} on ")
        told: list[str] = []
        with (
            pytest.raises(InputError, match=rf"process {process.pid} on .* is writing there; wait until it has ended"),
            writer_lock(lock, patience=0.1, waits=told.append),
        ):
            pytest.fail("held by another")
        assert len(told) == 1
        assert f"waiting for process {process.pid}" in told[0]
        threading.Timer(0.3, process.kill).start()
        with writer_lock(lock, patience=60) as sole:
            assert sole
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_threads_of_one_process_take_turns(tmp_path: Path) -> None:
    inside, most = [0], [0]

    def work() -> None:
        for _ in range(20):
            with writer_lock(tmp_path / "lock"):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                time.sleep(0.0005)
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


KILLED = """
import os, signal, sys
from biasgauge.io.atomic import atomic_file
with atomic_file(sys.argv[1]) as part:
    part.write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_parts_of_dead_processes_go_and_nothing_else_does(tmp_path: Path) -> None:
    target = tmp_path / "file"
    dead = subprocess.run([sys.executable, "-c", KILLED, str(target)], check=False)
    assert dead.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    mine = {
        ".notes.part": "no number of ours",
        ".file.part": "mine",
        ".file.0a1b2c3d.part": "of an earlier version: nobody says whose",
        left.name.replace(".file.", ".other."): "of another file",
        left.name.replace(f"-{int(left.name.split('-')[1], 16):x}-", f"-{os.getpid():x}-"): "of a process that lives",
        ".file.000000-1-00000000.part": "of another machine",
    }
    for name, text in mine.items():
        (tmp_path / name).write_text(text)
    assert not is_occupied(tmp_path / "nowhere")
    write_text(target, "whole")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {**mine, "file": "whole"}


def test_a_link_in_the_place_of_a_part_is_not_followed(tmp_path: Path) -> None:
    target, mine = tmp_path / "file", tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis").write_text("mine")
    subprocess.run([sys.executable, "-c", KILLED, str(target)], check=False)
    (left,) = [path for path in tmp_path.iterdir() if path.name.endswith(".part")]
    left.unlink()
    left.symlink_to(mine, target_is_directory=True)
    write_text(target, "whole")
    assert (mine / "thesis").read_text() == "mine"


SCRATCH = """
import os, signal, sys
from pathlib import Path
from biasgauge.io.atomic import Scratch
with Scratch(Path(sys.argv[1]), ".biasgauge-").folder() as folder:
    (folder / "half").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_scratch_folders_of_dead_processes_go_and_nothing_else_does(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", SCRATCH, str(tmp_path)], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    machine = next(path.name for path in tmp_path.iterdir()).removeprefix(".biasgauge-").rsplit("-", 2)[0]
    mine = tmp_path / f".biasgauge-{machine}-notes"
    mine.mkdir()
    (mine / "thesis").write_text("mine")
    mine.with_suffix(".lock").write_text("mine")
    scratch = Scratch(tmp_path, ".biasgauge-")
    with scratch.folder() as folder:
        Scratch(tmp_path, ".biasgauge-").sweep()
        assert folder.is_dir()
    scratch.close()
    assert {path.name for path in tmp_path.iterdir()} == {mine.name, f"{mine.name}.lock"}
    assert (mine / "thesis").read_text() == "mine"


def test_no_output_of_any_kind_goes_to_a_place_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a b c d\n" * 20)
    (tmp_path / "file").write_text("mine")
    model = Embedding(tuple("abcdefgh"), np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32))
    result = weat(model, x=["a", "b"], y=["c", "d"], a=["e", "f"], b=["g", "h"])
    sets = {"x": ["a"], "y": ["b"], "a": ["c"], "b": ["d"]}
    outputs: list[Callable[[str], object]] = [
        lambda path: read_corpus(tmp_path / "text", out=path),
        lambda path: score(model, pairs=[("a", "b")], words=["c"], measures="dbwa", store=path),
        lambda path: train(tmp_path / "text", out=path, dim=4, epochs=1, min_count=1),
        lambda path: save(model, f"{path}.bin"),
        lambda path: result.save(f"{path}.html"),
        lambda path: balance(tmp_path / "text", sets, out=path),
    ]
    for path in ("null\0byte", str(tmp_path / "file" / "below"), "/proc/nowhere/x", str(tmp_path / ("long" * 100))):
        for write in outputs:
            with pytest.raises(InputError) as refusal:
                write(path)
            assert "\n" not in str(refusal.value)


def test_a_name_that_no_file_can_have(tmp_path: Path) -> None:
    for path in (tmp_path / "null\0byte", tmp_path / ("long" * 100)):
        with pytest.raises(InputError, match="cannot be the name of a file"), atomic_file(path) as part:
            part.write_bytes(b"content")
    write_text(tmp_path / ("l" * 250), "content")
    assert [path.name for path in tmp_path.iterdir()] == ["l" * 250]


@pytest.mark.skipif(os.geteuid() == 0, reason="ROOT may write anywhere")
def test_a_folder_that_may_not_be_written_to(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="Permission"):
        write_text(tmp_path / "file", "content")


@pytest.mark.parametrize("kind", ["link", "dangling link", "hard link", "file", "folder"])
def test_a_file_of_the_users_own_is_never_written_to_as_a_lock(kind: str, tmp_path: Path) -> None:
    """A store from somebody else had a link of that name: what it led to was emptied and written over."""
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("mine")
    store = tmp_path / "store"
    store.mkdir()
    lock = store / ".biasgauge.lock"
    made: dict[str, Callable[[], object]] = {
        "link": lambda: lock.symlink_to(thesis),
        "dangling link": lambda: lock.symlink_to(tmp_path / "nowhere"),
        "hard link": lambda: lock.hardlink_to(thesis),
        "file": lambda: lock.write_text("mine too"),
        "folder": lock.mkdir,
    }
    made[kind]()
    with (
        pytest.raises(InputError, match="biasgauge"),
        writer_lock(lock, patience=0),
    ):
        pytest.fail("was held")
    assert thesis.read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"thesis.txt", "store"}
    assert os.path.lexists(lock)
    assert kind != "file" or lock.read_text() == "mine too"


def test_a_corpus_leaves_hidden_files_beside_it_alone(tmp_path: Path) -> None:
    """The lock of a corpus was named as a user may name a file, and went with what that held."""
    mine = tmp_path / ".corpus.lock"
    mine.write_text("mine")
    read_corpus(iter(["the cat sat"]), out=tmp_path / "corpus")
    assert mine.read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {".corpus.lock", "corpus"}
