"""Several questions at once: how small p must be, and how wide the interval that goes with it.

The error alpha is shared by all questions of an audit, in equal parts. Within a family (gender, race, …) Holm's steps
pass on what is not needed: of m questions in a family, of M in all, the one with the j-th smallest p is held to
alpha / k with k = M / m × (m − j + 1). Questions count when they are asked, whether or not enough words are found, so
that no spelling option changes the correction of another question.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from biasgauge.audits.measurement import Measured, QueryOutcome

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
    """P of each question that was measured, by its index in `outcomes`; all that were asked count."""
    p_values = {
        index: (measurement.query.family, measurement.p if isinstance(measurement, Measured) else None)
        for index, measurement in enumerate(outcomes)
    }
    return corrected(p_values, alpha)
