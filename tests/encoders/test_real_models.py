"""MiniLM and SmolLM2 from ordinary packages: hidden states, published numbers, and where those cannot be reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.encoders.numpy_bert import hidden_states

import biasgauge as bg
from biasgauge.scores import seat
from biasgauge.vectors.encoders import load_model

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.vectors.encoders import Views

pytest.importorskip("torch")
pytest.importorskip("transformers")

# METHODS.md, section 9.1: words of WEAT 7 bare, d with ddof 1.
SENTENCE = (1.02, 0.82, 0.22, 0.24, 0.32, 0.65, 0.94)
CLS_4_TO_6 = (-0.94, -1.22, -0.34)
CLS_1_TO_3_AS_PRINTED = (0.78, 0.60, -0.33)
CLS_1_TO_3 = (1.1714, 0.8804, -0.7502)
"""In double precision throughout, from the NumPy forward pass below; see the last test of MiniLM."""


@pytest.fixture(scope="module")
def bare(minilm: Path) -> Views:
    return bg.encode(minilm, "weat7", "bare", pooling="all")


@pytest.fixture(scope="module")
def numpy_states(minilm: Path) -> dict[str, list[Any]]:
    """Hidden states of every word alone, from the weights and the forward pass in NumPy, in double precision."""
    from safetensors.numpy import load_file

    weights, tokenizer = load_file(str(minilm / "model.safetensors")), load_model(minilm).tokenizer
    words = dict.fromkeys(bg.lexicon("weat7").words)
    return {word: hidden_states(weights, tokenizer(word)["input_ids"], heads=12, epsilon=1e-12) for word in words}


def test_hidden_states_of_minilm_are_those_of_numpy(bare: Views, numpy_states: dict[str, list[Any]]) -> None:
    for word, states in numpy_states.items():
        for layer, state in enumerate(states):
            for pooling, vector in {
                "sentence": state.mean(axis=0), "cls": state[0], "mean": state[1:-1].mean(axis=0), "first": state[1],
                "last": state[-2],
            }.items():  # fmt: skip
                error = np.abs(bare.select(layer=layer, pooling=pooling)[word] - vector).max()
                assert error < 1e-4, (word, layer, pooling)


def test_effect_sizes_of_minilm_are_the_published_ones(bare: Views) -> None:
    rows = {(row.layer, row.pooling): row.result for row in seat(bare, "weat7", interval=None).rows}
    assert [rows[layer, "sentence"].value for layer in range(7)] == pytest.approx(SENTENCE, abs=0.01)
    assert [rows[layer, "cls"].value for layer in (4, 5, 6)] == pytest.approx(CLS_4_TO_6, abs=0.01)
    assert [rows[layer, "cls"].value for layer in (1, 2, 3)] == pytest.approx(CLS_1_TO_3, abs=1e-3)
    assert rows[0, "cls"].value is None  # before the first layer all [CLS] vectors are the same


def effect_size(cosines: Any, ddof: int = 1) -> float:  # noqa: ANN401 - an array
    """D of WEAT 7 from cosines of all words with all words, in the order of the roles."""
    a, b = cosines[:16, 16:24].mean(axis=1), cosines[:16, 24:].mean(axis=1)
    s = (a - b).astype(np.float64)
    return float((s[:8].mean() - s[8:].mean()) / s.std(ddof=ddof))


def test_printed_effect_sizes_of_cls_at_layers_1_to_3_are_rounding(numpy_states: dict[str, list[Any]]) -> None:
    """There the cosines of [CLS] vectors all lie within 6e-6 of 1, where single precision has steps of 6e-8.

    In double precision d is another number than the printed one; with cosines in single precision it moves by tenths
    with the order of the sums. Only what does not depend on that can be held against a paper.
    """
    words = [word for role in bg.lexicon("weat7").roles.values() for word in role.words]  # type: ignore[attr-defined]
    for layer, exact, printed in zip((1, 2, 3), CLS_1_TO_3, CLS_1_TO_3_AS_PRINTED, strict=True):
        vectors = np.array([numpy_states[word][layer][0] for word in words])
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = units @ units.T
        assert cosines.min() > 1 - 6e-6
        assert effect_size(cosines) == pytest.approx(exact, abs=1e-3)
        narrow = vectors.astype(np.float32)
        narrow /= np.linalg.norm(narrow, axis=1, keepdims=True)
        one = effect_size(narrow @ narrow.T)
        other = effect_size(np.array([[np.dot(u, v) for v in narrow] for u in narrow], np.float32))
        assert max(abs(one - exact), abs(other - exact)) > 0.1
        assert abs(printed - exact) > 0.1


def test_layer_and_pooling_turn_the_sign_of_minilm(bare: Views) -> None:
    values = [row.result.value for row in seat(bare, "weat7", interval=None).rows if row.result.value is not None]
    assert min(values) < -1
    assert max(values) > 1


def test_sentences_of_minilm_are_those_of_a_sentence_encoder(minilm: Path) -> None:
    """The mean over all tokens of the last layer is what sentence-transformers gives before it scales to length 1."""
    sentence_transformers = pytest.importorskip("sentence_transformers")
    model = sentence_transformers.SentenceTransformer(str(minilm), local_files_only=True, device="cpu")
    views = bg.encode(model, ["nurse", "algebra"], ["They met the {} today."], layers=6, pooling="sentence")
    expected = model.encode(["They met the nurse today.", "They met the algebra today."])
    units = views[0].vectors / np.linalg.norm(views[0].vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(units, expected, atol=1e-5)


@pytest.mark.slow
def test_smollm_is_read_from_its_quantized_file(smollm: Path) -> None:
    """A causal model sees nothing to the right: the same beginning gives the same states, whatever follows."""
    loaded = load_model(smollm, kind="causal")
    views = bg.encode(loaded, ["nurse", "surgeon"], ["The {}", "The {} went home."], layers=[0, 15, 30])
    for layer in (0, 15, 30):
        short, long = (views.select(layer=layer, template=template) for template in ("The {}", "The {} went home."))
        np.testing.assert_allclose(short.vectors, long.vectors, atol=2e-3 * np.abs(short.vectors).max())
    assert "cls" not in bg.encode(loaded, ["nurse"], "bare", layers=30, pooling="all").facets["pooling"]
    import torch

    with torch.inference_mode():
        tokens = loaded.tokenizer("The capital of France is", return_tensors="pt")
        following = loaded.model(**tokens).logits[0, -1].argmax()
    assert loaded.tokenizer.decode([int(following)]).strip() == "Paris"
