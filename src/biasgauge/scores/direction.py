"""Direct and indirect bias along one direction from many pairs (Bolukbasi et al. 2016), on an embedding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.core import INTERVAL, Estimate, JsonMapping, JsonObject, PairsLike, VectorsLike, WordPolicy, WordsLike
from biasgauge.errors import ParameterError
from biasgauge.lexicons import pairs_of, words_of
from biasgauge.metrics import Direction, Method, pair_direction
from biasgauge.metrics import direct_bias as direct_bias_of
from biasgauge.metrics import indirect_bias as indirect_bias_of
from biasgauge.results import Column, Result, Summary, Table, counted, share_text
from biasgauge.scores.scoring import AS_WRITTEN
from biasgauge.stats import BCA, Resampled, Resampling, estimate_over_words, not_estimated
from biasgauge.vectors import Coverage, Embedding, load

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class DirectBias(Result):
    """Direct bias: how much a set of words lies along a bias direction.

    Attributes:
        mean: of |cos(word, direction)|^c over words; 0: at right angles, 1: along it. Its interval says how far it
            would move with other words of the same kind.
        words: the share of each word.
        explained: share of the pairs' variance along each principal component, None for the mean difference.
        coverage: words and pairs found and lost; a pair counts as lost when either end is.
        settings: c, method, model checksum.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"value": float | None, "reason": str | None, "interval": INTERVAL}

    mean: Estimate
    words: Mapping[str, float]
    explained: tuple[float, ...] | None
    coverage: Coverage
    settings: JsonMapping

    def to_dict(self) -> JsonObject:
        """One JSON-ready object."""
        shape = super().to_dict()
        del shape["mean"]
        reason = None if self.mean.defined else self.mean.reason
        return {"value": self.mean.value, "reason": reason, "interval": self.mean.interval_if_any(), **shape}

    def to_frame(self) -> pd.DataFrame:
        """One row per word: its share."""
        import pandas as pd

        return pd.DataFrame(list(self.words.items()), columns=["word", "share"])

    def summary(self) -> Summary:
        """The mean, and each word's share."""
        rows = sorted(self.words.items(), key=lambda item: -item[1])
        table = Table.of("words", "", ["word", Column("along the direction", "number", 3)], rows, most=20)
        return Summary("Direct bias", f"Direct bias of {counted(self.words, 'word')}: {self.mean}", tables=(table,))


def direct_bias(
    vectors: VectorsLike,
    *,
    pairs: PairsLike,
    words: WordsLike,
    c: float = 1.0,
    method: Method = "pca",
    policy: WordPolicy = AS_WRITTEN,
    interval: Resampling | None = BCA,
) -> DirectBias:
    """Direct bias of a set of words along the direction that the pairs share.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        pairs: a lexicon of pairs, or pairs (first, second).
        words: a lexicon, one of its sets, or words.
        c: strictness; 0 counts any component fully, larger values count small ones less.
        method: "pca" of the centered pairs, or "mean-difference".
        policy: how words are looked up, by default as they are written, and the share of words and pairs to be found.
        interval: how to find the interval over words; None for none.
    """
    model = load(vectors)
    fallback = policy.uses_fallback([model])
    direction, coverage = _direction(model, pairs, method, case_fallback=fallback)
    of_words = model.coverage({"words": words_of(words).words}, case_fallback=fallback, directions=True)
    coverage = Coverage.of({**coverage.sets, **of_words.sets})
    settings = {"c": c, "method": method, "min_coverage": policy.min_coverage, "model_checksum": model.checksum}
    lookup = coverage.sets["words"]
    values = direct_bias_of(model.vectors[lookup.rows], direction, c)
    shares = dict(zip(lookup.words, values.tolist(), strict=True))
    short = coverage.short_of(policy.min_coverage)
    if short:
        reason = f"fewer than {share_text(policy.min_coverage)} found of: {', '.join(short)}"
        none = not_estimated(interval, reason) or Estimate(value=None, reason=reason)
        return DirectBias(none, shares, direction.explained, coverage, settings)
    mean = float(values.mean())
    drawn = Resampled({"words": len(values)}, lambda counts: counts["words"] @ values / len(values))
    estimate = estimate_over_words(mean, drawn, interval) or Estimate(value=mean, n=len(values))
    return DirectBias(estimate, shares, direction.explained, coverage, settings)


def indirect_bias(
    vectors: VectorsLike, word: str, other: str, *, pairs: PairsLike, method: Method = "pca"
) -> float | None:
    """Share of the similarity of two words that lies along the direction of the pairs; None when undefined.

    Raises:
        ParameterError: a word is not in the vocabulary, or the pairs give no direction.
    """
    model = load(vectors)
    direction, _ = _direction(model, pairs, method, case_fallback=False)
    for end in (word, other):
        if end not in model:
            raise ParameterError(f"The word {end!r} cannot be used: {model.why_lost(end)}.")
    return indirect_bias_of(model[word], model[other], direction)


def _direction(
    model: Embedding, pairs: PairsLike, method: Method, *, case_fallback: bool
) -> tuple[Direction, Coverage]:
    """The direction of the pairs of which both ends were found, and which were."""
    pair_list = pairs_of(pairs)
    ends = {end: [pair[index] for pair in pair_list.pairs] for index, end in enumerate(pair_list.ends)}
    coverage = model.coverage(ends, case_fallback=case_fallback, directions=True)
    rows = [lookup.row_of for lookup in coverage.sets.values()]
    complete = [
        (rows[0][first], rows[1][second]) for first, second in pair_list.pairs if first in rows[0] and second in rows[1]
    ]
    if not complete:
        raise ParameterError(f"No pair of {pair_list.name!r} has both ends in {model.name}.")
    first, second = (np.array(column) for column in zip(*complete, strict=True))
    return pair_direction(model.vectors[first], model.vectors[second], method), coverage
