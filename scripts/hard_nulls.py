"""Lists of real words without a common meaning, and the share of them that the rule of the verdicts calls associated.

    python scripts/hard_nulls.py VECTORS... [--draws 400] [--out docs/hard_nulls.md]

VECTORS are files that `biasgauge.load` reads, or "default" and "replicates" for those that ship. Words of unequal
frequency, words with their neighbors, inflections, halves of one topic, lists of unequal length. The last rows are no
nulls: four topics, which differ in meaning.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import biasgauge as bg
from biasgauge.core import Places, Query, SimilarityTable, WordPolicy, resolve, unit_vectors, word_families
from biasgauge.metrics import contrast_of
from biasgauge.vectors import Embedding

Floats = NDArray[np.float64]
Lists = tuple[Places, Places, Places, Places]
Draw = Callable[[], Lists]
SIZES = (8, 25, 100)
VOCABULARY = 60_000
TOPIC = 150
POLICY = WordPolicy(min_coverage=0.0, case="exact")


class HardNulls:
    """Draws of lists of words from one vocabulary.

    Attributes:
        rows: rows of the words that are used, the most frequent first: lower-case words of letters.
    """

    def __init__(self, model: Embedding, language: str = "en", seed: int = 0) -> None:
        log = model.log_frequencies(language)
        if log is None:
            raise SystemExit(f"{model.name}: nothing is known of the frequencies of its words.")
        self.model, self.log = model, log.values
        self.random = np.random.default_rng(seed)
        usable = np.array([word.isalpha() and word.islower() for word in model.words]) & model.directed()
        rows = np.flatnonzero(usable)
        self.rows = rows[np.argsort(-self.log[rows], kind="stable")][:VOCABULARY]
        self.units = unit_vectors(model, self.rows)
        words = [model.words[row] for row in self.rows]
        inflections: dict[str, list[int]] = {}
        for row, family in zip(self.rows.tolist(), word_families(words, language), strict=True):
            inflections.setdefault(family, []).append(row)
        self.lemmas = [rows[:4] for rows in inflections.values() if len(rows) >= 4]

    def worlds(self) -> Iterator[tuple[str, int | None, Draw]]:
        """Yield the name of each null, the words of a list, and how lists are drawn."""
        count = len(self.rows)
        scale = count / VOCABULARY
        bands = [((100, 2_000), (20_000, 60_000)), ((1_000, 3_000), (3_000, 9_000)), ((500, 8_000), (2_000, 40_000))]
        for frequent, rare in bands:
            ends = [[int(edge * scale) for edge in band] for band in (frequent, rare)]
            name = f"random words: X, A of ranks {ends[0][0]:,}–{ends[0][1]:,}, Y, B of {ends[1][0]:,}–{ends[1][1]:,}"
            for size in SIZES:
                yield name, size, partial(self.by_frequency, ends[0], ends[1], size)
        both = [int(2_000 * scale), int(20_000 * scale)]
        for size in SIZES:
            yield "random words of one band of frequency", size, partial(self.by_frequency, both, both, size)
        for size in (8, 25, 60):
            yield "X, Y two topics; A frequent words, B rare ones", size, partial(self.topics_by_frequency, size)
            yield "frequent against rare half of a topic, both sides", size, partial(self.split_topics, size)
            yield "X, Y two topics; A, B random halves of one", size, partial(self.halves, size)
        yield "50 most frequent against 50 rarest words of a topic, both sides", 30, self.ends_of_topics
        yield from self.worlds_of_near_words()
        for shared in ("xa", "xayb"):
            yield f"four of eight words on both sides ({shared.upper()})", 8, partial(self.shared_words, shared)
        yield "5 words against 40", None, self.unequal

    def worlds_of_near_words(self) -> Iterator[tuple[str, int | None, Draw]]:
        """Yield the nulls in which some words of a list are near each other."""
        for groups, near in ((8, 2), (4, 4), (3, 8)):
            for attributes, where in ((False, "in X and Y"), (True, "in all lists")):
                name = f"{groups} groups of {near} near words {where}"
                yield name, groups * near, partial(self.near_words, groups, near, attributes=attributes)
        for groups, near in ((3, 5), (5, 3), (3, 8)):
            name = f"{groups} groups of {near} near words of one topic, both sides"
            yield name, groups * near, partial(self.groups_of_topics, groups, near)
        for lemmas in (2, 4, 8):
            if len(self.lemmas) >= 4 * lemmas:
                name = f"{lemmas} lemmas with four inflections in all lists"
                yield name, 4 * lemmas, partial(self.inflections, lemmas)

    def four_topics(self, size: int) -> Lists:
        """Lists of four topics: there is something to find."""
        x, y, a, b = (self.sample(self.topic(), size) for _ in range(4))
        return x, y, a, b

    def sample(self, rows: Places, size: int) -> Places:
        """Draw so many of some rows."""
        return self.random.choice(rows, size, replace=False)

    def topic(self) -> Places:
        """Draw a word of middle frequency, and take its nearest neighbors."""
        seed = self.random.integers(min(200, len(self.rows) // 10), min(20_000, len(self.rows)))
        return self.rows[np.argsort(-(self.units @ self.units[seed]))[:TOPIC]]

    def cosines(self, rows: Places) -> Floats:
        """Cosines between some of the words."""
        units = unit_vectors(self.model, rows)
        return np.asarray(units @ units.T)

    def by_frequency(self, frequent: Sequence[int], rare: Sequence[int], size: int) -> Lists:
        """X and A of one band of ranks, Y and B of another."""
        x, a = np.split(self.sample(self.rows[slice(*frequent)], 2 * size), 2)
        left = np.setdiff1d(self.rows[slice(*rare)], np.concatenate([x, a]))
        y, b = np.split(self.sample(left, 2 * size), 2)
        return x, y, a, b

    def topics_by_frequency(self, size: int) -> Lists:
        """X and Y of two topics, A of frequent and B of rare words."""
        count = len(self.rows)
        a = self.sample(self.rows[count // 600 : count // 30], size)
        b = self.sample(self.rows[count // 3 :], size)
        return self.sample(self.topic(), size), self.sample(self.topic(), size), a, b

    def split_topics(self, size: int) -> Lists:
        """The frequent and the rare half of one topic, as X and Y, and of another, as A and B."""
        halves = []
        for _ in range(2):
            topic = self.topic()
            halves += np.array_split(topic[np.argsort(-self.log[topic], kind="stable")], 2)
        x, y, a, b = (self.sample(half, size) for half in halves)
        return x, y, a, b

    def halves(self, size: int) -> Lists:
        """X and Y of two topics, A and B two random halves of one."""
        a, b = np.split(self.sample(self.topic(), 2 * size), 2)
        return self.sample(self.topic(), size), self.sample(self.topic(), size), a, b

    def near_words(self, groups: int, near: int, *, attributes: bool) -> Lists:
        """Random words with their nearest neighbors, dealt to the lists group by group."""
        count = len(self.rows)
        used: set[int] = set()
        drawn = []
        for seed in self.random.choice(np.arange(count // 100, count // 3), 4 * groups, replace=False):
            nearest = np.argsort(-(self.units @ self.units[seed]))[: near + 60]
            free = [row for row in self.rows[nearest].tolist() if row not in used][:near]
            used |= set(free)
            drawn.append(free)
        x, y, a, b = (np.concatenate(drawn[start * groups : (start + 1) * groups]) for start in range(4))
        if not attributes:
            a, b = np.split(self.sample(self.topic(), 2 * groups * near), 2)
        return x, y, a, b

    def groups_of_topics(self, groups: int, near: int) -> Lists:
        """Words of one topic, each with its nearest in the topic, as X and Y, and of another, as A and B."""
        lists = []
        for _ in range(2):
            topic = self.topic()
            cosines = self.cosines(topic)
            free = np.ones(len(topic), bool)
            drawn: list[Places] = []
            for seed in self.random.permutation(len(topic)):
                if free[seed] and len(drawn) < 2 * groups:
                    order = np.argsort(-cosines[seed], kind="stable")
                    drawn.append(order[free[order]][:near])
                    free[drawn[-1]] = False
            lists += [topic[np.concatenate(some)] for some in (drawn[:groups], drawn[groups:])]
        return lists[0], lists[1], lists[2], lists[3]

    def ends_of_topics(self) -> Lists:
        """30 of the 50 most frequent and of the 50 rarest words of a topic, as X and Y, and of another, as A and B."""
        lists = []
        for _ in range(2):
            topic = self.topic()
            order = topic[np.argsort(-self.log[topic], kind="stable")]
            lists += [self.sample(order[:50], 30), self.sample(order[-50:], 30)]
        return lists[0], lists[1], lists[2], lists[3]

    def inflections(self, lemmas: int) -> Lists:
        """Four forms of each of some lemmas in every list."""
        order = self.random.permutation(len(self.lemmas))[: 4 * lemmas]
        x, y, a, b = (np.concatenate([self.lemmas[index] for index in some]) for some in np.split(order, 4))
        return x, y, a, b

    def shared_words(self, shared: str) -> Lists:
        """Eight random words a list, of which four are in a target list and in an attribute list."""
        lists = dict(zip("xyab", np.split(self.sample(self.rows[: len(self.rows) // 3], 32), 4), strict=True))
        for target, attribute in zip(shared[::2], shared[1::2], strict=True):
            lists[attribute][:4] = lists[target][:4]
        return lists["x"], lists["y"], lists["a"], lists["b"]

    def unequal(self) -> Lists:
        """5 words against 40 of one topic, on both sides."""
        x, y = np.split(self.sample(self.topic(), 45), [5])
        a, b = np.split(self.sample(self.topic(), 45), [5])
        return x, y, a, b


def rejections(models: Sequence[Embedding], draw: Draw, draws: int, alpha: float = 0.05) -> tuple[int, int]:
    """Count draws that have an association: by the contrast as it is, and by what a verdict rests on."""
    plain = decisive = 0
    words = models[0].words
    for _ in range(draws):
        lists = zip("xyab", draw(), strict=True)
        query = Query.from_sets({role: [words[row] for row in rows] for role, rows in lists})
        resolved = resolve(query, models, POLICY)
        if resolved.reason is not None or resolved.shared_target is not None:
            continue  # refused: nothing is found
        test = contrast_of(SimilarityTable(resolved))
        plain += test.p is not None and test.p <= alpha
        decisive += test.decisive.p is not None and test.decisive.p <= alpha
    return plain, decisive


def report(models: Sequence[Embedding], draws: int) -> Iterator[str]:
    """Yield the rows of the table of one model, or of replicates."""
    nulls = HardNulls(models[0])
    bound = 0.05 + 2 * math.sqrt(0.05 * 0.95 / draws)
    yield "| lists | words a list | contrast as it is | verdict |  |\n| --- | --- | --- | --- | --- |"
    for name, size, draw in nulls.worlds():
        plain, decisive = (count / draws for count in rejections(models, draw, draws))
        remark = "" if decisive <= bound else f"above {bound:.3f}"
        yield f"| {name} | {size or ''} | {plain:.3f} | {decisive:.3f} | {remark} |"
    for size in (8, 25, 60):
        plain, decisive = (count / draws for count in rejections(models, partial(nulls.four_topics, size), draws))
        yield f"| **four topics** (power) | {size} | {plain:.3f} | {decisive:.3f} |  |"


def load_models(name: str) -> list[Embedding]:
    """Load the vectors that an argument names."""
    if name == "replicates":
        return bg.vectors.load_default_replicates()
    return [bg.vectors.load_default() if name == "default" else bg.load(name)]


def main() -> None:
    """Print the tables, and write them to a file where one is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", nargs="+")
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--out", type=Path)
    typed = parser.parse_args()
    lines = []
    for name in typed.vectors:
        models = load_models(name)
        lines += ["", f"### {models[0].name if len(models) == 1 else f'{len(models)} replicates'}", ""]
        for line in report(models, typed.draws):
            print(line, flush=True)
            lines.append(line)
    if typed.out:
        typed.out.write_text("\n".join(lines).strip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
