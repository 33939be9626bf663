"""A step: a kind of work that cells can ask for, with the kinds of analysis that it does.

The registry finds every module of `steps/` that holds a `STEP`, and those of installed packages (group "study_step"),
so that every process that runs cells finds them too. Steps write and open models and results with the functions below.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from biasgauge import registry
from biasgauge.core import JsonMapping, JsonObject, to_plain
from biasgauge.io import csv_text, read_json
from biasgauge.scores import ScoreStore
from biasgauge.study.files import restored
from biasgauge.study.settings import Setting, arguments, implicit_checksum, import_function, parameters
from biasgauge.text import TokenCorpus, open_corpus
from biasgauge.vectors import Embedding, Notice, load, save

if TYPE_CHECKING:
    import pandas as pd

CORPUS, SCORES = "corpus", "scores"
MODEL, ABOUT = "model.safetensors", "about.json"
RESULT, TABLE = "result.json", "table.csv"
Progress = Callable[[int, int], None]


def quiet(_done: int, _total: int) -> None:
    """Report no progress."""


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
        self.write_text(name, text + "\n")

    def read_json(self, source: str, name: str) -> Any:  # noqa: ANN401 - JSON
        """Read JSON from the outcome of an input."""
        return read_json(self.inputs[source] / name)

    def write_text(self, name: str, text: str) -> None:
        """Write text to the outcome."""
        (self.out / name).write_text(text, encoding="utf-8", newline="\n")

    def write_table(self, name: str, frame: pd.DataFrame) -> None:
        """Write a table: numbers in full, undefined ones empty, nothing that a spreadsheet would compute."""
        self.write_text(name, csv_text(frame))

    def write_model(self, model: Embedding) -> None:
        """Write a model, with what was odd about where it came from."""
        save(model, self.out / MODEL)
        description = {
            "format": model.format,
            "words": len(model),
            "dim": model.dim,
            "notices": [notice.to_dict() for notice in model.notices],
            "dropped": dict(model.dropped),
            **({"facets": dict(model.facets)} if model.facets else {}),
        }
        self.write_json(ABOUT, description)

    def open_model(self, source: str, name: str) -> Embedding:
        """The model of an input, under the name that results call it by; its path is not recorded."""
        folder = self.inputs[source]
        model = replace(load(folder / MODEL, name=name), source=name)
        if not (folder / ABOUT).is_file():
            return model
        content = self.read_json(source, ABOUT)
        notices = tuple(Notice(**{**notice, "examples": tuple(notice["examples"])}) for notice in content["notices"])
        dropped, facets = (MappingProxyType(content.get(field, {})) for field in ("dropped", "facets"))
        return replace(model, format=content["format"], notices=notices, dropped=dropped, facets=facets)

    def open_models(self, names: Iterable[str], start: str = "model") -> list[Embedding]:
        """The models of several inputs, numbered from 0 on."""
        return [self.open_model(f"{start}{number}", name) for number, name in enumerate(names)]

    def open_corpus(self, source: str = CORPUS) -> TokenCorpus:
        """The corpus of an input."""
        return open_corpus(self.inputs[source] / CORPUS)

    def function_settings(self) -> JsonObject:
        """The key `settings` of the cell, with lexicons and paths in place of marks of files."""
        settings: JsonObject = restored(dict(self.settings["settings"]), self.files)
        return settings


Needs = Literal[
    "scores", "model", "models", "models and text", "groups", "change", "sources", "points", "table", "corpus",
    "planted", "files",
]  # fmt: skip
"""Material of one result: a score tensor; one model (then gathered over replicates); replicates together; these and
their corpus; several groups of replicates; a model before and after; several score tensors; vectors with their task; a
table of points; a corpus; a corpus that is planted and trained on in cells of its own; files alone, and outcomes of
other analyses of this need."""


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
        return 2 if self.needs in {"change", "files"} else 1

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
        settings = self.settings.values() if self.needs == "files" else self.extra
        return tuple(setting.name for setting in settings if setting.annotation == "Path")

    @property
    def implicit_checksum(self) -> dict[str, str]:
        """One checksum of what those lexicons hold, so that other word lists are other cells."""
        return implicit_checksum(self.implicit_lexicons())

    def arguments(self, job: Job) -> JsonObject:
        """Settings of a cell as the function takes them."""
        return arguments(job.function_settings(), self.settings) | dict(self.fixed)

    def material(self, job: Job) -> list[Any]:
        """Positional arguments of the function."""
        if self.needs == "scores":
            return [ScoreStore.open(job.inputs["scores"] / SCORES)]
        if self.needs == "corpus":
            return [job.open_corpus()]
        if self.needs == "model":
            return [job.open_model("vectors", job.settings["model"])]
        if self.needs in {"models", "models and text"}:
            return [job.open_models(job.settings["models"])]
        if self.needs == "files":
            return [job.out, {name: job.inputs[f"outcome{at}"] for at, name in enumerate(job.settings["outcomes"])}]
        return [job.open_model(side, job.settings[side]) for side in ("before", "after")][: self.positional]

    def call(self, job: Job, *positional: Any, **more: Any) -> Any:  # noqa: ANN401 - any function
        """Call the function with one thread, and with the job's progress where it takes that."""
        function = import_function(self.functions[0])
        decided = {"n_jobs": 1, "progress": job.progress}
        accepted = {name: value for name, value in decided.items() if name in signature(function).parameters}
        return function(*positional, **self.arguments(job), **accepted, **more)

    def write(self, job: Job, result: object) -> None:
        """Write a result and its tables."""
        job.write_json(RESULT, to_plain(result))
        for name, method in {TABLE: "to_frame", **self.tables}.items():
            if hasattr(result, method):
                job.write_table(name, getattr(result, method)())


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


def analysis(kind: Kind, about: str, version: int = 1) -> Step:
    """The step of a kind whose function takes what it needs and returns a result."""
    return Step(kind.name, version, lambda job: kind.write(job, kind.call(job, *kind.material(job))), about, (kind,))


def file_step(name: str, about: str, functions: Mapping[str, Callable[..., None]], version: int = 1) -> Step:
    """The step of analyses of files, and of the outcomes of other such analyses.

    Args:
        name: of the step.
        about: one line, for people.
        functions: by kind. Each is called with the empty folder of its outcome, a mapping from the names in `of` to the
            folders of their outcomes, and its settings; a setting of the type Path names a file or folder.
        version: raised whenever the same settings and files would give another outcome than before.
    """
    kinds = {kind: Kind(kind, needs="files", functions=(function,)) for kind, function in functions.items()}

    def run(job: Job) -> None:
        kind = kinds[job.settings["kind"]]
        kind.call(job, *kind.material(job))
        files = sorted(path.relative_to(job.out).as_posix() for path in job.out.rglob("*") if path.is_file())
        job.write_json(RESULT, {"files": files})

    return Step(name, version, run, about, tuple(kinds.values()))


class Analysis(NamedTuple):
    """A kind of analysis and the step that does it."""

    kind: Kind
    step: Step


def analyses() -> dict[str, Analysis]:
    """Every kind of analysis by name, sorted; of two with one name, that of a step that ships counts."""
    steps: dict[str, Step] = registry.everything("study_step")
    added = registry.added("study_step")
    kinds: dict[str, Analysis] = {}
    for name in sorted(steps, key=lambda name: (name in added, name)):
        for kind in steps[name].kinds:
            if kind.name in kinds:
                warnings.warn(f"The kind {kind.name!r} of the step {name!r} is taken. It is left out.", stacklevel=2)
            kinds.setdefault(kind.name, Analysis(kind, steps[name]))
    return dict(sorted(kinds.items()))
