"""The verdicts: may the answer to the question that a lexicon asks be relied on? The rules are in docs/verdicts.md."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

Decision = Literal["rely", "care", "do not report", "nothing found", "undecided", "undefined"]

MEANINGS: dict[str, str] = {
    "rely": "rely on it for these vectors",
    "care": "report it with care",
    "do not report": "do not report it",
    "nothing found": "no association is shown",
    "undecided": "undecided",
    "undefined": "cannot be measured",
}


@dataclass(frozen=True)
class Rules:
    """Thresholds of the verdicts.

    Attributes:
        alpha: largest p, after Holm's correction over all tests of the audit, that counts as evidence.
        agreement: smallest share of base pairs and of measures that must give the direction of the whole test.
        reliability: smallest ICC(2,1) of the words' associations over replicates; below .5 is poor (Koo & Li 2016).
    """

    alpha: float = 0.05
    agreement: float = 0.9
    reliability: float = 0.5

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not 0 < value <= 1:
                raise ParameterError(f"The rule {name!r} must be above 0 and at most 1. Got {value!r}.")


@dataclass(frozen=True)
class Evidence:
    """One thing that speaks for or against an answer.

    Attributes:
        name: what was looked at.
        value: what was found, in words.
        rule: what was asked of it.
        passed: whether it holds; None when it cannot be known, with the reason in `value`.
        link: the section of the page that has the numbers; empty where there is none.
    """

    name: str
    value: str
    rule: str
    passed: bool | None
    link: str


@dataclass(frozen=True)
class Question:
    """One question, its answer, and whether the answer can be relied on.

    Attributes:
        question: name of the lexicon that asks it.
        title: what it is about.
        model: the vectors that were asked.
        decision: the verdict.
        why: its evidence and its limits, in plain words.
        evidence: everything that it rests on.
    """

    question: str
    title: str
    model: str
    decision: Decision
    why: str
    evidence: tuple[Evidence, ...] = ()

    @property
    def sentence(self) -> str:
        """The whole verdict in one sentence."""
        said = MEANINGS[self.decision]
        of = self.title or self.question
        of += "" if of.endswith("?") else ":"
        return f"{of} {self.why}; {said}." if self.decision in {"rely", "care"} else f"{of} {said}: {self.why}."

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {**asdict(self), "evidence": [asdict(one) for one in self.evidence], "sentence": self.sentence}


def decide(*, found: bool | None, stable: Sequence[bool | None]) -> Decision:
    """The verdict from the evidence: is there an association, and does it survive other reasonable choices?

    Args:
        found: whether there is evidence of an association; None when it cannot be measured.
        stable: whether it holds over base pairs, over replicates, …; None where that is not known.
    """
    if found is None:
        return "undefined"
    if not found:
        return "nothing found"
    if any(one is not None and not one for one in stable):
        return "do not report"
    return "rely" if stable and all(stable) else "care"


def decide_tracking(*, found: bool | None, rest: Sequence[bool | None]) -> Decision:
    """The verdict on a correlation: as `decide`, but where none is seen, that says something only if it could be.

    Args:
        found: whether a correlation is seen; None when there is none to compute.
        rest: where one is seen, whether it holds over strata, rests on independent points and on a reliable number;
            where none is, whether it would have been seen. None where that is not known.
    """
    decision = decide(found=found, stable=rest)
    unseen = any(one is not None and not one for one in rest)
    return "undecided" if decision == "nothing found" and unseen else decision


def chance(p: float) -> str:
    """A p-value in a sentence."""
    return "below .001" if p < 0.001 else f"{p:.3f}".lstrip("0")  # noqa: PLR2004 - three decimals are shown
