"""The sections of an audit, in order: what it comes to, then each part. A new one is one function in `SECTIONS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from biasgauge.auditing.extrinsic import HOW_TO_GET
from biasgauge.auditing.figures import bias_charts, chance_chart
from biasgauge.auditing.result import AuditResult
from biasgauge.auditing.tracking import TEST
from biasgauge.auditing.tracking import TITLE as TRACKING
from biasgauge.auditing.uncertainty import LexiconPosterior
from biasgauge.results import Chart, Column, Result, Shown, Summary, Table
from biasgauge.results.plain import to_plain
from biasgauge.results.summary import Tone
from biasgauge.stats.estimate import Estimate

MEASURABLE: dict[str, Tone] = {"measurable": "good", "partly": "caution", "undefined": "bad"}
BIAS = (
    "The contrast, in cosine units: how much closer the first target set is to the first attribute set than to the "
    "second, less the same for the second target set. Its interval speaks of other targets and other attributes of the "
    "same kind. p over targets is WEAT's permutation test, two-sided; p over attributes exchanges the attributes "
    "instead. A finding needs both. d is the effect size of Caliskan et al. 2017; its interval does not hold its level "
    "and is not shown."
)
BIAS_TABLE = "Association tests of each model by itself: contrast with its 95 % interval, both p, effect size d; MAC"
SPREAD_TABLE = (
    "Mean over models with its 95 % interval, range and standard deviation over models, and how many lie on the mean's "
    "side of no bias"
)
SHIPPED = (
    "{count} models that ship with biasgauge and differ only by their random seed: skip-gram, trained on English "
    "Wikipedia"
)
ROBUSTNESS = (
    "Gender base pairs of Zhang, Sneyd & Stevenson 2020. A set of words leans to an end of a pair when the mean score "
    "of its words differs from 0. One choice is changed at a time: another base pair, another measure, plurals for "
    "singulars. A conclusion that such a change reverses is one about the choice."
)
SEEDS = (
    "Every pair of word sets that a test or a list of pairs sets against each other, and pairings of the seed bank "
    "(after Antoniak & Mimno 2021 and its reproduction of 2022). Coherence is the distance of the two sets' mean ranks "
    "when the whole vocabulary is ranked along their subspace, as a share of the vocabulary; held out, each word is "
    "ranked along the subspace of the others, so that 0 means that the sets are not told apart."
)
UNCERTAINTY = (
    "Cosine distances of each protected word from the attributes of the stereotype about it, from those of other "
    "stereotypes, and from control words, in one hierarchical model (after Dobrzeniecka & Urbaniak 2023, with an "
    "effect of each attribute, which the published model lacks). 1 is unrelated, less is closer. A difference is "
    "inconclusive when its interval neither leaves the region of practical equivalence nor lies within it "
    "(Kruschke 2018)."
)
ERRORS = (
    "The same audit of lists that mean nothing, in these vectors: how often would it have found something? Where the "
    "attributes of a question are relabeled by a coin toss, where every word is a random one, and where the attributes "
    "are random words of like frequency. The audit promises at most {alpha}."
)
CHANCE = (
    "Contrasts of the same targets with random attributes of like frequency. Topics differ from each other along any "
    "direction: a contrast that random words give too says nothing about these attributes."
)
MOST_DRAWN = 30
"""Questions whose histograms are drawn; the table has all."""
POSTERIORS = ("groups", "contrasts", "words")
"""Charts of a posterior that a page shows."""
POINTS = (
    "Each point is an embedding: across, an intrinsic number; upwards, a gap between groups of people in an "
    "application that was trained on it. Intrinsic numbers need not say anything about an application "
    "(Goldfarb-Tarrant et al. 2021)."
)
LIMITS = (
    "What this does not say: a correlation over these embeddings is none over others, over another task or another "
    "measure of harm; it does not say that changing the one number changes the other; and no correlation seen is not "
    "none there."
)


def audit_summary(result: AuditResult) -> Summary:
    """Verdicts first, then what they rest on, part by part."""
    decisions = [verdict.decision for verdict in result.verdicts]
    counts = [f"{decisions.count(word)} {word}" for word in dict.fromkeys(decisions)]
    names = ", ".join(subject.name for subject in result.subjects if subject.role == "audited")
    parts = (make(result) for make in SECTIONS)
    return Summary(
        title=f"Bias audit of {names}",
        headline=f"{len(decisions)} questions: {', '.join(counts)}." if counts else "No question was asked.",
        about=names,
        parts=tuple(part for part in parts if part is not None),
        warnings=result.warnings,
        brief=True,
    )


def verdicts(result: AuditResult) -> Summary | None:
    """The decision on each question; those that cannot be answered are counted, and listed for who asks."""
    if not result.verdicts:
        return None
    several = len({verdict.model for verdict in result.verdicts}) > 1
    answered = [verdict for verdict in result.verdicts if verdict.decision != "not-measurable"]
    rest = [verdict for verdict in result.verdicts if verdict.decision == "not-measurable"]
    rows = [(verdict.question, verdict.model, verdict.why) for verdict in rest]
    columns: list[Column | str] = ["question", "model", "reason"]
    table = Table.of("not-measurable", f"{_questions(len(rest))} be measured", columns, rows, folded=True)
    told = [verdict.sentence for verdict in rest if verdict.test == TEST]  # it asks points, not words
    if count := len(rest) - len(told):
        told.append(f"{_questions(count)} be answered: too few of {'its' if count == 1 else 'their'} words were found.")
    return Summary(
        title="Conclusions",
        headline="",
        name="verdicts",
        question="May the answers be reported?",
        sentences=tuple(told),
        tables=(table,) if rest else (),
        parts=tuple(verdict.summary(several=several) for verdict in answered),
    )


def _questions(count: int) -> str:
    return "1 question cannot" if count == 1 else f"{count} questions cannot"


def change(result: AuditResult) -> Summary | None:
    """Bias, side effects and what is left, before and after."""
    if result.change is None:
        return None
    about = (
        "What became of the bias, what moved that should not have, and what can still be recovered "
        "(Gonen & Goldberg 2019)."
    )
    return _part(result.change, "change", "What did the change do?", about)


def bias(result: AuditResult) -> Summary | None:
    """Association tests with intervals and p."""
    if not result.bias:
        return None
    rows_of = [to_plain(one) for one in result.bias]
    several = ["model"] if len({content["model"] for content in rows_of}) > 1 else []
    columns: list[Column | str] = [
        "concept", "test", *several, Column("value", "estimate", 3), Column("p over targets", "p"),
        Column("p over attributes", "p"), Column("d", "number"), "sets",
    ]  # fmt: skip
    rows = []
    for content in rows_of:
        sets, weat = content["sets"], content["test"] == "weat"
        number = (content.get("contrast") or {}) if weat else {**(content["interval"] or {}), "value": content["value"]}
        value = Estimate(
            value=number.get("value"), low=number.get("low"), high=number.get("high"), reason=content["reason"]
        )
        of = f"{sets['x']} / {sets['y']} and {sets['a']} / {sets['b']}" if "y" in sets else "protected, attributes"
        start = (content["name"], content["test"], *([content["model"]] if several else []))
        p_values = [content.get(name) for name in ("p_value", "p_attributes")]
        rows.append((*start, value, *p_values, content.get("effect_size"), of))
    defined = sum(content["reason"] is None for content in rows_of)
    return Summary(
        title="Bias by concept",
        headline=f"{defined} of {len(rows)} association tests are defined.",
        name="bias",
        about=BIAS,
        charts=bias_charts(result),
        tables=(Table.of("bias", BIAS_TABLE, columns, rows),),
    )


def replicates(result: AuditResult) -> Summary | None:
    """The same tests over replicates."""
    if not result.spread:
        return None
    count = len(result.replicates)
    which = (
        SHIPPED.format(count=count) if result.settings["shipped"] else f"{count} models that differ by seed or sample"
    )
    columns: list[Column | str] = [
        "concept", "test", Column("mean", "estimate"), Column("least", "number"), Column("most", "number"),
        Column("standard deviation", "number", 3), Column("same side", "share"), Column("models", "count"),
    ]  # fmt: skip
    rows = [
        (
            one.name,
            one.test,
            Estimate(value=one.mean, low=one.low, high=one.high, reason=one.reason),
            one.least,
            one.most,
            one.sd,
            None if one.agree is None else Shown(one.agree / one.models, f"{one.agree} of {one.models}"),
            one.models,
        )
        for one in result.spread
    ]
    known = [one for one in result.spread if one.agree is not None]
    same = sum(one.agree == one.models for one in known)
    return Summary(
        title="Over replicates",
        headline=f"{same} of {len(known)} tests lie on the same side of no bias in all models.",
        name="replicates",
        about=f"The same tests on {which}. A finding that changes its sign with the random seed is no finding.",
        tables=(Table.of("replicates", SPREAD_TABLE, columns, rows),),
    )


def explorer(result: AuditResult) -> Summary | None:
    """Any word of the page's vocabulary, under every measure and pair."""
    found = result.explorer
    if found is None:
        return None
    if not hasattr(found, "packed"):
        return Summary("Look up a word", "Scores are not kept in the JSON of an audit.", name="explorer")
    return found.summary(shipped=bool(result.settings["shipped"]))


def reliability(result: AuditResult) -> Summary:
    """The reliabilities as distributions, what scores vary with, and which designs are enough."""
    shipped = " that ship with biasgauge" if result.settings["shipped"] else ""
    about = (
        f"Scores of the word lists of Du et al. 2021 on {len(result.replicates)} models{shipped}: do they hold when "
        "the model is trained again, do measures agree, do the words of a query measure one thing?"
    )
    return _part(result.reliability, "reliability", "Can the measurement be trusted?", about)


def robustness(result: AuditResult) -> Summary:
    """Which conclusions flip when a reasonable choice changes."""
    of = f" Of {result.models[0].name}." if len(result.models) > 1 else ""
    title = "Do conclusions survive another choice?"
    return _part(result.robustness, "robustness", title, ROBUSTNESS + of)


def seeds(result: AuditResult) -> Summary | None:
    """Whether the word lists are fit to measure anything."""
    return None if result.seeds is None else _part(result.seeds, "seeds", "Are the word lists fit for it?", SEEDS)


def uncertainty(result: AuditResult) -> Summary | None:
    """Posteriors with their intervals; charts of the first model alone, a group for each lexicon; numbers of all."""
    if not result.uncertainty:
        return None
    several = len({to_plain(one)["model"] for one in result.uncertainty}) > 1
    first = result.models[0].name
    charts: list[Chart] = []
    sentences: list[str] = []
    rows: list[tuple[Any, ...]] = []
    for one in result.uncertainty:
        content = to_plain(one)
        of = f" ({content['model']})" if several else ""
        sentences += [f"{sentence}{of}" for sentence in content["sentences"]]
        if isinstance(one, LexiconPosterior) and one.posterior is not None and one.model == first:
            own = {chart.name: chart for chart in one.posterior.summary().charts}
            charts += [replace(own[name], group=one.lexicon) for name in POSTERIORS if name in own]
        groups = content["groups"] or [{"connection": None, "reason": content.get("reason")}]
        for group in groups:
            mean, low, high, sd, reason = (group.get(name) for name in ("mean", "low", "high", "sd", "reason"))
            estimate = Estimate(value=mean, low=low, high=high, reason=reason)
            model = [content["model"]] if several else []
            rows.append((content["lexicon"], *model, group["connection"], estimate, sd))
    columns: list[Column | str] = [
        "lexicon", *(["model"] if several else []), "connection", Column("mean", "estimate", 3),
        Column("standard deviation", "number", 3),
    ]  # fmt: skip
    title = "Mean cosine distance: posterior mean, interval and standard deviation"
    return Summary(
        title="How sure are the associations?",
        headline="",
        name="uncertainty",
        about=UNCERTAINTY + (f" The charts are of {first}." if several else ""),
        sentences=tuple(sentences),
        charts=tuple(charts),
        tables=(Table.of("uncertainty", title, columns, rows),),
    )


def error_rates(result: AuditResult) -> Summary | None:
    """How often lists that mean nothing would have been found to mean something."""
    if not result.error_rates:
        return None
    columns: list[Column | str] = [
        "vectors", "lists", Column("audits", "count"), Column("found something", "count"),
        Column("share", "estimate", 3),
    ]  # fmt: skip
    rows = [
        (one.subject, one.about, one.audits, one.found, Estimate(value=one.rate, low=one.low, high=one.high))
        for one in result.error_rates
    ]
    worst = max(result.error_rates, key=lambda one: one.rate)
    about = ERRORS.format(alpha=f"{100 * worst.alpha:g} %")
    return Summary(
        title="How often would it be wrong?",
        headline=(
            f"Of {worst.audits} audits of lists that mean nothing, at most {100 * worst.rate:.1f} % would have found "
            f"an association ({worst.about})."
        ),
        name="error-rates",
        about=about,
        tables=(Table.of("error-rates", "Audits of meaningless lists in these vectors", columns, rows),),
    )


def chance(result: AuditResult) -> Summary | None:
    """Contrasts with random attributes beside those measured."""
    if not result.chance:
        return None
    first = [one for one in result.chance if one.model == result.subjects[0].name]
    columns: list[Column | str] = [
        "question", "vectors", Column("contrast", "number", 3), Column("95 % of random lists below", "number", 3),
    ]  # fmt: skip
    rows = [(one.question, one.model, one.contrast, one.band) for one in result.chance]
    outside = sum(abs(one.contrast) > one.band for one in result.chance)
    return Summary(
        title="What would random words give?",
        headline=f"{outside} of {len(rows)} contrasts are larger than those of 95 % of random lists.",
        name="chance",
        about=CHANCE,
        charts=(chance_chart(first[:MOST_DRAWN]),) if first else (),
        tables=(Table.of("chance", "Contrasts of random attributes, and those measured", columns, rows),),
    )


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
        unknown = f"Unknown: {HOW_TO_GET}."
        return Summary(TRACKING, unknown, name="extrinsic", about=about, charts=tuple(charts), parts=parts)
    found = _part(result.extrinsic, "extrinsic", TRACKING, POINTS)
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
    for one in result.lexicons:
        start = (Shown(one.lexicon, one.lexicon, one.title), one.kind, *([one.model] if several else []))
        words = one.coverage
        rows.append((*start, words.found, words.asked, words.share, one.verdict, one.reason, words.lost))
    counts = [result.count(state) for state in ("measurable", "partly", "undefined")]
    least = f"{100 * result.settings['min_coverage']:.0f} %"
    case = " (another case counts)" if result.settings["case_fallback"] else ""
    rescued = sum(one.case_to_blame for one in result.lexicons)
    told = f"{rescued} lack words only because of upper and lower case: try again with case fallback (--case-fallback)."
    return Summary(
        title="What can be measured",
        headline=f"{counts[0]} lexicons can be measured, {counts[1]} in part, {counts[2]} cannot.",
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
    table = Table.of("vectors", "Lengths are Euclidean", columns, rows)
    return Summary("Vectors", f"{shapes}.", name="vectors", tables=(table,))


def settings(result: AuditResult) -> Summary:
    """Everything that decides the result."""
    rows = [(name.replace("_", " "), _text(value)) for name, value in result.settings.items()]
    table = Table.of("settings", "Everything that decides the result", ["setting", "value"], rows)
    return Summary("Settings", "", name="settings", tables=(table,))


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else "none" if value is None else str(value)


def _part(result: Result, name: str, title: str, about: str) -> Summary:
    """A result's own summary as a section of the page."""
    return replace(result.summary(), name=name, title=title, about=about)


SECTIONS: Sequence[Callable[[AuditResult], Summary | None]] = (
    verdicts,
    change,
    bias,
    replicates,
    explorer,
    reliability,
    robustness,
    seeds,
    uncertainty,
    error_rates,
    chance,
    extrinsic,
    lexicons,
    vectors,
    settings,
)
