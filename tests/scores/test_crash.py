"""A process killed at any moment of a scoring run leaves a store that can be resumed as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crash

# Every step that touches the disk counts: half of an array written, before and after each flush, before and after each
# move. For each step a child is killed there, then another resumes; both are forked, and the parent has scored once, so
# that imports are paid for once.
DRIVER = """
import io, json, os, signal, sys
from pathlib import Path
import numpy as np
from biasgauge.vectors import Embedding
from biasgauge.io.atomic import atomic_file
from biasgauge.scores import engine, score
from biasgauge.scores import store as store_module

folder = Path(sys.argv[1])
random = np.random.default_rng(0)
words = tuple(f"w{number}" for number in range(40))
models = [Embedding(words, random.normal(size=(40, 5)).astype(np.float32), name=f"m{number}") for number in range(3)]
flush, move, write, compute = os.fsync, os.replace, store_module.write_array, engine.compute
steps, limit, computed = 0, 0, 0


def step():
    global steps
    steps += 1
    if steps == limit:
        os.kill(os.getpid(), signal.SIGKILL)


def stepped(function):
    def run(*arguments, **settings):
        step()
        function(*arguments, **settings)
        step()
    return run


def save(path, array):
    whole = io.BytesIO()
    np.save(whole, array)
    content = whole.getvalue()
    with atomic_file(path) as part, part.open("wb") as file:
        file.write(content[: len(content) // 2])
        file.flush()
        step()
        file.write(content[len(content) // 2 :])


def counted(*arguments, **settings):
    global computed
    computed += 1
    return compute(*arguments, **settings)


def child(store, last):
    global limit
    process = os.fork()
    if process:
        return os.waitpid(process, 0)[1]
    limit = last
    os.fsync, os.replace, store_module.write_array, engine.compute = stepped(flush), stepped(move), save, counted
    score(models, pairs=[("w0", "w1")], words=list(words[5:]), k=3, n_jobs=1, store=store)
    (folder / f"{store.name}.json").write_text(json.dumps({"steps": steps, "computed": computed}))
    os._exit(0)


score(models, pairs=[("w0", "w1")], words=list(words[5:]), k=3, n_jobs=1)
assert child(folder / "whole", 0) == 0
total = json.loads((folder / "whole.json").read_text())["steps"]
for number in range(1, total + 1, int(sys.argv[2])):
    store = folder / str(number)
    assert child(store, number) == signal.SIGKILL, number
    manifest = store / "store.json"
    done = len(json.loads(manifest.read_text())["models"]) if manifest.exists() else 0
    assert child(store, 0) == 0, number
    report = json.loads((folder / f"{number}.json").read_text())
    (folder / f"{number}.json").write_text(json.dumps({**report, "done": done}))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="NO FORK on this system: a kill cannot be planted at every step")
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_at_every_step_then_resumed(tmp_path: Path, every: int) -> None:
    """An array has seven steps and a manifest six, so that every third is each of them in turn."""
    run = subprocess.run(
        [sys.executable, "-c", DRIVER, str(tmp_path), str(every)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    assert run.returncode == 0, run.stderr
    whole = {path.name: path.read_bytes() for path in (tmp_path / "whole").iterdir()}
    assert len(whole) == 1 + 3 + 2  # three models have the same words and pairs, so that they share two files
    total = json.loads((tmp_path / "whole.json").read_text())["steps"]
    # Each of 3 × 3 arrays and 4 manifests: two flushes and a move, twice each; and half of each array.
    assert total == (9 + 4) * 6 + 9
    finished = set()
    for number in range(1, total + 1, every):
        store = tmp_path / str(number)
        left = {path.name: path.read_bytes() for path in store.iterdir()}
        assert left == whole, f"killed at step {number}"
        report = json.loads((tmp_path / f"{number}.json").read_text())
        assert report["computed"] == 3 - report["done"], f"killed at step {number}"
        finished.add(report["done"])
    assert finished == {0, 1, 2, 3}
