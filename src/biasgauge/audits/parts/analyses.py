"""Parts that run one analysis of the package each: reliability, robustness, specification curves, quality of seeds.

An analysis is imported where it is run, so that an audit without it does not load it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from biasgauge import registry
from biasgauge.audits.part import NOT_REQUESTED, NotMeasured, PartRows, ShippedPart
from biasgauge.core import JsonMapping
from biasgauge.errors import InputError
from biasgauge.lexicons import pairs_of
from biasgauge.results import Column, Result, Summary, Table, counted, lexicon_name, list_name, measure_name

if TYPE_CHECKING:
    from biasgauge.analyses.robustness import Flip
    from biasgauge.audits.context import AuditContext
    from biasgauge.audits.result import AuditResult

FREQUENT = 10_000
"""Frequent words whose scores give the standard deviation that makes a change relevant; more of them take seconds."""
RELIABILITIES = ("test_retest", "inter_rater", "internal")
ROBUSTNESS = ("base_pairs", "word_forms", "correspondence", "between_measures", "flips", "headlines")
"""Keys of the JSON of both parts whose lists are empty where nothing was measured."""
ONE_MODEL = "one model cannot say whether its numbers hold: train replicates (biasgauge train --seeds 8)"


def measure_reliability(context: AuditContext) -> Result:
    """Test–retest, inter-rater and internal reliability over all models; components of all measures together.

    Without replicates, base pairs or word lists there is a reason instead.
    """
    if not context.whole_battery:
        return NotMeasured(NOT_REQUESTED, RELIABILITIES)
    models, language = context.replicates or list(context.models), context.language
    reason = ONE_MODEL if len(models) < 2 else language.lacks("base_pairs", "scored_words")
    if reason:
        return NotMeasured(reason, RELIABILITIES)
    from biasgauge.analyses.reliability import NotAnalyzed, decision_study, reliability, variance_components

    try:
        scores = context.scores.of_lists(models)
        result = reliability(
            scores,
            lists=_unless_registered(language.named("scored_words")),
            queries=_unless_registered(language.named("queries")),
            min_coverage=context.policy.min_coverage,
            target=None,
            random_state=context.random_state,
        )
    except InputError as problem:
        return NotMeasured(str(problem), RELIABILITIES)
    try:
        components = variance_components(scores, random_state=context.random_state)
        return replace(result, components=(components,), design=(decision_study(components, fixed=components.choices),))
    except InputError as problem:  # too few words for components; the reliabilities stand
        unknown = NotAnalyzed(None, str(problem))
        return replace(result, components=(unknown,), design=(unknown,))


def _unless_registered(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Lists beside a file of the user's own; None for registered ones, found by default, with unlisted words."""
    return None if set(names) <= set(registry.names("lexicon")) else names


def summarize_reliability(result: Result, audit: AuditResult) -> Summary:
    """Reliabilities as distributions, what scores vary with, and which designs are enough."""
    lists = ", ".join(lexicon_name(words.name) for words in getattr(result, "lists", ())) or "the lists"
    about = (
        f"Scores of the words of {lists} on {len(audit.replicated_models)} models: test–retest reliability over "
        "training runs, agreement of measures (inter-rater), and internal consistency of the words of a query."
    )
    return replace(result.summary(), about=about)


def write_reliability(result: Result) -> dict[str, Any]:
    """Return the JSON of the part: components and designs of all measures together, or why there are none."""
    content: dict[str, Any] = {"components": None, "design": None, **result.to_dict()}
    if isinstance(content["components"], list):
        parts = {name: next(iter(content[name]), None) for name in ("components", "design")}
        reason = (parts["components"] or {}).get("reason")
        content |= {"components": None, "design": None, "reason": reason} if reason else parts
    return content


def measure_robustness(context: AuditContext) -> Result:
    """Change pair, measure and form for the gender pairs of the language; where it has none, the reason."""
    if not context.whole_battery:
        return NotMeasured(NOT_REQUESTED, ROBUSTNESS)
    from biasgauge.analyses.robustness import flips, forms_and_cases, neutral, robustness

    model, language = context.models[0], context.language
    if reason := language.lacks("other_pairs", "occupations", "concepts"):
        return NotMeasured(reason, ROBUSTNESS)
    pairs = language.named("other_pairs")[0]
    try:
        pool = neutral(model, pairs_of(pairs).pairs, language=language) or None
        turned = flips(
            model,
            concepts=language.named("concepts"),
            pairs=pairs,
            forms=forms_and_cases(language, "capitalized"),
            pool=pool,
            policy=context.policy,
        )
        result = robustness(
            model,
            pairs=pairs,
            words=language.named("occupations")[0],
            truths=language.named("truths") or None,
            pool=pool,
            forms=forms_and_cases(language),
            pair_forms=(),
            frequent=FREQUENT,
            policy=context.policy,
            random_state=context.random_state,
        )
    except InputError as problem:
        return NotMeasured(str(problem).rstrip("."), ROBUSTNESS)
    return replace(result, flips=turned)


def summarize_robustness(result: Result, audit: AuditResult) -> Summary:
    """Section on the conclusions that flip when a reasonable choice changes."""
    about = (
        "Gender base pairs of Zhang, Sneyd & Stevenson 2020. A set of words leans to an end of a pair when the mean "
        "score of its words differs from 0. One choice is changed at a time: another base pair, another measure, "
        "plurals for singulars. A conclusion that such a change reverses reflects the choice, not the vectors."
    )
    about += f" Measured in {audit.models[0].name}." if len(audit.models) > 1 else ""
    overview = replace(result.summary(), about=about)
    flips = getattr(result, "flips", None)
    if flips is None:
        return overview
    from biasgauge.analyses.robustness import HOLDS

    holding = sum(flip.outcome == HOLDS for flip in flips.rows)
    return replace(
        overview,
        headline=f"{holding} of {counted(flips.rows, 'conclusion holds', 'conclusions hold')} when one choice changes.",
        sentences=(overview.headline, *overview.sentences),
        tables=(choices_matrix(flips.rows), *overview.tables),
    )


def choices_matrix(flips: Sequence[Flip]) -> Table:
    """Table of each conclusion under each change: changes down, word lists across."""
    from biasgauge.analyses.robustness import TONES

    lists = dict.fromkeys(flip.concept for flip in flips)
    changes = dict.fromkeys((flip.choice, flip.new) for flip in flips)
    outcomes = {(flip.choice, flip.new, flip.concept): flip.outcome for flip in flips}
    columns: list[Column | str] = ["change", *(Column(list_name(name), "mark", tones=TONES) for name in lists)]
    rows = [
        (f"{choice}: {measure_name(new)}", *(outcomes.get((choice, new, name)) for name in lists))
        for choice, new in changes
    ]
    return Table.of("choices", "Conclusions after one changed choice", columns, rows)


def write_robustness(result: Result, audit: AuditResult) -> dict[str, Any]:
    """Return the JSON of the part, with the model that it is about."""
    return {"model": audit.models[0].name, **result.to_dict()}


def read_robustness(content: JsonMapping) -> Result:
    """Read the changes of pair, measure and form back from the JSON of an audit; the reason where there are none."""
    from biasgauge.analyses.robustness import RobustnessResult

    measured = not isinstance(content, Mapping) or "settings" in content
    return (RobustnessResult if measured else NotMeasured).from_dict(content)


def measure_seeds(context: AuditContext) -> Result:
    """Coherence and overlap of every two sets that a lexicon compares."""
    from biasgauge.analyses.seeds import seed_cards

    cards = seed_cards(
        list(context.subjects[0].models),
        list(context.lexicons),
        language=context.language if context.whole_battery else None,
        policy=context.policy,
        random_state=context.random_state,
    )
    return NotMeasured("no lexicon sets two sets of words against each other", ("pairs",)) if cards is None else cards


def summarize_seeds(result: Result) -> Summary | None:
    """Cards of the word lists; nothing where no sets are compared."""
    if isinstance(result, NotMeasured) or not result.to_dict().get("pairs"):
        return None
    about = (
        "Every pair of word sets that a test or a list of pairs sets against each other, and pairings of the seed bank "
        "(after Antoniak & Mimno 2021 and its reproduction of 2022). Coherence is the distance of the two sets' mean "
        "ranks when the whole vocabulary is ranked along their subspace, as a share of the vocabulary; held out, each "
        "word is ranked along the subspace of the others, so that 0 means that the sets are indistinguishable."
    )
    return replace(result.summary(), about=about)


def measure_views(context: AuditContext) -> PartRows | None:
    """Run every association test under every view of every transformer; None where there is no transformer."""
    viewed = [subject for subject in context.subjects if subject.viewed and subject.replicated]
    if not viewed:
        return None
    from biasgauge.analyses.robustness import specification_curve
    from biasgauge.audits.measurement import Measured
    from biasgauge.audits.parts.null_lists import smallest_contrast

    rules, curves = context.rules, []
    for subject in viewed:
        measured = [item for item in context.outcomes if item.subject is subject and isinstance(item, Measured)]
        smallest = rules.smallest or (smallest_contrast(subject, measured, context.random_state) if measured else None)
        tests = [lexicon for lexicon in context.lexicons if lexicon.kind == "test"]
        curves += [
            specification_curve(
                list(subject.models), test, agreement=rules.agreement, alpha=rules.alpha, smallest=smallest,
                policy=context.policy, random_state=context.random_state,
            )
            for test in tests
        ]  # fmt: skip
    return PartRows(tuple(curves))


def read_views(content: list[object]) -> PartRows:
    """Read the curves back from the JSON of an audit."""
    from biasgauge.analyses.robustness import SpecificationCurve

    return PartRows.reader(SpecificationCurve.from_dict)(content)


def summarize_views(result: PartRows) -> Summary | None:
    """Section on what layer, pooling and template do to each test."""
    curves = [curve for curve in result.rows if curve.defined]
    if not result.rows:
        return None
    turning = sum(0 < curve.positive < curve.defined for curve in curves)
    return Summary(
        "Views",
        f"In {turning} of {counted(curves, 'test')} the direction changes with layer, pooling or template.",
        question="layers, poolings and templates",
        parts=tuple(curve.summary() for curve in curves),
    )


PART = (
    ShippedPart(
        "specifications", "Layers, poolings and templates", measure_views, summarize_views, order=30,
        stage="layers and templates", read=read_views, anchor="views",
    ),
    ShippedPart(
        "reliability", "Reliability over training runs", measure_reliability, summarize_reliability, order=50,
        stage="reliability", write=write_reliability,
    ),
    ShippedPart(
        "robustness", "Robustness to other reasonable choices", measure_robustness, summarize_robustness, order=60,
        stage="robustness", write=write_robustness, read=read_robustness,
    ),
    ShippedPart(
        "seeds", "Quality of the word lists", measure_seeds, summarize_seeds, order=70, stage="word lists",
    ),
)  # fmt: skip
