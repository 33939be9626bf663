"""Null distributions from random word lists, and the two parts of an audit that show them.

Three null hypotheses are simulated in the user's own vectors: attributes relabeled by a coin toss; every word replaced
by a random word; attributes replaced by random words of like frequency. Error rates are the shares of audits of such
lists that find an association; chance bands compare each measured contrast with those of random words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from biasgauge.audits.measurement import CANDIDATES, Measured, QueryOutcome, matched
from biasgauge.audits.part import PartRows, ShippedPart
from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdict_rule import corrected
from biasgauge.core import Estimate, Floats, Record, unit_vectors
from biasgauge.metrics import contrast_test
from biasgauge.results import Column, RecordTable, Summary, counted, level_text, share_text
from biasgauge.stats import clopper_pearson, contrast_parts

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext

Null = Literal["relabeled", "shuffled", "matched"]
NULLS: dict[Null, str] = {
    "relabeled": "attributes relabeled by a coin toss",
    "shuffled": "every word replaced by a random word of the vocabulary",
    "matched": "attributes replaced by random words of like frequency",
}
AUDITS = 200
"""Meaningless audits of each kind."""
MOST_QUESTIONS = 40
"""Questions that such an audit asks at most: with more, a random part of them."""
DRAWS = 500
"""Random lists with which a contrast is compared."""
LIST = 8
"""Words in each of the unrelated lists whose contrasts define the smallest contrast that matters; a usual size."""
BINS = 40
POOL = 1_000
"""Words of the vocabulary from which random words are drawn."""
CELLS = 10_000
"""Similarities of one model up to which a question is simulated."""


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

    @property
    def share(self) -> Estimate:
        """The rate with its interval."""
        return Estimate(value=self.rate, low=self.low, high=self.high)


@dataclass(frozen=True, eq=False, repr=False)
class ErrorRates(PartRows):
    """Error rates of an audit."""

    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "rows",
            "Audits of meaningless lists in these vectors",
            (
                Column("vectors", source="subject"),
                Column("lists", source="about"),
                "audits",
                Column("found something", "count", source="found"),
                Column("share", "estimate", 3),
            ),
            name="error-rates",
        ),
    )

    def _headline(self) -> str:
        worst = max(self.rows, key=lambda rate: rate.rate)
        return (
            f"Of {worst.audits} audits of lists that mean nothing, at most {share_text(worst.rate, 1)} would have "
            f"found an association ({worst.about})."
        )


def error_rates(
    measured: Sequence[QueryOutcome], alpha: float, random_state: int, audits: int = AUDITS
) -> tuple[ErrorRate, ...]:
    """Audit meaningless lists of the same sizes, on each subject and in each way."""
    rates = []
    for subject in dict.fromkeys(outcome.subject for outcome in measured):
        outcomes = [outcome for outcome in measured if outcome.subject is subject and isinstance(outcome, Measured)]
        random = np.random.default_rng([random_state, 19])
        if len(outcomes) > MOST_QUESTIONS:
            chosen = sorted(random.choice(len(outcomes), MOST_QUESTIONS, replace=False))
            outcomes = [outcomes[index] for index in chosen]
        for null, description in NULLS.items():
            usable = [outcome for outcome in outcomes if _can_simulate(outcome, null)]
            if not usable:
                continue
            hits = _count_false_alarms(usable, null, alpha, audits, random)
            share = clopper_pearson(hits, audits)
            rates.append(
                ErrorRate(subject.name, null, description, audits, hits, hits / audits, share.low, share.high, alpha)
            )
    return tuple(rates)


def _can_simulate(measurement: Measured, null: Null) -> bool:
    """Return True if the null can be simulated: pairs are not relabeled, and very long lists take too long."""
    return (null == "shuffled" or not measurement.query.pairs) and measurement.table[0].size <= CELLS


def _count_false_alarms(
    outcomes: Sequence[Measured], null: Null, alpha: float, audits: int, random: np.random.Generator
) -> int:
    """Count the simulated audits in which any question has a small p after correction."""
    by_audit: list[dict[int, tuple[str, float]]] = [{} for _ in range(audits)]
    for number, measurement in enumerate(outcomes):
        tables = _null_tables(measurement, null, audits, random)
        p_values = contrast_parts(tables, measurement.rows, measurement.columns, measurement.query.weights).p
        for audit, p in enumerate(p_values):
            largest = 1.0 if np.isnan(p) else float(p)
            if largest <= alpha:  # the other tests can only make it larger
                test = contrast_test(tables[audit], measurement.rows, measurement.columns, measurement.query.weights)
                largest = 1.0 if test.p is None else test.p
            by_audit[audit][number] = (measurement.query.family, largest)
    return sum(any(test.p <= alpha for test in corrected(p_values, alpha).values()) for p_values in by_audit)


def _null_tables(measurement: Measured, null: Null, count: int, random: np.random.Generator) -> Floats:
    """Draw tables of similarities under a null: count × models × targets × attributes."""
    rows, columns = measurement.table.shape[1:]
    if null == "relabeled":
        order = random.random((count, columns)).argsort(axis=1)
        return np.moveaxis(measurement.table[:, :, order], 2, 0)
    models = measurement.subject.models
    if any(model.words != models[0].words for model in models):  # rows are drawn once, for all models
        models = models[:1]
    tables = np.empty((count, len(models), rows, columns))
    if null == "shuffled":
        paired = bool(measurement.query.pairs)
        needed = rows + (1 + paired) * columns
        pool = random.choice(len(models[0]), min(max(POOL, 2 * needed), len(models[0])), replace=False)
        drawn = random.random((count, len(pool))).argsort(axis=1)[:, :needed]
        for index, model in enumerate(models):
            units = unit_vectors(model, pool)
            ends = (units @ units.T)[drawn[:, :rows, None], drawn[:, None, rows:]]
            tables[:, index] = ends[..., :columns] - ends[..., columns:] if paired else ends
        return tables
    targets, attributes = measurement.places
    choices = np.stack([matched(attributes, len(models[0]), random) for _ in range(CANDIDATES)])
    picked = random.integers(0, CANDIDATES, (count, columns))
    for index, model in enumerate(models):
        similar = unit_vectors(model, targets) @ unit_vectors(model, choices.ravel()).T
        similar = similar.reshape(rows, CANDIDATES, columns)
        tables[:, index] = np.moveaxis(similar[:, picked, np.arange(columns)], 1, 0)
    return tables


def chance_contrasts(measurement: Measured, random_state: int, draws: int = DRAWS) -> Floats:
    """Contrasts of random attributes of like frequency; along pairs, of random targets."""
    random = np.random.default_rng([random_state, 7])
    if not measurement.query.pairs:
        tables = _null_tables(measurement, "matched", draws, random)
        return contrast_parts(tables, measurement.rows, measurement.columns, measurement.query.weights).value
    leans = measurement.random_leans
    if not leans.size:
        return leans
    drawn = random.choice(
        leans - leans.mean() if measurement.query.kind == "lean" else leans, (draws, len(measurement.rows))
    )
    groups = [drawn[:, measurement.rows == group].mean(axis=1) for group in range(len(measurement.query.weights))]
    return np.asarray(np.array([weight for (weight,) in measurement.query.weights]) @ np.stack(groups))


@dataclass(frozen=True)
class ChanceBand(Record):
    """A contrast beside those of random words of like frequency, as attributes; along base pairs, as targets.

    Attributes:
        question: the question.
        model: the vectors.
        contrast: the contrast measured.
        band: 95 % of the random lists give a contrast nearer to 0 than this.
        edges: edges of the bins of a histogram of their contrasts.
        counts: how many lie in each.
    """

    question: str
    model: str
    contrast: float
    band: float
    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class ChanceBands(PartRows):
    """Contrasts by chance of every question."""

    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "rows",
            "Contrasts of random words, and those measured",
            (
                Column("question", "lexicon"),
                Column("vectors", source="model"),
                Column("contrast", "number", 3),
                Column("95 % of random lists below", "number", 3, source="band"),
            ),
            folded=True,
            name="chance",
        ),
    )

    def _headline(self) -> str:
        outside = sum(abs(band.contrast) > band.band for band in self.rows)
        contrasts = counted(self.rows, "contrast is", "contrasts are")
        return f"{outside} of {contrasts} larger than those of 95 % of random lists."


def chance_band(measurement: QueryOutcome, random_state: int) -> ChanceBand | None:
    """Contrasts by chance as a histogram; None where there are none."""
    if not isinstance(measurement, Measured):
        return None
    drawn = chance_contrasts(measurement, random_state)
    if not drawn.size:
        return None
    counts, edges = np.histogram(drawn, BINS)
    question, model = measurement.query.name, measurement.subject.name
    band = float(np.quantile(np.abs(drawn), 0.95))
    return ChanceBand(question, model, measurement.value, band, tuple(edges.tolist()), tuple(counts.tolist()))


def smallest_contrast(subject: Subject, outcomes: Sequence[Measured], random_state: int, draws: int = 1_000) -> float:
    """One standard deviation (around 0) of the contrasts of unrelated lists of eight words of like frequency."""
    rows_of_lists = [np.concatenate(measurement.places) for measurement in outcomes if not measurement.query.pairs]
    rows = np.concatenate(rows_of_lists) if rows_of_lists else np.arange(min(len(subject.models[0]), 1_000))
    model = subject.models[0]
    random = np.random.default_rng([random_state, 11])
    drawn = np.stack([matched(random.choice(rows, 4 * LIST), len(model), random) for _ in range(draws)])
    units = unit_vectors(model, drawn.ravel()).reshape(draws, 4 * LIST, -1)
    means = units.reshape(draws, 4, LIST, -1).mean(axis=2)
    values = ((means[:, 0] - means[:, 1]) * (means[:, 2] - means[:, 3])).sum(axis=1)
    return float(np.sqrt(np.mean(np.square(values))))


def measure_error_rates(context: AuditContext) -> ErrorRates:
    """Audit random lists of the same sizes, on each subject and under each null."""
    return ErrorRates(error_rates(context.outcomes, context.rules.alpha, context.random_state))


def measure_chance(context: AuditContext) -> ChanceBands:
    """Draw random attributes for each contrast; along base pairs, random targets."""
    bands = (chance_band(outcome, context.random_state) for outcome in context.outcomes)
    return ChanceBands(tuple(band for band in bands if band is not None))


def summarize_error_rates(result: ErrorRates) -> Summary | None:
    """Section on the error rates, which names the rate that the audit promises."""
    if not result.rows:
        return None
    about = (
        "Share of audits of meaningless lists, in these vectors, that would have found an association: with the "
        "attributes of each question relabeled by a coin toss, with every word replaced by a random one, and with "
        "attributes replaced by random words of like frequency. The audit promises at most "
        f"{level_text(result.rows[0].alpha)}."
    )
    return replace(result.summary(), about=about)


PART = (
    ShippedPart(
        "error_rates", "Error rates of this audit", measure_error_rates, summarize_error_rates, order=100,
        stage="chance lists", read=ErrorRates.reader(ErrorRate.from_dict),
    ),
    ShippedPart(
        "chance", "Contrasts of random words", measure_chance, order=108, stage="chance lists",
        read=ChanceBands.reader(ChanceBand.from_dict),
        about="Contrasts of the same targets with random attributes of like frequency; along base pairs, of random "
        "targets. Topics differ along any direction: a contrast of the size of those of random words is no evidence "
        "about these attributes.",
    ),
)  # fmt: skip
