"""Association tests on data sets without bias, with the p that each data set would report.

WEAT and MAC are computed for many data sets at once: their p of one data set, `biasgauge.stats.permutation_p` and
`biasgauge.metrics.mac_change`, takes 0.2 ms, and there are 50,000 of them (tests hold the two against each other). Any
other registered test runs on random vectors, with a permutation p that needs nothing but the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from biasgauge.analyses.posterior.null_model import BLOCK_NUMBERS, NullModel
from biasgauge.core import Floats, JsonObject
from biasgauge.errors import ParameterError
from biasgauge.stats import SAME

if TYPE_CHECKING:
    from biasgauge.metrics import SetTest

STATISTIC, EFFECT_SIZE, AS_PUBLISHED = "statistic", "effect size", "effect size as published"
"""Names of simulated numbers."""
NOT_REQUESTED = "permutations were not asked for"
MOST_SPLITS = 20_000
"""Splits up to which each data set's p is exact; random ones are drawn beyond."""
_DATA, _COMPARED, _PERMUTATIONS = range(3)
"""Streams of random numbers: the data sets, those they are compared with, the exchanges of words."""
_ROUNDING = 1e-9
"""Values that differ by less than this, relative to the largest, differ by rounding alone."""

Exchanged = Literal["xy", "ab"]
Progress = Callable[[int, int], None]


class Simulated(NamedTuple):
    """Values of each data set by name ("statistic", "p", WEAT's effect sizes); method of p, or why there is none."""

    values: dict[str, Floats]
    method: str | None
    reason: str | None


def _with_progress(blocks: Iterable[Floats], count: int, progress: Progress | None) -> Iterator[Floats]:
    """Hand blocks of data sets on, and report each when the next is asked for."""
    done = 0
    for block in blocks:
        yield block
        done += len(block)
        if progress is not None:
            progress(done, count)


def run_weat(
    model: NullModel,
    settings: JsonObject,
    progress: Progress | None = None,
    *,
    most_splits: int = MOST_SPLITS,
    block_numbers: int = BLOCK_NUMBERS,
) -> Simulated:
    """WEAT of each data set, with its permutation p."""
    count, seed, permutations = settings["simulations"], settings["random_state"], settings["permutations"]
    random = np.random.default_rng([seed, _PERMUTATIONS])
    exact = comb(model.targets, model.n_x) <= most_splits
    columns: dict[str, list[Floats]] = {name: [] for name in (STATISTIC, EFFECT_SIZE, AS_PUBLISHED, "p")}
    for tables in _with_progress(model.tables(count, seed, _DATA, block_numbers), count, progress):
        numbers = weat_numbers(tables, model, settings["ddof"])
        for name, values in zip(columns, numbers[1:], strict=False):
            columns[name].append(values)
        if exact or permutations:
            scale = np.abs(tables).max(axis=(1, 2))
            draws = None if exact else (permutations, random)
            test = (settings["alternative"], scale, draws, 2 * block_numbers)
            columns["p"].append(weat_p(numbers.associations, model.n_x, *test))
    simulated = {name: np.concatenate(blocks) for name, blocks in columns.items() if blocks}
    if "p" not in simulated:
        return Simulated(simulated, None, NOT_REQUESTED)
    return Simulated(simulated, "exact permutation" if exact else "random permutations", None)


def run_mac(model: NullModel, settings: JsonObject, progress: Progress | None = None) -> Simulated:
    """MAC of each data set, with the t test against another one drawn alike."""
    count, seed = settings["simulations"], settings["random_state"]
    before = _with_progress(model.tables(count, seed, _DATA), count, progress)
    blocks = zip(before, model.tables(count, seed, _COMPARED), strict=True)
    numbers = [mac_numbers(first, second, model, settings["alternative"]) for first, second in blocks]
    value, p = (np.concatenate(values) for values in zip(*numbers, strict=True))
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
    deviation, published = (np.sqrt(squares / (model.targets - lost)) for lost in (ddof, 1))
    return WeatNumbers(
        s,
        x.sum(axis=1) - y.sum(axis=1),
        _ratio(x.mean(axis=1) - y.mean(axis=1), deviation),
        _ratio(x[:, 0] - y[:, 0], published),
    )


def _ratio(numerator: Floats, denominator: Floats) -> Floats:
    quotient: Floats = numerator / np.where(denominator > 0, denominator, np.nan)
    return quotient


def weat_p(
    associations: Floats,
    n_x: int,
    alternative: str,
    scale: Floats,
    draws: tuple[int, np.random.Generator] | None = None,
    block_numbers: int = 2 * BLOCK_NUMBERS,
) -> Floats:
    """Permutation p of each data set: share of splits of X and Y with a difference of means at least as extreme.

    Exact over all splits, or with `draws` by (1 + extreme) / (1 + permutations) over random splits that are drawn anew
    for each data set. `scale` is the size of each data set's similarities: sums that differ by rounding count as equal.
    """
    words = associations.shape[1]
    centered = associations - associations.mean(axis=1, keepdims=True)
    if alternative == "less":
        centered = -centered
    two_sided = alternative == "two-sided"
    observed = centered[:, :n_x].sum(axis=1)
    threshold = (np.abs(observed) if two_sided else observed) - SAME * words * scale
    extreme = np.empty(len(centered))
    if draws is None:
        splits, mirrored = _all_splits(words, n_x)
        numbers, total = splits.shape[1], comb(words, n_x)
    else:
        permutations, random = draws
        numbers, total, mirrored = permutations * words, 1 + permutations, False
    step = max(1, block_numbers // numbers)
    for start in range(0, len(centered), step):
        block = slice(start, start + step)
        if draws is None:
            sums = centered[block] @ splits
        else:
            keys = random.random((len(centered[block]), permutations, words))
            members = np.argpartition(keys, n_x - 1, axis=2)[:, :, :n_x]
            sums = np.take_along_axis(centered[block, None], members, axis=2).sum(axis=2)
        least = threshold[block, None]
        count = np.count_nonzero((np.abs(sums) if two_sided else sums) >= least, axis=1)
        if mirrored:
            count += count if two_sided else np.count_nonzero(sums <= -least, axis=1)
        extreme[block] = count + (draws is not None)
    return extreme / total


def _all_splits(words: int, n_x: int) -> tuple[Floats, bool]:
    """Words × splits, 1 where a word is in X; with equal sizes half of them, whose mirror images have sums negated."""
    mirrored = 2 * n_x == words
    first = combinations(range(1, words), n_x - 1) if mirrored else combinations(range(words), n_x)
    members = np.array([(0, *chosen) if mirrored else chosen for chosen in first], np.intp)
    splits = np.zeros((words, len(members)))
    splits[members, np.arange(len(members))[:, None]] = 1
    return splits, mirrored


def mac_numbers(before: Floats, after: Floats, model: NullModel, alternative: str) -> tuple[Floats, Floats]:
    """MAC before, and p of the paired t test between the (target, set) distances before and after.

    "greater": distances after are larger. Nothing has changed but chance.
    """
    from scipy.special import stdtr

    first, second = (
        np.concatenate([1 - tables[:, :, : model.n_a].mean(axis=2), 1 - tables[:, :, model.n_a :].mean(axis=2)], axis=1)
        for tables in (before, after)
    )
    moved = second - first
    df = moved.shape[1] - 1
    t = _ratio(moved.mean(axis=1), moved.std(axis=1, ddof=1) / np.sqrt(moved.shape[1]))
    p = {"two-sided": 2 * stdtr(df, -np.abs(t)), "greater": stdtr(df, -t), "less": stdtr(df, t)}
    return first.mean(axis=1), p[alternative]


def run_on_vectors(
    test: SetTest, model: NullModel, settings: JsonObject, progress: Progress | None = None
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
    random = np.random.default_rng([seed, _PERMUTATIONS])
    values, p = np.full(count, np.nan), np.full(count, np.nan)
    exchanged = None
    data_sets = (vectors for block in model.vectors(count, seed, _DATA) for vectors in block)
    for index, vectors in enumerate(data_sets):
        sets = word_sets(vectors, model, test.sets)
        value = test.function(**sets, interval=None).value
        values[index] = np.nan if value is None else value
        if index == 0 and permutations:
            exchanged = sets_to_exchange(test, sets)
        if exchanged is not None:
            drawn = exchanged_values(test, sets, exchanged, permutations, random)
            p[index] = permutation_share(drawn, settings["alternative"])
        if progress is not None:
            progress(index + 1, count)
    if exchanged is None:
        return Simulated(
            {STATISTIC: values}, None, "exchanging words changes nothing" if permutations else NOT_REQUESTED
        )
    names = "X and Y" if exchanged == "xy" else "A and B"
    return Simulated({STATISTIC: values, "p": p}, f"random permutations of {names}", None)


def word_sets(vectors: Floats, model: NullModel, needed: tuple[str, ...]) -> dict[str, Floats]:
    """The vectors of one data set by their set."""
    sets = dict(zip("xyab", np.split(vectors, np.cumsum([model.n_x, model.n_y, model.n_a])), strict=True))
    return {name: sets[name] for name in needed}


def exchanged_values(
    test: SetTest, sets: Mapping[str, Floats], exchanged: Exchanged, permutations: int, random: np.random.Generator
) -> Floats:
    """The test's value as it is, then with the words of two sets exchanged at random; sizes stay as they are.

    A test is known as a function of how often each word is drawn (`SetTest.resampled`). With the pool of both sets in
    the place of each, drawing a word once or not at all says in which of the two it is. Where words are paired, the two
    ends of each pair are exchanged or not.
    """
    first, second = (sets[name] for name in exchanged)
    counts = {name: np.ones((1 + permutations, len(vectors))) for name, vectors in sets.items()}
    if test.paired and exchanged == "xy":
        turned = random.random((permutations, len(first))) < 0.5
        straight = np.concatenate([np.ones((1, len(first))), ~turned])
        counts["xy"] = np.concatenate([straight, 1 - straight], axis=1)
        pools = dict(zip(exchanged, (np.concatenate([first, second]), np.concatenate([second, first])), strict=True))
    else:
        in_first = np.zeros((1 + permutations, len(first) + len(second)))
        in_first[0, : len(first)] = 1
        members = np.argsort(random.random((permutations, in_first.shape[1])), axis=1)[:, : len(first)]
        np.put_along_axis(in_first[1:], members, 1, axis=1)
        counts |= dict(zip(exchanged, (in_first, 1 - in_first), strict=True))
        pools = dict.fromkeys(exchanged, np.concatenate([first, second]))
    return test.resampled({**sets, **pools}).values(counts)


def sets_to_exchange(test: SetTest, sets: Mapping[str, Floats]) -> Exchanged | None:
    """Sets whose words to exchange: the targets where that makes a difference, else the attributes, else None."""
    pairs: tuple[Exchanged, ...] = ("xy", "ab")
    for pair in pairs:
        if set(pair) <= sets.keys():
            values = exchanged_values(test, sets, pair, 9, np.random.default_rng(0))
            if np.ptp(values) > _ROUNDING * np.abs(values).max():
                return pair
    return None


def permutation_share(values: Floats, alternative: str) -> float:
    """P of the first value among all; two-sided is twice the smaller tail, at most 1. NaN when it has no value."""
    observed, drawn = values[0], values[1:]
    drawn = drawn[np.isfinite(drawn)]
    if not np.isfinite(observed):
        return float("nan")
    rounding = _ROUNDING * max(abs(observed), float(np.abs(drawn).max(initial=0.0)))
    upper = (1 + np.count_nonzero(drawn >= observed - rounding)) / (1 + len(drawn))
    lower = (1 + np.count_nonzero(drawn <= observed + rounding)) / (1 + len(drawn))
    return float({"greater": upper, "less": lower, "two-sided": min(1.0, 2 * min(upper, lower))}[alternative])
