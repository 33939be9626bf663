"""A step: a kind of work that cells can ask for, with the kinds of analysis that it does.

The registry finds every module of `steps/` that holds a `STEP`, and those of installed packages (group "study_step"),
so that every process that runs cells finds them too.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from biasgauge import registry
from biasgauge.core import JsonMapping
from biasgauge.io import read_json
from biasgauge.study.settings import Setting, implicit_checksum, parameters

Progress = Callable[[int, int], None]


def quiet(_done: int, _total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Job:
    """Work of a step: settings, inputs and the folder of its outcome.

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


Needs = Literal[
    "scores", "model", "models", "models and text", "groups", "change", "sources", "points", "table", "corpus",
    "planted",
]  # fmt: skip
"""What one result is made of: a score tensor; one model (then gathered over replicates); replicates together; these and
their corpus; several groups of replicates; a model before and after; several score tensors;
vectors with their task; a table of points; a corpus; a corpus that is planted and trained on in cells of its own."""


def all_lexicons() -> tuple[str, ...]:
    """Names of all lexicons, for functions that may read any."""
    return registry.names("lexicon")


@dataclass(frozen=True)
class Kind:
    """A kind of analysis.

    Attributes:
        name: as `kind = "…"` in a study.
        needs: what it is made of.
        functions: those whose parameters are its settings, or references such as "biasgauge.scores:mac", which are
            imported when they are used; the first is called.
        checks: settings that name lexicons, each with a function that gives a checksum of what it names.
        fixed: settings that the kind itself decides.
        hidden: parameters of the functions that are no settings of a study.
        required: settings that must be given although the function has a default.
        trial: called with the settings as the function takes them; raises what is wrong with them together.
        tables: further tables of the result: file name and method that makes the frame.
        extra: settings beside those of the functions; one of the type "Path" names a file or folder.
        implicit_lexicons: returns names of lexicons that the functions may read although no setting names them.
        fewest: models that a group must have.
        about: what its numbers mean, for the page of a study.
        shown: lists of its result that are worth a table on that page; all that are short when empty.
        result: reference to the class of its results, where these answer the study's question: they come first on that
            page, as the class sums them up.
    """

    name: str
    needs: Needs
    functions: tuple[str | Callable[..., Any], ...]
    checks: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    trial: Callable[[dict[str, Any]], object] | None = None
    tables: Mapping[str, str] = field(default_factory=dict)
    extra: tuple[Setting, ...] = ()
    implicit_lexicons: Callable[[], Iterable[str]] = tuple
    fewest: int = 1
    about: str = ""
    shown: tuple[str, ...] = ()
    result: str = ""

    @property
    def positional(self) -> int:
        """Number of the function's first arguments that the study hands over."""
        return 2 if self.needs == "change" else 1

    @property
    def settings(self) -> dict[str, Setting]:
        """Settings that a study may give."""
        settings = parameters(self.functions[0], self.positional)
        for function in self.functions[1:]:
            settings = {**parameters(function, 1), **settings}
        settings |= {setting.name: setting for setting in self.extra}
        return {name: setting for name, setting in settings.items() if name not in {*self.fixed, *self.hidden}}

    @property
    def paths(self) -> tuple[str, ...]:
        """Settings that name a file or folder."""
        return tuple(setting.name for setting in self.extra if setting.annotation == "Path")

    @property
    def implicit_checksum(self) -> dict[str, str]:
        """One checksum of what those lexicons hold, so that other word lists are other cells."""
        return implicit_checksum(self.implicit_lexicons())


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
    kinds: dict[str, Analysis] = {}
    for name in sorted(steps, key=lambda name: (name in added, name)):
        for kind in steps[name].kinds:
            if kind.name in kinds:
                warnings.warn(f"The kind {kind.name!r} of the step {name!r} is taken. It is left out.", stacklevel=2)
            kinds.setdefault(kind.name, Analysis(kind, steps[name]))
    return dict(sorted(kinds.items()))
