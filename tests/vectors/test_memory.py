"""Vectors that the user already holds: KeyedVectors, dicts, pairs. Not copied, not changed, checked like files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from biasgauge.core.inputs import VectorsLike

from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec

from biasgauge.errors import ParameterError
from biasgauge.vectors import Embedding, load


def _codes(embedding: Embedding) -> dict[str, int]:
    return {notice.code: notice.count for notice in embedding.notices}


@pytest.fixture
def keyed() -> Any:  # noqa: ANN401 - gensim has no types
    vectors = KeyedVectors(3)
    vectors.add_vectors(["a", "b"], np.array([[1, 2, 3], [4, 5, 6]], np.float32))
    return vectors


def test_keyed_vectors_are_not_copied_and_not_changed(keyed: Any) -> None:  # noqa: ANN401 - gensim has no types
    found = load(keyed)
    assert found.words == ("a", "b")
    assert found.vectors.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert np.shares_memory(found.vectors, keyed.vectors)
    assert keyed.vectors.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        found.vectors[0, 0] = 9


def test_model_gives_its_keyed_vectors() -> None:
    model = Word2Vec([["a", "b", "c"]] * 3, vector_size=4, min_count=1, workers=1, seed=1)
    found = load(model, words=["b"])
    assert found.words == ("b",)
    np.testing.assert_array_equal(found.vectors[0], model.wv["b"])


def test_pair_is_not_copied_and_not_changed() -> None:
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]])
    before = matrix.copy()
    found = load((["a", "b"], matrix), name="mine")
    assert (found.name, found.source, found.format) == ("mine", "memory", "memory")
    assert np.shares_memory(found.vectors, matrix)
    assert matrix.flags.writeable
    np.testing.assert_array_equal(matrix, before)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dict_keeps_its_order_and_precision(dtype: type[np.floating[Any]]) -> None:
    found = load({"b": np.array([1.5, 2.5], dtype), "a": np.array([3.5, 4.5], dtype)})
    assert found.words == ("b", "a")
    assert found.vectors.dtype == dtype
    assert found.vectors.tolist() == [[1.5, 2.5], [3.5, 4.5]]


def test_dict_of_lists() -> None:
    found = load({"a": [0.1, 0.2], "b": [1.0, 2.0]})
    np.testing.assert_array_equal(found.vectors, [[0.1, 0.2], [1.0, 2.0]])


def test_dict_of_whole_numbers_is_read_as_floats() -> None:
    found = load({"a": [1, 2], "b": [3, 4]})
    assert found.vectors.dtype == np.float32
    assert found.vectors.tolist() == [[1, 2], [3, 4]]


def test_memory_is_checked_as_files_are() -> None:
    matrix = np.array([[1.0, 2.0], [np.nan, 1.0], [0.0, 0.0], [5.0, 6.0], [7.0, 8.0]])
    found = load((["a", "bad", "nil", "a", ""], matrix))
    assert found.words == ("a", "nil")
    assert found.vectors.tolist() == [[1, 2], [0, 0]]
    assert _codes(found) == {"empty-word": 1, "duplicate": 1, "not-finite": 1, "zero": 1}
    assert found.why_lost("bad") == "its vector has NaN or infinity"


def test_integers_are_noted() -> None:
    found = load((["a"], np.array([[1, 2]])))
    assert found.vectors.tolist() == [[1.0, 2.0]]
    assert _codes(found) == {"integers": 1}


def test_words_and_limit_pick_from_memory() -> None:
    matrix = np.arange(8.0).reshape(4, 2) + 1
    assert load((list("abcd"), matrix), words=["d", "b", "x"]).words == ("b", "d")
    assert load((list("abcd"), matrix), limit=2).vectors.tolist() == [[1, 2], [3, 4]]
    assert load((list("abcd"), matrix), words=["d", "b"], limit=2).words == ("b",)


def test_an_embedding_is_handed_back_or_picked_from() -> None:
    embedding = Embedding(("a", "b"), np.array([[1.0], [2.0]]))
    assert load(embedding) is embedding
    assert load(embedding, words=["b"]).vectors.tolist() == [[2.0]]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (5, "Vectors must be a path, an Embedding, gensim KeyedVectors, a dict .* Got int"),
        (None, "Got NoneType"),
        ([["a"], [[1.0]]], "Got list"),
        ((["a"],), "Got tuple"),
        ((5, np.ones((1, 1))), "Got tuple"),
        ({}, "must not be empty"),
        ({"a": [1.0, 2.0], "b": [1.0]}, r"All vectors must have one length. Got shape \(1,\) for 'b', \(2,\) before"),
        ({"a": 1.0}, "cannot be used: .*matrix of numbers"),
        ({"a": ["x", "y"]}, "cannot be used: .*matrix of numbers"),
        ({"a": [None, None]}, "cannot be used"),
        ({5: [1.0]}, "Every word must be valid text. Got 5 at position 0"),
        ((["a", None], np.ones((2, 1))), "Got None at position 1"),
        ((["a", "\ud800"], np.ones((2, 1))), "Every word must be valid text"),
        ((["a", "b"], np.ones((3, 1))), "2 words for 3 vectors"),
        ((["a"], np.ones(1)), "matrix of numbers"),
        ((["a"], np.ones((1, 1, 1))), "matrix of numbers"),
        ((["a"], np.ones((1, 0))), "matrix of numbers"),
        ((["a"], np.ones((1, 2), complex)), "matrix of numbers"),
        ((["a"], np.array([["x"]])), "matrix of numbers"),
        ((["a", "b"], [[1.0], [2.0, 3.0]]), "cannot be used: they do not form a matrix"),
        ({"a": [[1.0], [2.0, 3.0]]}, "cannot be used: they do not form a matrix"),
        ({"a": [1.0], "b": np.array(["2020-01-01"], "M8[D]")}, "cannot be used"),
    ],
)
def test_what_cannot_be_used_is_a_parameter_error(source: VectorsLike, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence) as raised:
        load(source)
    assert "\n" not in str(raised.value)
