"""The map of soft debiasing where words leave dimensions unused; its optimality is held in test_multiclass.py."""

from __future__ import annotations

import numpy as np
import pytest

from biasgauge.mitigation.methods.linear_map import soft_map


@pytest.mark.parametrize("weight", [0.0, 0.2, 10.0])
def test_dimensions_that_no_word_uses_are_left_as_they_are(weight: float) -> None:
    """In a turned space: what is orthogonal to all words keeps its vectors, and words stay among themselves."""
    random = np.random.default_rng(4)
    turned = np.linalg.qr(random.standard_normal((6, 6)))[0]
    used, unused = turned[:4], turned[4:]
    words = random.standard_normal((30, 4)) * [2, 1.5, 1, 0.7] @ used
    basis = (random.standard_normal((1, 4)) @ used) / 2
    found = soft_map(words.T @ words, words[:20].T @ words[:20], basis, weight)
    np.testing.assert_allclose(unused @ found, unused, atol=1e-7)
    np.testing.assert_allclose(words @ found @ unused.T, 0, atol=1e-7)
    if weight == 0:
        np.testing.assert_allclose(found, np.eye(6), atol=1e-6)
    else:
        assert np.abs(words[:20] @ found @ found @ basis.T).sum() < np.abs(words[:20] @ basis.T).sum()
