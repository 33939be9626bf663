"""`amplification`: slope of embedding scores on the log odds ratios of the training text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from biasgauge.analyses.corpus_bias import CorpusBias
from biasgauge.analyses.criterion.scores import FALLBACK_POLICY, points_chart, word_scores
from biasgauge.core import Estimate, Floats, IntervalsBeside, JsonMapping, PairsLike, WordPolicy, check_whole
from biasgauge.results import Chart, Column, RecordTable, Result
from biasgauge.stats import Resampling, correlation_estimate, slope_estimate, why_undefined


@dataclass(frozen=True)
class AmplificationRow(IntervalsBeside):
    """Regression of one measure's scores on the log odds of the text.

    Attributes:
        measure: the measure of the scores.
        slope: of the score on the log odds ratio: increase of the score where the odds are e times as large. 0: the
            vectors do not follow the text.
        slope_corrected: the same, corrected for the error of the log odds, which attenuates every slope.
        r: Pearson's correlation of the two.
        words: number of words.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("slope", "slope_corrected", "r")

    measure: str
    slope: Estimate
    slope_corrected: Estimate
    r: Estimate
    words: int


@dataclass(frozen=True, eq=False, repr=False)
class Amplification(Result):
    """Log odds in the text and scores of the vectors, word by word, and the slope of the scores.

    Attributes:
        rows: one per measure.
        points: word, log odds and score by measure.
        settings: everything that decides the result.
    """

    tables: ClassVar[tuple[str, ...]] = ("rows",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "rows",
            "",
            (
                Column("measure", "name"),
                Column("slope", "estimate", 4),
                Column("slope, corrected", "estimate", 4, source="slope_corrected"),
                Column("r", "estimate"),
                Column("words", "count"),
            ),
            name="amplification",
        ),
    )

    rows: tuple[AmplificationRow, ...]
    points: tuple[Mapping[str, Any], ...]
    settings: JsonMapping

    def _title(self) -> str:
        return "Amplification of the text's associations"

    def _headline(self) -> str:
        row = self.rows[0]
        return f"{row.measure}: {replace(row.slope, statistic='slope of score on log odds')}, r {row.r}"

    def _sentences(self) -> tuple[str, ...]:
        return ("Slope: by how much a score rises where the odds in the text are e = 2.7 times as large.",)

    def _charts(self) -> tuple[Chart, ...]:
        measure = self.rows[0].measure
        points = [point for point in self.points if point["measure"] == measure]
        axes = ("log odds ratio in the text", measure)
        title = "Scores of the vectors against log odds in the text"
        chart = points_chart("amplification", title, "Each dot is a word.", points, "log_odds", axes)
        return (chart,) if self.points else ()


def amplification(
    bias: CorpusBias,
    scores: Any,  # noqa: ANN401 - vectors, a ScoreTensor, a frame or a mapping
    *,
    pairs: PairsLike | None = None,
    measures: Sequence[str] = ("dbwa", "ripa", "nbm"),
    k: int = 100,
    min_contexts: int = 10,
    level: float = 0.95,
    resamples: int = 2_000,
    policy: WordPolicy = FALLBACK_POLICY,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Amplification:
    """Slope of embedding scores on the log odds ratios of the text that the embedding was trained on.

    Least squares over words: slope = Σ(o − ō)(s − s̄) / Σ(o − ō)² for log odds o and scores s; `slope_corrected` divides
    by Σ(o − ō)² less the sum of squared errors of o. 0: the vectors do not follow the text. Undefined with too few
    words or where log odds or scores do not vary.

    Args:
        bias: of `corpus_bias`, on that text.
        scores: vectors (a model or replicates), a score tensor, a mapping from word to score, or a frame with `word`
            and `score`; positive leans to the first group.
        pairs: base pairs that vectors are scored with; by default the words of A and of B in order.
        measures: measures that vectors are scored with.
        k: neighbors of a neighborhood measure.
        min_contexts: words with fewer contexts of both groups together are left out: their log odds are mostly noise.
        level: nominal coverage of the intervals.
        resamples: draws of the words.
        policy: how words are looked up; by default also in lower case and capitalized.
        random_state: seed of the draws.
        progress: called with (done, total) while vectors are scored.

    Raises:
        ParameterError: vectors are to be scored, no pairs are given, and the groups are not of one size.
    """
    if pairs is None and len(bias.a) == len(bias.b):
        pairs = list(zip(bias.a, bias.b, strict=True))
    check_whole(0, min_contexts=min_contexts)
    odds_rows = {
        row.word: row for row in bias.words if row.log_odds is not None and row.n_wa + row.n_wb >= min_contexts
    }
    scored = word_scores(
        scores, list(odds_rows), pairs=pairs, measures=list(measures), k=k, policy=policy, progress=progress
    )
    resampling = Resampling("bca", level, resamples, random_state)
    rows, points = [], []
    for measure_scores in scored:
        selected = measure_scores.select_finite(odds_rows)
        odds = np.array([odds_rows[word].log_odds for word in selected.words], np.float64)
        errors = [max(odds_rows[word].se or 0.0, odds_rows[word].se_documents or 0.0) for word in selected.words]
        rows.append(_row(selected.measure, odds, np.array(errors), selected.values, resampling))
        points += [
            {"word": word, "measure": selected.measure, "log_odds": float(log_odds), "score": float(value)}
            for word, log_odds, value in zip(selected.words, odds, selected.values, strict=True)
        ]
    settings = {
        "min_contexts": min_contexts, "level": level, "resamples": resamples, "random_state": random_state,
        "corpus": bias.settings["corpus"],
    }  # fmt: skip
    return Amplification(tuple(rows), tuple(points), settings)


def _row(measure: str, odds: Floats, errors: Floats, values: Floats, resampling: Resampling) -> AmplificationRow:
    if reason := why_undefined(odds, values, ("log odds", measure)):
        undefined = Estimate(value=None, level=resampling.level, reason=reason, n=len(odds))
        return AmplificationRow(measure, undefined, undefined, undefined, len(odds))
    return AmplificationRow(
        measure,
        slope_estimate(odds, values, np.zeros(len(odds)), resampling),
        slope_estimate(odds, values, errors, resampling),
        correlation_estimate(odds, values, level=resampling.level, over="words"),
        len(odds),
    )
