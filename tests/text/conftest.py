"""A corpus made the slow and obvious way, to hold the fast one against."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from biasgauge.text import TokenCorpus


@dataclass(frozen=True)
class Slow:
    """What a corpus must hold, by plain loops over documents of lines of words."""

    words: list[str]
    counts: list[int]
    tokens: list[int]
    lines: list[int]
    documents: list[int]

    @classmethod
    def of(cls, documents: Sequence[Sequence[Sequence[str]]]) -> Slow:
        """Number the words by falling counts, then code points; lines and documents without a word vanish."""
        texts = [[line for line in document if line] for document in documents]
        texts = [document for document in texts if document]
        counts = Counter(word for document in texts for line in document for word in line)
        words = sorted(counts, key=lambda word: (-counts[word], [ord(sign) for sign in word]))
        place = {word: number for number, word in enumerate(words)}
        return cls(
            words,
            [counts[word] for word in words],
            [place[word] for document in texts for line in document for word in line],
            list(accumulate((len(line) for document in texts for line in document), initial=0)),
            list(accumulate((len(document) for document in texts), initial=0)),
        )


def assert_is(corpus: TokenCorpus, expected: Slow) -> None:
    """Compare everything that a corpus holds."""
    assert list(corpus.words) == expected.words
    assert corpus.counts.tolist() == expected.counts
    assert corpus.tokens.tolist() == expected.tokens
    assert corpus.lines.tolist() == expected.lines
    assert corpus.documents.tolist() == expected.documents
    corpus.check()


@pytest.fixture(scope="session")
def matches() -> Callable[[TokenCorpus, Sequence[Sequence[Sequence[str]]]], None]:
    """Hold a corpus against documents of lines of words."""
    return lambda corpus, documents: assert_is(corpus, Slow.of(documents))
