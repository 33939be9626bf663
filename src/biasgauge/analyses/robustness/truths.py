"""Words whose direction is known: by meaning ("lioness") or by a stereotype that the user names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TypeAlias

import numpy as np

from biasgauge.core import Floats, LexiconLike, WordsLike
from biasgauge.errors import ParameterError
from biasgauge.lexicons import Lexicon, Pairs, language_of, lexicon, words_of


@dataclass(frozen=True)
class Truth:
    """Words that should lean to the first end of the pairs, and words that should lean to the second."""

    name: str
    first: tuple[str, ...]
    second: tuple[str, ...]

    def __post_init__(self) -> None:
        if both := [word for word in self.first if word in set(self.second)]:
            raise ParameterError(
                f"A word of the truth {self.name!r} can lean to one end only. Got {both[0]!r} on both."
            )

    @property
    def words(self) -> tuple[str, ...]:
        """All of its words, those of the first end before those of the second."""
        return (*self.first, *self.second)

    @property
    def directions(self) -> Floats:
        """1 for words of the first end, −1 for those of the second."""
        return np.repeat([1.0, -1.0], [len(self.first), len(self.second)])


TruthsLike: TypeAlias = (
    "LexiconLike | Iterable[LexiconLike] | Mapping[str, Mapping[str, WordsLike] | Sequence[WordsLike]]"
)
"""Words whose direction is known: lexicons, or names to (words of the first end, words of the second)."""


def truths_of(truths: TruthsLike | None, pairs: Pairs) -> tuple[tuple[Truth, ...], str]:
    """Turn what a user may give as `truths` into truths about these pairs; and what to know about it, if anything.

    A lexicon's sets are matched with the ends of the pairs by name, such as "male" and "female". A mapping of a name to
    two collections of words has those of the first end first, or names the ends.

    Raises:
        ParameterError: sets and ends cannot be matched, or a word is on both sides.
        LexiconError: a lexicon is unknown.
    """
    if truths is None:
        if set(pairs.ends) != {"male", "female"}:
            return (), (
                f"no truths: the ends of the pairs are called {' and '.join(pairs.ends)}, the shipped truths are about "
                "male and female; name your own"
            )
        spoken = language_of(pairs.language)
        if reason := spoken.lacks("truths"):
            return (), f"no truths: {reason}"
        truths = spoken.named("truths")
    if isinstance(truths, Mapping):
        return tuple(_truth(str(name), sides, pairs.ends) for name, sides in truths.items()), ""
    sources = [truths] if isinstance(truths, (str, PathLike, Lexicon)) else truths
    if not isinstance(sources, Iterable):
        raise ParameterError(
            f"The 'truths' must be lexicons, or a mapping of names to two sets of words. Got {truths!r}."
        )
    return tuple(_truth(source.name, source.sets, pairs.ends) for source in map(lexicon, sources)), ""


def _truth(name: str, sides: Mapping[str, WordsLike] | Iterable[WordsLike], ends: tuple[str, str]) -> Truth:
    if isinstance(sides, Mapping):
        if set(sides) != set(ends):
            raise ParameterError(
                f"The truth {name!r} must have a set of words for each end of the pairs, {' and '.join(ends)}. "
                f"Got {', '.join(map(str, sides))}; give {{{name!r}: (words of the first end, words of the second)}}."
            )
        sides = [sides[end] for end in ends]
    both = list(sides) if isinstance(sides, Iterable) and not isinstance(sides, str) else []
    if len(both) != len(ends):
        raise ParameterError(
            f"The truth {name!r} must be two sets of words, that of the pairs' first end first. Got {sides!r}."
        )
    first, second = (tuple(dict.fromkeys(words_of(side).words)) for side in both)
    return Truth(name, first, second)
