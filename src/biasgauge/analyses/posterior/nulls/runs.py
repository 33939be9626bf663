"""Tests on data sets without bias, with the p that each data set would report.

WEAT and MAC are computed for many data sets at once; any other registered test runs on random vectors, with a
permutation p that needs nothing but the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from biasgauge.analyses.posterior.nulls.model import (
    AFTER,
    AS_PUBLISHED,
    BEFORE,
    EFFECT_SIZE,
    NOT_ASKED,
    PERMUTATIONS,
    STATISTIC,
    NullModel,
    Simulated,
)
from biasgauge.core import Floats, JsonObject
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.metrics import SetTest


MOST_SPLITS = 20_000
"""Splits up to which each data set's p is exact; random ones are drawn beyond."""
_BLOCK_NUMBERS = 1 << 20
"""Sums computed at a time: bounds the memory; results do not depend on it."""
_SAME = 1e-9
"""Values that differ by less than this, relative to the largest, differ by rounding alone."""

Exchanged = Literal["xy", "ab"]


def run_weat(
    _: SetTest, model: NullModel, settings: JsonObject, progress: Callable[[int, int], None] | None
) -> Simulated:
    """WEAT of each data set, with its permutation p."""
    count, seed = settings["simulations"], settings["random_state"]
    random = np.random.default_rng([seed, PERMUTATIONS])
    exact = comb(model.targets, model.n_x) <= MOST_SPLITS
    names = (STATISTIC, EFFECT_SIZE, AS_PUBLISHED, "p")
    parts: dict[str, list[Floats]] = {name: [] for name in names}
    done = 0
    for tables in model.tables(count, seed, BEFORE):
        numbers = weat_numbers(tables, model, settings["ddof"])
        for name, values in zip(parts, numbers[1:], strict=False):
            parts[name].append(values)
        if exact or settings["permutations"]:
            how = settings["alternative"], settings["permutations"], random, np.abs(tables).max(axis=(1, 2))
            parts["p"].append(weat_p(numbers.associations, model.n_x, *how))
        done += len(tables)
        if progress is not None:
            progress(done, count)
    joined = {name: np.concatenate(blocks) for name, blocks in parts.items() if blocks}
    if "p" not in joined:
        return Simulated(joined, None, NOT_ASKED)
    return Simulated(joined, "exact permutation" if exact else "random permutations", None)


def run_mac(
    _: SetTest, model: NullModel, settings: JsonObject, progress: Callable[[int, int], None] | None
) -> Simulated:
    """MAC of each data set, with the t test against another one drawn alike."""
    count, seed = settings["simulations"], settings["random_state"]
    parts, done = [], 0
    for before, after in zip(model.tables(count, seed, BEFORE), model.tables(count, seed, AFTER), strict=True):
        parts.append(mac_numbers(before, after, model, settings["alternative"]))
        done += len(before)
        if progress is not None:
            progress(done, count)
    value, p = (np.concatenate(one) for one in zip(*parts, strict=True))
    method = "paired t test of two data sets (Manzini et al. 2019)"
    return Simulated({STATISTIC: value, "p": p}, method, None)


class WeatNumbers(NamedTuple):
    """WEAT of each data set.

    Attributes:
        associations: s(w, A, B) of each target word, X before Y.
        statistic: sum over X less sum over Y.
        effect_size: difference of the means over X and Y in standard deviations over both.
        published: the same with the fault of the published script, which averages by passing eight numbers to R's
            `mean` as eight arguments; `mean` uses the first alone. (s of the first word of X − s of the first word of
            Y) / sd, with ddof 1 as there.
    """

    associations: Floats
    statistic: Floats
    effect_size: Floats
    published: Floats


def weat_numbers(tables: Floats, model: NullModel, ddof: int) -> WeatNumbers:
    """WEAT of a block of tables; nan where all words have the same association."""
    s = tables[:, :, : model.n_a].mean(axis=2) - tables[:, :, model.n_a :].mean(axis=2)
    x, y = s[:, : model.n_x], s[:, model.n_x :]
    squares = ((s - s.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    deviation, published = (np.sqrt(squares / (model.targets - one)) for one in (ddof, 1))
    return WeatNumbers(
        s,
        x.sum(axis=1) - y.sum(axis=1),
        _ratio(x.mean(axis=1) - y.mean(axis=1), deviation),
        _ratio(x[:, 0] - y[:, 0], published),
    )


def _ratio(above: Floats, below: Floats) -> Floats:
    quotient: Floats = above / np.where(below > 0, below, np.nan)
    return quotient


def weat_p(
    associations: Floats, n_x: int, alternative: str, permutations: int, random: np.random.Generator, scale: Floats
) -> Floats:
    """Permutation p of each data set, as `association.permutation_p` has it.

    Exact over all splits where there are at most 20,000, otherwise by (1 + extreme) / (1 + permutations) over random
    splits that are drawn anew for each data set. `scale` is the size of each data set's similarities: sums that differ
    by rounding alone count as equal.
    """
    from biasgauge.stats import SAME

    words = associations.shape[1]
    centered = associations - associations.mean(axis=1, keepdims=True)
    if alternative == "less":
        centered = -centered
    observed = centered[:, :n_x].sum(axis=1)
    if alternative == "two-sided":
        observed = np.abs(observed)
    threshold = observed - SAME * words * scale
    both = alternative == "two-sided"
    if comb(words, n_x) <= MOST_SPLITS:
        return _exact(centered, n_x, threshold, both=both)
    return _random(centered, n_x, threshold, permutations, random, both=both)


def _exact(centered: Floats, n_x: int, threshold: Floats, *, both: bool) -> Floats:
    words = centered.shape[1]
    mirrored = 2 * n_x == words
    # With equal sizes every split has its mirror image, whose sum is the same negated: half of them tell all.
    chosen = (
        ((0, *rest) for rest in combinations(range(1, words), n_x - 1)) if mirrored else combinations(range(words), n_x)
    )
    places = np.array(list(chosen), np.intp)
    splits = np.zeros((words, len(places)))
    splits[places, np.arange(len(places))[:, None]] = 1
    found = np.empty(len(centered))
    block = max(1, _BLOCK_NUMBERS // len(places))
    for start in range(0, len(centered), block):
        part = slice(start, start + block)
        sums, least = centered[part] @ splits, threshold[part, None]
        if both:
            count = np.count_nonzero(np.abs(sums, out=sums) >= least, axis=1) * (1 + mirrored)
        else:
            count = np.count_nonzero(sums >= least, axis=1)
            if mirrored:
                count += np.count_nonzero(sums <= -least, axis=1)
        found[part] = count
    return found / comb(words, n_x)


def _random(
    centered: Floats, n_x: int, threshold: Floats, permutations: int, random: np.random.Generator, *, both: bool
) -> Floats:
    words = centered.shape[1]
    found = np.empty(len(centered))
    block = max(1, _BLOCK_NUMBERS // (permutations * words))
    for start in range(0, len(centered), block):
        part = slice(start, start + block)
        keys = random.random((len(centered[part]), permutations, words))
        picked = np.argpartition(keys, n_x - 1, axis=2)[:, :, :n_x]
        sums = np.take_along_axis(centered[part, None], picked, axis=2).sum(axis=2)
        found[part] = ((np.abs(sums) if both else sums) >= threshold[part, None]).sum(axis=1)
    return (1 + found) / (1 + permutations)


def mac_numbers(before: Floats, after: Floats, model: NullModel, alternative: str) -> tuple[Floats, Floats]:
    """MAC before, and p of the paired t test between the (target, set) distances before and after.

    "greater": distances after are larger. Nothing has changed but chance.
    """
    from scipy.special import stdtr

    first, second = (
        np.concatenate([1 - part.mean(axis=2) for part in (one[:, :, : model.n_a], one[:, :, model.n_a :])], axis=1)
        for one in (before, after)
    )
    moved = second - first
    df = moved.shape[1] - 1
    t = _ratio(moved.mean(axis=1), moved.std(axis=1, ddof=1) / np.sqrt(moved.shape[1]))
    p = {"two-sided": 2 * stdtr(df, -np.abs(t)), "greater": stdtr(df, -t), "less": stdtr(df, t)}
    return first.mean(axis=1), p[alternative]


def run_on_vectors(
    test: SetTest, model: NullModel, settings: JsonObject, progress: Callable[[int, int], None] | None
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
        return Simulated({STATISTIC: values}, None, why)
    sets_named = "X and Y" if exchanged == "xy" else "A and B"
    return Simulated({STATISTIC: values, "p": p}, f"random permutations of {sets_named}", None)


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
