"""The two readings of an association: the projection on an attribute axis, and log odds from counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.analyses.regress.count_model import CountFit, count_targets, fit_counts
from biasgauge.analyses.regress.formulas import Design
from biasgauge.analyses.regress.model import CELLS, RegressionModel, combined_effect, describe_values
from biasgauge.analyses.regress.rows import TermEffect
from biasgauge.core import Floats, Vectors, WordPolicy, WordsLike
from biasgauge.errors import InternalError, ParameterError
from biasgauge.lexicons import words_of
from biasgauge.results import Column, RecordTable, Result, estimate_text, words_text
from biasgauge.stats import ClusteredRegression
from biasgauge.vectors import load

if TYPE_CHECKING:
    from biasgauge.io import Progress

TITLES = {"axis": "Projection on an attribute axis", "counts": "Log odds from counts"}
LEVELS_OF_LISTS = "the level of a list depends on its words; contrasts and trends have intervals"
ROWS = (
    "term",
    Column("effect", "estimate", 3, source="interval"),
    Column("p", "p"),
    Column("degrees of freedom", "number", 1, source="df"),
    Column("n", "count"),
)


@dataclass(frozen=True, eq=False, repr=False)
class PredictedAssociations(Result):
    """Association of the targets with A against B at chosen values of covariates.

    Attributes:
        kind: "axis" or "counts".
        rows: the association at each setting, then the first less the second where there are two.
    """

    tables: ClassVar[tuple[str, ...]] = ("rows",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("rows", "", ("term", Column("association", "estimate", 3, source="interval"), Column("p", "p"))),
    )

    kind: str
    rows: tuple[TermEffect, ...]

    def _title(self) -> str:
        return f"{TITLES[self.kind]} at chosen values"

    def _headline(self) -> str:
        return f"{self.rows[-1].term}: {estimate_text(self.rows[-1].interval, 3)}"


@dataclass(frozen=True, eq=False, repr=False)
class AssociationReading(Result):
    """Differences in the association of the targets with A against B, by the terms of the formula.

    Attributes:
        kind: "axis" or "counts".
        rows: one row per term.
        targets: target words.
        a, b: words of A and B that are in the vectors, or in the text.
        lost: words of A and B that are not.
        unit: one standard deviation of the occurrences, in the unit of the rows; 1 for counts.
        n: occurrences; of counts, contexts of A and of B that hold a target.
        background: of the projection, the same rows for occurrences less the mean of all words of their documents:
            words of A that are more frequent everywhere in a group move the projection of every word.
        reason: why there is none; then there are no rows.
        warnings: limitations.
        fits: of the reading, over each way in which occurrences cluster; not in files.
        model: the regression that it belongs to; not in files.
        first_column: of counts, the column of the fits that holds the log odds ratio; not in files.
        level: nominal coverage of the intervals.
    """

    tables: ClassVar[tuple[str, ...]] = ("rows",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (RecordTable("rows", "", ROWS),)
    hidden: ClassVar[frozenset[str]] = frozenset({"fits", "model", "first_column"})

    kind: str
    rows: tuple[TermEffect, ...]
    targets: tuple[str, ...]
    a: tuple[str, ...]
    b: tuple[str, ...]
    lost: Mapping[str, tuple[str, ...]]
    unit: float = 1.0
    n: tuple[int, ...] = ()
    background: tuple[TermEffect, ...] = ()
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    fits: tuple[ClusteredRegression, ...] = ()
    model: RegressionModel | None = None
    first_column: int | None = None
    level: float = 0.95

    def row(self, term: str) -> TermEffect | None:
        """Return the row of a term; None without one."""
        return next((row for row in self.rows if row.term == term), None)

    def background_row(self, term: str) -> TermEffect | None:
        """Return the row of a term beside the background of the documents; None without one."""
        return next((row for row in self.background if row.term == term), None)

    def predict(self, values: Mapping[str, Any] | None = None, **more: Any) -> TermEffect:  # noqa: ANN401 - covariates
        """Predict the association at chosen values of covariates, with an interval; over the rest it is a mean.

        Raises:
            ParameterError: a covariate or a value is not in the data.
        """
        chosen = {**(values or {}), **more}
        return self.effect_of(describe_values(chosen), self.design.row(chosen))

    def contrast(self, first: Mapping[str, Any], second: Mapping[str, Any]) -> TermEffect:
        """Estimate the association at the first values of covariates less that at the second.

        Raises:
            ParameterError: a covariate or a value is not in the data.
        """
        name = f"({describe_values(first)}) − ({describe_values(second)})"
        return self.effect_of(name, self.design.row(first) - self.design.row(second))

    def trend(self, variable: str, values: Mapping[str, Any] | None = None) -> TermEffect:
        """Estimate the change of the association per unit of a number, at chosen values of the other covariates.

        Raises:
            ParameterError: the covariate is not a number.
        """
        beside = f" at {describe_values(values)}" if values else ""
        return self.effect_of(f"trend in {variable}{beside}", self.design.slope(variable, values or {}))

    def predictions(
        self, first: Mapping[str, Any], second: Mapping[str, Any] | None = None
    ) -> PredictedAssociations:  # fmt: skip
        """Predict the association at one or two settings of covariates, with their difference.

        Raises:
            ParameterError: a covariate or a value is not in the data.
        """
        if second is None:
            return PredictedAssociations(self.kind, (self.predict(first),))
        rows = self.predict(first), self.predict(second), self.contrast(first, second)
        return PredictedAssociations(self.kind, rows)

    @property
    def design(self) -> Design:
        """Design of the regression that it belongs to."""
        if self.model is None:
            raise ParameterError("A result that was read from a file predicts nothing; run regress again.")
        if not self.fits:
            raise ParameterError(f"There is no such reading: {self.reason}.")
        return self.model.design

    def effect_of(self, name: str, row: Floats) -> TermEffect:
        """Effect of a row of the design, or of a difference of rows, with its interval."""
        row = np.where(np.abs(row) < 1e-12, 0.0, row)
        weights = self.weights_of(row)
        n = sum(self.n)
        if weights is None:
            return TermEffect(name, None, None, None, None, None, n, None, self.level, "", LEVELS_OF_LISTS)
        return combined_effect(name, self.fits, weights, self.level, n, jackknife=self.kind == "counts")

    def weights_of(self, row: Floats) -> Floats | None:
        """Weights of the coefficients of the fits for a row of the design; None where they have no such level."""
        if self.model is None:
            raise InternalError("a reading without a model has no weights")
        if self.first_column is None:
            return self.model.weights(row)
        columns = row[1:] if self.model.is_sample else row
        if self.model.is_sample and row[0]:
            return None
        weights = np.zeros(len(self.fits[0].coefficients))
        weights[len(weights) - len(columns) :] = columns
        return weights

    def _title(self) -> str:
        return TITLES[self.kind]

    def _headline(self) -> str:
        if self.reason is not None:
            return f"{self._title()}: not measurable: {self.reason}"
        shown = [row.term for row in self.rows if row.interval.excludes(0)]
        return f"{self._title()}: {words_text(shown)}" if shown else f"{self._title()}: no term excludes 0"

    def _sentences(self) -> list[str]:
        sides = f"A: {words_text(self.a)}; B: {words_text(self.b)}."
        if self.kind == "axis":
            number = (
                "An effect is a difference of the projection of occurrences on the axis from B to A; positive: toward "
                f"A. One standard deviation of the occurrences is {self.unit:.3f}."
            )
        else:
            number = "An effect is a difference of log odds ratios; positive: A is more likely near the targets."
        return [number, sides]


def read_axis(
    model: RegressionModel, a: WordsLike, b: WordsLike, policy: WordPolicy, level: float
) -> AssociationReading:
    """Regress the projection of occurrences on the axis from B to A.

    The axis is the unit vector along the mean of the unit vectors of A less that of B; it is taken as fixed.

    Raises:
        ParameterError: the vectors have too few words of A or B, or a word is in both.
    """
    sets = _two_sides(a, b)
    words = [word for side in sets.values() for word in side]
    case_fallback = policy.case == "fallback"
    embedding = load(model.vectors, words=words, case_fallback=case_fallback)
    coverage = embedding.coverage(sets, case_fallback=case_fallback, directions=True)
    if reason := coverage.shortfall(policy.min_coverage):
        raise ParameterError(f"The vectors have too few words of the axis: {reason}.")
    ends = [_mean_direction(embedding.vectors[coverage.sets[side].rows]) for side in ("a", "b")]
    axis = ends[0] - ends[1]
    length = float(np.linalg.norm(axis))
    if length <= 1e-12:
        raise ParameterError("The means of A and B are the same vector, so that there is no axis between them.")
    axis /= length
    occurrences = model.occurrences
    mean = occurrences.sums.sum(axis=0, dtype=np.float64) @ axis / occurrences.total
    spread = float(np.sqrt(max(axis @ occurrences.moments @ axis / occurrences.embedded - mean**2, 0.0)))
    blocks = [occurrences.sums[at : at + CELLS] @ axis for at in range(0, len(occurrences), CELLS)]
    projected = np.concatenate(blocks)
    fits = model.fits(projected[:, None])
    # A context is a mean of words, so that the projection of a document is the mean of those of its words.
    by_word = model.reader.matrix @ (model.transform.matrix.T @ axis)
    background = model.reader.document_means(by_word)[occurrences.documents]
    beside = model.fits((projected - occurrences.counts * background)[:, None])
    reading = AssociationReading(
        kind="axis", rows=(), targets=occurrences.targets, a=coverage.sets["a"].words, b=coverage.sets["b"].words,
        lost={side: tuple(lost) for side, lost in coverage.lost.items()}, unit=spread, n=(occurrences.total,),
        fits=fits, model=model, level=level,
    )  # fmt: skip
    return replace(_with_rows(reading), background=_with_rows(replace(reading, fits=beside)).rows)


def read_counts(
    model: RegressionModel, targets: Sequence[str], a: WordsLike, b: WordsLike, level: float,
    progress: Progress | None = None,
) -> AssociationReading:  # fmt: skip
    """Regress the log odds ratio of the targets near A against near B, from counts; `reason` says why not."""
    sets = _two_sides(a, b)
    present = frozenset(model.reader.corpus.words)
    sides = {side: tuple(word for word in words if word in present) for side, words in sets.items()}
    lost = {side: tuple(word for word in words if word not in present) for side, words in sets.items()}
    lost = {side: words for side, words in lost.items() if words}
    empty = AssociationReading("counts", (), tuple(targets), sides["a"], sides["b"], lost, model=model, level=level)
    try:
        counts = count_targets(model.reader.corpus, targets, sides["a"], sides["b"], model.reader.window, progress)
        fit = fit_counts(
            counts, model.complete, model.complete_design, model.complete_clusters, words_apart=model.is_sample
        )
    except ParameterError as problem:
        return _without(empty, str(problem).rstrip("."))
    return _with_rows(_of_count_fit(empty, fit))


def _of_count_fit(empty: AssociationReading, fit: CountFit) -> AssociationReading:
    fits = (fit.fit,) if fit.by_word is None else (fit.fit, fit.by_word)
    warning = "counts of A or of B were 0 in a group: they were raised in proportion to the margins, ½ in the smaller"
    return AssociationReading(
        "counts", (), empty.targets, empty.a, empty.b, empty.lost, n=fit.near,
        warnings=(warning,) if fit.shifted else (), fits=fits, model=empty.model, first_column=fit.first,
        level=empty.level,
    )  # fmt: skip


def _without(reading: AssociationReading, reason: str) -> AssociationReading:
    return AssociationReading(
        reading.kind, (), reading.targets, reading.a, reading.b, reading.lost, reason=reason, model=reading.model
    )


def _with_rows(reading: AssociationReading) -> AssociationReading:
    """Fill in the row of each term."""
    model = reading.model
    if model is None:
        raise InternalError("a reading without a model has no rows")
    rows = tuple(
        reading.effect_of(term, np.eye(len(model.design.columns))[model.design.columns.index(term)])
        for term in model.design.terms
    )
    return replace(reading, rows=rows)


def _two_sides(a: WordsLike, b: WordsLike) -> dict[str, tuple[str, ...]]:
    sets = {side: tuple(dict.fromkeys(words_of(words).words)) for side, words in (("a", a), ("b", b))}
    if shared := set(sets["a"]) & set(sets["b"]):
        raise ParameterError(f"A word may stand in one of 'a' and 'b' only. Got {min(shared)!r} in both.")
    return sets


def _mean_direction(vectors: Vectors) -> Floats:
    """Mean of the unit vectors of words; zero vectors count for nothing."""
    matrix = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    mean: Floats = (matrix / np.where(lengths > 0, lengths, 1.0)).mean(axis=0)
    return mean
