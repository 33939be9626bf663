"""A run that is killed, whenever that is, goes on where it was and ends with the bytes of one that was not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from biasgauge.study.engine import run_cells
from biasgauge.study.run import publish_results
from biasgauge.study.store import CellStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from biasgauge.study.cell import Cell

    Wait = Callable[[Callable[[], object]], None]

pytestmark = pytest.mark.crash

RUN = """
import json, sys
from pathlib import Path
from biasgauge.study.cell import Cell
from biasgauge.study.run import publish_results
from biasgauge.study.engine import run_cells
from biasgauge.study.store import CellStore

def run(folder, cells, results, workers):
    store = CellStore(folder)
    ran = run_cells(cells, store, workers=workers)
    assert not ran.failures, ran.failures
    publish_results("a-study", results, {}, ran.cells, store)
    store.close()

about = json.loads(Path(sys.argv[1]).read_text())
cells = [Cell.from_dict(one) for one in about["cells"]]
"""

KILLED_EVERYWHERE = (
    RUN
    + """
import os, shutil, signal
from biasgauge import registry

EVENTS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir"}

def in_child(work):
    child = os.fork()
    if not child:
        try:
            work()
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def killed_at(number, folder):
    seen = 0
    def watch(event, arguments):
        nonlocal seen
        reads = event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if event in EVENTS and not reads and str(arguments[0]).startswith(str(folder)):
            if seen == number:
                os.kill(os.getpid(), signal.SIGKILL)
            seen += 1
    sys.addaudithook(watch)
    run(folder, cells, about["results"], 0)

def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "run.json"
    }

registry.everything("study_step")
home, calls = Path(about["home"]), Path(about["calls"])
run(home / "whole", cells, about["results"], 0)  # in the parent: what it imports, its children need not
wanted = contents(home / "whole")
number, told = 0, []
while True:
    folder = home / str(number)
    shutil.rmtree(calls)
    calls.mkdir()
    code = in_child(lambda: killed_at(number, folder))
    if code == 0:
        break
    assert code == -signal.SIGKILL, code
    done = len(list(folder.glob("cells/*/*/manifest.json")))
    before = len(list(calls.iterdir()))
    assert in_child(lambda: run(folder, cells, about["results"], 0)) == 0
    again = len(list(calls.iterdir())) - before
    scratch, index = len(list((folder / "scratch").iterdir())), (folder / "results/index.json").exists()
    same = contents(folder) == wanted
    told.append({"done": done, "again": again, "same": same, "scratch": scratch, "index": index})
    number += 1
print(json.dumps(told))
"""
)


def small_study(make_cell: Callable[..., Cell], calls: Path, **places: Path) -> tuple[list[Cell], dict[str, str]]:
    a = make_cell("a", paths={"calls": calls})
    b = make_cell("b", [a], paths={"calls": calls, **places}, settings={"result": True})
    c = make_cell("c", [a, b], paths={"calls": calls}, settings={"result": True})
    return [a, b, c], {"one/b": b.key, "two/c": c.key}


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    folder = tmp_path / "calls"
    folder.mkdir()
    return folder


def started(program: str, about: dict[str, Any], tmp_path: Path, **more: Any) -> subprocess.Popen[str]:  # noqa: ANN401 - passed on
    file = tmp_path / "about.json"
    cells = [cell.to_dict() for cell in about.pop("cells")]
    file.write_text(json.dumps({"cells": cells, **about}))
    return subprocess.Popen([sys.executable, "-c", program, str(file)], text=True, stdout=subprocess.PIPE, **more)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "run.json"
    }


def undisturbed(cells: list[Cell], results: dict[str, str], folder: Path) -> dict[str, bytes]:
    store = CellStore(folder)
    ran = run_cells(cells, store, workers=0)
    publish_results("a-study", results, {}, ran.cells, store)
    store.close()
    return contents(folder)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a process that can be copied")
def test_killed_before_any_single_change_of_a_file_a_run_resumes(
    make_cell: Callable[..., Cell], calls: Path, tmp_path: Path
) -> None:
    """Once for every time that the run makes, opens for writing, moves or removes a file or folder of its store."""
    cells, results = small_study(make_cell, calls)
    about = {"cells": cells, "results": results, "home": str(tmp_path / "home"), "calls": str(calls)}
    process = started(KILLED_EVERYWHERE, about, tmp_path)
    told = json.loads(process.communicate(timeout=600)[0])
    assert process.returncode == 0
    assert len(told) > 40  # three cells of three files, two results
    assert {one["done"] for one in told} == {0, 1, 2, 3}
    assert {one["index"] for one in told} == {True}
    for one in told:
        assert one["same"]
        assert one["again"] == 3 - one["done"]  # what was finished is not computed again
        assert one["scratch"] == 0


def test_killed_with_its_workers_a_run_resumes(
    make_cell: Callable[..., Cell], wait_for: Wait, calls: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    cells, results = small_study(make_cell, calls, gate=gate)
    program = RUN + "run(about['store'], cells, about['results'], 2)"
    about = {"results": results, "store": str(tmp_path / "store")}
    process = started(program, {"cells": cells, **about}, tmp_path, start_new_session=True)
    wait_for(lambda: any(path.name.startswith("b-") for path in calls.iterdir()))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    store = CellStore(tmp_path / "store")
    assert store.finished() == {cells[0].key}
    kept = tmp_path / "store" / "cells" / cells[0].key[:2] / cells[0].key / "run.json"
    before = kept.stat().st_mtime_ns
    gate.touch()
    again = started(program, {"cells": cells, **about}, tmp_path)
    again.communicate(timeout=600)
    assert again.returncode == 0
    assert kept.stat().st_mtime_ns == before
    assert [sum(path.name.startswith(f"{text}-") for path in calls.iterdir()) for text in "abc"] == [1, 2, 1]
    assert contents(tmp_path / "store") == undisturbed(cells, results, tmp_path / "other")


def test_two_runs_in_one_folder_do_not_disturb_each_other(
    make_cell: Callable[..., Cell], wait_for: Wait, calls: Path, tmp_path: Path
) -> None:
    """Both are in the same cell at the same time, and both want to keep it."""
    gate = tmp_path / "gate"
    cells, results = small_study(make_cell, calls, gate=gate)
    program = RUN + "run(about['store'], cells, about['results'], 1)"
    about = {"results": results, "store": str(tmp_path / "store")}
    processes = [started(program, {"cells": cells, **about}, tmp_path) for _ in range(2)]
    wait_for(lambda: sum(path.name.startswith("b-") for path in calls.iterdir()) == 2)
    gate.touch()
    for process in processes:
        process.communicate(timeout=600)
        assert process.returncode == 0
    assert contents(tmp_path / "store") == undisturbed(cells, results, tmp_path / "other")


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:  # noqa: ANN401 - a folder, and a function
    folder = tmp_path / "disk"
    folder.mkdir()

    def resize(options: str) -> None:
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True, capture_output=True)  # noqa: S607 - wherever it is

    try:
        resize("size=48k")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a disk of its own can only be mounted by the superuser")
    yield folder, lambda: resize("remount,size=4m")
    subprocess.run(["umount", str(folder)], check=True)  # noqa: S607 - wherever it is


def test_a_full_disk_is_a_passing_failure(make_cell: Callable[..., Cell], small_disk: Any, tmp_path: Path) -> None:  # noqa: ANN401 - see there
    disk, enlarge = small_disk
    cells = [make_cell(f"a{place}", settings={"size": 20_000}) for place in range(4)]
    store = CellStore(disk / "store")
    ran = run_cells(cells, store, workers=0)
    assert {cell.state for cell in ran.cells} == {"done", "failed"}
    assert {failure.transient for failure in ran.failures} == {True}
    assert all("No space left on device" in failure.error for failure in ran.failures)
    assert all(store.is_intact(cell.key) for cell in ran.cells if cell.state == "done")
    enlarge()
    again = run_cells(cells, store, workers=0)
    assert {cell.state for cell in again.cells} == {"done", "reused"}
    assert contents(disk / "store") == contents(_here(cells, tmp_path / "other"))


def _here(cells: list[Cell], folder: Path) -> Path:
    store = CellStore(folder)
    run_cells(cells, store, workers=0)
    return folder
