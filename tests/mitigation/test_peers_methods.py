"""Half-sibling regression, double-hard and RAN against slow references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge

from biasgauge.errors import ParameterError
from biasgauge.lexicons import lexicon
from biasgauge.mitigation import mitigate
from biasgauge.mitigation.methods.projection import DoubleHard, HardDebias, alignment, two_means
from biasgauge.mitigation.methods.ran import Ran, Weights, cost_gradients, indirect_bias, repel_words
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

torch = pytest.importorskip("torch")


def unit(vectors: ArrayLike) -> NDArray[np.float64]:
    wide = np.asarray(vectors, np.float64)
    scaled: NDArray[np.float64] = wide / np.linalg.norm(wide, axis=-1, keepdims=True)
    return scaled


@pytest.mark.parametrize("alpha", [1.0, 60.0])
def test_half_sibling_against_an_explicit_ridge_regression(embedding: Embedding, alpha: float) -> None:
    specific = [word for word in lexicon("gender_specific").words if word in embedding]
    neutral = [word for word in embedding.words if word not in set(specific)]
    predictors = np.array([embedding[word] for word in specific]).T  # one row a dimension, one column a word
    wanted = np.array([embedding[word] for word in neutral]).T
    predicted = Ridge(alpha=alpha, fit_intercept=False).fit(predictors, wanted).predict(predictors)
    for direction, sign in (("debias", -1), ("overbias", 1)):
        found = mitigate(embedding, "half_sibling", alpha=alpha, direction=direction)
        np.testing.assert_allclose(
            unit([found[word] for word in neutral]), unit((wanted + sign * predicted).T), atol=1e-9
        )
        for word in ("he", "queen"):
            np.testing.assert_array_equal(found[word], embedding[word])


def test_half_sibling_says_what_it_lacks(embedding: Embedding) -> None:
    with pytest.raises(ParameterError, match="None of the words"):
        mitigate(embedding, "half_sibling", lexicon=["xyzzy"])
    with pytest.raises(ParameterError, match="'alpha'"):
        mitigate(embedding, "half_sibling", alpha=0)


@pytest.mark.parametrize("seed", range(4))
def test_two_means_is_as_good_as_another_library(seed: int) -> None:
    random = np.random.default_rng(seed)
    points = np.concatenate([random.standard_normal((60, 6)), random.standard_normal((40, 6)) + seed * np.eye(6)[0]])
    labels = two_means(points, seed)
    spread = sum(((part - part.mean(axis=0)) ** 2).sum() for part in (points[labels], points[~labels]))
    best = KMeans(2, n_init=20, random_state=0).fit(points).inertia_
    assert spread <= best * 1.02
    np.testing.assert_array_equal(labels, two_means(points, seed))


def test_alignment_names_clusters_as_fits_best() -> None:
    labels = np.array([True, True, False, False])
    assert alignment(labels, ~labels) == 1.0
    assert alignment(labels, np.array([True, False, True, False])) == 0.5
    assert alignment(np.array([True] * 4), np.array([True, True, True, False])) == 0.75


def test_two_means_of_points_that_are_all_the_same() -> None:
    assert len(set(two_means(np.ones((5, 3)), 0).tolist())) == 1


def slow_double_hard(embedding: Embedding, component: int) -> NDArray[np.float64]:
    """The second half of algorithm 1 in plain steps, for a component that is already chosen."""
    vectors = np.asarray(embedding.vectors, np.float64)
    pca = PCA().fit(vectors)
    axis = pca.components_[component]
    cleaned = vectors - vectors.mean(axis=0)
    cleaned = np.array([vector - (vector @ axis) * axis for vector in cleaned])
    hard = HardDebias(norms="unit")
    return np.asarray(hard.fit_transform(Embedding(embedding.words, cleaned)).vectors)


def test_double_hard_against_plain_steps(embedding: Embedding) -> None:
    method = DoubleHard(biased_words=40, norms="unit").fit(embedding)
    assert method.component_ is not None
    found = method.transform(embedding).vectors
    np.testing.assert_allclose(found, slow_double_hard(embedding, method.component_), atol=1e-9)
    assert method.component_ == int(np.argmin(method.alignments_))
    assert len(method.alignments_) == 20


def test_double_hard_chooses_as_another_library_would(embedding: Embedding) -> None:
    """Each candidate's clusters by scikit-learn: ours has the least alignment but for what k-means leaves open."""
    method = DoubleHard(biased_words=40, candidates=8).fit(embedding)
    assert method.component_ is not None
    hard = HardDebias().fit(embedding)
    spared = {*lexicon("gender_specific").words, *lexicon("bolukbasi2016").words}
    for word in lexicon("equalize").words:
        spared |= {word, word.lower(), word.title(), word.upper()}
    neutral = [word for word in embedding.words if word not in spared]
    along = {word: float(unit(embedding[word]) @ hard.subspace_.basis[0]) for word in neutral}
    order = sorted(neutral, key=lambda word: along[word])
    chosen = order[:40] + order[-40:]
    vectors = np.asarray(embedding.vectors, np.float64)
    mean = vectors.mean(axis=0)
    scores = []
    for axis in PCA().fit(vectors).components_[:8]:
        cleaned = vectors - mean
        cleaned = cleaned - np.outer(cleaned @ axis, axis)
        one = Embedding(embedding.words, cleaned)
        subspace = HardDebias().fit(one).subspace_
        assert subspace is not None
        points = np.array([one[word] for word in chosen])
        points = points - subspace.project(points)
        labels = KMeans(2, n_init=20, random_state=0).fit(points).labels_.astype(bool)
        scores.append(alignment(labels, np.arange(80) >= 40))
    np.testing.assert_allclose(method.alignments_, scores, atol=0.05)


def test_double_hard_removes_a_planted_frequency(embedding: Embedding) -> None:
    random = np.random.default_rng(5)
    frequency = np.linalg.qr(random.standard_normal((embedding.dim, 1)))[0][:, 0]
    vectors = embedding.vectors + np.outer(random.choice([-9.0, 9.0], len(embedding)), frequency)
    method = DoubleHard(biased_words=40, candidates=1).fit(Embedding(embedding.words, vectors))
    found = method.transform(Embedding(embedding.words, vectors))
    shares = np.abs(unit(found.vectors) @ frequency)
    assert float(np.median(shares)) < 0.05 < float(np.median(np.abs(unit(vectors) @ frequency)))


def test_indirect_bias_is_that_of_the_measure(embedding: Embedding) -> None:
    from biasgauge.scores import indirect_bias as measured

    method = Ran().fit(embedding)
    words = ["math", "poetry", "other3"]
    near = ["dance", "other1", "equations", "drama"]
    found = indirect_bias(
        unit([embedding[word] for word in words]).astype(np.float32),
        np.tile(unit([embedding[word] for word in near]), (3, 1, 1)).astype(np.float32),
        method.subspace_.basis[0].astype(np.float32),
    )
    pairs = [pair for pair in lexicon("bolukbasi2016").pairs if set(pair) <= set(embedding.words)]  # type: ignore[attr-defined]
    for row, word in enumerate(words):
        for column, other in enumerate(near):
            expected = measured(embedding, word, other, pairs=pairs)
            assert expected is not None
            assert found[row, column] == pytest.approx(expected, rel=2e-3, abs=2e-3)


def ran_cost(current: Any, word: Any, near: Any, direction: Any, weights: Weights) -> Any:  # noqa: ANN401 - tensors
    def cosine(a: Any, b: Any) -> Any:  # noqa: ANN401 - tensors
        return (a @ b) / (a.norm() * b.norm())

    repulsion = sum((cosine(current, one).abs() for one in near), torch.zeros(())) / max(len(near), 1)
    return (
        weights.repulsion * repulsion
        + weights.attraction * (cosine(current, word) - 1).abs() / 2
        + weights.neutralization * cosine(current, direction).abs()
    )


def test_slopes_of_ran_against_automatic_differentiation() -> None:
    random = np.random.default_rng(0)
    words = unit(random.standard_normal((5, 9))).astype(np.float32)
    near = unit(random.standard_normal((5, 6, 9))).astype(np.float32)
    direction = unit(random.standard_normal(9)).astype(np.float32)
    current = words + random.standard_normal(words.shape).astype(np.float32) * 0.3
    kept = np.array([[1, 1, 1, 0, 0, 0]] * 4 + [[0] * 6], np.float32)
    repelled = kept / np.maximum(kept.sum(axis=1, keepdims=True), 1)
    weights = Weights(0.3, 0.5, 0.2)
    found = cost_gradients(current, words, near, repelled, direction, weights)
    for row in range(5):
        vector = torch.tensor(current[row], requires_grad=True)
        chosen = [torch.tensor(near[row, place]) for place in np.flatnonzero(kept[row])]
        ran_cost(vector, torch.tensor(words[row]), chosen, torch.tensor(direction), weights).backward()
        np.testing.assert_allclose(found[row], vector.grad.numpy(), atol=1e-6)


def test_ran_against_one_word_at_a_time_with_another_adam(embedding: Embedding) -> None:
    words = ["math", "poetry", "other3", "executive"]
    settings: dict[str, Any] = {"neighbors": 8, "epochs": 25, "threshold": 0.05}
    weights = Weights(0.125, 0.75, 0.125)
    found = mitigate(embedding, "ran", words=words, weights=weights, norms="unit", **settings)
    method = Ran().fit(embedding)
    direction = method.subspace_.basis[0]
    units = unit(embedding.vectors)
    for word in words:
        own = embedding.index[word]
        similar = units @ units[own]
        similar[own] = -2
        near = np.argsort(-similar)[:8]
        across = [units[own] - (units[own] @ direction) * direction]
        chosen = []
        for row in near:
            other = units[row] - (units[row] @ direction) * direction
            beta = 1 - unit(across)[0] @ unit([other])[0] / float(units[own] @ units[row])
            if beta > 0.05:
                chosen.append(torch.tensor(units[row]))
        vector = torch.tensor(units[own].copy(), requires_grad=True)
        adam = torch.optim.Adam([vector], lr=0.01)
        for _ in range(25):
            adam.zero_grad()
            ran_cost(vector, torch.tensor(units[own]), chosen, torch.tensor(direction), weights).backward()
            adam.step()
        np.testing.assert_allclose(found[word], unit(vector.detach().numpy()), atol=5e-3)
    assert {word for word in embedding.words if not np.allclose(found[word], unit(embedding[word]))} == set(words)


def test_repulsed_words_keep_away_from_what_repels_them() -> None:
    random = np.random.default_rng(2)
    direction = np.eye(10, dtype=np.float32)[0]
    words = unit(random.standard_normal((3, 10)) * 0.2 + direction).astype(np.float32)
    near = unit(random.standard_normal((3, 4, 10)) * 0.2 + direction).astype(np.float32)
    new = repel_words(words, near, direction, Weights(1, 0, 0), threshold=0.05, epochs=200, learning_rate=0.01)
    before, after = (np.abs(np.einsum("wd,wnd->wn", one, near)).mean() for one in (words, new))
    assert after < 0.5 * before
    with pytest.raises(ParameterError, match="three numbers"):
        Ran(weights=(1.0, -1.0, 0.0)).fit(Embedding(("he", "she", "a"), np.eye(3)))
