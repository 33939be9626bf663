"""Is there an association at all?"""

from __future__ import annotations

from collections.abc import Iterator

from biasgauge.auditing.verdict_rule import Case, VerdictRule
from biasgauge.auditing.verdicts import Evidence, chance

METHODS = {"exact": "exact", "monte-carlo": "Monte Carlo"}


def judge(case: Case) -> Iterator[Evidence]:
    """Whether p, corrected for all association tests of the audit, is small enough."""
    result, alpha = case.result, case.rules.alpha
    ends = result.interval
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    around = "" if low is None else f" [{low:.2f}, {high:.2f}]"
    method = METHODS.get(result.p_method or "", "unknown method")
    reason = (
        f"effect size {result.value:.2f}{around}, permutation {chance(result.p_value)} ({method}), "
        f"Holm-adjusted {chance(case.p_value)}"
    )
    numbers = {"value": result.value, "low": low, "high": high, "p": result.p_value, "p_adjusted": case.p_value}
    yield Evidence("effect", numbers, alpha, case.p_value <= alpha, reason, "bias")


RULE = VerdictRule("effect", "is there evidence of an association?", judge, 10)
