"""Robustness: which conclusions about gender change with another base pair, measure or form of the words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from biasgauge.audits.part import NOT_REQUESTED, NotMeasured, Part, section
from biasgauge.errors import InputError
from biasgauge.lexicons import pairs_of
from biasgauge.results import Column, Result, Stored, Summary, Table, counted, list_name, measure_name

if TYPE_CHECKING:
    from biasgauge.analyses.robustness import Flip
    from biasgauge.audits.context import AuditContext
    from biasgauge.audits.result import AuditResult

FREQUENT = 10_000
"""Frequent words whose scores give the standard deviation that makes a change relevant; more of them take seconds."""
EMPTY = ("base_pairs", "word_forms", "correspondence", "between_measures", "flips", "headlines")
ABOUT = (
    "Gender base pairs of Zhang, Sneyd & Stevenson 2020. A set of words leans to an end of a pair when the mean score "
    "of its words differs from 0. One choice is changed at a time: another base pair, another measure, plurals for "
    "singulars. A conclusion that such a change reverses is one about the choice."
)


def measure(context: AuditContext) -> Result:
    """Change pair, measure and form for the gender pairs of the language; where it has none, the reason."""
    if not context.whole_battery:
        return NotMeasured(NOT_REQUESTED, EMPTY)
    from biasgauge.analyses.robustness import flips, forms_and_cases, neutral, robustness

    model, language = context.models[0], context.language
    if reason := language.lacks("other_pairs", "occupations", "concepts"):
        return NotMeasured(reason, EMPTY)
    pairs = language.named("other_pairs")[0]
    forms = forms_and_cases(language)
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
            forms=forms,
            pair_forms=(),
            frequent=FREQUENT,
            policy=context.policy,
            random_state=context.random_state,
        )
    except InputError as problem:
        return NotMeasured(str(problem).rstrip("."), EMPTY)
    return replace(result, flips=turned)


def summarize(result: Result, audit: AuditResult) -> Summary:
    """Section on the conclusions that flip when a reasonable choice changes."""
    scope = f" Of {audit.models[0].name}." if len(audit.models) > 1 else ""
    overview = section(result.summary(), PART.name, PART.title, ABOUT + scope)
    flips = getattr(result, "flips", None)
    return overview if flips is None else replace(overview, tables=(choices_matrix(flips.rows), *overview.tables))


def choices_matrix(flips: Sequence[Flip]) -> Table:
    """Table of each conclusion under each change: changes down, word lists across."""
    from biasgauge.analyses.robustness import HOLDS, TONES

    lists = dict.fromkeys(flip.concept for flip in flips)
    changes = dict.fromkeys((flip.choice, flip.new) for flip in flips)
    outcomes = {(flip.choice, flip.new, flip.concept): flip.outcome for flip in flips}
    columns: list[Column | str] = ["change", *(Column(list_name(name), "mark", tones=TONES) for name in lists)]
    rows = [
        (f"{choice}: {measure_name(new)}", *(outcomes.get((choice, new, name)) for name in lists))
        for choice, new in changes
    ]
    holding = sum(flip.outcome == HOLDS for flip in flips)
    title = f"{holding} of {counted(flips, 'conclusion holds', 'conclusions hold')} when one choice changes"
    return Table.of("choices", title, columns, rows)


def write(result: Result, audit: AuditResult) -> dict[str, Any]:
    """Return the JSON of the part, with the model that it is about."""
    return {"model": audit.models[0].name, **result.to_dict()}


PART = Part(
    "robustness", "Robustness to other reasonable choices", measure, summarize, order=60, stage="robustness",
    write=write, read=Stored.from_dict,
)  # fmt: skip
