"""Rules of the verdicts, for the registry; the case that they judge, and the correction of its p.

The error alpha is shared by all questions of an audit, in equal parts. Within a family (gender, race, …) Holm's steps
pass on what is not needed: of m questions in a family, of M in all, the one with the j-th smallest p is held to
alpha / k with k = M / m × (m − j + 1). Questions count when they are asked, whether or not enough words are found, so
that no spelling option changes the correction of another question.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from biasgauge.audits.measurement import Measured, QueryOutcome
from biasgauge.audits.shared_scores import SharedScores
from biasgauge.audits.verdicts import Evidence, Rules
from biasgauge.core import WordPolicy
from biasgauge.vectors import Embedding

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Corrected:
    """p of one question beside the others.

    Attributes:
        p: multiplied by k, and never smaller than that of a question with a smaller p; at most 1.
        k: the multiplier: an interval of level 1 − alpha / k excludes 0 exactly where p is at most alpha.
        family: with which it was corrected.
        of: questions in its family.
        questions: questions in all.
    """

    p: float
    k: float
    family: str
    of: int
    questions: int


def corrected(p_values: Mapping[Key, tuple[str, float | None]], alpha: float) -> dict[Key, Corrected]:
    """Correct p within families; `p_values` has the family and p of each question, None where it has none."""
    total = len(p_values)
    families: dict[str, list[tuple[float, Key]]] = {}
    for key, (family, p) in p_values.items():
        families.setdefault(family, []).append((1.0 if p is None else p, key))
    corrections = {}
    for family, members in families.items():
        largest, stopped = 0.0, 0.0
        for rank, (p, key) in enumerate(sorted(members, key=lambda member: member[0])):
            k = total / len(members) * (len(members) - rank)
            largest = max(largest, min(1.0, k * p))
            if not stopped and largest > alpha:
                stopped = k  # no later question is held to less than the one at which Holm stops
            corrections[key] = Corrected(largest, stopped or k, family, len(members), total)
    return {key: corrections[key] for key, (_, p) in p_values.items() if p is not None}


def corrected_questions(outcomes: Sequence[QueryOutcome], alpha: float) -> dict[int, Corrected]:
    """Correct p of each question that was measured, by its index in `outcomes`; all that were asked count."""
    p_values = {
        index: (outcome.query.family, outcome.p if isinstance(outcome, Measured) else None)
        for index, outcome in enumerate(outcomes)
    }
    return corrected(p_values, alpha)


@dataclass(frozen=True, eq=False)
class Case:
    """Measurements of one question on one subject, for the rules to judge.

    Attributes:
        measured: the question, the subject, similarities of its words, and the contrast with its tests.
        corrected: p of that contrast beside the other questions of the audit.
        rules: thresholds.
        smallest: the smallest contrast that matters, in cosine units.
        scores: scores of words on base pairs, which the whole audit shares.
        policy: how words are looked up.
        random_state: random seed.
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
