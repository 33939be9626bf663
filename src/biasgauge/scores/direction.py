"""Direct and indirect bias along one direction from many pairs (Bolukbasi et al. 2016), on an embedding."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from biasgauge.association.intervals import BCA, Interval, Resampling, interval_over_words, undefined_interval
from biasgauge.association.set_test import Resampled
from biasgauge.embeddings import Coverage, Embedding, load
from biasgauge.errors import ParameterError
from biasgauge.lexicons import pairs_of, words_of
from biasgauge.measures.subspace import Direction, pair_direction
from biasgauge.measures.subspace import direct_bias as direct_bias_of
from biasgauge.measures.subspace import indirect_bias as indirect_bias_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

Method = Literal["pca", "mean-difference"]


@dataclass(frozen=True)
class DirectBias:
    """How much a set of words lies along a bias direction.

    Attributes:
        value: mean of |cos(word, direction)|^c; 0: at right angles, 1: along it; None when undefined.
        reason: why it is undefined.
        interval: how far it would move with other words of the same kind.
        words: the share of each word.
        explained: share of the pairs' variance along each principal component, None for the mean difference.
        coverage: words and pairs found and lost; a pair counts as lost when either end is.
        settings: c, method, model checksum.
    """

    value: float | None
    reason: str | None
    interval: Interval | None
    words: Mapping[str, float]
    explained: tuple[float, ...] | None
    coverage: Coverage
    settings: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {
            "value": self.value,
            "reason": self.reason,
            "interval": None if self.interval is None else self.interval.to_dict(),
            "words": dict(self.words),
            "explained": None if self.explained is None else list(self.explained),
            "coverage": self.coverage.to_dict(),
            "settings": dict(self.settings),
        }

    def _repr_html_(self) -> str:
        if self.value is None:
            return f"<p>direct bias: undefined: {escape(self.reason or '')}</p>"
        ends = self.interval
        spread = "" if ends is None or ends.low is None else f" [{ends.low:.3f}, {ends.high:.3f}]"
        return f"<p>direct bias of {len(self.words):,} words: <b>{self.value:.3f}</b>{spread}</p>"


def direct_bias(
    vectors: object,
    *,
    pairs: object,
    words: object,
    c: float = 1.0,
    method: Method = "pca",
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    interval: Resampling | None = BCA,
) -> DirectBias:
    """Direct bias of a set of words along the direction that the pairs share.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        pairs: a lexicon of pairs, or pairs (first, second).
        words: a lexicon, one of its sets, or words.
        c: strictness; 0 counts any component fully, larger values count small ones less.
        method: "pca" of the centred pairs, or "mean-difference".
        min_coverage: share of the words, and of the pairs, that must be found.
        case_fallback: look words up in lower case, then capitalised, when they are not there as written.
        interval: how to find the interval over words; None for none.
    """
    model = load(vectors)
    direction, coverage = _direction(model, pairs, method, case_fallback=case_fallback)
    asked = words_of(words).words  # type: ignore[arg-type]  # words_of says what is wrong with it
    of_words = model.coverage({"words": asked}, case_fallback=case_fallback, directions=True)
    coverage = Coverage.of({**coverage.sets, **of_words.sets})
    settings = {"c": c, "method": method, "min_coverage": min_coverage, "model_checksum": model.checksum}
    found = coverage.sets["words"]
    values = direct_bias_of(model.vectors[found.rows], direction, c)
    shares = dict(zip(found.words, values.tolist(), strict=True))
    short = coverage.short_of(min_coverage)
    if short:
        reason = f"fewer than {min_coverage:.0%} found of: {', '.join(short)}"
        return DirectBias(
            None, reason, undefined_interval(interval, reason), shares, direction.explained, coverage, settings
        )
    mean = float(values.mean())
    drawn = Resampled({"words": len(values)}, lambda counts: counts["words"] @ values / len(values))
    spread = interval_over_words(mean, drawn, interval)
    return DirectBias(mean, None, spread, shares, direction.explained, coverage, settings)


def indirect_bias(vectors: object, word: str, other: str, *, pairs: object, method: Method = "pca") -> float | None:
    """Share of the similarity of two words that lies along the direction of the pairs; None when undefined.

    Raises:
        ParameterError: a word is not in the vocabulary, or the pairs give no direction.
    """
    model = load(vectors)
    direction, _ = _direction(model, pairs, method, case_fallback=False)
    rows: list[NDArray[Any]] = []
    for one in (word, other):
        if one not in model:
            raise ParameterError(f"The word {one!r} cannot be used: {model.why_lost(one)}.")
        rows.append(model[one])
    return indirect_bias_of(rows[0], rows[1], direction)


def _direction(model: Embedding, pairs: object, method: Method, *, case_fallback: bool) -> tuple[Direction, Coverage]:
    """The direction of the pairs of which both ends were found, and which were."""
    given = pairs_of(pairs)  # type: ignore[arg-type]  # pairs_of says what is wrong with it
    ends = {end: [pair[place] for pair in given.pairs] for place, end in enumerate(given.ends)}
    coverage = model.coverage(ends, case_fallback=case_fallback, directions=True)
    rows = [dict(zip(one.words, one.rows.tolist(), strict=True)) for one in coverage.sets.values()]
    whole = [
        (rows[0][first], rows[1][second]) for first, second in given.pairs if first in rows[0] and second in rows[1]
    ]
    if not whole:
        raise ParameterError(f"No pair of {given.name!r} has both ends in {model.name}.")
    first, second = (np.array(column) for column in zip(*whole, strict=True))
    return pair_direction(model.vectors[first], model.vectors[second], method), coverage
