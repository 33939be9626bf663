"""Data sets without bias: tables of similarities, or random vectors, drawn block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.errors import ParameterError
from biasgauge.geometry import unit_rows

_BLOCK_NUMBERS = 1 << 19
"""Random numbers drawn at a time: bounds the memory; results do not depend on it."""
BEFORE, AFTER, PERMUTATIONS = range(3)
"""Streams of random numbers: the data sets, those they are compared with, the exchanges of words."""
NOT_ASKED = "permutations were not asked for"
_NOISE, _WORD, _ATTRIBUTE, _FAMILY, _VECTORS = range(5)


class Simulated(NamedTuple):
    """What a test gave.

    Attributes:
        values: of each data set, by name: "statistic"; where there are any, "p" and WEAT's effect sizes.
        method: how p was found; None without p.
        reason: why there is no p; None where there is.
    """

    values: dict[str, Floats]
    method: str | None
    reason: str | None


@dataclass(frozen=True)
class NullModel:
    """How similarities of target words (X before Y) and attributes (A before B) come about when nothing is to find.

        similarity(w, a) = word(w) + attribute(a) + family(family of w, a) + noise

    Every term is Normal with mean 0. No term knows which attributes are in A and which in B, so over data sets
    neither X nor Y leans to either.

    Attributes:
        n_x: words in X.
        n_y: words in Y.
        n_a: words in A.
        n_b: words in B.
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
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name.endswith("sd"):
                if not 0 <= value < np.inf or (value == 0 and field.name == "sd"):
                    least = "a positive number" if field.name == "sd" else "a number of at least 0"
                    raise ParameterError(f"The {field.name!r} of a null model must be {least}. Got {value!r}.")
            elif value is not None and (not isinstance(value, int | np.integer) or value < 1):
                raise ParameterError(
                    f"The {field.name!r} of a null model must be a whole number from 1. Got {value!r}."
                )
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
        """Whether similarities have anything in common."""
        return bool(self.word_sd or self.attribute_sd or self.family_sd)

    @property
    def families(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Of each target word, the number of its family."""
        sizes = (self.n_x, self.n_y)
        parts = [np.arange(size) // (self.family_size or size) for size in sizes]
        return np.concatenate([parts[0], parts[1] + parts[0][-1] + 1])

    def tables(self, count: int, random_state: int, stream: int = 0) -> Iterator[Floats]:
        """Blocks of similarities, data sets × targets × attributes; the same numbers whatever the size of a block."""
        if self.dimensions is not None:
            for vectors in self.vectors(count, random_state, stream):
                yield vectors[:, : self.targets] @ vectors[:, self.targets :].transpose(0, 2, 1)
            return
        random = {
            part: np.random.default_rng([random_state, stream, part]) for part in (_NOISE, _WORD, _ATTRIBUTE, _FAMILY)
        }
        families = self.families
        for size in _sizes(count, self.targets * self.attributes):
            block = self.sd * random[_NOISE].standard_normal((size, self.targets, self.attributes))
            if self.word_sd:
                block += self.word_sd * random[_WORD].standard_normal((size, self.targets, 1))
            if self.attribute_sd:
                block += self.attribute_sd * random[_ATTRIBUTE].standard_normal((size, 1, self.attributes))
            if self.family_sd:
                drawn = random[_FAMILY].standard_normal((size, families[-1] + 1, self.attributes))
                block += self.family_sd * drawn[:, families]
            yield block

    def vectors(self, count: int, random_state: int, stream: int = 0) -> Iterator[Floats]:
        """Blocks of unit vectors in random directions, data sets × words (X, Y, A, B) × dimensions."""
        dimensions = self.vector_dimensions
        random = np.random.default_rng([random_state, stream, _VECTORS])
        words = self.targets + self.attributes
        for size in _sizes(count, words * dimensions):
            block = random.standard_normal((size, words, dimensions))
            yield unit_rows(block.reshape(-1, dimensions), pairwise=True).reshape(block.shape)

    @property
    def vector_dimensions(self) -> int:
        """Dimensions of random vectors: as asked, or so many that cosines have the standard deviation `sd`."""
        return self.dimensions or max(1, round(self.sd**-2))


def _sizes(count: int, each: int) -> Iterator[int]:
    block = max(1, _BLOCK_NUMBERS // each)
    for start in range(0, count, block):
        yield min(block, count - start)
