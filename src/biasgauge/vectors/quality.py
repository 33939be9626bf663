"""`similarity_benchmark`: do cosines order pairs of words as people do?

It tells whether vectors are any good, and what a change to them, such as debiasing, has broken.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasgauge.core import Estimate, Floats, JsonObject, VectorsLike, check_level, row_cosines
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.stats import METHODS, Kind, fisher_interval, slack, weighted_ranks
from biasgauge.vectors.benchmark_files import RatedPair, find_similarity
from biasgauge.vectors.coverage import ZERO
from biasgauge.vectors.loading import load

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Similarity(Result):
    """How well cosines follow human scores of similarity.

    1: the same order (Spearman) or a straight line (Pearson); 0: unrelated; range [−1, 1]. Pairs with a word that the
    model lacks are left out and listed, so results on different vocabularies do not compare.

    Attributes:
        benchmark: its name.
        model: the model's name.
        spearman: rank correlation, equal values with their mean rank; interval over pairs of words by Fisher's z with
            the variance of Bonett & Wright (*Psychometrika* 65, 2000).
        pearson: correlation; interval over pairs of words by Fisher's z.
        pairs: the pairs that were compared.
        cosines: cosine of each of them.
        lost: the pairs that were not, each with the reason.
    """

    abridged: ClassVar[bool] = True

    benchmark: str
    model: str
    spearman: Estimate
    pearson: Estimate
    pairs: tuple[RatedPair, ...]
    cosines: Floats
    lost: tuple[tuple[RatedPair, str], ...]

    @property
    def asked(self) -> int:
        """How many pairs the benchmark has."""
        return len(self.pairs) + len(self.lost)

    @property
    def reason(self) -> str | None:
        """Why the correlations are undefined; None when they are not."""
        return None if self.spearman.defined else self.spearman.reason

    def to_frame(self) -> pd.DataFrame:
        """One row per pair: first, second, human score, cosine, and why it was lost."""
        import pandas as pd

        rows = [(*pair, float(cosine), "") for pair, cosine in zip(self.pairs, self.cosines, strict=True)]
        rows += [(*pair, np.nan, why) for pair, why in self.lost]
        return pd.DataFrame(rows, columns=["first", "second", "human", "cosine", "lost"])

    def to_dict(self) -> JsonObject:
        """One JSON-ready object."""
        numbers = {name: getattr(self, name) for name in ("spearman", "pearson")}
        return {
            "benchmark": self.benchmark,
            "model": self.model,
            **{name: estimate.value for name, estimate in numbers.items()},
            **{f"{name}_interval": estimate.interval() for name, estimate in numbers.items()},
            "asked": self.asked,
            "pairs": len(self.pairs),
            "lost": [{"first": pair.first, "second": pair.second, "reason": why} for pair, why in self.lost],
            "reason": self.reason,
        }

    def summary(self) -> Summary:
        """Both correlations, and how many pairs they rest on."""
        rows = [("Spearman", self.spearman), ("Pearson", self.pearson)]
        found = f"{len(self.pairs)} of {self.asked} pairs"
        return Summary(
            title=f"Similarity benchmark {self.benchmark} on {self.model}",
            headline=f"{self.benchmark} on {self.model!r}: Spearman {self.spearman}, {found}",
            tables=(Table.of("correlations", "", ["correlation", Column("value", "estimate", 3)], rows),),
        )


def similarity_benchmark(
    vectors: VectorsLike,
    benchmark: str | os.PathLike[str] | Iterable[tuple[str, str, float]],
    *,
    case_fallback: bool = False,
    level: float = 0.95,
) -> Similarity:
    """Correlate the cosines of pairs of words with how similar people find them.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        benchmark: a name (`similarity_names()` lists them), a file with two words and a number a line, or such rows.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.
        level: nominal coverage of the intervals.

    Raises:
        LexiconError: the benchmark is unknown, or its file is not what it should be.
        ParameterError: an argument cannot be used.
    """
    check_level(level)
    model = load(vectors)
    name, asked = _pairs(benchmark)
    lookup = model.lookup((word for pair in asked for word in pair[:2]), case_fallback=case_fallback)
    lookup = lookup.only(model.directed(lookup.rows), ZERO)
    rows = lookup.row_of
    used = [pair for pair in asked if pair.first in rows and pair.second in rows]
    lost = [
        (pair, "; ".join(f"{word}: {lookup.lost[word]}" for word in dict.fromkeys(pair[:2]) if word in lookup.lost))
        for pair in asked
        if pair.first not in rows or pair.second not in rows
    ]
    first, second = [rows[pair.first] for pair in used], [rows[pair.second] for pair in used]
    cosines = row_cosines(model.vectors[first], model.vectors[second])
    human = np.array([pair.score for pair in used])
    reason = _undefined(human, cosines)
    pearson, spearman = (_correlation(human, cosines, kind, level, reason) for kind in METHODS)
    return Similarity(name, model.name, spearman, pearson, tuple(used), cosines, tuple(lost))


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


def _undefined(human: Floats, cosines: Floats) -> str | None:
    if len(human) < 2:
        return f"only {len(human)} of the pairs can be compared"
    for what, values in (("human scores", human), ("cosines", cosines)):
        if np.ptp(values) <= slack(float(np.abs(values).max())):
            return f"all {what} are the same"
    return None


def _ranks(values: Floats) -> Floats:
    """Rank of each value from 1; equal values, also those that rounding alone tells apart, share their mean rank."""
    return weighted_ranks(np.round(values, 12), np.ones((1, len(values))))[0]


def _correlation(human: Floats, cosines: Floats, kind: Kind, level: float, reason: str | None) -> Estimate:
    if reason:
        return Estimate(value=None, level=level, method=METHODS[kind], over="word pairs", reason=reason)
    columns = [_ranks(values) if kind == "spearman" else values for values in (human, cosines)]
    x, y = (values - values.mean() for values in columns)
    value = float(np.clip(x @ y / np.sqrt((x @ x) * (y @ y)), -1, 1))
    return fisher_interval(value, len(human), level=level, kind=kind, over="word pairs")
