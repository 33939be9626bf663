"""The six decisions on an answer, and the one rule by which every analysis reaches them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Decision = Literal[
    "report", "report-with-care", "do-not-report", "no-association-shown", "inconclusive", "not-measurable"
]
"""What to do with an answer; docs/measures/verdicts.md explains each."""
REPORTED: tuple[Decision, ...] = ("report", "report-with-care")
FrequencyEffect = Literal["explains", "hides", "neither"]
"""What word frequency does to a finding: it explains it, hides it, or does not change the decision."""


def decide(
    *, found: bool | None, small: bool | None = None, stable: Sequence[bool | None] = (), barred: bool = False
) -> Decision:
    """Decide from the evidence: is there an association, is it large enough to matter, does it hold otherwise?

    `no-association-shown` is a claim of equivalence with 0. It needs an interval within the smallest effect of
    interest, and then holds also where the effect is clearly not 0.

    Args:
        found: whether an effect other than 0 is shown; None when it cannot be measured.
        small: whether the interval lies within the smallest effect of interest; None where that is unknown.
        stable: whether the effect survives each reasonable alternative; None where that is unknown.
        barred: whether the design cannot answer the question, whatever the numbers: lists made from the vectors that
            they measure, models that know nothing of other documents.
    """
    if found is None:
        return "not-measurable"
    if barred:
        return "inconclusive"
    if small:
        return "no-association-shown"
    if not found:
        return "inconclusive"
    if any(map(_fails, stable)):
        return "do-not-report"
    return "report" if stable and all(stable) else "report-with-care"


def frequency_effect(*, as_it_is: bool | None, at_equal_frequency: bool | None) -> FrequencyEffect | None:
    """Compare two decisions on one number: as it is, and at equal word frequency; None where one is not known."""
    if as_it_is is None or at_equal_frequency is None:
        return None
    if as_it_is == at_equal_frequency:
        return "neither"
    return "explains" if as_it_is else "hides"


def decide_tracking(*, found: bool | None, checks: Sequence[bool | None]) -> Decision:
    """Decide on a correlation: that there is none counts only where its interval is narrow and it could be seen.

    Args:
        found: whether a correlation is seen; None when there is none to compute.
        checks: where one is seen, whether it holds over strata, rests on independent points and on a reliable number;
            where none is, whether the interval excludes one that matters, and whether it would have been seen. None
            where that is unknown.
    """
    could_be_seen = bool(checks) and not any(map(_fails, checks))
    return decide(found=found, small=not found and could_be_seen, stable=checks)


def _fails(passes: bool | None) -> bool:  # noqa: FBT001 - one piece of evidence
    return passes is not None and not passes
