"""Null distributions from random word lists, and the two parts of an audit that show them.

Null hypotheses are simulated in the user's own vectors: attributes relabeled by a coin toss; attributes, or all words,
replaced by random words of like frequency; lists replaced by groups of near words, as many as their effective words.
Error rates are the shares of audits of such lists that find an association; chance bands compare each measured contrast
with those of random words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from biasgauge.audits.measurement import Measured, QueryOutcome, Tabulated, matched
from biasgauge.audits.part import PartRows, ShippedPart
from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdict_rule import corrected
from biasgauge.core import Estimate, Floats, Places, Record, unit_vectors
from biasgauge.metrics import contrast_test, frequency_powers, side_of_words, table_sides
from biasgauge.results import Column, RecordTable, Summary, counted, level_text, share_text
from biasgauge.stats import TableSide, clopper_pearson, contrast_parts, contrast_values

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext

Null = Literal["relabeled", "matched", "frequency", "near"]
NULLS: dict[Null, str] = {
    "relabeled": "attributes relabeled by a coin toss",
    "matched": "attributes replaced by random words of like frequency",
    "frequency": "every word replaced by a random word of like frequency",
    "near": "every list replaced by as many groups of near words as it has effective words",
}
AUDITS = 100
"""Meaningless audits of each kind."""
MOST_QUESTIONS = 40
"""Questions that such an audit asks at most: with more, a random part of them."""
DRAWS = 500
"""Random lists with which a contrast is compared."""
LIST = 8
"""Words in each of the unrelated lists whose contrasts define the smallest contrast that matters; a usual size."""
BINS = 40
NEAR = 0.9
"""Share of effective words in all of a list from which it counts as free of near words."""
SEEDS = 100
"""Random words whose neighbors make groups of near words."""
VOCABULARY = 20_000
"""Words among which neighbors are looked for."""
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
    """Return whether such a null can be drawn: pairs are not relabeled, and very long lists take too long."""
    if measurement.table[0].size > CELLS:
        return False
    if null == "near":
        contrast = measurement.test.contrast
        sizes = [size for side in contrast.words for size in side]
        effective = [count for side in contrast.effective for count in side]
        return not measurement.query.pairs and any(
            count < NEAR * size for count, size in zip(effective, sizes, strict=True)
        )
    return null == "frequency" or not measurement.query.pairs


def _count_false_alarms(
    outcomes: Sequence[Measured], null: Null, alpha: float, audits: int, random: np.random.Generator
) -> int:
    """Count the simulated audits in which any question has a small p after correction."""
    by_audit: list[dict[int, tuple[str, float]]] = [{} for _ in range(audits)]
    for number, measurement in enumerate(outcomes):
        weights = measurement.query.weights
        for audit, (table, rows, columns) in enumerate(_null_tables(measurement, null, audits, random)):
            p = float(contrast_parts(table[None], rows, columns, weights).p[0])
            if p <= alpha:  # the other tests can only make it larger
                p = contrast_test(table, rows, columns, weights).p or p
            by_audit[audit][number] = (measurement.query.family, 1.0 if np.isnan(p) else p)
    return sum(any(test.p <= alpha for test in corrected(p_values, alpha).values()) for p_values in by_audit)


def _null_tables(
    measurement: Measured, null: Null, count: int, random: np.random.Generator
) -> Iterator[tuple[Floats, TableSide, TableSide]]:
    """Yield tables of similarities that mean nothing, models × targets × attributes, with the words of both sides.

    They are what a verdict rests on: at equal word frequency where frequencies are known.
    """
    similarities = measurement.similarities
    if null == "relabeled":
        table = measurement.table if similarities.centered is None else similarities.centered
        rows, _ = table_sides(similarities)
        words = similarities.attributes
        for _ in range(count):
            order = random.permutation(len(words.groups))
            frequencies = None if words.frequencies is None else words.frequencies[order]
            columns = side_of_words(words.groups, words.cosines[np.ix_(order, order)], frequencies)
            yield table[:, :, order], rows, columns
        return
    drawn = list(_null_words(measurement, null, count, random))
    words_of_null = _NullWords(measurement, [rows for draw in drawn for rows in draw])
    for targets, *attributes in drawn:
        yield words_of_null.table(targets, attributes)


def _null_words(
    measurement: Measured, null: Null, count: int, random: np.random.Generator
) -> Iterator[tuple[Places, ...]]:
    """Yield rows of targets and of attributes; of pairs, of their first and of their second words."""
    model = measurement.subject.models[0]
    targets, attributes = measurement.places
    if null == "near":
        yield from _near_words(measurement, count, random)
        return
    sides = [targets, attributes]
    if measurement.query.pairs:
        sides = [targets, *measurement.resolved.pair_rows[:, 0]]
    ends = np.cumsum([len(rows) for rows in sides])[:-1]
    for _ in range(count):
        if null == "frequency":
            yield tuple(np.split(matched(np.concatenate(sides), len(model), random), ends))
        else:
            yield targets, matched(attributes, len(model), random)


def _near_words(measurement: Measured, count: int, random: np.random.Generator) -> Iterator[tuple[Places, ...]]:
    """Yield lists of random words with their nearest neighbors, as many groups as the lists have effective words."""
    model = measurement.subject.models[0]
    places = measurement.places
    usable = np.arange(min(len(model), VOCABULARY))
    usable = usable[model.directed(usable)]
    units = unit_vectors(model, usable)
    like = matched(np.concatenate([random.choice(np.concatenate(places), SEEDS)]), len(usable), random)
    most = max(map(len, places)) + 1
    nearest = np.argsort(-(units[np.minimum(like, len(usable) - 1)] @ units.T), axis=1)[:, :most]
    contrast = measurement.test.contrast
    for _ in range(count):
        seeds, lists = iter(random.permutation(SEEDS)), []
        for sizes, effective in zip(contrast.words, contrast.effective, strict=True):
            side = []
            for size, groups in zip(sizes, effective, strict=True):
                shares = np.array_split(np.arange(size), max(2, min(size, round(groups))))
                side += [nearest[next(seeds, 0), : len(share)] for share in shares]
            lists.append(usable[np.concatenate(side)])
        yield tuple(lists)


class _NullWords:
    """Tables of similarities of any of some words of the models of a measurement, on the same lists."""

    def __init__(self, measurement: Measured, rows: Sequence[Places]) -> None:
        self.similarities = measurement.similarities
        models, language = measurement.subject.models, measurement.query.language
        # Rows are drawn once, for all models, where they have the same words.
        models = models if all(model.words == models[0].words for model in models) else models[:1]
        self.rows = np.unique(np.concatenate(rows))
        # A zero vector stays zero.
        self.units = np.stack([np.nan_to_num(unit_vectors(model, self.rows)) for model in models])
        self.centered, self.frequencies = self.units, None
        known = [log for model in models if (log := model.log_frequencies(language)) is not None]
        if len(known) == len(models):
            logs = [log.values[self.rows] for log in known]
            means = [model.frequency_means(language) for model in models]
            self.frequencies = np.mean(logs, axis=0)
            self.centered = np.stack(
                [
                    units if mean is None else units - mean.at(log)
                    for units, mean, log in zip(self.units, means, logs, strict=True)
                ]
            )

    def contrasts(self, drawn: Sequence[tuple[Places, ...]]) -> Floats:
        """Return the contrast of each draw of attributes, with the targets as they are."""
        query, columns = self.similarities.resolved.query, self.similarities.attributes.groups
        rows, _ = table_sides(self.similarities)
        targets = self.centered[:, self.rows.searchsorted(drawn[0][0])]
        opposed = np.allclose(np.sum(query.weights, axis=1), 0)
        values = []
        for draw in drawn:
            index = self.rows.searchsorted(draw[1])
            log = self.frequencies[index] if self.frequencies is not None and opposed else None
            table = targets @ np.swapaxes(self.centered[:, index], -1, -2)
            side = TableSide(columns, frequency_powers(columns, log))
            values.append(contrast_values(table[None], rows, side, query.weights)[0])
        return np.array(values)

    def table(self, targets: Places, attributes: Sequence[Places]) -> tuple[Floats, TableSide, TableSide]:
        """Return the similarities at equal frequency, where it is known, and the words of both sides."""
        sides = [self.rows.searchsorted(rows) for rows in (targets, *attributes)]
        units = [self.units[:, rows] for rows in sides]
        centered = [self.centered[:, rows] for rows in sides]
        words = self.similarities.targets, self.similarities.attributes
        logs = [None if self.frequencies is None or len(attributes) > 1 else self.frequencies[rows] for rows in sides]
        cosines = (_mean_cosines(units[0], unit=True), _mean_cosines(_ends_difference(units[1:]), unit=len(units) == 2))
        rows_side, columns_side = (
            side_of_words(side.groups, table, log) for side, table, log in zip(words, cosines, logs[:2], strict=True)
        )
        return centered[0] @ np.swapaxes(_ends_difference(centered[1:]), -1, -2), rows_side, columns_side


def _ends_difference(sides: Sequence[Floats]) -> Floats:
    """Vectors of attributes; of base pairs, those of first words less those of second ones."""
    return sides[0] if len(sides) == 1 else sides[0] - sides[1]


def _mean_cosines(vectors: Floats, *, unit: bool) -> Floats:
    """Cosines between words, the mean over models; `unit` where vectors have length 1 already."""
    if not unit:
        lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
        vectors = vectors / np.where(lengths > 0, lengths, 1.0)
    return np.asarray((vectors @ np.swapaxes(vectors, -1, -2)).mean(axis=0))


def chance_contrasts(measurement: Measured, random_state: int, draws: int = DRAWS) -> Floats:
    """Contrasts of random attributes of like frequency; along pairs, of random targets."""
    random = np.random.default_rng([random_state, 7])
    if not measurement.query.pairs:
        words = list(_null_words(measurement, "matched", draws, random))
        return _NullWords(measurement, [rows for draw in words for rows in draw]).contrasts(words)
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


def smallest_contrast(subject: Subject, outcomes: Sequence[Tabulated], random_state: int, draws: int = 1_000) -> float:
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
        "attributes of each question relabeled by a coin toss, with attributes or all words replaced by random words "
        "of like frequency, and with lists of groups of near words. The audit promises at most "
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
