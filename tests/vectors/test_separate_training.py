"""Whether one model was made from the other: on models made by formulas, and on those that ship."""

from __future__ import annotations

import numpy as np
import pytest

from biasgauge.mitigation import mitigation_method
from biasgauge.vectors import Embedding, align, load_default, load_default_replicates
from biasgauge.vectors.alignment import separately_trained

RANDOM = np.random.default_rng(0)
WORDS = tuple(f"word{row}" for row in range(600))
MEANING = RANDOM.standard_normal((600, 20))
BEFORE = Embedding(WORDS, MEANING)


def model(vectors: np.ndarray, words: tuple[str, ...] = WORDS) -> Embedding:
    return Embedding(words, vectors)


def test_a_rotation_a_projection_and_a_few_changed_words_are_changes_of_one_model() -> None:
    turned = np.linalg.qr(RANDOM.standard_normal((20, 20)))[0]
    assert not separately_trained(BEFORE, model(MEANING @ turned))
    direction = turned[0]
    assert not separately_trained(BEFORE, model(MEANING - np.outer(MEANING @ direction, direction)))
    few = MEANING.copy()
    few[:200] = RANDOM.standard_normal((200, 20))
    assert not separately_trained(BEFORE, model(few))
    few[:350] = RANDOM.standard_normal((350, 20))
    assert separately_trained(BEFORE, model(few))


@pytest.mark.parametrize(("noise", "separate"), [(0.05, False), (0.4, True), (5.0, True)])
def test_training_noise_is_what_a_linear_map_cannot_predict(noise: float, separate: bool) -> None:  # noqa: FBT001
    """A cosine of about 1 / sqrt(1 + noise²) is left: .999, .93 and .2, in other axes or in the same."""
    retrained = MEANING + noise * RANDOM.standard_normal(MEANING.shape)
    assert separately_trained(BEFORE, model(retrained)) == separate
    assert separately_trained(BEFORE, model(retrained @ np.linalg.qr(RANDOM.standard_normal((20, 20)))[0])) == separate


def test_other_dimensions_other_words_zero_vectors_and_few_words() -> None:
    assert separately_trained(BEFORE, model(RANDOM.standard_normal((600, 30))))
    assert separately_trained(BEFORE, model(MEANING, tuple(f"other{row}" for row in range(600))))
    zeros = MEANING.copy()
    zeros[::3] = 0
    assert not separately_trained(BEFORE, model(zeros))
    few = BEFORE.subset(WORDS[:40])
    assert not separately_trained(few, model(MEANING + 0.1 * RANDOM.standard_normal(MEANING.shape)))
    assert separately_trained(few, model(RANDOM.standard_normal((600, 20))))


def test_shipped_replicates_are_separate_also_when_aligned_and_debiased_vectors_are_not() -> None:
    first, second = load_default_replicates()[:2]
    assert separately_trained(first, second)
    assert separately_trained(first, align(second, first).apply(second))
    vectors = load_default(limit=20_000)
    for name in ("hard", "half_sibling"):
        assert not separately_trained(vectors, mitigation_method(name).fit(vectors).transform(vectors))
