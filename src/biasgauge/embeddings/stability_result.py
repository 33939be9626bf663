"""What `stability` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.arrays import Floats, Places
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.stats.estimate import Estimate
from biasgauge.stats.jackknife import JACKKNIFE, NO_SPREAD

if TYPE_CHECKING:
    import pandas as pd

REASONS = (
    "",
    "in no model",
    "in one model only",
    "its vector is zero in all models that have it, or in all but one",
)
"""Why a word has no stability; `Stability.undefined` holds the place in this list, 0 where it has one."""

NO_INTERVAL = "fewer than three models have the word with a direction"
_SHOWN = 10


@dataclass(frozen=True, kw_only=True)
class PairMean(Estimate):
    """How far two models agree: mean cosine after alignment over the `n` words that have one, with its interval.

    Attributes:
        first, second: names of the models.
        shared: how many words decided the rotation.
        rank: rank of their cross-product; below the dimensions, any two models would seem stable.
    """

    first: str
    second: str
    shared: int
    rank: int

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {
            "first": self.first,
            "second": self.second,
            "mean": self.value,
            "interval": self.interval(),
            "compared": self.n,
            "shared": self.shared,
            "rank": self.rank,
        }


@dataclass(frozen=True, eq=False)
class PairStability:
    """Stability of every word between two models.

    Attributes:
        cosines: for each word asked for, the cosine after alignment, in [−1, 1]; NaN where a model lacks the word or
            its vector is zero.
        mean: their mean, and what the alignment rests on.
    """

    cosines: Floats
    mean: PairMean


@dataclass(frozen=True, kw_only=True)
class WordStability(Estimate):
    """Stability of one word, over so many models and pairs of models: see `Stability`."""

    word: str
    models: int
    pairs: int


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Result):
    """Mean stability of each word over all pairs of models that have it.

    1: the word lies in the same place after any training, but for a rotation; 0: in unrelated places; range [−1, 1].
    Words with few occurrences are less stable. It is undefined, with a reason, for a word that fewer than two models
    have with a direction. `result["nurse"]` tells all about one word.

    Attributes:
        models: names.
        words: as asked for; all words of all models by default.
        values: stability of each word; NaN exactly where `undefined` is not 0.
        low, high: ends of its interval over models (jackknife over models: a pair is not independent of another that
            shares a model; Student's t; cut at −1 and 1); NaN where fewer than three models have the word, or leaving
            out any of them gives the same value.
        model_counts, pair_counts: how many models and pairs of models each word's value rests on.
        undefined: places in `REASONS`.
        mean: over all words and pairs of models, with its interval over models.
        pairs: each pair of models: its mean over words, how many words it shares.
        notices: what to beware of.
    """

    models: tuple[str, ...]
    words: tuple[str, ...]
    values: Floats
    low: Floats
    high: Floats
    model_counts: Places
    pair_counts: Places
    undefined: np.ndarray[Any, np.dtype[np.uint8]]
    mean: Estimate
    pairs: tuple[PairMean, ...]
    notices: tuple[str, ...] = ()

    def __getitem__(self, word: str) -> WordStability:
        if word not in self.words:
            raise KeyError(f"{word!r} was not asked for")
        place = self.words.index(word)
        reason = REASONS[int(self.undefined[place])] or None
        bounded = not np.isnan(self.low[place])
        if not reason and not bounded:
            reason = NO_INTERVAL if self.model_counts[place] < 3 else NO_SPREAD
        return WordStability(
            word=word,
            value=None if self.undefined[place] else float(self.values[place]),
            low=float(self.low[place]) if bounded else None,
            high=float(self.high[place]) if bounded else None,
            level=self.mean.level,
            method=JACKKNIFE,
            over="models",
            reason=reason,
            models=int(self.model_counts[place]),
            pairs=int(self.pair_counts[place]),
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per word: stability, low, high, models, pairs, and why it is undefined."""
        import pandas as pd

        return pd.DataFrame(
            {
                "word": self.words,
                "stability": self.values,
                "low": self.low,
                "high": self.high,
                "models": self.model_counts,
                "pairs": self.pair_counts,
                "undefined": np.array(REASONS, dtype=object)[self.undefined],
            }
        )

    def pairs_to_frame(self) -> pd.DataFrame:
        """One row per pair of models: first, second, mean, low, high (over words), words compared and shared, rank."""
        import pandas as pd

        rows = [{**pair.to_dict(), "low": pair.low, "high": pair.high} for pair in self.pairs]
        return pd.DataFrame(rows, columns=["first", "second", "mean", "low", "high", "compared", "shared", "rank"])

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object: the means; words are in `to_frame`."""
        counts = np.bincount(self.undefined, minlength=len(REASONS))
        return {
            "models": list(self.models),
            "words": len(self.words),
            "mean": self.mean.value,
            "interval": self.mean.interval(),
            "undefined": {REASONS[place]: int(counts[place]) for place in range(1, len(REASONS)) if counts[place]},
            "pairs": [pair.to_dict() for pair in self.pairs],
            "notices": list(self.notices),
        }

    def summary(self) -> Summary:
        """The mean, each pair of models, and the least stable words."""
        order = np.argsort(self.values, kind="stable")[: min(_SHOWN, np.count_nonzero(self.undefined == 0))]
        columns = [Column("stability", "estimate", 3), Column("models", "count")]
        words = [self[self.words[place]] for place in order.tolist()]
        tables = (
            Table.of(
                "pairs",
                "Pairs of models",
                ["first", "second", Column("mean", "estimate", 3), Column("words", "count")],
                [(pair.first, pair.second, pair, pair.n) for pair in self.pairs],
                most=_SHOWN,
            ),
            Table.of(
                "words", "Least stable words", ["word", *columns], [(word.word, word, word.models) for word in words]
            ),
        )
        return Summary(
            title="Stability of words over replicates",
            headline=f"Stability of {len(self.words):,} words over {len(self.models)} models: mean {self.mean}.",
            tables=tables,
            warnings=self.notices,
        )
