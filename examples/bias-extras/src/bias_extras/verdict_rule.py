"""A rule of the verdicts: a contrast below .05 is too small to be reported, however sure it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.audits import Evidence
from biasgauge.audits.verdict_rule import VerdictRule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from biasgauge.audits.verdict_rule import Case

LEAST = 0.05


def judge(case: Case) -> Iterator[Evidence]:
    """Evidence that fails makes the verdict "do-not-report"; what is unknown makes it "report-with-care"."""
    size = abs(case.measured.value)
    reason = f"contrast {size:.3f} in cosine units ({LEAST} required)"
    yield Evidence("large-effect", size, LEAST, passes=size >= LEAST, reason=reason, link="bias")


RULE = VerdictRule("large-effect", "is the effect large enough to matter?", judge)
