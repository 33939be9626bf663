"""Cells of corpora: texts to tokens, and balanced texts before them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.core import JsonObject
from biasgauge.errors import BiasgaugeError
from biasgauge.study.settings import check_lexicon, parameters
from biasgauge.text import Layout, tokenizer_named

if TYPE_CHECKING:
    from biasgauge.study.planning.builder import PlanBuilder
    from biasgauge.study.schema import CorpusTable

AUTO = "auto"
JSONL = "jsonl"
_BALANCE = {"test": "lexicon", "strength": "degree"}
"""What a study calls some settings of `balance`."""


@dataclass(frozen=True)
class PlannedCorpus:
    """A corpus of a study.

    Attributes:
        key: of the cell with its tokens.
        reading: settings with which it is read.
        text, text_key: the user's one file that it is read from, or the cell that wrote it; neither for several files.
        texts: the user's files that it is read from; none where a cell wrote it.
        root: the corpus that it was made from at first; its own name where it was read.
        balanced: settings of `balance`, from the first to the last.
    """

    key: str
    reading: JsonObject
    text: Path | None
    text_key: str | None
    root: str
    texts: tuple[Path, ...] = ()
    balanced: tuple[JsonObject, ...] = ()


def plan_corpora(plan: PlanBuilder) -> dict[str, PlannedCorpus]:
    """Cells for every corpus, by name."""
    tables = plan.study.corpora
    planned: dict[str, PlannedCorpus] = {}
    made_of = {name: [] if table.origin is None else [table.origin] for name, table in tables.items()}
    for name in plan.in_order("corpora", made_of, "from"):
        origin = tables[name].origin
        corpus = None
        if origin is None:
            corpus = _read(plan, name, tables[name])
        elif origin in planned:
            corpus = _balanced(plan, name, tables[name], planned[origin])
        elif origin not in tables and ("corpora", origin) not in plan.study.broken:
            plan.unknown(("corpora", name, "from"), f"there is no corpus {origin!r}", origin, tables)
        if corpus is not None:
            planned[name] = corpus
    return planned


def _reading(plan: PlanBuilder, name: str, table: CorpusTable, inherited: JsonObject) -> JsonObject | None:
    """Settings with which a text is read, checked."""
    parameters_known = parameters("biasgauge.text:read_corpus", 1)
    before = len(plan.problems)
    plan.checked(
        ("corpora", name), table.settings, parameters_known, "a corpus", inline=None, table_keys=table.declared_keys()
    )
    values = {name: setting.default for name, setting in parameters_known.items()} | inherited | table.settings
    reading = {name: values[name] for name in parameters_known}
    if isinstance(reading["field"], str) and reading["field"].isdecimal() and reading["layout"] != JSONL:
        reading["field"] = int(reading["field"])  # a column by its number, as on the command line
    if len(plan.problems) > before:
        return None
    try:
        rule = tokenizer_named(reading["tokenizer"])
        Layout(reading["layout"], field=reading["field"], documents=reading["documents"], keeps_marks=rule.keeps_marks)
    except BiasgaugeError as problem:
        plan.problem(("corpora", name), str(problem))
        return None
    return reading


def versions_of(tokenizer: str | None) -> dict[str, dict[str, str]]:
    """Versions of what the words of a tokenizer depend on, as cells store them."""
    versions = {} if tokenizer is None else dict(tokenizer_named(tokenizer).versions)
    return {"versions": versions} if versions else {}


def _read(plan: PlanBuilder, name: str, table: CorpusTable) -> PlannedCorpus | None:
    path = ("corpora", name)
    files = plan.located(table.path, (*path, "path"))
    reading = _reading(plan, name, table, {})
    if reading is None or not files:
        return None
    if reading["layout"] == AUTO:
        rule = Layout(AUTO, field=reading["field"], documents=reading["documents"], keeps_marks=True)
        layouts = {AUTO if file.is_dir() else rule.choose(file.name) for file in files}
        if len(layouts) > 1:
            plan.problem(
                (*path, "path"),
                f"the files of {name!r} are of several layouts ({', '.join(sorted(layouts))}); name one with 'layout'",
            )
            return None
        reading["layout"] = layouts.pop()
    key = plan.add(
        "corpus",
        {"settings": reading, **versions_of(reading["tokenizer"])},
        paths={f"text{number}": file for number, file in enumerate(files)},
        label=f"read {name}",
    )
    only = files[0] if len(files) == 1 and files[0].is_file() else None
    return PlannedCorpus(key, reading, only, None, name, tuple(files))


def _possible(settings: JsonObject) -> None:
    """Raise what `balance` would say of its numbers."""
    from biasgauge.core import check_number
    from biasgauge.mitigation import check_degree

    check_degree(settings.get("strength", 1.0), as_published=settings.get("as_published", False))
    check_number(0, 1, max_removed=settings.get("max_removed", 0.0))


def _balanced(plan: PlanBuilder, name: str, table: CorpusTable, source: PlannedCorpus) -> PlannedCorpus | None:
    path = ("corpora", name)
    ours = {theirs: name for name, theirs in _BALANCE.items()}
    parameters_known = {
        ours.get(name, name): setting for name, setting in parameters("biasgauge.mitigation:balance", 1).items()
    }
    parameters_known = {name: setting for name, setting in parameters_known.items() if name not in {"layout", "field"}}
    reading = _reading(plan, name, table, source.reading)
    balancing = table.balance or {}
    checked = plan.checked(
        path,
        balancing,
        parameters_known,
        "balance",
        checks={"test": check_lexicon("test")},
        trial=_possible,
        inline="balance",
    )
    if source.text is None and source.text_key is None:
        plan.problem((*path, "from"), f"{table.origin!r} is read from several files; only one file can be balanced")
        return None
    if reading is None:
        return None
    settings = {_BALANCE.get(name, name): value for name, value in checked.stored.items()}
    inherited = ("layout", "field") if settings.get("as_published") else ("tokenizer", "layout", "field")
    stored = {name: source.reading[name] for name in inherited} | settings
    text_key = plan.add(
        "balance",
        {"settings": stored, "lexicons": checked.lexicons, **versions_of(stored.get("tokenizer"))},
        inputs={} if source.text_key is None else {"text": source.text_key},
        paths=checked.paths | ({} if source.text_key is not None or source.text is None else {"text": source.text}),
        label=f"balance {name}",
    )
    reading_settings = {"settings": reading, **versions_of(reading["tokenizer"])}
    key = plan.add("corpus", reading_settings, inputs={"text": text_key}, label=f"read {name}")
    return PlannedCorpus(key, reading, None, text_key, source.root, (), (*source.balanced, balancing))
