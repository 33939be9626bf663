"""A step: a kind of work that cells can ask for.

The registry finds every module of `steps/` that holds a `STEP`, and steps of your own: an installed package names each
in its `pyproject.toml`, so that every process that runs cells finds it too.

    [project.entry-points."biasgauge.steps"]
    my-step = "my_package.my_module:STEP"
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from biasgauge.errors import ParameterError
from biasgauge.lexicons.nearest import meant

Progress = Callable[[int, int], None]


def _quiet(_done: int, _total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Job:
    """What a step is given to do its work.

    Attributes:
        settings: those of the cell.
        inputs: folders with the outcomes of the cells that it reads; never to be written to.
        files: the user's files and folders that it reads.
        out: an empty folder; what the step leaves there is the outcome. Its bytes must depend on settings, inputs and
            files alone: no times, no paths, no host.
        progress: called with (done, total).
    """

    settings: Mapping[str, Any]
    inputs: Mapping[str, Path]
    files: Mapping[str, Path]
    out: Path
    progress: Progress = field(default=_quiet)

    def write_json(self, name: str, content: object) -> None:
        """Write JSON with one spelling to the outcome."""
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1)
        (self.out / name).write_text(text + "\n", encoding="utf-8", newline="\n")

    def read_json(self, source: str, name: str) -> Any:  # noqa: ANN401 - JSON
        """Read JSON from the outcome of an input."""
        return json.loads((self.inputs[source] / name).read_bytes())


@dataclass(frozen=True)
class Step:
    """A kind of work.

    Attributes:
        name: as plans and logs print it.
        version: raised whenever the same settings and inputs would give another outcome than before.
        run: does the work of one cell.
        about: one line, for people.
    """

    name: str
    version: int
    run: Callable[[Job], None]
    about: str


@cache
def _found() -> dict[str, Step]:
    found = {}
    for module in sorted(info.name for info in iter_modules([str(Path(__file__).with_name("steps"))])):
        one = getattr(import_module(f"{__package__}.steps.{module}"), "STEP", None)
        if isinstance(one, Step):
            found[one.name] = one
    for named in sorted(entry_points(group="biasgauge.steps"), key=lambda one: one.value):
        one = named.load()
        if not isinstance(one, Step) or one.name in found:
            raise ParameterError(
                f"The entry point {named.name!r} of 'biasgauge.steps' must be a Step with a name that no other has. "
                f"Got {named.value}."
            )
        found[one.name] = one
    return found


def step_names() -> tuple[str, ...]:
    """Names of all steps, sorted."""
    return tuple(sorted(_found()))


def step_named(name: str) -> Step:
    """The step of that name.

    Raises:
        ParameterError: there is none.
    """
    if name not in _found():
        raise ParameterError(
            f"A step must be one of {', '.join(step_names())}. Got {name!r}{meant(name, step_names()) or '.'}"
        )
    return _found()[name]
