"""Multiclass debiasing, hard and soft: the released behavior in plain loops, the corrected one by its definition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.decomposition import PCA

from biasgauge.analyses.posterior import distances
from biasgauge.errors import ParameterError
from biasgauge.lexicons import Stereotypes, lexicon
from biasgauge.mitigation import MulticlassHard, MulticlassSoft, mitigate
from biasgauge.mitigation.methods.linear_map import published_map, root, soft_map
from biasgauge.vectors import Embedding, load_default

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

torch = pytest.importorskip("torch")


def stereotypes(name: str) -> Stereotypes:
    found = lexicon(name)
    assert isinstance(found, Stereotypes)
    return found


def unit(vectors: ArrayLike) -> NDArray[np.float64]:
    wide = np.asarray(vectors, np.float64)
    scaled: NDArray[np.float64] = wide / np.linalg.norm(wide, axis=-1, keepdims=True)
    return scaled


def released_subspace(vocabulary: dict[str, Any], sets: tuple[tuple[str, ...], ...], components: int) -> Any:  # noqa: ANN401
    rows = []
    for one in sets:
        found = np.array([vocabulary[word] for word in one if word in vocabulary])
        rows += list(found - found.mean(axis=0))
    return PCA(n_components=components).fit(np.array(rows)).components_


def released_hard(embedding: Embedding, named: Stereotypes, components: int) -> dict[str, Any]:
    """What the released code does to a dictionary of vectors, word after word."""
    old = {word: np.asarray(embedding[word], np.float64) for word in embedding.words}
    basis = released_subspace(old, named.defining_sets, components)

    def inside(vector: Any) -> Any:  # noqa: ANN401 - a vector
        part = np.zeros_like(vector)
        for axis in basis:
            part += (vector @ axis) * axis
        return part

    new = dict(old)
    for group in named.groups:
        for word in group.attributes:
            if word in old:
                rest = old[word] - inside(old[word])
                new[word] = rest / np.linalg.norm(rest)
    new = {word: vector / np.linalg.norm(vector) for word, vector in new.items()}
    for one in named.defining_sets:
        words = [word for word in one if word in new]
        mean = sum(new[word] for word in words) / len(words)
        outside = mean - inside(mean)
        for word in words:
            apart = inside(new[word]) - inside(mean)
            new[word] = outside + np.sqrt(1 - (outside**2).sum()) * apart / np.linalg.norm(apart)
    return new


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("name", ["religion", "race"])
def test_hard_as_published_against_the_released_steps(name: str, components: int) -> None:
    named = stereotypes(name)
    vectors = load_default().subset([*named.words, *lexicon("neutral").words])
    wide = Embedding(vectors.words, vectors.vectors.astype(np.float64))
    found = mitigate(wide, "multiclass_hard", lexicon=name, components=components, as_published=True)
    expected = released_hard(wide, named, components)
    np.testing.assert_allclose(found.vectors, [expected[word] for word in wide.words], atol=1e-9)


def test_hard_as_published_leaves_most_neutral_words_and_ours_does_not(embedding: Embedding) -> None:
    published = MulticlassHard(as_published=True, components=2).fit(embedding)
    for name, method in (("published", published), ("ours", MulticlassHard().fit(embedding))):
        found = method.transform(embedding)
        along = np.abs(unit([found["other1"], found["greedy"]]) @ method.subspace_.basis.T).max(axis=1)
        assert along[1] < 1e-9
        assert (along[0] > 1e-3) == (name == "published")


def test_classes_become_equidistant_from_neutral_words(embedding: Embedding) -> None:
    found = mitigate(embedding, "multiclass_hard")
    neutral = unit([found[word] for word in ("greedy", "violent", "he", "other4")])
    for one in stereotypes("religion").defining_sets:
        near = unit([found[word] for word in one]) @ neutral.T
        np.testing.assert_allclose(near, np.tile(near[0], (3, 1)), atol=1e-12)


def test_it_finds_the_planted_plane() -> None:
    """Sets that differ in nothing but their class, all vectors of one length: the plane is found exactly."""
    random = np.random.default_rng(0)
    axes = np.linalg.qr(random.standard_normal((12, 12)))[0]
    ends = np.array([[1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]]) @ axes[:2]
    middles = random.standard_normal((5, 10)) @ axes[2:]
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    sets = stereotypes("religion").defining_sets
    vectors = np.concatenate([middle + ends for middle in middles])
    method = MulticlassHard().fit(Embedding(tuple(word for one in sets for word in one), vectors))
    assert method.subspace_.basis.shape == (2, 12)
    np.testing.assert_allclose(np.linalg.svd(method.subspace_.basis @ axes[:2].T, compute_uv=False), 1, atol=1e-12)
    np.testing.assert_allclose(method.subspace_.explained[:2], [0.5, 0.5])


def test_sets_that_share_words_stay_equidistant_only_when_corrected() -> None:
    named = stereotypes("race")
    vectors = load_default()
    spread = {}
    for published in (False, True):
        found = mitigate(vectors, "multiclass_hard", lexicon="race", components=2, as_published=published)
        neutral = unit([found[word] for group in named.groups for word in group.attributes if word in found])
        gaps = [
            np.ptp(unit([found[word] for word in one if word in found]) @ neutral.T, axis=0).max()
            for one in named.defining_sets
        ]
        spread[published] = max(gaps)
    assert spread[False] < 1e-5
    assert spread[True] > 0.01


def test_pairs_hide_the_stereotype_from_distances_as_in_the_published_data() -> None:
    """In `debiased_gender_reddit.csv` associated and different have the same mean: equalize_set pairs are equidistant.

    Gender has one word of either class in each pair, so the means over all pairs agree on any vectors.
    """
    debiased = mitigate(load_default(), "multiclass_hard", lexicon="gender", as_published=True)
    table = distances(debiased, "gender").to_frame()
    pairs = {word: number for number, one in enumerate(stereotypes("gender").defining_sets) for word in one}
    attributes = table[table.connection.isin(["associated", "different"])]
    means = attributes.groupby([attributes.protected_word.map(pairs), "word_to_compare"]).cosine_distance.agg(np.ptp)
    assert means.max() < 1e-5
    before = distances(load_default(), "gender").to_frame()
    before = before[before.connection.isin(["associated", "different"])]
    gaps = before.groupby([before.protected_word.map(pairs), "word_to_compare"]).cosine_distance.agg(np.ptp)
    assert gaps.max() > 0.1


@pytest.mark.parametrize("components", [1, 2])
def test_soft_as_published_against_automatic_differentiation(components: int) -> None:
    random = np.random.default_rng(0)
    words, neutral = random.standard_normal((60, 8)) * 3, random.standard_normal((9, 8)) * 3
    basis = np.linalg.qr(random.standard_normal((8, components)))[0].T
    start = random.standard_normal((8, 8))
    laid_out = basis.reshape(8, -1)
    found = published_map(words.T @ words, neutral.T @ neutral, laid_out, 0.2, start)
    u, s, _ = torch.svd(torch.tensor(words.T))
    first, second = torch.diag(s) @ u.T, u @ torch.diag(s)
    transform = torch.tensor(start.copy(), requires_grad=True)
    descent = torch.optim.SGD([transform], lr=1e-6)
    for _ in range(10):
        middle = transform.T @ transform
        change = first @ (middle - torch.eye(8, dtype=torch.float64)) @ second
        loss = change.norm() + 0.2 * (torch.tensor(neutral) @ middle @ torch.tensor(laid_out)).norm()
        descent.zero_grad()
        loss.backward()
        descent.step()
    np.testing.assert_allclose(found, transform.detach().numpy(), atol=1e-12)
    assert np.abs(found - start).max() > 1e-5


def test_soft_as_published_is_the_random_map_it_began_with(embedding: Embedding) -> None:
    """Ten steps of 1e-6 change it by little: two seeds give unrelated vectors, the same seed the same ones."""
    one, other = (mitigate(embedding, "multiclass_soft", as_published=True, random_state=seed) for seed in (0, 1))
    cosines = np.einsum("ij,ij->i", one.vectors, other.vectors)
    assert abs(float(cosines.mean())) < 0.2
    start = np.random.default_rng(0).standard_normal((embedding.dim, embedding.dim))
    mapped = unit(embedding.vectors @ start.T)
    assert float(np.einsum("ij,ij->i", one.vectors, mapped).min()) > 0.999


@pytest.mark.parametrize("name", ["religion", "gender"])
def test_the_published_objective_is_least_where_nothing_changes(name: str) -> None:
    """At its optimum, published soft debiasing would do nothing: the first norm has a kink there.

    In X = S UᵀMU S the first norm is the plain distance from S², which grows by 1 a unit in every direction; the
    second, times its weight, falls by less than that, so M = I is the minimum of the convex problem.
    """
    vectors = load_default()
    method = MulticlassSoft(lexicon=name, as_published=True).fit(vectors)
    wide = vectors.vectors.astype(np.float64)
    attributes = [word for group in stereotypes(name).groups for word in group.attributes]
    neutral = wide[vectors.lookup(attributes).rows]
    squares, axes = np.linalg.eigh(wide.T @ wide)
    back = axes / np.sqrt(squares)
    far = neutral @ method.subspace_.basis.T
    pull = back.T @ neutral.T @ far @ method.subspace_.basis @ back / np.linalg.norm(far)
    steepest = float(np.linalg.norm((pull + pull.T) / 2))
    assert 0.2 * steepest < 0.01
    random = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 0.3):
        for _ in range(20):
            change = random.standard_normal((vectors.dim, vectors.dim)) * size
            middle = np.eye(vectors.dim) + change + change.T
            first = np.linalg.norm(np.sqrt(squares)[:, None] * (axes.T @ (change + change.T) @ axes) * np.sqrt(squares))
            second = np.linalg.norm(neutral @ middle @ method.subspace_.basis.T)
            assert first + 0.2 * second > 0.2 * np.linalg.norm(far)


def soft_objective(t: NDArray[np.float64], words: Any, neutral: Any, basis: Any, weight: float) -> float:  # noqa: ANN401
    middle = t.T @ t
    first = words @ (middle - np.eye(len(middle))) @ words.T
    second = neutral @ middle @ basis.T
    return float((first**2).sum() + weight * (second**2).sum())


@pytest.mark.parametrize("weight", [0.0, 1.0, 300.0, 1e5])
@pytest.mark.parametrize("seed", [0, 1])
def test_soft_reaches_the_optimum(seed: int, weight: float) -> None:
    """No descent on T itself, from the identity or from chance, finds anything better."""
    random = np.random.default_rng(seed)
    size = 4
    words = random.standard_normal((40, size)) * [2, 1.5, 1, 0.7]
    neutral, basis = words[:30], np.linalg.qr(random.standard_normal((size, 1)))[0].T
    found = soft_map(words.T @ words, neutral.T @ neutral, basis, weight)
    np.testing.assert_allclose(found, found.T, atol=1e-12)
    assert np.linalg.eigvalsh(found)[0] > -1e-9
    ours = soft_objective(found, words, neutral, basis, weight)
    for start in (np.eye(size), random.standard_normal((size, size))):
        best: Any = minimize(  # type: ignore[call-overload]  # its types do not know BFGS's options
            lambda flat: soft_objective(flat.reshape(size, size), words, neutral, basis, weight),
            start.ravel(),
            method="BFGS",
            options={"gtol": 1e-9},
        )
        assert ours <= best.fun * (1 + 1e-6) + 1e-6
        assert ours >= best.fun * (1 - 1e-3) - 1e-6
    if weight == 0:
        np.testing.assert_allclose(found, np.eye(size), atol=1e-6)


@pytest.mark.parametrize("seed", [0, 2])
def test_soft_where_the_free_optimum_is_no_map(seed: int) -> None:
    """With words that hardly use a dimension, the free M has a negative eigenvalue; the best T is another one."""
    random = np.random.default_rng(seed)
    words = random.standard_normal((40, 4)) * [10, 3, 1, 0.1]
    neutral, basis = words[:30], np.linalg.qr(random.standard_normal((4, 1)))[0].T
    gram, near, inside = words.T @ words, neutral.T @ neutral, basis.T @ basis
    system = 2 * np.kron(gram, gram) + np.kron(inside, near) + np.kron(near, inside)
    free = np.linalg.solve(system, 2 * (gram @ gram).T.ravel()).reshape(4, 4)
    assert np.linalg.eigvalsh((free + free.T) / 2)[0] < -1e-3
    found = soft_map(gram, near, basis, 1.0)
    ours = soft_objective(found, words, neutral, basis, 1.0)
    for start in (np.eye(4), random.standard_normal((4, 4))):
        best: Any = minimize(  # type: ignore[call-overload]  # its types do not know BFGS's options
            lambda flat: soft_objective(flat.reshape(4, 4), words, neutral, basis, 1.0),
            start.ravel(),
            method="BFGS",
            options={"gtol": 1e-9, "maxiter": 5000},
        )
        assert ours <= best.fun * (1 + 1e-6) + 1e-6


def test_soft_with_more_weight_takes_more(embedding: Embedding) -> None:
    neutral = [word for word in embedding.words if word.startswith("other")]
    shares = []
    for weight in (0.0, 0.05, 1.0, 50.0):
        method = MulticlassSoft(weight=weight).fit(embedding)
        found = unit(method.transform(embedding).subset(neutral).vectors)
        shares.append(float(np.abs(found @ method.subspace_.basis.T).mean()))
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 0.2 * shares[0]


def test_soft_leaves_dimensions_that_no_word_uses() -> None:
    words = np.zeros((5, 5))
    words[:3, :3] = np.diag([3.0, 2, 1])
    found = soft_map(words, words, np.array([[1.0, 0, 0, 0, 0]]), 10.0)
    np.testing.assert_allclose(found[3:, 3:], np.eye(2), atol=1e-9)
    np.testing.assert_allclose(root(np.diag([4.0, 9])), np.diag([2.0, 3]))


def test_sets_of_the_user_and_what_cannot_be_used(embedding: Embedding) -> None:
    found = mitigate(
        embedding, "multiclass_hard", lexicon=[["rabbi", "priest", "imam"], ["jew", "christian", "muslim"]]
    )
    near = unit([found[word] for word in ("rabbi", "priest", "imam")]) @ unit(found["other1"])
    np.testing.assert_allclose(near, near[0], atol=1e-12)
    with pytest.raises(ParameterError, match="at least two words"):
        mitigate(embedding, "multiclass_hard", lexicon=[["rabbi"]])
    with pytest.raises(ParameterError, match="kind 'test'"):
        mitigate(embedding, "multiclass_hard", lexicon="weat7")
    with pytest.raises(ParameterError, match="needs the attributes"):
        mitigate(embedding, "multiclass_soft", lexicon=[["rabbi", "priest"]], as_published=True)
    with pytest.raises(ParameterError, match="'weight'"):
        mitigate(embedding, "multiclass_soft", weight=-1)
