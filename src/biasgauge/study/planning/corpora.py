"""Cells of corpora: texts to tokens, and balanced texts before them."""

from __future__ import annotations

from biasgauge.core import JsonObject, check_number
from biasgauge.study.planning.builder import PlanBuilder, PlannedCorpus
from biasgauge.study.schema import CorpusTable
from biasgauge.study.settings import check_lexicon, parameters
from biasgauge.text import Layout, tokenizer_named

AUTO = "auto"
_BALANCE = {"test": "lexicon", "strength": "degree"}
"""Settings of `balance` that have another name in a study."""


def plan_corpora(plan: PlanBuilder) -> None:
    """Add the cells of every corpus."""
    tables = plan.study.corpora
    made_of = {name: [] if table.origin is None else [table.origin] for name, table in tables.items()}
    for name in plan.in_order("corpora", made_of, "from"):
        table = tables[name]
        if table.origin is None:
            corpus = _read(plan, name, table)
        elif table.origin in plan.corpora:
            corpus = _balanced(plan, name, table, plan.corpora[table.origin])
        else:
            plan.undeclared(("corpora", name, "from"), f"there is no corpus {table.origin!r}", table.origin, "corpora")
            continue
        if corpus is not None:
            plan.corpora[name] = corpus


def _reading_settings(plan: PlanBuilder, name: str, table: CorpusTable, inherited: JsonObject) -> JsonObject | None:
    """Settings with which a text is read; None, with problems noted, where they cannot be used."""
    path, before = ("corpora", name), len(plan.problems)
    known = parameters("biasgauge.text:read_corpus", 1)
    plan.checked(path, table.settings, known, "a corpus", table_keys=table.declared_keys())
    values = {name: setting.default for name, setting in known.items()} | inherited | table.settings
    reading = {name: values[name] for name in known}
    if isinstance(reading["field"], str) and reading["field"].isdecimal() and reading["layout"] != "jsonl":
        reading["field"] = int(reading["field"])  # a column by its number, as on the command line
    if len(plan.problems) == before:
        with plan.noting(path):
            marks = tokenizer_named(reading["tokenizer"]).keeps_marks
            Layout(reading["layout"], field=reading["field"], documents=reading["documents"], keeps_marks=marks)
    return reading if len(plan.problems) == before else None


def _tokenizer_versions(tokenizer: str | None) -> dict[str, dict[str, str]]:
    """Versions of what the words of a tokenizer depend on, as cells store them."""
    versions = {} if tokenizer is None else dict(tokenizer_named(tokenizer).versions)
    return {"versions": versions} if versions else {}


def _read(plan: PlanBuilder, name: str, table: CorpusTable) -> PlannedCorpus | None:
    path = ("corpora", name, "path")
    files = plan.located(table.path, path)
    reading = _reading_settings(plan, name, table, {})
    if reading is None or not files:
        return None
    if reading["layout"] == AUTO:
        rule = Layout(AUTO, field=reading["field"], documents=reading["documents"], keeps_marks=True)
        layouts = sorted({AUTO if file.is_dir() else rule.choose(file.name) for file in files})
        if len(layouts) > 1:
            listed = ", ".join(layouts)
            plan.problem(path, f"the files of {name!r} are of several layouts ({listed}); name one with 'layout'")
            return None
        reading["layout"] = layouts[0]
    key = plan.add(
        "corpus",
        {"settings": reading, **_tokenizer_versions(reading["tokenizer"])},
        paths={f"text{number}": file for number, file in enumerate(files)},
        label=f"read {name}",
    )
    return PlannedCorpus(key, reading, tuple(files), None, name)


def _try_balance(settings: JsonObject) -> None:
    """Raise what `balance` would say of its numbers."""
    from biasgauge.mitigation import check_degree

    check_degree(settings.get("strength", 1.0), as_published=settings.get("as_published", False))
    check_number(0, 1, max_removed=settings.get("max_removed", 0.0))


def _balanced(plan: PlanBuilder, name: str, table: CorpusTable, source: PlannedCorpus) -> PlannedCorpus | None:
    path = ("corpora", name)
    study_names = {function_name: name for name, function_name in _BALANCE.items()}
    known = {
        study_names.get(name, name): setting
        for name, setting in parameters("biasgauge.mitigation:balance", 1).items()
        if name not in {"layout", "field"}
    }
    reading = _reading_settings(plan, name, table, source.reading)
    balancing = table.balance or {}
    checks = {"test": check_lexicon("test")}
    checked = plan.checked((*path, "balance"), balancing, known, "balance", checks=checks, trial=_try_balance)
    if source.text_key is None and not (len(source.texts) == 1 and source.texts[0].is_file()):
        plan.problem((*path, "from"), f"{table.origin!r} is read from several files; only one file can be balanced")
        return None
    if reading is None:
        return None
    settings = {_BALANCE.get(name, name): value for name, value in checked.stored.items()}
    inherited = ("layout", "field") if settings.get("as_published") else ("tokenizer", "layout", "field")
    settings = {name: source.reading[name] for name in inherited} | settings
    text_key = plan.add(
        "balance",
        {"settings": settings, "lexicons": checked.lexicons, **_tokenizer_versions(settings.get("tokenizer"))},
        inputs={} if source.text_key is None else {"text": source.text_key},
        paths=checked.paths | ({"text": source.texts[0]} if source.text_key is None else {}),
        label=f"balance {name}",
    )
    reading_settings = {"settings": reading, **_tokenizer_versions(reading["tokenizer"])}
    key = plan.add("corpus", reading_settings, inputs={"text": text_key}, label=f"read {name}")
    return PlannedCorpus(key, reading, (), text_key, source.root, (*source.balanced, balancing))
