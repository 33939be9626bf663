"""Which conclusions about gender flip when a reasonable choice changes: base pair, measure, form of the words."""

from __future__ import annotations

from dataclasses import replace

from biasgauge.analyses.robustness import RobustnessResult, flips, forms_and_cases, neutral, robustness
from biasgauge.audits.not_measured import NotMeasured
from biasgauge.errors import InputError
from biasgauge.lexicons import Language, pairs_of
from biasgauge.vectors import Embedding

FREQUENT = 10_000
"""Frequent words whose scores give the standard deviation that makes a change relevant; more of them take seconds."""
EMPTY = ("base_pairs", "word_forms", "correspondence", "between_measures", "flips", "headlines")


def measure_robustness(
    model: Embedding, *, language: Language, min_coverage: float, case_fallback: bool, random_state: int
) -> RobustnessResult | NotMeasured:
    """Change pair, measure and form for the gender pairs of a language; where it has none, the reason."""
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
            case_fallback=case_fallback,
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
            min_coverage=min_coverage,
            case_fallback=case_fallback,
            random_state=random_state,
        )
    except InputError as problem:
        return NotMeasured(str(problem).rstrip("."), EMPTY)
    return replace(result, flips=turned)
