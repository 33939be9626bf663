"""Does the direction depend on attribute words or on the measure?"""

from __future__ import annotations

from collections.abc import Iterator

from biasgauge.auditing.base_pairs import direction_agreement
from biasgauge.auditing.verdict_rule import Case, VerdictRule
from biasgauge.auditing.verdicts import Evidence

_NAMED = 3
"""Base pairs that are named in a sentence."""


def judge(case: Case) -> Iterator[Evidence]:
    """Whether other base pairs, or halves of the attributes, and other measures give the same direction."""
    agreement = direction_agreement(
        case.model, case.test, case.result, scores=case.scores, random_state=case.random_state
    )
    least = case.rules.agreement
    if not agreement.count:
        reason = f"unknown whether {agreement.unit} give the same direction: {agreement.reason}"
        yield Evidence(agreement.unit, None, least, None, reason, "bias")
        return
    named = ", ".join("–".join(pair) for pair in agreement.against[:_NAMED])
    but = f", {named}{', …' if len(agreement.against) > _NAMED else ''} do not" if named else ""
    yield Evidence.directions(agreement.unit, agreement.agree, agreement.count, least, "bias", but)
    against = [name for name, same in agreement.measures if not same]
    count = len(agreement.measures)
    but = f", {', '.join(against)} reverses it" if len(against) == 1 else f", {', '.join(against)} reverse it"
    yield Evidence.directions("measures", count - len(against), count, 1.0, "bias", but if against else "")


RULE = VerdictRule("choices", "do other attribute words and other measures give the same direction?", judge, 20)
