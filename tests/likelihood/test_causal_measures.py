"""Log-likelihoods of causal models: a tiny one against plain torch, SmolLM2 against a forward pass in NumPy."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import biasgauge as bg
from biasgauge.analyses.likelihood import Sentence
from biasgauge.analyses.likelihood.measures.causal import token_log_likelihoods
from biasgauge.errors import InputError, ParameterError

TEXTS = ["He is the singer.", "She is singing in the house.", "A cat.", "The cat and the dog are here, aren't they?"]
PAIRS = list(pairwise(TEXTS))


@torch.no_grad()
def slow(model: Any, tokenizer: Any, text: str) -> np.ndarray:  # noqa: ANN401 - the library has no types
    ids = [tokenizer.bos_token_id, *tokenizer(text)["input_ids"]]
    values = []
    for end in range(1, len(ids)):  # token by token, nothing after it in sight
        logits = model(torch.tensor([ids[:end]])).logits[0, -1].double()
        values.append(float(torch.log_softmax(logits, 0)[ids[end]]))
    return np.array(values)


def frame(model: Any, measure: str, pairs: Any = PAIRS) -> np.ndarray:  # noqa: ANN401 - as above
    result = bg.analyses.likelihood.score_pairs(model, pairs, measures=measure, min_coverage=0.0)
    return result.scores_frame()[["first_score", "second_score"]].to_numpy(float)


@pytest.mark.parametrize("measure", ["causal-sum", "causal-mean", "causal-word"])
def test_against_one_token_at_a_time(causal: tuple[Any, Any], measure: str) -> None:
    by_text = {text: slow(*causal, text) for text in TEXTS}
    rules: dict[str, Callable[[str], float]] = {
        "causal-sum": lambda text: by_text[text].sum(),
        "causal-mean": lambda text: by_text[text].mean(),
        "causal-word": lambda text: by_text[text].sum() / len(text.split()),
    }
    rule = rules[measure]
    expected = np.array([[rule(text) for text in pair] for pair in PAIRS])
    assert frame(causal, measure) == pytest.approx(expected, abs=2e-5)


def test_what_is_given_is_read_and_not_scored(causal: tuple[Any, Any]) -> None:
    model = bg.analyses.likelihood.language_model(causal)
    given, text = "The cat is here.", "She is singing."
    (tokens,) = model.tokens([Sentence(text, given)])
    (values,) = token_log_likelihoods(model, [tokens])
    whole = slow(*causal, f"{given} {text}")
    own = len(causal[1](f" {text}")["input_ids"])
    assert values == pytest.approx(whole[-own:], abs=2e-5)


def test_without_a_start_token_the_first_is_not_scored(causal: tuple[Any, Any]) -> None:
    model = bg.analyses.likelihood.language_model(causal)
    model.start = None
    (values,) = token_log_likelihoods(model, model.tokens([Sentence("He is here.")]))
    assert len(values) == len(causal[1]("He is here.")["input_ids"]) - 1
    assert np.isnan(frame(model, "causal-mean", [("A", "B")])).all()


def test_too_long_and_empty_sentences_are_undefined(causal: tuple[Any, Any]) -> None:
    pairs = [*PAIRS, ("He is here. " * 20, "He is here."), ("", "He is here.")]
    result = bg.analyses.likelihood.score_pairs(causal, pairs, measures=["causal-sum", "causal-mean"], min_coverage=0.5)
    assert {entry.id for entry in result.undefined} == {"3", "4"}
    reasons = " ".join(entry.reason for entry in result.undefined)
    assert "and the model reads 64" in reasons
    assert "it has no tokens" in reasons
    assert result.measures[0].compared == 3
    assert bg.analyses.likelihood.score_pairs(causal, pairs).measures[0].to_dict()["preferred"] is None  # below 80 %
    assert "He is" not in json.dumps(result.to_dict()) + repr(result.summary())


def test_flips_between_sum_and_mean(causal: tuple[Any, Any]) -> None:
    result = bg.analyses.likelihood.score_pairs(causal, PAIRS, measures=["causal-sum", "causal-mean"])
    wins = [frame(causal, name) @ [1, -1] > 0 for name in ("causal-sum", "causal-mean")]
    assert result.flips[0].flipped.value == pytest.approx(100 * np.mean(wins[0] != wins[1]))


def test_kinds_that_do_not_fit_are_refused(masked: tuple[Any, Any], causal: tuple[Any, Any], tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="causal-sum"):
        bg.analyses.likelihood.score_pairs(masked, PAIRS, measures="causal-sum")
    with pytest.raises(ParameterError, match="'cps'"):
        bg.analyses.likelihood.score_pairs(causal, PAIRS, measures="cps")
    with pytest.raises(ParameterError, match="causal-sum"):
        bg.analyses.likelihood.score_pairs(causal, PAIRS, measures="causal-sun")
    with pytest.raises(InputError, match="neither"):
        bg.analyses.likelihood.score_pairs(tmp_path, PAIRS)
    (tmp_path / "config.json").write_text('{"architectures": ["BertForTokenClassification"]}')
    with pytest.raises(InputError, match="predicts"):
        bg.analyses.likelihood.score_pairs(tmp_path, PAIRS)
    with pytest.raises(ParameterError, match="must be a token of"):
        bg.analyses.likelihood.language_model(causal, start="<|nobody|>")


def test_folders_are_read(masked: tuple[Any, Any], causal: tuple[Any, Any], tmp_path: Path) -> None:
    for (model, tokenizer), name, measure in ((masked, "masked", "aul"), (causal, "causal", "causal-mean")):
        model.save_pretrained(tmp_path / name)
        tokenizer.save_pretrained(tmp_path / name)
        pairs = [("He is here.", "She is here.")]
        assert frame(tmp_path / name, measure, pairs) == pytest.approx(
            frame((model, tokenizer), measure, pairs), abs=1e-6
        )


def test_stereoset_by_a_model(causal: tuple[Any, Any], tmp_path: Path) -> None:
    sentences = [("stereotype", "He is here."), ("anti-stereotype", "She is here."), ("unrelated", "The the a.")]
    clusters: list[dict[str, Any]] = [
        {"id": f"c{n}", "target": f"t{n % 3}", "bias_type": "gender", "context": "The cat is old.",
         "sentences": [{"id": f"{n}-{label}", "gold_label": label, "sentence": f"{text[:-1]} {'and ' * n}there."}
                       for label, text in sentences]}
        for n in range(6)
    ]  # fmt: skip
    path = tmp_path / "data.json"
    path.write_text(json.dumps({"data": {"intrasentence": clusters[:3], "intersentence": clusters[3:]}}))
    result = bg.analyses.likelihood.stereoset(path, model=causal)
    predictions = {}
    for at, cluster in enumerate(clusters):
        for part in cluster["sentences"]:
            given = f"{cluster['context']} " if at >= 3 else ""
            values = slow(*causal, given + part["sentence"])
            own = len(causal[1](f" {part['sentence']}")["input_ids"]) if given else len(values)
            predictions[part["id"]] = float(values[-own:].mean())
    expected = bg.analyses.likelihood.stereoset(path, predictions)
    assert result.overall.ss.value == pytest.approx(expected.overall.ss.value)
    assert result.overall.lms.value == pytest.approx(expected.overall.lms.value)
    assert result.settings["measure"] == "causal-mean"
    with pytest.raises(ParameterError, match="compares two sentences"):
        bg.analyses.likelihood.stereoset(path, model=causal, measure="cps")


# ---- SmolLM2


class NumPyLlama:
    """A Llama in NumPy on the dequantized weights of a GGUF file, read with the file's own order of rotated pairs."""

    def __init__(self, path: Path) -> None:
        from gguf import GGUFReader
        from gguf.quants import dequantize

        reader = GGUFReader(path)
        self.weights = {
            str(tensor.name): np.asarray(dequantize(tensor.data, tensor.tensor_type), np.float32)
            for tensor in reader.tensors
        }

        def field(name: str) -> Any:  # noqa: ANN401 - a field has any type
            return reader.fields[name].contents()

        self.heads, self.key_heads = field("llama.attention.head_count"), field("llama.attention.head_count_kv")
        self.epsilon, self.base = field("llama.attention.layer_norm_rms_epsilon"), field("llama.rope.freq_base")
        self.layers = field("llama.block_count")
        self.tokens: list[str] = field("tokenizer.ggml.tokens")

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        return np.asarray(x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + self.epsilon) * self.weights[name])

    def rotated(self, x: np.ndarray) -> np.ndarray:
        """Heads × tokens × size; neighbors 2i, 2i + 1 turn together."""
        size = x.shape[-1]
        angles = np.arange(x.shape[1])[:, None] * self.base ** (-np.arange(0, size, 2) / size)
        even, odd = x[..., ::2], x[..., 1::2]
        turned = np.empty_like(x)
        turned[..., ::2] = even * np.cos(angles) - odd * np.sin(angles)
        turned[..., 1::2] = even * np.sin(angles) + odd * np.cos(angles)
        return turned

    def log_likelihoods(self, ids: list[int]) -> np.ndarray:
        x = self.weights["token_embd.weight"][ids].astype(np.float64)
        count = len(ids)
        ahead = np.triu(np.full((count, count), -np.inf), 1)
        for layer in range(self.layers):
            w = {part: self.weights[f"blk.{layer}.{part}.weight"] for part in
                 ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")}  # fmt: skip
            h = self.norm(x, f"blk.{layer}.attn_norm.weight")
            q = (h @ w["attn_q"].T).reshape(count, self.heads, -1).swapaxes(0, 1)
            k, v = ((h @ w[part].T).reshape(count, self.key_heads, -1).swapaxes(0, 1) for part in ("attn_k", "attn_v"))
            q, k = self.rotated(q), self.rotated(k)
            k, v = (np.repeat(part, self.heads // self.key_heads, axis=0) for part in (k, v))
            scores = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1]) + ahead
            scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
            scores /= scores.sum(axis=-1, keepdims=True)
            x = x + (scores @ v).swapaxes(0, 1).reshape(count, -1) @ w["attn_output"].T
            h = self.norm(x, f"blk.{layer}.ffn_norm.weight")
            gate = h @ w["ffn_gate"].T
            x = x + (gate / (1 + np.exp(-gate)) * (h @ w["ffn_up"].T)) @ w["ffn_down"].T
        logits = self.norm(x, "output_norm.weight") @ self.weights["token_embd.weight"].T
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return np.asarray(logits[np.arange(count - 1), ids[1:]])


@pytest.mark.slow
def test_smollm2_against_a_forward_pass_in_numpy(smollm2: Path) -> None:
    model, reference = bg.analyses.likelihood.language_model(smollm2), NumPyLlama(smollm2)
    texts = ["The cat sat on the mat.", "My aunt likes the old books in her house.", "It was 1984, so we didn't stay."]
    tokens = model.tokens([Sentence(text) for text in texts])
    found = token_log_likelihoods(model, tokens)
    for own, values in zip(tokens, found, strict=True):
        assert reference.tokens[own.ids[0]] == "<|endoftext|>"
        assert values == pytest.approx(reference.log_likelihoods(own.ids.tolist()), abs=1e-3)
    assert found[0].sum() > -30  # a common sentence, read as the beginning of a document
    speaker = bg.analyses.likelihood.language_model(model.loaded, start="<|im_start|>")
    assert (
        token_log_likelihoods(speaker, speaker.tokens([Sentence(texts[0])]))[0].sum() < -35
    )  # not as a speaker's name
