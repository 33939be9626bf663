"""What a measure is: its name, what it computes, and the properties that tests hold it to."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Measure(ABC):
    """A scoring rule. A positive score leans to the first end of the pair; swapping the ends negates it.

    Attributes:
        name: what users type and tables show.
        summary: what the number means, what 0 means, when it is undefined.
        low, high: the range of scores.
        source: paper and equation.
        rotation_invariant: rotating all vectors together leaves every score as it is.
        scale_invariant: multiplying all vectors by one positive number leaves every score as it is.
        word_scale_invariant: multiplying the word's own vector by a positive number does.
        swap_negates: swapping the two ends of the pair changes the sign and nothing else.
    """

    name: str
    summary: str
    low: float
    high: float
    source: str
    rotation_invariant: bool = True
    scale_invariant: bool
    word_scale_invariant: bool
    swap_negates: bool = True


@dataclass(frozen=True, kw_only=True)
class Linear(Measure):
    """A score that is the product of the word's vector with a direction that only the pair decides.

    Attributes:
        direction: (first ends, second ends), each pairs × dimensions, to directions of the same shape; a direction
            that does not exist (a zero vector at an end, two equal ends) is a row of NaN.
        per_length: divide by the length of the word's vector, so that only its direction counts.
    """

    direction: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
    per_length: bool


@dataclass(frozen=True, kw_only=True)
class Neighbourhood(Measure):
    """A score by vote of the word's nearest neighbours, each by the sign of its own bias.

    Attributes:
        bias: the linear measure that decides how a neighbour votes.
        ties: whom a neighbour without bias votes for: "neither" end, or "first" (as two papers did).
        self_exclusion: "identity" leaves out the word itself; "first-hit" leaves out the nearest vector, whoever it
            belongs to, as one paper's code did.
    """

    bias: Linear
    ties: str = "neither"
    self_exclusion: str = "identity"

    def votes(self, bias: NDArray[np.floating[Any]]) -> NDArray[np.int8]:
        """+1 for the first end, −1 for the second, 0 for neither; biases below 1e-12 are rounding, hence ties."""
        signs = np.sign(np.where(np.abs(bias) < TIE, 0.0, bias)).astype(np.int8)
        if self.ties == "first":
            signs[signs == 0] = 1
        return signs


TIE = 1e-12
"""A bias this small, computed in double precision from unit vectors, is zero but for rounding."""


def row_lengths(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Length of each row, also where its square would be too small or too large a number."""
    with np.errstate(over="ignore"):
        lengths: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    extreme = np.flatnonzero(~((lengths > _SMALL) & (lengths < _LARGE)))
    if len(extreme):
        largest = np.abs(vectors[extreme]).max(axis=1, initial=0)
        largest[largest == 0] = 1
        scaled = vectors[extreme] / largest[:, None]
        lengths[extreme] = np.sqrt(np.einsum("ij,ij->i", scaled, scaled)) * largest
    return lengths


_SMALL, _LARGE = 1e-140, 1e140


def unit_rows(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each row divided by its length; a zero row becomes NaN."""
    lengths = row_lengths(vectors)
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled: NDArray[np.float64] = vectors / lengths[:, None]
    return scaled
