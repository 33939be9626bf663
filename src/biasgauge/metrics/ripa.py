"""RIPA, the relational inner product association: of a word with a pair (measures), and of sets of words (test).

Source: Ethayarajh, Duvenaud & Hirst, "Understanding Undesirable Word Embedding Associations", ACL 2019, definition 2;
the test averages it over pairs and words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from biasgauge.core import Floats, unit_rows
from biasgauge.errors import ParameterError
from biasgauge.metrics.measure import Linear
from biasgauge.metrics.set_test import AssociationResult, SetTest, floats, prepared, undefined, unit
from biasgauge.stats import BCA, SAME, Resampled, Resampling, estimate_over_words


def direction(first: Floats, second: Floats) -> Floats:
    """Return the difference of the two ends, scaled to length 1; NaN where an end is zero or both are equal."""
    directions = unit_rows(first - second)
    directions[~(first.any(axis=1) & second.any(axis=1))] = np.nan
    return directions


_RAW = Linear(
    name="ripa",
    display_name="RIPA",
    summary=(
        "Length of the word's vector along the direction from the second end to the first. 0: no component along it. "
        "Grows with the word's length, which goes with its frequency. Undefined where the word or an end is missing or "
        "a zero vector, or the ends are equal."
    ),
    low=-inf,
    high=inf,
    source="Ethayarajh et al. 2019, definition 2; Zhang et al. 2020",
    scale_invariant=False,
    word_scale_invariant=False,
    direction=direction,
    per_length=False,
)
_UNIT = Linear(
    name="ripa_unit",
    display_name="RIPA (unit length)",
    summary=(
        "Cosine of the word with the direction from the second end to the first. 0: at right angles. Undefined where "
        "the word or an end is missing or a zero vector, or the ends are equal."
    ),
    low=-1.0,
    high=1.0,
    source="released code of Du et al. 2021; their text, like Ethayarajh et al. 2019, has the raw word vector (ripa)",
    scale_invariant=True,
    word_scale_invariant=True,
    direction=direction,
    per_length=True,
)

MEASURE = (_RAW, _UNIT)


@dataclass(frozen=True, kw_only=True)
class SetRipaResult(AssociationResult):
    """The outcome of a RIPA over sets; `value` is the mean of `word_means`.

    Attributes:
        word_means: for each attribute word, its mean RIPA over the pairs.
        word_sds: for each attribute word, the standard deviation of its RIPA over the pairs (ddof 0).
        unit_words: whether attribute words were scaled to length 1 first.
    """

    word_means: tuple[float, ...] = ()
    word_sds: tuple[float, ...] = ()
    unit_words: bool


def set_ripa(
    x: ArrayLike, y: ArrayLike, a: ArrayLike, *, unit_words: bool = False, interval: Resampling | None = BCA
) -> SetRipaResult:
    """Mean over the words w of A and the pairs (x[i], y[i]) of w · (x[i] − y[i]) / ‖x[i] − y[i]‖.

    Positive leans to X; 0 means that, on the whole, the words lean to neither end; within ± the longest word vector
    (±1 with `unit_words`). It grows with the length of the word vectors unless `unit_words` is set. Pairs are by
    position: remove both words of a pair when one is lost. Undefined when a set is empty, holds a zero vector, or the
    two words of a pair have the same vector. WEFE pairs by position after it has dropped lost words, so that the wrong
    words meet.

    Raises:
        ParameterError: X and Y differ in length.
    """
    sets = prepared(x=x, y=y, a=a)
    if len(sets["x"]) != len(sets["y"]):
        raise ParameterError(
            f"x and y must hold the two ends of the same pairs. Got {len(sets['x'])} and {len(sets['y'])} words."
        )
    reason = undefined(sets)
    if reason is None:
        apart = np.abs(sets["x"] - sets["y"]).max(axis=1)
        same = np.flatnonzero(apart <= SAME * np.abs(sets["x"]).max(axis=1))
        reason = f"both words of pair {int(same[0])} have the same vector" if same.size else None
    if reason is not None:
        return SetRipaResult.undefined(reason, interval, unit_words=unit_words)
    scores = _scores(sets, unit_words=unit_words)
    value = float(scores.mean())
    return SetRipaResult(
        value=value,
        interval=estimate_over_words(value, _resampled(sets, unit_words=unit_words), interval),
        word_means=floats(scores.mean(axis=1)),
        word_sds=floats(scores.std(axis=1)),
        unit_words=unit_words,
    )


def _scores(sets: Mapping[str, Floats], *, unit_words: bool) -> Floats:
    words = unit(sets["a"]) if unit_words else sets["a"]
    scores: Floats = words @ unit(sets["x"] - sets["y"]).T
    return scores


def _resampled(sets: Mapping[str, Floats], *, unit_words: bool = False) -> Resampled:
    scores = _scores(sets, unit_words=unit_words)

    def values(counts: Mapping[str, Floats]) -> Floats:
        total = (counts["a"] * (counts["xy"] @ scores.T)).sum(axis=1)
        mean: Floats = total / (counts["a"].sum(axis=1) * counts["xy"].sum(axis=1))
        return mean

    return Resampled({"xy": len(sets["x"]), "a": len(sets["a"])}, values)


TEST = SetTest(
    name="set_ripa", display_name="RIPA of sets",
    function=set_ripa, resampled=_resampled, sets=("x", "y", "a"), range=(None, None), paired=True,
    rotation_invariant=True, scale_invariant=False, length_invariant=False, swap_xy="negates", swap_ab=None,
    zero="on the whole the words of A lean to neither end of the pairs",
    source="Ethayarajh et al. 2019, relational inner product association",
)  # fmt: skip
