"""Scores of words, summed up: the mean over pairs with its interval, and how many pairs agree on the direction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.scores.tensor import ScoreTensor, describe
from biasgauge.stats.estimate import Estimate, check_level

if TYPE_CHECKING:
    from biasgauge.scores.store import ScoreStore

METHOD = "t over pairs"
MOST_WORDS = 10_000
"""Words that are summed up one by one; of more, the first so many."""


@dataclass(frozen=True, kw_only=True)
class WordScore(Estimate):
    """Mean score of a word over pairs (and models) under one measure: positive leans to the first end of the pairs.

    Attributes:
        word, measure: whose score, under which measure.
        agree: share of the pairs with a score whose direction is that of the mean; None without a score.
    """

    word: str
    measure: str
    agree: float | None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        ends = {"low": self.low, "high": self.high, "level": self.level, "method": self.method}
        numbers = {"mean": self.value, "interval": ends, "agree": self.agree, "pairs": self.n}
        return {"word": self.word, "measure": self.measure, **numbers, "reason": self.reason}


@dataclass(frozen=True, eq=False, repr=False)
class WordScores(Result):
    """What scores of words come to.

    Attributes:
        scores: of each word under each measure.
        about: labels, shape and counts of undefined scores, by the keys that they have in JSON.
        coverage: of each model.
        path: where the scores are kept; None where they are in memory.
        settings: how they came about.
        warnings: what to know first.
    """

    tables: ClassVar[tuple[str, ...]] = ("scores",)

    scores: tuple[WordScore, ...]
    about: Mapping[str, Any]
    coverage: Mapping[str, Any]
    path: str | None
    settings: Mapping[str, Any]
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        shape = super().to_dict()
        return {**shape.pop("about"), **shape}

    def summary(self) -> Summary:
        """Each word's mean over pairs, most biased first, and what is undefined."""
        sizes = {axis: f"{size:,} {axis}{'s' * (size != 1)}" for axis, size in self.about["shape"].items()}
        undefined = [f"{count:,} scores are undefined: {reason}." for reason, count in self.about["undefined"].items()]
        lost = [
            f"{model}: not in the vocabulary (OOV), {part}: {', '.join(words)}"
            for model, coverage in self.coverage.items()
            for part, words in coverage["lost"].items()
        ]
        rows: dict[str, list[tuple[Any, ...]]] = {score.measure: [] for score in self.scores}
        for score in sorted(self.scores, key=lambda score: -abs(score.value or 0)):
            rows[score.measure].append((score.word, score, score.agree, score.n))
        columns = [
            "word",
            Column("mean over pairs [95 % interval]", "estimate", 3),
            Column("agree", "share", about="share of the pairs whose direction is that of the mean"),
            Column("pairs", "count"),
        ]
        return Summary(
            title="Bias scores",
            headline=" × ".join(sizes.values()),
            sentences=tuple(undefined),
            warnings=(*self.warnings, *lost),
            tables=tuple(
                Table.of(f"scores-{measure}", measure, columns, cells, most=20) for measure, cells in rows.items()
            ),
        )


def word_scores(scores: ScoreTensor | ScoreStore, *, level: float = 0.95) -> WordScores:
    """Sum up scores: for each word and measure the mean over pairs, with an interval, and the share that agrees.

    Scores are averaged over models first. The interval is Student's t over pairs: how far the mean would move with
    other pairs of the same kind. Of more than 10,000 words, the first 10,000 are summed up, with a warning.

    Args:
        scores: as `score` and `score_to_store` give them.
        level: nominal coverage of the intervals.
    """
    check_level(level)
    about = describe(scores)
    provenance = about.pop("provenance")
    words = scores.words[:MOST_WORDS]
    rows = [row for measure in scores.measures for row in _of_measure(scores, measure, words, level)]
    models = provenance.get("models", {})
    warnings = [f"computed again: {model['recomputed']}" for model in models.values() if "recomputed" in model]
    if len(words) < len(scores.words):
        warnings.append(f"summed up are the first {len(words):,} of {len(scores.words):,} words; the scores have all")
    return WordScores(
        scores=tuple(rows),
        about=about,
        coverage={name: model["coverage"] for name, model in models.items() if "coverage" in model},
        path=str(scores.path) if hasattr(scores, "path") else None,
        settings=provenance,
        warnings=tuple(warnings),
    )


def _of_measure(
    scores: ScoreTensor | ScoreStore, measure: str, words: tuple[str, ...], level: float
) -> Iterator[WordScore]:
    from scipy.special import stdtrit

    select = scores.read if hasattr(scores, "read") else scores.select
    part = select(measure=[measure], word=words)
    averages = _mean(np.where(part.undefined == 0, part.values, np.nan).astype(np.float64)[0], axis=2)  # pair × word
    means = _mean(averages, axis=0)
    counts = (~np.isnan(averages)).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt(np.nansum((averages - means) ** 2, axis=0) / (counts - 1))
        reach = stdtrit(np.maximum(counts - 1, 1), (1 + level) / 2) * spread / np.sqrt(counts)
    agree = (np.sign(averages) == np.sign(means)).sum(axis=0)
    for index, word in enumerate(words):
        n = int(counts[index])
        about = {"word": word, "measure": measure, "level": level, "method": METHOD, "over": "pairs", "n": n}
        if n == 0:
            yield WordScore(value=None, agree=None, reason="no pair gives it a score", **about)  # type: ignore[arg-type]
            continue
        mean, half = float(means[index]), float(reach[index])
        ends = {"low": mean - half, "high": mean + half} if n > 1 else {"reason": "one pair gives no interval"}
        yield WordScore(value=mean, agree=int(agree[index]) / n, **about, **ends)  # type: ignore[arg-type]


def _mean(values: Floats, axis: int) -> Floats:
    """Mean of what is defined; NaN where nothing is."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        found: Floats = np.where(defined, values, 0).sum(axis=axis) / defined.sum(axis=axis)
    return found
