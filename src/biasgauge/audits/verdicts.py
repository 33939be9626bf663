"""The verdicts: may the answer to a lexicon's question be reported? The rules are in docs/measures/verdicts.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from biasgauge.audits.certainty import Certainty, rate_certainty
from biasgauge.core import REPORTED, Decision, Estimate, JsonMapping, Record, check_choice, check_number
from biasgauge.errors import ParameterError
from biasgauge.results import BAD, CAUTION, GOOD, NEUTRAL, Shape, Tone, count_of, share_text

Observed = int | float | Mapping[str, int | float | None] | None
"""What a rule looks at: a number, or a few by name; None where it cannot be known."""


Correction = Literal["fdr", "familywise"]
CORRECTIONS: dict[Correction, str] = {"fdr": "Benjamini–Hochberg", "familywise": "Holm"}
"""How p is corrected where several questions are asked, with the name of the method."""


class DecisionStyle(NamedTuple):
    """A decision for readers: its meaning in a sentence, its label beside a count, its tone, shape and chart mark."""

    meaning: str
    label: str
    tone: Tone
    shape: Shape
    marker: tuple[str, str]


DECISIONS: dict[Decision, DecisionStyle] = {
    "report": DecisionStyle(
        "the finding may be reported for these vectors", "may be reported", "good", "full", ("circle", GOOD)
    ),
    "report-with-care": DecisionStyle("report it with care", "with care", "caution", "half", ("triangle-up", CAUTION)),
    "do-not-report": DecisionStyle("do not report it", "should not be reported", "bad", "cross", ("cross", BAD)),
    "no-association-shown": DecisionStyle(
        "no association is shown", "no association shown", "quiet", "ring", ("square", NEUTRAL)
    ),
    "inconclusive": DecisionStyle("inconclusive", "inconclusive", "quiet", "query", ("diamond", NEUTRAL)),
    "not-measurable": DecisionStyle(
        "cannot be measured", "not measurable", "quiet", "dash", ("triangle-down", NEUTRAL)
    ),
}
"""Every decision, the most reportable first."""


@dataclass(frozen=True)
class Rules:
    """Thresholds of the verdicts.

    Attributes:
        alpha: error of the primary questions together, and of all others together: how often the audit may find an
            association among them where lists mean nothing.
        correction: of p for the questions that are judged together. "fdr": the expected share of false ones among all
            claims is at most alpha (Benjamini & Hochberg 1995); "familywise": so is the chance of any false one, as
            alpha is shared by the families of questions, and within them by Holm's steps.
        primary: names of the questions, or of their lexicons, that are judged apart from all others.
        agreement: smallest share of base pairs that must give the direction of the contrast.
        smallest: the smallest contrast that matters, in cosine units; None: what a test with lists of eight words, as
            published ones have, would detect in these vectors with a power of one third (Simonsohn 2015).
        reliability: smallest reliability of a gap over task seeds; below .5 is poor (Koo & Li 2016).
    """

    alpha: float = 0.05
    agreement: float = 0.9
    smallest: float | None = None
    reliability: float = 0.5
    correction: Correction = "fdr"
    primary: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_number(0, 1, ends=False, alpha=self.alpha)
        check_choice(CORRECTIONS, correction=self.correction)
        names: Any = self.primary  # one name, or any sequence of them, as typed in a study file
        object.__setattr__(self, "primary", (names,) if isinstance(names, str) else tuple(names))
        for name in ("agreement", "reliability"):
            if not 0 < getattr(self, name) <= 1:
                raise ParameterError(f"The rule {name!r} must be above 0 and at most 1. Got {getattr(self, name)!r}.")
        if self.smallest is not None:
            check_number(0, ends=False, smallest=self.smallest)


@dataclass(frozen=True)
class Evidence(Record):
    """One thing that speaks for or against an answer.

    Attributes:
        rule: what was looked at.
        observed: the number, or numbers by name; "agree" and "of" count what gives the same direction.
        threshold: the number that it is held against; None where there is none.
        passes: whether it holds; None when it cannot be known.
        reason: observed beside threshold in words, or why it cannot be known. Made from the numbers, never read back.
        link: the section of the page that has the numbers; empty where there is none.
    """

    rule: str
    observed: Observed
    threshold: float | None
    passes: bool | None
    reason: str
    link: str = ""

    @classmethod
    def directions(
        cls, rule: str, agree: int, of: int, threshold: float, link: str, but: str = "", **more: float
    ) -> Evidence:
        """Build evidence from counts of directions; `but` names those that do not agree, `more` are further numbers."""
        share = agree / of
        passes = share >= threshold
        required = "all" if threshold == 1 else share_text(threshold)
        requirement = "" if agree == of else f" ({share_text(share)}; {required} required)"
        reason = f"{'' if passes else 'only '}{count_of(agree, of)} {rule}{requirement} give the same direction{but}"
        return cls(rule, {"agree": agree, "of": of, "share": share, **more}, threshold, passes, reason, link)

    @property
    def counts(self) -> tuple[int, int] | None:
        """Number that gives the same direction, and the total; None where directions were not counted."""
        if isinstance(self.observed, Mapping) and {"agree", "of"} <= set(self.observed):
            return int(self.observed["agree"] or 0), int(self.observed["of"] or 0)
        return None


@dataclass(frozen=True)
class Opinion(Record):
    """Answer of another model to the same question: a second opinion, never evidence.

    Attributes:
        model: which.
        contrast: in cosine units; None where it cannot be measured.
        low, high: 95 % interval.
        p: the largest of its tests, not corrected.
        same: whether it gives the same direction.
        reason: why there is no contrast.
        method: how the interval was made.
    """

    model: str
    contrast: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    same: bool | None = None
    reason: str | None = None
    method: str | None = None


@dataclass(frozen=True)
class Verdict(Record):
    """One question, its answer, and whether the answer can be reported.

    Attributes:
        question: name of the lexicon that asks it.
        title: what it is about.
        model: the vectors that were asked.
        family: with which other questions it was corrected.
        test: what answers it: "contrast" of similarities, "correlation" of points, or "change" of vectors.
        decision: what to do with the answer.
        claim: the answer, in one clause; empty where there is none.
        why: the evidence and its limits, in plain words.
        evidence: everything that it rests on.
        opinions: what other models say, which is no evidence about this one.
        plan: how many words in each list would show the smallest contrast that matters.
        plan_command: of an inconclusive answer: the command that plans longer lists, with these numbers filled in;
            empty where there is none.
        audit_command: of an answer that is not measurable: the command that asks the same in other words, which these
            vectors have; empty where no such list ships.
        primary: whether it is a primary question, which is judged apart from the others.
        beware: notes of the lists of words on what to beware of.
    """

    question: str
    title: str
    model: str
    test: str
    decision: Decision
    claim: str
    why: str
    evidence: tuple[Evidence, ...] = ()
    family: str = ""
    opinions: tuple[Opinion, ...] = ()
    plan: Mapping[str, int | float | None] | None = None
    primary: bool = False
    beware: tuple[str, ...] = ()
    plan_command: str = ""
    audit_command: str = ""

    @property
    def words_needed(self) -> int | None:
        """Words in each list that would settle an inconclusive answer.

        None where no number would, where it is settled, or where the lists are long enough already.
        """
        if self.plan is None or self.decision != "inconclusive" or self.has_enough_words:
            return None
        needed = self.plan.get("both")
        return None if needed is None else int(needed)

    @property
    def has_enough_words(self) -> bool:
        """True where the lists have the planned power to show the smallest contrast that matters."""
        return self.plan is not None and has_enough_words(self.plan)

    @property
    def id(self) -> str:
        """Unique id of this verdict."""
        return f"{self.question}:{self.test}:{self.model}"

    @property
    def style(self) -> DecisionStyle:
        """Meaning and looks of the decision."""
        return DECISIONS[self.decision]

    @property
    def look(self) -> dict[str, Any]:
        """Decision, tone and shape, as blocks of a summary take them."""
        return {"mark": self.decision, "tone": self.style.tone, "shape": self.style.shape}

    @property
    def failed(self) -> list[Evidence]:
        """Evidence that speaks against the answer."""
        return [piece for piece in self.evidence if piece.passes is False]

    @property
    def unknown(self) -> list[Evidence]:
        """Evidence that could not be had."""
        return [piece for piece in self.evidence if piece.passes is None]

    @property
    def sentence(self) -> str:
        """The whole verdict in one sentence."""
        meaning = self.style.meaning
        subject = self.title or self.question
        subject += "" if subject.endswith("?") else ":"
        return f"{subject} {self.why}; {meaning}." if self.decision in REPORTED else f"{subject} {meaning}: {self.why}."

    @property
    def certainty(self) -> Certainty | None:
        """Certainty of the answer after GRADE, with each reason for which it is not high; None: nothing to rate."""
        return rate_certainty(self)

    def derived(self) -> JsonMapping:
        """Fields that follow from the others."""
        return {"id": self.id, "sentence": self.sentence, "certainty": self.certainty}

    @property
    def contrast(self) -> Estimate:
        """The contrast that the decision rests on: at equal word frequency, where that is defined.

        Its interval has the level at which the question is judged beside the others; where an association is too small
        to matter, it is that of the test of equivalence.
        """
        numbers = self.observed("association")
        names = ("adjusted", "adjusted_low", "adjusted_high")
        if numbers.get("adjusted") is None:
            names = ("contrast", "low", "high")
        value, low, high = (numbers.get(name) for name in names)
        level = numbers.get("level")
        if self.decision == "no-association-shown" and (equivalence := self.observed("equivalence")).get("level"):
            low, high, level = (equivalence.get(name) for name in ("low", "high", "level"))
        reason = None if value is not None else "there is no contrast"
        return Estimate(value=value, low=low, high=high, level=level or 0.95, reason=reason)

    @property
    def at_equal_frequency(self) -> bool:
        """True where `contrast` is that at equal word frequency."""
        return self.observed("association").get("adjusted") is not None

    def observed(self, rule: str) -> Mapping[str, float | None]:
        """The numbers that one rule looked at, by name."""
        numbers = next((piece.observed for piece in self.evidence if piece.rule == rule), None)
        return numbers if isinstance(numbers, Mapping) else {} if numbers is None else {"value": numbers}


def same_direction(evidence: Sequence[Evidence]) -> str:
    """Clause on what gives the same direction: "all 23 base pairs and 8 replicates give the same direction"."""
    parts = [f"{count_of(*piece.counts)} {piece.rule}" for piece in evidence if piece.counts is not None]
    if not parts:
        return ""
    return f"{', '.join(parts[:-1])}{' and ' if parts[1:] else ''}{parts[-1]} give the same direction"


def has_enough_words(plan: Mapping[str, int | float | None]) -> bool:
    """True where lists have the power that a plan aims at."""
    return (plan.get("now") or 0.0) >= (plan.get("power") or 1.0)
