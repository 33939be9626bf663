"""Where the frequencies of words come from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from biasgauge.core import LogFrequencies
from biasgauge.vectors import Embedding, Frequencies
from biasgauge.vectors.frequencies import is_ordered, reference_frequencies
from biasgauge.vectors.loading import load_default


def embedding(words: Sequence[str], frequencies: Frequencies | None = None) -> Embedding:
    return Embedding(tuple(words), np.ones((len(words), 2)), frequencies=frequencies)


def known(model: Embedding) -> LogFrequencies:
    log = model.log_frequencies("en")
    assert log is not None
    return log


def test_counts_and_ranks_of_the_source_come_first() -> None:
    words = list(reference_frequencies("en"))[:500]
    counted = known(embedding(words, Frequencies(np.arange(500)[::-1] + 1)))
    assert counted.source == "counts"
    assert counted.values[0] == pytest.approx(np.log10(500))
    ranked = known(embedding(words, Frequencies(np.arange(1, 501), "ranks")))
    assert ranked.source == "ranks"
    np.testing.assert_allclose(ranked.values, -np.log10(np.arange(1, 501)))


def test_a_file_in_order_of_frequency_gives_ranks() -> None:
    log = known(load_default())
    assert log.source in {"ranks", "order"}
    assert (np.diff(log.values) <= 0).all()


@pytest.mark.parametrize("order", ["alphabetical", "shuffled", "by length"])
def test_another_order_is_not_taken_for_that_of_frequency(order: str) -> None:
    words = list(load_default().words)
    arranged = {
        "alphabetical": sorted(words),
        "shuffled": np.random.default_rng(0).permutation(words).tolist(),
        "by length": sorted(sorted(words), key=len),
    }[order]
    log = known(embedding(arranged))
    assert log.source == "reference"
    assert np.corrcoef(log.values[:1_000], [-words.index(word) for word in arranged[:1_000]])[0, 1] > 0.2


def test_words_that_the_reference_lacks_are_the_rarest() -> None:
    log = known(embedding(["the", "zebra", "qxqzx"]))
    assert log.values[0] > log.values[1] > log.values[2]


def test_nothing_is_known_of_a_language_without_a_list_or_of_invented_words() -> None:
    assert embedding(["the", "zebra"]).log_frequencies("tlh") is None
    assert embedding(["qxqzx", "vvvww"]).log_frequencies("en") is None


def test_few_words_have_no_order() -> None:
    assert not is_ordered(list(reference_frequencies("en"))[:200], reference_frequencies("en"))


@pytest.mark.parametrize(("language", "frequent", "rare"), [("en", "house", "zeppelin"), ("es", "casa", "gabinete")])
def test_reference_lists(language: str, frequent: str, rare: str) -> None:
    counts = reference_frequencies(language)
    assert len(counts) > 50_000
    assert counts[frequent] > 20 * counts[rare] > 0
    values = list(counts.values())
    assert values == sorted(values, reverse=True)
