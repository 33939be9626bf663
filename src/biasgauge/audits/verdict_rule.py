"""Rules of the verdicts, for the registry; the case that they judge, and the correction of its p.

Primary questions are judged together, and so are all others. Of m questions that are judged together, each p is held
to alpha / k. Questions count when they are asked, whether or not enough words are found, so that no spelling option
makes the correction of another question milder.

"fdr": k = m / R, with R the number of associations that are found (Benjamini & Hochberg 1995), at least 1. Intervals of
level 1 − alpha / k miss their contrast in a share of at most alpha of those found (Benjamini & Yekutieli 2005), and
exclude 0 exactly where p is at most alpha / k. With no association anywhere, the chance that one is found is at most
alpha. Checks of the method (flowers are pleasant) are known to be true: they count in m, and in an R of their own, so
that they make it no easier to find an association about people.

"familywise": alpha is shared by families (gender, race, …) in proportion to their questions, and Holm's steps pass on
what is not needed: of n questions in a family, the one with the j-th smallest p has k = m / n × (n − j + 1).

That an association is too small to matter is a claim as well. With "fdr" its p is held to alpha / k with k = m / C, C
being the number of questions about which either is claimed; with "familywise", to Holm's k among the p of equivalence.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from biasgauge.audits.certainty import Domain
from biasgauge.audits.measurement import SANITY, Measured, QueryOutcome
from biasgauge.audits.shared_scores import SharedScores
from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdicts import Correction, Evidence, Rules
from biasgauge.core import WordPolicy
from biasgauge.vectors import Embedding

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Corrected:
    """p of one question beside the others.

    Attributes:
        p: adjusted for the questions that are judged together; at most alpha exactly where p is at most alpha / k.
        k: the divisor of alpha: an interval of level 1 − alpha / k excludes 0 exactly where p is at most alpha / k.
        family: of the question.
        of: questions that are stepped through together: of its family, or with "fdr" all but the checks of the method.
        questions: questions that share alpha.
        found: of how many of those stepped through together the adjusted p is at most alpha.
        primary: whether these are the primary questions.
        apart: questions of the audit that are judged apart from these.
    """

    p: float
    k: float
    family: str
    of: int
    questions: int
    found: int = 0
    primary: bool = False
    apart: int = 0


@dataclass(frozen=True)
class CorrectedClaims:
    """Corrections of the two claims that may be made about a question.

    Attributes:
        association: of p of a contrast of 0.
        equivalence: of p of a contrast beyond the smallest that matters.
    """

    association: Corrected
    equivalence: Corrected


def corrected(
    p_values: Mapping[Key, tuple[str, float | None]], alpha: float, correction: Correction = "fdr"
) -> dict[Key, Corrected]:
    """Correct p of questions that are judged together; `p_values` has the family and p of each, None without one."""
    total = len(p_values)
    adjust = _benjamini_hochberg if correction == "fdr" else _holm
    corrections = {}
    for members in _groups(p_values, correction):
        known = {key: 1.0 if (p := p_values[key][1]) is None else p for key in members}
        adjusted = adjust(known, alpha, total / len(members))
        found = sum(p <= alpha for p, _ in adjusted.values())
        for key, (adjusted_p, k) in adjusted.items():
            corrections[key] = Corrected(adjusted_p, k, p_values[key][0], len(members), total, found)
    return {key: corrections[key] for key, (_, p) in p_values.items() if p is not None}


def _groups(p_values: Mapping[Key, tuple[str, float | None]], correction: Correction) -> list[list[Key]]:
    """Return the questions that are stepped through together: families; with "fdr", checks of the method and others."""
    groups: dict[Hashable, list[Key]] = {}
    for key, (family, _) in p_values.items():
        groups.setdefault(family == SANITY if correction == "fdr" else family, []).append(key)
    return list(groups.values())


def _benjamini_hochberg(p_values: Mapping[Key, float], alpha: float, share: float) -> dict[Key, tuple[float, float]]:
    """Adjusted p and k of n questions, which have one part in `share` of alpha.

    The i-th smallest p becomes the least of share n p / j over all j ≥ i; k is share n / R.
    """
    ordered = sorted(p_values.items(), key=lambda item: item[1])
    adjusted, smallest = {}, 1.0
    for rank, (key, p) in reversed(list(enumerate(ordered, 1))):
        smallest = min(smallest, share * len(ordered) / rank * p)
        adjusted[key] = smallest
    found = sum(p <= alpha for p in adjusted.values())
    return {key: (p, share * len(ordered) / max(found, 1)) for key, p in adjusted.items()}


def _holm(p_values: Mapping[Key, float], alpha: float, share: float) -> dict[Key, tuple[float, float]]:
    """Adjusted p and k of the questions of one family, which has one part in `share` of alpha."""
    steps = {}
    largest, stopped = 0.0, 0.0
    for rank, (key, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        k = share * (len(p_values) - rank)
        largest = max(largest, min(1.0, k * p))
        if not stopped and largest > alpha:
            stopped = k  # no later question is held to less than the one at which Holm stops
        steps[key] = largest, stopped or k
    return steps


def corrected_equivalences(
    p_values: Mapping[Key, tuple[str, float | None]],
    associations: Mapping[Key, Corrected],
    alpha: float,
    correction: Correction = "fdr",
) -> dict[Key, Corrected]:
    """Correct p of two one-sided tests of questions that are judged together, beside the associations found.

    With "fdr" the claims of both kinds are counted together: C is the largest number for which an association is found
    in, or p of equivalence is at most alpha C / m for, at least C of m questions. Levels 1 − 2 alpha / k are then never
    above those of the associations, so that no interval lies within what is too small to matter without a claim of it.
    """
    if correction != "fdr":
        return corrected(p_values, alpha, correction)
    total = len(p_values)
    corrections: dict[Key, Corrected] = {}
    for members in _groups(p_values, correction):
        known = {key: p for key in members if (p := p_values[key][1]) is not None}
        found = {key for key in known if associations[key].p <= alpha}
        others = [p for key, p in known.items() if key not in found]
        claims = len(members)
        while claims > 1 and len(found) + sum(p <= alpha * claims / total for p in others) < claims:
            claims -= 1
        k = total / claims
        small = sum(k * p <= alpha for p in known.values())
        corrections |= {
            key: replace(associations[key], p=min(1.0, k * p), k=k, found=small) for key, p in known.items()
        }
    return {key: corrections[key] for key in p_values if key in corrections}


def questions_together(outcomes: Sequence[QueryOutcome], rules: Rules) -> list[dict[int, QueryOutcome]]:
    """Return the primary questions and all others, by their index in `outcomes`; none that is empty."""
    primary = {index: outcome for index, outcome in enumerate(outcomes) if outcome.query.name in rules.primary}
    others = {index: outcome for index, outcome in enumerate(outcomes) if index not in primary}
    return [questions for questions in (primary, others) if questions]


def corrected_questions(outcomes: Sequence[QueryOutcome], rules: Rules) -> dict[int, Corrected]:
    """Correct p of each question that was measured, by its index in `outcomes`; all that were asked count."""
    corrections = {}
    for questions in questions_together(outcomes, rules):
        p_values = {
            index: (outcome.query.family, outcome.p if isinstance(outcome, Measured) else None)
            for index, outcome in questions.items()
        }
        for index, correction in corrected(p_values, rules.alpha, rules.correction).items():
            primary = outcomes[index].query.name in rules.primary
            corrections[index] = replace(correction, primary=primary, apart=len(outcomes) - len(questions))
    return corrections


def corrected_claims(
    outcomes: Sequence[QueryOutcome], rules: Rules, smallest: Mapping[Subject, float]
) -> dict[int, CorrectedClaims]:
    """Correct both p of each question that was measured, by its index in `outcomes`.

    `smallest` is the smallest contrast that matters in each subject.
    """
    associations = corrected_questions(outcomes, rules)
    claims = {}
    for questions in questions_together(outcomes, rules):
        p_values: dict[int, tuple[str, float | None]] = {}
        for index, outcome in questions.items():
            p = None
            if isinstance(outcome, Measured):
                p = outcome.test.decisive.contrast.equivalence_p(smallest[outcome.subject])
                p = 1.0 if p is None else p
            p_values[index] = outcome.query.family, p
        beside = {index: associations[index] for index in questions if index in associations}
        for index, equivalence in corrected_equivalences(p_values, beside, rules.alpha, rules.correction).items():
            both = CorrectedClaims(associations[index], equivalence)
            outcome = outcomes[index]
            if rules.correction == "familywise" and isinstance(outcome, Measured):
                both = _without_contradiction(outcome, both, rules.alpha, smallest[outcome.subject])
            claims[index] = both
    return claims


def _without_contradiction(outcome: Measured, both: CorrectedClaims, alpha: float, margin: float) -> CorrectedClaims:
    """Hold an association to Bonferroni's k where its interval by Holm's steps lies within what is too small to matter.

    Holm's k of an association may be far below that of its equivalence, which is then not shown although the interval
    says it. The wider interval lies within ± margin only if the equivalence is shown.
    """
    association = both.association
    low, high = outcome.test.decisive.interval(1 - alpha / association.k)
    if low is None or high is None or low < -margin or high > margin or both.equivalence.p <= alpha:
        return both
    k = float(association.questions)
    return replace(both, association=replace(association, k=k, p=min(1.0, k * outcome.p)))


@dataclass(frozen=True, eq=False)
class Case:
    """Measurements of one question on one subject, for the rules to judge.

    Attributes:
        measured: the question, the subject, similarities of its words, and the contrast with its tests.
        corrected: p of that contrast beside the other questions of the audit.
        equivalence: p of a contrast beyond `smallest`, likewise.
        rules: thresholds.
        smallest: the smallest contrast that matters, in cosine units.
        scores: scores of words on base pairs, which the whole audit shares.
        policy: how words are looked up.
        random_state: random seed.
    """

    measured: Measured
    corrected: Corrected
    equivalence: Corrected
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
    makes "do-not-report" ("circularity": "inconclusive"), one that cannot be known "report-with-care".

    Attributes:
        name: of the rule.
        about: what it asks, in one line.
        judge: gives evidence of the case: none where it does not apply, or several pieces.
        order: in which evidence is listed.
        domain: what lowers the certainty where its evidence, under the name of the rule, fails or is unknown.
    """

    name: str
    about: str
    judge: Callable[[Case], Iterable[Evidence]]
    order: int = 100
    domain: Domain = "inconsistency"
