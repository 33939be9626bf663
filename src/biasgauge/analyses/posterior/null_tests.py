"""Data sets without bias, and association tests on them with the p that each data set would report.

WEAT and MAC are computed for many data sets at once: their p of one data set, `biasgauge.stats.permutation_p` and
`biasgauge.metrics.mac_change`, takes 0.2 ms, and there are 50,000 of them (tests hold the two against each other). Any
other registered test runs on random vectors, with a permutation p that needs nothing but the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasgauge.core import Floats, JsonObject, Places, Record, check_number, check_whole, unit_rows
from biasgauge.errors import ParameterError
from biasgauge.stats import SAME, blocks

if TYPE_CHECKING:
    from biasgauge.metrics import SetTest

STATISTIC, EFFECT_SIZE, AS_PUBLISHED = "statistic", "effect size", "effect size as published"
"""Names of simulated numbers."""
NOT_REQUESTED = "permutations were not asked for"
MOST_SPLITS = 20_000
"""Splits up to which each data set's p is exact; random ones are drawn beyond."""
BLOCK_NUMBERS = 1 << 19
"""Random numbers drawn at a time: bounds the memory; results do not depend on it."""
_DATA, _COMPARED, _PERMUTATIONS = range(3)
"""Streams of random numbers: the data sets, those they are compared with, the exchanges of words."""
_VECTORS = 4
"""Substream of random numbers for vectors; terms of similarities use those before it."""
_ROUNDING = 1e-9
"""Values that differ by less than this, relative to the largest, differ by rounding alone."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class NullModel(Record):
    """Random similarities of target words (X before Y) with attributes (A before B), without any bias.

        similarity(w, a) = word(w) + attribute(a) + family(family of w, a) + noise

    Every term is Normal with mean 0. No term knows which attributes are in A and which in B, so over data sets
    neither X nor Y leans to either.

    Attributes:
        n_x, n_y, n_a, n_b: words in each set.
        sd: standard deviation of the noise.
        word_sd: of what a target word has with all attributes (a frequent word, say).
        attribute_sd: of what an attribute has with all target words.
        family_sd: of what the target words of one family have in common with one attribute. A family is a topic, or
            forms of one word; its words lean alike.
        family_size: words in a family, which all belong to the same target set; None: each target set is one family.
        dimensions: draw random vectors of so many dimensions and take their cosines, whose standard deviation is
            1 / √dimensions; the standard deviations above are not used then. None: draw the similarities.
    """

    n_x: int = 8
    n_y: int = 8
    n_a: int = 8
    n_b: int = 8
    sd: float = 0.08
    word_sd: float = 0.0
    attribute_sd: float = 0.0
    family_sd: float = 0.0
    family_size: int | None = None
    dimensions: int | None = None

    def __post_init__(self) -> None:
        check_number(0, ends=False, sd=self.sd)
        check_number(0, word_sd=self.word_sd, attribute_sd=self.attribute_sd, family_sd=self.family_sd)
        check_whole(1, n_x=self.n_x, n_y=self.n_y, n_a=self.n_a, n_b=self.n_b)
        optional = {"family_size": self.family_size, "dimensions": self.dimensions}
        check_whole(1, **{name: count for name, count in optional.items() if count is not None})
        if self.dimensions is not None and self.shared:
            raise ParameterError(
                "word_sd, attribute_sd and family_sd are of drawn similarities; random vectors (dimensions) have none."
            )

    @property
    def targets(self) -> int:
        """Words in X and Y."""
        return self.n_x + self.n_y

    @property
    def attributes(self) -> int:
        """Words in A and B."""
        return self.n_a + self.n_b

    @property
    def shared(self) -> bool:
        """True when similarities of a word, an attribute or a family have a common term."""
        return bool(self.word_sd or self.attribute_sd or self.family_sd)

    @property
    def families(self) -> Places:
        """Family of each target word, counted from 0."""
        x, y = (np.arange(size) // (self.family_size or size) for size in (self.n_x, self.n_y))
        return np.concatenate([x, y + x[-1] + 1])

    @property
    def vector_dimensions(self) -> int:
        """Dimensions of random vectors: those set, or so many that cosines have the standard deviation `sd`."""
        return self.dimensions or max(1, round(self.sd**-2))

    def tables(
        self, count: int, random_state: int, stream: int = 0, block_numbers: int = BLOCK_NUMBERS
    ) -> Iterator[Floats]:
        """Blocks of similarities, data sets × targets × attributes; the same numbers whatever the size of a block."""
        if self.dimensions is not None:
            for vectors in self.vectors(count, random_state, stream, block_numbers):
                yield vectors[:, : self.targets] @ vectors[:, self.targets :].transpose(0, 2, 1)
            return
        noise, word, attribute, family = (np.random.default_rng([random_state, stream, term]) for term in range(4))
        families = self.families
        for size in blocks(count, self.targets * self.attributes, block_numbers):
            block = self.sd * noise.standard_normal((size, self.targets, self.attributes))
            if self.word_sd:
                block += self.word_sd * word.standard_normal((size, self.targets, 1))
            if self.attribute_sd:
                block += self.attribute_sd * attribute.standard_normal((size, 1, self.attributes))
            if self.family_sd:
                drawn = family.standard_normal((size, families[-1] + 1, self.attributes))
                block += self.family_sd * drawn[:, families]
            yield block

    def vectors(
        self, count: int, random_state: int, stream: int = 0, block_numbers: int = BLOCK_NUMBERS
    ) -> Iterator[Floats]:
        """Blocks of unit vectors in random directions, data sets × words (X, Y, A, B) × dimensions."""
        dimensions, words = self.vector_dimensions, self.targets + self.attributes
        random = np.random.default_rng([random_state, stream, _VECTORS])
        for size in blocks(count, words * dimensions, block_numbers):
            block = random.standard_normal((size, words, dimensions))
            yield unit_rows(block.reshape(-1, dimensions), pairwise=True).reshape(block.shape)


class Simulated(NamedTuple):
    """Values of each data set by name ("statistic", "p", WEAT's effect sizes); method of p, or why there is none."""

    values: dict[str, Floats]
    method: str | None
    reason: str | None


def _with_progress(data_sets: Iterable[Floats], count: int, progress: Progress | None) -> Iterator[Floats]:
    """Hand blocks of data sets on, and report each when the next is asked for."""
    done = 0
    for block in data_sets:
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
    exact = comb(model.targets, model.n_x) <= most_splits
    draws = None if exact else (permutations, np.random.default_rng([seed, _PERMUTATIONS]))
    columns: dict[str, list[Floats]] = {name: [] for name in (STATISTIC, EFFECT_SIZE, AS_PUBLISHED, "p")}
    for tables in _with_progress(model.tables(count, seed, _DATA, block_numbers), count, progress):
        numbers = weat_numbers(tables, model, settings["ddof"])
        for name, values in zip(columns, numbers[1:], strict=False):
            columns[name].append(values)
        if exact or permutations:
            scale = np.abs(tables).max(axis=(1, 2))
            p = weat_p(numbers.associations, model.n_x, settings["alternative"], scale, draws, 2 * block_numbers)
            columns["p"].append(p)
    simulated = {name: np.concatenate(values) for name, values in columns.items() if values}
    if "p" not in simulated:
        return Simulated(simulated, None, NOT_REQUESTED)
    return Simulated(simulated, "exact permutation" if exact else "random permutations", None)


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


def run_mac(model: NullModel, settings: JsonObject, progress: Progress | None = None) -> Simulated:
    """MAC of each data set, and p of Manzini's paired t test between its (target, set) distances and another's.

    The other data set is drawn alike: nothing has changed but chance. "greater": distances after are larger.
    """
    from scipy.special import stdtr

    count, seed = settings["simulations"], settings["random_state"]
    before = _with_progress(model.tables(count, seed, _DATA), count, progress)
    macs, p_values = [], []
    for pair in zip(before, model.tables(count, seed, _COMPARED), strict=True):
        first, second = (
            np.concatenate([1 - half.mean(axis=2) for half in np.split(tables, [model.n_a], axis=2)], axis=1)
            for tables in pair
        )
        change = second - first
        df = change.shape[1] - 1
        t = _ratio(change.mean(axis=1), change.std(axis=1, ddof=1) / np.sqrt(change.shape[1]))
        p = {"two-sided": 2 * stdtr(df, -np.abs(t)), "greater": stdtr(df, -t), "less": stdtr(df, t)}
        macs.append(first.mean(axis=1))
        p_values.append(p[settings["alternative"]])
    values = {STATISTIC: np.concatenate(macs), "p": np.concatenate(p_values)}
    return Simulated(values, "paired t test of two data sets (Manzini et al. 2019)", None)


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
        reason = "exchanging words changes nothing" if permutations else NOT_REQUESTED
        return Simulated({STATISTIC: values}, None, reason)
    names = "X and Y" if exchanged == "xy" else "A and B"
    return Simulated({STATISTIC: values, "p": p}, f"random permutations of {names}", None)


def word_sets(vectors: Floats, model: NullModel, needed: tuple[str, ...]) -> dict[str, Floats]:
    """The vectors of one data set by their set."""
    sets = dict(zip("xyab", np.split(vectors, np.cumsum([model.n_x, model.n_y, model.n_a])), strict=True))
    return {name: sets[name] for name in needed}


def exchanged_values(
    test: SetTest, sets: Mapping[str, Floats], exchanged: str, permutations: int, random: np.random.Generator
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


def sets_to_exchange(test: SetTest, sets: Mapping[str, Floats]) -> str | None:
    """Sets whose words to exchange: the targets where that makes a difference, else the attributes, else None."""
    for pair in ("xy", "ab"):
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
