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
from biasgauge.study.step import analyses

Result = JsonObject

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
"""What the numbers of tasks mean, and which of their lists are worth a table; kinds of analysis say it themselves."""
_NO_COLUMN = frozenset({*SAID, "version", "settings"} - {"verdicts"})
"""What is said elsewhere on the page."""
_CAPTIONS = {"spread": "over replicates: mean, range, and how many lie on the mean's side of no bias"}


def study_summary(content: JsonMapping) -> Summary:
    """A study and its results as one summary.

    Args:
        content: what the study was and what it found, as JSON holds it:

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
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result["part"], result["name"].split("/", 1)[0]), []).append(result)
    kinds = analyses()
    answers = {
        group: _answer(f"{group[0]}-{number}", group[1], members)
        for number, (group, members) in enumerate(groups.items())
        if group[0] == "analyses" and members[0]["kind"] in kinds and kinds[members[0]["kind"]].kind.result
    }
    findings = [
        _findings(f"{section}-{number}", name, members)
        for number, ((section, name), members) in enumerate(groups.items())
        if (section, name) not in answers
    ]
    lost = [_missing(failures, missing)] if failures or missing else []
    sentences = [
        sentence
        for group, members in groups.items()
        if group not in answers
        for sentence in conclusions(group[1], members)
    ]
    return Summary(
        title=content.get("title") or content["name"],
        headline=_headline([section.headline for section in answers.values()] + sentences, len(groups)),
        sentences=tuple(sentences) if len(sentences) + len(answers) > 1 else (),
        about=f"a study: {content['name']}; {counted(results, 'result')}",
        warnings=tuple(_lacking(failures, missing)),
        parts=(
            *answers.values(),
            *findings,
            *lost,
            *_registered(content),
            _studied(content),
            checklist(content),
            _repeat(content),
        ),
    )


def _headline(sentences: Sequence[str], analyses_count: int) -> str:
    """The one conclusion of the study, or their number and the first, which the author put first."""
    if not sentences:
        return "No analysis has a result yet."
    if len(sentences) == 1:
        return sentences[0]
    conclusions_counted = counted(sentences, "conclusion")
    return f"{conclusions_counted} of {counted(analyses_count, 'analysis', 'analyses')}, the first: {sentences[0]}"


def _lacking(failures: Sequence[object], missing: Sequence[object]) -> Iterator[str]:
    """Warnings to read before trusting a conclusion."""
    if failures:
        yield f"{counted(failures, 'cell')} failed; what depends on them is not here."
    if missing:
        yield f"{counted(missing, 'result')} missing."


def conclusions(name: str, results: Sequence[Result]) -> Iterator[str]:
    """Conclusions of an analysis, one for each of its subjects: its own first sentence, or its number.

    Where replicates were asked, that of their spread alone.
    """
    for result in results:
        parts = _parts(result)
        subject = f"{name} of {result['of']}" if result["of"] else name
        sentence = next((sentence for _, content in parts[:1] for sentence in sentences_of(content)), None)
        sentence = sentence or _main_number(parts[0][1]) or _first_sentence(parts)
        if sentence:
            yield f"{subject}: {sentence}"


def _first_sentence(parts: Sequence[tuple[str, JsonMapping]]) -> str:
    return next((sentence for _, content in parts for sentence in sentences_of(content)), "")


def _main_number(content: JsonMapping) -> str:
    """The number that a result is about with its interval, in words; empty where there are none or several."""
    spread = content.get("spread")
    rows = [tidy(row) for row in spread] if isinstance(spread, list) else [tidy(content)]
    if len(rows) != 1:
        return ""
    name, estimate = next(iter(estimates_of(rows[0]).items()), ("", None))
    if estimate is None:
        unknown = next((cell for cell in rows[0].values() if isinstance(cell, Estimate) and cell.reason), None)
        return "" if unknown is None else f"{estimate_text(unknown)}."
    sides, models = rows[0].get("agree"), rows[0].get("models")
    same = f"; {sides} of {models} replicates lie on the same side of no bias" if sides is not None and models else ""
    test, shown = rows[0].get("test"), name.replace("_", " ")
    over = f"{test_name(test)}, mean over replicates:" if same and isinstance(test, str) else shown
    return f"{over} {estimate_text(estimate)}{same}."


def _studied(content: JsonMapping) -> Summary:
    """Everything that was measured, as the study's file names it."""
    tables = []
    for section, title in INPUTS.items():
        rows = [{"name": name, **_settings(table)} for name, table in content.get(section, {}).items()]
        if rows:
            tables.append(table_of(title, [{name: str(value) for name, value in row.items()} for row in rows]))
    about = content.get("about", "")
    return Summary("What was studied", about, tables=tuple(tables), name="studied")


def _settings(table: JsonMapping) -> dict[str, str]:
    return {name: setting_text(value) for name, value in table.items() if value not in (None, "", [], {})}


def _registered(content: JsonMapping) -> list[Summary]:
    preregistration = content.get("preregistration")
    return [] if preregistration is None else [Registered.from_dict(preregistration).summary()]


def _missing(failures: Sequence[Mapping[str, str]], missing: Sequence[str]) -> Summary:
    sentence = (
        f"{counted(failures, 'cell')} failed; what depends on them is not here. Run `biasgauge study run FILE.toml "
        "--retry-failed` to try again."
        if failures
        else ""
    )
    rows = [{"cell": failure["label"], "step": failure["step"], "error": failure["error"]} for failure in failures]
    sentences = (f"Not computed: {', '.join(missing)}.",) if missing else ()
    tables = (table_of("Failed cells", rows),) if rows else ()
    return Summary("What is missing", sentence, sentences, tables, name="failed")


def _repeat(content: JsonMapping) -> Summary:
    name, toml = content["name"], content.get("toml", "")
    where = "below" if toml else "of the study"
    keys = "\n".join(f"{result['name']}  {result['key']}" for result in content["results"])
    listings = {
        "The study itself, as a file": toml,
        "The address of each result: a checksum of everything that it depends on": keys,
    }
    return Summary(
        "How to repeat and cite it",
        f"Written by biasgauge {__version__}, seed {content.get('seed', 0)}. The same file, the same data and the same "
        f"version give the same bytes on any machine: biasgauge study run {name}.toml",
        (f"Cite the papers whose methods were used, the version of biasgauge, and the file {where}.",),
        name="repeat",
        listings=tuple(Listing(title, text) for title, text in listings.items() if text),
    )


def _findings(key: str, name: str, results: Sequence[Result]) -> Summary:
    """One analysis or task: its results for each thing that it was asked of, side by side."""
    kind = results[0]["kind"]
    analysis = analyses().get(kind)
    meaning, shown = (
        TASKS
        if results[0]["part"] == "tasks"
        else ("", ())
        if analysis is None
        else (analysis.kind.about, analysis.kind.shown)
    )
    subject = ", ".join(result["of"] for result in results if result["of"])
    parts = [item for result in results for item in _parts(result)]
    sentences = tuple(
        f"{subject}: {sentence}" if len(parts) > 1 else sentence
        for subject, content in parts
        for sentence in sentences_of(content)
    )
    named = _named_rows(shown, parts)
    charts = (chart for title, rows in named.items() if (chart := chart_of(title, rows)) is not None)
    return Summary(
        title=f"{name}: {kind}" if name != kind else kind,
        headline=" ".join(filter(None, (meaning, f"Of {subject}." if subject else ""))),
        sentences=sentences,
        tables=tuple(table_of(title, rows) for title, rows in named.items()),
        charts=tuple(charts)[:1],
        name=key,
    )


def _answer(key: str, name: str, results: Sequence[Result]) -> Summary:
    """An analysis that answers the study's question: each result as it sums itself up."""
    kind = results[0]["kind"]
    reader: Any = import_function(analyses()[kind].kind.result)
    summaries: list[Summary] = [reader.from_dict(result["result"]).summary() for result in results]
    title = f"{name}: {kind}" if name != kind else kind
    if len(summaries) == 1:
        return replace(summaries[0], title=title, name=key)
    parts = tuple(
        replace(summary, title=result["of"], name=f"{key}-{number}")
        for number, (result, summary) in enumerate(zip(results, summaries, strict=True))
    )
    return Summary(title, " ".join(f"{summary.title}: {summary.headline}" for summary in parts), parts=parts, name=key)


def _parts(result: Result) -> list[tuple[str, JsonMapping]]:
    """Subject and content of a result; results of replicates, and their spread, one by one."""
    content = result["result"]
    models = content.get("models")
    if not isinstance(models, list) or not all(isinstance(model, dict) and "result" in model for model in models):
        return [(result["of"], content)]
    spread = [(result["of"], {"spread": content["spread"]})] if content.get("spread") else []
    return [*spread, *((model["model"], model["result"]) for model in models)]


def _named_rows(shown: Sequence[str], parts: Sequence[tuple[str, JsonMapping]]) -> dict[str, list[TableRow]]:
    """Rows under the title of their table: the number of each result, then its lists."""
    named: dict[str, list[TableRow]] = {}
    for subject, content in parts:
        start = {"for": subject} if len(parts) > 1 else {}
        result = {name: value for name, value in content.items() if name not in _NO_COLUMN}
        alone = {name: value for name, value in tidy(result).items() if name != "model" or value != subject}
        undefined = any(getattr(value, "reason", None) for value in alone.values())
        if estimates_of(alone) or undefined or alone.get("reason"):
            named.setdefault("as a whole", []).append({**start, **alone})
        lists = row_lists(result)
        for name in dict.fromkeys(("spread", *(shown or result))):
            if name in lists:
                title = _CAPTIONS.get(name, name.replace("_", " "))
                named.setdefault(title, []).extend({**start, **tidy(row)} for row in lists[name])
    return {**{name: named[name] for name in _CAPTIONS.values() if name in named}, **named}
