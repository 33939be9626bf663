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
MOST_WORDS = 12

ChecklistRow = tuple[str, str, str]
_NONE: JsonMapping = MappingProxyType({})


def checklist(content: JsonMapping) -> Summary:
    """The checklist of a study.

    Args:
        content: as `study_summary` takes it.
    """
    results = [entry["result"] for entry in content.get("results") or []]
    preregistration = content.get("preregistration")
    plan = "no" if preregistration is None else Registered.from_dict(preregistration).sentence
    failures, missing = content.get("failures") or [], content.get("missing") or []
    reported = f"{counted(results, 'result')} on this page"
    if failures or missing:
        reported += f"; {counted(failures, 'cell')} failed, {counted(missing, 'result')} missing"
    settings = "the whole file stands at the end of the page" if content.get("toml") else "see what was studied"
    rows = [
        ("Question", "What is asked?", content.get("about") or content.get("title") or content["name"]),
        ("Question", "Were choices fixed before the data was seen?", plan),
        *_measured(content),
        *_words(results),
        *_numbers(results),
        ("What was tried", "Is everything that was computed reported?", reported),
        ("What was tried", "Which settings were chosen?", settings),
        ("Repeating it", "Version and seed", f"biasgauge {__version__}, seed {content.get('seed', 0)}"),
    ]
    left = [(topic, question, AUTHORS) for topic, question in OPEN]
    return Summary(
        "Reporting checklist",
        f"{counted(rows, 'point is', 'points are')} filled in from the study; {len(left)} are left to its authors.",
        tables=(Table.of("checklist", "", ("part", "what readers must know", "this study"), [*rows, *left]),),
        name="checklist",
    )


def _measured(content: JsonMapping) -> Iterator[ChecklistRow]:
    """Text, vectors, replicates, measures."""
    corpora = content.get("corpora", {}).values()
    texts = [setting_text(table.get("path") or f"{table.get('from')}, balanced") for table in corpora]
    yield "Data", "Which text?", "; ".join(texts) or "none: vectors that were there"
    sections = ("vectors", "models", "encoders", "mitigations")
    tables = [item for section in sections for item in content.get(section, {}).items()]
    vectors = "; ".join(f"{name}: {setting_text(table)}" for name, table in tables)
    yield "Data", "Which vectors, trained how?", vectors or "none"
    replicates = [
        f"{name}: {describe(table)}"
        for section, describe in (("models", _seeds), ("vectors", _files), ("encoders", _views))
        for name, table in content.get(section, {}).items()
    ]
    question = "How many models stand for each recipe, and what do they vary?"
    yield "Replicates", question, "; ".join(replicates) or "none"
    scores = content.get("scores", {}).values()
    measures = dict.fromkeys(name for table in scores for name in _names(table.get("measures", ())))
    kinds = dict.fromkeys(entry["kind"] for entry in content.get("results") or [])
    yield "Measures", "Which measures and analyses?", ", ".join([*measures, *kinds]) or "none"


def _seeds(recipe: JsonMapping) -> str:
    seeds = recipe.get("seeds", 1)
    samples = f" × {recipe['bootstrap']} samples of documents" if recipe.get("bootstrap") else ""
    return f"{counted(len(seeds) if isinstance(seeds, Sequence) else int(seeds), 'random seed')}{samples}"


def _files(vectors: JsonMapping) -> str:
    path = vectors.get("path")
    if isinstance(path, Sequence) and not isinstance(path, str):
        return counted(path, "file")
    return f"{REPLICATES} random seeds" if vectors.get("default") == "replicates" else "one"


def _views(encoder: JsonMapping) -> str:
    """Describe what the views of a transformer vary; several transformers of one table are replicates or sizes."""
    models = counted(len(_names(encoder.get("path"))) or 1, "transformer")
    varied = {name: encoder[name] for name in ("layers", "pooling", "templates", "contexts") if encoder.get(name)}
    settings = ", ".join(f"{name} {setting_text(value)}" for name, value in varied.items())
    return f"{models}, views by {settings or 'layer, pooling and template'}"


def _words(results: Sequence[JsonMapping]) -> Iterator[ChecklistRow]:
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


def _numbers(results: Sequence[JsonMapping]) -> Iterator[ChecklistRow]:
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
            tests += sum(isinstance(table.get(name), float) for name in ("p", "p_value"))
            corrected += isinstance(table.get("p_adjusted"), float)
    listed = ", ".join(f"{method} ({count:,})" for method, count in methods.most_common(6))
    intervals = f"{methods.total():,}: {listed or 'none'}; {without:,} undefined, each with its reason"
    yield "Uncertainty", "Which numbers have an interval, and of which kind?", intervals
    correction = f"{corrected:,} of them corrected for their number" if corrected else "none corrected for their number"
    yield "Uncertainty", "How many tests were made?", f"{tests:,} p-values, {correction}" if tests else "none"


def _tables(value: object) -> Iterator[JsonMapping]:
    """Every table within a result."""
    if isinstance(value, Mapping):
        yield value
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        yield from _tables(inner)


def _intervals(value: object, common: JsonMapping = _NONE, inherited: JsonMapping = _NONE) -> Iterator[JsonMapping]:
    """Every number with an interval within a result, each once, with level and method of the interval.

    `common` is, by the name of a table, what a result states once for all intervals of that table; `inherited` are
    level and method that hold for all intervals of the enclosing table.
    """
    if isinstance(value, list):
        for inner in value:
            yield from _intervals(inner, common, inherited)
    if not isinstance(value, Mapping):
        return
    if isinstance(value.get("intervals"), Mapping):
        common = value["intervals"]
    pointed_to = value.get("reliability")  # a row that only points out one of another table
    repeated = isinstance(pointed_to, str) and pointed_to in common
    if "low" in value and "high" in value and not repeated:
        # An interval that is open at one end has None there.
        defined = {name: content for name, content in value.items() if content is not None or name in ("low", "high")}
        yield {**inherited, **defined}
    for name, inner in value.items():
        yield from _intervals(inner, common, common.get(name, inherited))


def _names(value: object) -> list[str]:
    """Names in a setting: one, or several."""
    if isinstance(value, str):
        return [value]
    return [name for name in value if isinstance(name, str)] if isinstance(value, list | tuple) else []
