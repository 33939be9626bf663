"""Tokenized texts as numbers, and batches of texts of like length.

Tokens of all texts lie in one array; a batch is cut out of it in one step, without a loop over texts or tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from biasgauge.core import Integers

POOL = 50
"""Batches whose texts are sorted by length together: little padding, and every epoch mixes texts anew."""
ZERO = 0
"""The number of words without a vector, and of what fills a short text up."""


@dataclass(frozen=True)
class NumberedTexts:
    """Texts as numbers of tokens, one text after the other; `beyond` stands for what is beyond the end of a text.

    Behind all texts `tokens` has `beyond` as many times as the longest text has tokens.
    """

    tokens: Integers
    starts: Integers
    lengths: Integers
    labels: Integers
    beyond: int

    def __len__(self) -> int:
        return len(self.lengths)

    @classmethod
    def of(
        cls, texts: Sequence[Sequence[str]], labels: Sequence[int], numbers: Mapping[str, int], *, least: int
    ) -> NumberedTexts:
        """Number the tokens: those that `numbers` lacks are 0, and texts shorter than `least` are filled up with 0."""
        beyond = max(numbers.values(), default=ZERO) + 1
        flat: list[int] = []
        lengths = np.empty(len(texts), np.int64)
        for at, text in enumerate(texts):
            lengths[at] = max(least, len(text))
            flat += [numbers.get(token, ZERO) for token in text]
            flat += [ZERO] * (least - len(text))
        longest = int(lengths.max(initial=0))
        tokens: Integers = np.array(flat + [beyond] * longest, np.int64)
        starts: Integers = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)[: len(texts)]
        return cls(tokens, starts, lengths, np.asarray(labels, np.int64), beyond)

    def batch(self, places: Integers) -> Integers:
        """Tokens of some texts: (texts, time), up to the longest of them."""
        lengths = self.lengths[places]
        time: Integers = np.arange(lengths.max())
        tokens: Integers = self.tokens[self.starts[places][:, None] + time]
        tokens[time >= lengths[:, None]] = self.beyond
        return tokens

    def shuffled(self, size: int, random: np.random.Generator) -> Iterator[Integers]:
        """Places of the texts of each batch of an epoch: at random, but of like length within a batch."""
        order = random.permutation(len(self))
        batches: list[Integers] = []
        for start in range(0, len(order), POOL * size):
            pool = order[start : start + POOL * size]
            pool = pool[np.argsort(self.lengths[pool], kind="stable")]
            batches += [pool[first : first + size] for first in range(0, len(pool), size)]
        for at in random.permutation(len(batches)):
            yield batches[at]

    def by_length(self, most_tokens: int) -> Iterator[Integers]:
        """Places of the texts of each batch, the shortest first; a batch has so many tokens, or one text."""
        order = np.argsort(self.lengths, kind="stable")
        start = 0
        while start < len(order):
            sizes = self.lengths[order[start : start + most_tokens]]
            count = max(1, int((sizes * np.arange(1, len(sizes) + 1) <= most_tokens).sum()))
            yield order[start : start + count]
            start += count
