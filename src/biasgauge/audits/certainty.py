"""Certainty of a verdict after GRADE: it begins as high, and each reason in its evidence lowers it.

A rule that fails is a very serious reason (two levels), one whose answer is unknown a serious one (one level); of a
domain the gravest reason counts. An answer that is neither shown nor ruled out is imprecise: by two levels, and by
three where its interval holds contrasts that matter in both directions. Source: Guyatt et al. 2008, BMJ 336:924; Zeng
et al. 2022, J Clin Epidemiol 150:216.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from biasgauge import registry
from biasgauge.core import Record

if TYPE_CHECKING:
    from biasgauge.audits.verdicts import Verdict

Domain = Literal["imprecision", "inconsistency", "indirectness", "confounding"]
"""What lowers a certainty: the interval; replicates and measures; the word lists; word frequency."""
Level = Literal["high", "moderate", "low", "very low"]
LEVELS: tuple[Level, ...] = ("very low", "low", "moderate", "high")
SERIOUS, VERY_SERIOUS, EXTREMELY_SERIOUS = 1, 2, 3
"""Levels by which a reason lowers a certainty."""
DOMAINS: Mapping[str, Domain] = {
    "association": "imprecision",
    "equivalence": "imprecision",
    "circularity": "indirectness",
    "base pairs": "indirectness",
    "held-out attributes": "indirectness",
    "held-out targets": "indirectness",
    "other words": "indirectness",
    "measures": "inconsistency",
    "views": "inconsistency",
    "replicates": "inconsistency",
    "word frequency": "confounding",
    "random words": "confounding",
}
"""Domain of each piece of evidence on a question."""
UNRATED = ("coverage", "calibration")
"""Evidence that lowers no certainty: without enough words there is nothing to rate; a calibration gives the scale."""
BOTH_SIDES = "neither 0 nor a contrast that matters, in either direction, can be rejected"
ONE_SIDE = "neither 0 nor a contrast that matters can be rejected"
EQUAL_FREQUENCY = "the unadjusted contrast differs from 0, that at equal word frequency does not"


@dataclass(frozen=True)
class Downgrade(Record):
    """One reason for which a certainty is lower.

    Attributes:
        domain: what it concerns.
        rule: evidence that fails or is unknown.
        levels: by how many levels it lowers the certainty, were it the only reason of its domain.
        reason: footnote.
    """

    domain: Domain
    rule: str
    levels: int
    reason: str


@dataclass(frozen=True)
class Certainty(Record):
    """Certainty of an answer.

    Attributes:
        level: "high", "moderate", "low" or "very low".
        downgrades: every reason for which it is not high.
    """

    level: Level
    downgrades: tuple[Downgrade, ...] = ()

    @property
    def points(self) -> int:
        """Number of filled circles, 1 to 4."""
        return LEVELS.index(self.level) + 1


def domain_of(rule: str) -> Domain:
    """Return the domain of a piece of evidence; of an added rule, the one that it declares."""
    if rule in DOMAINS:
        return DOMAINS[rule]
    added = registry.everything("verdict_rule").get(rule)
    domain: Domain = getattr(added, "domain", "inconsistency")
    return domain


def rate_certainty(verdict: Verdict) -> Certainty | None:
    """Rate the answer to a question on word lists; None where it was not measured, or is about something else."""
    if verdict.test != "contrast" or verdict.decision == "not-measurable" or not verdict.evidence:
        return None
    downgrades = tuple(_downgrades(verdict))
    lowered: dict[Domain, int] = {}
    for reason in downgrades:
        lowered[reason.domain] = max(lowered.get(reason.domain, 0), reason.levels)
    points = max(1, len(LEVELS) - sum(lowered.values()))
    return Certainty(LEVELS[points - 1], downgrades)


def _downgrades(verdict: Verdict) -> Iterator[Downgrade]:
    if verdict.decision == "inconclusive" and verdict.evidence[0].passes is not True:
        yield from _imprecision(verdict)
    for piece in verdict.evidence:
        if piece.passes is not True and piece.rule not in (*UNRATED, "association", "equivalence"):
            levels = SERIOUS if piece.passes is None else VERY_SERIOUS
            yield Downgrade(domain_of(piece.rule), piece.rule, levels, piece.reason)


def _imprecision(verdict: Verdict) -> Iterator[Downgrade]:
    """Yield reasons against an answer that is neither shown nor ruled out: its interval, and word frequency."""
    numbers, contrast = verdict.observed("association"), verdict.contrast
    smallest = numbers.get("smallest")
    bounded = smallest is not None and contrast.low is not None and contrast.high is not None
    if bounded and contrast.low < -smallest and contrast.high > smallest:  # type: ignore[operator]
        yield Downgrade("imprecision", "equivalence", EXTREMELY_SERIOUS, BOTH_SIDES)
    else:
        yield Downgrade("imprecision", "equivalence", VERY_SERIOUS, ONE_SIDE)
    low, high = numbers.get("low"), numbers.get("high")
    if verdict.at_equal_frequency and low is not None and high is not None and low * high > 0:
        yield Downgrade("confounding", "association", SERIOUS, EQUAL_FREQUENCY)
