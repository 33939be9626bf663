"""Association tests of words in sentences: over words, and CEAT as its released code has it.

`contextual_weat` takes words as the sample and sentences as nested in words. A word is averaged over its sentences
first: the mean cosine over all pairs of sentences of two words is the product of their mean unit vectors, so that every
sentence of every word meets every sentence of every other. The test is then WEAT's, over words: more sentences make a
word's value more precise, and do not make more words.

`published_ceat` draws a context of each word N times and pools as if each time were a study of its own. Three things
are wrong with that, and are kept because they were published: the weights use the variance of the associations in the
place of that of the effect size; N draws from the same words count as N independent studies, so that the user's N
decides how small p gets; and p is one-sided. Source: Guo & Caliskan, AIES 2021, and their released code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from biasgauge.core import Floats, Places, Record, check_whole, unit_rows
from biasgauge.errors import ParameterError
from biasgauge.metrics.weat import WeatResult, weat_from_similarities
from biasgauge.stats import BCA, Resampling, pooled_effect

_BLOCK_NUMBERS = 2**23  # numbers gathered at a time: bounds the memory


@dataclass(frozen=True)
class PublishedCeat(Record):
    """The combined effect size of the released code.

    Attributes:
        effect_size: weighted mean of the effect sizes of all draws.
        standard_error: as if draws were independent; goes to 0 with their number.
        p_value: one-sided.
        draws: how often contexts were drawn.
    """

    effect_size: float
    standard_error: float
    p_value: float
    draws: int


def contextual_weat(
    x: Floats,
    y: Floats,
    a: Floats,
    b: Floats,
    *,
    ddof: int = 1,
    interval: Resampling | None = BCA,
    **permutation: Any,  # noqa: ANN401 - those of `permutation_p`
) -> WeatResult:
    """WEAT of words in sentences, over words.

    Args:
        x: vectors, words × sentences × dimensions; NaN where a word has fewer sentences, of which each needs one.
        y: as x.
        a: as x.
        b: as x.
        ddof: 1 as in SEAT and CEAT, or 0 as in WEAT.
        interval: how to find the interval of the effect size over words; None for none.
        permutation: `alternative`, `max_exact`, `samples`, `random_state`.
    """
    means = {role: np.nanmean(unit_contexts(words), axis=1) for role, words in zip("xyab", (x, y, a, b), strict=True)}
    tables = [means[targets] @ means[attributes].T for targets in "xy" for attributes in "ab"]
    return weat_from_similarities(*tables, ddof=ddof, interval=interval, **permutation)


def published_ceat(
    x: Floats, y: Floats, a: Floats, b: Floats, *, draws: int = 1_000, random_state: int = 0
) -> PublishedCeat:
    """Combined effect size of words in random contexts.

    Args:
        x: vectors, words × contexts × dimensions; NaN where a word has fewer contexts.
        y: as x.
        a: as x.
        b: as x.
        draws: how often a context of each word is drawn.
        random_state: seed.

    Raises:
        ParameterError: a word has no context, or all words of a draw have the same association.
    """
    check_whole(2, draws=draws)
    random = np.random.default_rng(random_state)
    sets = [unit_contexts(words) for words in (x, y, a, b)]
    available = [[np.flatnonzero(np.isfinite(word).all(axis=1)) for word in words] for words in sets]
    if not all(len(contexts) for words in available for contexts in words):
        raise ParameterError("Every word of a CEAT needs at least one context.")
    numbers = sum(len(words) for words in sets) * sets[0].shape[2]
    step = max(_BLOCK_NUMBERS // numbers, 1)
    effects: list[Floats] = []
    spreads: list[Floats] = []
    for start in range(0, draws, step):
        size = min(step, draws - start)
        drawn = [_drawn(words, contexts, size, random) for words, contexts in zip(sets, available, strict=True)]
        # s(w, A, B) of unit vectors is w · (mean A − mean B).
        lean = drawn[2].mean(axis=1) - drawn[3].mean(axis=1)
        s_x, s_y = (np.einsum("nwd,nd->nw", targets, lean) for targets in drawn[:2])
        variance = np.concatenate([s_x, s_y], axis=1).var(axis=1, ddof=1)
        effects.append((s_x.mean(axis=1) - s_y.mean(axis=1)) / np.sqrt(variance))
        spreads.append(variance)
    pooled = pooled_effect(np.concatenate(effects), np.concatenate(spreads))
    return PublishedCeat(pooled.value, pooled.se, float(ndtr(-pooled.value / pooled.se)), draws)


def unit_contexts(words: Floats) -> Floats:
    """Vectors of words in contexts at length 1; NaN where there is none, or a zero one."""
    rows = np.asarray(words, np.float64)
    units: Floats = unit_rows(rows.reshape(-1, rows.shape[-1])).reshape(rows.shape)
    return units


def _drawn(words: Floats, contexts: list[Places], size: int, random: np.random.Generator) -> Floats:
    """Random contexts of each word: draws × words × dimensions."""
    picked = np.stack([random.choice(rows, size) for rows in contexts], axis=1)
    drawn: Floats = words[np.arange(len(words)), picked]
    return drawn
