"""Neighbors that differ: ratio of a word's cosines with the targets' embeddings at two settings of covariates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from biasgauge.analyses.regress.model import RegressionModel, describe_values
from biasgauge.core import Estimate, Floats, Integers, JsonMapping, Record, WordsLike, check_whole, unit_rows
from biasgauge.errors import ParameterError
from biasgauge.lexicons import words_of
from biasgauge.results import Column, RecordTable, Result, words_text
from biasgauge.stats import percentile_estimate

_RAREST = 10
"""Occurrences below which a word of the text is no candidate by default."""


@dataclass(frozen=True)
class NearestWord(Record):
    """A word near the targets at one setting of covariates.

    Attributes:
        word: the neighbor.
        cosine: with the embedding of the targets.
        low, high: bootstrap interval over clusters (percentiles).
        reason: why there is no interval.
    """

    word: str
    cosine: float
    low: float | None
    high: float | None
    reason: str | None = None

    @property
    def interval(self) -> Estimate:
        """The cosine with its interval."""
        return Estimate(value=self.cosine, low=self.low, high=self.high, method="bootstrap", reason=self.reason)


@dataclass(frozen=True, eq=False, repr=False)
class NearestWords(Result):
    """Words nearest to the targets at one setting of covariates.

    Attributes:
        rows: one row per word, the nearest first.
        values: values of covariates.
        settings: everything that decides the numbers.
    """

    tables: ClassVar[tuple[str, ...]] = ("rows",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("rows", "Nearest words", ("word", Column("cosine", "estimate", source="interval"))),
    )

    rows: tuple[NearestWord, ...]
    values: JsonMapping
    settings: JsonMapping

    def _title(self) -> str:
        return f"Nearest words at {describe_values(self.values)}"

    def _headline(self) -> str:
        return f"{self._title()}: {words_text([row.word for row in self.rows], 8)}"


@dataclass(frozen=True)
class NeighborRatio(Record):
    """A word near the targets at one setting of covariates or at the other.

    Attributes:
        word: the neighbor.
        first, second: cosine with the embedding of the targets at the first and at the second setting.
        ratio: first by second; above 1: nearer at the first.
        low, high: bootstrap interval over clusters (percentiles); None where a cosine is not positive.
        nearest_of: "first", "second" or "both": where it is among the nearest.
        reason: why there is no ratio.
    """

    word: str
    first: float
    second: float
    ratio: float | None
    low: float | None
    high: float | None
    nearest_of: str
    reason: str | None = None

    @property
    def interval(self) -> Estimate:
        """The ratio with its interval."""
        return Estimate(value=self.ratio, low=self.low, high=self.high, method="bootstrap", reason=self.reason)


_COLUMNS = (
    "word",
    Column("ratio", "estimate", source="interval"),
    Column("cosine at the first", "number", source="first"),
    Column("cosine at the second", "number", source="second"),
    Column("nearest at", source="nearest_of"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Neighbors(Result):
    """Words near the targets at one setting of covariates or at another, and the ratio of their cosines.

    Attributes:
        rows: one row per word, the largest ratio first.
        first, second: values of covariates that are compared.
        settings: everything that decides the numbers.
    """

    tables: ClassVar[tuple[str, ...]] = ("rows",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (RecordTable("rows", "Neighbors that differ", _COLUMNS),)

    rows: tuple[NeighborRatio, ...]
    first: JsonMapping
    second: JsonMapping
    settings: JsonMapping

    def _title(self) -> str:
        return f"Neighbors at {describe_values(self.first)} and at {describe_values(self.second)}"

    def _headline(self) -> str:
        nearer = [row.word for row in self.rows if row.low is not None and row.low > 1]
        farther = [row.word for row in self.rows if row.high is not None and row.high < 1]
        sides = ((self.first, nearer), (self.second, farther))
        texts = [f"nearer at {describe_values(values)}: {words_text(words, 8) or 'none'}" for values, words in sides]
        return f"{'; '.join(texts)}."


def nearest_words(
    model: RegressionModel, values: Mapping[str, Any], *, candidates: WordsLike | None, most: int, resamples: int,
    random_state: int, level: float,
) -> NearestWords:  # fmt: skip
    """Find the words nearest to the targets at one setting of covariates."""
    check_whole(1, most=most, resamples=resamples)
    _refuse_list(model)
    rows = model.design.row(values)[None]
    words, vectors = _candidates(model, candidates)
    cosines = (unit_rows(rows @ model.coefficients) @ vectors.T)[0]
    nearest = np.argsort(-cosines, kind="stable")[:most].tolist()
    drawn = _bootstrap_cosines(model, rows, vectors[nearest], resamples, random_state)[:, 0]
    found = []
    for index, row in enumerate(nearest):
        interval = percentile_estimate(float(cosines[row]), drawn[:, index], level, method="bootstrap")
        found.append(NearestWord(words[row], float(cosines[row]), interval.low, interval.high, interval.reason))
    settings = {"most": most, "resamples": resamples, "random_state": random_state, "level": level}
    return NearestWords(tuple(found), dict(values), settings)


def _refuse_list(model: RegressionModel) -> None:
    if model.is_sample:
        raise ParameterError("Neighbors are those of one target; a list has words with neighbors of their own.")


def neighbor_ratios(
    model: RegressionModel, first: Mapping[str, Any], second: Mapping[str, Any], *, candidates: WordsLike | None,
    most: int, resamples: int, random_state: int, level: float,
) -> Neighbors:  # fmt: skip
    """Find the nearest words at both settings and the ratio of their cosines; sorted by ratio, largest first."""
    check_whole(1, most=most, resamples=resamples)
    _refuse_list(model)
    rows = np.array([model.design.row(first), model.design.row(second)])
    words, vectors = _candidates(model, candidates)
    cosines = unit_rows(rows @ model.coefficients) @ vectors.T
    nearest = [set(np.argsort(-side, kind="stable")[:most].tolist()) for side in cosines]
    union = sorted(nearest[0] | nearest[1])
    drawn = _bootstrap_cosines(model, rows, vectors[union], resamples, random_state)
    ratios = []
    for index, row in enumerate(union):
        one, two = (float(side[row]) for side in cosines)
        where = "both" if row in nearest[0] & nearest[1] else "first" if row in nearest[0] else "second"
        if one <= 0 or two <= 0:
            reason = "a cosine is not positive, so that their ratio means nothing"
            ratios.append(NeighborRatio(words[row], one, two, None, None, None, where, reason))
            continue
        usable = (drawn[:, :, index] > 0).all(axis=1)
        values = np.full(len(drawn), np.nan)
        values[usable] = drawn[usable, 0, index] / drawn[usable, 1, index]
        interval = percentile_estimate(one / two, values, level, method="bootstrap")
        why = None if interval.bounded else "a cosine is not positive in too many bootstrap samples"
        ratios.append(NeighborRatio(words[row], one, two, one / two, interval.low, interval.high, where, why))
    ranked = tuple(sorted(ratios, key=lambda ratio: (ratio.ratio is None, -(ratio.ratio or 0.0), ratio.word)))
    settings = {"most": most, "resamples": resamples, "random_state": random_state, "level": level}
    return Neighbors(ranked, dict(first), dict(second), settings)


def _candidates(model: RegressionModel, candidates: WordsLike | None) -> tuple[tuple[str, ...], Floats]:
    """Candidates with a vector, and their unit vectors; by default the targets themselves are left out."""
    embedding = model.reader.embedding
    if candidates is None:
        targets = set(model.occurrences.targets[0].split("+"))
        frequent = [(row, word) for row, word in enumerate(embedding.words) if model.reader.count(word) >= _RAREST]
        rows = [row for row, word in frequent if word not in targets]
    else:
        rows = embedding.lookup(dict.fromkeys(words_of(candidates).words)).rows.tolist()
    rows = [row for row in rows if np.any(model.reader.matrix[row])]
    if not rows:
        raise ParameterError("No candidate for a neighbor has a vector and stands in the text.")
    return tuple(embedding.words[row] for row in rows), unit_rows(model.reader.matrix[rows].astype(np.float64))


def _bootstrap_cosines(
    model: RegressionModel, rows: Floats, vectors: Floats, resamples: int, random_state: int
) -> Floats:
    """Cosines in bootstrap samples of clusters, samples × settings × words; NaN where a sample is singular."""
    occurrences = model.occurrences
    (fit,) = model.embedding_fits
    basis = np.empty_like(fit.basis)
    basis[fit.order] = fit.basis  # in the order of cells
    _, clusters = np.unique(model.clusters[model.cell_rows], return_inverse=True)
    generator = np.random.default_rng(random_state)
    cosines = np.full((resamples, len(rows), len(vectors)), np.nan)
    for sample in range(resamples):
        times = _draw_clusters(clusters, generator)
        weights = times * occurrences.counts
        cross = (basis * weights[:, None]).T @ basis
        if np.linalg.matrix_rank(cross) < len(cross):
            continue
        weighted = (basis * times[:, None]).astype(occurrences.sums.dtype)
        coefficients = fit.back @ np.linalg.solve(cross, weighted.T @ occurrences.sums)
        cosines[sample] = unit_rows(rows @ coefficients) @ vectors.T
    return cosines


def _draw_clusters(clusters: Integers, generator: np.random.Generator) -> Floats:
    """Draw clusters with replacement; return the number of times that each cell is in the sample."""
    n_clusters = int(clusters.max()) + 1
    times = np.bincount(generator.integers(0, n_clusters, n_clusters), minlength=n_clusters)
    drawn: Floats = times[clusters].astype(np.float64)
    return drawn
