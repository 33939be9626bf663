"""Static embeddings: folders of model2vec and sentence-transformers, and objects of spaCy and PyTorch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import spacy
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import BPE, Unigram, WordLevel, WordPiece
from tokenizers.pre_tokenizers import ByteLevel

from biasgauge.errors import EmbeddingFormatError, ParameterError
from biasgauge.vectors import load

if TYPE_CHECKING:
    from pathlib import Path

MATRIX = np.array([[0.5, -1.25], [3, 1024], [-7, 0.25]], np.float32)


def write_folder(folder: Path, model: Any, tensors: dict[str, Any], inner: str = "") -> Path:  # noqa: ANN401 - of tokenizers
    inside = folder / "potion" / inner
    inside.mkdir(parents=True)
    Tokenizer(model).save(str(inside / "tokenizer.json"))
    save_file(tensors, inside / "model.safetensors")
    return folder / "potion"


@pytest.mark.parametrize(("name", "inner"), [("embeddings", ""), ("embedding.weight", "0_StaticEmbedding")])
@pytest.mark.parametrize(
    ("model", "words"),
    [
        (WordPiece({"the": 0, "##ing": 1, "日本": 2}), ("the", "##ing", "日本")),
        (WordLevel({"the": 1, "x": 0, "y": 2}), ("x", "the", "y")),
        (Unigram([("▁the", -1.0), ("ing", -2.0), ("▁", -3.0)]), ("the", "##ing", "##▁")),
    ],
)
def test_folders(name: str, inner: str, model: Any, words: tuple[str, ...], tmp_path: Path) -> None:  # noqa: ANN401
    found = load(write_folder(tmp_path, model, {name: MATRIX}, inner))
    assert (found.name, found.words) == ("potion", words)
    np.testing.assert_array_equal(found.vectors, MATRIX)


def test_byte_level_tokens_are_text(tmp_path: Path) -> None:
    mark, *_ = ByteLevel(add_prefix_space=True).pre_tokenize_str("ü")
    model = BPE({mark[0]: 0, "ing": 1, "Ġa": 2}, [])
    assert load(write_folder(tmp_path, model, {"embeddings": MATRIX})).words == ("ü", "##ing", "a")


def test_weights_and_mapping_of_model2vec(tmp_path: Path) -> None:
    model = WordLevel({"a": 0, "b": 1, "c": 2})
    tensors = {"embeddings": MATRIX[:2], "mapping": np.array([1, 0, 1]), "weights": np.array([2, 1, 0.5], np.float32)}
    found = load(write_folder(tmp_path, model, tensors))
    np.testing.assert_array_equal(found.vectors, MATRIX[[1, 0, 1]] * [[2], [1], [0.5]])


@given(words=st.lists(st.from_regex(r"[a-z]{1,5}", fullmatch=True), min_size=1, max_size=6, unique=True))
def test_there_and_back(words: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    matrix = np.random.default_rng(len(words)).standard_normal((len(words), 3)).astype(np.float32)
    model = WordLevel({word: row for row, word in enumerate(words)})
    found = load(write_folder(tmp_path_factory.mktemp("static"), model, {"embeddings": matrix}))
    assert found.words == tuple(words)
    np.testing.assert_array_equal(found.vectors, matrix)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{}", "not a tokenizer"),
        ("[]", "JSON object"),
        ("{", "not JSON"),
        (json.dumps({"model": {"vocab": {"a": -1}}}), "not a tokenizer"),
        (json.dumps({"model": {"vocab": {"a": 10**12}}}), "not a tokenizer"),
        (json.dumps({"model": {"vocab": [["a", 1], [1, 2]]}}), "not a tokenizer"),
        (json.dumps({"model": {"vocab": {"a": 0}}}), "1 words for 3 vectors"),
    ],
)
def test_damaged_tokenizers_are_refused(content: str, sentence: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path, WordLevel({"a": 0}), {"embeddings": MATRIX})
    (folder / "tokenizer.json").write_text(content)
    with pytest.raises(EmbeddingFormatError, match=sentence):
        load(folder)


def test_damaged_mappings_are_refused(tmp_path: Path) -> None:
    model = WordLevel({"a": 0, "b": 1})
    with pytest.raises(EmbeddingFormatError, match="a row that is not there"):
        load(write_folder(tmp_path / "m", model, {"embeddings": MATRIX, "mapping": np.array([1, 3])}))
    with pytest.raises(EmbeddingFormatError, match="floating point"):
        load(write_folder(tmp_path / "w", model, {"embeddings": MATRIX[:2], "weights": np.array([1, 3])}))


def test_spacy_pipelines_and_vectors() -> None:
    nlp = spacy.blank("en")
    for word, row in zip(["cat", "naïve", "dog"], MATRIX, strict=True):
        nlp.vocab.set_vector(word, row)
    for source in (nlp, nlp.vocab.vectors):
        found = load(source)
        assert set(found.words) == {"cat", "naïve", "dog"}
        for word in found.words:
            np.testing.assert_array_equal(found[word], nlp.vocab[word].vector)
    nlp.vocab.prune_vectors(2)  # now two words share a row
    found = load(nlp)
    assert len(found) == 3
    for word in found.words:
        np.testing.assert_array_equal(found[word], nlp.vocab[word].vector)


def test_floret_vectors_are_refused() -> None:
    vectors = spacy.vectors.Vectors(
        mode="floret", minn=2, maxn=3, hash_count=1, hash_seed=0, bow="<", eow=">", data=MATRIX
    )
    with pytest.raises(ParameterError, match="floret"):
        load(vectors)


def test_a_pipeline_without_vectors_is_refused_with_what_to_use() -> None:
    with pytest.raises(ParameterError, match=r"has no vectors of words\. Use one that has, such as en_core_web_md"):
        load(spacy.blank("en"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_embeddings_of_pytorch(dtype: torch.dtype) -> None:
    layer_of: Any = torch.nn.Embedding.from_pretrained  # torch leaves it untyped
    layer = layer_of(torch.from_numpy(MATRIX).to(dtype))
    for matrix in (layer, layer.weight, layer.weight.data):
        found = load((["a", "b", "c"], matrix))
        np.testing.assert_array_equal(found.vectors, layer.weight.double().numpy())
