"""`align` and `mean_embedding`: SciPy's Procrustes, planted rotations, and slow loops as witnesses."""

from __future__ import annotations

import json
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.spatial import procrustes
from threadpoolctl import threadpool_limits

from biasgauge.errors import ParameterError
from biasgauge.vectors import ROWS, Embedding, align, load, mean_embedding, save

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

SEEDS = range(4)


def turned(random: np.random.Generator, size: int) -> NDArray[np.float64]:
    """A rotation (or reflection) of chance."""
    matrix: NDArray[np.float64] = np.linalg.qr(random.normal(size=(size, size)))[0]
    return matrix


def uneven(random: np.random.Generator, rows: int, size: int) -> NDArray[np.float64]:
    """Vectors with strong and weak directions and a mean, as in language."""
    return random.normal(size=(rows, size)) * np.geomspace(3, 0.03, size) + random.normal(size=size)


def named(vectors: NDArray[Any], name: str, words: list[str] | None = None) -> Embedding:
    chosen = [f"w{row}" for row in range(len(vectors))] if words is None else words
    return Embedding(tuple(chosen), vectors, name=name)


@pytest.fixture(params=SEEDS)
def random(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


def two_models(random: np.random.Generator, dtype: str = "float64", size: int = 300) -> tuple[Embedding, Embedding]:
    """Two noisy views of the same words, each lacking 40 of them and in an order of its own."""
    truth = uneven(random, size, 12)
    models = []
    for name in ("one", "other"):
        rows = random.permutation(size)[: size - 40]
        seen = (truth + 0.2 * random.normal(size=truth.shape)) @ turned(random, 12)
        models.append(named(seen[rows].astype(dtype), name, [f"w{row}" for row in rows]))
    return models[0], models[1]


def shared_rows(a: Embedding, b: Embedding) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    words = [word for word in a.words if word in b]
    return words, *(np.array([model[word] for word in words]).astype(np.float64) for model in (a, b))  # type: ignore[return-value]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_rotation_is_that_of_scipy(random: np.random.Generator, dtype: str) -> None:
    a, b = two_models(random, dtype)
    words, left, right = shared_rows(a, b)
    expected, overlap = orthogonal_procrustes(left, right)
    found = align(a, b)
    assert list(found.words) == words
    np.testing.assert_allclose(found.rotation, expected, atol=1e-9)
    assert found.residual == pytest.approx(np.linalg.norm(left @ expected - right), rel=1e-9)
    assert found.fit == pytest.approx(1 - found.residual**2 / np.square(right).sum(), rel=1e-9)
    assert (found.rank, found.scale) == (12, 1.0)
    scaled = align(a, b, scale=True)
    np.testing.assert_allclose(scaled.rotation, expected, atol=1e-9)
    assert scaled.scale == pytest.approx(overlap / np.square(left).sum(), rel=1e-9)
    assert scaled.residual == pytest.approx(np.linalg.norm(scaled.scale * left @ expected - right), rel=1e-9)


def test_centered_and_scaled_fit_is_that_of_scipy(random: np.random.Generator) -> None:
    a, b = two_models(random)
    _, left, right = shared_rows(a, b)
    _, _, disparity = procrustes(right, left)
    assert align(a, b, center=True, scale=True).fit == pytest.approx(1 - disparity, rel=1e-9)


def test_unit_and_center_come_in_this_order(random: np.random.Generator) -> None:
    a, b = two_models(random)
    _, left, right = shared_rows(a, b)
    left, right = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (left, right))
    found = align(a, b, unit=True)
    np.testing.assert_allclose(found.rotation, orthogonal_procrustes(left, right)[0], atol=1e-9)
    found = align(a, b, unit=True, center=True)
    expected, _ = orthogonal_procrustes(left - left.mean(axis=0), right - right.mean(axis=0))
    np.testing.assert_allclose(found.rotation, expected, atol=1e-9)
    moved = found.apply(a)
    own = a.vectors / np.linalg.norm(a.vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(moved.vectors, (own - left.mean(axis=0)) @ expected + right.mean(axis=0), atol=1e-9)


@pytest.mark.parametrize(("dtype", "exact"), [("float16", 2e-3), ("float32", 1e-6), ("float64", 1e-10)])
def test_planted_rotation_is_recovered(random: np.random.Generator, dtype: str, exact: float) -> None:
    truth, rotation = uneven(random, 400, 10), turned(random, 10)
    fixed = truth @ rotation
    found = align(named(truth.astype(dtype), "a"), named(fixed.astype(dtype), "b"))
    np.testing.assert_allclose(found.rotation, rotation, atol=exact)
    np.testing.assert_allclose(found.apply(named(truth, "a")).vectors, fixed, atol=10 * exact)
    assert found.fit == pytest.approx(1, abs=1e-5)


def test_planted_shift_and_scale_are_recovered(random: np.random.Generator) -> None:
    truth, rotation, shift = uneven(random, 400, 10), turned(random, 10), random.normal(size=10)
    found = align(named(truth, "a"), named(2.5 * truth @ rotation + shift, "b"), center=True, scale=True)
    assert found.scale == pytest.approx(2.5, rel=1e-9)
    assert found.residual == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(found.apply(named(truth, "a")).vectors, 2.5 * truth @ rotation + shift, atol=1e-9)


def test_no_rotation_of_chance_fits_better(random: np.random.Generator) -> None:
    a, b = two_models(random)
    _, left, right = shared_rows(a, b)
    least = align(a, b).residual
    assert all(np.linalg.norm(left @ turned(random, 12) - right) > least for _ in range(50))


def test_way_back_is_the_transposed_rotation(random: np.random.Generator) -> None:
    a, b = two_models(random)
    np.testing.assert_allclose(align(a, b).rotation, align(b, a).rotation.T, atol=1e-9)


def test_apply_keeps_words_lengths_and_cosines(random: np.random.Generator) -> None:
    a, b = two_models(random, "float32")
    moved = align(a, b).apply(a)
    assert (moved.words, moved.name, moved.source) == (a.words, a.name, a.source)
    assert moved.vectors.dtype == np.float32
    np.testing.assert_allclose(moved.vectors @ moved.vectors.T, a.vectors @ a.vectors.T, atol=1e-3)
    half = align(a, b).apply(named(a.vectors.astype(np.float16), "half", list(a.words)))
    assert half.vectors.dtype == np.float32


def test_several_blocks_are_one_model_whatever_the_threads(random: np.random.Generator) -> None:
    a, b = two_models(random, "float32", size=2 * ROWS + 500)
    found = align(a, b, center=True)
    with threadpool_limits(1, "blas"):
        np.testing.assert_array_equal(align(a, b, center=True).rotation, found.rotation)
    _, left, right = shared_rows(a, b)
    left, right = left - left.mean(axis=0), right - right.mean(axis=0)
    expected, _ = orthogonal_procrustes(left, right)
    np.testing.assert_allclose(found.rotation, expected, atol=1e-9)
    assert found.residual == pytest.approx(np.linalg.norm(left @ expected - right), rel=1e-9)


def test_memory_is_that_of_a_block(tmp_path: Path) -> None:
    """Two mapped models of 40,000 × 64 in half precision: 5 MB each, 20 MB each in double precision."""
    random = np.random.default_rng(0)
    paths = []
    for name in "ab":
        vectors = random.normal(size=(40_000, 64)).astype(np.float16)
        paths.append(save(named(vectors, name), tmp_path / f"{name}.safetensors"))
    a, b = map(load, paths)
    align(a, b)  # the words' index is made once
    tracemalloc.start()
    align(a, b, center=True, unit=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 14 * 2**20, f"{peak:,} bytes"


def test_words_choose_who_decides(random: np.random.Generator) -> None:
    a, b = two_models(random)
    shared, _, _ = shared_rows(a, b)
    only_a = next(word for word in a.words if word not in b)
    found = align(a, b, words=[*shared[50:150], only_a, "nowhere", shared[50]])
    assert list(found.words) == shared[50:150]
    assert found.lost == {only_a: "not in 'other'", "nowhere": "not in 'one' nor in 'other'"}
    left, right = (np.array([model[word] for word in shared[50:150]]) for model in (a, b))
    np.testing.assert_allclose(found.rotation, orthogonal_procrustes(left, right)[0], atol=1e-9)


def test_too_few_words_show_in_the_rank(random: np.random.Generator) -> None:
    a, b = (named(random.normal(size=(7, 12)), name) for name in "ab")
    assert align(a, b).rank == 7
    assert align(a, b, center=True).rank == 6


def test_result_can_be_read() -> None:
    a, b = two_models(np.random.default_rng(0))
    found = align(a, b, words=[*a.words[:200], "nowhere"])
    told = json.loads(json.dumps(found.to_dict()))
    assert told["shared"] == len(found.words)
    assert told["lost"]["nowhere"] == "not in 'one' nor in 'other'"
    assert "'one' to 'other'" in repr(found)
    assert "&#x27;one&#x27;" in found._repr_html_()


def test_what_cannot_be_aligned_is_refused() -> None:
    a = named(np.eye(3), "a")
    with pytest.raises(ParameterError, match="dimensions"):
        align(a, named(np.eye(2), "b"))
    with pytest.raises(ParameterError, match="nothing"):
        align(a, named(np.eye(3), "b", ["x", "y", "z"]))
    with pytest.raises(ParameterError, match="direction"):
        align(a, named(np.zeros((3, 3)), "b"))
    with pytest.raises(ParameterError, match="products"):
        align(named(1e200 * np.eye(3), "a"), named(1e200 * np.eye(3), "b"))
    assert align(named(1e200 * np.eye(3), "a"), named(1e200 * np.eye(3), "b"), unit=True).fit == pytest.approx(1)
    with pytest.raises(ParameterError, match="'words'"):
        align(a, a, words="w0")
    with pytest.raises(ParameterError, match="'words'"):
        align(a, a, words=[3])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="dimensions"):
        align(a, a).apply(named(np.eye(2), "b"))


def replicates(random: np.random.Generator, count: int, noise: float) -> tuple[NDArray[np.float64], list[Embedding]]:
    truth = random.normal(size=(200, 8)) * np.geomspace(2, 0.5, 8)
    return truth, [
        named((truth + noise * random.normal(size=truth.shape)) @ turned(random, 8), f"m{number}")
        for number in range(count)
    ]


def slow_generalized_procrustes(arrays: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Gower's way on the vectors themselves: turn all to the mean, take the mean, very many times."""
    mean = arrays[0]
    for _ in range(400):
        turns = [orthogonal_procrustes(one, mean)[0] for one in arrays]
        mean = np.mean([one @ turn for one, turn in zip(arrays, turns, strict=True)], axis=0)
    back: NDArray[np.float64] = mean @ orthogonal_procrustes(arrays[0], mean)[0].T
    return back


def test_mean_is_that_of_gower(random: np.random.Generator) -> None:
    _, models = replicates(random, 5, 0.3)
    found = mean_embedding(models)
    np.testing.assert_allclose(
        found.vectors, slow_generalized_procrustes([np.asarray(one.vectors) for one in models]), atol=1e-4
    )


def test_mean_is_where_gower_would_stay(random: np.random.Generator) -> None:
    """Also where some directions are but noise, so that there are several solutions: another round changes nothing."""
    truth = uneven(random, 500, 20)
    models = [named((truth + 0.3 * random.normal(size=truth.shape)) @ turned(random, 20), f"m{n}") for n in range(6)]
    mean = np.asarray(mean_embedding(models).vectors)
    arrays = [np.asarray(one.vectors) for one in models]
    again = np.mean([one @ orthogonal_procrustes(one, mean)[0] for one in arrays], axis=0)
    np.testing.assert_allclose(again, mean, atol=2e-5)


def test_mean_of_two_is_halfway(random: np.random.Generator) -> None:
    _, models = replicates(random, 2, 0.3)
    a, b = (np.asarray(one.vectors) for one in models)
    np.testing.assert_allclose(mean_embedding(models).vectors, (a + b @ orthogonal_procrustes(b, a)[0]) / 2, atol=1e-9)


def test_mean_of_rotated_copies_is_the_first(random: np.random.Generator) -> None:
    _, models = replicates(random, 4, 0)
    np.testing.assert_allclose(mean_embedding(models).vectors, models[0].vectors, atol=1e-9)
    assert np.abs(mean_embedding(models, aligned=False).vectors - models[0].vectors).max() > 0.1


def test_mean_is_nearer_to_the_truth_than_any_model(random: np.random.Generator) -> None:
    truth, models = replicates(random, 8, 0.5)
    goal = named(truth, "truth")
    best = min(align(one, goal).residual for one in models)
    assert align(mean_embedding(models), goal).residual < 0.5 * best


def test_order_of_the_models_changes_the_axes_alone(random: np.random.Generator) -> None:
    truth = random.normal(size=(500, 20)) * np.geomspace(2, 0.2, 20)
    models = [named((truth + 0.2 * random.normal(size=truth.shape)) @ turned(random, 20), f"m{n}") for n in range(6)]
    for order in ((5, 4, 3, 2, 1, 0), (3, 5, 0, 2, 4, 1)):
        found = align(mean_embedding(models), mean_embedding([models[n] for n in order]))
        assert found.fit == pytest.approx(1, abs=1e-9)


def test_unaligned_mean_is_plain(random: np.random.Generator) -> None:
    _, models = replicates(random, 3, 0.5)
    found = mean_embedding(models, aligned=False)
    np.testing.assert_allclose(found.vectors, np.mean([one.vectors for one in models], axis=0), atol=1e-12)
    assert found.source == "mean of m0, m1, m2 (not aligned)"


def test_words_that_a_model_lacks_are_told(random: np.random.Generator) -> None:
    a, b = two_models(random, "float32")
    words, _, _ = shared_rows(a, b)
    found = mean_embedding([a, b], name="both")
    assert list(found.words) == words
    assert (found.name, found.vectors.dtype.name) == ("both", "float32")
    assert set(found.dropped) == set(a.words) ^ set(b.words)
    assert set(found.dropped.values()) == {"not in all 2 models"}
    assert found.source.startswith("mean of one, other (generalized Procrustes, ")
    assert mean_embedding([a]).words == a.words
    with pytest.raises(ParameterError, match="no word is in all models"):
        mean_embedding([a, named(np.eye(12), "c", [f"x{row}" for row in range(12)])])
    with pytest.raises(ParameterError, match="one number of dimensions"):
        mean_embedding([a, named(np.eye(3), "c")])
