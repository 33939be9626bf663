"""A study's TOML to a `Study`: all that is wrong with it at once, each in a sentence with its line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from biasgauge.core import JsonMapping, JsonObject, did_you_mean
from biasgauge.errors import InputError, LexiconError, SeveralProblemsError
from biasgauge.io import is_device
from biasgauge.lexicons import describe, parse_toml, shown
from biasgauge.study import schema
from biasgauge.study.schema import NAMED, SINGLE, StudyTable

TableT = TypeVar("TableT", bound=StudyTable)


class StudyProblem(NamedTuple):
    """Something wrong with a study: the table and key that it is about; a sentence of what is wrong and what to do."""

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
        allowed: files and folders beside its own folder that a study read from a file may read.
        problems: what is wrong with its tables; nothing in a study that `read_study` returns.
        broken: sections and names of tables that could not be read.
    """

    about: schema.About
    corpora: Mapping[str, schema.CorpusTable]
    models: Mapping[str, schema.ModelTable]
    vectors: Mapping[str, schema.VectorsTable]
    encoders: Mapping[str, schema.EncoderTable]
    mitigations: Mapping[str, schema.MitigationTable]
    scores: Mapping[str, schema.ScoresTable]
    analyses: Mapping[str, schema.AnalysisTable]
    tasks: Mapping[str, schema.TaskTable]
    report: schema.ReportTable | None = None
    file: Path | None = None
    folder: Path = field(default_factory=Path.cwd)
    text: str = ""
    allowed: tuple[Path, ...] = ()
    problems: tuple[StudyProblem, ...] = ()
    broken: frozenset[tuple[str, str]] = frozenset()

    @property
    def name(self) -> str:
        """Name of the study."""
        return self.about.name

    def to_dict(self) -> JsonObject:
        """Tables as the TOML has them, with defaults filled in."""
        tables = {
            section: {
                name: table.model_dump(by_alias=True, exclude_none=True)
                for name, table in getattr(self, section).items()
            }
            for section in NAMED
        }
        page = {} if self.report is None else {"report": self.report.model_dump(exclude_none=True)}
        return {"study": self.about.model_dump(), **tables, **page}

    def is_on_page(self, result: str) -> bool:
        """Return whether the page shows a result: it shows all, unless [report] names some."""
        return self.report is None or self.report.of is None or result.split("/", maxsplit=1)[0] in self.report.of

    def refuse(self, problems: Sequence[StudyProblem]) -> None:
        """Raise all problems in one error, one per line, in the order of the file.

        Raises:
            InputError: there is at least one.
        """
        lines = key_lines(self.text)
        numbered = [(line_of(lines, problem.path), problem.sentence) for problem in problems]
        sentences = []
        for number, sentence in sorted(numbered, key=lambda problem: problem[0] or 0):
            line = "" if number is None else f", line {number}"
            sentences.append(sentence if self.file is None else f"{self.file}{line}: {sentence}")
        if sentences:
            raise SeveralProblemsError(sentences)


def read_study(path: str | os.PathLike[str], *, allow: Iterable[str | os.PathLike[str]] = ()) -> Study:
    """Read a study, and check all that can be checked without computing: keys, types, names, settings, files.

    Args:
        path: its TOML file.
        allow: files and folders that it may read beside the folder that it is in; links are followed. A study that
            somebody else wrote reads nothing else of yours.

    Raises:
        InputError: something is wrong; every problem is on a line of its own that names the line of the file.
    """
    return _checked(open_study(path, allow))


def study_from(content: JsonMapping, *, folder: Path | None = None) -> Study:
    """A study from what its TOML holds, checked as in `read_study`.

    Raises:
        InputError: as there.
    """
    return _checked(_study(content, folder or Path.cwd()))


def _checked(study: Study) -> Study:
    from biasgauge.study.planning.plan import build_plan

    study.refuse(build_plan(study, None).problems)
    return study


def open_study(study: Study | str | os.PathLike[str], allow: Iterable[str | os.PathLike[str]] = ()) -> Study:
    """A study whose tables were read; problems of these are in `problems`, and the plan will find the others.

    Raises:
        InputError: the file cannot be read, or is not TOML.
    """
    if isinstance(study, Study):
        return study
    file = Path(study)
    try:
        raw = file.read_bytes()
        content = parse_toml(raw, file)
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise InputError(f"{file}: cannot be read: {why}") from problem
    except LexiconError as problem:
        raise InputError(str(problem)) from problem
    opened = _study(content, file.parent, file, raw.decode().replace("\r\n", "\n"))
    return replace(opened, allowed=tuple(Path(folder).absolute() for folder in allow))


def _study(content: JsonMapping, folder: Path, file: Path | None = None, text: str = "") -> Study:
    problems: list[StudyProblem] = []
    broken: set[tuple[str, str]] = set()
    tables: JsonObject = {}
    sections = [*SINGLE, *NAMED]
    for section in content:
        if section not in sections:
            near = did_you_mean(section, sections) or f"; there are {', '.join(sections)}"
            problems.append(StudyProblem((section,), f"there is no table [{section}]{near}"))
    for section, kind in NAMED.items():
        named = content.get(section, {})
        if not isinstance(named, dict):
            sentence = f"{section!r} must be tables [{section}.NAME], found {describe(named)}"
            problems.append(StudyProblem((section,), sentence))
            named = {}
        problems += [StudyProblem((section, name), sentence) for name, sentence in _unusable_names(named)]
        read = {name: _table(kind, table, (section, name), problems) for name, table in named.items()}
        broken |= {(section, name) for name, table in read.items() if table is None}
        tables[section] = MappingProxyType({name: table for name, table in read.items() if table is not None})
    if "study" not in content:
        problems.append(StudyProblem((), "the table [study] with a name is missing"))
    about = _table(schema.About, content.get("study", {"name": "study"}), ("study",), problems)
    report = _table(schema.ReportTable, content["report"], ("report",), problems) if "report" in content else None
    return Study(
        about=about or schema.About(name="study"),
        **tables,
        report=report,
        file=file,
        folder=Path(os.path.abspath(folder)),  # noqa: PTH100 - resolve() would follow a link to another folder
        text=text,
        problems=tuple(problems),
        broken=frozenset(broken),
    )


def _unusable_names(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Names of tables whose results could not lie beside each other as files on every system, and why."""
    first: dict[str, str] = {}
    for name in names:
        if is_device(name):
            yield name, f"the name {shown(name)} is one that Windows keeps for a device; choose another"
        if (earlier := first.setdefault(name.casefold(), name)) != name:
            yield name, f"the names {shown(earlier)} and {shown(name)} differ in capitals alone; choose another"
        if not re.fullmatch(schema.NAME, name):
            yield name, f"the name {shown(name)} may hold letters, digits, - and _ only"


def _table(kind: type[TableT], content: object, path: tuple[str, ...], problems: list[StudyProblem]) -> TableT | None:
    if not isinstance(content, dict):
        problems.append(StudyProblem(path, f"{'.'.join(path)!r} must be a table, found {describe(content)}"))
        return None
    try:
        return kind.model_validate(content)
    except ValidationError as problem:
        sentences: dict[tuple[str | None, bool], StudyProblem] = {}
        errors = problem.errors(include_url=False)
        for error in sorted(errors, key=lambda error: error["type"] != "value_error"):  # those of our validators first
            key = next((step for step in error["loc"] if isinstance(step, str)), None)
            where = path if key is None else (*path, key)
            sentence = StudyProblem(where, _sentence(kind, path, key, error, content))
            # A union has an error for each of its members.
            sentences.setdefault((key, error["type"] == "extra_forbidden"), sentence)
        problems += sentences.values()
        return None


_EXPECTED = {
    "path": "a path, or a list of paths",
    "from": "the name of a corpus",
    "balance": 'a table, as in { test = "weat7" }',
    "corpora": "a list of names of corpora",
    "words": "a lexicon, NAME:SET, or a list of lexicons and words",
    "corpus": "the name of a corpus",
    "seeds": f"a number of seeds from 1 to {schema.MOST:,}, or a list of different seeds",
    "bootstrap": f"a number of samples from 1 to {schema.MOST:,}",
    "of": "a list of names",
    "settings": "a table of settings",
    "measures": "a measure, or a list of measures",
    "limit": "a whole number of at least 1",
    "seed": "a whole number of at least 0",
    "default": '"glove" or "replicates"',
    "name": "letters, digits, - and _",
}
"""Description of the value of a key; text for others."""


def _sentence(
    kind: type[StudyTable], path: tuple[str, ...], key: str | None, error: ErrorDetails, content: JsonMapping
) -> str:
    table = f"[{'.'.join(path)}]"
    message = str(error["msg"]).removeprefix("Value error, ")
    if key is None:
        return f"{table}: {message}"
    if error["type"] == "extra_forbidden":
        keys = [field.alias or name for name, field in kind.model_fields.items()]
        return f"{table} has no key {shown(key)}{did_you_mean(key, keys) or '; it has ' + ', '.join(keys)}"
    expected = _EXPECTED.get(key, "text")
    if error["type"] == "missing":
        near = did_you_mean(key, [name for name in content if name not in kind.model_fields])
        return f"{table}: the key {key!r} is missing: expected {expected}{near}"
    found = f"; {message}" if error["type"] == "value_error" else f", found {describe(content[key])}"
    return f"{table}: {key!r} must be {expected}{found}"


_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
_HEADER = re.compile(rf"\s*\[\[?\s*({_DOTTED})\s*\]")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_TEXT = re.compile(r""""{3}(?:\\.|[^\\])*?"{3,5}|'{3}.*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*""", re.DOTALL)
"""A text of several lines or of one, or a remark; found from the left, so that none begins within another."""


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line of every table and key, from 1 on, by its path; what stands in an inline table is on its key's line."""
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    # A line within a text of several lines is no key: of such a text only the line breaks are left.
    flat = _TEXT.sub(lambda match: "\n" * match[0].count("\n") if "\n" in match[0] else match[0], text)
    for number, line in enumerate(flat.split("\n"), 1):
        if header := _HEADER.match(line):
            table = _parts(header[1])
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            path = (*table, *_parts(key[1]))
            for end in range(len(table) + 1, len(path) + 1):
                lines.setdefault(path[:end], number)
    return lines


def line_of(lines: Mapping[tuple[str, ...], int], path: Sequence[str]) -> int | None:
    """The line of a key, or of the innermost table around it that has one."""
    ends = range(len(path), 0, -1)
    return next((lines[tuple(path[:end])] for end in ends if tuple(path[:end]) in lines), None)


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(key.strip("\"'") for key in re.findall(_PART, dotted))
