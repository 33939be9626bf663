"""Small worlds of distances whose truth is known, because they are drawn from the model itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.analyses.posterior import Exponential, HalfNormal, distance_table

if TYPE_CHECKING:
    from biasgauge.analyses.posterior import DistanceTable, Priors
    from biasgauge.core.arrays import Floats


GROUPS = {"jew": ("rabbi", "torah"), "muslim": ("imam", "quran", "mosque")}
ATTRIBUTES = {"jew": ("greedy", "cheap", "hairy"), "muslim": ("violent", "dirty")}
CONTROLS = {"human": ("walk", "talk", "eat", "ear"), "neutral": ("grass", "clock", "menu", "path", "soup", "text")}
BLOCK = {"associated": 0, "different": 0, "human": 1, "neutral": 2}


@dataclass(frozen=True)
class World:
    """A table and the parameters that it was drawn from, in the order in which a fit has them."""

    table: DistanceTable
    group: Floats
    word: Floats
    between: Floats
    residual: Floats
    extra: dict[str, Floats]

    def truth(self) -> dict[str, Floats]:
        """Every parameter by the name that a fit gives it."""
        named = {"group": self.group, "word": self.word, "between": self.between, "residual": self.residual}
        return named | self.extra


def pairs(connections: tuple[str, ...]) -> list[tuple[str, str, str, str]]:
    """(word, attribute, list, connection) of every pair of words."""
    found = []
    for group, words in GROUPS.items():
        for word in words:
            for name, attributes in ATTRIBUTES.items():
                connection = "associated" if name == group else "different"
                found += [(word, one, name, connection) for one in attributes]
            for name, attributes in CONTROLS.items():
                found += [(word, one, name, name) for one in attributes]
    return [row for row in found if row[3] in connections]


def draw_sd(prior: Exponential | HalfNormal, size: int, random: np.random.Generator) -> Floats:
    if isinstance(prior, Exponential):
        return random.exponential(1 / prior.rate, size)
    return np.abs(random.normal(0, prior.scale, size))


class Worlds:
    """Draws worlds."""

    @staticmethod
    def draw(
        variant: str,
        priors: Priors,
        seed: Any,  # noqa: ANN401 - whatever seeds a generator
        connections: tuple[str, ...] = ("associated", "different", "human"),
    ) -> World:
        """Parameters from the prior, then distances from the model, by plain loops."""
        random = np.random.default_rng(seed)
        size = len(connections)
        group = random.normal(priors.group.mean, priors.group.sd, size)
        extra: dict[str, Floats] = {}
        if variant == "intercept":
            baseline = random.normal(priors.baseline.mean, priors.baseline.sd)
            group = group + baseline
            extra["baseline"] = np.array([baseline])
        between = draw_sd(priors.between, size, random)
        residual = draw_sd(priors.residual, size, random)
        if variant in {"single-sigma", "intercept"}:
            residual = np.full(size, residual[0])
        rows = sorted(pairs(connections), key=lambda row: (list(BLOCK).index(row[3]), row[0], row[1]))
        cells = sorted({(connections.index(row[3]), row[0]) for row in rows})
        word = {cell: random.normal(group[cell[0]], between[cell[0]]) for cell in cells}
        freedom = 1 + random.gamma(2, 1 / priors.tails, size)
        blocks = sorted({BLOCK[name] for name in connections})
        spread = draw_sd(priors.attribute, len(blocks), random)
        keys = sorted({(blocks.index(BLOCK[row[3]]), row[1]) for row in rows})
        effect = {key: random.normal(0, spread[key[0]]) for key in keys}
        values = []
        for name, attribute, _, connection in rows:
            place = connections.index(connection)
            mean = word[place, name]
            if variant == "crossed":
                mean += effect[blocks.index(BLOCK[connection]), attribute]
            noise = random.standard_t(freedom[place]) if variant == "student" else random.standard_normal()
            values.append(mean + residual[place] * noise)
        if variant == "crossed":
            extra |= {"attribute": np.array([effect[key] for key in keys]), "attribute_sd": spread}
        if variant == "student":
            extra["freedom"] = freedom
        made = [(*row, float(value)) for row, value in zip(rows, values, strict=True)]
        table = distance_table(f"world {seed}", made)
        return World(table, group, np.array([word[cell] for cell in cells]), between, residual, extra)


@pytest.fixture(scope="session")
def worlds() -> type[Worlds]:
    return Worlds


@pytest.fixture(scope="session")
def table() -> DistanceTable:
    """Distances of the size of real ones: means near 1, spreads near a tenth."""
    random = np.random.default_rng(20)
    means = {"associated": 0.8, "different": 0.87, "human": 0.93, "neutral": 0.95}
    rows = pairs(tuple(BLOCK))
    own = {word: random.normal(0, 0.05) for word in sorted({row[0] for row in rows})}
    theirs = {word: random.normal(0, 0.08) for word in sorted({row[1] for row in rows})}
    made = [
        (*row, float(means[row[3]] + own[row[0]] + theirs[row[1]] + random.normal(0, 0.06))) for row in sorted(rows)
    ]
    return distance_table("small world", made)


@pytest.fixture(scope="session")
def roomy_table() -> DistanceTable:
    """Eight words and thirty attributes, which differ from each other: 240 distances of one connection."""
    random = np.random.default_rng(21)
    words, attributes = random.normal(0, 0.04, 8), random.normal(0, 0.08, 30)
    rows = [
        (f"word {at}", f"attribute {place:02}", "neutral", "neutral", float(0.9 + one + other + random.normal(0, 0.07)))
        for at, one in enumerate(words)
        for place, other in enumerate(attributes)
    ]
    return distance_table("roomy world", rows)
