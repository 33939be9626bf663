"""Measures: scoring rules from a word and a pair to a score, with the properties that they declare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Floats, Vectors
from biasgauge.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A scoring rule. A positive score leans to the first end of the pair; swapping the ends negates it.

    Make a `Linear` or a `Neighborhood`, whose scores have a fast way of their own, or a subclass that defines `scores`.

    Attributes:
        name: what users type and files hold.
        display_name: what tables and charts show; `name` where it is empty.
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
    display_name: str = ""
    rotation_invariant: bool = True
    scale_invariant: bool
    word_scale_invariant: bool
    swap_negates: bool = True

    def scores(self, words: Floats, first: Floats, second: Floats) -> Floats:  # noqa: ARG002 - for a subclass
        """Scores of a measure that is neither `Linear` nor a `Neighborhood`.

        It is called on the CPU, from several threads, for a thousand words at a time; it must not change its
        arguments, and the score of a word must not depend on the words beside it.

        Args:
            words: vectors of words, words × dimensions, as stored; no row is zero.
            first: vectors of the first ends of the pairs, pairs × dimensions, as stored; no row is zero.
            second: vectors of the second ends, which differ from the first.

        Returns:
            pairs × words; what is not finite counts as undefined.
        """
        raise ParameterError(
            f"The measure {self.name!r} must be Linear, a Neighborhood, or define scores(words, first, second)."
        )


@dataclass(frozen=True, kw_only=True)
class Linear(Measure):
    """A score that is the product of the word's vector with a direction that only the pair decides.

    Attributes:
        direction: (first ends, second ends), each pairs × dimensions, to directions of the same shape; a direction
            that does not exist (a zero vector at an end) is a row of NaN.
        per_length: divide by the length of the word's vector, so that only its direction counts.
    """

    direction: Callable[[Floats, Floats], Floats]
    per_length: bool


@dataclass(frozen=True, kw_only=True)
class Neighborhood(Measure):
    """A score by vote of the word's nearest neighbors, each by the sign of its own bias.

    Attributes:
        bias: the linear measure that decides how a neighbor votes.
        ties: the end that a neighbor without bias votes for: "neither" end, or "first" (as two papers did).
        self_exclusion: "identity" leaves out the word itself; "first-hit" leaves out the nearest vector, whoever it
            belongs to, as one paper's code did.
    """

    bias: Linear
    ties: str = "neither"
    self_exclusion: str = "identity"

    def votes(self, bias: Vectors) -> NDArray[np.int8]:
        """+1 for the first end, −1 for the second, 0 for neither; biases below 1e-12 are rounding, hence ties."""
        signs = np.sign(np.where(np.abs(bias) < TIE, 0.0, bias)).astype(np.int8)
        if self.ties == "first":
            signs[signs == 0] = 1
        return signs


TIE = 1e-12
"""A bias this small, computed in double precision from unit vectors, is zero but for rounding."""
