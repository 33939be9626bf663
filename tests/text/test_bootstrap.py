"""Bootstrap samples: uniform, independent of each other, the same for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from biasgauge.errors import ParameterError
from biasgauge.text import bootstrap_documents, read_corpus


def test_draws_are_uniform() -> None:
    """Chi-square over all documents of 2,000 samples; the seed is fixed, so this passes or fails for good."""
    counts = np.bincount(np.concatenate([bootstrap_documents(50, sample, 3) for sample in range(2_000)]), minlength=50)
    assert stats.chisquare(counts).pvalue > 0.01


def test_number_of_distinct_documents_is_that_of_drawing_with_replacement() -> None:
    """A document is left out with probability (1 − 1/n)^n: in 1,000 samples of 200 the mean is known to 0.1 %."""
    distinct = [len(np.unique(bootstrap_documents(200, sample, 0))) for sample in range(1_000)]
    assert np.mean(distinct) == pytest.approx(200 * (1 - (1 - 1 / 200) ** 200), abs=4 * np.std(distinct) / 1_000**0.5)


def test_samples_do_not_depend_on_each_other() -> None:
    """Sample k has the same draws whether or not others were drawn; different samples and seeds share no pattern."""
    alone = bootstrap_documents(1_000, 17, 5)
    series = [bootstrap_documents(1_000, sample, 5) for sample in range(20)]
    np.testing.assert_array_equal(alone, series[17])
    others = [*series[:17], *series[18:], bootstrap_documents(1_000, 17, 6), bootstrap_documents(1_000, 5, 17)]
    shared = [np.count_nonzero(alone == other) for other in others]
    assert max(shared) < 10  # equal places: Poisson with mean 1
    assert all(abs(np.corrcoef(alone, other)[0, 1]) < 0.15 for other in others)


def test_the_same_numbers_for_good() -> None:
    """A study that is run again next year, with another NumPy, draws the same documents: numbers of NumPy 2.4."""
    assert bootstrap_documents(10, 0, 0).tolist() == [8, 9, 0, 3, 7, 7, 2, 1, 9, 4]
    expected = np.random.Generator(np.random.PCG64(np.random.SeedSequence(12, spawn_key=(3,)))).integers(0, 10, 10)
    assert bootstrap_documents(10, 3, 12).tolist() == expected.tolist()


def test_a_corpus_stands_for_its_number_of_documents() -> None:
    corpus = read_corpus(iter(["a", "b\nc", "d"]))
    drawn = bootstrap_documents(corpus, 1, 2)
    assert drawn.tolist() == bootstrap_documents(3, 1, 2).tolist()
    assert drawn.dtype == np.int64
    assert len(drawn) == 3


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((0, 0, 0), "corpus"),
        ((5, -1, 0), "sample"),
        ((5, 0, -3), "random_state"),
        ((5, 0.5, 0), "sample"),
        ((True, 0, 0), "corpus"),
    ],
)
def test_impossible_numbers(arguments: Any, name: str) -> None:  # noqa: ANN401 - on purpose
    with pytest.raises(ParameterError, match=f"'{name}' parameter must be a whole number"):
        bootstrap_documents(*arguments)
