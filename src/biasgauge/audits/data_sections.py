"""Sections of an audit about its data: words to look up, applications, lexicons, vectors, settings."""

from __future__ import annotations

from dataclasses import replace

from biasgauge.audits.evidence_sections import as_section
from biasgauge.audits.result import MEASURABLE as VERDICTS
from biasgauge.audits.result import AuditResult
from biasgauge.audits.tracking import TITLE as TRACKING
from biasgauge.results import Column, Listing, Shown, Summary, Table, Tone, counted, setting_text, share_text

MEASURABLE: dict[str, Tone] = {"measurable": "good", "partly": "caution", "undefined": "bad"}
POINTS = (
    "Each point is an embedding: across, an intrinsic number; upwards, a gap between groups of people in an "
    "application that was trained on it. Intrinsic numbers need not say anything about an application "
    "(Goldfarb-Tarrant et al. 2021)."
)
UNKNOWN = (
    "An association in vectors need not show in an application that uses them, and an application can be unfair "
    "without one (Goldfarb-Tarrant et al. 2021). This audit says nothing about either."
)
COMMANDS = """\
# an intrinsic number for each of several embeddings
biasgauge weat a.bin --test weat7 --json
# a task trained on each, and gaps between groups of people
biasgauge extrinsic TASK --vectors a.bin --data DATA --json > a.json
# points.csv: one row per embedding, columns weat and gap
biasgauge correlate points.csv --x weat --y gap
biasgauge audit a.bin --points points.csv --tasks a.json"""
LIMITS = (
    "What this does not say: a correlation over these embeddings is none over others, over another task or another "
    "measure of harm; it does not say that changing the one number changes the other; and no correlation seen is not "
    "none there."
)


def explorer(result: AuditResult) -> Summary | None:
    """Any word of the page's vocabulary, under every measure and pair."""
    found = result.explorer
    if found is None:
        return None
    if not hasattr(found, "packed"):
        return Summary("Explore a word", "Scores are not kept in the JSON of an audit.", name="explorer")
    return found.summary(shipped=bool(result.settings["shipped"]))


def extrinsic(result: AuditResult) -> Summary:
    """Points and correlations, then the gaps of each task; or how to get points."""
    tasks = [task.summary() for task in result.tasks]
    names: list[str] = []
    for task in tasks:
        same = names.count(task.title)
        names.append(f"{task.title} ({same + 1})" if same else task.title)
    charts = [
        replace(chart, group=name if len(tasks) > 1 else "")
        for name, task in zip(names, tasks, strict=True)
        for chart in task.charts
    ]
    parts = tuple(replace(task, charts=(), title=name) for name, task in zip(names, tasks, strict=True))
    about = (
        "What applications that were trained on vectors do: how differently groups of people fare. " if tasks else ""
    )
    if result.extrinsic is None:
        return Summary(
            "Does it matter in use?",
            "Unknown: no application was measured.",
            (UNKNOWN,),
            name="extrinsic",
            about=about,
            charts=tuple(charts),
            parts=parts,
            listings=(Listing("How to find out: four commands", COMMANDS),),
        )
    found = as_section(result.extrinsic, "extrinsic", TRACKING, POINTS)
    sentences = (*found.sentences, LIMITS)
    return replace(found, sentences=sentences, charts=(*found.charts, *charts), parts=(*found.parts, *parts))


def lexicons(result: AuditResult) -> Summary:
    """Every lexicon with its lost words."""
    several = ["model"] if len(result.models) > 1 else []
    state = Column("verdict", "mark", tones=MEASURABLE)
    columns: list[Column | str] = [
        "lexicon", "kind", *several, Column("found", "count"), Column("of", "count"), Column("share", "share"), state,
        "reason", Column("not in the vocabulary (OOV)", "words"),
    ]  # fmt: skip
    rows = []
    for lexicon in result.lexicons:
        start = (
            Shown(lexicon.lexicon, lexicon.lexicon, lexicon.title),
            lexicon.kind,
            *([lexicon.model] if several else []),
        )
        words = lexicon.coverage
        rows.append((*start, words.found, words.asked, words.share, lexicon.verdict, lexicon.reason, words.lost))
    counts = [result.count(state) for state in VERDICTS]
    least = share_text(result.settings["min_coverage"])
    case = " (another case counts)" if result.settings["case_fallback"] else ""
    rescued = len({lexicon.lexicon for lexicon in result.lexicons if lexicon.case_to_blame})
    told = f"{rescued} lack words only because of upper and lower case: try again with case fallback (--case-fallback)."
    return Summary(
        title="What can be measured",
        headline=f"{counted(counts[0], 'lexicon')} can be measured, {counts[1]} in part, {counts[2]} cannot.",
        name="lexicons",
        about=(
            f"A lexicon can be measured when at least {least} of each of its sets is in the vocabulary{case}. A number "
            "from fewer words would look like any other, and mean less."
        ),
        sentences=(told,) if rescued else (),
        tables=(Table.of("lexicons", "Which lexicons can be measured, and which words are lost", columns, rows),),
    )


def vectors(result: AuditResult) -> Summary:
    """The vectors themselves."""
    lengths = [Column(f"{name} length", "number") for name in ("smallest", "median", "largest")]
    columns: list[Column | str] = [
        "model", Column("words", "count"), Column("dimensions", "count"), "stored as", *lengths,
        "SHA-256 of words and vectors",
    ]  # fmt: skip
    rows = [
        (
            model.name,
            model.words,
            model.dim,
            f"{model.format}, {model.precision}",
            *(model.length_quantiles.get(level) for level in (0.0, 0.5, 1.0)),
            model.checksum,
        )
        for model in result.models
    ]
    shapes = "; ".join(f"{model.name}: {model.words:,} words × {model.dim}" for model in result.models)
    table = Table.of("vectors", "The vectors in numbers; lengths are Euclidean", columns, rows, folded=True)
    return Summary("Vectors", f"{shapes}.", name="vectors", tables=(table,))


def settings(result: AuditResult) -> Summary:
    """Everything that decides the result."""
    rows = [(name.replace("_", " "), setting_text(value)) for name, value in result.settings.items()]
    table = Table.of("settings", "Everything that decides the result", ["setting", "value"], rows)
    return Summary("Settings", "", name="settings", tables=(table,))
