"""Calibration in an audit: what the verdicts say of planted sets, and contrasts told as planted odds ratios."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.analyses.calibrate import (
    LARGEST,
    Calibration,
    CalibrationLimit,
    DetectionRate,
    Equivalent,
    as_odds,
    limit_text,
    odds_text,
)
from biasgauge.audits.answers import answer_queries
from biasgauge.audits.measurement import measure as measure_query
from biasgauge.audits.shared_scores import SharedScores
from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdicts import Evidence, Rules, Verdict
from biasgauge.core import REPORTED, JsonMapping, WordPolicy
from biasgauge.lexicons import AssociationTest, Lexicon, WordSet, queries_from_lexicons
from biasgauge.results import Column, RecordTable, Result, Shown, Summary, Tone, counted
from biasgauge.scores import ScoreTensor
from biasgauge.stats import DoseResponse, Side, Z, contrast_bounds, dose_of_score, wilson
from biasgauge.vectors import load

if TYPE_CHECKING:
    from biasgauge.analyses.calibrate import Readings

MEASURE = "dbwa"
"""A contrast is the difference of two mean scores by this measure."""
RULE = "calibration"
SIZES, SETS = (8, 25), 6
Decisions = dict[tuple[str, int, float], list[float]]
"""By rule, number of words and dose: for each set whether it would be reported."""


def verdict_rates(readings: Readings, models: Sequence[Sequence[Any]]) -> tuple[DetectionRate, ...]:
    """Rates at which the audit would report an association of planted sets, by number of words and dose.

    Each set of carriers of a dose, with as many blanks, is one question to the models of its text as replicates. At
    dose 0 this is the audit's false-positive rate for a single question.
    """
    return decision_rates(readings, [verdict_decisions(readings, draw, sources) for draw, sources in enumerate(models)])


def verdict_decisions(readings: Readings, draw: int, sources: Sequence[Any]) -> Decisions:
    """Decisions of the audit about sets of carriers of one planted text, whose models are replicates."""
    from biasgauge.analyses.calibrate import carrier_sets  # compiled, as planting is: an audit needs none of it

    random = np.random.default_rng([23, draw])
    decided: Decisions = {}
    subject = Subject(f"text {draw}", tuple(load(source) for source in sources))
    carriers = readings.words[: readings.carriers]
    half = len(carriers) // 2
    every = planted_question(subject, readings.ends, carriers[:half], carriers[half:])
    scores = SharedScores(subject.models, (every,), case_fallback=False, most_words=0)
    for size in SIZES:
        for level in np.unique(readings.levels).tolist():
            for _ in range(SETS):
                words = carrier_sets(readings, size, level, draw, random)
                if words is not None:
                    decision = planted_decision(subject, scores, planted_question(subject, readings.ends, *words))
                    for name, passes in (
                        ("verdict: report", decision == "report"),
                        ("verdict: report or report with care", decision in REPORTED),
                    ):
                        decided.setdefault((name, size, level), []).append(float(passes))
    return decided


def decision_rates(readings: Readings, decided: Iterable[Decisions]) -> tuple[DetectionRate, ...]:
    """Shares of sets that are reported, over all planted texts; intervals are of as many sets as share no word."""
    blanks = (readings.levels == 0).sum(axis=0).tolist()
    pooled: Decisions = {}
    for of_text in decided:
        for condition, passes in of_text.items():
            pooled.setdefault(condition, []).extend(passes)
    return tuple(
        DetectionRate(
            name, size, level,
            wilson(float(np.mean(seen)), max(1, sum(count // (2 * size) for count in blanks)), 0.95, over="sets"),
            len(seen),
        )
        for (name, size, level), seen in sorted(pooled.items())
    )  # fmt: skip


def planted_question(
    subject: Subject, ends: tuple[tuple[str, ...], tuple[str, ...]], carriers: Sequence[str], blanks: Sequence[str]
) -> AssociationTest:
    """Build the test whether carriers are more associated with first ends than blanks are."""
    shared = [tuple(word for word in words if all(word in model for model in subject.models)) for words in ends]
    return AssociationTest(
        name="planted", x=WordSet("carriers", tuple(carriers)), y=WordSet("blanks", tuple(blanks)),
        a=WordSet("first ends", shared[0]), b=WordSet("second ends", shared[1]),
    )  # fmt: skip


def planted_decision(subject: Subject, scores: SharedScores, question: AssociationTest) -> str:
    """The verdict of an audit; `scores` holds those of all words that are asked about."""
    policy = WordPolicy(min_coverage=0.5, case="exact")
    measured = [measure_query(query, subject, policy, 0) for query in queries_from_lexicons([question])]
    return answer_queries(measured, rules=Rules(), scores=scores, policy=policy, random_state=0)[0].decision


def _limit(limit: CalibrationLimit) -> Shown | None:
    return None if limit.odds_ratio is None else Shown(limit.odds_ratio, limit_text(limit.detection))


def _limit_remark(limit: CalibrationLimit) -> str:
    return limit.detection.reason or ("beyond what was planted" if limit.beyond else "")


LIMITS = RecordTable(
    "limits",
    "Limits of blank and of detection (DB/WA)",
    (
        Column("words", "count"),
        Column("leaning to", source=lambda limit: f"{limit.side} end"),
        Column("limit of blank", "number", 4, source="blank"),
        Column("limit of detection, odds ratio", "number", 2, source=_limit),
        Column("remark", source=_limit_remark),
    ),
    name="calibration-limits",
)
YES_OR_NO: dict[str, Tone] = {"yes": "good", "no": "quiet"}
WORDS = RecordTable(
    "by_dose",
    "Words as planted odds ratios",
    (
        "word",
        Column("score", "number", 3),
        Column("planted odds ratio", "number", 2, source=lambda word: Shown(word.dose.value, as_odds(word.dose))),
        Column("detected", "mark", tones=YES_OR_NO, source=lambda word: "yes" if word.detected else "no"),
    ),
    most=12,
    folded=True,
    name="calibration-words",
)


@dataclass(frozen=True, eq=False, repr=False)
class CalibratedScores(Result):
    """Scores of words in the audited models as planted odds ratios, and what can be detected at all.

    Attributes:
        words: words of the shipped lists.
        limits: of the measure, by number of words.
        settings: of the calibration: text, recipe, design.
        remark: what was not known about it.
        largest: the largest planted log odds ratio.
        moved: how far that moves a score.
        generalization: sentence on the texts and plantings that the limits hold for.
    """

    tables: ClassVar[tuple[str, ...]] = ("words",)

    words: tuple[Equivalent, ...]
    limits: tuple[CalibrationLimit, ...]
    settings: JsonMapping
    remark: str = ""
    largest: float = 0.0
    moved: float = 0.0
    generalization: str = ""

    @property
    def too_coarse(self) -> bool:
        """True if one word would need a larger odds ratio than anybody would plant: none can be detected then."""
        single = [limit.odds_ratio for limit in self.limits if limit.words == 1]
        return not any(ratio is not None and ratio <= LARGEST for ratio in single)

    def summary(self) -> Summary:
        """Limits, then words."""
        seen = sum(word.detected is True for word in self.words)
        tokens = self.settings.get("corpus", {}).get("tokens")
        vectors = f"vectors trained on it{'' if tokens is None else f' ({tokens:,} tokens)'}"
        remark = "The interval covers the dose of a single word with this score."
        words = WORDS
        if self.too_coarse:
            columns = WORDS.columns[:2] + WORDS.columns[3:]
            words = replace(WORDS, title="Words beyond the limit of detection", columns=columns)
            remark = (
                "Scores of real words differ by more than what was planted moves them: they rest on all contexts of a "
                "word, not only on mentions beside it."
            )
        return Summary(
            title="Calibration",
            headline=f"{seen} of {counted(self.words, 'word')} of the lists score beyond the limit of detection."
            + self._needed(),
            about=f"Associations of known strength were planted in text and {vectors}. An odds ratio above 1 leans to "
            f"the first end of the base pairs{self._first_end()}. {remark} {self.generalization}".rstrip(),
            tables=(LIMITS.fill(self), words.fill(self)),
            warnings=(self.remark,) if self.remark else (),
        )

    @property
    def by_dose(self) -> list[Equivalent]:
        """Words in the order of their doses."""
        return sorted(self.words, key=lambda word: word.dose.value or 0.0)

    def _first_end(self) -> str:
        """The first words of the first base pairs, in brackets."""
        firsts = list(dict.fromkeys(pair[0] for pair in self.settings.get("pairs", ())))
        return f" ({', '.join(firsts[:3])}{', …' if firsts[3:] else ''})" if firsts else ""

    def _needed(self) -> str:
        """Sentence on the odds ratio that a single word needs to be detected."""
        single = next((limit for limit in self.limits if limit.words == 1), None)
        if single is None:
            return ""
        if self.too_coarse:
            return (
                f" An odds ratio of {odds_text(self.largest)}, the largest planted, moves the score of a word by "
                f"{self.moved:.3f}, which is below the limit of detection."
            )
        return f" A single word needs a planted odds ratio of {limit_text(single.detection)}."


def calibrated_scores(calibration: Calibration, scores: ScoreTensor) -> CalibratedScores:
    """Scores of words as planted odds ratios, with the limits of the measure."""
    words = calibration.equivalent(scores, measure=MEASURE).words
    limits = tuple(limit for limit in calibration.limits if limit.of == "measure" and limit.name == MEASURE)
    largest, moved = _largest(calibration)
    return CalibratedScores(
        tuple(word for word in words if word.score is not None), limits, calibration.settings,
        "; ".join(calibration.warnings), largest, moved, calibration.generalization,
    )  # fmt: skip


def in_planted_units(
    verdicts: Sequence[Verdict], lexicons: Sequence[Lexicon], calibration: Calibration | None
) -> tuple[Verdict, ...]:
    """Add to verdicts on contrasts with the calibrated ends the planted odds ratio and the limit of detection."""
    if calibration is None:
        return tuple(verdicts)
    tests = {lexicon.name: lexicon for lexicon in lexicons if isinstance(lexicon, AssociationTest)}
    return tuple(_in_units(verdict, tests.get(verdict.question), calibration) for verdict in verdicts)


def _in_units(verdict: Verdict, lexicon: AssociationTest | None, calibration: Calibration) -> Verdict:
    contrast = verdict.observed("association").get("contrast")
    sides = None if lexicon is None else _sides(lexicon, calibration)
    if contrast is None or sides is None:
        return verdict
    sign, sizes = sides
    response = calibration.curve(MEASURE).response
    words = 1 / sum(1 / size for size in sizes)  # the variance of a difference of two means
    alone = replace(
        response, intercept=0.0, covariance=((0.0, 0.0), (0.0, response.covariance[1][1])),
        variances=replace(response.variances, shift=0.0),
    )  # fmt: skip
    dose = dose_of_score(sign * contrast, alone, words=words)
    if dose.value is None or not response.slope.value:
        return verdict
    needed, limit = _contrast_limit(calibration, sizes, sign * contrast, alone, words)
    seen = abs(dose.value) >= limit
    if limit > log(LARGEST):
        piece = _beyond_odds(contrast, needed, calibration)
        return replace(verdict, why=f"{verdict.why}; {piece.reason}", evidence=(*verdict.evidence, piece))
    below = "" if seen else ": below it"
    reading = f"as a planted odds ratio of {as_odds(dose)} would give (limit of detection {odds_text(limit)}{below})"
    observed = {name: None if value is None else exp(value) for name, value in
                (("odds_ratio", dose.value), ("low", dose.low), ("high", dose.high))}  # fmt: skip
    piece = Evidence(RULE, observed, exp(limit), seen, reading, "calibration")
    claim = f"{verdict.claim}, {reading}" if verdict.claim else verdict.claim
    return replace(verdict, claim=claim, why=f"{verdict.why}; {reading}", evidence=(*verdict.evidence, piece))


def _contrast_limit(
    calibration: Calibration, sizes: tuple[int, int], contrast: float, response: DoseResponse, words: float
) -> tuple[float, float]:
    """Limit of detection of a contrast of such lists, as a contrast and as a log odds ratio of the calibrated text."""
    lines = [line.line for line in calibration.lines if line.measure == MEASURE]
    if not lines:  # of an earlier version: variances and slope are taken as known
        needed = 2 * Z * sqrt(response.variances.of_mean(words))
        return needed, needed / (response.slope.value or inf)
    # Audited vectors may be of the first text or of a new one: the larger limit holds for both.
    side: Side = "first" if contrast >= 0 else "second"
    needed, excess = map(max, zip(*(contrast_bounds(used, sizes, side) for used in (lines, lines[:1])), strict=True))
    text = calibration.texts[0]
    dose = None if excess == inf else text.dose_of_excess(excess if contrast >= 0 else -excess)
    return needed, inf if dose is None else abs(dose)


def _beyond_odds(contrast: float, needed: float, calibration: Calibration) -> Evidence:
    """Evidence where no plausible odds ratio is detected: shift by the largest one, beside the limit of detection."""
    largest, moved = _largest(calibration)
    reading = (
        f"for scale: planting an odds ratio of {odds_text(largest)}, the largest tried, moves a contrast by "
        f"{moved:.3f}; the limit of detection is {needed:.3f}"
    )
    observed = {"contrast": contrast, "of_largest_planted": moved}
    return Evidence(RULE, observed, needed, abs(contrast) >= needed, reading, "calibration")


def _largest(calibration: Calibration) -> tuple[float, float]:
    """The largest planted log odds ratio, and how far it moves a score."""
    curve = calibration.curve(MEASURE)
    largest = max((abs(point.dose) for point in curve.points), default=0.0)
    return largest, abs(curve.response.slope.value or 0.0) * largest


def _sides(lexicon: AssociationTest, calibration: Calibration) -> tuple[float, tuple[int, int]] | None:
    """Sign of the contrast and sizes of its lists, where attributes or targets are calibrated ends; else None."""
    pairs = calibration.settings.get("pairs", ())
    first, second = ({pair[end].lower() for pair in pairs} for end in (0, 1))
    for ends, words in ((("a", "b"), ("x", "y")), (("x", "y"), ("a", "b"))):
        first_set, second_set = ([word.lower() for word in lexicon.roles[role].words] for role in ends)
        for sign, groups in ((1.0, (first, second)), (-1.0, (second, first))):
            if all(
                2 * sum(word in group for word in members) >= len(members)
                for members, group in zip((first_set, second_set), groups, strict=True)
            ):
                return sign, tuple(len(lexicon.roles[role].words) for role in words)  # type: ignore[return-value]
    return None
