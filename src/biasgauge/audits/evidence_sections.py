"""Sections of an audit that say how far its numbers can be trusted: replicates, reliability, other choices, chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from biasgauge.analyses.robustness import HOLDS, TONES, Flip
from biasgauge.audits.figures import bias_charts
from biasgauge.audits.result import AuditResult
from biasgauge.audits.uncertainty import LexiconPosterior
from biasgauge.core import Estimate, to_plain
from biasgauge.results import (
    Chart,
    Column,
    Result,
    Shown,
    Summary,
    Table,
    counted,
    level_text,
    lexicon_name,
    list_name,
    measure_name,
    share_text,
)

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
    "Contrasts of the same targets with random attributes of like frequency; along base pairs, of random targets. "
    "Topics differ from each other along any direction: a contrast that random words give too says nothing about these."
)
POSTERIORS = ("groups", "contrasts", "words")
"""Charts of a posterior that a page shows."""


def bias(result: AuditResult) -> Summary | None:
    """Association tests with intervals and p."""
    if not result.bias:
        return None
    rows_of = [to_plain(row) for row in result.bias]
    several = ["model"] if len({content["model"] for content in rows_of}) > 1 else []
    columns: list[Column | str] = [
        "concept", Column("test", "name"), *several, Column("value", "estimate", 3), Column("p over targets", "p"),
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
        start = (_concept(content["name"]), content["test"], *([content["model"]] if several else []))
        p_values = [content.get(name) for name in ("p_value", "p_attributes")]
        rows.append((*start, value, *p_values, content.get("effect_size"), of))
    tests = {(content["name"], content["test"]): True for content in rows_of}
    for content in rows_of:  # a test counts once, whatever the number of models
        tests[content["name"], content["test"]] &= content["reason"] is None
    return Summary(
        title="Bias by concept",
        headline=f"{sum(tests.values())} of {counted(tests, 'association test is', 'association tests are')} defined.",
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
        "concept", Column("test", "name"), Column("mean", "estimate"), Column("least", "number"),
        Column("most", "number"), Column("standard deviation", "number", 3), Column("same side", "share"),
        Column("models", "count"),
    ]  # fmt: skip
    rows = [
        (
            _concept(row.name),
            row.test,
            Estimate(value=row.mean, low=row.low, high=row.high, reason=row.reason),
            row.least,
            row.most,
            row.sd,
            None if row.agree is None else Shown(row.agree / row.models, f"{row.agree} of {row.models}"),
            row.models,
        )
        for row in result.spread
    ]
    known = [row for row in result.spread if row.agree is not None]
    same = sum(row.agree == row.models for row in known)
    return Summary(
        title="Over replicates",
        headline=f"{same} of {counted(known, 'test lies', 'tests lie')} on the same side of no bias in all models.",
        name="replicates",
        about=f"The same tests on {which}. A finding that changes its sign with the random seed is no finding.",
        tables=(Table.of("replicates", SPREAD_TABLE, columns, rows, folded=True),),
    )


def reliability(result: AuditResult) -> Summary:
    """The reliabilities as distributions, what scores vary with, and which designs are enough."""
    shipped = " that ship with biasgauge" if result.settings["shipped"] else ""
    lists = ", ".join(lexicon_name(words.name) for words in getattr(result.reliability, "lists", ())) or "the lists"
    about = (
        f"Scores of the words of {lists} on {len(result.replicates)} models{shipped}: do they hold when the model is "
        "trained again, do measures agree, do the words of a query measure one thing?"
    )
    return as_section(result.reliability, "reliability", "How steady is the ruler?", about)


def robustness(result: AuditResult) -> Summary:
    """Which conclusions flip when a reasonable choice changes."""
    of = f" Of {result.models[0].name}." if len(result.models) > 1 else ""
    title = "Does it survive other choices?"
    found = as_section(result.robustness, "robustness", title, ROBUSTNESS + of)
    flips = getattr(result.robustness, "flips", None)
    return found if flips is None else replace(found, tables=(choices_matrix(flips.rows), *found.tables))


def choices_matrix(flips: Sequence[Flip]) -> Table:
    """What becomes of each conclusion under each change: changes down, word lists across."""
    lists = dict.fromkeys(flip.concept for flip in flips)
    changes = dict.fromkeys((flip.choice, flip.new) for flip in flips)
    outcomes = {(flip.choice, flip.new, flip.concept): flip.outcome for flip in flips}
    columns: list[Column | str] = ["change", *(Column(list_name(name), "mark", tones=TONES) for name in lists)]
    rows = [
        (f"{choice}: {measure_name(new)}", *(outcomes.get((choice, new, name)) for name in lists))
        for choice, new in changes
    ]
    kept = sum(flip.outcome == HOLDS for flip in flips)
    title = f"{kept} of {counted(flips, 'conclusion holds', 'conclusions hold')} when one choice changes"
    return Table.of("choices", title, columns, rows)


def seeds(result: AuditResult) -> Summary | None:
    """Whether the word lists are fit to measure anything."""
    return None if result.seeds is None else as_section(result.seeds, "seeds", "Are the word lists fit?", SEEDS)


def uncertainty(result: AuditResult) -> Summary | None:
    """Posteriors with their intervals; charts of the first model alone, a group for each lexicon; numbers of all."""
    if not result.uncertainty:
        return None
    several = len({to_plain(row)["model"] for row in result.uncertainty}) > 1
    first = result.models[0].name
    charts: list[Chart] = []
    sentences: list[str] = []
    rows: list[tuple[Any, ...]] = []
    for row in result.uncertainty:
        content = to_plain(row)
        of = f" ({content['model']})" if several else ""
        sentences += [f"{sentence}{of}" for sentence in content["sentences"]]
        if isinstance(row, LexiconPosterior) and row.posterior is not None and row.model == first:
            own = {chart.name: chart for chart in row.posterior.summary().charts}
            charts += [replace(own[name], group=row.lexicon) for name in POSTERIORS if name in own]
        groups = content["groups"] or [{"connection": None, "reason": content.get("reason")}]
        for group in groups:
            mean, low, high, sd, reason = (group.get(name) for name in ("mean", "low", "high", "sd", "reason"))
            estimate = Estimate(value=mean, low=low, high=high, reason=reason)
            model = [content["model"]] if several else []
            rows.append((_concept(content["lexicon"]), *model, group["connection"], estimate, sd))
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
        (rate.subject, rate.about, rate.audits, rate.found, Estimate(value=rate.rate, low=rate.low, high=rate.high))
        for rate in result.error_rates
    ]
    worst = max(result.error_rates, key=lambda rate: rate.rate)
    about = ERRORS.format(alpha=level_text(worst.alpha))
    return Summary(
        title="How often would it be wrong?",
        headline=(
            f"Of {worst.audits} audits of lists that mean nothing, at most {share_text(worst.rate, 1)} would have "
            f"found an association ({worst.about})."
        ),
        name="error-rates",
        about=about,
        tables=(Table.of("error-rates", "Audits of meaningless lists in these vectors", columns, rows),),
    )


def chance(result: AuditResult) -> Summary | None:
    """Contrasts with random attributes beside those measured."""
    if not result.chance:
        return None
    columns: list[Column | str] = [
        "question", "vectors", Column("contrast", "number", 3), Column("95 % of random lists below", "number", 3),
    ]  # fmt: skip
    rows = [(_concept(band.question), band.model, band.contrast, band.band) for band in result.chance]
    outside = sum(abs(band.contrast) > band.band for band in result.chance)
    return Summary(
        title="What would random words give?",
        headline=f"{outside} of {counted(rows, 'contrast is', 'contrasts are')} larger than those of 95 % of "
        "random lists.",
        name="chance",
        about=CHANCE,
        tables=(Table.of("chance", "Contrasts of random words, and those measured", columns, rows, folded=True),),
    )


def _concept(name: str) -> Shown:
    """What a lexicon is called, where files have the name that is typed."""
    return Shown(name, lexicon_name(name))


def as_section(result: Result, name: str, title: str, about: str) -> Summary:
    """A result's own summary as a section of the page."""
    return replace(result.summary(), name=name, title=title, about=about)
