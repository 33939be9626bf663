"""Hard debiasing against the definitions and a slow reference."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.decomposition import PCA

from biasgauge.errors import ParameterError
from biasgauge.lexicons import lexicon
from biasgauge.mitigation import mitigate, mitigation_method
from biasgauge.mitigation.methods.projection import HardDebias
from biasgauge.mitigation.subspace import case_variants, merge_overlapping
from biasgauge.scores import weat
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def unit(vectors: ArrayLike) -> NDArray[np.float64]:
    wide = np.asarray(vectors, np.float64)
    scaled: NDArray[np.float64] = wide / np.linalg.norm(wide, axis=-1, keepdims=True)
    return scaled


def forms(word: str) -> list[str]:
    return [word, word.lower(), word.title(), word.upper()]


def specific(embedding: Embedding) -> set[str]:
    """Words that keep their gender, by the definition."""
    words = {*lexicon("gender_specific").words, *lexicon("bolukbasi2016").words}
    return words | {form for word in lexicon("equalize").words for form in forms(word) if form in embedding}


def slowly(embedding: Embedding) -> dict[str, NDArray[np.float64]]:
    """Bolukbasi's two steps in plain loops, on vectors of length 1."""
    vectors = {word: unit(embedding[word]) for word in embedding.words}
    halves = []
    for first, second in lexicon("bolukbasi2016").pairs:  # type: ignore[attr-defined]  # a lexicon of pairs
        if first in vectors and second in vectors:
            middle = (vectors[first] + vectors[second]) / 2
            halves += [vectors[first] - middle, vectors[second] - middle]
    g = PCA(n_components=1).fit(np.array(halves)).components_[0]
    spared = specific(embedding)
    for word, vector in list(vectors.items()):
        if word not in spared:
            rest = vector - (vector @ g) * g
            vectors[word] = rest / np.sqrt(rest @ rest)
    for first, second in lexicon("equalize").pairs:  # type: ignore[attr-defined]  # a lexicon of pairs
        for a, b in zip(forms(first), forms(second), strict=True):
            if a in vectors and b in vectors:
                mean = (vectors[a] + vectors[b]) / 2
                outside = mean - (mean @ g) * g
                size = np.sqrt(1 - outside @ outside)
                sign = 1 if (vectors[a] - vectors[b]) @ g > 0 else -1
                vectors[a], vectors[b] = outside + sign * size * g, outside - sign * size * g
    return vectors


def test_against_the_slow_reference(embedding: Embedding) -> None:
    found = mitigate(embedding, "hard", norms="unit")
    expected = slowly(embedding)
    np.testing.assert_allclose(found.vectors, [expected[word] for word in embedding.words], atol=1e-10)


def test_neutral_words_are_at_right_angles_and_pairs_equidistant(embedding: Embedding) -> None:
    method = HardDebias().fit(embedding)
    found = method.transform(embedding)
    spared = specific(embedding)
    neutral = unit([found[word] for word in embedding.words if word not in spared])
    assert len(neutral) > 300
    np.testing.assert_allclose(neutral @ method.subspace_.basis.T, 0, atol=1e-12)
    for first, second in (("he", "she"), ("king", "queen"), ("grandson", "granddaughter")):
        ends = unit([found[first], found[second]])
        np.testing.assert_allclose(neutral @ ends[0], neutral @ ends[1], atol=1e-12)
        before = unit([embedding[first], embedding[second]])
        assert np.abs(unit([embedding["other1"]]) @ (before[0] - before[1])) > 1e-3


def test_it_finds_the_planted_direction_and_points_to_the_first_ends(world: Any) -> None:  # noqa: ANN401 - a fixture
    method = HardDebias().fit(world.embedding)
    assert method.subspace_.basis[0] @ world.gender > 0.95
    assert method.subspace_.explained[0] > 0.5


def test_words_that_carry_gender_by_meaning_stay(embedding: Embedding) -> None:
    found = mitigate(embedding, "hard", equalize=None)
    for word in ("he", "queen", "Mary"):
        np.testing.assert_array_equal(found[word], embedding[word])
    told = mitigate(embedding, "hard", equalize=None, specific=["other1"])
    np.testing.assert_array_equal(told["other1"], embedding["other1"])
    assert not np.array_equal(found["other1"], embedding["other1"])


@pytest.mark.parametrize("strength", [0.25, 1.0, 3.0])
def test_overbias_scales_the_part_along_the_direction(embedding: Embedding, strength: float) -> None:
    method = HardDebias(direction="overbias", strength=strength).fit(embedding)
    found = method.transform(embedding)
    g = method.subspace_.basis[0]
    for word in ("math", "poetry", "other1"):
        old = np.asarray(embedding[word], np.float64)
        wanted = old + strength * (old @ g) * g
        np.testing.assert_allclose(unit(found[word]), unit(wanted), atol=1e-12)
    for word in ("he", "queen"):
        np.testing.assert_array_equal(found[word], embedding[word])


@pytest.mark.parametrize("test", ["weat6b", "weat7"])
def test_weat_follows_strength_both_ways(embedding: Embedding, test: str) -> None:
    steps = [("debias", 1.0), ("debias", 0.75), ("debias", 0.5), ("debias", 0.25), ("debias", 0.0)]
    steps += [("overbias", 0.5), ("overbias", 1.0), ("overbias", 2.0)]
    sizes = [
        weat(mitigate(embedding, "hard", direction=way, strength=much), test, interval=None).statistic
        for way, much in steps
    ]
    assert all(low < high for low, high in pairwise(sizes))
    assert sizes[0] is not None
    assert sizes[4] is not None
    assert abs(sizes[0]) < 0.1 * sizes[4]


def test_pairs_of_the_user_are_equalized_and_nothing_else_spared(embedding: Embedding) -> None:
    pairs = [("other1", "other2"), ("other3", "other4")]
    method = HardDebias(lexicon=pairs).fit(embedding)
    found = method.transform(embedding)
    assert abs(unit(found["he"]) @ method.subspace_.basis[0]) < 1e-12
    ends = unit([found["other1"], found["other2"]])
    assert ends[0] @ unit(found["he"]) == pytest.approx(ends[1] @ unit(found["he"]), abs=1e-12)


def test_pairs_with_a_shared_word_are_equalized_as_one(embedding: Embedding) -> None:
    pairs = [("he", "she"), ("he", "woman"), ("king", "queen")]
    found = mitigate(embedding, "hard", lexicon=pairs)
    ends = unit([found[word] for word in ("he", "she", "woman")])
    np.testing.assert_allclose(ends @ unit(found["other5"]), ends[0] @ unit(found["other5"]), atol=1e-12)


def test_sets_that_share_a_member_are_merged_and_pairs_found_in_every_case() -> None:
    assert merge_overlapping([[1, 2], [3, 4], [5, 6], [2, 3]]) == [[5, 6], [1, 2, 3, 4]]
    assert case_variants([("He", "She"), ("he", "she")]) == [("He", "She"), ("he", "she"), ("HE", "SHE")]


def test_lost_pairs_are_listed_and_none_is_an_error(embedding: Embedding) -> None:
    method = mitigation_method("hard", lexicon=[("he", "she"), ("sir", "xyzzy")]).fit(embedding)
    assert method.coverage_ is not None
    assert set(method.coverage_.sets["pairs"].lost) == {"sir", "xyzzy"} - set(embedding.words)
    assert "xyzzy" in method.coverage_.lost["equality pairs"]
    with pytest.raises(ParameterError, match="planted"):
        mitigate(embedding, "hard", lexicon=[("he", "xyzzy")])
    with pytest.raises(ParameterError, match="differ in 1 directions"):
        mitigate(embedding, "hard", lexicon=[("he", "she")], components=2)


def test_a_word_of_which_nothing_is_left_is_zero_and_named() -> None:
    vectors = np.array([[1.0, 1, 0], [-1, 1, 0], [2, 0, 0], [1, 0, 5]])
    method = HardDebias(lexicon=[("he", "she")])
    found = method.fit_transform(Embedding(("he", "she", "beard", "tree"), vectors))
    assert method.emptied_ == ("beard",)
    assert not found["beard"].any()
    np.testing.assert_allclose(found["tree"], [0, 0, np.sqrt(26)])


def test_a_pair_that_does_not_differ_along_the_direction_is_left_alone() -> None:
    vectors = np.array([[1.0, 1, 0], [-1, 1, 0], [0, 1, 1], [0, 1, 2]])
    found = mitigate(
        Embedding(("he", "she", "sun", "moon"), vectors), "hard", lexicon=[("he", "she")], equalize=[("sun", "moon")]
    )
    np.testing.assert_array_equal(found["sun"], vectors[2])
