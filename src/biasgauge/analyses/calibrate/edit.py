"""What every edit of a text is given, and what it may look at: words as places, pairs that it can use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from biasgauge.analyses.corpus_bias import count_in_whole
from biasgauge.core import Integers, JsonMapping, Record
from biasgauge.errors import ParameterError
from biasgauge.text import TokenCorpus

Tokens = NDArray[np.uint32]
State = NDArray[np.uint64]
"""Of the random numbers inside a compiled loop."""


@dataclass(frozen=True, eq=False)
class Text:
    """A text that is being edited.

    Attributes:
        corpus: what it was made from: words, counts, lines, documents.
        tokens: the text as it stands now; an edit changes it in place.
    """

    corpus: TokenCorpus
    tokens: Tokens

    @cached_property
    def places(self) -> dict[str, int]:
        """For each word its number."""
        return {word: place for place, word in enumerate(self.corpus.words)}

    def table(self, words: Iterable[str]) -> Integers:
        """For each word of the corpus its number among `words`; −1 where it is none of them.

        Raises:
            ParameterError: one of them does not occur.
        """
        numbers = np.full(len(self.corpus.words), -1, np.int64)
        for number, word in enumerate(words):
            if word not in self.places:
                raise ParameterError(
                    f"The word {word!r} does not occur in the corpus, so nothing can be planted on it."
                )
            numbers[self.places[word]] = number
        return numbers

    def beside(self, words: Iterable[str], pairs: Iterable[tuple[str, str]], window: int) -> tuple[Integers, Integers]:
        """Places in windows of first and of second ends that hold each word (words × 2), and all places (2), now."""
        family, side = self.ends(pairs)
        groups = [np.flatnonzero((family >= 0) & (side == end)).tolist() for end in (0, 1)]
        rows = [self.places[word] for word in words]
        return count_in_whole(replace(self.corpus, tokens=self.tokens), rows, *groups, window=window)

    def ends(self, pairs: Iterable[tuple[str, str]]) -> tuple[Integers, Integers]:
        """For each word of the corpus its family (−1: none), and whether it is a first (0) or a second end (1).

        A family is what pairs join: (him, her) and (his, her) make one of three words. Pairs of which a word does not
        occur, or is an end of the other kind already, are left out.

        Raises:
            ParameterError: no pair is left.
        """
        family = np.full(len(self.corpus.words), -1, np.int64)
        side = np.zeros(len(self.corpus.words), np.int64)
        for first, second in self.present(pairs):
            one, other = self.places[first], self.places[second]
            if (family[one] >= 0 and side[one] == 1) or (family[other] >= 0 and side[other] == 0) or one == other:
                continue
            known = [number for number in (family[one], family[other]) if number >= 0]
            number = min(known, default=int(family.max()) + 1)
            for joined in known:
                family[family == joined] = number
            family[[one, other]] = number
            side[other] = 1
        _, dense = np.unique(family[family >= 0], return_inverse=True)
        family[family >= 0] = dense
        return family, side

    def present(self, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Pairs of which both words occur.

        Raises:
            ParameterError: there is none.
        """
        present = [(first, second) for first, second in pairs if {first, second} <= self.places.keys()]
        if not present:
            raise ParameterError("The corpus has both words of none of the pairs: give pairs that occur in it.")
        return present


@dataclass(frozen=True)
class Edit(Record):
    """A change of a text; `to_dict` says all that decides it but the random seed."""

    name: ClassVar[str] = ""

    def derived(self) -> JsonMapping:
        """What it is called."""
        return {"edit": self.name}

    def apply(self, text: Text, random_state: int) -> tuple[str, ...]:
        """Change the text; gives what could not be done as asked."""
        raise NotImplementedError
