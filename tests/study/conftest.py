"""A step of somebody else's, installed for all processes that tests start, and cells that use it."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from biasgauge import registry
from biasgauge.study.cell import Cell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

STEP = '''
import os, signal, time
from biasgauge.errors import ParameterError
from biasgauge.study.step import Job, Step


def run(job: Job) -> None:
    """Joins texts. Files tell it to count calls, wait, die or fail; none of them counts for the key."""
    if "calls" in job.files:
        (job.files["calls"] / f"{job.settings['text']}-{os.getpid()}-{time.monotonic_ns()}").touch()
    if "dies" in job.files and job.files["dies"].exists():
        if not job.settings.get("always"):
            job.files["dies"].unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    if "gate" in job.files:
        deadline = time.monotonic() + 600
        while not job.files["gate"].exists():
            if time.monotonic() > deadline:
                raise TimeoutError("the gate stays shut")
            time.sleep(0.005)
    if "broken" in job.files and job.files["broken"].exists():
        print("about to fail")
        raise ParameterError("The 'text' parameter is not to be had.")
    text = job.settings["text"] + "".join(
        f"({name}: {(folder / 'text.txt').read_text()})" for name, folder in sorted(job.inputs.items())
    )
    (job.out / "text.txt").write_text(text)
    if "environment" in job.settings:
        job.write_json("environment.json", {name: os.environ.get(name) for name in job.settings["environment"]})
    if job.settings.get("result"):
        job.write_json("result.json", {"text": text})
    (job.out / "padding.bin").write_bytes(bytes(job.settings.get("size", 0)))
    (job.out / "more").mkdir()
    job.write_json("more/about.json", {"length": len(text)})


STEP = Step("join-texts", 3, run, "joins texts")
'''


@pytest.fixture(scope="session")
def wait_for() -> Callable[[Callable[[], object]], None]:
    """Wait until something is so; on a busy machine that takes a while, and only a hang takes ten minutes."""

    def wait(what: Callable[[], object]) -> None:
        deadline = time.monotonic() + 600
        while not what():
            assert time.monotonic() < deadline
            time.sleep(0.005)

    return wait


@pytest.fixture(scope="session")
def installed_step(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a package that offers the step `join-texts` through the entry point that the docs name."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "their_steps.py").write_text(STEP)
    about = folder / "their_steps-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: their-steps\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[biasgauge.study_step]\njoin-texts = their_steps:STEP\n")
    return folder


@pytest.fixture
def own_step(installed_step: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The step `join-texts` is installed."""
    monkeypatch.syspath_prepend(str(installed_step))
    python_path = os.pathsep.join(filter(None, [str(installed_step), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PYTHONPATH", python_path)  # for processes that tests start themselves
    registry.refresh()
    yield
    sys.modules.pop("their_steps", None)
    sys.path.remove(str(installed_step))
    registry.refresh()


@pytest.fixture
def make_cell(own_step: None) -> Callable[..., Cell]:  # noqa: ARG001 - the step must be there
    """Make a cell of the step `join-texts`."""

    def make(text: str, inputs: Sequence[Cell] = (), paths: Mapping[str, Path] | None = None, **more: Any) -> Cell:  # noqa: ANN401 - settings of a cell
        settings = {"text": text, **more.pop("settings", {})}
        return Cell(
            "join-texts", 3, settings, inputs={f"input{number}": cell.key for number, cell in enumerate(inputs)},
            paths={name: str(path) for name, path in (paths or {}).items()}, label=f"text {text}", **more,
        )  # fmt: skip

    return make
