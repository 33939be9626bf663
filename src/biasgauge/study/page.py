"""The page of a study: conclusions, failures, what was studied, and how to repeat it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from biasgauge._version import __version__
from biasgauge.core import Estimate, JsonMapping, JsonObject
from biasgauge.results import (
    SAID,
    Listing,
    Summary,
    counted,
    estimate_text,
    row_lists,
    sentences_of,
    setting_text,
    test_name,
)
from biasgauge.study.checklist import checklist
from biasgauge.study.findings import TableRow, chart_of, estimates_of, table_of, tidy
from biasgauge.study.preregistration import Registered
from biasgauge.study.settings import import_function
from biasgauge.study.step import Kind, analyses

INPUTS = {
    "corpora": "Text",
    "models": "Training recipes",
    "vectors": "Vectors that were there",
    "encoders": "Transformers",
    "mitigations": "Mitigations",
    "scores": "Scores",
}
TASKS = (
    "How well a task is done with these vectors, and how differently groups fare: a gap of 0 is none.",
    ("gaps", "metrics"),
)
"""Meaning of the numbers of tasks, and lists that are worth a table; kinds of analysis say it themselves."""
_NO_COLUMN = frozenset({*SAID, "version", "settings"} - {"verdicts"})
"""Keys that stand elsewhere on the page."""
_SPREAD = "over replicates: mean, range, and how many have the sign of the mean"


def study_summary(content: JsonMapping) -> Summary:
    """A study and its results as one summary.

    Args:
        content: the study and its results, as JSON holds them:

            - `name`, `title`, `about`, `seed`;
            - `corpora`, `models`, `vectors`, `encoders`, `mitigations`, `scores`: the tables of the study's file,
              name → settings;
            - `results`: a list of `{"name": "trust/sgns/wiki", "part": "analyses" or "tasks", "kind": "reliability",
              "of": "sgns/wiki", "key", "result": the result's to_dict}`;
            - `failures`: a list of `{"label", "step", "error"}`; `missing`: names of results that are not there;
            - `toml`: the study's file itself;
            - `preregistration`: what was done otherwise than planned, where there was a plan.

            All but `name` and `results` may be left out.
    """
    results, failures, missing = (content.get(name) or [] for name in ("results", "failures", "missing"))
    groups: dict[tuple[str, str], list[JsonObject]] = {}
    for result in results:
        groups.setdefault((result["part"], result["name"].split("/", 1)[0]), []).append(result)
    kinds = analyses()
    answers: list[Summary] = []
    findings: list[Summary] = []
    sentences: list[str] = []
    for number, ((section, name), members) in enumerate(groups.items()):
        known = kinds.get(members[0]["kind"]) if section == "analyses" else None
        if known is not None and known.kind.result:
            answers.append(_answer(f"{section}-{number}", name, members, known.kind.result))
        else:
            findings.append(_findings(f"{section}-{number}", name, members, known.kind if known else None))
            sentences += conclusions(name, members)
    preregistration = content.get("preregistration")
    return Summary(
        title=content.get("title") or content["name"],
        headline=_headline([answer.headline for answer in answers] + sentences, len(groups)),
        sentences=tuple(sentences) if len(sentences) + len(answers) > 1 else (),
        about=f"a study: {content['name']}; {counted(results, 'result')}",
        warnings=(
            *([f"{counted(failures, 'cell')} failed; what depends on them is not here."] if failures else []),
            *([f"{counted(missing, 'result')} missing."] if missing else []),
        ),
        parts=(
            *answers,
            *findings,
            *([_missing(failures, missing)] if failures or missing else []),
            *([] if preregistration is None else [Registered.from_dict(preregistration).summary()]),
            _studied(content),
            checklist(content),
            _repeat(content),
        ),
    )


def _headline(sentences: Sequence[str], analyses_count: int) -> str:
    """The one conclusion of the study, or their number and the first, which the author put first."""
    if len(sentences) < 2:
        return sentences[0] if sentences else "No analysis has a result yet."
    of_analyses = f"{counted(sentences, 'conclusion')} of {counted(analyses_count, 'analysis', 'analyses')}"
    return f"{of_analyses}, the first: {sentences[0]}"


def conclusions(name: str, results: Sequence[JsonObject]) -> Iterator[str]:
    """Conclusions of an analysis, one for each of its subjects: its own first sentence, or its number.

    Where there are replicates, that of their spread alone.
    """
    for result in results:
        contents = [content for _, content in _subjects(result)]
        firsts = [next(iter(sentences_of(content)), "") for content in contents]
        sentence = firsts[0] or _main_number(contents[0]) or next(filter(None, firsts), "")
        if sentence:
            yield f"{name} of {result['of']}: {sentence}" if result["of"] else f"{name}: {sentence}"


def _main_number(content: JsonMapping) -> str:
    """The main number of a result with its interval, in words; empty where there are none or several."""
    spread = content.get("spread")
    rows = [tidy(row) for row in spread] if isinstance(spread, list) else [tidy(content)]
    if len(rows) != 1:
        return ""
    row = rows[0]
    name, estimate = next(iter(estimates_of(row).items()), ("", None))
    if estimate is None:
        undefined = next((cell for cell in row.values() if isinstance(cell, Estimate) and cell.reason), None)
        return "" if undefined is None else f"{estimate_text(undefined)}."
    agreeing, models, test = row.get("agree"), row.get("models"), row.get("test")
    label, agreement = name.replace("_", " "), ""
    if agreeing is not None and models:
        agreement = f"; {agreeing} of {models} replicates have the sign of the mean"
        label = (
            f"{test_name(test)}, mean over replicates (interval over replicates alone):"
            if isinstance(test, str)
            else label
        )
    return f"{label} {estimate_text(estimate)}{agreement}."


def _studied(content: JsonMapping) -> Summary:
    """Everything that was measured, as the study's file names it."""
    tables = []
    for section, title in INPUTS.items():
        rows: list[TableRow] = []
        for name, table in content.get(section, {}).items():
            given = {key: setting_text(value) for key, value in table.items() if value not in (None, "", [], {})}
            rows.append({"name": name, **given})
        tables += [table_of(title, rows)] if rows else []
    return Summary("What was studied", content.get("about", ""), tables=tuple(tables), name="studied")


def _missing(failures: Sequence[Mapping[str, str]], missing: Sequence[str]) -> Summary:
    retry = "Run `biasgauge study run FILE.toml --retry-failed` to try again."
    headline = f"{counted(failures, 'cell')} failed; what depends on them is not here. {retry}" if failures else ""
    rows = [{"cell": failure["label"], "step": failure["step"], "error": failure["error"]} for failure in failures]
    sentences = (f"Not computed: {', '.join(missing)}.",) if missing else ()
    tables = (table_of("Failed cells", rows),) if rows else ()
    return Summary("What is missing", headline, sentences, tables, name="failed")


def _repeat(content: JsonMapping) -> Summary:
    toml = content.get("toml", "")
    where = "below" if toml else "of the study"
    listings = {
        "The study itself, as a file": toml,
        "The address of each result: a checksum of everything that it depends on": "\n".join(
            f"{result['name']}  {result['key']}" for result in content["results"]
        ),
    }
    return Summary(
        "How to repeat and cite it",
        f"Written by biasgauge {__version__}, seed {content.get('seed', 0)}. The same file, the same data and the same "
        f"version give the same bytes on any machine: biasgauge study run {content['name']}.toml",
        (f"Cite the papers whose methods were used, the version of biasgauge, and the file {where}.",),
        name="repeat",
        listings=tuple(Listing(title, text) for title, text in listings.items() if text),
    )


def _answer(key: str, name: str, results: Sequence[JsonObject], result_class: str) -> Summary:
    """An analysis that answers the study's question: each result as it sums itself up."""
    reader: Any = import_function(result_class)
    summaries: list[Summary] = [reader.from_dict(result["result"]).summary() for result in results]
    title = _title(name, results)
    if len(summaries) == 1:
        return replace(summaries[0], title=title, name=key)
    parts = tuple(
        replace(summary, title=result["of"], name=f"{key}-{number}")
        for number, (result, summary) in enumerate(zip(results, summaries, strict=True))
    )
    return Summary(title, " ".join(f"{part.title}: {part.headline}" for part in parts), parts=parts, name=key)


def _findings(key: str, name: str, results: Sequence[JsonObject], kind: Kind | None) -> Summary:
    """One analysis or task: its results for each of its subjects, side by side."""
    meaning, shown = TASKS if results[0]["part"] == "tasks" else (kind.about, kind.shown) if kind else ("", ())
    named = ", ".join(result["of"] for result in results if result["of"])
    subjects = [subject for result in results for subject in _subjects(result)]
    sentences = tuple(
        f"{subject}: {sentence}" if len(subjects) > 1 else sentence
        for subject, content in subjects
        for sentence in sentences_of(content)
    )
    tables = _tables_of(shown, subjects)
    charts = (chart for title, rows in tables.items() if (chart := chart_of(title, rows)) is not None)
    return Summary(
        title=_title(name, results),
        headline=" ".join(filter(None, (meaning, f"Of {named}." if named else ""))),
        sentences=sentences,
        tables=tuple(table_of(title, rows) for title, rows in tables.items()),
        charts=tuple(charts)[:1],
        name=key,
    )


def _title(name: str, results: Sequence[JsonObject]) -> str:
    kind = results[0]["kind"]
    return f"{name}: {kind}" if name != kind else kind


def _subjects(result: JsonObject) -> list[tuple[str, JsonMapping]]:
    """Subject and content of a result; the spread over replicates and then the result of each."""
    content = result["result"]
    models = content.get("models")
    if not isinstance(models, list) or not all(isinstance(model, dict) and "result" in model for model in models):
        return [(result["of"], content)]
    spread = [(result["of"], {"spread": content["spread"]})] if content.get("spread") else []
    return [*spread, *((model["model"], model["result"]) for model in models)]


def _tables_of(shown: Sequence[str], subjects: Sequence[tuple[str, JsonMapping]]) -> dict[str, list[TableRow]]:
    """Rows under the title of their table: the spread over replicates, the number of each result, then its lists."""
    tables: dict[str, list[TableRow]] = {}
    for subject, content in subjects:
        start = {"for": subject} if len(subjects) > 1 else {}
        result = {name: value for name, value in content.items() if name not in _NO_COLUMN}
        row = {name: value for name, value in tidy(result).items() if name != "model" or value != subject}
        if estimates_of(row) or row.get("reason") or any(getattr(value, "reason", None) for value in row.values()):
            tables.setdefault("as a whole", []).append({**start, **row})
        lists = row_lists(result)
        for name in dict.fromkeys(("spread", *(shown or result))):
            if name in lists:
                title = _SPREAD if name == "spread" else name.replace("_", " ")
                tables.setdefault(title, []).extend({**start, **tidy(row)} for row in lists[name])
    return {**({_SPREAD: tables[_SPREAD]} if _SPREAD in tables else {}), **tables}
