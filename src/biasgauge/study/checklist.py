"""Reporting checklist of a study, filled in from it: lists, choices, replicates, intervals, what was tried.

In the manner of REFORMS and like checklists. What no program can know is left to the authors, and says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from biasgauge._version import __version__
from biasgauge.core import JsonMapping
from biasgauge.results import Summary, Table, counted, level_text, setting_text, words_text
from biasgauge.study.preregistration import Registered
from biasgauge.vectors import REPLICATES

AUTHORS = "for the authors to say"
OPEN = (
    ("Question", "Which decision or claim are the numbers for, and who is affected by it?"),
    ("Words", "What do the word lists stand for, who wrote them about whom, and whom do they leave out?"),
    ("Claims", "Do the claims stay within the language, the time and the text that were measured?"),
)
P_VALUES = ("p", "p_value")
ENDS = ("low", "high")
"""Of an interval; one that is open at one end has None there."""
MOST_WORDS = 12

Rows = list[tuple[str, str, str]]
_NONE: JsonMapping = MappingProxyType({})


def checklist(content: JsonMapping) -> Summary:
    """The checklist of a study.

    Args:
        content: as `study_summary` takes it.
    """
    results = [entry["result"] for entry in content.get("results") or []]
    rows = [
        *_planned(content),
        *_measured(content),
        *_words(results),
        *_numbers(results),
        *_tried(content),
        ("Repeating it", "Version and seed", f"biasgauge {__version__}, seed {content.get('seed', 0)}"),
    ]
    left = [(topic, question, AUTHORS) for topic, question in OPEN]
    return Summary(
        "Reporting checklist",
        f"{counted(rows, 'point is', 'points are')} filled in from the study; {len(left)} are left to its authors.",
        tables=(Table.of("checklist", "", ("part", "what readers must know", "this study"), [*rows, *left]),),
        name="checklist",
    )


def _planned(content: JsonMapping) -> Rows:
    preregistration = content.get("preregistration")
    plan = "no" if preregistration is None else Registered.from_dict(preregistration).sentence
    return [
        ("Question", "What is asked?", content.get("about") or content.get("title") or content["name"]),
        ("Question", "Were choices fixed before the data was seen?", plan),
    ]


def _measured(content: JsonMapping) -> Iterator[tuple[str, str, str]]:
    """Text, vectors, replicates, measures."""
    corpora = content.get("corpora", {}).values()
    texts = [setting_text(table.get("path") or f"{table.get('from')}, balanced") for table in corpora]
    yield "Data", "Which text?", "; ".join(texts) or "none: vectors that were there"
    vectors = [f"{name}: {setting_text(table)}" for name, table in content.get("vectors", {}).items()]
    recipes = [f"{name}: {setting_text(table)}" for name, table in content.get("models", {}).items()]
    changed = [f"{name}: {setting_text(table)}" for name, table in content.get("mitigations", {}).items()]
    encoders = [f"{name}: {setting_text(table)}" for name, table in content.get("encoders", {}).items()]
    yield "Data", "Which vectors, trained how?", "; ".join([*vectors, *recipes, *encoders, *changed]) or "none"
    yield "Replicates", "How many models stand for each recipe, and what do they vary?", _replicates(content)
    scores = content.get("scores", {}).values()
    measures = dict.fromkeys(name for table in scores for name in _names(table.get("measures", ())))
    kinds = dict.fromkeys(entry["kind"] for entry in content.get("results") or [])
    yield "Measures", "Which measures and analyses?", ", ".join([*measures, *kinds]) or "none"


def _replicates(content: JsonMapping) -> str:
    descriptions = []
    for name, table in content.get("models", {}).items():
        seeds = table.get("seeds", 1)
        count = len(seeds) if isinstance(seeds, Sequence) else int(seeds)
        samples = f" × {table['bootstrap']} samples of documents" if table.get("bootstrap") else ""
        descriptions.append(f"{name}: {count} random seed{'s' * (count != 1)}{samples}")
    for name, table in content.get("vectors", {}).items():
        path = table.get("path")
        is_list = isinstance(path, Sequence) and not isinstance(path, str)
        shipped = table.get("default") == "replicates"
        seeds = f"{REPLICATES} random seeds" if shipped else "one"
        descriptions.append(f"{name}: {counted(path, 'file') if is_list else seeds}")
    descriptions += [f"{name}: {_views(table)}" for name, table in content.get("encoders", {}).items()]
    return "; ".join(descriptions) or "none"


def _views(table: JsonMapping) -> str:
    """Describe what the views of a transformer vary; several transformers of one table are replicates or sizes."""
    models = len(_names(table.get("path"))) or 1
    varied = {name: table[name] for name in ("layers", "pooling", "templates", "contexts") if table.get(name)}
    settings = ", ".join(f"{name} {setting_text(value)}" for name, value in varied.items())
    return f"{models} transformer{'s' * (models != 1)}, views by {settings or 'layer, pooling and template'}"


def _words(results: Sequence[JsonMapping]) -> Iterator[tuple[str, str, str]]:
    """Word lists, and words that were not in the vocabulary."""
    requested = lost = 0
    words: dict[str, None] = {}
    lists: dict[str, None] = {}
    for result in results:
        for table in _tables(result):
            if "sets" in table and isinstance(table.get("name"), str):  # an association test
                lists[table["name"]] = None
            for name in ("lexicon", "pairs", "test", "lists", "words"):
                if isinstance(table.get("settings"), Mapping) and table["settings"].get(name):
                    lists.update(dict.fromkeys(_names(table["settings"][name])))
            if {"asked", "found", "lost"} <= table.keys() and isinstance(table["asked"], int):
                requested += table["asked"]
                groups = table["lost"].values() if isinstance(table["lost"], Mapping) else [table["lost"]]
                gone = [word for group in groups for word in group]
                lost += len(gone)
                words.update(dict.fromkeys(map(str, gone)))
    yield "Words", "Which word lists?", ", ".join(lists) or "see the settings of each analysis"
    named = f": {words_text(tuple(words), MOST_WORDS)}" if words else ""
    yield "Words", "Which words were not in the vocabulary?", f"{lost:,} of {requested:,} look-ups{named}"


def _numbers(results: Sequence[JsonMapping]) -> Iterator[tuple[str, str, str]]:
    """Count numbers with an interval by its kind, and tests."""
    methods: Counter[str] = Counter()
    without = tests = corrected = 0
    for result in results:
        for number in _intervals(result):
            if number["low"] is None:
                without += 1
            elif number["low"] != number["high"]:
                level = number.get("level")
                method = str(number.get("method") or "kind not recorded").replace("_", " ")
                methods[f"{level_text(level)} {method}" if isinstance(level, float) else method] += 1
        for table in _tables(result):
            tests += sum(isinstance(table.get(name), float) for name in P_VALUES)
            corrected += isinstance(table.get("p_adjusted"), float)
    listed = ", ".join(f"{method} ({count:,})" for method, count in methods.most_common(6))
    yield (
        "Uncertainty",
        "Which numbers have an interval, and of which kind?",
        (f"{methods.total():,}: {listed or 'none'}; {without:,} undefined, each with its reason"),
    )
    correction = f"{corrected:,} of them corrected for their number" if corrected else "none corrected for their number"
    yield "Uncertainty", "How many tests were made?", f"{tests:,} p-values, {correction}" if tests else "none"


def _tried(content: JsonMapping) -> Iterator[tuple[str, str, str]]:
    failures, missing = content.get("failures") or [], content.get("missing") or []
    shown = counted(content.get("results") or [], "result")
    shortfall = (
        ""
        if not (failures or missing)
        else f"; {counted(failures, 'cell')} failed, {counted(missing, 'result')} missing"
    )
    yield "What was tried", "Is everything that was computed reported?", f"{shown} on this page{shortfall}"
    toml = content.get("toml") or ""
    settings = "the whole file stands at the end of the page" if toml else "see what was studied"
    yield "What was tried", "Which settings were chosen?", settings


def _tables(value: object) -> Iterator[JsonMapping]:
    """Every table within a result."""
    if isinstance(value, Mapping):
        yield value
        for inner in value.values():
            yield from _tables(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _tables(inner)


def _intervals(value: object, common: JsonMapping = _NONE, inherited: JsonMapping = _NONE) -> Iterator[JsonMapping]:
    """Every number with an interval within a result, each once, with level and method of the interval.

    Args:
        value: a result, or a part of one.
        common: by the name of a table, what a result states once for all intervals of that table.
        inherited: level and method that hold for all intervals of the enclosing table.
    """
    if isinstance(value, Mapping):
        if isinstance(value.get("intervals"), Mapping):
            common = value["intervals"]
        pointed_to = value.get("reliability")  # a row that only points out one of another table
        repeated = isinstance(pointed_to, str) and pointed_to in common
        if "low" in value and "high" in value and not repeated:
            yield {
                **inherited,
                **{name: content for name, content in value.items() if content is not None or name in ENDS},
            }
        for name, inner in value.items():
            yield from _intervals(inner, common, common.get(name, inherited))
    elif isinstance(value, list):
        for inner in value:
            yield from _intervals(inner, common, inherited)


def _names(value: object) -> list[str]:
    """Names in a setting: one, or several."""
    if isinstance(value, str):
        return [value]
    return [name for name in value if isinstance(name, str)] if isinstance(value, list | tuple) else []
