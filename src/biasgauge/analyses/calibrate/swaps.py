"""Edits of whole texts: documents with the ends of all pairs swapped, and words in no order at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biasgauge.analyses.calibrate.edit import Edit, State, Text, Tokens
from biasgauge.core import Flags, Integers, check_number
from biasgauge.errors import ParameterError
from biasgauge.text.training import below, compiled, stream


@dataclass(frozen=True)
class Swap(Edit):
    """In some documents every word of a pair becomes the other one: the counterfactual text.

    Half of the documents at random leaves no association of any word with the ends, of whatever order. Ends then occur
    about equally often: frequencies are not kept.

    Attributes:
        pairs: pairs (first, second); those with a word that does not occur are left out, and of several
            with a word the first that is listed counts.
        share: of the documents, chosen at random.
        documents: numbers of the documents, in the place of a share.
    """

    name: ClassVar[str] = "swap"

    pairs: tuple[tuple[str, str], ...]
    share: float = 0.5
    documents: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        check_number(0, 1, share=self.share)

    def apply(self, text: Text, random_state: int) -> tuple[str, ...]:
        """Swap the ends in the chosen documents."""
        count = len(text.corpus.documents) - 1
        chosen = np.zeros(count, bool)
        if self.documents is None:
            random = np.random.default_rng([random_state, 3])
            chosen[random.choice(count, round(self.share * count), replace=False)] = True
        else:
            numbers = np.array(self.documents, np.int64)
            if len(numbers) and not (numbers.min() >= 0 and numbers.max() < count):
                raise ParameterError(f"The 'documents' parameter must hold numbers from 0 to {count - 1}.")
            chosen[numbers] = True
        partner = np.arange(len(text.corpus.words), dtype=np.uint32)
        for first, second in reversed(text.present(self.pairs)):  # of several pairs of a word the first listed counts
            one, other = text.places[first], text.places[second]
            partner[one], partner[other] = other, one
        _swap(text.tokens, text.corpus.lines[text.corpus.documents], chosen, partner)
        return ()


@dataclass(frozen=True)
class Shuffle(Edit):
    """All tokens in random order: every word as frequent as before, and nothing to find."""

    name: ClassVar[str] = "shuffle"

    def apply(self, text: Text, random_state: int) -> tuple[str, ...]:
        """Shuffle the whole text (Fisher and Yates)."""
        _shuffle(text.tokens, stream("shuffle", random_state))
        return ()


@compiled
def _swap(tokens: Tokens, bounds: Integers, chosen: Flags, partner: Tokens) -> None:
    for document in range(len(chosen)):
        if chosen[document]:
            for place in range(bounds[document], bounds[document + 1]):
                tokens[place] = partner[tokens[place]]


@compiled
def _shuffle(tokens: Tokens, state: State) -> None:
    for place in range(len(tokens) - 1, 0, -1):
        other = below(state, place + 1)
        held = tokens[place]
        tokens[place] = tokens[other]
        tokens[other] = held
