"""The words at the ends of a subspace, in one model and over replicates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.analyses.seeds import bias_subspace
from biasgauge.analyses.seeds.subspaces import pair_components
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    import biasgauge as bg
    from biasgauge.analyses.seeds import BiasSubspace

MEN = ["he", "man", "his", "boy", "father", "son"]
WOMEN = ["she", "woman", "her", "girl", "mother", "daughter"]


def test_words_are_ranked_by_their_own_cosine(model: bg.Embedding) -> None:
    found = bias_subspace(model, MEN, WOMEN)
    slow = pair_components(*(np.stack([model[word] for word in words]).astype(np.float64) for words in (MEN, WOMEN)))
    assert slow is not None
    np.testing.assert_allclose(found.vector, slow.axes[0], atol=1e-9)
    assert found.explained == pytest.approx(tuple(slow.shares))
    cosines = model.vectors @ slow.axes[0] / np.linalg.norm(model.vectors, axis=1)
    order = np.argsort(-cosines)
    top, bottom = found.ends(7)
    assert top == tuple(model.words[row] for row in order[:7])
    assert bottom == tuple(model.words[row] for row in order[::-1][:7])
    assert min(cosines[model.index[word]] for word in MEN) > 0 > max(cosines[model.index[word]] for word in WOMEN)
    frame = found.to_frame(7)
    for word, cosine in zip(frame["word"], frame["cosine"], strict=True):
        assert cosine == pytest.approx(cosines[model.index[word]], abs=1e-6)
    assert found.cosine_of(["he", "lost"]) == {"he": pytest.approx(cosines[0], abs=1e-6), "lost": None}


def test_replicates_in_other_axes_come_nearer_to_the_truth_once_they_are_aligned(
    replicates: list[bg.Embedding], truth: bg.Embedding
) -> None:
    expected = bias_subspace(truth, MEN, WOMEN).cosines

    def error(found: BiasSubspace) -> float:
        return float(np.abs(found.cosines - expected).mean())

    singles = [error(bias_subspace(one, MEN, WOMEN)) for one in replicates]
    assert error(bias_subspace(replicates, MEN, WOMEN)) < min(singles)
    # Averaged in axes of their own, vectors and directions say next to nothing.
    assert error(bias_subspace(replicates, MEN, WOMEN, aligned=False)) > 2 * max(singles)


def test_swapping_the_sets_turns_the_direction_round(model: bg.Embedding) -> None:
    kept = bias_subspace(model, MEN, WOMEN)
    swapped = bias_subspace(model, WOMEN, MEN)
    np.testing.assert_allclose(kept.vector, -swapped.vector, atol=1e-9)


def test_second_component_shuffled_and_random(model: bg.Embedding) -> None:
    slow = pair_components(*(np.stack([model[word] for word in words]).astype(np.float64) for words in (MEN, WOMEN)))
    assert slow is not None
    np.testing.assert_allclose(bias_subspace(model, MEN, WOMEN, component=2).vector, slow.axes[1], atol=1e-8)
    shuffled = bias_subspace(model, MEN, WOMEN, order="shuffled", random_state=1)
    assert shuffled.explained[0] < slow.shares[0]
    again = bias_subspace(model, MEN, WOMEN, order="shuffled", random_state=1)
    assert again.vector.tolist() == shuffled.vector.tolist()
    random = bias_subspace(model, MEN, WOMEN, order="random")
    assert random.explained[0] < shuffled.explained[0]


def test_the_mean_difference_does_not_care_for_order(model: bg.Embedding) -> None:
    one = bias_subspace(model, MEN, WOMEN, method="mean-difference")
    other = bias_subspace(model, MEN, WOMEN[::-1], method="mean-difference")
    np.testing.assert_allclose(one.vector, other.vector, atol=1e-12)
    assert one.explained == ()
    json.dumps(one.to_dict(), allow_nan=False)
    assert "he" in one._repr_html_()


@pytest.mark.parametrize(
    ("a", "b", "settings", "sentence"),
    [
        (["lost"], WOMEN, {}, "There is no subspace: no seed of a was found"),
        (MEN, MEN, {}, "no pair by position has two different words"),
        (MEN, MEN, {"method": "mean-difference"}, "the two sets have one mean"),
        (MEN, WOMEN, {"component": 7}, "must be a number from 1 to 6. Got 7"),
        (MEN, WOMEN, {"order": "sorted"}, "must be one of as-is, shuffled, random. Got 'sorted'"),
        (MEN, WOMEN, {"method": "lda"}, "must be one of mean-difference, pca"),
    ],
)
def test_bad_input(model: bg.Embedding, a: list[str], b: list[str], settings: dict[str, str], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        bias_subspace(model, a, b, **settings)  # type: ignore[arg-type]
