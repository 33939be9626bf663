"""Builder of plans: gathers cells, groups of models and problems."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from biasgauge import registry
from biasgauge._version import __version__
from biasgauge.core import JsonMapping, JsonObject, did_you_mean
from biasgauge.errors import BiasgaugeError, ParameterError
from biasgauge.lexicons import describe
from biasgauge.study.cell import Cell, canonical
from biasgauge.study.files import Checksums, FileSettings, matching_paths
from biasgauge.study.read import Problem, Study
from biasgauge.study.result import Registered
from biasgauge.study.settings import NONE, Setting, arguments, setting_problems, with_seed


@dataclass(frozen=True)
class Member:
    """One model of a study: its label, as "sgns/wiki/seed0"; its cell; the model that a mitigation made it from."""

    label: str
    key: str
    before: Member | None = None


@dataclass(frozen=True)
class Version:
    """Version of an embedding, as points of a correlation study record it.

    Attributes:
        embedding: which embedding they are a version of.
        method, direction, strength: how it was changed; "original", "none" and 0 where it was not.
    """

    embedding: str
    method: str = "original"
    direction: str = "none"
    strength: float = 0.0

    def changed(self, method: str, settings: JsonMapping, strength: str) -> Version:
        """The version that a change makes of this one."""
        both = method if self.method == "original" else f"{self.method} + {method}"
        degree = settings.get(strength, 1.0)
        number = float(degree) if isinstance(degree, (int, float)) else 1.0
        return Version(self.embedding, both, str(settings.get("direction", "debias")), number)


@dataclass(frozen=True)
class Group:
    """Models that are replicates of each other.

    Attributes:
        name: as "sgns/wiki".
        members: the models.
        version: how they came about.
        algorithm, corpus: what they were trained with; None for vectors that exist.
        corpus_key: of the cell of the tokenized corpus.
        tensor: of the cell of their scores, in groups of scores.
        of: name of the group that was scored, in groups of scores.
    """

    name: str
    members: tuple[Member, ...]
    version: Version
    algorithm: str | None = None
    corpus: str | None = None
    corpus_key: str | None = None
    tensor: str | None = None
    of: str | None = None


@dataclass(frozen=True)
class Settings:
    """Settings of a cell, checked: as it keeps them, checksums of lexicons that they name, files that they name."""

    stored: JsonObject
    lexicons: dict[str, str]
    paths: dict[str, Path]

    @property
    def cell_settings(self) -> JsonObject:
        """Settings of the cell, with the checksums of lexicons."""
        return {"settings": self.stored, **({"lexicons": self.lexicons} if self.lexicons else {})}


_UNUSABLE = (BiasgaugeError, TypeError, AttributeError)
"""What functions raise for settings of the wrong kind; checks run before anything else could go wrong."""


TELLING = frozenset({"score", "association", "audit", "report", "encode", "seat", "ceat", "specification-curve"})
"""Steps whose outcomes tell the version of biasgauge, so that another version is another cell."""


class PlanBuilder:
    """Cells by key in the order in which they can be computed, and what names stand for.

    Attributes:
        study: what is planned.
        cells: by key.
        corpora: cells of the tokens of each corpus, by its name.
        groups: models, vectors and mitigations by the name of their group.
        scores: score tensors by the name of theirs.
        tasks: for each task the groups that it was trained on, each with the cells of its models.
        tables: cells that hold a table of points, by the name of their analysis.
        results: name to key.
        problems: what is wrong.
        preregistration: the study beside its preregistration, where there is one.
    """

    def __init__(self, study: Study, checksums: Checksums | None, outcomes: Path | None = None) -> None:
        self.study = study
        self.cells: dict[str, Cell] = {}
        self.corpora: dict[str, str] = {}
        self.groups: dict[str, Group] = {}
        self.scores: dict[str, Group] = {}
        self.tasks: dict[str, list[tuple[Group, list[str]]]] = {}
        self.tables: dict[str, str] = {}
        self.results: dict[str, str] = {}
        self.entries: list[dict[str, str]] = []
        self.problems: list[Problem] = []
        self.preregistration: Registered | None = None
        self._checksums = checksums
        self._outcomes = None if outcomes is None else outcomes.resolve()

    def problem(self, path: Iterable[str], sentence: str) -> None:
        """Note that something is wrong."""
        self.problems.append(Problem(tuple(path), sentence))

    def unknown(self, path: Iterable[str], sentence: str, name: str, names: Collection[str]) -> None:
        """Note that there is no such name; the sentence ends with the nearest one, or with all that there are."""
        self.problem(path, sentence + (did_you_mean(name, names) or f"; there are {', '.join(names) or 'none'}"))

    def add(
        self,
        step: str,
        settings: JsonMapping,
        *,
        label: str,
        inputs: Mapping[str, str] | None = None,
        paths: Mapping[str, Path] | None = None,
    ) -> str:
        """Add a cell to the plan and give its key."""
        named = paths or {}
        version = {"biasgauge": __version__} if step in TELLING else {}
        cell = Cell(
            step=step,
            version=registry.get("study_step", step).version,
            settings={**settings, **version},
            inputs=dict(inputs or {}),
            files={
                name: "" if self._checksums is None else self._checksums.checksum(path) for name, path in named.items()
            },
            paths={name: str(path) for name, path in named.items()},
            label=label,
        )
        self.cells.setdefault(cell.key, cell)
        return cell.key

    def located(self, patterns: str | Sequence[str] | None, path: Sequence[str], noun: str = "file") -> list[Path]:
        """The files or folders that paths and patterns mean; a sentence for each that means none, or the outcomes."""
        files: list[Path] = []
        for pattern in [patterns] if isinstance(patterns, str) else patterns or ():
            matches = matching_paths(pattern, self.study.folder)
            if not matches:
                self.problem(path, f"there is no {noun} {pattern!r}, seen from {self.study.folder}")
            files += [file for file in matches if self._apart(file, path)]
        return files

    def _apart(self, file: Path, path: Sequence[str]) -> bool:
        """Return whether a file of the user's lies outside the outcomes; a problem is noted where it holds them."""
        if self._outcomes is None or not self._outcomes.is_relative_to(file.resolve()):
            return True
        self.problem(
            path,
            f"the folder {file} holds the outcomes of this study, {self._outcomes}, which would be read "
            "as data; name a folder without them, or another place for outcomes",
        )
        return False

    def result(self, name: str, key: str, **entry: str) -> None:
        """Give an outcome its name; `about` is told to the report."""
        self.results[name] = key
        self.entries.append({"name": name, "key": key, **entry})

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
        inline: str | None = "settings",
        table_keys: Sequence[str] = (),
    ) -> Settings:
        """Hold settings against what a function takes; what is wrong is noted.

        Args:
            path: of the table.
            settings: those that the table gives.
            parameters: what the function takes.
            owner: what sentences call it.
            checks: settings that name lexicons.
            required: settings that must be given although the function has a default.
            trial: raises what is wrong with settings that look right one by one.
            paths: settings that name a file or folder.
            inline: the key of the table that holds them; None where they stand in the table itself.
            table_keys: keys of that table which are no settings.
        """
        start = (*path, *([] if inline is None else [inline]))
        before = len(self.problems)
        files = FileSettings(self.study.folder, paths)
        stored = files.marked(with_seed(self._plain(settings, start), parameters, self.study.about.seed))
        here = self._resolved(files, stored, start)
        for name, sentence in setting_problems(settings, parameters, owner, table_keys):
            self.problem((*start, name), sentence)
        for name in dict.fromkeys([*(name for name, setting in parameters.items() if setting.required), *required]):
            if name not in settings:
                near = did_you_mean(name, [key for key in settings if key not in parameters])
                self.problem(start, f"{owner} needs the setting {name!r}{near}")
        lexicons = {}
        for name, check in (checks or {}).items():
            if name in settings and name in here and settings[name] != NONE:
                checksum = self._checksum((*start, name), check, here[name], owner)
                if checksum and stored[name] == settings[name]:  # what the user's own files hold counts as it is
                    lexicons[name] = checksum
        if trial is not None and len(self.problems) == before:
            try:
                trial(arguments(here, parameters))
            except _UNUSABLE as problem:
                self.problem(start, f"{owner}: {problem}")
        return Settings(stored, lexicons, files.paths)

    def _checksum(self, path: Sequence[str], check: Callable[[Any], str], value: object, owner: str) -> str:
        """Of the lexicons that a setting names; empty, and noted, where it names none."""
        try:
            return check(value)
        except _UNUSABLE as problem:
            self.problem(path, f"{path[-1]!r} of {owner}: {problem}")
            return ""

    def _plain(self, settings: JsonMapping, path: Sequence[str]) -> JsonObject:
        """Settings that JSON can hold; others, such as dates and nan, are noted."""
        plain = dict(settings)
        for name, value in settings.items():
            try:
                canonical(value)
            except ParameterError:
                self.problem((*path, name), f"{name!r} must be text, numbers, lists or tables, found {describe(value)}")
                plain[name] = None
        return plain

    def _resolved(self, files: FileSettings, stored: JsonObject, path: Sequence[str]) -> JsonObject:
        """Settings with lexicons in place of their files; nothing, and noted, where one is not there or no lexicon."""
        for name in files.missing:
            self.problem(path, f"there is no file {name!r}, seen from {self.study.folder}")
        apart = [self._apart(file, path) for file in files.paths.values()]
        if files.missing or not all(apart):
            return {}
        try:
            here: JsonObject = files.resolved(stored)
        except BiasgaugeError as problem:
            self.problem(path, str(problem))
            return {}
        return here

    def named(
        self, reference: str, path: Sequence[str], among: Mapping[str, Group], sections: Sequence[str]
    ) -> list[Group]:
        """The groups that a name means: its own, and all below it; a sentence where there are none.

        Where the table is there but came to nothing, some other sentence says why.
        """
        groups = [group for name, group in among.items() if name == reference or name.startswith(f"{reference}/")]
        top = reference.partition("/")[0]
        tops = list(dict.fromkeys(name.partition("/")[0] for name in among))
        declared = any(
            top in getattr(self.study, section) or (section, top) in self.study.broken for section in sections
        )
        if not groups and (top in tops or not declared):
            tables = [name for section in sections for name in getattr(self.study, section)]
            names = list(dict.fromkeys([*tops, *tables, *(among if "/" in reference else ())]))
            self.unknown(path, f"there is no {reference!r} in {' or '.join(sections)}", reference, names)
        return groups

    def in_order(self, section: str, made_of: Mapping[str, Sequence[str]], key: str) -> list[str]:
        """Names of a section's tables, each after those that it is made of.

        Names that are made of each other in a circle are left out, and a sentence about the key says so.
        """
        rank = {name: number for number, name in enumerate(made_of)}
        left = {name: [source for source in sources if source in made_of] for name, sources in made_of.items()}
        order: list[str] | None = None
        while order is None:
            try:
                order = list(TopologicalSorter(left).static_order())
            except CycleError as problem:
                circle: list[str] = list(reversed(problem.args[1]))[:-1]
                first = circle.index(min(circle, key=rank.__getitem__))
                circle = [*circle[first:], *circle[:first]]
                listed = " → ".join([*circle, circle[0]])
                self.problem((section, circle[0], key), f"these {section} are made of each other: {listed}")
                left = {
                    name: [source for source in sources if source not in circle]
                    for name, sources in left.items()
                    if name not in circle
                }
        depth: dict[str, int] = {}
        for name in order:
            depth[name] = 1 + max((depth[source] for source in left[name]), default=0)
        return sorted(order, key=lambda name: (depth[name], rank[name]))
