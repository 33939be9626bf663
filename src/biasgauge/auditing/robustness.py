"""Which conclusions about gender flip when a reasonable choice changes: base pair, measure, form of the words."""

from __future__ import annotations

from dataclasses import replace

from biasgauge.auditing.not_measured import NotMeasured
from biasgauge.embeddings import Embedding
from biasgauge.errors import InputError
from biasgauge.lexicons import pairs_of
from biasgauge.sensitivity import RobustnessResult, flips, neutral, robustness

PAIRS = "zhang2020"
FREQUENT = 10_000
"""Frequent words whose scores give the standard deviation that makes a change relevant; more of them take seconds."""
FORMS = ("plural",)
EMPTY = ("base_pairs", "word_forms", "correspondence", "between_measures", "flips", "headlines")


def measure_robustness(
    model: Embedding, *, language: str, min_coverage: float, case_fallback: bool, random_state: int
) -> RobustnessResult | NotMeasured:
    """Change pair, measure and form for the gender pairs of Zhang et al. 2020; they are English."""
    if language != "en":
        reason = f"the shipped pairs of {PAIRS} are English; use biasgauge robustness with your own"
        return NotMeasured(reason, EMPTY)
    try:
        pool = neutral(model, pairs_of(PAIRS).pairs) or None
        turned = flips(model, pairs=PAIRS, pool=pool, case_fallback=case_fallback)
        result = robustness(
            model,
            pairs=PAIRS,
            pool=pool,
            forms=FORMS,
            pair_forms=(),
            frequent=FREQUENT,
            min_coverage=min_coverage,
            case_fallback=case_fallback,
            random_state=random_state,
        )
    except InputError as problem:
        return NotMeasured(str(problem).rstrip("."), EMPTY)
    return replace(result, flips=turned)
