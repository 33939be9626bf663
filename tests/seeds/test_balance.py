"""What lists differ in besides their meaning."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

import biasgauge as bg
from biasgauge.analyses.seeds import seeds
from biasgauge.analyses.seeds.pairing import are_names
from biasgauge.stats import greater_share


@pytest.fixture(scope="module")
def words() -> bg.Embedding:
    vocabulary = ("the", "dog", "cat", "house", "run", "walk", "happy", "sad", "table", "x1", "x2", "x3")
    return bg.Embedding(vocabulary, np.random.default_rng(0).normal(size=(len(vocabulary), 5)))


def test_frequency_is_the_mann_whitney_share() -> None:
    random = np.random.default_rng(1)
    a, b = random.integers(0, 10, 30), random.integers(2, 12, 20)
    expected = mannwhitneyu(a, b).statistic / (30 * 20)
    assert greater_share(a, b) == pytest.approx(expected)


def test_earlier_rows_are_more_frequent(words: bg.Embedding) -> None:
    found = seeds(words, ["the", "dog", "cat"], ["table", "sad"])[0].balance
    assert (found.frequency, found.frequency_source) == (1.0, "row order")
    counts = {"the": 1, "dog": 2, "cat": 50, "table": 10, "sad": 10}
    counted = seeds(words, ["the", "dog", "cat"], ["table", "sad"], counts=counts)[0].balance
    assert counted.frequency == pytest.approx(1 / 3)
    assert counted.frequency_source == "counts"
    unknown = seeds(words, ["the", "dog"], ["table", "sad"], counts={"the": 1})[0].balance
    assert unknown.frequency is None


def test_parts_of_speech_by_hand(words: bg.Embedding) -> None:
    # Brown: dog, cat, house, table are nouns, happy and sad adjectives, x1 is not there.
    found = seeds(words, ["dog", "cat", "house", "x1"], ["table", "happy", "sad"])[0].balance
    assert found.pos_shares == {"a": {"NOUN": 1.0}, "b": {"ADJ": pytest.approx(2 / 3), "NOUN": pytest.approx(1 / 3)}}
    assert found.pos == pytest.approx(1 / 3)
    assert found.pos_unknown == ("x1",)
    assert seeds(words, ["x1", "x2"], ["dog", "cat"])[0].balance.pos is None


def test_overlap_and_size(words: bg.Embedding) -> None:
    found = seeds(words, ["dog", "cat", "dog", "house"], ["dog", "table"])[0].balance
    assert found.shared == ("dog",)
    assert found.overlap == pytest.approx(1 / 4)  # dog of dog, cat, house, table
    assert found.size == pytest.approx(2 / 3)


def test_names_are_known_from_the_bank() -> None:
    assert are_names(["Emily", "Greg", "nurse"])
    assert are_names(("emily", "greg"))
    assert not are_names(["nurse", "teacher", "Emily"])
    assert not are_names([])


def test_balance_does_not_depend_on_the_hash_seed() -> None:
    """Shares of parts of speech are added up in one order."""
    tags = {chr(97 + place): 1 / (place + 3) for place in range(9)}
    program = (
        f"from biasgauge.analyses.seeds.pairing import _alike; print(repr(_alike({tags!r}, {{'z': 0.3, 'q': 0.7}})))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3", "4")
    }
    assert len(told) == 1
