"""`similarity_benchmark`: do cosines order pairs of words as people do?

It tells whether vectors are any good, and what a change to them, such as debiasing, has broken.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.embeddings.benchmark_files import RatedPair, find_similarity
from biasgauge.embeddings.coverage import ZERO
from biasgauge.embeddings.interval import Array, Interval, check_level
from biasgauge.embeddings.load import load
from biasgauge.embeddings.procrustes import unit
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from biasgauge.embeddings.embedding import Embedding

FISHER = "fisher-z"
BONETT_WRIGHT = "bonett-wright"
_LEAST_FOR_INTERVAL = 4
_PERFECT = 1 - 1e-12
_SAME = 1e-12


@dataclass(frozen=True, eq=False)
class Similarity:
    """How well cosines follow human scores of similarity.

    1: the same order (Spearman) or a straight line (Pearson); 0: unrelated; range [−1, 1]. Pairs with a word that the
    model lacks are left out and listed, so results on different vocabularies do not compare.

    Attributes:
        benchmark: its name.
        model: the model's name.
        spearman: rank correlation, equal values with their mean rank; None when undefined.
        pearson: correlation; None when undefined.
        spearman_interval: over pairs of words: Fisher's z with the variance of Bonett & Wright (*Psychometrika* 65,
            2000).
        pearson_interval: over pairs of words: Fisher's z.
        pairs: the pairs that were compared.
        cosines: cosine of each of them.
        lost: the pairs that were not, each with the reason.
        reason: why the correlations are undefined; None when they are not.
    """

    benchmark: str
    model: str
    spearman: float | None
    pearson: float | None
    spearman_interval: Interval
    pearson_interval: Interval
    pairs: tuple[RatedPair, ...]
    cosines: Array
    lost: tuple[tuple[RatedPair, str], ...]
    reason: str | None = None

    @property
    def asked(self) -> int:
        """How many pairs the benchmark has."""
        return len(self.pairs) + len(self.lost)

    def to_frame(self) -> pd.DataFrame:
        """One row a pair: first, second, human score, cosine, and why it was lost."""
        import pandas as pd  # noqa: PLC0415 - pandas takes longer to import than most commands take to run

        rows = [(*pair, float(cosine), "") for pair, cosine in zip(self.pairs, self.cosines, strict=True)]
        rows += [(*pair, np.nan, why) for pair, why in self.lost]
        return pd.DataFrame(rows, columns=["first", "second", "human", "cosine", "lost"])

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {
            "benchmark": self.benchmark,
            "model": self.model,
            "spearman": self.spearman,
            "spearman_interval": self.spearman_interval.to_dict(),
            "pearson": self.pearson,
            "pearson_interval": self.pearson_interval.to_dict(),
            "asked": self.asked,
            "pairs": len(self.pairs),
            "lost": [{"first": pair.first, "second": pair.second, "reason": why} for pair, why in self.lost],
            "reason": self.reason,
        }

    def __repr__(self) -> str:
        ends = self.spearman_interval
        spread = "" if ends.low is None else f" [{ends.low:.3f}, {ends.high:.3f}]"
        shown = f"undefined: {self.reason}" if self.spearman is None else f"Spearman {self.spearman:.3f}{spread}"
        return f"<Similarity {self.benchmark} on {self.model!r}: {shown}, {len(self.pairs)} of {self.asked} pairs>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>"


def similarity_benchmark(
    embedding: object,
    benchmark: str | os.PathLike[str] | Iterable[tuple[str, str, float]],
    *,
    case_fallback: bool = False,
    level: float = 0.95,
) -> Similarity:
    """Correlate the cosines of pairs of words with how similar people find them.

    Args:
        embedding: an `Embedding` or anything `load` takes.
        benchmark: a name (`similarity_names()` lists them), a file with two words and a number a line, or such rows.
        case_fallback: look words up in lower case, then capitalised, when they are not there as written.
        level: nominal coverage of the intervals.

    Raises:
        LexiconError: the benchmark is unknown, or its file is not what it should be.
        ParameterError: an argument cannot be used.
    """
    check_level(level)
    model = load(embedding)
    name, asked = _pairs(benchmark)
    found = model.lookup((word for pair in asked for word in pair[:2]), case_fallback=case_fallback)
    found = found.only(np.asarray(model.vectors[found.rows].any(axis=1)), ZERO)
    rows = dict(zip(found.words, found.rows.tolist(), strict=True))
    lost = [(pair, why) for pair in asked if (why := _why_lost(pair, found.lost))]
    used = [pair for pair in asked if pair.first in rows and pair.second in rows]
    cosines = _cosines(model, [rows[pair.first] for pair in used], [rows[pair.second] for pair in used])
    human = np.array([pair.score for pair in used])
    reason = _undefined(human, cosines)
    spearman = None if reason else _correlation(_ranks(human), _ranks(cosines))
    pearson = None if reason else _correlation(human, cosines)
    return Similarity(
        benchmark=name,
        model=model.name,
        spearman=spearman,
        pearson=pearson,
        spearman_interval=_interval(spearman, len(used), level, BONETT_WRIGHT, reason),
        pearson_interval=_interval(pearson, len(used), level, FISHER, reason),
        pairs=tuple(used),
        cosines=cosines,
        lost=tuple(lost),
        reason=reason,
    )


def _pairs(benchmark: object) -> tuple[str, tuple[RatedPair, ...]]:
    if isinstance(benchmark, (str, os.PathLike)):
        return find_similarity(benchmark)
    try:
        pairs = tuple(
            RatedPair(str(first), str(second), float(score))
            for first, second, score in benchmark  # type: ignore[attr-defined]  # what is wrong is told below
        )
    except (TypeError, ValueError):
        pairs = ()
    if not pairs or not all(np.isfinite(pair.score) for pair in pairs):
        raise ParameterError(
            "The 'benchmark' parameter of similarity_benchmark must be a name, a file, or rows of two words and a "
            "finite number."
        )
    return "given pairs", pairs


def _why_lost(pair: RatedPair, lost: Mapping[str, str]) -> str:
    return "; ".join(f"{word}: {lost[word]}" for word in dict.fromkeys(pair[:2]) if word in lost)


def _cosines(model: Embedding, first: list[int], second: list[int]) -> Array:
    left, right = (unit(model.vectors[rows].astype(np.float64)) for rows in (first, second))
    products: Array = np.einsum("ij,ij->i", left, right)
    return products


def _undefined(human: Array, cosines: Array) -> str | None:
    if len(human) < 2:  # noqa: PLR2004 - a correlation needs two points
        return f"only {len(human)} of the pairs can be compared"
    for what, values in (("human scores", human), ("cosines", cosines)):
        if np.ptp(values) <= _SAME * max(1.0, float(np.abs(values).max())):
            return f"all {what} are the same"
    return None


def _ranks(values: Array) -> Array:
    """Rank of each value from 1; equal values, also those that rounding alone tells apart, share their mean rank."""
    _, place, count = np.unique(np.round(values, 12), return_inverse=True, return_counts=True)
    found: Array = (np.cumsum(count) - (count - 1) / 2)[place]
    return found


def _correlation(x: Array, y: Array) -> float:
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1, 1))


def _interval(value: float | None, pairs: int, level: float, method: str, reason: str | None) -> Interval:
    if value is None:
        return Interval(None, None, level, method, "word pairs", reason)
    return correlation_interval(value, pairs, level, method)


def correlation_interval(value: float, pairs: int, level: float, method: str) -> Interval:
    """Interval of a correlation over pairs of words: Fisher's z, for Spearman's with Bonett & Wright's variance.

    Undefined, with a reason, for fewer than four pairs and for a perfect correlation.
    """
    from scipy.special import ndtri  # noqa: PLC0415 - loading vectors does without it

    if pairs < _LEAST_FOR_INTERVAL or abs(value) >= _PERFECT:
        why = "the correlation is perfect" if abs(value) >= _PERFECT else "there are fewer than four pairs"
        return Interval(None, None, level, method, "word pairs", why)
    spread = 1 + value**2 / 2 if method == BONETT_WRIGHT else 1.0
    margin = float(ndtri((1 + level) / 2)) * (spread / (pairs - 3)) ** 0.5
    low, high = np.tanh(np.arctanh(value) + np.array([-margin, margin])).tolist()
    return Interval(low, high, level, method, "word pairs")
