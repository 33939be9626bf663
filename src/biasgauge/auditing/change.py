"""What was done to vectors: bias, everything else and what is left, before and after."""

from __future__ import annotations

from collections.abc import Sequence

from biasgauge.embeddings import Embedding
from biasgauge.lexicons import AssociationTest, Lexicon, Stereotypes
from biasgauge.mitigation import MitigationEffect, mitigation_effect
from biasgauge.mitigation.effects.analysis import LEXICONS

MOST = 4
"""Lexicons that are compared when all shipped ones were asked for: the usual ones. Each takes a second."""


def measure_change(
    before: Embedding,
    after: Embedding,
    lexicons: Sequence[Lexicon],
    *,
    min_coverage: float,
    case_fallback: bool,
    random_state: int,
) -> MitigationEffect:
    """Compare two models on the tests and stereotypes of an audit, or on the usual ones where it has very many."""
    usable = [one for one in lexicons if isinstance(one, (AssociationTest, Stereotypes))]
    usual = [one for one in usable if one.name in LEXICONS]
    chosen = usable if len(usable) <= MOST or not usual else usual
    return mitigation_effect(
        before,
        after,
        chosen,
        min_coverage=min_coverage,
        case_fallback=case_fallback,
        random_state=random_state,
    )
