"""Any registered association test on random vectors, with a permutation p that needs nothing but the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.errors import ParameterError
from biasgauge.uncertainty.nulls.model import BEFORE, NOT_ASKED, PERMUTATIONS, NullModel, Simulated

if TYPE_CHECKING:
    from biasgauge.association.set_test import SetTest

Exchanged = Literal["xy", "ab"]

_SAME = 1e-9
"""Values that differ by less than this, relative to the largest, differ by rounding alone."""


def run_on_vectors(
    test: SetTest, model: NullModel, settings: dict[str, Any], progress: Callable[[int, int], None] | None
) -> Simulated:
    """Any test on random vectors, data set by data set, with a permutation p."""
    if model.shared:
        raise ParameterError(
            f"{test.name} needs vectors, which are drawn at random: word_sd, attribute_sd and family_sd are of weat "
            "and mac alone."
        )
    if test.paired and model.n_x != model.n_y:
        raise ParameterError(f"{test.name} pairs the words of X and Y: n_x must equal n_y.")
    count, seed, permutations = settings["simulations"], settings["random_state"], settings["permutations"]
    random = np.random.default_rng([seed, PERMUTATIONS])
    values, p = np.full(count, np.nan), np.full(count, np.nan)
    exchanged, at = None, 0
    for block in model.vectors(count, seed, BEFORE):
        for vectors in block:
            sets = word_sets(vectors, model, test.sets)
            found = test.function(**sets, interval=None).value
            values[at] = np.nan if found is None else found
            if at == 0 and permutations:
                exchanged = what_to_exchange(test, sets)
            if exchanged is not None:
                others = exchanged_values(test, sets, exchanged, permutations, random)
                p[at] = permutation_share(others, settings["alternative"])
            at += 1
            if progress is not None:
                progress(at, count)
    if exchanged is None:
        why = "exchanging words changes nothing" if permutations else NOT_ASKED
        return Simulated({"statistic": values}, None, why)
    sets_named = "X and Y" if exchanged == "xy" else "A and B"
    return Simulated({"statistic": values, "p": p}, f"random permutations of {sets_named}", None)


def word_sets(vectors: Floats, model: NullModel, needed: tuple[str, ...]) -> dict[str, Floats]:
    """The vectors of one data set by their set."""
    ends = np.cumsum([model.n_x, model.n_y, model.n_a])
    parts = dict(zip("xyab", np.split(vectors, ends), strict=True))
    return {name: parts[name] for name in needed}


def exchanged_values(
    test: SetTest, sets: Mapping[str, Floats], exchanged: Exchanged, permutations: int, random: np.random.Generator
) -> Floats:
    """The test's value as it is, then with the words of two sets exchanged at random; sizes stay as they are.

    A test is known as a function of how often each word is drawn (`SetTest.resampled`). With the pool of both sets in
    the place of each, drawing a word once or not at all says in which of the two it is. Where words are paired, the two
    ends of each pair are exchanged or not.
    """
    one, two = (sets[name] for name in exchanged)
    counts = {name: np.ones((1 + permutations, len(vectors))) for name, vectors in sets.items()}
    if test.paired and exchanged == "xy":
        turned = random.random((permutations, len(one))) < 0.5
        straight = np.concatenate([np.ones((1, len(one))), ~turned])
        counts["xy"] = np.concatenate([straight, 1 - straight], axis=1)
        pools = dict(zip(exchanged, (np.concatenate([one, two]), np.concatenate([two, one])), strict=True))
    else:
        first = np.zeros((1 + permutations, len(one) + len(two)))
        first[0, : len(one)] = 1
        picked = np.argsort(random.random((permutations, len(one) + len(two))), axis=1)[:, : len(one)]
        np.put_along_axis(first[1:], picked, 1, axis=1)
        counts |= dict(zip(exchanged, (first, 1 - first), strict=True))
        pools = dict.fromkeys(exchanged, np.concatenate([one, two]))
    return test.resampled({**sets, **pools}).values(counts)


def what_to_exchange(test: SetTest, sets: Mapping[str, Floats]) -> Exchanged | None:
    """Which sets' words to exchange: the targets where that makes a difference, else the attributes, else None."""
    pairs: tuple[Exchanged, ...] = ("xy", "ab")
    for pair in pairs:
        if set(pair) <= sets.keys():
            values = exchanged_values(test, sets, pair, 9, np.random.default_rng(0))
            if np.ptp(values) > _SAME * np.abs(values).max():
                return pair
    return None


def permutation_share(values: Floats, alternative: str) -> float:
    """Find p of the first value among all; two-sided is twice the smaller tail, at most 1. nan when it has no value."""
    observed, others = values[0], values[1:]
    others = others[np.isfinite(others)]
    if not np.isfinite(observed):
        return float("nan")
    rounding = _SAME * max(abs(observed), float(np.abs(others).max(initial=0.0)))
    upper = (1 + np.count_nonzero(others >= observed - rounding)) / (1 + len(others))
    lower = (1 + np.count_nonzero(others <= observed + rounding)) / (1 + len(others))
    return float({"greater": upper, "less": lower, "two-sided": min(1.0, 2 * min(upper, lower))}[alternative])
