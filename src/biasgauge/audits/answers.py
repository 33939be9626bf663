"""From what the audit measured to the verdict on each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np

from biasgauge import registry
from biasgauge.audits.measurement import Measured, QueryOutcome, Unmeasurable
from biasgauge.audits.rules import CIRCULARITY, FREQUENCY
from biasgauge.audits.shared_scores import SharedScores
from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdict_rule import Case, VerdictRule, corrected_claims
from biasgauge.audits.verdicts import Evidence, Opinion, Rules, Verdict, has_enough_words, same_direction
from biasgauge.core import Decision, WordPolicy, decide
from biasgauge.lexicons import Lexicon, lexicons_without_query
from biasgauge.results import interval_text, level_text, number_text
from biasgauge.stats import METHOD as CLUSTERED
from biasgauge.stats import decide_equivalence, plan_words, remark_on_effective_words

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext

CONTRAST = "contrast"
"""What a question is answered by."""


def answer(context: AuditContext) -> tuple[Verdict, ...]:
    """Return a verdict for each query and subject of an audit; with a calibration, in planted units too."""
    verdicts = answer_queries(
        context.outcomes,
        context.second_outcomes,
        rules=context.rules,
        scores=context.scores,
        policy=context.policy,
        random_state=context.random_state,
    )
    if context.calibration is None:
        return verdicts
    from biasgauge.audits.calibrated import in_planted_units

    return in_planted_units(verdicts, context.lexicons, context.calibration)


def answer_queries(
    measured: Sequence[QueryOutcome],
    comparison_outcomes: Sequence[QueryOutcome] = (),
    *,
    rules: Rules,
    scores: SharedScores,
    policy: WordPolicy,
    random_state: int,
) -> tuple[Verdict, ...]:
    """Return a verdict for each query and subject.

    Args:
        measured: every query measured on every subject.
        comparison_outcomes: the same queries on other models, for a second opinion.
        rules: thresholds.
        scores: scores of words on base pairs.
        policy: how words were looked up.
        random_state: seed.
    """
    from biasgauge.audits.parts.null_lists import smallest_contrast

    smallest: dict[Subject, float] = {}
    for subject in dict.fromkeys(outcome.subject for outcome in measured):
        same = [outcome for outcome in measured if outcome.subject is subject and isinstance(outcome, Measured)]
        if same:
            smallest[subject] = rules.smallest or smallest_contrast(subject, same, random_state)
    claims = corrected_claims(measured, rules, smallest)
    verdicts = []
    for index, outcome in enumerate(measured):
        subject = outcome.subject
        opinions = tuple(
            _opinion(outcome, second)
            for second in (*measured, *comparison_outcomes)
            if second.query.name == outcome.query.name and second.subject is not subject
        )
        if isinstance(outcome, Unmeasurable):
            verdict = _undefined(outcome, policy, opinions)
            verdicts.append(replace(verdict, primary=outcome.query.name in rules.primary))
            continue
        both = claims[index]
        case = Case(outcome, both.association, both.equivalence, rules, smallest[subject], scores, policy, random_state)
        verdicts.append(replace(_verdict(case, opinions), primary=both.association.primary))
    return tuple(verdicts)


def verdicts_for_unusable_lexicons(lexicons: Sequence[Lexicon], subjects: Sequence[Subject]) -> Iterator[Verdict]:
    """Yield verdicts on lexicons that were given and ask nothing by themselves."""
    for lexicon, why in lexicons_without_query(lexicons):
        for subject in subjects:
            yield Verdict(lexicon.name, lexicon.title, subject.name, CONTRAST, decide(found=None), "", why)


def _opinion(outcome: QueryOutcome, second: QueryOutcome) -> Opinion:
    name = second.subject.name
    if isinstance(second, Unmeasurable):
        return Opinion(name, reason=second.reason)
    low, high = second.test.decisive.interval(0.95)
    same = bool(np.sign(second.value) == np.sign(outcome.value)) if isinstance(outcome, Measured) else None
    return Opinion(name, second.value, low, high, second.p, same, method=CLUSTERED)


def _evidence(case: Case) -> Iterator[Evidence]:
    """Yield the evidence of every registered rule; an added rule that raises is unknown, with the error as reason."""
    rules: Mapping[str, VerdictRule] = registry.everything("verdict_rule")
    added = registry.added("verdict_rule")
    for rule in sorted(rules.values(), key=lambda rule: (rule.name in added, rule.order, rule.name)):
        try:
            yield from list(rule.judge(case))
        except Exception as problem:
            if rule.name not in added:
                raise
            why = f"unknown: the rule {rule.name} failed with {type(problem).__name__}: {problem}"
            yield Evidence(rule.name, None, None, passes=None, reason=why)


def _undefined(outcome: Unmeasurable, policy: WordPolicy, opinions: tuple[Opinion, ...]) -> Verdict:
    from biasgauge.audits.covered_tests import covered_tests_command

    reason, threshold = outcome.reason, policy.min_coverage
    evidence = Evidence("coverage", outcome.share, threshold, passes=False, reason=reason, link="lexicons")
    verdict = _build_verdict(outcome, decide(found=None), "", reason, (evidence,), opinions)
    return replace(verdict, audit_command=covered_tests_command(outcome, policy))


def _verdict(case: Case, opinions: tuple[Opinion, ...]) -> Verdict:
    evidence = tuple(_evidence(case))
    measured, (association, *stable) = case.measured, evidence
    circular = next((piece for piece in stable if piece.rule == CIRCULARITY and piece.passes is False), None)
    if circular is not None:
        decision = decide(found=association.passes, barred=True)
        return _build_verdict(measured, decision, "", f"{circular.reason} ({association.reason})", evidence, opinions)
    plan = _plan(case)
    small = _equivalence(case)
    if not association.passes or small.passes:
        decision = decide(found=False, stable=(), small=small.passes)
        words = None if plan is None or small.passes or has_enough_words(plan) else plan["both"]
        size = number_text(case.smallest, 3)
        more = "" if words is None else f"; about {words:,} words in each list would show a contrast of {size}"
        remark = "" if words is None or plan is None else remark_on_effective_words(plan)
        why = f"{small.reason} ({association.reason}){more}{f' ({remark})' if remark else ''}"
        # That there is none is a claim, too: what is unknown about it counts.
        unknown = [piece for piece in stable if piece.passes is None] if small.passes else []
        verdict = _build_verdict(measured, decision, "", why, (association, small, *unknown), opinions, plan)
        if words is None:
            return verdict
        from biasgauge.audits.commands import plan_command

        return replace(verdict, plan_command=plan_command(case))
    decision = decide(found=True, stable=[piece.passes for piece in stable])
    finding = f"{measured.claim} ({association.reason})"
    if decision == "do-not-report":
        why = "; ".join([*(piece.reason for piece in stable if piece.passes is False), finding])
    else:
        agreeing = [piece for piece in stable if piece.passes and piece.counts is not None]
        usual = [piece for piece in stable if piece.passes and piece.rule == FREQUENCY]
        remarks = [piece.reason for piece in stable if piece not in agreeing and piece not in usual]
        why = "; ".join(filter(None, [finding, same_direction(agreeing), *remarks]))
    return _build_verdict(measured, decision, measured.claim, why, evidence, opinions, plan)


def _equivalence(case: Case) -> Evidence:
    """Test whether an association is too small to matter: two one-sided tests at alpha / k."""
    margin, k = case.smallest, case.equivalence.k
    level = 1 - 2 * case.rules.alpha / k
    contrast = case.measured.test.decisive.contrast
    interval = contrast.at(level)
    low, high = interval.low, interval.high
    passes = decide_equivalence(low, high, margin) == "equivalent"
    ends = interval_text(low, high, 3, signed=True)
    within = f"{level_text(level)} interval {ends}, smallest that matters ±{number_text(margin, 3)}"
    if passes:
        reason = f"any association is too small to matter: {within}"
    elif case.measured.p <= case.rules.alpha:
        questions = case.corrected.questions
        reason = f"an association is significant by itself, but not after adjustment for {questions} questions"
    else:
        reason = f"an association is neither shown nor ruled out: {within}"
    numbers = {"low": low, "high": high, "level": level, "p": contrast.equivalence_p(margin), "k": k}
    return Evidence("equivalence", numbers, margin, passes, reason, "bias")


def _plan(case: Case) -> Mapping[str, int | float | None] | None:
    """Number of words in each list that would show the smallest contrast that matters."""
    contrast = case.measured.test.decisive.contrast
    if contrast.se is None:
        return None
    return asdict(plan_words(contrast, case.smallest, alpha=case.rules.alpha / case.corrected.k))


def _build_verdict(
    outcome: QueryOutcome,
    decision: Decision,
    claim: str,
    why: str,
    evidence: tuple[Evidence, ...],
    opinions: tuple[Opinion, ...],
    plan: Mapping[str, int | float | None] | None = None,
) -> Verdict:
    query, model = outcome.query, outcome.subject.name
    remarks = (outcome.remark,) if isinstance(outcome, Measured) and outcome.remark else ()
    return Verdict(
        query.name, query.title, model, CONTRAST, decision, claim, why, evidence, query.family, opinions, plan,
        beware=(*query.beware, *remarks),
    )  # fmt: skip
