"""What a rule of the verdicts is, for the registry, and what it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from biasgauge.auditing.shared_scores import SharedScores
from biasgauge.auditing.verdicts import Evidence, Rules
from biasgauge.embeddings import Embedding
from biasgauge.lexicons import AssociationTest
from biasgauge.scores import Weat


@dataclass(frozen=True, eq=False)
class Case:
    """What was measured about one question on one model.

    Attributes:
        model: the vectors that were asked.
        test: the lexicon that asks.
        result: what its association test gave; the value is defined.
        p_value: of that test, corrected for all association tests of the audit.
        replicates: the same test on replicates; empty where there are none.
        rules: thresholds.
        scores: scores of words on base pairs, which the whole audit shares.
        random_state: seed of whatever is drawn.
    """

    model: Embedding
    test: AssociationTest
    result: Weat
    p_value: float
    replicates: Sequence[Weat]
    rules: Rules
    scores: SharedScores
    random_state: int


@dataclass(frozen=True)
class VerdictRule:
    """One thing that is asked of every answer.

    The rule "effect" says whether there is an association at all; all others say whether it can be relied on: one that
    fails makes "do-not-report", one that cannot be known "report-with-care".

    Attributes:
        name: of the rule.
        about: what it asks, in one line.
        judge: gives evidence of the case: none where it does not apply, or several pieces.
        order: in which evidence is listed.
    """

    name: str
    about: str
    judge: Callable[[Case], Iterable[Evidence]]
    order: int = 100
