"""What `stability` returns."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.embeddings.interval import JACKKNIFE, NO_SPREAD, Interval

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

REASONS = (
    "",
    "in no model",
    "in one model only",
    "its vector is zero in all models that have it, or in all but one",
)
"""Why a word has no stability; `Stability.undefined` holds the place in this list, 0 where it has one."""

NO_INTERVAL = "fewer than three models have the word with a direction"


@dataclass(frozen=True, kw_only=True)
class PairMean:
    """How far two models agree on the words asked for.

    Attributes:
        first, second: names of the models.
        mean: mean cosine after alignment, over the words that have one; None where none has.
        interval: of that mean, over words.
        compared: how many words have a cosine.
        shared: how many words decided the rotation.
        rank: rank of their cross-product; below the dimensions, any two models would seem stable.
    """

    first: str
    second: str
    mean: float | None
    interval: Interval
    compared: int
    shared: int
    rank: int

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {
            "first": self.first,
            "second": self.second,
            "mean": self.mean,
            "interval": self.interval.to_dict(),
            "compared": self.compared,
            "shared": self.shared,
            "rank": self.rank,
        }


@dataclass(frozen=True, eq=False)
class PairStability:
    """Stability of every word between two models.

    Attributes:
        cosines: for each word asked for, the cosine after alignment, in [−1, 1]; NaN where a model lacks the word or
            its vector is zero.
        summary: their mean, and what the alignment rests on.
    """

    cosines: NDArray[np.float64]
    summary: PairMean


@dataclass(frozen=True)
class WordStability:
    """Stability of one word: see `Stability`."""

    word: str
    value: float | None
    interval: Interval
    models: int
    pairs: int
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class Stability:
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
        level: nominal coverage of the intervals.
        model_counts, pair_counts: how many models and pairs of models each word's value rests on.
        undefined: places in `REASONS`.
        mean: over all words and pairs of models; None where no word has a value.
        interval: of that mean, over models.
        pairs: each pair of models: its mean over words, how many words it shares.
        notices: what to beware of.
    """

    models: tuple[str, ...]
    words: tuple[str, ...]
    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    level: float
    model_counts: NDArray[np.intp]
    pair_counts: NDArray[np.intp]
    undefined: NDArray[np.uint8]
    mean: float | None
    interval: Interval
    pairs: tuple[PairMean, ...]
    notices: tuple[str, ...] = ()

    def __getitem__(self, word: str) -> WordStability:
        if word not in self.words:
            raise KeyError(f"{word!r} was not asked for")
        place = self.words.index(word)
        reason = REASONS[int(self.undefined[place])] or None
        ends = self.low[place], self.high[place]
        if np.isnan(ends[0]):
            why = NO_INTERVAL if self.model_counts[place] < 3 else NO_SPREAD  # noqa: PLR2004 - two have one pair
            interval = Interval(None, None, self.level, JACKKNIFE, "models", reason or why)
        else:
            interval = Interval(float(ends[0]), float(ends[1]), self.level, JACKKNIFE, "models")
        return WordStability(
            word=word,
            value=None if reason else float(self.values[place]),
            interval=interval,
            models=int(self.model_counts[place]),
            pairs=int(self.pair_counts[place]),
            reason=reason,
        )

    def to_frame(self) -> pd.DataFrame:
        """One row a word: stability, low, high, models, pairs, and why it is undefined."""
        import pandas as pd  # noqa: PLC0415 - pandas takes longer to import than most commands take to run

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
        """One row a pair of models: first, second, mean, low, high (over words), shared words."""
        import pandas as pd  # noqa: PLC0415 - as in to_frame

        columns = ["first", "second", "mean", "low", "high", "compared", "shared", "rank"]
        rows = [{**one.to_dict(), "low": one.interval.low, "high": one.interval.high} for one in self.pairs]
        return pd.DataFrame(rows, columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object: the means; words are in `to_frame`."""
        counts = np.bincount(self.undefined, minlength=len(REASONS))
        return {
            "models": list(self.models),
            "words": len(self.words),
            "mean": self.mean,
            "interval": self.interval.to_dict(),
            "undefined": {REASONS[place]: int(counts[place]) for place in range(1, len(REASONS)) if counts[place]},
            "pairs": [one.to_dict() for one in self.pairs],
            "notices": list(self.notices),
        }

    def __repr__(self) -> str:
        shown = "undefined" if self.mean is None else f"mean {self.mean:.3f}"
        ends = self.interval
        spread = "" if ends.low is None else f" [{ends.low:.3f}, {ends.high:.3f}]"
        return f"<Stability of {len(self.words):,} words over {len(self.models)} models: {shown}{spread}>"

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(one)}</li>" for one in self.notices)
        return f"<p>{escape(repr(self))}</p>" + (f"<ul>{notes}</ul>" if notes else "")
