"""The part of an audit on false alarms: how often it finds an association of lists like its own that mean nothing.

Audits of such lists (`null_lists`) are simulated in the user's own vectors, of each kind as many. Printed is the
largest share of any kind, with its exact interval. Each question is also counted by itself: where p of lists like its
own is at most alpha more often than chance allows, the audit says which property of the lists is at fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from scipy.special import bdtrc

from biasgauge.audits.measurement import Measured, QueryOutcome
from biasgauge.audits.part import PartRows, ShippedPart
from biasgauge.audits.parts.null_lists import NULLS, Null, can_draw, null_tables
from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdict_rule import corrected
from biasgauge.audits.verdicts import Rules
from biasgauge.core import Estimate, Floats, Record
from biasgauge.metrics import contrast_test
from biasgauge.results import Column, RecordTable, Summary, level_text, number_text, share_text, shares_text
from biasgauge.stats import clopper_pearson, contrast_parts

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext

AUDITS = 100
"""Meaningless audits of each kind."""
MOST_QUESTIONS = 40
"""Questions that such an audit asks at most: with more, a random part of them."""
MOST_SIMILARITIES = 400_000
"""Similarities of all models in the questions that it asks, at most: those with the shortest lists are asked."""
FACTOR = 2.0
"""Times as frequent as the words of another list from which on lists count as of unequal frequency."""
WRONG_ACCUSATIONS = 0.05
"""How often lists may be blamed that are not at fault, over all questions and kinds of meaningless lists."""

Together = Literal["all", "primary", "others"]
"""Questions that are judged together."""


@dataclass(frozen=True)
class QuestionRate(Record):
    """Share of meaningless lists like those of one question whose p, not adjusted, is at most alpha.

    Attributes:
        question: the question.
        found: number of lists.
        rate: their share.
        low, high: its exact 95 % interval.
        fails: whether they are more than chance allows, over all questions and kinds of lists.
        why: property of the question's own lists that is at fault; empty where nothing fails.
        advice: remedy, likewise.
    """

    question: str
    found: int
    rate: float
    low: float | None
    high: float | None
    fails: bool = False
    why: str = ""
    advice: str = ""

    @property
    def share(self) -> Estimate:
        """The rate with its interval."""
        return Estimate(value=self.rate, low=self.low, high=self.high)


@dataclass(frozen=True)
class ErrorRate(Record):
    """Share of audits of meaningless lists that would have found an association.

    Attributes:
        subject: the vectors.
        null: null hypothesis under which the lists were drawn.
        about: its description.
        audits: number of simulated audits.
        found: number that would have found an association: an upper bound of the number with the decision "report".
        rate: their share.
        low, high: its exact 95 % interval.
        alpha: the rate that the audit promises at most.
        together: the questions that are judged together.
        questions: the same for each of them by itself.
    """

    subject: str
    null: Null
    about: str
    audits: int
    found: int
    rate: float
    low: float | None
    high: float | None
    alpha: float
    together: Together = "all"
    questions: tuple[QuestionRate, ...] = ()

    @property
    def share(self) -> Estimate:
        """The rate with its interval."""
        return Estimate(value=self.rate, low=self.low, high=self.high)


@dataclass(frozen=True)
class FalseAlarms(Record):
    """Largest rate of false alarms over all kinds of meaningless lists.

    Attributes:
        rate, low, high: share of audits that would have found an association, with its exact 95 % interval.
        found, audits: numbers that it is made of.
        kind: null hypothesis under which the lists were drawn.
        about: its description.
        subject: the vectors.
        alpha: the rate that the audit promises at most.
        above: "interval" where the whole interval lies above alpha, "estimate" where the rate alone does; else empty.
        kinds: largest rate of each kind, with "found", "audits", "low" and "high".
    """

    rate: float
    low: float | None
    high: float | None
    found: int
    audits: int
    kind: Null
    about: str
    subject: str
    alpha: float
    above: Literal["", "estimate", "interval"]
    kinds: Mapping[Null, Mapping[str, float | int | None]]

    @property
    def text(self) -> str:
        """Rate and interval: 4.0 % [1.1, 9.9]."""
        return f"{share_text(self.rate, 1)} {shares_text(self.low, self.high, 1)}"


def false_alarms(rates: Sequence[ErrorRate]) -> FalseAlarms | None:
    """Return the largest of some error rates; None where there are none."""
    by_kind = {
        null: max(same, key=lambda rate: rate.rate)
        for null in NULLS
        if (same := [rate for rate in rates if rate.null == null])
    }
    if not by_kind:
        return None
    # Of kinds with one rate the last, in which more of the lists' own words are replaced.
    worst = max(reversed(by_kind.values()), key=lambda rate: rate.rate)
    above: Literal["", "estimate", "interval"] = "estimate" if worst.rate > worst.alpha else ""
    if (worst.low or 0.0) > worst.alpha:
        above = "interval"
    return FalseAlarms(
        rate=worst.rate,
        low=worst.low,
        high=worst.high,
        found=worst.found,
        audits=worst.audits,
        kind=worst.null,
        about=worst.about,
        subject=worst.subject,
        alpha=worst.alpha,
        above=above,
        kinds={
            null: {name: getattr(rate, name) for name in ("rate", "low", "high", "found", "audits")}
            for null, rate in by_kind.items()
        },
    )


def false_alarm_warnings(rates: Sequence[ErrorRate]) -> tuple[str, ...]:
    """Warnings to read before trusting a verdict: too many false alarms, and lists that make them."""
    worst = false_alarms(rates)
    warnings = []
    if worst is not None and worst.above == "interval":
        warnings.append(
            f"false alarms: {worst.text} of audits of lists that mean nothing find an association in {worst.subject} "
            f"({worst.about}), more than the {level_text(worst.alpha)} promised; no association of this audit is "
            "beyond such lists"
        )
    blamed: dict[tuple[str, str, str, str], QuestionRate] = {}
    for rate in rates:
        for question in rate.questions:
            key = (rate.subject, question.question, question.why, question.advice)
            if question.fails and (key not in blamed or question.rate > blamed[key].rate):
                blamed[key] = question
    warnings += [
        f"{name} in {subject}: {why}; p of such lists without a meaning is at most {number_text(rates[0].alpha)} in "
        f"{share_text(question.rate)} {shares_text(question.low, question.high)}: {advice}"
        for (subject, name, why, advice), question in blamed.items()
    ]
    return tuple(warnings)


@dataclass(frozen=True)
class _QuestionRow:
    """A row of the table of questions."""

    question: QuestionRate
    subject: str
    about: str


@dataclass(frozen=True, eq=False, repr=False)
class ErrorRates(PartRows):
    """Error rates of an audit."""

    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "rows",
            "Simulated audits of meaningless lists",
            (
                Column("vectors", source="subject"),
                Column("lists", source="about"),
                Column("questions", source="together"),
                "audits",
                Column("found something", "count", source="found"),
                Column("share", "estimate", 4),
            ),
            drop_constant=("questions", "vectors"),
            name="error-rates",
        ),
        RecordTable(
            "by_question",
            "Meaningless lists like those of each question: unadjusted p",
            (
                Column("question", source="question.question"),
                Column("vectors", source="subject"),
                Column("lists", source="about"),
                Column("p at most alpha", "count", source="question.found"),
                Column("share", "estimate", 4, source="question.share"),
                Column("at fault", source="question.why"),
            ),
            folded=True,
            drop_constant=("vectors",),
            name="false-alarms-by-question",
        ),
    )

    @property
    def by_question(self) -> tuple[_QuestionRow, ...]:
        """Rates of questions by themselves, the largest first."""
        rows = [_QuestionRow(question, rate.subject, rate.about) for rate in self.rows for question in rate.questions]
        return tuple(sorted(rows, key=lambda row: -row.question.rate))

    def _headline(self) -> str:
        worst = false_alarms(self.rows)
        if worst is None:
            return ""
        which = (
            f"The highest of {len(worst.kinds)} false-alarm rates" if len(worst.kinds) > 1 else "The false-alarm rate"
        )
        sentence = f"{which} is {worst.text} in {worst.audits} audits ({worst.about})"
        promised = level_text(worst.alpha)
        remarks = {
            "": ".",
            "estimate": f": above the {promised} promised, but within what chance gives in {worst.audits} audits.",
            "interval": f": more than the {promised} promised. Findings of this audit may be false alarms.",
        }
        return f"{sentence}{remarks[worst.above]}"


def error_rates(
    measured: Sequence[QueryOutcome], rules: Rules, random_state: int, audits: int = AUDITS
) -> tuple[ErrorRate, ...]:
    """Audit meaningless lists of the same sizes, on each subject and in each way."""
    rates: list[ErrorRate] = []
    for subject in dict.fromkeys(outcome.subject for outcome in measured):
        outcomes = [outcome for outcome in measured if outcome.subject is subject and isinstance(outcome, Measured)]
        random = np.random.default_rng([random_state, 19])
        simulated = {
            null: _simulate(usable, null, rules.alpha, audits, random)
            for outcomes in [_questions_to_simulate(outcomes, random)]
            for null in NULLS
            if (usable := [outcome for outcome in outcomes if can_draw(outcome, null)])
        }
        counts = sum(len(p_values) for p_values in simulated.values())
        for null, p_values in simulated.items():
            rates += _rates_of_null(subject, null, p_values, rules, WRONG_ACCUSATIONS / counts)
    return tuple(rates)


def _questions_to_simulate(outcomes: Sequence[Measured], random: np.random.Generator) -> list[Measured]:
    """Return a random part of very many questions, and of very long lists the shorter ones."""
    chosen: Sequence[int] = range(len(outcomes))
    if len(outcomes) > MOST_QUESTIONS:
        chosen = random.choice(len(outcomes), MOST_QUESTIONS, replace=False).tolist()
    by_size = sorted(chosen, key=lambda index: (outcomes[index].table.size, index))
    totals = np.cumsum([outcomes[index].table.size for index in by_size])
    return [outcomes[index] for index in sorted(np.array(by_size, np.intp)[totals <= MOST_SIMILARITIES].tolist())]


def _simulate(
    outcomes: Sequence[Measured], null: Null, alpha: float, audits: int, random: np.random.Generator
) -> dict[Measured, Floats]:
    """Return p of each question in each simulated audit; 1 where it is above alpha.

    Corrections for many questions adjust no p above alpha to one below it, nor any other p by it.
    """
    simulated = {}
    for measurement in outcomes:
        weights, p_values = measurement.query.weights, np.ones(audits)
        for audit, drawn in enumerate(null_tables(measurement, null, audits, random)):
            if drawn.p_floor(weights) > alpha:
                continue
            table, rows, columns = drawn.complete()
            p = float(contrast_parts(table[None], rows, columns, weights).p[0])
            if p <= alpha:  # the other tests can only make it larger
                p_values[audit] = contrast_test(table, rows, columns, weights).p or p
        simulated[measurement] = p_values
    return simulated


def _rates_of_null(
    subject: Subject, null: Null, p_values: Mapping[Measured, Floats], rules: Rules, wrong: float
) -> Iterator[ErrorRate]:
    """Yield the rate of the primary questions, and of the others; `wrong` is the error of blaming one's lists."""
    primary = [outcome for outcome in p_values if outcome.query.name in rules.primary]
    others = [outcome for outcome in p_values if outcome.query.name not in rules.primary]
    names: tuple[Together, Together] = ("primary", "others") if primary and others else ("all", "all")
    for together, outcomes in zip(names, (primary, others), strict=True):
        if not outcomes:
            continue
        families = [outcome.query.family for outcome in outcomes]
        by_audit = np.stack([p_values[outcome] for outcome in outcomes], axis=1).tolist()
        audits = len(by_audit)
        found = sum(
            any(
                correction.p <= rules.alpha
                for correction in corrected(
                    dict(enumerate(zip(families, p_of_audit, strict=True))), rules.alpha, rules.correction
                ).values()
            )
            for p_of_audit in by_audit
        )
        share = clopper_pearson(found, audits)
        questions = tuple(_question_rate(outcome, null, p_values[outcome], rules.alpha, wrong) for outcome in outcomes)
        yield ErrorRate(
            subject.name, null, NULLS[null], audits, found, found / audits, share.low, share.high, rules.alpha,
            together, questions,
        )  # fmt: skip


def _question_rate(outcome: Measured, null: Null, p_values: Floats, alpha: float, wrong: float) -> QuestionRate:
    audits, found = len(p_values), int((p_values <= alpha).sum())
    share = clopper_pearson(found, audits)
    # Chance of so many or more where each p is at most alpha with probability alpha.
    fails = bool(found and bdtrc(found - 1, audits, alpha) <= wrong)
    why, advice = property_at_fault(outcome, null) if fails else ("", "")
    return QuestionRate(outcome.query.name, found, found / audits, share.low, share.high, fails, why, advice)


def property_at_fault(outcome: Measured, null: Null) -> tuple[str, str]:
    """Property of the lists of a question that makes lists of a null fail, and what to do about it."""
    contrast = outcome.test.contrast
    if null == "near":
        sizes = [(count, size) for side in zip(contrast.effective, contrast.words, strict=True)
                 for count, size in zip(*side, strict=True)]  # fmt: skip
        effective, size = min(sizes, key=lambda pair: pair[0] / pair[1])
        why = f"its words are near each other ({size} words of a list count for {number_text(effective, 1)})"
        return why, "use words that are less alike, and more of them"
    if null == "sizes":
        side = max(contrast.words, key=lambda sizes: max(sizes) / min(sizes))
        why = f"its lists are of unequal size ({' and '.join(map(str, side))} words)"
        return why, "use lists of about as many words each"
    if null in ("frequency", "matched") and (factor := frequency_factor(outcome)) >= FACTOR:
        why = f"its lists differ in word frequency (by a factor of {factor:,.0f})"
        advice = "use words of similar frequency in lists that are compared"
        if outcome.similarities.centered is None:
            advice += ", or vectors with word counts, with which frequency is held constant"
        return why, advice
    if null in ("relabeled", "matched"):
        return "its targets differ along any attributes", "use more attributes, of more different kinds"
    return "random words of the frequencies of its own differ", "use more words in each list"


def frequency_factor(outcome: Measured) -> float:
    """Return how many times as frequent the words of one list are as those of another, on the side where it is most.

    Of the geometric means of frequencies; where these are not known, of the rows of the words in the file.
    """
    factors = [1.0]
    for words in (outcome.similarities.targets, outcome.similarities.attributes):
        logs = -np.log10(words.rows + 1) if words.frequencies is None else words.frequencies
        means = [float(logs[words.groups == group].mean()) for group in range(int(words.groups.max()) + 1)]
        factors.append(10 ** (max(means) - min(means)))
    return max(factors)


def measure_error_rates(context: AuditContext) -> ErrorRates:
    """Audit random lists of the same sizes, on each subject and under each null."""
    return ErrorRates(error_rates(context.outcomes, context.rules, context.random_state))


def summarize_error_rates(result: ErrorRates) -> Summary | None:
    """Section on the error rates, which names the rate that the audit promises."""
    if not result.rows:
        return None
    about = (
        "Share of simulated audits of meaningless lists, as many and as long as those of this audit, that find an "
        f"association in these vectors. At most {level_text(result.rows[0].alpha)} is promised."
    )
    return replace(result.summary(), about=about, warnings=false_alarm_warnings(result.rows))


PART = (
    ShippedPart(
        "error_rates", "Error rates of this audit", measure_error_rates, summarize_error_rates, order=100,
        stage="chance lists", read=ErrorRates.reader(ErrorRate.from_dict), front=True,
    ),
)  # fmt: skip
