"""Random word lists that mean nothing, in the user's own vectors, and the part of an audit on contrasts by chance.

Null hypotheses are drawn for each question, with lists of its sizes: attributes relabeled by a coin toss; attributes,
or all words, replaced by random words of like frequency; the same with no difference in frequency between lists of
unequal size; lists replaced by groups of near words, as many as their effective words. How often an audit of such lists
finds an association is in `false_alarms`; chance bands compare each measured contrast with those of random words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from biasgauge.audits.measurement import LikeFrequency, Measured, QueryOutcome, Tabulated
from biasgauge.audits.part import PartRows, ShippedPart
from biasgauge.audits.subjects import Subject
from biasgauge.core import Floats, Places, Record, TableWords, unit_vectors
from biasgauge.metrics import frequency_powers, side_of_words, table_sides
from biasgauge.results import Column, RecordTable, counted
from biasgauge.stats import TableSide, contrast_p_floor, means_at_equal_covariates

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext

Null = Literal["relabeled", "matched", "frequency", "sizes", "near"]
NULLS: dict[Null, str] = {
    "relabeled": "attributes relabeled by a coin toss",
    "matched": "attributes replaced by random words of similar frequency",
    "frequency": "every word replaced by a random word of similar frequency, frequent against rare as in the lists",
    "sizes": "lists of unequal size replaced by random words, frequencies dealt out anew",
    "near": "every list replaced by as many groups of near words as it has effective words",
}
UNEQUAL = 1.5
"""Times as many words as in another list from which on lists count as unequal."""
DRAWS = 500
"""Random lists with which a contrast is compared."""
LIST = 8
"""Words in each of the unrelated lists whose contrasts define the smallest contrast that matters; a usual size."""
TELESCOPE = NormalDist().inv_cdf(1 - 0.05 / 2) - NormalDist().inv_cdf(1 - 1 / 3)
"""Standard errors from 0 of an effect that a two-sided test at .05 detects with a power of one third: 1.53."""
BINS = 40
NEAR = 0.8
"""Share of effective words in all words of a question from which its lists count as free of near words."""
SEEDS = 100
"""Random words whose neighbors make groups of near words; more where the lists need more groups."""
VOCABULARY = 20_000
"""Words among which neighbors are looked for."""


def can_draw(measurement: Measured, null: Null) -> bool:
    """Return whether lists of a question have what a null is about; pairs are replaced by random words alone."""
    if null == "frequency" or measurement.query.pairs:
        return null == "frequency"
    sizes = measurement.test.contrast.words
    if null == "sizes":
        return any(max(side) >= UNEQUAL * min(side) for side in sizes)
    if null == "near":
        return sum(map(sum, measurement.test.contrast.effective)) < NEAR * sum(map(sum, sizes))
    return True


@dataclass(frozen=True, eq=False)
class NullTable:
    """A table of similarities that mean nothing, S: as its margins, and as itself where `p_floor` is small.

    Attributes:
        rows, columns: words of both sides; those that were drawn are without their effective numbers.
        by_row, by_column: S C⁺ᵀ and R⁺ S of every model, as in `stats.contrast_p_floor`.
        complete: returns models × targets × attributes, and the words of both sides with their effective numbers.
    """

    rows: TableSide
    columns: TableSide
    by_row: Floats
    by_column: Floats
    complete: Callable[[], tuple[Floats, TableSide, TableSide]]

    def p_floor(self, weights: Sequence[Sequence[float]]) -> float:
        """Lower bound of p of the contrast."""
        return float(contrast_p_floor(self.by_row[None], self.by_column[None], self.rows, self.columns, weights)[0])


def null_tables(measurement: Measured, null: Null, count: int, random: np.random.Generator) -> Iterator[NullTable]:
    """Yield tables of similarities that mean nothing, with the words of both sides.

    They are what a verdict rests on: at equal word frequency where frequencies are known.
    """
    similarities = measurement.similarities
    if null == "relabeled":
        table = measurement.table if similarities.centered is None else similarities.centered
        rows, _ = table_sides(similarities)
        by_column, words = rows.inverse @ table, similarities.attributes
        for _ in range(count):
            order = random.permutation(len(words.groups))
            yield _relabeled(table, rows, by_column, words, order)
        return
    drawn = list(_null_words(measurement, null, count, random))
    words_of_null = _NullWords(measurement, [rows for draw in drawn for rows in draw])
    same = table_sides(similarities)[0] if null == "matched" else None  # the targets themselves
    for targets, *attributes in drawn:
        yield words_of_null.table(targets, attributes, same)


def _relabeled(table: Floats, rows: TableSide, by_column: Floats, words: TableWords, order: Places) -> NullTable:
    """Return a table with its columns in another order."""
    frequencies = None if words.frequencies is None else words.frequencies[order]
    columns = TableSide(words.groups, frequency_powers(words.groups, frequencies))
    inverse = np.empty_like(columns.inverse)
    inverse[:, order] = columns.inverse

    def complete() -> tuple[Floats, TableSide, TableSide]:
        cosines = words.cosines[np.ix_(order, order)]
        return table[:, :, order], rows, side_of_words(words.groups, cosines, frequencies)

    return NullTable(rows, columns, table @ inverse.T, by_column[:, :, order], complete)


def _null_words(
    measurement: Measured, null: Null, count: int, random: np.random.Generator
) -> Iterator[tuple[Places, ...]]:
    """Yield rows of targets and of attributes; of pairs, of their first and of their second words."""
    targets, attributes = measurement.places
    if null == "near":
        yield from _near_words(measurement, count, random)
        return
    sides = [targets, attributes]
    if measurement.query.pairs:
        sides = [targets, *measurement.resolved.pair_rows[:, 0]]
    ends = np.cumsum([len(rows) for rows in sides])[:-1]
    words = LikeFrequency.of(measurement.subject.models[0], measurement.query.language)
    for _ in range(count):
        if null == "sizes":
            sides = [random.permutation(rows) for rows in sides]
        if null in ("frequency", "sizes"):
            yield tuple(np.split(words.draw(np.concatenate(sides), random), ends))
        else:
            yield targets, words.draw(attributes, random)


def _near_words(measurement: Measured, count: int, random: np.random.Generator) -> Iterator[tuple[Places, ...]]:
    """Yield lists of random words with their nearest neighbors, as many groups as the lists have effective words."""
    model = measurement.subject.models[0]
    places = measurement.places
    words = LikeFrequency.of(model, measurement.query.language)
    usable = np.sort(words.rows[:VOCABULARY])
    usable = usable[model.directed(usable)]
    units = unit_vectors(model, usable)
    contrast = measurement.test.contrast
    sides = [
        [len(share) for size, groups in zip(sizes, effective, strict=True)
         for share in np.array_split(np.arange(size), max(2, min(size, round(groups))))]
        for sizes, effective in zip(contrast.words, contrast.effective, strict=True)
    ]  # fmt: skip
    seed_words = max(SEEDS, sum(map(len, sides)))
    like = words.draw(random.choice(np.concatenate(places), seed_words), random)
    most = max(map(max, sides))
    similarities = np.nan_to_num(unit_vectors(model, like)) @ units.T
    nearest = np.argpartition(-similarities, min(most, len(usable) - 1), axis=1)[:, :most]
    closest_first = np.argsort(-np.take_along_axis(similarities, nearest, axis=1), axis=1)
    nearest = np.take_along_axis(nearest, closest_first, axis=1)
    for _ in range(count):
        seeds = iter(random.permutation(seed_words))
        yield tuple(usable[np.concatenate([nearest[next(seeds), :length] for length in lengths])] for lengths in sides)


class _NullWords:
    """Tables of similarities of any of some words of the models of a measurement, on the same lists."""

    def __init__(self, measurement: Measured, rows: Sequence[Places]) -> None:
        self.similarities = measurement.similarities
        models, language = measurement.subject.models, measurement.query.language
        # Rows are drawn once, for all models, where they have the same words.
        models = models if all(model.words == models[0].words for model in models) else models[:1]
        self.rows = np.unique(np.concatenate(rows))
        # A zero vector stays zero.
        self.units = np.empty((len(models), len(self.rows), models[0].dim))
        for units, model in zip(self.units, models, strict=True):
            units[:] = unit_vectors(model, self.rows)
            np.nan_to_num(units, copy=False)
        self.centered, self.frequencies = self.units, None
        known = [log for model in models if (log := model.log_frequencies(language)) is not None]
        if len(known) == len(models):
            logs = [log.values[self.rows] for log in known]
            self.frequencies = np.mean(logs, axis=0)
            self.centered = self.units.copy()
            for centered, model, frequencies in zip(self.centered, models, logs, strict=True):
                if (means := model.frequency_means(language)) is not None:
                    np.subtract(centered, means.at(frequencies), out=centered)

    def contrasts(self, drawn: Sequence[tuple[Places, ...]]) -> Floats:
        """Return the contrast of each draw of attributes, with the targets as they are."""
        weights = np.array(self.similarities.resolved.query.weights, np.float64)
        columns = self.similarities.attributes.groups
        rows, _ = table_sides(self.similarities)
        opposed = np.allclose(weights.sum(axis=1), 0)
        # Σ weight · R⁺ S C⁺ᵀ with S = T Aᵀ: mean vectors of the lists first, then with every word drawn.
        lists = rows.inverse[: len(weights)] @ self.centered[:, self.rows.searchsorted(drawn[0][0])]
        by_word = np.mean([means @ units.T for means, units in zip(lists, self.centered, strict=True)], axis=0)
        index = self.rows.searchsorted([attributes for _, attributes in drawn])
        scores = np.moveaxis(by_word[:, index], 0, 1)
        logs = self.frequencies[index] if self.frequencies is not None and opposed else [None] * len(drawn)
        powers = [frequency_powers(columns, log) for log in logs]
        covariates = [power for power in powers if power is not None]
        if len(covariates) == len(powers) and len({power.shape for power in covariates}) == 1:
            means = means_at_equal_covariates(scores, columns, np.stack(covariates))
        else:  # frequencies are not known, or the words of some draw have one or two
            sides = [TableSide(columns, power).inverse[: weights.shape[1]] for power in powers]
            means = np.stack([score @ side.T for score, side in zip(scores, sides, strict=True)])
        return np.asarray((weights * means).sum(axis=(1, 2)))

    def table(self, targets: Places, attributes: Sequence[Places], target_side: TableSide | None = None) -> NullTable:
        """Return the similarities at equal frequency, where it is known, and the words of both sides.

        `target_side` has the targets where they are those of the question.
        """
        sides = [self.rows.searchsorted(rows) for rows in (targets, *attributes)]
        units = [self.units[:, rows] for rows in sides]
        centered = [self.centered[:, rows] for rows in sides]
        words = self.similarities.targets, self.similarities.attributes
        logs = [None if self.frequencies is None or len(attributes) > 1 else self.frequencies[rows] for rows in sides]
        groups = words[0].groups, words[1].groups
        plain = [TableSide(group, frequency_powers(group, log)) for group, log in zip(groups, logs, strict=False)]
        rows, columns = target_side or plain[0], plain[1]
        left, right = centered[0], np.swapaxes(_ends_difference(centered[1:]), -1, -2)

        def complete() -> tuple[Floats, TableSide, TableSide]:
            first = target_side or side_of_words(groups[0], _mean_cosines(units[0], unit=True), logs[0])
            between = _mean_cosines(_ends_difference(units[1:]), unit=len(units) == 2)
            return left @ right, first, side_of_words(groups[1], between, logs[1])

        return NullTable(rows, columns, left @ (right @ columns.inverse.T), (rows.inverse @ left) @ right, complete)


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
    """Contrast that a test with lists of eight words, as published ones have, detects with a power of one third.

    What smaller telescopes would hardly have seen is too small to matter (Simonsohn 2015). The standard error of such a
    test is the standard deviation (around 0) of the contrasts of unrelated lists of eight words of like frequency. With
    C the covariance of the unit vectors of such words, differences of means of eight have the covariance C / 4, and the
    square of the product of two of them the mean tr(C²) / 16: no contrasts need be drawn, only words.
    """
    rows_of_lists = [np.concatenate(measurement.places) for measurement in outcomes if not measurement.query.pairs]
    model = subject.models[0]
    words = LikeFrequency.of(model, next((measurement.query.language for measurement in outcomes), ""))
    rows = np.concatenate(rows_of_lists) if rows_of_lists else words.rows[:1_000]
    random = np.random.default_rng([random_state, 11])
    drawn = np.stack([words.draw(random.choice(rows, 4 * LIST), random) for _ in range(draws)])
    units = unit_vectors(model, drawn.ravel())
    covariance = np.cov(units, rowvar=False)
    return TELESCOPE * float(np.sqrt(np.square(covariance).sum())) * 2 / LIST


def measure_chance(context: AuditContext) -> ChanceBands:
    """Draw random attributes for each contrast; along base pairs, random targets."""
    bands = (chance_band(outcome, context.random_state) for outcome in context.outcomes)
    return ChanceBands(tuple(band for band in bands if band is not None))


PART = (
    ShippedPart(
        "chance", "Contrasts of random words", measure_chance, order=108, stage="chance lists",
        read=ChanceBands.reader(ChanceBand.from_dict),
        about="Contrasts of the same targets with random attributes of similar frequency (along base pairs: of random "
        "targets). Topics differ along any direction, so a contrast no larger than these is no evidence about these "
        "attributes.",
    ),
)  # fmt: skip
