"""Builder of plans: gathers cells, groups of models, results and problems."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from biasgauge import registry
from biasgauge._version import __version__
from biasgauge.core import JsonMapping, JsonObject, did_you_mean
from biasgauge.errors import BiasgaugeError, ParameterError
from biasgauge.lexicons import describe
from biasgauge.study.cell import Cell, canonical
from biasgauge.study.files import Checksums, FileSettings, matching_paths, path_outside, restored
from biasgauge.study.preregistration import Registered
from biasgauge.study.read import Study, StudyProblem
from biasgauge.study.settings import NONE, Setting, arguments, setting_problems, with_seed

MODELS = ("models", "vectors", "encoders", "mitigations")
"""Sections whose tables are groups of models."""
TELLING = frozenset({"score", "association", "audit", "report", "encode", "seat", "ceat", "specification-curve"})
"""Steps whose outcomes contain the version of biasgauge, so that another version is another cell."""
_UNUSABLE = (BiasgaugeError, TypeError, AttributeError)
"""Errors of functions for settings of the wrong kind."""


@dataclass(frozen=True)
class Member:
    """One model of a study: its label, as "sgns/wiki/seed0"; its cell; the model that a mitigation made it from."""

    label: str
    key: str
    before: Member | None = None


def original(embedding: str) -> JsonObject:
    """Description of an embedding that was not changed, as points of a correlation study record it."""
    return {"embedding": embedding, "method": "original", "direction": "none", "strength": 0.0}


def changed(version: JsonObject, method: str, settings: JsonMapping) -> JsonObject:
    """Description of the version that a change makes of another."""
    both = method if version["method"] == "original" else f"{version['method']} + {method}"
    strength = settings.get("strength", 1.0)
    number = float(strength) if isinstance(strength, (int, float)) else 1.0
    return {**version, "method": both, "direction": str(settings.get("direction", "debias")), "strength": number}


@dataclass(frozen=True)
class PlannedGroup:
    """Models that are replicates of each other, as "sgns/wiki", and where they were trained, their corpus."""

    name: str
    members: tuple[Member, ...]
    version: JsonObject
    algorithm: str | None = None
    corpus: str | None = None
    corpus_key: str | None = None
    tensor: str = ""  # of groups of scores: the cell of the scores
    scored: str = ""  # of groups of scores: the name of the group that was scored

    @property
    def labels(self) -> list[str]:
        """Labels of the models."""
        return [member.label for member in self.members]

    @property
    def inputs(self) -> dict[str, str]:
        """The models as inputs of a cell, numbered."""
        return numbered("model", (member.key for member in self.members))


@dataclass(frozen=True)
class CheckedSettings:
    """Settings as a cell stores them, checksums of lexicons that they name, files that they name."""

    stored: JsonObject
    lexicons: dict[str, str]
    paths: dict[str, Path]

    @property
    def cell_settings(self) -> JsonObject:
        """Settings of the cell, with the checksums of lexicons."""
        return {"settings": self.stored, **({"lexicons": self.lexicons} if self.lexicons else {})}


@dataclass(frozen=True)
class PlannedCorpus:
    """A corpus of a study: the cell of its tokens, settings with which it is read, and where its text came from."""

    key: str
    reading: JsonObject
    texts: tuple[Path, ...]  # files of the user; none where a cell wrote the text
    text_key: str | None
    root: str  # the corpus that it was made from at first
    balanced: tuple[JsonObject, ...] = ()  # settings of `balance`, from the first to the last


def numbered(name: str, keys: Iterable[str]) -> dict[str, str]:
    """Inputs of a cell under one name with numbers from 0 on."""
    return {f"{name}{number}": key for number, key in enumerate(keys)}


class PlanBuilder:
    """Cells by key in the order in which they can be computed, and what names stand for."""

    def __init__(self, study: Study, checksums: Checksums | None, outcomes: Path | None = None) -> None:
        self.study = study
        self.cells: dict[str, Cell] = {}
        self.corpora: dict[str, PlannedCorpus] = {}
        self.groups: dict[str, PlannedGroup] = {}
        self.scores: dict[str, PlannedGroup] = {}
        self.tasks: dict[str, list[tuple[PlannedGroup, list[str]]]] = {}  # groups with the cells of their models
        self.points: dict[str, str] = {}  # cells of tables of points, by analysis
        self.outcomes: dict[str, str] = {}  # cells of analyses of files, by analysis
        self.results: dict[str, str] = {}
        self.entries: list[dict[str, str]] = []  # results as the page lists them
        self.problems: list[StudyProblem] = []
        self.preregistration: Registered | None = None
        self._checksum = (lambda _path: "") if checksums is None else cache(checksums.checksum)  # once for all cells
        self._outcomes = None if outcomes is None else outcomes.resolve()

    def problem(self, path: Iterable[str], sentence: str) -> None:
        """Note that something is wrong."""
        self.problems.append(StudyProblem(tuple(path), sentence))

    @contextmanager
    def noting(
        self, path: Iterable[str], start: str = "", errors: tuple[type[Exception], ...] = (BiasgaugeError,)
    ) -> Iterator[None]:
        """Note an error that is raised inside as a problem; the sentence begins with `start`."""
        try:
            yield
        except errors as problem:
            self.problem(path, f"{start}{problem}")

    def unknown(self, path: Iterable[str], sentence: str, name: str, names: Collection[str]) -> None:
        """Note that there is no such name; the sentence ends with the nearest one, or with all that there are."""
        self.problem(path, sentence + (did_you_mean(name, names) or f"; there are {', '.join(names) or 'none'}"))

    def undeclared(self, path: Iterable[str], sentence: str, name: str, section: str) -> bool:
        """Note a name that is no table of a section; True where it was noted.

        Of a table that is there but could not be read or planned, another sentence tells.
        """
        declared = getattr(self.study, section)
        if missing := name not in declared and (section, name) not in self.study.broken:
            self.unknown(path, sentence, name, declared)
        return missing

    def add(
        self,
        step: str,
        settings: JsonMapping,
        *,
        label: str,
        inputs: Mapping[str, str] | None = None,
        paths: Mapping[str, Path] | None = None,
    ) -> str:
        """Add a cell to the plan and return its key."""
        files = paths or {}
        cell = Cell(
            step=step,
            version=registry.get("study_step", step).version,
            settings={**settings, **({"biasgauge": __version__} if step in TELLING else {})},
            inputs=dict(inputs or {}),
            files={name: self._checksum(path) for name, path in files.items()},
            paths={name: str(path) for name, path in files.items()},
            label=label,
        )
        self.cells.setdefault(cell.key, cell)
        return cell.key

    def result(self, name: str, key: str, *, section: str, kind: str, subject: str) -> None:
        """Name an outcome, and list it for the page."""
        self.results[name] = key
        self.entries.append({"name": name, "key": key, "part": section, "kind": kind, "of": subject})

    def gathered(self, name: str, group: PlannedGroup, keys: Sequence[str], *, section: str, kind: str) -> None:
        """One result of the results of each model of a group."""
        label = f"{name}/{group.name}"
        settings = {"kind": kind, "of": group.name, "models": group.labels}
        key = self.add("gather", settings, inputs=numbered("model", keys), label=label)
        self.result(label, key, section=section, kind=kind, subject=group.name)

    def located(self, patterns: str | Sequence[str] | None, path: Sequence[str], noun: str = "file") -> list[Path]:
        """The files or folders that paths and patterns mean; a sentence for each that means none, or the outcomes."""
        files: list[Path] = []
        for pattern in [patterns] if isinstance(patterns, str) else patterns or ():
            matches = matching_paths(pattern, self.study.folder)
            if not matches:
                self.problem(path, f"there is no {noun} {pattern!r}, seen from {self.study.folder}")
            files += [file for file in matches if self._is_usable(file, path)]
        return files

    def _is_usable(self, file: Path, path: Sequence[str]) -> bool:
        """Return whether a file may be read and lies outside the outcomes; a problem is noted where it does not."""
        if not file.is_file() and not file.is_dir():
            self.problem(path, f"{str(file)!r} is neither a file nor a folder; name one")
            return False
        outside = None if self.study.file is None else path_outside(file, (self.study.folder, *self.study.allowed))
        if outside is not None:
            target = outside.resolve() if outside.is_dir() else outside.resolve().parent
            self.problem(
                path,
                f"{os.path.relpath(outside, self.study.folder)!r} leads out of the folder of the study; where you "
                f"trust the study, allow it: --allow {shlex.quote(str(target))}",
            )
            return False
        if self._outcomes is None or not self._outcomes.is_relative_to(file.resolve()):
            return True
        self.problem(
            path,
            f"the folder {file} holds the outcomes of this study, {self._outcomes}, which would be read "
            "as data; name a folder without them, or another place for outcomes",
        )
        return False

    def checked(
        self,
        path: Sequence[str],
        settings: JsonMapping,
        parameters: Mapping[str, Setting],
        owner: str,
        *,
        checks: Mapping[str, Callable[[Any], str]] | None = None,
        required: Sequence[str] = (),
        trial: Callable[[JsonObject], object] | None = None,
        paths: Collection[str] = (),
        table_keys: Sequence[str] = (),
    ) -> CheckedSettings:
        """Check settings against the parameters of a function (`owner` in sentences), and note what is wrong.

        `checks` return a checksum of the lexicon that a setting names; `required` must be given although the function
        has a default; `trial` raises what is wrong with settings that look right one by one; `paths` name a file or
        folder; `table_keys` are keys of the table which are not settings.
        """
        before = len(self.problems)
        plain = {name: self._plain((*path, name), value) for name, value in settings.items()}
        files = FileSettings(self.study.folder, paths)
        stored = files.marked(with_seed(plain, parameters, self.study.about.seed))
        for name in files.missing:
            self.problem(path, f"there is no file {name!r}, seen from {self.study.folder}")
        usable = [self._is_usable(file, path) for file in files.paths.values()]
        values: JsonObject = {}  # with lexicons in place of their files
        if not files.missing and all(usable):
            with self.noting(path):
                values = restored(stored, files.paths)
        for name, sentence in setting_problems(settings, parameters, owner, table_keys):
            self.problem((*path, name), sentence)
        for name in dict.fromkeys([*(name for name, setting in parameters.items() if setting.required), *required]):
            if name not in settings:
                near = did_you_mean(name, [key for key in settings if key not in parameters])
                self.problem(path, f"{owner} needs the setting {name!r}{near}")
        lexicons: dict[str, str] = {}
        for name, check in (checks or {}).items():
            if name in settings and name in values and settings[name] != NONE:
                with self.noting((*path, name), f"{name!r} of {owner}: ", _UNUSABLE):
                    checksum = check(values[name])
                    if checksum and stored[name] == settings[name]:  # a file of the user has a checksum of its own
                        lexicons[name] = checksum
        if trial is not None and len(self.problems) == before:
            with self.noting(path, f"{owner}: ", _UNUSABLE):
                trial(arguments(values, parameters))
        return CheckedSettings(stored, lexicons, files.paths)

    def _plain(self, path: Sequence[str], value: object) -> object:
        """A setting that JSON can hold; None, with a problem noted, for others such as dates and nan."""
        try:
            canonical(value)
        except ParameterError:
            self.problem(path, f"{path[-1]!r} must be text, numbers, lists or tables, found {describe(value)}")
            return None
        return value

    def named(
        self, references: Sequence[str], path: Sequence[str], *, scores: bool = False
    ) -> dict[str, list[PlannedGroup]]:
        """The groups of models, or of scores, that each name means: its own, and all below it.

        A sentence says where there are none, unless the table is there but came to nothing: another says why.
        """
        groups, sections = (self.scores, ("scores",)) if scores else (self.groups, MODELS)
        tops = list(dict.fromkeys(name.partition("/")[0] for name in groups))
        matches: dict[str, list[PlannedGroup]] = {}
        for reference in dict.fromkeys(references):
            matches[reference] = [
                group for name, group in groups.items() if name == reference or name.startswith(f"{reference}/")
            ]
            top = reference.partition("/")[0]
            declared = any(
                top in getattr(self.study, section) or (section, top) in self.study.broken for section in sections
            )
            if not matches[reference] and (top in tops or not declared):
                tables = [name for section in sections for name in getattr(self.study, section)]
                names = list(dict.fromkeys([*tops, *tables, *(groups if "/" in reference else ())]))
                self.unknown(path, f"there is no {reference!r} in {' or '.join(sections)}", reference, names)
        return matches

    def named_once(self, references: Sequence[str], path: Sequence[str], *, scores: bool = False) -> list[PlannedGroup]:
        """The groups that several names mean, each once."""
        matches = self.named(references, path, scores=scores)
        return list({group.name: group for groups in matches.values() for group in groups}.values())

    def in_order(self, section: str, made_of: Mapping[str, Sequence[str]], key: str) -> list[str]:
        """Names of a section's tables, each after those that it is made of.

        Names that are made of each other in a circle are left out, and a sentence about the key says so.
        """
        order: list[str] = []
        left = {name: [source for source in sources if source in made_of] for name, sources in made_of.items()}
        while left:
            ready = [name for name, sources in left.items() if left.keys().isdisjoint(sources)]
            order += ready
            if not ready:  # every name has a source among them: following sources leads round a circle
                walk = [next(iter(left))]
                while walk[-1] not in walk[:-1]:
                    walk.append(next(source for source in left[walk[-1]] if source in left))
                ready = walk[walk.index(walk[-1]) : -1]
                start = ready.index(next(name for name in made_of if name in ready))
                circle = [*ready[start:], *ready[: start + 1]]
                self.problem((section, circle[0], key), f"these {section} are made of each other: {' → '.join(circle)}")
            left = {name: sources for name, sources in left.items() if name not in ready}
        return order
