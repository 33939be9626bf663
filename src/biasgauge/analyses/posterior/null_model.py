"""Data sets without bias: tables of similarities, or random vectors, drawn block by block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from biasgauge.core import Floats, Places, Record, check_number, check_whole, unit_rows
from biasgauge.errors import ParameterError
from biasgauge.stats import blocks

BLOCK_NUMBERS = 1 << 19
"""Random numbers drawn at a time: bounds the memory; results do not depend on it."""
_VECTORS = 4
"""Stream of random numbers for vectors; similarities use the streams before it."""


@dataclass(frozen=True)
class NullModel(Record):
    """Random similarities of target words (X before Y) with attributes (A before B), without any bias.

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
        check_number(0, ends=False, sd=self.sd)
        check_number(0, word_sd=self.word_sd, attribute_sd=self.attribute_sd, family_sd=self.family_sd)
        counts = {"family_size": self.family_size, "dimensions": self.dimensions}
        check_whole(1, n_x=self.n_x, n_y=self.n_y, n_a=self.n_a, n_b=self.n_b)
        check_whole(1, **{name: count for name, count in counts.items() if count is not None})
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
        dimensions = self.vector_dimensions
        random = np.random.default_rng([random_state, stream, _VECTORS])
        words = self.targets + self.attributes
        for size in blocks(count, words * dimensions, block_numbers):
            block = random.standard_normal((size, words, dimensions))
            yield unit_rows(block.reshape(-1, dimensions), pairwise=True).reshape(block.shape)

    @property
    def vector_dimensions(self) -> int:
        """Dimensions of random vectors: those set, or so many that cosines have the standard deviation `sd`."""
        return self.dimensions or max(1, round(self.sd**-2))
