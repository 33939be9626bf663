"""Scores of words from vectors, a score tensor, a corpus bias or a table of numbers.

`amplification` is the slope of such scores on the log odds ratios of the training text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from biasgauge.analyses.corpus_bias import CorpusBias
from biasgauge.core import (
    FALLBACK_POLICY,
    Estimate,
    Floats,
    IntervalsBeside,
    JsonMapping,
    PairsLike,
    WordPolicy,
    check_whole,
)
from biasgauge.errors import ParameterError
from biasgauge.results import AltairChart, Chart, Column, RecordTable, Result, altair
from biasgauge.scores import ScoreStore, ScoreTensor, score
from biasgauge.stats import (
    Resampling,
    correlation_estimate,
    slope_estimate,
    weighted_alpha,
    weighted_signal_share,
    why_undefined,
)
from biasgauge.vectors import load_models

Axes = tuple[str, str]
Reliability = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class ScoredWords:
    """Scores of words under one measure; positive leans to the first end.

    Attributes:
        measure: its name.
        words: each once.
        values: one score per word, NaN where it has none.
        repeats: words × repeats (models or pairs) of the same score, to estimate reliability; None without any.
        over: what the repeats are.
        errors: known standard errors of the values, in the place of repeats.
    """

    measure: str
    words: tuple[str, ...]
    values: Floats
    repeats: Floats | None = None
    over: str = ""
    errors: Floats | None = None

    def select_finite(self, words: Iterable[str]) -> ScoredWords:
        """Scores of these words, in their order, without those that have none."""
        index = {word: row for row, word in enumerate(self.words) if np.isfinite(self.values[row])}
        selected = tuple(word for word in words if word in index)
        rows = [index[word] for word in selected]
        repeats, errors = (None if table is None else table[rows] for table in (self.repeats, self.errors))
        return ScoredWords(self.measure, selected, self.values[rows], repeats, self.over, errors)

    @property
    def reliability(self) -> Reliability | None:
        """Reliability of the values for each row of weights; None where nothing tells it."""
        if self.repeats is not None:
            repeats = self.repeats
            return lambda weights: weighted_alpha(repeats, weights)
        if self.errors is not None:
            values, errors = self.values, self.errors
            return lambda weights: weighted_signal_share(values, errors, weights)
        return None


def word_scores(
    scores: Any,  # noqa: ANN401 - vectors, a tensor, a corpus bias, a frame or a mapping
    words: Sequence[str],
    *,
    pairs: PairsLike | None,
    measures: Sequence[str],
    k: int,
    policy: WordPolicy,
    min_contexts: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[ScoredWords]:
    """Scores of words, one for each measure, from any of the accepted sources.

    Raises:
        ParameterError: the source has another type, or vectors come without pairs to score them with.
    """
    if isinstance(scores, CorpusBias):
        return [_from_corpus(scores, min_contexts)]
    if hasattr(scores, "columns") and hasattr(scores, "to_dict"):
        return [_from_frame(scores)]
    if isinstance(scores, Mapping) and all(isinstance(value, (int, float)) for value in scores.values()):
        return [ScoredWords("score", tuple(scores), np.array(list(scores.values()), np.float64))]
    if isinstance(scores, ScoreStore):
        scores = scores.read()
    if not isinstance(scores, ScoreTensor):
        if pairs is None:
            raise ParameterError("The two groups have different sizes: say which 'pairs' to score the vectors with.")
        fallback = policy.case == "fallback"
        if policy.case == "auto":  # which the vocabularies decide
            scores = load_models(scores)
            fallback = policy.uses_fallback(scores)
        policy = WordPolicy(case="fallback" if fallback else "exact")
        scores = score(scores, pairs=pairs, words=list(words), measures=measures, k=k, policy=policy, progress=progress)
    return [_from_tensor(scores, measure) for measure in range(len(scores.measures))]


def _from_tensor(scores: ScoreTensor, measure: int) -> ScoredWords:
    """Mean over pairs and models; models are repeats where there are several, else pairs."""
    with np.errstate(invalid="ignore"):
        block = np.asarray(scores.values[measure], np.float64)  # pair × word × model
        block = block[np.isfinite(block).any(axis=(1, 2))]  # without pairs that have no score at all
        values = block.mean(axis=(0, 2)) if len(block) else np.full(len(scores.words), np.nan)
    if len(scores.models) > 1:
        repeats, over = block.mean(axis=0), "models"
    elif len(block) > 1:
        repeats, over = block[:, :, 0].T, "pairs"
    else:
        repeats, over = None, ""
    return ScoredWords(scores.measures[measure], scores.words, values, repeats, over)


def _from_corpus(bias: CorpusBias, min_contexts: int) -> ScoredWords:
    """Log odds of the words with enough contexts, with their standard errors."""
    rows = [row for row in bias.words if row.log_odds is not None and row.n_wa + row.n_wb >= min_contexts]
    numbers = np.array([row.log_odds for row in rows], np.float64)
    errors = np.array([max(row.se_documents or 0.0, row.se or 0.0) for row in rows])
    return ScoredWords("log odds", tuple(row.word for row in rows), numbers, errors=errors)


def _from_frame(frame: Any) -> ScoredWords:  # noqa: ANN401 - a data frame
    """Scores from columns `word` and `score`; a column `model` or `pair` identifies repeats."""
    missing = {"word", "score"} - set(frame.columns)
    if missing:
        raise ParameterError(f"A frame of scores needs the columns 'word' and 'score'. It lacks {min(missing)!r}.")
    over = next((name for name in ("model", "pair") if name in frame.columns), None)
    if over is None:
        if frame["word"].duplicated().any():
            twice = frame["word"][frame["word"].duplicated()].iloc[0]
            raise ParameterError(f"A frame of scores has one row per word, or a column 'model'. Got {twice!r} twice.")
        return ScoredWords("score", tuple(frame["word"]), frame["score"].to_numpy(np.float64))
    wide = frame.pivot_table(index="word", columns=over, values="score", sort=False)
    repeats = wide.to_numpy(np.float64)
    return ScoredWords(
        "score", tuple(wide.index), repeats.mean(axis=1), repeats if repeats.shape[1] > 1 else None, f"{over}s"
    )


def points_chart(name: str, title: str, remark: str, points: Sequence[Mapping[str, Any]], x: str, axes: Axes) -> Chart:
    """Scores of words against a number, a dot each, with the line of least squares."""

    def draw() -> AltairChart:
        import pandas as pd

        alt = altair()
        across, up = alt.X(f"{x}:Q", title=axes[0]), alt.Y("score:Q", title=axes[1])
        base = alt.Chart(pd.DataFrame(points)).encode(x=across, y=up)
        dots = base.mark_circle(size=42, color="#1b6ca8", opacity=0.75).encode(tooltip=["word", x, "score"])
        line = base.transform_regression(x, "score").mark_line(color="#9aa09a", strokeDash=[4, 3])
        return (line + dots).properties(width=420, height=300)

    return Chart(name, title, remark, draw)


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
