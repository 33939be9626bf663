"""Contexts counted by the compiled loop are those of a slow count that follows the definition word for word."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biasgauge as bg
from biasgauge.analyses.corpus_bias.counting import WEIGHTS, Weighting, count_contexts
from biasgauge.errors import ParameterError
from biasgauge.stats.odds_ratios import Shift, left_out_changes
from biasgauge.text import TokenCorpus, read_corpus

if TYPE_CHECKING:
    from collections.abc import Sequence

SHIFTS: tuple[Shift, ...] = ("margins", "zeros")
VOCABULARY = ["he", "him", "she", "her", "nurse", "doctor", "the", "of", "rare"]


def slow_weight(weighting: Weighting, distance: int, window: int) -> float:
    return {"flat": 1.0, "word2vec": (window - distance + 1) / window, "glove": 1 / distance}[weighting]


def slow_counts(
    documents: Sequence[Sequence[Sequence[str]]], word: str, a: set[str], b: set[str], window: int,
    weighting: Weighting = "flat", min_count: int = 1,
) -> list[tuple[float, float, float, float]]:  # fmt: skip
    """For each document: places near A that hold the word, all places near A, and the same of B."""
    frequency = Counter(token for document in documents for line in document for token in line)
    rows = []
    for document in documents:
        sums = [0.0, 0.0, 0.0, 0.0]
        for full in document:
            line = [token for token in full if frequency[token] >= min_count]
            for center, token in enumerate(line):
                for side, group in ((0, a), (2, b)):
                    if token in group:
                        for place, other in enumerate(line):
                            if place != center and abs(place - center) <= window:
                                sums[side + 1] += slow_weight(weighting, abs(place - center), window)
                                sums[side] += slow_weight(weighting, abs(place - center), window) * (other == word)
        rows.append(tuple(sums))
    return rows  # type: ignore[return-value]  # four numbers each


def corpus_of_lines(documents: Sequence[Sequence[Sequence[str]]]) -> TokenCorpus:
    return read_corpus(
        iter(["\n".join(" ".join(line) for line in document) for document in documents]), tokenizer="whitespace"
    )


LINES = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=14)
DOCUMENTS = st.lists(st.lists(LINES, min_size=1, max_size=3), min_size=1, max_size=6)


@given(
    DOCUMENTS, st.integers(1, 6), st.sampled_from(["flat", "word2vec", "glove"]), st.integers(1, 3),
)  # fmt: skip
def test_counts_are_those_of_the_definition(
    documents: list[list[list[str]]], window: int, weighting: Weighting, min_count: int
) -> None:
    corpus = corpus_of_lines(documents)
    place = {word: number for number, word in enumerate(corpus.words)}
    words = [word for word in ("nurse", "doctor", "he") if word in place]
    a, b = ([word for word in group if word in place] for group in (["he", "him"], ["she", "her"]))
    counts = count_contexts(
        corpus, [place[word] for word in words], [place[word] for word in a], [place[word] for word in b],
        window=window, weighting=weighting, min_count=min_count,
    )  # fmt: skip
    for number, word in enumerate(words):
        slow = np.array(slow_counts(documents, word, set(a), set(b), window, weighting, min_count))
        expected = np.stack([slow[:, 0], slow[:, 1] - slow[:, 0], slow[:, 2], slow[:, 3] - slow[:, 2]], axis=1)
        np.testing.assert_allclose(counts.by_document(number), expected, rtol=0, atol=1e-12)
        for shift in SHIFTS:
            changes = left_out_changes(counts.by_document(number), shift)
            np.testing.assert_allclose(counts.left_out_changes(number, shift), changes, rtol=0, atol=1e-9)
        np.testing.assert_allclose(counts.table(number), expected.sum(axis=0), rtol=0, atol=1e-11)


def test_a_place_between_two_words_of_a_group_counts_twice_and_lines_end_windows() -> None:
    corpus = corpus_of_lines([[["he", "nurse", "he"], ["nurse"], ["she", "of"]]])
    counts = count_contexts(corpus, [corpus.words.index("nurse")], [corpus.words.index("he")],
                            [corpus.words.index("she")], window=5)  # fmt: skip
    assert counts.table(0).tolist() == [2, 2, 0, 1]  # each "he" sees "nurse" and the other "he"


def test_weights_are_those_of_the_trainers() -> None:
    """word2vec draws its window from 1 … window: the mean over many draws is the weight; GloVe's is 1 / distance."""
    distances = np.arange(1, 6)
    drawn = np.random.default_rng(0).integers(1, 6, 200_000)
    reached = (drawn[:, None] >= distances).mean(axis=0)
    np.testing.assert_allclose(WEIGHTS["word2vec"](distances, 5), reached, atol=4 * 0.5 / 200_000**0.5)
    np.testing.assert_allclose(WEIGHTS["glove"](distances, 5), [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5])


def test_blocks_do_not_change_counts() -> None:
    random = np.random.default_rng(3)
    documents = [[random.choice(VOCABULARY, 12).tolist() for _ in range(3)] for _ in range(200)]
    corpus = corpus_of_lines(documents)
    named = (["nurse", "doctor", "of"], ["he"], ["she"])
    query: list[list[int]] = [[corpus.words.index(word) for word in words] for words in named]
    whole, blocks = (count_contexts(corpus, *query, window=4, cells_per_block=cells) for cells in (2**20, 3))
    for field, value in vars(whole).items():
        np.testing.assert_array_equal(getattr(blocks, field), value)


def test_one_word_in_both_groups_is_refused() -> None:
    with pytest.raises(ParameterError, match="Got 'he' in both"):
        bg.corpus_bias(iter(["he is she", "she is he"]), words=["is"], a=["he"], b=["she", "he"])
