"""Verdicts of a comparison: may it be said that corpora differ, or that there is a trend?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from biasgauge.analyses.compare.groups import ComparedGroup, listed
from biasgauge.analyses.compare.rows import Compared, CountDifference, QuestionAbout, Trend
from biasgauge.audits import Evidence, Verdict
from biasgauge.core import Decision, Floats, decide
from biasgauge.lexicons import Circularity
from biasgauge.results import interval_text, level_text, number_text, p_phrase, share_text, signed_text
from biasgauge.stats import Contrast, WordPlan, decide_equivalence

MOST_UNEQUAL = 1.05
"""Largest ratio of the amounts of text of two groups that may be compared (docs/text/compare.md)."""
UNITS = {"contrast": "cosine units", "effect_size": "standard deviations (d)"}
NUMBERS = {"contrast": "contrast", "effect_size": "effect size"}
DIGITS = 3
FREQUENCY = "word frequency"
RELIABLE = 0.5
"""Reliability of the similarities below which models cannot show that nothing differs (poor: Koo & Li 2016)."""


@dataclass(frozen=True, eq=False)
class ComparedCase:
    """One difference or trend, with all that its verdict rests on.

    Attributes:
        row: the difference or trend.
        contrast: the number that the verdict rests on, with variances: at equal word frequency, where that is known.
        about: the question.
        groups: the groups that it sets against each other, in order.
        measure: "contrast" or "effect_size".
        tests: how many rows are judged together.
        smallest: the smallest difference that matters; None where it is not known.
        by_draw: that number in each draw of the text; None where the text was not drawn several times.
        effect_size: the same comparison of effect sizes d; None where that is not defined.
        reliability: of the similarities of words in the group whose models agree least; None with a single model.
        counts: the same comparison of log odds, from counts in the texts; None without texts.
        plan: number of words that would show the smallest difference that matters; None where it is unknown.
        circular: whether lists were made from the models that are compared or from their texts; None where none says.
        beware: notes of the lists on what to beware of.
        frequency_sources: where the word frequencies of the models are from, each once; None where one has none.
    """

    row: Compared
    contrast: Contrast
    about: QuestionAbout
    groups: Sequence[ComparedGroup]
    measure: str
    tests: int
    smallest: float | None = None
    by_draw: Floats | None = None
    effect_size: float | None = None
    reliability: float | None = None
    counts: CountDifference | None = None
    plan: WordPlan | None = None
    circular: Circularity | None = None
    beware: tuple[str, ...] = ()
    frequency_sources: tuple[str | None, ...] = ()

    @property
    def span(self) -> float:
        """Span over which a slope is reported: all positions, for a number per year is too small to read."""
        if not isinstance(self.row, Trend):
            return 1.0
        return (self.groups[-1].position or 0.0) - (self.groups[0].position or 0.0)

    @property
    def kind(self) -> str:
        """Word for the row: "difference" or "trend"."""
        return "trend" if isinstance(self.row, Trend) else "difference"

    @property
    def ends(self) -> str:
        """The groups in words."""
        joint = " to " if isinstance(self.row, Trend) else " and "
        return joint.join((self.groups[0].name, self.groups[-1].name))

    def statement(self) -> str:
        """The number as a statement: by how much, and in which group it is higher."""
        value = (self.row.decisive.value or 0.0) * self.span
        number, size = NUMBERS[self.measure], f"{number_text(abs(value), DIGITS)} {UNITS[self.measure]}"
        first, last = self.groups[0].name, self.groups[-1].name
        if isinstance(self.row, Trend):
            return f"along a straight line the {number} {'rises' if value > 0 else 'falls'} by {size} from {self.ends}"
        return f"the {number} is {size} {'higher' if value > 0 else 'lower'} in {last} than in {first}"

    def tested(self) -> str:
        """The interval and p of the number that the verdict rests on, in words."""
        number, p, p_adjusted = self.row.decisive, self.row.p_decisive, self.row.p_adjusted
        equal = "" if self.row.adjusted is None else "at equal word frequency, "
        if number.low is None or number.high is None or p is None:
            return f"{equal}without an interval: {number.reason}"
        ends = interval_text(number.low * self.span, number.high * self.span, DIGITS)
        adjusted = f", Holm-adjusted {p_phrase(p_adjusted)}" if self.tests > 1 and p_adjusted else ""
        return f"{equal}{share_text(number.level)} interval {ends}, {p_phrase(p)}{adjusted}"

    def finding(self) -> str:
        """The estimate with its interval and p; and what word frequency has to do with it, if anything."""
        value = self.row.decisive.value
        size = "" if value is None else f"{signed_text(value * self.span, DIGITS)} {UNITS[self.measure]}, "
        estimate = f"the estimate is {size}{self.tested()}"
        as_it_is = signed_text((self.row.value or 0.0) * self.span, DIGITS)
        if self.row.frequency == "explains":
            return f"explained by word frequency: {as_it_is} as it is; {estimate}"
        if self.row.frequency == "hides":
            return f"{estimate}; word frequency hides it: {as_it_is} as it is, {p_phrase(self.row.p)}"
        return estimate


def judge(case: ComparedCase) -> Verdict:
    """Return the verdict on a difference or trend.

    At most `inconclusive` where the models of a group know nothing of other documents, where groups were trained on
    unequal amounts of text, or where lists were made from what they measure; otherwise what the interval shows
    (`core.decide`).
    """
    row = case.row
    if row.value is None or row.p is None:
        reason = row.reason or case.about.reason or "its spread is unknown"
        evidence = Evidence(case.kind, None, 1 - row.level, passes=None, reason=reason)
        return _verdict(case, decide(found=None), "", reason, (evidence,))
    association, documents, amounts = _shown(case), _documents(case.groups), _amounts(case.groups)
    frequency = tuple(_frequency(case))
    lists = [] if case.circular is None else [Evidence("circularity", None, None, *case.circular)]
    barriers = [piece for piece in (*lists, documents, amounts) if piece.passes is False]
    if barriers:
        files = _these_files(case) if documents.passes is False else None
        why = "; ".join(piece.reason for piece in (*filter(None, [files]), *barriers))
        kept = (association, *lists, documents, amounts, *filter(None, [files]))
        decision = decide(found=association.passes, barred=True)
        return _verdict(case, decision, "", why if files else f"{why} ({association.reason})", kept)
    small, needed = _equivalence(case)
    if association.passes and not small.passes:
        stable = (*frequency, *_stability(case))
        unknown = [piece for piece in (*lists, amounts) if piece.passes is None]
        decision = decide(found=True, stable=[piece.passes for piece in (*unknown, *stable)])
        failed = [piece.reason for piece in stable if piece.passes is False]
        hidden = "; word frequency hides it" if case.row.frequency == "hides" else ""
        finding = f"{case.statement()} ({case.tested()}{hidden})"
        remarks = [piece.reason for piece in (*lists, amounts, *stable) if piece.passes is None]
        why = "; ".join([*failed, finding] if decision == "do-not-report" else [finding, *remarks])
        return _verdict(case, decision, case.statement(), why, (association, *lists, documents, amounts, *stable))
    decision = decide(found=association.passes, small=small.passes)
    why = f"{small.reason} ({association.reason}){needed}"
    return _verdict(case, decision, "", why, (association, *lists, documents, amounts, small))


def not_measurable(about: QuestionAbout, kind: str, groups: Sequence[ComparedGroup]) -> Verdict:
    """Return the verdict on a question that could not be compared."""
    reason = about.reason or ""
    evidence = Evidence("coverage", None, None, passes=False, reason=reason)
    names = listed([group.name for group in groups])
    return Verdict(about.name, about.title, names, kind, decide(found=None), "", reason, (evidence,))


def _verdict(case: ComparedCase, decision: Decision, claim: str, why: str, evidence: tuple[Evidence, ...]) -> Verdict:
    plan = None if case.plan is None else vars(case.plan)
    about = case.about
    return Verdict(
        about.name, about.title, case.ends, case.kind, decision, claim, why, evidence, plan=plan, beware=case.beware
    )


def _shown(case: ComparedCase) -> Evidence:
    """Evidence that passes if the adjusted p of the difference, at equal word frequency, is below 1 − level."""
    row, alpha = case.row, 1 - case.row.level
    p = _p(row)
    observed = {case.kind: row.value, "low": row.low, "high": row.high, **_equal_frequency(row),
                "se": case.contrast.se, "p": row.p_decisive, "p_unadjusted": row.p, "p_adjusted": p,
                "smallest": case.smallest}  # fmt: skip
    return Evidence(case.kind, observed, alpha, p is not None and p < alpha, case.finding())


def _p(row: Compared) -> float | None:
    """The p that the verdict rests on, adjusted where rows are judged together."""
    return row.p_decisive if row.p_adjusted is None else row.p_adjusted


def _equal_frequency(row: Compared) -> dict[str, float | None]:
    """The number at equal word frequency and its interval, by name; nothing where frequencies are not known."""
    number = row.adjusted
    if number is None:
        return {}
    return {"adjusted": number.value, "adjusted_low": number.low, "adjusted_high": number.high}


def _frequency(case: ComparedCase) -> Iterator[Evidence]:
    """Yield evidence that passes if the frequencies held constant are those of the texts of the models."""
    if not case.frequency_sources:
        return
    if case.row.adjusted is None:
        why = (
            "vectors come without counts or ranks of words"
            if case.measure == "contrast"
            else "d is not adjusted for it"
        )
        yield Evidence(FREQUENCY, None, None, None, f"unknown whether word frequency explains it: {why}")
    elif "reference" in case.frequency_sources:
        reason = "word frequency is held constant by a reference list of the language"
        yield Evidence(FREQUENCY, None, None, None, reason)
    else:
        yield Evidence(FREQUENCY, None, None, passes=True, reason="word frequency is held constant")


def _documents(groups: Sequence[ComparedGroup]) -> Evidence:
    """Evidence that passes if the spread of the models of every group is that of other documents."""
    without = [group.name for group in groups if not group.over_documents]
    observed = {"groups": len(groups), "over_documents": len(groups) - len(without)}
    if not without:
        reason = "models of all groups vary by documents"
        return Evidence("documents", observed, len(groups), passes=True, reason=reason)
    single = all(group.replicates == "none" for group in groups if not group.over_documents)
    known = "a single model answers" if single else "random seeds answer"
    reason = (
        f"{known} only whether the same files, trained again, would differ, not whether the corpora do: models of "
        f"{listed(without)} do not vary by documents (biasgauge compare --corpus NAME=FILE trains such models; "
        "biasgauge regress asks the texts themselves, without training)"
    )
    return Evidence("documents", observed, len(groups), passes=False, reason=reason)


def _amounts(groups: Sequence[ComparedGroup]) -> Evidence:
    """Evidence that passes if all groups were trained on the same amount of text; None where that is unknown."""
    tokens = [group.tokens for group in groups if group.tokens]
    if len(tokens) < len(groups):
        return Evidence("amount of text", None, MOST_UNEQUAL, None, "unknown whether amounts of text are equal")
    ratio = max(tokens) / min(tokens)
    listing = ", ".join(f"{group.name} {group.tokens:,}" for group in groups)
    reason = f"models of each group read {listing} tokens"
    observed = {"least": min(tokens), "most": max(tokens), "ratio": ratio}
    if ratio <= MOST_UNEQUAL:
        return Evidence("amount of text", observed, MOST_UNEQUAL, passes=True, reason=reason)
    reason = (
        f"the amount of text alone moves contrasts, and {reason} (largest ratio allowed: {MOST_UNEQUAL:g}; "
        "biasgauge compare --corpus NAME=FILE takes equal amounts)"
    )
    return Evidence("amount of text", observed, MOST_UNEQUAL, passes=False, reason=reason)


def _these_files(case: ComparedCase) -> Evidence:
    """Evidence on the narrower question: would the same files, trained again, differ?"""
    row, alpha = case.row, 1 - case.row.level
    p = _p(row)
    shown = p is not None and p < alpha
    observed = {case.kind: row.value, "low": row.low, "high": row.high, **_equal_frequency(row),
                "p": row.p_decisive, "p_adjusted": p}  # fmt: skip
    if shown:
        reason = f"in these files, {case.statement()} ({case.tested()})"
    else:
        reason = f"not even in these files is a {case.kind} shown ({case.finding()})"
    return Evidence("these files", observed, alpha, passes=shown, reason=reason)


def _stability(case: ComparedCase) -> Iterator[Evidence]:
    """Yield evidence on whether a difference that is shown keeps its direction otherwise."""
    sign = np.sign(case.row.decisive.value or 0.0)
    if case.by_draw is not None:
        agree = int((np.sign(case.by_draw) == sign).sum())
        yield Evidence.directions("draws of the text", agree, len(case.by_draw), 0.75, "")
    if case.effect_size is not None:
        same = bool(np.sign(case.effect_size) == sign)
        size = f"the {case.kind} of effect sizes d is {signed_text(case.effect_size * case.span, 2)}"
        reason = size if same else f"{size}: lengths of cosines differ between groups, not the association"
        yield Evidence("effect size", case.effect_size, 0.0, same, reason)
    if case.counts is not None and case.counts.low is not None:
        value = case.counts.value or 0.0
        against = bool(case.counts.excludes()) and np.sign(value) != sign
        passes = False if against else True if np.sign(value) == sign else None
        yield Evidence("counts", value, 0.0, passes, _count_reason(case.counts))


def _equivalence(case: ComparedCase) -> tuple[Evidence, str]:
    """Test equivalence with no difference where none is shown: two one-sided tests; and what would decide it."""
    alpha, margin = 1 - case.row.level, case.smallest
    if margin is None:
        reason = f"a {case.kind} is neither shown nor ruled out: which size would matter is unknown"
        return Evidence("equivalence", None, None, passes=None, reason=reason), ""
    interval = case.contrast.at(1 - 2 * alpha)
    low, high = (None if end is None else end * case.span for end in (interval.low, interval.high))
    low, high = (high, low) if case.span < 0 else (low, high)
    narrow = decide_equivalence(low, high, margin) == "equivalent"
    ends = interval_text(low, high, DIGITS, signed=True)
    within = f"{level_text(interval.level)} interval {ends}, smallest that matters ±{number_text(margin, DIGITS)}"
    blind = _blindness(case) if narrow else ""
    if blind:
        reason = f"a {case.kind} is neither shown nor ruled out by a narrow interval ({within}): {blind}"
    elif narrow:
        reason = f"any {case.kind} is too small to matter: {within}"
    else:
        reason = f"a {case.kind} is neither shown nor ruled out: {within}"
    observed = {"low": low, "high": high, "level": interval.level, "reliability": case.reliability}
    evidence = Evidence("equivalence", observed, margin, narrow and not blind, reason)
    return evidence, "" if narrow else _words_needed(case)


def _blindness(case: ComparedCase) -> str:
    """Reason why a narrow interval shows nothing: models that learned little differ little, whatever the texts say."""
    if case.counts is not None and case.counts.excludes():
        return _count_reason(case.counts)
    if case.reliability is None or case.reliability >= RELIABLE:
        return ""
    value = number_text(case.reliability, 2)
    return f"models of other documents hardly agree about these words (reliability {value}; {RELIABLE:g} required)"


def _count_reason(counts: CountDifference) -> str:
    ends = f"[{signed_text(counts.low, 2)}, {signed_text(counts.high, 2)}]"
    return f"counts in the texts give {signed_text(counts.value, 2)} {ends} in log odds"


def _words_needed(case: ComparedCase) -> str:
    if case.plan is None or case.smallest is None:
        return ""
    size = number_text(case.smallest, DIGITS)
    if case.plan.both is None:
        return f"; no number of words would show a {case.kind} of {size}: it takes more text"
    remark = f" ({case.plan.remark})" if case.plan.remark else ""
    return f"; about {case.plan.both:,} words in each list would show a {case.kind} of {size}{remark}"
