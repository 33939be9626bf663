"""From what the audit measured to the verdict on each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from biasgauge import registry
from biasgauge.auditing.families import corrected
from biasgauge.auditing.meaningless import smallest_contrast
from biasgauge.auditing.questions import Measured
from biasgauge.auditing.shared_scores import SharedScores
from biasgauge.auditing.subjects import Subject
from biasgauge.auditing.verdict_rule import Case, VerdictRule
from biasgauge.auditing.verdicts import Evidence, Opinion, Rules, Verdict, decide, same_direction, signed
from biasgauge.lexicons import Lexicon
from biasgauge.stats.contrasts import plan_words
from biasgauge.stats.equivalence import decide_equivalence

CONTRAST = "contrast"
"""What a question is answered by."""


def answer(
    measured: Sequence[Measured],
    others: Sequence[Measured] = (),
    *,
    rules: Rules,
    scores: SharedScores,
    min_coverage: float,
    case_fallback: bool,
    random_state: int,
) -> tuple[Verdict, ...]:
    """One verdict for each question and subject.

    Args:
        measured: every question put to every subject.
        others: the same questions put to other models, for a second opinion.
        rules: thresholds.
        scores: scores of words on base pairs.
        min_coverage: share of each set's words that had to be found.
        case_fallback: whether words are looked up in another case too.
        random_state: seed.
    """
    p_values = {
        (one.subject.name, one.question.name): (one.question.family, None if one.test is None else one.test.p)
        for one in measured
    }
    beside = corrected(p_values, rules.alpha)
    smallest = {subject: _smallest(subject, measured, rules, random_state) for subject in _subjects(measured)}
    verdicts = []
    for one in measured:
        opinions = tuple(_opinion(one, other) for other in _same_question(one, [*measured, *others]))
        own = beside.get((one.subject.name, one.question.name))
        if one.test is None or own is None:
            verdicts.append(_undefined(one, min_coverage, opinions))
            continue
        case = Case(one, own, rules, smallest[one.subject], scores, case_fallback, random_state)
        verdicts.append(_verdict(case, tuple(_evidence(case)), opinions))
    return tuple(verdicts)


def unasked(lexicons: Sequence[tuple[Lexicon, str]], subjects: Sequence[Subject]) -> Iterator[Verdict]:
    """Verdicts on lexicons that were given and ask nothing by themselves."""
    for lexicon, why in lexicons:
        for subject in subjects:
            yield Verdict(lexicon.name, lexicon.title, subject.name, CONTRAST, "not-measurable", "", why)


def _subjects(measured: Sequence[Measured]) -> list[Subject]:
    return list(dict.fromkeys(one.subject for one in measured))


def _smallest(subject: Subject, measured: Sequence[Measured], rules: Rules, random_state: int) -> float:
    if rules.smallest is not None:
        return rules.smallest
    asked = [one for one in measured if one.subject is subject and one.test is not None]
    return smallest_contrast(subject, asked, random_state)


def _same_question(one: Measured, others: Sequence[Measured]) -> Iterator[Measured]:
    return (other for other in others if other.question.name == one.question.name and other.subject is not one.subject)


def _opinion(one: Measured, other: Measured) -> Opinion:
    name = other.subject.name
    if other.test is None:
        return Opinion(name, reason=other.reason)
    low, high = other.test.interval(0.95)
    same = bool(np.sign(other.value) == np.sign(one.value)) if one.test is not None else None
    return Opinion(name, other.value, low, high, other.test.p, same)


def _evidence(case: Case) -> Iterator[Evidence]:
    """What every registered rule says of a case; one of a stranger that fails is unknown, and says why."""
    known: Mapping[str, VerdictRule] = registry.everything("verdict_rule")
    added = registry.added("verdict_rule")
    for rule in sorted(known.values(), key=lambda rule: (rule.name in added, rule.order, rule.name)):
        try:
            yield from list(rule.judge(case))
        except Exception as problem:
            if rule.name not in added:
                raise
            why = f"unknown: the rule {rule.name} failed with {type(problem).__name__}: {problem}"
            yield Evidence(rule.name, None, None, passes=None, reason=why)


def _undefined(one: Measured, min_coverage: float, opinions: tuple[Opinion, ...]) -> Verdict:
    why = one.reason or "it cannot be measured"
    evidence = Evidence("coverage", one.share, min_coverage, passes=False, reason=why, link="lexicons")
    return _made(one, "not-measurable", "", why, (evidence,), opinions)


def _verdict(case: Case, evidence: tuple[Evidence, ...], opinions: tuple[Opinion, ...]) -> Verdict:
    one, (association, *stable) = case.measured, evidence
    if not association.passes:
        small = _equivalence(case)
        decision = decide(found=False, stable=(), small=small.passes)
        plan = _plan(case)
        why = f"{small.reason} ({association.reason}){'' if small.passes else _settled(case, plan)}"
        return _made(one, decision, "", why, (association, small), opinions, plan)
    decision = decide(found=True, stable=[piece.passes for piece in stable])
    said = f"{one.claim} ({association.reason})"
    if decision == "do-not-report":
        why = "; ".join([*(piece.reason for piece in stable if piece.passes is False), said])
    else:
        agreeing = [piece for piece in stable if piece.passes and piece.counts is not None]
        rest = [piece.reason for piece in stable if piece not in agreeing]
        why = "; ".join(filter(None, [said, same_direction(agreeing), *rest]))
    return _made(one, decision, one.claim, why, evidence, opinions, _plan(case))


def _equivalence(case: Case) -> Evidence:
    """Where no association is found: is whatever there is too small to matter? Two one-sided tests at alpha."""
    test, margin, level = case.measured.test, case.smallest, 1 - 2 * case.rules.alpha
    around = None if test is None else test.contrast.at(level)
    low, high = (None, None) if around is None else (around.low, around.high)
    passes = decide_equivalence(low, high, margin) == "equivalent"
    within = f"{100 * level:g} % interval [{signed(low)}, {signed(high)}], smallest that matters ±{signed(margin)[1:]}"
    alone = test is not None and test.p is not None and test.p <= case.rules.alpha
    if passes:
        reason = f"any association is too small to matter: {within}"
    elif alone:
        reason = f"an association is seen in this question alone, but not among {case.corrected.questions}"
    else:
        reason = f"an association is neither shown nor ruled out: {within}"
    return Evidence("equivalence", {"low": low, "high": high, "level": level}, margin, passes, reason, "bias")


def _plan(case: Case) -> Mapping[str, int | float | None] | None:
    """How many words in each list would show the smallest contrast that matters."""
    test = case.measured.test
    if test is None or test.contrast.se is None:
        return None
    alpha = case.rules.alpha / case.corrected.k
    return asdict(plan_words(test.contrast, case.smallest, alpha=alpha))


def _settled(case: Case, plan: Mapping[str, int | float | None] | None) -> str:
    """What would settle an open question, where more words can."""
    words = None if plan is None else plan["both"]
    if words is None:
        return ""
    return f"; about {words:,} words in each list would show a contrast of {signed(case.smallest)[1:]}"


def _made(
    one: Measured,
    decision: str,
    claim: str,
    why: str,
    evidence: tuple[Evidence, ...],
    opinions: tuple[Opinion, ...],
    plan: Mapping[str, int | float | None] | None = None,
) -> Verdict:
    question = one.question
    return Verdict(
        question.name, question.title, one.subject.name, CONTRAST, decision, claim, why, evidence,  # type: ignore[arg-type]
        question.family, opinions, plan,
    )  # fmt: skip
