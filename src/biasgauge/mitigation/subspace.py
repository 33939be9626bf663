"""A bias subspace from sets of words that differ in nothing but the bias, and what it takes from vectors.

Sources: Bolukbasi et al. 2016, §5.1 (pairs); Manzini et al. 2019, §3.1 (sets of any size).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from biasgauge.core import Floats, Vectors, check_whole, row_lengths, unit_rows
from biasgauge.errors import ParameterError
from biasgauge.vectors import ROWS, Embedding

_SAME = 1e-10
"""A distance between parts of unit vectors that is zero but for rounding."""


@dataclass(frozen=True, eq=False)
class Subspace:
    """Directions of length 1, at right angles to each other.

    Attributes:
        basis: components × dimensions. The first points to the first words of the sets.
        explained: share of the variance within the sets along each principal component, all of them.
    """

    basis: Floats
    explained: tuple[float, ...]

    def part(self, vectors: Floats) -> Floats:
        """The part of each vector that lies in the subspace."""
        inside: Floats = (vectors @ self.basis.T) @ self.basis
        return inside


def bias_subspace(sets: Sequence[Vectors], components: int, *, lengths: bool = False) -> Subspace:
    """Principal components of the words, each set centered on its own mean.

    Args:
        sets: one matrix a set, words × dimensions.
        components: how many directions to keep.
        lengths: use vectors as they are; by default each is scaled to length 1 first.

    Raises:
        ParameterError: the sets do not span so many directions.
    """
    check_whole(1, components=components)
    wide = [np.asarray(words, np.float64) for words in sets]
    scaled = wide if lengths else [unit_rows(words, rescale=True) for words in wide]
    halves = np.concatenate([words - words.mean(axis=0) for words in scaled])
    _, values, axes = np.linalg.svd(halves, full_matrices=False)
    rank = int((values > _SAME * max(1.0, float(values[0]))).sum())
    if rank < components:
        raise ParameterError(
            f"A bias subspace of {components} components cannot be found: the sets differ in {rank} directions."
        )
    firsts = sum(words[0] - words.mean(axis=0) for words in scaled)
    signs = np.where(axes[:components] @ firsts < 0, -1.0, 1.0)
    variances = values**2
    return Subspace(axes[:components] * signs[:, None], tuple((variances / variances.sum()).tolist()))


def equalized(words: Floats, subspace: Subspace) -> Floats | None:
    """The words of one set, as unit vectors, equidistant from whatever lies outside the subspace.

    All get the mean of the set outside the subspace, and as much inside as length 1 leaves, each in its own direction
    from the mean. None where a word does not differ from the mean inside the subspace, and so has no such direction.
    Source: Bolukbasi et al. 2016, Step 2a; Manzini et al. 2019, equation 3.
    """
    units = unit_rows(words, rescale=True)
    mean = units.mean(axis=0)
    inside = subspace.part(units) - subspace.part(mean)
    sizes = row_lengths(inside)
    if not sizes.min() >= _SAME:  # NaN where a word has no direction
        return None
    outside = mean - subspace.part(mean)
    rest = np.sqrt(max(1.0 - float(outside @ outside), 0.0))
    equal: Floats = outside + rest * inside / sizes[:, None]
    return equal


def blocks(model: Embedding) -> Iterator[tuple[slice, Floats]]:
    """The vectors block by block, in double precision."""
    for start in range(0, len(model), ROWS):
        part = slice(start, start + ROWS)
        yield part, model.vectors[part].astype(np.float64)


def projections(model: Embedding, direction: Floats) -> Floats:
    """Cosine of every word with a direction of length 1, to twelve decimals; NaN for a zero vector."""
    cosines = np.empty(len(model))
    for part, block in blocks(model):
        cosines[part] = unit_rows(block, rescale=True) @ direction
    return np.round(cosines, 12)
