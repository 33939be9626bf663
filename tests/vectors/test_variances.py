"""Variances of GloVe vectors: weighted least squares of statsmodels, numeric derivatives and draws are the oracles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import statsmodels.api as sm
import torch
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_tensors
from scipy import stats

from biasgauge.core import WordPolicy
from biasgauge.errors import EmbeddingFormatError, ParameterError
from biasgauge.scores import contrast_with_variances, weat
from biasgauge.stats import Contrast
from biasgauge.text.training import GloveVariances, glove_with_variances
from biasgauge.text.training.algorithms import GloveSettings
from biasgauge.text.training.cooccurrence import Cooccurrence
from biasgauge.text.training.glove import train_glove
from biasgauge.vectors import Embedding, VectorVariances, load_variances, save_variances

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = GloveSettings(dim=4, epochs=3)
SETS: dict[str, Any] = {"x": ["w0", "w1", "w2"], "y": ["w3", "w4", "w5"], "a": ["w6", "w7"], "b": ["w8", "w9"]}
POLICY = WordPolicy(min_coverage=0.5)


def some_cells(size: int = 40, seed: int = 0) -> Cooccurrence:
    """Symmetric counts; the last word has a single neighbor."""
    random = np.random.default_rng(seed)
    table = np.exp(random.normal(1, 1.5, (size, size))) * (random.random((size, size)) < 0.6)
    table = np.triu(table) + np.triu(table).T
    table[-1], table[:, -1] = 0, 0
    table[-1, 0] = table[0, -1] = 3
    rows, columns = np.nonzero(table)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=size))])
    return Cooccurrence(starts, columns.astype(np.int32), table[rows, columns].astype(np.float32))


@pytest.fixture(scope="module")
def trained() -> GloveVariances:
    return glove_with_variances([f"w{row}" for row in range(40)], some_cells(), SETTINGS, seed=1)


def test_vectors_are_those_of_training(trained: GloveVariances) -> None:
    fit = train_glove(some_cells(), SETTINGS, seed=1, sum_vectors=False)
    np.testing.assert_array_equal(trained.embedding.vectors, fit.vectors)


@pytest.mark.parametrize("row", [0, 7, 38])
def test_covariance_is_that_of_weighted_least_squares(trained: GloveVariances, row: int) -> None:
    """(VᵀWV)⁻¹ of statsmodels' WLS, with residuals at the trained vector in the place of the fitted one."""
    cells = some_cells()
    some = slice(cells.starts[row], cells.starts[row + 1])
    columns, counts = cells.columns[some], cells.values[some].astype(np.float64)
    contexts = trained._contexts[columns].astype(np.float64)  # noqa: SLF001 - what the fit holds fixed
    weights = np.minimum(1, (counts / 100) ** 0.75)
    target = np.log(counts) - trained._biases[row] - trained._context_biases[columns]  # noqa: SLF001
    vector = trained.embedding.vectors[row].astype(np.float64)
    fit = sm.WLS(target, contexts, weights=weights).fit()
    scale = weights @ (target - contexts @ vector) ** 2 / fit.df_resid
    covariance = trained.covariance(f"w{row}")
    assert covariance is not None
    np.testing.assert_allclose(covariance, fit.normalized_cov_params * scale, rtol=1e-6)
    # where training has converged to the least-squares fit, that is its covariance
    at_fit = weights @ (target - contexts @ fit.params) ** 2 / fit.df_resid
    np.testing.assert_allclose(fit.cov_params(), fit.normalized_cov_params * at_fit, rtol=1e-9)


def test_a_word_with_too_few_neighbors_has_none(trained: GloveVariances) -> None:
    assert trained.covariance("w39") is None


class Known(VectorVariances):
    """Vectors with covariances that are given."""

    def __init__(self, embedding: Embedding, covariances: dict[str, Any]) -> None:
        self.embedding = embedding
        self.covariances = covariances

    def covariance(self, word: str) -> Any:  # noqa: ANN401 - a matrix or None
        return self.covariances.get(word)


def cosine_contrast(vectors: Any) -> Any:  # noqa: ANN401 - draws × words × dimensions
    units = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    products = units @ np.swapaxes(units, -1, -2)
    x, y, a, b = slice(0, 3), slice(3, 6), slice(6, 8), slice(8, 10)
    means = [products[..., rows, columns].mean(axis=(-2, -1)) for rows in (x, y) for columns in (a, b)]
    return means[0] - means[1] - means[2] + means[3]


@pytest.fixture
def known() -> Known:
    random = np.random.default_rng(3)
    words = tuple(f"w{number}" for number in range(12))
    embedding = Embedding(words, random.standard_normal((12, 5)))
    roots = 0.02 * random.standard_normal((12, 5, 5))
    return Known(embedding, {word: root @ root.T for word, root in zip(words, roots, strict=True)})


def test_the_term_is_that_of_the_delta_method(known: Known) -> None:
    found = contrast_with_variances(known, **SETS)
    vectors = np.asarray(known.embedding.vectors[:10])
    step, expected = 1e-6, 0.0
    for row in range(10):
        moved = vectors + step * np.eye(10)[row][None, :, None] * np.eye(5)[:, None, :]
        back = vectors - step * np.eye(10)[row][None, :, None] * np.eye(5)[:, None, :]
        gradient = (cosine_contrast(moved) - cosine_contrast(back)) / (2 * step)
        expected += gradient @ known.covariances[f"w{row}"] @ gradient
    assert found.value == pytest.approx(cosine_contrast(vectors))
    assert found.variances["vectors"] == pytest.approx(expected, rel=1e-6)


def test_the_term_is_the_variance_of_draws(known: Known) -> None:
    random = np.random.default_rng(0)
    vectors = np.asarray(known.embedding.vectors[:10])
    draws = np.stack(
        [
            random.multivariate_normal(vectors[row], known.covariances[f"w{row}"], 40_000, method="cholesky")
            for row in range(10)
        ],
        axis=1,
    )
    found = contrast_with_variances(known, **SETS)
    assert found.variances["vectors"] == pytest.approx(cosine_contrast(draws).var(), rel=0.05)


def test_the_interval_is_wider_by_the_term(known: Known) -> None:
    plain: Any = weat(known.embedding, **SETS).contrast
    found: Any = contrast_with_variances(known, **SETS)
    term = found.variances["vectors"]
    assert found.value == pytest.approx(plain.value)
    assert found.se == pytest.approx(np.hypot(plain.se, term**0.5))
    # Satterthwaite's degrees of freedom of a sum of which one term is known
    assert found.df == pytest.approx((plain.se**2 + term) ** 2 / (plain.se**4 / plain.df))
    margin = stats.t.ppf(0.975, found.df) * found.se
    assert (found.low, found.high) == pytest.approx((found.value - margin, found.value + margin))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(found.value) / found.se, found.df))
    none = Known(known.embedding, {word: np.zeros((5, 5)) for word in known.embedding.words})
    assert contrast_with_variances(none, **SETS).low == pytest.approx(plain.low)


def test_words_without_a_variance_count_as_lost(known: Known) -> None:
    del known.covariances["w0"]
    found = contrast_with_variances(known, **SETS, policy=POLICY)
    assert found.words == ((2, 3), (2, 2))
    known.covariances.clear()
    with pytest.raises(ParameterError, match="10 of its words have no variance"):
        contrast_with_variances(known, **SETS, policy=POLICY)


def test_an_undefined_contrast_stays_so() -> None:
    assert Contrast(value=None, reason="none").with_variance("vectors", 1.0).se is None


def test_files_of_glove_v_there_and_back(trained: GloveVariances, tmp_path: Path) -> None:
    folder = save_variances(trained, tmp_path / "v", trained.embedding.words)
    found = load_variances(folder)
    assert found.embedding.words == trained.embedding.words[:39]  # the last has no variance
    np.testing.assert_array_equal(found.embedding.vectors, trained.embedding.vectors[:39])
    for word in ("w0", "w20"):
        stored, computed = found.covariance(word), trained.covariance(word)
        assert stored is not None
        assert computed is not None
        np.testing.assert_allclose(stored, computed, rtol=1e-5, atol=1e-9)
    there, back = contrast_with_variances(trained, **SETS), contrast_with_variances(found, **SETS)
    assert back.variances["vectors"] == pytest.approx(there.variances["vectors"], rel=1e-4)


def write_folder(folder: Path, **tensors: Any) -> Path:  # noqa: ANN401 - arrays
    """A folder as the authors of GloVe-V publish them."""
    (folder / "vocab.txt").write_text("the 12\nnaïve 7\ncat 3\n", encoding="utf-8")
    save_file({"center_vectors": np.eye(3, 2, dtype=np.float32)}, folder / "vectors.safetensors")
    if tensors:
        save_file(tensors, folder / "ApproximationVariances.safetensors")
    return folder


def test_approximations(tmp_path: Path) -> None:
    """Diagonal, of low rank, and complete."""
    root = np.array([[1.0], [2.0]])
    folder = write_folder(
        tmp_path, diag_0=np.array([0.5, 2]), U_1=root, s_1=np.array([3.0]), Vt_1=root.T.copy(), complete_2=np.eye(2)
    )
    found = load_variances(folder)
    assert found.embedding.words == ("the", "naïve", "cat")
    assert found.embedding.frequencies is not None
    assert found.embedding.frequencies.values.tolist() == [12, 7, 3]
    np.testing.assert_array_equal(found.covariance("the"), np.diag([0.5, 2]))
    np.testing.assert_array_equal(found.covariance("naïve"), 3 * root @ root.T)
    np.testing.assert_array_equal(found.covariance("cat"), np.eye(2))


def test_complete_variances(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    whole = np.stack([np.eye(2) * scale for scale in (1, 2, 3)])
    save_file({"variances": whole}, folder / "CompleteVariances.safetensors")
    np.testing.assert_array_equal(load_variances(folder).covariance("cat"), 3 * np.eye(2))


@pytest.mark.parametrize(
    "tensors",
    [
        {"complete_0": np.eye(3)},
        {"diag_0": np.ones(3)},
        {"complete_0": np.array([[np.nan, 0], [0, 1]])},
        {"U_0": np.ones((2, 1)), "s_0": np.ones(2), "Vt_0": np.ones((1, 2))},
        {"U_0": np.ones((2, 2, 1)), "s_0": np.ones(1), "Vt_0": np.ones((1, 2))},
    ],
)
def test_damaged_covariances_are_refused(tensors: dict[str, Any], tmp_path: Path) -> None:
    found = load_variances(write_folder(tmp_path, **tensors))
    with pytest.raises(EmbeddingFormatError, match="2 × 2 finite numbers"):
        found.covariance("the")
    assert found.covariance("cat") is None


def test_numbers_in_bfloat16(tmp_path: Path) -> None:
    """They were taken for whole numbers."""
    folder = write_folder(tmp_path)
    for name, tensor in (("vectors", "center_vectors"), ("ApproximationVariances", "diag_0")):
        numbers = torch.tensor([[0.5, 2.0]] * 3 if name == "vectors" else [0.5, 2.0], dtype=torch.bfloat16)
        save_tensors({tensor: numbers}, folder / f"{name}.safetensors")
    found = load_variances(folder)
    np.testing.assert_array_equal(found.embedding.vectors, [[0.5, 2.0]] * 3)
    np.testing.assert_array_equal(found.covariance("the"), np.diag([0.5, 2.0]))


def test_an_empty_file_of_variances_is_refused(tmp_path: Path) -> None:
    """It was a ValueError of mmap."""
    folder = write_folder(tmp_path, diag_0=np.ones(2))
    (folder / "ApproximationVariances.safetensors").write_bytes(b"")
    with pytest.raises(EmbeddingFormatError, match="shorter than the header"):
        load_variances(folder)


def test_incomplete_folders_are_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    with pytest.raises(EmbeddingFormatError, match="without its variances"):
        load_variances(folder)
    (folder / "vocab.txt").write_text("the 12\n")
    with pytest.raises(EmbeddingFormatError, match="1 words for 3 vectors"):
        load_variances(folder)
    (folder / "vocab.txt").unlink()
    with pytest.raises(EmbeddingFormatError, match="no such file"):
        load_variances(folder)
