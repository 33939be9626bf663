"""Why a word is not to be trusted, where most words do not move at all from model to model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from biasgauge.agreement.distributions import Spreads
from biasgauge.stats.intraclass import icc_stack

if TYPE_CHECKING:
    from numpy.typing import NDArray


def test_a_word_that_moves_among_words_that_do_not() -> None:
    random = np.random.default_rng(1)
    still = np.repeat(random.standard_normal((3, 6, 1)), 4, axis=2)  # words × pairs × models
    moving = random.standard_normal((1, 6, 4))
    about = Spreads(icc_stack(np.concatenate([still, moving]), "2,1"), ["a", "b", "c", "moving"])
    error = _error(moving[0])
    assert about.because("moving", "pairs") == (
        f"its scores move from model to model by an SD of {error:.3g}, while the usual ones do not move"
    )


def _error(scores: NDArray[np.float64]) -> float:
    """Root of the residual mean square of pairs × models, two-way without interaction."""
    rest = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
    n, k = scores.shape
    return float(np.sqrt((rest**2).sum() / ((n - 1) * (k - 1))))
