"""The sections of a study's page: what was studied, what each analysis found, what failed, how to repeat it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.report.page.any_table import numbers_of, table, tidy
from biasgauge.report.page.colours import themed
from biasgauge.report.page.section import Chart, Section, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from biasgauge.report.page.any_table import Row

Result = dict[str, Any]

INPUTS = {
    "corpora": "Text",
    "models": "Training recipes",
    "vectors": "Vectors that were there",
    "mitigations": "Mitigations",
    "scores": "Scores",
}
SHOWN = {
    "reliability": ("summary", "internal", "measures", "relations", "word_forms"),
    "components": ("components",),
    "decision": ("smallest", "needs"),
    "factors": ("fixed", "random", "r2"),
    "bayes": ("groups", "contrasts"),
    "bayes-change": ("change",),
    "robustness": ("base_pairs", "word_forms", "correspondence", "between_measures"),
    "seeds": ("pairs", "relations"),
    "mitigation-effect": ("rows",),
    "audit": ("verdicts", "bias", "replicates"),
    "correlate": ("groups",),
    "points": ("points",),
    "tasks": ("gaps", "metrics"),
}
"""Which lists of a result are worth a table on the page, by kind; of another kind, all that are short."""
ABOUT = {
    "reliability": "Do scores agree with themselves: over replicates, over measures, over pairs? 1 is perfect.",
    "components": "How much of the variance of scores belongs to words, pairs, replicates, measures and their mixes.",
    "decision": "How many replicates, pairs and measures a mean score needs to be dependable.",
    "factors": "What makes a word's scores reliable: a regression with words, algorithms and corpora as levels.",
    "weat": "Effect size of an association test: 0 is no difference, 2 the most.",
    "mac": "Mean cosine distance of targets from attributes: 1 is no association, less is closer.",
    "bayes": "Posterior of cosine distances by connection: 1 is unrelated, less is closer.",
    "bayes-change": "Posterior of the change of cosine distances: 0 is no change, positive is farther.",
    "robustness": "Do conclusions survive another base pair, word form or measure? Kappa: 1 is agreement, 0 chance.",
    "seeds": "Are two word lists told apart at all? Held out, a coherence of 0 means that they are not.",
    "stability": "Mean cosine of a word with itself over aligned replicates: 1 is the same place.",
    "quality": "Rank correlation of cosines with what people say about pairs of words.",
    "mitigation-effect": "Every number before and after: bias, side effects, and what can still be recovered.",
    "points": "Versions of embeddings: the effect size of an association test beside the gap of a task.",
    "tasks": "How well a task is done with these vectors, and how differently groups fare: a gap of 0 is none.",
    "correlate": "Does the intrinsic number go along with the extrinsic one? 0 is not at all.",
}
"""What the numbers of each kind mean."""
_SENTENCES = ("sentences", "verdicts", "headlines", "readings", "warnings", "notices")
_NO_COLUMN = frozenset({"sentences", "headlines", "readings", "warnings", "notices", "version", "settings"})
"""What is said elsewhere on the page."""
_CAPTIONS = {"spread": "over replicates: mean, range, and how many lie on the mean's side of no bias"}
_MOST_ROWS = 300
"""A table of more rows than that is cut; the CSV has them all."""
_MOST_POINTS = 40
_LEADING = 12
_COLOUR = "#2f6f8f"


def study_sections(summary: Mapping[str, Any]) -> dict[str, Section]:
    """All sections that this study has something for, by the name that links use."""
    sections = {"studied": _studied(summary)}
    if summary.get("failures") or summary.get("missing"):
        sections["failed"] = Section("What is missing", template="study_failures.html")
    names: dict[tuple[str, str], list[Result]] = {}
    for result in summary["results"]:
        names.setdefault((result["part"], result["name"].split("/", 1)[0]), []).append(result)
    for place, ((part, name), results) in enumerate(names.items()):
        sections[f"{part}-{place}"] = _findings(f"{part}-{place}", name, results)
    sections["repeat"] = Section("How to repeat and cite it", template="study_repeat.html")
    return sections


def _studied(summary: Mapping[str, Any]) -> Section:
    """Everything that was measured, as the study's file names it."""
    tables = []
    for part, title in INPUTS.items():
        rows = [{"name": name, **_settings(one)} for name, one in summary.get(part, {}).items()]
        if rows:
            tables.append(table(title, [{name: str(value) for name, value in row.items()} for row in rows]))
    return Section("What was studied", about=summary.get("about", ""), tables=tuple(tables))


def _settings(one: Mapping[str, Any]) -> dict[str, str]:
    return {name: _text(value) for name, value in one.items() if value not in (None, "", [], {})}


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(one)}" for name, one in value.items())
    return ", ".join(_text(one) for one in value) if isinstance(value, list | tuple) else str(value)


def _findings(key: str, name: str, results: Sequence[Result]) -> Section:
    """One analysis or task: its results for each thing that it was asked of, side by side."""
    kind = results[0]["kind"]
    known = "tasks" if results[0]["part"] == "tasks" else kind
    of = ", ".join(one["of"] for one in results if one["of"])
    parts = [part for one in results for part in _parts(one)]
    several = len(parts) > 1
    sentences = [f"{of}: {told}" if several else told for of, one in parts for told in _sentences(one)]
    named = _named_rows(known, parts)
    return Section(
        title=f"{name}: {kind}" if name != kind else kind,
        about=" ".join(filter(None, (ABOUT.get(known), f"Of {of}." if of else ""))),
        sentences=tuple(sentences[:_LEADING]),
        more=tuple(sentences[_LEADING:]),
        charts=next((drawn for caption, rows in named.items() if (drawn := _chart(key, caption, rows))), ()),
        tables=tuple(_cut(caption, rows) for caption, rows in named.items()),
    )


def _sentences(result: Mapping[str, Any]) -> list[str]:
    found = []
    for name in _SENTENCES:
        for one in result.get(name) or ():
            told = one if isinstance(one, str) else one.get("sentence") if isinstance(one, dict) else None
            found += [told] if told else []
    return found


def _parts(one: Result) -> list[tuple[str, Mapping[str, Any]]]:
    """What a result is of, and what it holds; results of replicates, and their spread, one by one."""
    whole = one["result"]
    models = whole.get("models")
    if not isinstance(models, list) or not all(isinstance(model, dict) and "result" in model for model in models):
        return [(one["of"], whole)]
    spread = [(one["of"], {"spread": whole["spread"]})] if whole.get("spread") else []
    return [*spread, *((model["model"], model["result"]) for model in models)]


def _named_rows(kind: str, parts: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, list[Row]]:
    """Rows under the caption of their table: the number of each result, then its lists."""
    named: dict[str, list[Row]] = {}
    for of, whole in parts:
        start = {"for": of} if len(parts) > 1 else {}
        result = {name: value for name, value in whole.items() if name not in _NO_COLUMN}
        alone = {name: value for name, value in tidy(result).items() if name != "model" or value != of}
        if numbers_of(alone) or alone.get("reason"):
            named.setdefault("as a whole", []).append({**start, **alone})
        for name in dict.fromkeys(("spread", *SHOWN.get(kind, tuple(result)))):
            rows = result.get(name)
            if isinstance(rows, list) and rows and all(isinstance(row, dict) for row in rows):
                named.setdefault(_CAPTIONS.get(name, name.replace("_", " ")), []).extend(
                    {**start, **tidy(row)} for row in rows
                )
    return {**{name: named[name] for name in _CAPTIONS.values() if name in named}, **named}


def _cut(caption: str, rows: list[Row]) -> Table:
    cut = f"; the first {_MOST_ROWS:,} of {len(rows):,} rows, all are in the files" if len(rows) > _MOST_ROWS else ""
    methods = sorted({one.method for row in rows for one in numbers_of(row).values()} - {""})
    told = f"; under a number its interval{' (' + ', '.join(methods) + ')' if methods else ''}"
    return table(f"{caption}{told if any(numbers_of(row) for row in rows) else ''}{cut}", rows[:_MOST_ROWS])


def _chart(key: str, caption: str, rows: Sequence[Row]) -> tuple[Chart, ...]:
    """Numbers with their intervals, a line for each row; none where they are too many or too few."""
    whole = [
        (row, name, one) for row in rows for name, one in list(numbers_of(row).items())[:1] if one.high is not None
    ]
    if not 1 < len(whole) <= _MOST_POINTS or len({name for _, name, _ in whole}) > 1:
        return ()
    texts = [{name: one for name, one in row.items() if isinstance(one, str)} for row, _, _ in whole]
    labels = _labels(texts)
    if labels is None:
        return ()
    name = whole[0][1].replace("_", " ")
    points = [
        {"row": label, "value": one.value, "low": one.low, "high": one.high}
        for label, (_, _, one) in zip(labels, whole, strict=True)
    ]
    title = f"{name} ({caption}), with intervals"
    spec = themed({"description": title, **_spec(name, points)})
    return (Chart(f"{key}-numbers", title, (), spec, (Table.of(title, points),)),)


def _labels(texts: Sequence[Mapping[str, str]]) -> list[str] | None:
    """What tells rows apart, in as few of their columns as do; None where nothing does."""
    telling = [name for name in texts[0] if len({text.get(name) for text in texts}) > 1]
    for count in range(1, len(telling) + 1):
        labels = [" · ".join(text[name] for name in telling[:count] if text.get(name)) for text in texts]
        if len(set(labels)) == len(labels):
            return labels
    return None


def _spec(name: str, points: list[dict[str, Any]]) -> dict[str, Any]:
    """A dot for each number and a line for its interval."""
    numbers = [{"field": part, "type": "quantitative"} for part in ("value", "low", "high")]
    low = {"field": "low", "type": "quantitative", "title": name, "scale": {"zero": False}}
    return {
        "datasets": {"rows": points},
        "data": {"name": "rows"},
        "width": 520,
        "height": {"step": 22},
        "encoding": {
            "y": {"field": "row", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 300}},
            "tooltip": [{"field": "row", "type": "nominal"}, *numbers],
        },
        "layer": [
            {"mark": {"type": "rule", "color": _COLOUR}, "encoding": {"x": low, "x2": {"field": "high"}}},
            {"mark": {"type": "point", "filled": True, "size": 60, "color": _COLOUR}, "encoding": {"x": numbers[0]}},
        ],
    }
