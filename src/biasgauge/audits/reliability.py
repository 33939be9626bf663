"""How far the scores of replicates agree with themselves, on the word lists of their language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from biasgauge import registry
from biasgauge.analyses.reliability import (
    NotAnalyzed,
    ReliabilityResult,
    decision_study,
    reliability,
    variance_components,
)
from biasgauge.audits.not_measured import NotMeasured
from biasgauge.audits.shared_scores import SharedScores
from biasgauge.errors import InputError
from biasgauge.vectors import Embedding

FEWEST = 2
EMPTY = ("test_retest", "inter_rater", "internal")


def _unless_registered(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Lists beside a file of the user's own; None for registered ones, which are found unasked, with unlisted words."""
    return None if set(names) <= set(registry.names("lexicon")) else names


def measure_reliability(
    models: Sequence[Embedding], scores: SharedScores, *, min_coverage: float, random_state: int
) -> ReliabilityResult | NotMeasured:
    """Whether scores of a language's word lists agree over all models; components of all measures together.

    For a language without base pairs or lists there is a reason instead.
    """
    language = scores.language
    if len(models) < FEWEST:
        reason = "one model cannot say whether its numbers hold: train replicates (biasgauge train --seeds 8)"
        return NotMeasured(reason, EMPTY)
    if reason := language.lacks("base_pairs", "scored_words"):
        return NotMeasured(reason, EMPTY)
    try:
        whole = scores.of_lists(models)
        result = reliability(
            whole,
            lists=_unless_registered(language.named("scored_words")),
            queries=_unless_registered(language.named("queries")),
            min_coverage=min_coverage,
            target=None,
            random_state=random_state,
        )
    except InputError as problem:
        return NotMeasured(str(problem), EMPTY)
    try:
        components = variance_components(whole, random_state=random_state)
        return replace(result, components=(components,), design=(decision_study(components, fixed=components.choices),))
    except InputError as problem:  # too few words for components; the reliabilities stand
        unknown = NotAnalyzed(None, str(problem))
        return replace(result, components=(unknown,), design=(unknown,))
