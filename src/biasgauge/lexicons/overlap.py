"""Words that two sets share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biasgauge.core import Record
from biasgauge.results import counted, number_text, words_text

_NAMED = 6
"""Shared words that a sentence names."""


@dataclass(frozen=True)
class SharedWords(Record):
    """Words of two sets, each counted once.

    Attributes:
        words: those in both sets, in the order of the first.
        sizes: how many different words each set has.
    """

    words: tuple[str, ...]
    sizes: tuple[int, int]

    @property
    def most_apart(self) -> float:
        """The largest difference of two means over the sets, in units of the range of what is averaged.

        A word in both sets takes part in both means and cancels as far as it weighs the same in them. What is left is
        1 − shared / size of the larger set: 1 when nothing is shared, .05 when 19 of 20 words are.
        """
        return 1 - len(self.words) / max(*self.sizes, 1)

    @property
    def sentence(self) -> str:
        """A warning, in words; empty where nothing is shared."""
        if not self.words:
            return ""
        return (
            f"the two sets share {counted(self.words, 'word')} ({words_text(self.words, _NAMED)}), which cancel: sets "
            f"of {self.sizes[0]} and {self.sizes[1]} words can differ by at most {number_text(self.most_apart)} of "
            "what sets without shared words can"
        )


def shared_words(a: Sequence[str], b: Sequence[str]) -> SharedWords:
    """Words that are in both of two sets, spelled the same, each counted once."""
    second = frozenset(b)
    return SharedWords(tuple(word for word in dict.fromkeys(a) if word in second), (len(dict.fromkeys(a)), len(second)))
