"""How far the scores of replicates agree with themselves, on the word lists of Du et al. 2021."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from biasgauge.agreement import ReliabilityResult, decision_study, reliability, variance_components
from biasgauge.agreement.result import NotAnalyzed
from biasgauge.auditing.not_measured import NotMeasured
from biasgauge.auditing.shared_scores import PAIRS, SharedScores
from biasgauge.embeddings import Embedding
from biasgauge.errors import InputError

FEWEST = 2
EMPTY = ("test_retest", "inter_rater", "internal")


def measure_reliability(
    models: Sequence[Embedding], scores: SharedScores, *, language: str, min_coverage: float, random_state: int
) -> ReliabilityResult | NotMeasured:
    """Whether scores of the lists of Du et al. 2021 agree over all models; components of all measures together.

    The pairs and lists are English; for another language there is a reason instead.
    """
    if len(models) < FEWEST:
        reason = "one model cannot say whether its numbers hold: train replicates (biasgauge train --seeds 8)"
        return NotMeasured(reason, EMPTY)
    if language != "en":
        return NotMeasured(f"the shipped pairs of {PAIRS} are English; use biasgauge reliability", EMPTY)
    try:
        whole = scores.of_lists(models)
        result = reliability(whole, min_coverage=min_coverage, target=None, random_state=random_state)
    except InputError as problem:
        return NotMeasured(str(problem), EMPTY)
    try:
        components = variance_components(whole, random_state=random_state)
        return replace(result, components=(components,), design=(decision_study(components, fixed=components.choices),))
    except InputError as problem:  # too few words for components; the reliabilities stand
        unknown = NotAnalyzed(None, str(problem))
        return replace(result, components=(unknown,), design=(unknown,))
