"""Does training again give the same?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import numpy as np

from biasgauge.agreement import Icc, icc
from biasgauge.auditing.verdict_rule import Case, VerdictRule
from biasgauge.auditing.verdicts import Evidence

FEWEST = 2


def judge(case: Case) -> Iterator[Evidence]:
    """Whether replicates give the same direction, and the same words at the ends."""
    defined = [other for other in case.replicates if other.value is not None]
    if len(defined) < FEWEST:
        why = next((other.reason for other in case.replicates if other.reason), None)
        reason = f"unknown whether replicates agree: {why or 'there are none; train some (biasgauge train --seeds 8)'}"
        yield Evidence("replicates", None, 1.0, None, reason)
        return
    side = np.sign(case.result.value or 0.0)
    agree = sum(bool(np.sign(other.value) == side) for other in defined if other.value is not None)
    yield Evidence.directions("replicates", agree, len(defined), 1.0, "replicates")
    words = list(defined[0].associations)
    shared = [word for word in words if all(word in other.associations for other in defined)]
    table = np.array([[other.associations[word] for other in defined] for word in shared])
    held = cast("Icc", icc(table, "2,1"))  # of one matrix
    least = case.rules.reliability
    if held.value is None or not np.isfinite(held.value):
        reason = "unknown whether replicates rank the words alike: too few words"
        yield Evidence("reliability", None, least, None, reason, "replicates")
        return
    numbers = {"value": held.value, "low": held.low, "high": held.high}
    reason = (
        f"reliability of the words' associations over replicates, ICC(2,1), {held.value:.2f} "
        f"[{held.low:.2f}, {held.high:.2f}] ({least:g} required)"
    )
    yield Evidence("reliability", numbers, least, bool(held.value >= least), reason, "replicates")


RULE = VerdictRule("replicates", "do replicates give the same direction and the same words?", judge, 30)
