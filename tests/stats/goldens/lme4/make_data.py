"""Small data sets for the goldens: the same numbers on every machine and with every version of every library.

    python make_data.py FOLDER     writes one CSV file for each data set

Numbers come from a linear congruential generator and the normal quantiles of the standard library, rounded to six
decimals. Tests run this file for the data; `make_goldens.R` reads the files.
"""

from __future__ import annotations

import csv
import sys
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import Any

Columns = dict[str, list[Any]]


class Numbers:
    """Uniform and normal numbers (generator of Numerical Recipes' `ranqd1` kind, 64 bits)."""

    def __init__(self, seed: int) -> None:
        self.state = seed
        for _ in range(10):
            self.uniform()

    def uniform(self) -> float:
        self.state = (6364136223846793005 * self.state + 1442695040888963407) % 2**64
        return ((self.state >> 11) + 0.5) / 2**53

    def normal(self, sd: float = 1.0) -> float:
        return NormalDist().inv_cdf(self.uniform()) * sd

    def normals(self, count: int, sd: float) -> list[float]:
        return [self.normal(sd) for _ in range(count)]


def crossed(seed: int = 1, sds: tuple[float, float] = (0.8, 0.4)) -> Columns:
    """Two crossed groups of 3 and 5 levels, unequal; two columns of numbers, and one of 0 and few 1."""
    numbers = Numbers(seed)
    first, second = numbers.normals(3, sds[0]), numbers.normals(5, sds[1])
    table: Columns = {name: [] for name in ("y", "x1", "x2", "x3", "a", "b")}
    for _ in range(480):
        a, b = int(3 * numbers.uniform() ** 1.5), int(5 * numbers.uniform())
        x1, x2, x3 = round(numbers.normal(), 6), round(2 + numbers.normal(), 6), int(numbers.uniform() < 0.15)
        y = 2 + 0.5 * x1 - 0.3 * (x2 - 2) + 0.4 * x3 + first[a] + second[b] + numbers.normal()
        for name, value in zip(table, (round(y, 6), x1, x2, x3, f"a{a}", f"b{b}"), strict=True):
            table[name].append(value)
    return table


def singular() -> Columns:
    """As `crossed`, but the second group has no effect, and REML puts its variance at 0."""
    return crossed(seed=8, sds=(0.8, 0.0))


def three_groups() -> Columns:
    """Three crossed groups of 4, 6 and 9 levels."""
    numbers = Numbers(3)
    sizes = {"a": 4, "b": 6, "c": 9}
    effects = {name: numbers.normals(size, sd) for (name, size), sd in zip(sizes.items(), (1.0, 0.5, 0.7), strict=True)}
    table: Columns = {name: [] for name in ("y", "x1", *sizes)}
    for _ in range(400):
        levels = {name: int(size * numbers.uniform()) for name, size in sizes.items()}
        x1 = round(numbers.normal(), 6)
        y = 1 - 0.2 * x1 + sum(effects[name][level] for name, level in levels.items()) + numbers.normal(0.8)
        table["y"].append(round(y, 6))
        table["x1"].append(x1)
        for name, level in levels.items():
            table[name].append(f"{name}{level}")
    return table


def factors() -> Columns:
    """Reliabilities of 60 words under 3 measures, 2 algorithms and 3 corpora, with features; some rows are missing."""
    numbers = Numbers(4)
    names = ("word", "measure", "algorithm", "corpus", "score", "log_frequency", "log_senses", "pos", "nn_similarity",
             "norm", "stability")  # fmt: skip
    table: Columns = {name: [] for name in names}
    by_measure = {"dbwa": 0.0, "nbm": 0.04, "ripa": -0.02}
    by_algorithm = dict(zip(("glove", "sgns"), numbers.normals(2, 0.08), strict=True))
    by_corpus = dict(zip(("history", "science", "wiki"), numbers.normals(3, 0.03), strict=True))
    tags = ("ADJ", "ADV", "NOUN", "NOUN", "VERB")
    for place in range(60):
        senses, tag = 1 + int(8 * numbers.uniform() ** 2), tags[int(len(tags) * numbers.uniform())]
        frequency = {corpus: round(6 + 2 * numbers.normal(), 6) for corpus in by_corpus}
        own = numbers.normal(0.02)
        for measure, algorithm, corpus in product(by_measure, by_algorithm, by_corpus):
            log_frequency = frequency[corpus]
            similarity = round(0.6 + 0.02 * log_frequency + numbers.normal(0.08), 6)
            norm = round(3 + 0.2 * log_frequency + (algorithm == "glove") + numbers.normal(0.4), 6)
            stability = round(0.5 + 0.04 * log_frequency + numbers.normal(0.07), 6)
            log_senses = round(_log(senses), 6)
            score = 0.6 + by_measure[measure] + by_algorithm[algorithm] + by_corpus[corpus] + own
            score += 0.02 * (log_frequency - 6) - 0.004 * (log_frequency - 6) ** 2 + 0.3 * (stability - 0.7)
            score += -0.01 * log_senses + 0.02 * (tag == "VERB") + numbers.normal(0.05)
            if numbers.uniform() < 0.08:
                continue
            row = (f"w{place:02d}", measure, algorithm, corpus, round(score, 6), log_frequency, log_senses, tag,
                   similarity, norm, stability)  # fmt: skip
            for name, value in zip(table, row, strict=True):
                table[name].append(value)
    return table


def _log(number: int) -> float:
    """Natural logarithm by its series: the standard library's may differ in the last bit between systems."""
    ratio = (number - 1) / (number + 1)
    return 2 * sum(ratio ** (2 * k + 1) / (2 * k + 1) for k in range(400))


def layout(missing: float = 0.0) -> Columns:
    """Scores of 12 words on 5 pairs in 4 models; with gaps, words are missing from models and pairs from models."""
    numbers = Numbers(6)
    sizes = (12, 5, 4)
    sds: dict[tuple[int, ...], float] = {
        (1, 0, 0): 1.0, (0, 1, 0): 0.6, (0, 0, 1): 0.4, (1, 1, 0): 0.7, (1, 0, 1): 0.35, (0, 1, 1): 0.3, (1, 1, 1): 0.5
    }  # fmt: skip
    effects = {
        kind: {
            cell: numbers.normal(sds[kind])
            for cell in product(*(range(size) if used else (0,) for size, used in zip(sizes, kind, strict=True)))
        }
        for kind in sds
    }
    absent_words = {cell for cell in product(range(12), range(4)) if numbers.uniform() < missing}
    absent_pairs = {cell for cell in product(range(5), range(4)) if numbers.uniform() < missing / 2}
    table: Columns = {name: [] for name in ("word", "pair", "model", "y")}
    for cell in product(*map(range, sizes)):
        word, pair, model = cell
        if (word, model) in absent_words or (pair, model) in absent_pairs:
            continue
        y = 0.5 + sum(
            own[tuple(place * used for place, used in zip(cell, kind, strict=True))] for kind, own in effects.items()
        )
        for name, value in zip(table, (f"w{word:02d}", f"p{pair}", f"m{model}", round(y, 6)), strict=True):
            table[name].append(value)
    return table


def layout_gaps() -> Columns:
    """`layout` with about a sixth of the words missing from each model, and some pairs."""
    return layout(missing=0.17)


DATA_SETS = (crossed, singular, three_groups, factors, layout, layout_gaps)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in DATA_SETS:
        columns = make()
        with (folder / f"{make.__name__}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))
