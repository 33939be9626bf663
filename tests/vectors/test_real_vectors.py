"""Real vectors: counts and cosines that are known from elsewhere, and coverage worked out with NumPy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.vectors import Embedding, load, save

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.shared
GLOVE = "glove_6b_100d_subset/glove6B100d_subset.npz"
GOOGLE = "googlenews_subset_union/googlenews_union_31927x300.npz"

SETS = {
    "weat7-math": ["math", "algebra", "geometry", "calculus", "equations", "computation", "numbers", "addition"],
    "names": ["John", "Mary", "Zsa_Zsa", "mary", "nosuchwordatall"],
    "flowers": ["aster", "clover", "hyacinth", "marigold", "poppy", "azalea", "blue-bell", "buttercup", "aster"],
}


def _cosine(first: Any, second: Any) -> float:  # noqa: ANN401 - any array
    first, second = first.astype(np.float64), second.astype(np.float64)
    return float(first @ second / np.sqrt((first @ first) * (second @ second)))


@pytest.fixture(scope="module", params=[(GLOVE, 44_753, 100), (GOOGLE, 31_927, 300)], ids=["GloVe", "GoogleNews"])
def case(request: pytest.FixtureRequest, shared_data: Path) -> tuple[Path, int, int]:
    name, rows, width = request.param
    return shared_data / name, rows, width


def test_whole_file_is_what_numpy_reads(case: tuple[Path, int, int]) -> None:
    path, rows, width = case
    found = load(path)
    with np.load(path) as arrays:
        assert found.words == tuple(arrays["words"].tolist())
        np.testing.assert_array_equal(found.vectors, arrays["vectors"])
    assert found.vectors.shape == (rows, width)
    assert not found.dropped


def test_coverage_is_what_numpy_finds(case: tuple[Path, int, int]) -> None:
    path, _, _ = case
    with np.load(path) as arrays:
        present = {name: np.isin(list(dict.fromkeys(words)), arrays["words"]) for name, words in SETS.items()}
    coverage = load(path, words=[word for words in SETS.values() for word in words]).coverage(SETS)
    assert coverage.asked == sum(map(len, present.values())) == 21
    assert coverage.found == sum(int(found.sum()) for found in present.values())
    for name, words in SETS.items():
        lost = tuple(word for word, found in zip(dict.fromkeys(words), present[name], strict=True) if not found)
        assert coverage.lost.get(name, ()) == lost


def test_cosine_known_from_googlenews(shared_data: Path) -> None:
    """cos(man, woman) as METHODS.md, section 4.4, gives it: worked out there in 32 bits, good to about 1e-7."""
    found = load(shared_data / GOOGLE, words=["man", "woman"])
    assert len(found) == 2
    assert _cosine(found["man"], found["woman"]) == pytest.approx(0.7664013, abs=2e-7)


def test_few_words_are_those_of_the_whole(case: tuple[Path, int, int]) -> None:
    path, rows, _ = case
    whole = load(path)
    asked = [whole.words[row] for row in (0, rows // 2, rows - 1)]
    picked = load(path, words=reversed(asked))
    assert picked.words == tuple(asked)
    np.testing.assert_array_equal(picked.vectors, whole.subset(asked).vectors)


@pytest.mark.parametrize("ending", [".bin", ".txt.gz", ".safetensors"])
def test_real_vectors_survive_every_format(ending: str, shared_data: Path, tmp_path: Path) -> None:
    first = load(shared_data / GLOVE, limit=5_000)
    again = load(save(first, tmp_path / f"glove{ending}"))
    assert isinstance(again, Embedding)
    assert again.checksum == first.checksum
