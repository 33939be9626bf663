"""Trainings on a GPU go to workers that have one, one at a time on each; the CPU stands in for the GPU."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests.study.test_dask import Cluster, contents, distributed, run_on, states

from biasgauge.errors import InputError, ParameterError
from biasgauge.study import run_study
from biasgauge.study.cluster import local_client
from biasgauge.study.engine import run_cells
from biasgauge.study.store import CellStore
from biasgauge.text.training import sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from biasgauge.study.cell import Cell

    Wait = Callable[[Callable[[], object]], None]

STUDY = """
[study]
name = "two"
[corpora.words]
path = "words.txt"
[models.small]
seeds = 2
dim = 4
epochs = 1
min_count = 1
"""


@pytest.fixture(scope="module")
def gpus(tmp_path_factory: pytest.TempPathFactory, installed_step: Path, wait_for: Wait) -> Iterator[dict[str, Any]]:
    """Two workers with a GPU each, by their own account, and one without."""
    cluster = Cluster(tmp_path_factory.mktemp("gpus"), installed_step, wait_for)
    with_gpu = [cluster.worker("--resources", "GPU=1").pid for _ in range(2)]
    without = cluster.worker().pid
    cluster.wait_for_workers(3)
    yield {"address": cluster.address, "with": with_gpu, "without": without}
    cluster.close()


def test_trainings_run_one_at_a_time_on_each_worker_with_a_gpu(
    gpus: dict[str, Any], make_cell: Callable[..., Cell], wait_for: Wait, tmp_path: Path
) -> None:
    calls, gate = tmp_path / "calls", tmp_path / "gate"
    calls.mkdir()
    places = {"calls": calls, "gate": gate}
    trainings = [make_cell(f"gpu{number}", paths=places, device="cuda") for number in range(5)]
    others = [make_cell(f"cpu{number}", paths={"calls": calls}) for number in range(6)]
    at_the_gate: list[list[str]] = []

    def watch() -> None:
        def begun(kind: str) -> list[str]:
            return [path.name for path in calls.iterdir() if path.name.startswith(kind)]

        # The third worker is free, and does all that needs no GPU while both trainings wait.
        wait_for(lambda: len(begun("gpu")) == 2 and len(begun("cpu")) == 6)
        at_the_gate.append(begun("gpu"))
        gate.touch()

    watcher = threading.Thread(target=watch)
    watcher.start()
    there = CellStore(tmp_path / "there")
    ran = run_on(gpus["address"], [*trainings, *others], there)
    watcher.join()
    assert set(states(ran).values()) == {"done"}
    assert {int(name.split("-")[1]) for name in at_the_gate[0]} == set(gpus["with"])
    trained_by = {int(path.name.split("-")[1]) for path in calls.iterdir() if path.name.startswith("gpu")}
    assert trained_by == set(gpus["with"])
    here = CellStore(tmp_path / "here")
    run_cells([*trainings, *others], here, workers=0)
    assert contents(tmp_path / "here") == contents(tmp_path / "there")


def test_a_cluster_without_a_gpu_is_refused_before_cells_wait_for_ever(
    make_cell: Callable[..., Cell], tmp_path: Path
) -> None:
    store = CellStore(f"memory://{tmp_path}/store")
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", set_as_default=False
    ) as client:
        with pytest.raises(InputError, match="resources"):
            run_on(client, [make_cell("a"), make_cell("b", device="cuda")], store)
        assert set(states(run_on(client, [make_cell("a")], store)).values()) == {"done"}


def test_one_worker_of_this_machine_has_the_gpu(make_cell: Callable[..., Cell]) -> None:
    cells = [make_cell("a", device="cuda"), make_cell("b", device="cuda"), make_cell("c")]
    with local_client(cells, 2, None) as client:
        client.wait_for_workers(2)
        workers = client.scheduler_info()["workers"].values()
        assert sorted(worker["resources"].get("GPU", 0) for worker in workers) == [0, 1]


def test_a_study_trains_where_it_is_told_and_keys_do_not_depend_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "words.txt").write_text("the cat sat on the mat and the dog sat on the cat\n" * 20)
    (tmp_path / "study.toml").write_text(STUDY)
    plain = run_study(tmp_path / "study.toml", out=tmp_path / "cpu", workers=0)
    asked: list[str] = []
    on_cpu = sweep.run_sweep

    def in_its_place(*given: Any, device: str = "cpu", **more: Any) -> Any:  # noqa: ANN401 - as it is
        asked.append(device)
        return on_cpu(*given, device="cpu", **more)

    monkeypatch.setattr(sys.modules["biasgauge.text.training.sweep"], "run_sweep", in_its_place)
    trained = run_study(tmp_path / "study.toml", out=tmp_path / "gpu", workers=0, device="cuda")
    assert asked == ["cuda", "cuda"]
    assert [cell.key for cell in trained.cells] == [cell.key for cell in plain.cells]
    assert contents(tmp_path / "cpu" / "cells") == contents(tmp_path / "gpu" / "cells")
    with pytest.raises(ParameterError, match="'device'"):
        run_study(tmp_path / "study.toml", device="gpu")
