"""Rules and measures of somebody else's in the verdicts of the audit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from biasgauge import registry
from biasgauge.audits import Evidence, Rules
from biasgauge.audits.answers import answer_queries
from biasgauge.audits.measurement import measure
from biasgauge.audits.shared_scores import SharedScores
from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdict_rule import VerdictRule
from biasgauge.core import WordPolicy
from biasgauge.lexicons import lexicon, queries_from_lexicons
from biasgauge.metrics import Linear
from biasgauge.vectors import load_default

if TYPE_CHECKING:
    from collections.abc import Iterator

    from biasgauge.audits import Verdict
    from biasgauge.audits.verdict_rule import Case


def verdict() -> Verdict:
    """The verdict on weat7 for the shipped GloVe vectors, however many base pairs agree."""
    model, test = load_default(), lexicon("weat7")
    policy = WordPolicy(case="fallback")
    (question,) = queries_from_lexicons([test])
    measured = measure(question, Subject(model.name, (model,)), policy, 0)
    scores = SharedScores((model,), (test,), case_fallback=True)
    rules = Rules(alpha=0.2, agreement=0.01)  # so that it is an association
    (found,) = answer_queries([measured], rules=rules, scores=scores, policy=policy, random_state=0)
    return found


@pytest.fixture(scope="module")
def before() -> Verdict:
    return verdict()


def refuse(case: Case) -> Iterator[Evidence]:
    reason = f"{case.measured.query.name} has p {case.corrected.p:.3f}"
    yield Evidence("mine", case.corrected.p, 0.0, passes=False, reason=reason)


def stumble(_case: Case) -> Iterator[Evidence]:
    raise ValueError("no idea")


def test_evidence_of_a_rule_counts(before: Verdict) -> None:
    assert before.decision == "report-with-care"
    registry.register(VerdictRule("mine", "never", refuse, order=0))
    try:
        after = verdict()
    finally:
        registry.unregister("verdict_rule", "mine")
    assert after.decision == "do-not-report"
    assert after.evidence[:-1] == before.evidence  # those that ship come first, whatever the order says
    assert after.evidence[-1].rule == "mine"
    assert after.why.startswith(f"weat7 has p {after.evidence[-1].observed:.3f}; ")


def test_a_rule_that_fails_is_not_known(before: Verdict) -> None:
    registry.register(VerdictRule("mine", "is all well?", stumble))
    try:
        after = verdict()
    finally:
        registry.unregister("verdict_rule", "mine")
    assert after.decision == before.decision == "report-with-care"
    reason = "unknown: the rule mine failed with ValueError: no idea"
    assert after.evidence[-1] == Evidence("mine", None, None, passes=None, reason=reason)


def test_a_measure_is_asked_for_its_direction(before: Verdict) -> None:
    shipped = registry.get("measure", "dbwa")
    assert isinstance(shipped, Linear)
    against = replace(shipped, name="against", direction=lambda first, second: second - first)
    registry.register(against)
    try:
        after = verdict()
    finally:
        registry.unregister("measure", "against")
    said = {item.rule: item for item in after.evidence}["measures"]
    assert (said.counts, said.passes) == ((2, 3), False)
    assert said.reason.endswith("give the same direction, against reverses it")
    assert [item for item in after.evidence if item.rule != "measures"] == [
        item for item in before.evidence if item.rule != "measures"
    ]
