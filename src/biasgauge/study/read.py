"""A study's TOML to a `Study`: all that is wrong with it at once, each in a sentence with its line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from biasgauge.core import JsonMapping, JsonObject, did_you_mean
from biasgauge.errors import InputError, LexiconError
from biasgauge.io import is_device
from biasgauge.lexicons import describe, parse_toml, shown
from biasgauge.study.schema import (
    MOST,
    NAME,
    About,
    AnalysisTable,
    CorpusTable,
    EncoderTable,
    MitigationTable,
    ModelTable,
    ReportTable,
    ScoresTable,
    Sections,
    Table,
    TaskTable,
    VectorsTable,
)

One = TypeVar("One", bound=Table)


@dataclass(frozen=True)
class Problem:
    """Something wrong with a study.

    Attributes:
        path: table and key that it is about.
        sentence: what is wrong, and what to do.
    """

    path: tuple[str, ...]
    sentence: str


@dataclass(frozen=True)
class Study:
    """Content of a study's TOML.

    Attributes:
        about: its name, title and seed.
        corpora, models, vectors, encoders, mitigations, scores, analyses, tasks: its tables by name, in their order.
        report: whether and how to write a page.
        file: where it was read from; None for one made in Python.
        folder: what relative paths in it start from.
        text: the file as it stands.
        broken: tables that could not be read; only while all problems are being gathered.
    """

    about: About
    corpora: Mapping[str, CorpusTable]
    models: Mapping[str, ModelTable]
    vectors: Mapping[str, VectorsTable]
    encoders: Mapping[str, EncoderTable]
    mitigations: Mapping[str, MitigationTable]
    scores: Mapping[str, ScoresTable]
    analyses: Mapping[str, AnalysisTable]
    tasks: Mapping[str, TaskTable]
    report: ReportTable | None = None
    file: Path | None = None
    folder: Path = field(default_factory=Path.cwd)
    text: str = ""
    broken: frozenset[tuple[str, str]] = frozenset()

    @property
    def name(self) -> str:
        """Name of the study."""
        return self.about.name

    def to_dict(self) -> JsonObject:
        """As the TOML has it, with defaults filled in."""
        tables = {
            section: {
                name: table.model_dump(by_alias=True, exclude_none=True)
                for name, table in getattr(self, section).items()
            }
            for section in Sections.named
        }
        page = {} if self.report is None else {"report": self.report.model_dump(exclude_none=True)}
        return {"study": self.about.model_dump(), **tables, **page}

    def refuse(self, problems: Sequence[Problem]) -> None:
        """Raise all problems in one error, one a line, in the order of the file.

        Raises:
            InputError: there is at least one.
        """
        if problems:
            raise InputError("\n".join(self._sentences(problems)))

    def _sentences(self, problems: Sequence[Problem]) -> Iterator[str]:
        lines = key_lines(self.text)
        numbers = [line_of(lines, problem.path) for problem in problems]
        for place in sorted(range(len(problems)), key=lambda place: numbers[place] or 0):
            line = "" if numbers[place] is None else f", line {numbers[place]}"
            start = f"{self.file}{line}: " if self.file is not None else ""
            yield start + problems[place].sentence


def read_study(path: str | os.PathLike[str]) -> Study:
    """Read a study, and check all that can be checked without computing: keys, types, names, settings, files.

    Raises:
        InputError: something is wrong; every problem is on a line of its own that names the line of the file.
    """
    file = Path(path)
    try:
        raw = file.read_bytes()
        content = parse_toml(raw, file)
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise InputError(f"{file}: cannot be read: {why}") from problem
    except LexiconError as problem:
        raise InputError(str(problem)) from problem
    text = raw.decode().replace("\r\n", "\n")
    return study_from(content, folder=file.parent, file=file, text=text)


def study_from(content: JsonMapping, *, folder: Path | None = None, file: Path | None = None, text: str = "") -> Study:
    """A study from what its TOML holds, checked as in `read_study`.

    Raises:
        InputError: as there.
    """
    from biasgauge.study.planning.plan import problems_of

    problems: list[Problem] = []
    tables = _tables(content, problems)
    broken = tables.pop("broken")
    base = Path(os.path.abspath(folder or Path.cwd()))  # noqa: PTH100 - resolve() would follow a link to another folder
    study = Study(**tables, file=file, folder=base, text=text, broken=frozenset(broken))
    study.refuse([*problems, *problems_of(study)])
    return study


def _tables(content: JsonMapping, problems: list[Problem]) -> JsonObject:
    sections = [*Sections.single, *Sections.named]
    tables: JsonObject = {"broken": set()}
    problems += [
        Problem(
            (name,), f"there is no table [{name}]{did_you_mean(name, sections) or '; there are ' + ', '.join(sections)}"
        )
        for name in content
        if name not in sections
    ]
    for section, kind in Sections.named.items():
        named = content.get(section, {})
        if not isinstance(named, dict):
            problems.append(
                Problem((section,), f"{section!r} must be tables [{section}.NAME], found {describe(named)}")
            )
            named = {}
        checked = {}
        problems += [Problem((section, name), sentence) for name, sentence in _unportable(named)]
        for name, table_content in named.items():
            if not re.fullmatch(NAME, name):
                problems.append(
                    Problem((section, name), f"the name {shown(name)} may hold letters, digits, - and _ only")
                )
            if (table := _table(kind, table_content, (section, name), problems)) is None:
                tables["broken"].add((section, name))
            else:
                checked[name] = table
        tables[section] = MappingProxyType(checked)
    if "study" not in content:
        problems.append(Problem((), "the table [study] with a name is missing"))
    description = _table(About, content.get("study", {"name": "study"}), ("study",), problems)
    tables["about"] = description or About(name="study")
    tables["report"] = None
    if "report" in content:
        tables["report"] = _table(ReportTable, content["report"], ("report",), problems)
    return tables


def _unportable(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Names of results that could not lie beside each other as files on every system, and why."""
    first: dict[str, str] = {}
    for name in names:
        if is_device(name):
            yield name, f"the name {shown(name)} is one that Windows keeps for a device; choose another"
        if (earlier := first.setdefault(name.casefold(), name)) != name:
            yield name, f"the names {shown(earlier)} and {shown(name)} differ in capitals alone; choose another"


def _table(kind: type[One], content: object, path: tuple[str, ...], problems: list[Problem]) -> One | None:
    if not isinstance(content, dict):
        problems.append(Problem(path, f"{'.'.join(path)!r} must be a table, found {describe(content)}"))
        return None
    try:
        return kind.model_validate(content)
    except ValidationError as problem:
        seen = set()
        errors = problem.errors(include_url=False)
        for error in sorted(errors, key=lambda error: error["type"] != "value_error"):  # ours first
            key = next((step for step in error["loc"] if isinstance(step, str)), None)
            reported = key, error["type"] == "extra_forbidden"
            if reported not in seen:  # a union tells once for each of its members
                seen.add(reported)
                where = path if key is None else (*path, key)
                problems.append(Problem(where, _sentence(kind, path, key, error, content)))
        return None


_EXPECTED = {
    "path": "a path, or a list of paths",
    "from": "the name of a corpus",
    "balance": 'a table, as in { test = "weat7" }',
    "corpora": "a list of names of corpora",
    "words": "a lexicon, NAME:SET, or a list of lexicons and words",
    "corpus": "the name of a corpus",
    "seeds": f"a number of seeds from 1 to {MOST:,}, or a list of different seeds",
    "bootstrap": f"a number of samples from 1 to {MOST:,}",
    "of": "a list of names",
    "settings": "a table of settings",
    "measures": "a measure, or a list of measures",
    "limit": "a whole number of at least 1",
    "seed": "a whole number of at least 0",
    "default": '"glove" or "replicates"',
    "name": "letters, digits, - and _",
}
"""What the value of a key must be; text where nothing is said."""


def _sentence(
    kind: type[Table], path: tuple[str, ...], key: str | None, problem: ErrorDetails, content: JsonMapping
) -> str:
    table = f"[{'.'.join(path)}]"
    if key is None:
        return f"{table}: {_own_words(problem)}"
    if problem["type"] == "extra_forbidden":
        keys = [field.alias or name for name, field in kind.model_fields.items()]
        near = did_you_mean(key, keys)
        return f"{table} has no key {shown(key)}{near or '; it has ' + ', '.join(keys)}"
    expected = _EXPECTED.get(key, "text")
    if problem["type"] == "missing":
        near = did_you_mean(key, [name for name in content if name not in kind.model_fields])
        return f"{table}: the key {key!r} is missing: expected {expected}{near}"
    if problem["type"] == "value_error":
        return f"{table}: {key!r} must be {expected}; {_own_words(problem)}"
    return f"{table}: {key!r} must be {expected}, found {describe(content[key])}"


def _own_words(problem: ErrorDetails) -> str:
    """Message of a check of the schema."""
    return str(problem["msg"]).removeprefix("Value error, ")


_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_MARK = re.compile(r'"{3}|"(?:\\.|[^"\\])*"|' + r"'{3}|'[^']*'|#")
_REST = {'"""': re.compile(r'(?:\\.|[^"\\]|"(?!""))*"{3,5}'), "'''": re.compile(r"(?:[^']|'(?!''))*'{3,5}")}
"""What remains of a text of several lines, to its end."""


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line of every table and key, from 1 on, by its path; what stands in an inline table is on its key's line."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    inside: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if inside is None:
            if header := _HEADER.match(line):
                table = _parts(header[1])
                lines.setdefault(table, number)
            elif key := _KEY.match(line):
                path = (*table, *_parts(key[1]))
                for end in range(len(table) + 1, len(path) + 1):
                    lines.setdefault(path[:end], number)
        inside = _after(line, inside)
    return lines


def _after(line: str, inside: str | None) -> str | None:
    """The quotes of the text of several lines that is open after a line, given those before it; remarks hold none."""
    position = 0
    while True:
        if inside is not None:
            if (ending := _REST[inside].match(line, position)) is None:
                return inside
            position, inside = ending.end(), None
        mark = _MARK.search(line, position)
        if mark is None or mark[0] == "#":
            return None
        position = mark.end()
        inside = mark[0] if mark[0] in _REST else None


def line_of(lines: Mapping[tuple[str, ...], int], path: Sequence[str]) -> int | None:
    """The line of a key, or of the innermost table around it that has one."""
    for end in range(len(path), 0, -1):
        if (number := lines.get(tuple(path[:end]))) is not None:
            return number
    return None


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(key.strip("\"'") for key in re.findall(_PART, dotted))
