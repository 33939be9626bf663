"""Rules of the verdicts, for the registry, and the case that they judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from biasgauge.audits.measurement import Measured
from biasgauge.audits.multiplicity import Corrected
from biasgauge.audits.shared_scores import SharedScores
from biasgauge.audits.verdicts import Evidence, Rules
from biasgauge.core import WordPolicy
from biasgauge.vectors import Embedding


@dataclass(frozen=True, eq=False)
class Case:
    """Measurements of one question on one subject.

    Attributes:
        measured: the question, the subject, similarities of its words, and the contrast with its tests.
        corrected: p of that contrast beside the other questions of the audit.
        rules: thresholds.
        smallest: the smallest contrast that matters, in cosine units.
        scores: scores of words on base pairs, which the whole audit shares.
        policy: how words are looked up.
        random_state: seed of whatever is drawn.
    """

    measured: Measured
    corrected: Corrected
    rules: Rules
    smallest: float
    scores: SharedScores
    policy: WordPolicy
    random_state: int

    @property
    def model(self) -> Embedding:
        """The first model of the subject."""
        return self.measured.subject.models[0]

    @property
    def side(self) -> float:
        """Sign of the contrast."""
        return 1.0 if self.measured.value > 0 else -1.0


@dataclass(frozen=True)
class VerdictRule:
    """One thing that is asked of every answer.

    The rule "association" says whether there is one at all; all others say whether it can be relied on: one that fails
    makes "do-not-report", one that cannot be known "report-with-care".

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
