"""Why a word is not to be trusted, where most words do not move at all from model to model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.analyses.reliability.reliability_table import LowReliabilityCauses
from biasgauge.stats import icc_stack

if TYPE_CHECKING:
    from numpy.typing import NDArray


def test_a_word_that_moves_among_words_that_do_not() -> None:
    random = np.random.default_rng(1)
    still = np.repeat(random.standard_normal((3, 6, 1)), 4, axis=2)  # words × pairs × models
    moving = random.standard_normal((1, 6, 4))
    causes = LowReliabilityCauses(icc_stack(np.concatenate([still, moving]), "2,1"), ["a", "b", "c", "moving"])
    error = _error(moving[0])
    assert causes.explain("moving", "pairs") == (
        f"its scores move from model to model by an SD of {error:.3g}, while the usual ones do not move"
    )


@pytest.mark.parametrize(
    ("signal", "noise", "because"),
    [
        (2 / 1.4, 1.0, "its scores move from model to model (SD 1) about as much as between pairs (1.43)"),
        (2 / 1.6, 1.0, "it hardly tells pairs apart (SD 1.25, usually 2), so that the noise of training decides"),
        (2.0, 1.4, "its scores move from model to model (SD 1.4) about as much as between pairs (2)"),
        (2.0, 1.6, "its scores move from model to model by an SD of 1.6, 1.6 times the usual"),
    ],
)
def test_what_sets_a_word_apart_is_half_as_much_again(signal: float, noise: float, because: str) -> None:
    """Others have a signal of 2 and a noise of 1; 1.5 times more or less is notable."""
    tables = np.stack([_table(2.0, 1.0, seed) for seed in range(4)] + [_table(signal, noise, 9)])
    causes = LowReliabilityCauses(icc_stack(tables, "2,1"), ["a", "b", "c", "d", "apart"])
    assert causes.explain("apart", "pairs") == because


def test_whole_models_that_shift_are_told_of() -> None:
    """A shift of the models above the noise comes first, whatever else is odd."""
    shifts = np.array([-3.0, -1.0, 1.0, 3.0])  # mean square 20 / 3 of four models
    tables = np.stack([_table(2.0, 1.0, 0), _table(2.0, 1.0, 1) + shifts])
    shift = np.sqrt(20 / 3 - 1 / 6)
    assert LowReliabilityCauses(icc_stack(tables, "2,1"), ["a", "b"]).explain("b", "pairs") == (
        f"whole models shift its scores (SD {shift:.3g}, against 2 between pairs)"
    )


def _table(signal: float, noise: float, seed: int) -> NDArray[np.float64]:
    """Six pairs × four models with exactly these standard deviations, and no shift of whole models."""
    random = np.random.default_rng(seed)
    rest = random.standard_normal((6, 4))
    rest += rest.mean() - rest.mean(axis=0) - rest.mean(axis=1, keepdims=True)
    pairs = random.standard_normal((6, 1))
    pairs -= pairs.mean()
    wanted = (signal**2 + noise**2 / 4) * 5  # the mean square of rows holds the noise too
    return np.asarray(pairs * np.sqrt(wanted / (pairs**2).sum()) + rest * noise / _error(rest))


def _error(scores: NDArray[np.float64]) -> float:
    """Root of the residual mean square of pairs × models, two-way without interaction."""
    rest = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
    n, k = scores.shape
    return float(np.sqrt((rest**2).sum() / ((n - 1) * (k - 1))))
