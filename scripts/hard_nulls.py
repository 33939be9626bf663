"""Lists of real words without a common meaning, and the share of them that the rule of the verdicts calls associated.

    PYTHONPATH=src:studies python scripts/hard_nulls.py VECTORS... [--draws 400] [--only PART] [--seed 0] [--out FILE]
    python scripts/hard_nulls.py --join NAME=FILE... [--out FILE.md]

VECTORS are files that `biasgauge.load` reads; "default" and "replicates" for those that ship; "glove-50d" and "spacy"
for whole sets of the extra `vectors`. Words of unequal frequency, words with their neighbors, inflections, words with
one stem, halves of one topic, lists of unequal length, names and parts of speech, stereotypes, words along base pairs.
The last rows are no nulls: four topics, which differ in meaning.
"""

from __future__ import annotations

import argparse
import gzip
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import biasgauge as bg
from biasgauge.audits.measurement import Measured, Tabulated, measure, tabulate
from biasgauge.audits.subjects import Subject
from biasgauge.core import Places, Query, WordPolicy, WordSet, unit_vectors, word_families
from biasgauge.core.families import lemminflect_table
from biasgauge.lexicons import AssociationTest, Pairs, lexicon
from biasgauge.metrics import contrast_test
from biasgauge.stats import SideLike, contrast_estimate
from biasgauge.vectors import Embedding

Floats = NDArray[np.float64]
Lists = tuple[Places, Places, Places, Places]
Draw = Callable[[], Lists | Query]
SIZES = (5, 8, 25, 100, 300)
STEREOTYPES = ((1 / 3, -1 / 6, -1 / 6), (-1 / 6, 1 / 3, -1 / 6), (-1 / 6, -1 / 6, 1 / 3))
NAMES = ("gender_valence", "race_valence", "asian_valence", "hispanic_valence")
"""Lexicons whose targets are first names."""
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
        stems: dict[str, list[int]] = {}
        for row, word in zip(self.rows.tolist(), words, strict=True):
            stems.setdefault(word[:6], []).append(row)
        self.stemmed = [np.array(rows) for stem, rows in stems.items() if len(rows) >= 4 and len(stem) == 6]
        classes = words_by_class(words, model)
        self.classes = {"name": np.array(classes.pop("name"))} | {
            part: self.rows[indices] for part, indices in classes.items()
        }
        digits = np.array([word.isdecimal() and word.isascii() for word in model.words]) & model.directed()
        self.classes["number"] = np.flatnonzero(digits)

    def worlds(self) -> Iterator[tuple[str, int | None, Draw]]:
        """Yield the name of each null, the words of a list, and how lists are drawn."""
        count = len(self.rows)
        scale = count / VOCABULARY
        bands = [((100, 2_000), (20_000, 60_000)), ((1_000, 3_000), (3_000, 9_000)), ((500, 8_000), (2_000, 40_000))]
        for frequent, rare in bands:
            ends = ends_of((frequent, rare), scale)
            named = [f"{first:,}–{last:,}" for first, last in (frequent, rare)]
            name = f"random words: X, A of ranks {named[0]}, Y, B of {named[1]}"
            for size in SIZES:
                if 2 * size < ends[0][1] - ends[0][0]:
                    yield name, size, partial(self.by_frequency, ends[0], ends[1], size)
        both = [int(2_000 * scale), int(20_000 * scale)]
        for size in (3, *SIZES):
            yield "random words of one band of frequency", size, partial(self.by_frequency, both, both, size)
        far, near = ends_of(bands[0], scale), ends_of(bands[1], scale)
        rarest = [int(40_000 * scale), count]
        for size in (8, 25, 100):
            yield "the rarest words alone", size, partial(self.by_frequency, rarest, rarest, size)
            yield "X, A half frequent and half rare words, Y, B of middle frequency", size, partial(self.spread, size)
        yield from self.outliers()
        for size in (8, 25, 60):
            yield "X, Y two topics; A frequent words, B rare ones", size, partial(self.topics_by_frequency, size)
            yield "frequent against rare half of a topic, both sides", size, partial(self.split_topics, size)
            yield "X, Y two topics; A, B random halves of one", size, partial(self.halves, size)
            yield (
                "X frequent words of one topic, Y rare ones of another; A, B of a third",
                size,
                partial(self.apart, size),
            )
        for size in (8, 25):
            yield "all lists parts of one topic", size, partial(self.parts, size)
        yield "50 most frequent against 50 rarest words of a topic, both sides", 30, self.ends_of_topics
        yield from self.worlds_of_near_words()
        for shared in ("xa", "xayb"):
            yield f"four of eight words on both sides ({shared.upper()})", 8, partial(self.shared_words, shared)
        for short, long in ((5, 40), (5, 100), (3, 60)):
            name = f"{short} words against {long} of one topic, both sides"
            yield name, None, partial(self.unequal, short, long)
        name = "5 frequent words against 100 rare ones, both sides"
        yield name, None, partial(self.by_frequency, near[0], near[1], 5, 100)
        yield from self.worlds_of_classes()
        yield from self.worlds_of_other_queries(far, near)

    def worlds_of_classes(self) -> Iterator[tuple[str, int | None, Draw]]:
        """Yield the nulls in which words are of different classes: names and parts of speech."""
        for size in (8, 25):
            yield "one word of X near one of A, one of Y near one of B", size, partial(self.counterparts, size)
        for x, y in (("name", "noun"), ("verb", "noun"), ("number", "noun"), ("plural", "noun")):
            for size in (8, 25, 60):
                if min(map(len, (self.classes[x], self.classes["adj"]))) < 4 * size:
                    continue
                name = f"{x}s against {y}s"
                yield f"{name}; A, B random halves of a topic", size, partial(self.by_class, x, y, size, frequent=False)
                yield f"{name}; A frequent, B rare adjectives", size, partial(self.by_class, x, y, size, frequent=True)

    def worlds_of_other_queries(self, far: list[list[int]], near: list[list[int]]) -> Iterator[tuple[str, int, Draw]]:
        """Yield nulls of stereotypes, and of words along base pairs."""
        middle = [near[0][0], near[1][1]]
        for size in (8, 25):
            yield (
                "stereotypes: 3 groups, each of the frequency of its attributes",
                size,
                partial(self.stereotypes, (far[0], middle, far[1]), size),
            )
            yield "random frequent words along base pairs", size, partial(self.along_pairs, [far[0]], size)
            yield "random rare words along base pairs", size, partial(self.along_pairs, [far[1]], size)
            yield "frequent against rare words along base pairs", size, partial(self.along_pairs, far, size)

    def worlds_of_near_words(self) -> Iterator[tuple[str, int | None, Draw]]:
        """Yield the nulls in which some words of a list are near each other."""
        for groups, near in ((8, 2), (4, 4), (3, 8)):
            for attributes, where in ((False, "in X and Y"), (True, "in all lists")):
                name = f"{groups} groups of {near} near words {where}"
                yield name, groups * near, partial(self.near_words, groups, near, attributes=attributes)
        for groups, near in ((3, 5), (5, 3), (2, 8), (3, 8), (4, 8), (3, 12)):
            name = f"{groups} groups of {near} near words of one topic, both sides"
            yield name, groups * near, partial(self.groups_of_topics, groups, near)
        yield "a group of 8 near words and 16 single words in all lists", 24, partial(self.clusters, 8, 16)
        for groups in (2, 4, 8):
            yield f"{groups} groups of 4 words with one stem in all lists", 4 * groups, partial(self.stems, groups)
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
        seed = int(self.random.integers(min(200, len(self.rows) // 10), min(20_000, len(self.rows))))
        return self.rows[self.nearest(seed, TOPIC)]

    def nearest(self, seed: int, count: int) -> Places:
        """Indices of the nearest neighbors of a word, itself first."""
        cosines = self.units @ self.units[seed]
        near = np.argpartition(-cosines, count)[:count]
        return near[np.argsort(-cosines[near])]

    def cosines(self, rows: Places) -> Floats:
        """Cosines between some of the words."""
        units = unit_vectors(self.model, rows)
        return np.asarray(units @ units.T)

    def by_frequency(self, frequent: Sequence[int], rare: Sequence[int], size: int, other: int = 0) -> Lists:
        """X and A of one band of ranks, Y and B of another, of as many words unless their number is given."""
        x, a = np.split(self.sample(self.rows[slice(*frequent)], 2 * size), 2)
        left = np.setdiff1d(self.rows[slice(*rare)], np.concatenate([x, a]))
        y, b = np.split(self.sample(left, 2 * (other or size)), 2)
        return x, y, a, b

    def spread(self, size: int) -> Lists:
        """Half frequent and half rare words as X and as A, words between as Y and as B."""
        fifth = len(self.rows) // 5
        frequent, rare = self.rows[fifth // 10 : fifth], self.rows[-fifth:]
        ends = [self.sample(rows, 2 * (size // 2)) for rows in (frequent, rare)]
        x, a = (np.concatenate(halves) for halves in zip(*(np.split(end, 2) for end in ends), strict=True))
        y, b = np.split(self.sample(self.rows[fifth : 3 * fifth], 2 * size), 2)
        return x, y, a, b

    def outliers(self) -> Iterator[tuple[str, int | None, Draw]]:
        """Yield nulls of lists in which one word is far more frequent than the others."""
        for name, lists in (("every list", (1, 1, 1, 1)), ("X and A", (1, 0, 1, 0))):
            for size in (8, 25, 100):
                yield (
                    f"rare words, and one of the most frequent words in {name}",
                    size,
                    partial(self.outlying, size, lists),
                )

    def outlying(self, size: int, frequent: Sequence[int]) -> Lists:
        """Rare words, and so many of the most frequent words in place of some of them in each list."""
        most, rare = len(self.rows) // 200, len(self.rows) // 2
        ends = self.sample(self.rows[:most], sum(frequent)), self.sample(self.rows[rare:], 4 * size)
        firsts = np.split(ends[0], np.cumsum(frequent)[:-1])
        x, y, a, b = (
            np.concatenate([first, rest[len(first) :]])
            for first, rest in zip(firsts, np.split(ends[1], 4), strict=True)
        )
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

    def apart(self, size: int) -> Lists:
        """Frequent words of a topic as X, rare words of another as Y, both ends of a third as A and B."""
        by_frequency = [
            topic[np.argsort(-self.log[topic], kind="stable")] for topic in (self.topic() for _ in range(3))
        ]
        half = TOPIC // 2
        x, y = self.sample(by_frequency[0][:half], size), self.sample(by_frequency[1][half:], size)
        return x, y, self.sample(by_frequency[2][:half], size), self.sample(by_frequency[2][half:], size)

    def parts(self, size: int) -> Lists:
        """Four random parts of one topic."""
        x, y, a, b = np.split(self.sample(self.topic(), 4 * size), 4)
        return x, y, a, b

    def by_class(self, x: str, y: str, size: int, *, frequent: bool) -> Lists:
        """Words of two classes as X and Y; halves of a topic, or frequent and rare adjectives, as A and B."""
        a, b = np.split(self.sample(self.topic(), 2 * size), 2)
        if frequent:
            half = len(self.classes["adj"]) // 2
            a, b = (self.sample(part, size) for part in (self.classes["adj"][:half], self.classes["adj"][half:]))
        return self.sample(self.classes[x], size), self.sample(self.classes[y], size), a, b

    def counterparts(self, size: int) -> Lists:
        """Random words; the first of X has its nearest neighbor in A, and the first of Y in B."""
        x, y, a, b = np.split(self.sample(np.arange(len(self.rows) // 3), 4 * size), 4)
        a[0], b[0] = self.nearest(x[0], 2)[1], self.nearest(y[0], 2)[1]
        return self.rows[x], self.rows[y], self.rows[a], self.rows[b]

    def stereotypes(self, bands: Sequence[Sequence[int]], size: int) -> Query:
        """Three groups and their attributes: random words, a group and its own attributes of one band of ranks."""
        drawn = [np.split(self.sample(self.rows[slice(*band)], 2 * size), 2) for band in bands]
        words = [[self.words(rows) for rows in side] for side in zip(*drawn, strict=True)]
        targets, attributes = (
            tuple(WordSet(f"{name} {number}", some) for number, some in enumerate(side))
            for name, side in zip(("group", "attributes"), words, strict=True)
        )
        return Query(
            name="stereotypes", kind="stereotypes", targets=targets, attributes=attributes, weights=STEREOTYPES
        )

    def along_pairs(self, bands: Sequence[Sequence[int]], size: int) -> Query:
        """Random words of one band of ranks, or of one against another, along the base pairs of Du et al."""
        (base,) = (pairs for pairs in [lexicon("du2021")] if isinstance(pairs, Pairs))
        groups = tuple(WordSet(str(band), self.words(self.sample(self.rows[slice(*band)], size))) for band in bands)
        return Query(
            name="along pairs", kind="lean" if len(bands) == 1 else "order", targets=groups, pairs=base.pairs,
            attributes=tuple(WordSet(name, words) for name, words in base.sets.items()),
            weights=((1.0,), (-1.0,))[: len(bands)],
        )  # fmt: skip

    def words(self, rows: Places) -> tuple[str, ...]:
        """Words of some rows."""
        return tuple(self.model.words[row] for row in rows)

    def clusters(self, near: int, single: int) -> Lists:
        """Random words, some of them the nearest neighbors of one, in every list."""
        count = len(self.rows)
        lists = []
        for seed in self.random.choice(np.arange(count // 100, count // 3), 4, replace=False):
            nearest = self.nearest(seed, near)
            lists.append(
                np.concatenate([self.rows[nearest], self.sample(self.rows[count // 100 : count // 3], single)])
            )
        x, y, a, b = (np.unique(rows) for rows in lists)
        return x, np.setdiff1d(y, x), a, np.setdiff1d(b, a)

    def stems(self, groups: int) -> Lists:
        """Four words that begin with the same six letters, of each of some stems in every list."""
        order = self.random.permutation(len(self.stemmed))[: 4 * groups]
        x, y, a, b = (
            np.concatenate([self.sample(self.stemmed[index], 4) for index in some]) for some in np.split(order, 4)
        )
        return x, y, a, b

    def near_words(self, groups: int, near: int, *, attributes: bool) -> Lists:
        """Random words with their nearest neighbors, dealt to the lists group by group."""
        count = len(self.rows)
        used: set[int] = set()
        drawn = []
        for seed in self.random.choice(np.arange(count // 100, count // 3), 4 * groups, replace=False):
            nearest = self.nearest(seed, near + 60)
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

    def unequal(self, short: int, long: int) -> Lists:
        """Few words against many of one topic, on both sides."""
        x, y = np.split(self.sample(self.topic(), short + long), [short])
        a, b = np.split(self.sample(self.topic(), short + long), [short])
        return x, y, a, b


def ends_of(bands: Sequence[Sequence[int]], scale: float) -> list[list[int]]:
    """Ranks of bands of frequency in a vocabulary of another size."""
    return [[int(edge * scale) for edge in band] for band in bands]


def words_by_class(words: Sequence[str], model: Embedding) -> dict[str, list[int]]:
    """Indices of words of one part of speech only, nouns also in the plural; rows of first names."""
    parts: dict[str, set[str]] = {}
    with gzip.open(lemminflect_table("lemma_lu.csv.gz"), "rt", encoding="utf-8") as lines:
        for line in lines:
            form, part, lemmas = line.rstrip("\n").split(",", 2)
            plural = "plural" if part == "noun" and form.endswith("s") else ""
            parts.setdefault(form.lower(), set()).add(part if form in lemmas.split("/") else plural)
    tests = [test for test in map(lexicon, NAMES) if isinstance(test, AssociationTest)]
    first = [name for test in tests for group in (test.x, test.y) for name in group.words]
    classes = {
        part: [index for index, word in enumerate(words) if parts.get(word) == {part}]
        for part in ("adj", "noun", "verb", "plural")
    }
    return {**classes, "name": np.unique(model.lookup(first, case_fallback=True).rows).tolist()}


def rejections(models: Sequence[Embedding], draw: Draw, draws: int, alpha: float = 0.05) -> tuple[int, int]:
    """Count draws that have an association: by the interval of the contrast as it is, and by the rule of verdicts."""
    plain = decisive = 0
    words, subject = models[0].words, Subject(models[0].name, tuple(models))
    for _ in range(draws):
        drawn = draw()
        if isinstance(drawn, Query):
            outcome = measure(drawn, subject, POLICY, 0)
            if isinstance(outcome, Measured):
                plain += outcome.test.p is not None and outcome.test.p <= alpha
                decisive += outcome.p <= alpha
            continue
        lists = zip("xyab", drawn, strict=True)
        query = Query.from_sets({role: [words[row] for row in rows] for role, rows in lists})
        tabulated = tabulate(query, subject, POLICY)
        if not isinstance(tabulated, Tabulated) or tabulated.resolved.shared_target is not None:
            continue  # refused: nothing is found
        p = contrast_estimate(tabulated.table, *tabulated.as_it_is, query.weights).p
        plain += p is not None and p <= alpha
        decisive += rejects(*tabulated.decisive, query.weights, alpha)
    return plain, decisive


def rejects(table: Floats, rows: SideLike, columns: SideLike, weights: Sequence[Sequence[float]], alpha: float) -> bool:
    """Return whether the largest of the three p is at most alpha; the permutations are asked where the first p is."""
    p = contrast_estimate(table, rows, columns, weights).p
    if p is None or p > alpha:
        return False
    largest = contrast_test(table, rows, columns, weights).p
    return largest is not None and largest <= alpha


def report(models: Sequence[Embedding], draws: int, only: str = "", seed: int = 0) -> Iterator[str]:
    """Yield the rows of the table of one model, or of replicates; of nulls whose name has `only` in it."""
    nulls = HardNulls(models[0], seed=seed)
    bound = 0.05 + 2 * math.sqrt(0.05 * 0.95 / draws)
    yield "| lists | words a list | contrast as it is | verdict |  |\n| --- | --- | --- | --- | --- |"
    for name, size, draw in nulls.worlds():
        if only not in name:
            continue
        plain, decisive = (count / draws for count in rejections(models, draw, draws))
        remark = "" if decisive <= bound else f"above {bound:.3f}"
        yield f"| {name} | {size or ''} | {plain:.3f} | {decisive:.3f} | {remark} |"
    for size in (8, 25, 60):
        plain, decisive = (count / draws for count in rejections(models, partial(nulls.four_topics, size), draws))
        yield f"| **four topics** (power) | {size} | {plain:.3f} | {decisive:.3f} |  |"


def join_tables(tables: Mapping[str, str]) -> Iterator[str]:
    """Yield the rows of one table of several, each the output of this script for some vectors, by their name.

    Where the output for some vectors has a row twice, the later one counts.
    """
    rows: dict[tuple[str, str], dict[str, list[str]]] = {}
    for vectors, text in tables.items():
        for line in text.splitlines():
            cells = [cell.strip() for cell in line.strip("| ").split("|")]
            if line.startswith("|") and cells[0] not in {"lists", "---"}:
                rows.setdefault((cells[0], cells[1]), {})[vectors] = cells[2:4]
    yield "| lists | words a list | " + " | ".join(tables) + " |"
    yield "| --- " * (len(tables) + 2) + "|"
    for (name, size), by_vectors in rows.items():
        cells = ["–" if vectors not in by_vectors else "{1} ({0})".format(*by_vectors[vectors]) for vectors in tables]
        yield f"| {name} | {size} | " + " | ".join(cell.replace("0.", ".") for cell in cells) + " |"


def load_models(name: str) -> list[Embedding]:
    """Load the vectors that an argument names."""
    if name in {"glove-50d", "spacy"}:
        from biasgauge_studies.vectors import glove_50d, spacy_md

        whole = glove_50d() if name == "glove-50d" else spacy_md()
        return [] if whole is None else [whole]
    if name == "replicates":
        return bg.vectors.load_default_replicates()
    return [bg.vectors.load_default() if name == "default" else bg.load(name)]


def main() -> None:
    """Print the tables, and write them to a file where one is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vectors", nargs="+", help="with --join: NAME=FILE, tables that this script printed")
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--join", action="store_true", help="join tables of several vectors to one")
    parser.add_argument("--out", type=Path)
    typed = parser.parse_args()
    lines = []
    if typed.join:
        texts: dict[str, str] = {}
        for name, file in (argument.split("=", 1) for argument in typed.vectors):
            texts[name] = texts.get(name, "") + Path(file).read_text(encoding="utf-8")
        lines = list(join_tables(texts))
        print("\n".join(lines))
    for name in () if typed.join else typed.vectors:
        models = load_models(name)
        if not models:
            continue
        lines += ["", f"### {models[0].name if len(models) == 1 else f'{len(models)} replicates'}", ""]
        for line in report(models, typed.draws, typed.only, typed.seed):
            print(line, flush=True)
            lines.append(line)
    if typed.out:
        typed.out.write_text("\n".join(lines).strip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
