"""Scores of words from vectors, a score tensor, a corpus bias, or a table of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasgauge.analyses.corpus_bias import CorpusBias
from biasgauge.core import Floats, PairsLike, WordPolicy
from biasgauge.errors import ParameterError
from biasgauge.results import AltairChart, Chart, altair
from biasgauge.scores import ScoreStore, ScoreTensor, score
from biasgauge.stats import weighted_alpha, weighted_signal_share
from biasgauge.vectors import load_models

EXACT_POLICY, FALLBACK_POLICY = WordPolicy(case="exact"), WordPolicy(case="fallback")
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
        scores = score(
            scores, pairs=pairs, words=list(words), measures=measures, k=k, case_fallback=fallback, progress=progress
        )
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
