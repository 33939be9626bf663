"""A step: a kind of work that cells can ask for, with the kinds of analysis that it does.

The registry finds every module of `steps/` that holds a `STEP`, and those of installed packages (group "study_step"),
so that every process that runs cells finds them too.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from biasgauge import registry
from biasgauge.core import JsonMapping
from biasgauge.io import read_json

if TYPE_CHECKING:
    from biasgauge.study.kind import Kind

Progress = Callable[[int, int], None]


def quiet(_done: int, _total: int) -> None:
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
        device: where to train: "cpu" or "cuda". The outcome's bytes do not depend on it.
    """

    settings: JsonMapping
    inputs: Mapping[str, Path]
    files: Mapping[str, Path]
    out: Path
    progress: Progress = field(default=quiet)
    device: str = "cpu"

    def write_json(self, name: str, content: object) -> None:
        """Write JSON with one spelling to the outcome."""
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1)
        (self.out / name).write_text(text + "\n", encoding="utf-8", newline="\n")

    def read_json(self, source: str, name: str) -> Any:  # noqa: ANN401 - JSON
        """Read JSON from the outcome of an input."""
        return read_json(self.inputs[source] / name)


@dataclass(frozen=True)
class Step:
    """A kind of work.

    Attributes:
        name: as plans and logs print it.
        version: raised whenever the same settings and inputs would give another outcome than before.
        run: does the work of one cell.
        about: one line, for people.
        kinds: analyses that it does, each as `kind = "…"` in a study; cells of an analysis tell which.
    """

    name: str
    version: int
    run: Callable[[Job], None]
    about: str
    kinds: tuple[Kind, ...] = ()


class Analysis(NamedTuple):
    """A kind of analysis and the step that does it."""

    kind: Kind
    step: Step


def analyses() -> dict[str, Analysis]:
    """Every kind of analysis by name, sorted; of two with one name that of a step that ships counts."""
    steps: dict[str, Step] = registry.everything("study_step")
    added = registry.added("study_step")
    known: dict[str, Analysis] = {}
    for name in sorted(steps, key=lambda name: (name in added, name)):
        for kind in steps[name].kinds:
            if kind.name in known:
                warnings.warn(f"The kind {kind.name!r} of the step {name!r} is taken. It is left out.", stacklevel=2)
            known.setdefault(kind.name, Analysis(kind, steps[name]))
    return dict(sorted(known.items()))
