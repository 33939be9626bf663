"""Preregistration: the choices of a study before its data is looked at, and deviations from them afterwards."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from biasgauge._version import __version__
from biasgauge.core import JsonMapping, Record, to_plain, today
from biasgauge.errors import InputError
from biasgauge.io import check_output_file, read_json_object, write_text
from biasgauge.results import Result, Summary, Table, counted, setting_text
from biasgauge.study.cell import Cell, canonical
from biasgauge.study.read import Study, open_study

ENDING = ".preregistration.json"
WORDS_ABOUT = (("study", "title"), ("study", "about"), ("report", "title"), ("report", "about"))
"""What may be worded otherwise later: it decides nothing."""
ABSENT = "not in the plan"
DROPPED = "left out"


@dataclass(frozen=True)
class Deviation(Record):
    """One choice, list or result that was done otherwise than planned: what was planned and what was done, in words."""

    what: str
    planned: str
    done: str


@dataclass(frozen=True)
class Registered(Record):
    """A study beside its preregistration: the day and the checksum of that, and what was done otherwise."""

    date: str
    sha256: str
    deviations: tuple[Deviation, ...]

    @property
    def sentence(self) -> str:
        """State whether the plan was followed."""
        adherence = "and done as planned" if not self.deviations else f"with {counted(self.deviations, 'deviation')}"
        return f"Preregistered on {self.date} (SHA-256 {self.sha256}) {adherence}."

    def summary(self) -> Summary:
        """State whether the plan was followed, with a table of deviations."""
        rows = [(deviation.what, deviation.planned, deviation.done) for deviation in self.deviations]
        table = Table.of("deviations", "Done otherwise", ("what", "planned", "done"), rows)
        return Summary("Preregistration", self.sentence, tables=(table,) if rows else (), name="preregistration")


@dataclass(frozen=True, eq=False, repr=False)
class Preregistration(Result):
    """The choices of a study, frozen.

    Attributes:
        study: its name.
        date: the day on which it was written.
        version: of biasgauge.
        choices: every setting of the study by its place in the file, as "analyses.trust.kind", with defaults filled in.
        lists: every word list that it reads, by name, with the checksum of its words.
        results: names of the results that it will report.
    """

    tables: ClassVar[tuple[str, ...]] = ()

    study: str
    date: str
    version: str
    choices: JsonMapping
    lists: Mapping[str, str]
    results: tuple[str, ...]

    @property
    def sha256(self) -> str:
        """Of all that is frozen: to be deposited where it cannot be changed, such as a registry of studies."""
        frozen = {field.name: to_plain(getattr(self, field.name)) for field in fields(self)}
        return hashlib.sha256(canonical(frozen).encode()).hexdigest()

    def derived(self) -> JsonMapping:
        """The checksum, by which anybody can see that nothing was changed since."""
        return {"sha256": self.sha256}

    def summary(self) -> Summary:
        """The checksum first; then every choice."""
        choices = [(key, setting_text(value)) for key, value in self.choices.items()]
        return Summary(
            title=f"Preregistration of the study {self.study}",
            headline=f"{counted(self.choices, 'choice')}, {counted(self.lists, 'word list')} and "
            f"{counted(self.results, 'result')} were frozen on {self.date}.",
            sentences=(
                f"SHA-256: {self.sha256}",
                "Deposit it before you look at the data; `biasgauge study run` then says what was done otherwise.",
            ),
            tables=(
                Table.of("choices", "Every choice", ("choice", "value"), choices),
                Table.of("lists", "Word lists", ("list", "checksum of its words"), list(self.lists.items())),
                Table.of("results", "Results that will be reported", ("result",), [(name,) for name in self.results]),
            ),
        )


def preregister(study: str | os.PathLike[str] | Study, out: str | os.PathLike[str] | None = None) -> Preregistration:
    """Freeze every choice of a study before its data is looked at, and write them down.

    Paths of texts and vectors are choices too; what is in those files is not read into it, so that data may still be
    collected. Word lists are frozen with their words.

    Args:
        study: its TOML file, or what `read_study` made of it.
        out: the file to write; `NAME.preregistration.json` beside the study by default, where `run_study` finds it.

    Raises:
        InputError: something is wrong with the study; or the file is there already: a preregistration is written once.
    """
    from biasgauge.study.planning.plan import plan_study

    declared = open_study(study)
    path = preregistration_path(declared) if out is None else Path(out)
    if path is None:
        raise InputError("A study without a file needs the 'out' parameter of preregister: the file to write.")
    check_output_file(path)
    if os.path.lexists(path):
        raise InputError(
            f"{path}: is there already; a preregistration is written once; to plan anew, name another file (--out)"
        )
    plan = plan_study(declared)
    frozen = frozen_choices(declared, plan.cells, plan.results)
    write_text(path, json.dumps(frozen.to_dict(), indent=2, ensure_ascii=False) + "\n")
    return frozen


def preregistration_path(study: Study) -> Path | None:
    """Path of the preregistration of a study; None for a study without a file."""
    return None if study.file is None else study.file.with_name(f"{study.file.stem}{ENDING}")


def frozen_choices(study: Study, cells: Iterable[Cell], results: Iterable[str]) -> Preregistration:
    """Choices of a study, as they are now."""
    leaves = dict(_leaves(study.to_dict()))
    choices = {".".join(key): value for key, value in leaves.items() if key not in WORDS_ABOUT}
    return Preregistration(study.name, today(), __version__, choices, dict(_lists(cells)), tuple(results))


def read_preregistration(path: str | os.PathLike[str]) -> Preregistration:
    """A preregistration, whose checksum must be that of its content.

    Raises:
        InputError: it cannot be read, or was changed after it was written.
    """
    try:
        content = read_json_object(path)
        frozen, checksum = Preregistration.from_dict(content), content["sha256"]
    except (InputError, KeyError) as problem:
        raise InputError(f"{path}: is no preregistration that can be read: {problem}") from problem
    if frozen.sha256 != checksum:
        raise InputError(
            f"{path}: was changed after it was written: its checksum is {frozen.sha256}, not {checksum}; bring back "
            "what was deposited, or remove the file to run without one"
        )
    return frozen


def registered(study: Study, cells: Iterable[Cell], results: Iterable[str]) -> Registered | None:
    """The study beside the preregistration that lies with it; None where there is none.

    Raises:
        InputError: there is one that cannot be used.
    """
    path = preregistration_path(study)
    if path is None or not path.exists():
        return None
    planned = read_preregistration(path)
    return Registered(planned.date, planned.sha256, tuple(_deviations(planned, frozen_choices(study, cells, results))))


def _deviations(planned: Preregistration, done: Preregistration) -> Iterator[Deviation]:
    for key in dict.fromkeys([*planned.choices, *done.choices]):
        before = setting_text(planned.choices[key]) if key in planned.choices else ABSENT
        after = setting_text(done.choices[key]) if key in done.choices else DROPPED
        if key not in planned.choices or key not in done.choices or planned.choices[key] != done.choices[key]:
            yield Deviation(key, before, after)
    for name, checksum in planned.lists.items():
        if (now := done.lists.get(name, checksum)) != checksum:
            yield Deviation(f"words of {name}", f"checksum {checksum[:12]}", f"other words, checksum {now[:12]}")
    if planned.version != done.version:
        yield Deviation("version of biasgauge", planned.version, done.version)


def _leaves(value: JsonMapping, prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every setting of nested tables with its place."""
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _leaves(inner, (*prefix, name))
        else:
            yield (*prefix, name), inner


def _lists(cells: Iterable[Cell]) -> Iterator[tuple[str, str]]:
    """Word lists with the checksum of their words: by name, or those of the user's own files by the file's name."""
    for cell in cells:
        checksums, settings = (cell.settings.get(name) for name in ("lexicons", "settings"))
        if isinstance(checksums, Mapping) and isinstance(settings, Mapping):
            for setting, checksum in checksums.items():
                named = setting_text(settings[setting]) if setting in settings else f"read by default by {cell.step}"
                yield named, setting_text(checksum)
        for name, path in cell.paths.items():
            if path.endswith(".toml"):
                yield Path(path).name, cell.files[name]
