"""Edits of a text with known effect: `Mixture` of contexts, `Swap` of pairs, `Shuffle` of words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from biasgauge.analyses.corpus_bias import count_undivided
from biasgauge.core import Flags, Integers, JsonMapping, Record, check_number
from biasgauge.errors import ParameterError
from biasgauge.text import TokenCorpus
from biasgauge.text.training import below, compiled, stream

Tokens = NDArray[np.uint32]
State = NDArray[np.uint64]
"""State of the random numbers in a compiled loop."""


@dataclass(frozen=True, eq=False)
class EditableText:
    """A text that is being edited.

    Attributes:
        corpus: the original: words, counts, lines, documents.
        tokens: the text in its present state; an edit changes it in place.
    """

    corpus: TokenCorpus
    tokens: Tokens

    @cached_property
    def word_ids(self) -> dict[str, int]:
        """Number of each word in `corpus.words`."""
        return {word: word_id for word_id, word in enumerate(self.corpus.words)}

    def number_words(self, words: Iterable[str]) -> Integers:
        """For each word of the corpus its index in `words`; −1 where it is none of them.

        Raises:
            ParameterError: one of them does not occur.
        """
        numbers = np.full(len(self.corpus.words), -1, np.int64)
        for number, word in enumerate(words):
            if word not in self.word_ids:
                raise ParameterError(
                    f"The word {word!r} does not occur in the corpus, so nothing can be planted on it."
                )
            numbers[self.word_ids[word]] = number
        return numbers

    def count_near_ends(
        self, words: Iterable[str], pairs: Iterable[tuple[str, str]], window: int
    ) -> tuple[Integers, Integers]:
        """Contexts of first and of second ends that hold each word (words × 2), and all contexts (2)."""
        family, side = self.families(pairs)
        ends = [np.flatnonzero((family >= 0) & (side == end)).tolist() for end in (0, 1)]
        rows = [self.word_ids[word] for word in words]
        return count_undivided(replace(self.corpus, tokens=self.tokens), rows, *ends, window=window)

    def families(self, pairs: Iterable[tuple[str, str]]) -> tuple[Integers, Integers]:
        """For each word of the corpus its family (−1: none), and whether it is a first (0) or a second end (1).

        A family is a set of words that pairs connect: (him, her) and (his, her) make one of three words. Pairs of which
        a word does not occur, or is an end of the other kind already, are left out.

        Raises:
            ParameterError: no pair is left.
        """
        family = np.full(len(self.corpus.words), -1, np.int64)
        side = np.zeros(len(self.corpus.words), np.int64)
        for pair in self.present_pairs(pairs):
            first, second = (self.word_ids[word] for word in pair)
            first_is_second_end = family[first] >= 0 and side[first] == 1
            second_is_first_end = family[second] >= 0 and side[second] == 0
            if first_is_second_end or second_is_first_end or first == second:
                continue
            connected = [number for number in (family[first], family[second]) if number >= 0]
            number = min(connected, default=int(family.max()) + 1)
            for merged in connected:
                family[family == merged] = number
            family[[first, second]] = number
            side[second] = 1
        _, dense = np.unique(family[family >= 0], return_inverse=True)  # merging leaves gaps in the numbers
        family[family >= 0] = dense
        return family, side

    def present_pairs(self, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Pairs of which both words occur.

        Raises:
            ParameterError: there is none.
        """
        present = [(first, second) for first, second in pairs if {first, second} <= self.word_ids.keys()]
        if not present:
            raise ParameterError("The corpus has both words of none of the pairs: give pairs that occur in it.")
        return present


@dataclass(frozen=True)
class Edit(Record):
    """A change of a text; `to_dict` holds all that decides it but the random seed."""

    name: ClassVar[str] = ""

    def derived(self) -> JsonMapping:
        """Add the name of the edit."""
        return {"edit": self.name}

    def apply(self, text: EditableText, random_state: int) -> tuple[str, ...]:
        """Change the text; return remarks on doses that were not reached."""
        raise NotImplementedError


def check_carriers(carriers: Mapping[str, float], pairs: tuple[tuple[str, str], ...], edit: str) -> None:
    """Check that there are carriers, and none that is a word of a pair."""
    if not carriers or not pairs:
        raise ParameterError(f"{edit} needs at least one carrier and one pair.")
    for word in (word for pair in pairs for word in pair):
        if word in carriers:
            raise ParameterError(f"A carrier must not be a word of a pair. Got {word!r}.")


@dataclass(frozen=True)
class Mixture(Edit):
    """Association of both orders: a carrier trades tokens with words of one end, so that their contexts mix.

    A share of .2 means that a fifth of the carrier's tokens now stand where words of first ends stood, and that these
    words stand where the carrier did; a negative share trades with second ends. Every word occurs exactly as often as
    before.

    Attributes:
        shares: carriers with their shares, from −1 to 1.
        pairs: pairs (first, second); those with a word that does not occur are left out.
    """

    name: ClassVar[str] = "mixture"

    shares: Mapping[str, float]
    pairs: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        for share in self.shares.values():
            check_number(-1, 1, shares=share)
        check_carriers(self.shares, self.pairs, "Mixture")

    def apply(self, text: EditableText, random_state: int) -> tuple[str, ...]:
        """Exchange tokens of carriers and ends."""
        family, side = text.families(self.pairs)
        carrier = text.number_words(self.shares)
        counts = text.corpus.counts
        random, state = np.random.default_rng([random_state, 2]), stream("mixture", random_state)
        shares = np.array(list(self.shares.values()), np.float64)
        carrier_counts = np.array([counts[text.word_ids[word]] for word in self.shares], np.int64)
        # Tokens of each carrier that are traded, rounded at random so that the expected number is exact.
        traded = (np.abs(shares) * carrier_counts + random.random(len(shares))).astype(np.int64)
        traded = traded.clip(max=carrier_counts)
        needed = np.array([traded[shares > 0].sum(), traded[shares < 0].sum()], np.int64)
        available = np.array([counts[(family >= 0) & (side == end)].sum() for end in (0, 1)], np.int64)
        for end, name in enumerate(("first", "second")):
            if needed[end] > available[end]:
                raise ParameterError(
                    f"The carriers would take {needed[end]:,} places of words of {name} ends, of which there are "
                    f"{available[end]:,}: plant smaller shares, fewer or rarer carriers, or give more pairs."
                )
        carrier_positions, end_positions = np.zeros(int(traded.sum()), np.int64), np.zeros(int(needed.sum()), np.int64)
        starts = np.concatenate([[0], np.cumsum(traded)[:-1]])
        end_of_word = np.where(family < 0, -1, side)
        _sample_positions(
            text.tokens, carrier, end_of_word, carrier_counts, traded.copy(), available, needed.copy(), starts.copy(),
            carrier_positions, end_positions, state,
        )  # fmt: skip
        pools = [random.permutation(end_positions[: needed[0]]), random.permutation(end_positions[needed[0] :])]
        used = [0, 0]
        for share, start, count in zip(shares, starts, traded, strict=True):
            if count:
                end = int(share < 0)
                theirs, ours = pools[end][used[end] : used[end] + count], carrier_positions[start : start + count]
                used[end] += count
                text.tokens[ours], text.tokens[theirs] = text.tokens[theirs], text.tokens[ours]
        return ()


@compiled
def _sample_positions(
    tokens: Tokens, carrier: Integers, end_of_word: Integers, left: Integers, traded: Integers, available: Integers,
    needed: Integers, starts: Integers, carrier_positions: Integers, end_positions: Integers, state: State,
) -> None:  # fmt: skip
    """Sample positions of carriers and of ends in one pass, each subset of the right size equally likely.

    Selection sampling: of `left` remaining tokens `traded` are still to be chosen, so the next one is chosen with
    probability traded / left.
    """
    offset = needed[0]
    used = np.zeros(2, np.int64)
    for position in range(len(tokens)):
        number = carrier[tokens[position]]
        if number >= 0:
            if traded[number] > 0 and below(state, left[number]) < traded[number]:
                traded[number] -= 1
                carrier_positions[starts[number]] = position
                starts[number] += 1
            left[number] -= 1
            continue
        end = end_of_word[tokens[position]]
        if end >= 0:
            if needed[end] > 0 and below(state, available[end]) < needed[end]:
                needed[end] -= 1
                end_positions[end * offset + used[end]] = position
                used[end] += 1
            available[end] -= 1


@dataclass(frozen=True)
class Swap(Edit):
    """Counterfactual text: in some documents every word of a pair becomes the other one.

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

    def apply(self, text: EditableText, random_state: int) -> tuple[str, ...]:
        """Swap the ends in the chosen documents."""
        count = len(text.corpus.documents) - 1
        swapped = np.zeros(count, bool)
        if self.documents is None:
            random = np.random.default_rng([random_state, 3])
            swapped[random.choice(count, round(self.share * count), replace=False)] = True
        else:
            numbers = np.array(self.documents, np.int64)
            if len(numbers) and not (numbers.min() >= 0 and numbers.max() < count):
                raise ParameterError(f"The 'documents' parameter must hold numbers from 0 to {count - 1}.")
            swapped[numbers] = True
        partner = np.arange(len(text.corpus.words), dtype=np.uint32)
        # In reverse, so that of several pairs of a word the first listed counts.
        for pair in reversed(text.present_pairs(self.pairs)):
            first, second = (text.word_ids[word] for word in pair)
            partner[first], partner[second] = second, first
        _swap(text.tokens, text.corpus.lines[text.corpus.documents], swapped, partner)
        return ()


@dataclass(frozen=True)
class Shuffle(Edit):
    """All tokens in random order: every word as frequent as before, and no association left."""

    name: ClassVar[str] = "shuffle"

    def apply(self, text: EditableText, random_state: int) -> tuple[str, ...]:
        """Shuffle all tokens (Fisher and Yates)."""
        _shuffle(text.tokens, stream("shuffle", random_state))
        return ()


@compiled
def _swap(tokens: Tokens, bounds: Integers, swapped: Flags, partner: Tokens) -> None:
    for document in range(len(swapped)):
        if swapped[document]:
            for position in range(bounds[document], bounds[document + 1]):
                tokens[position] = partner[tokens[position]]


@compiled
def _shuffle(tokens: Tokens, state: State) -> None:
    for position in range(len(tokens) - 1, 0, -1):
        drawn = below(state, position + 1)
        token = tokens[position]
        tokens[position] = tokens[drawn]
        tokens[drawn] = token
