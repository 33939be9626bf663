"""Loading: from this machine alone, nothing unsafe, one sentence for whatever is wrong."""

from __future__ import annotations

import json
import socket
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.encoders.conftest import small_bert, wordpieces
from tests.encoders.numpy_bert import hidden_states

from biasgauge.errors import InputError, ParameterError
from biasgauge.vectors.encoders import gguf_file, load_model
from biasgauge.vectors.encoders.encoding import model_shape
from biasgauge.vectors.encoders.hidden_states import TransformerEncoder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


def states(loaded: Any, text: str) -> list[Any]:  # noqa: ANN401 - a model
    tokens = loaded.tokenizer(text)["input_ids"]
    with torch.inference_mode():
        out = loaded.model(torch.tensor([tokens]), output_hidden_states=True)
    return [state[0].numpy() for state in out.hidden_states]


def test_a_folder_gives_the_model_that_was_saved_without_any_connection(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    loaded = load_model(tiny)
    assert (loaded.name, loaded.layers, loaded.window) == ("tiny-bert", 2, 24)
    weights = {name: tensor.numpy() for name, tensor in small_bert().state_dict().items()}
    tokens = loaded.tokenizer("this is math")["input_ids"]
    expected = hidden_states(weights, tokens, heads=2, epsilon=1e-12)
    np.testing.assert_allclose(states(loaded, "this is math"), expected, atol=1e-5)


def test_loading_leaves_the_global_random_numbers_alone(tiny: Path) -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    load_model(tiny)
    assert torch.equal(torch.rand(3), expected)


def test_models_in_memory_need_a_tokenizer_and_lose_their_head(tiny: Path) -> None:
    from transformers import BertForMaskedLM

    model, tokenizer = small_bert(), wordpieces()
    with pytest.raises(ParameterError, match="needs its tokenizer"):
        load_model(model)
    expected = states(load_model(tiny), "the nurse")
    np.testing.assert_array_equal(states(load_model(model, tokenizer=tokenizer), "the nurse"), expected)
    whole = BertForMaskedLM(model.config).eval()
    whole.bert.load_state_dict(model.state_dict())
    np.testing.assert_array_equal(states(load_model((whole, tokenizer)), "the nurse"), expected)
    assert load_model((whole, tokenizer), kind="masked").model is whole


def test_a_model_loaded_before_is_handed_on(tiny: Path) -> None:
    loaded = load_model(tiny)
    assert load_model(loaded) is loaded
    with pytest.raises(ParameterError, match="'encoder'"):
        load_model(loaded, kind="masked")


def test_the_layout_of_sentence_transformers_and_its_shorter_window(tiny: Path, tmp_path: Path) -> None:
    inner = tmp_path / "sbert" / "0_Transformer"
    inner.mkdir(parents=True)
    for file in tiny.iterdir():
        (inner / file.name).write_bytes(file.read_bytes())
    (inner / "sentence_bert_config.json").write_text('{"max_seq_length": 9}')
    modules = [{"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"},
               {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]  # fmt: skip
    (tmp_path / "sbert" / "modules.json").write_text(json.dumps(modules))
    loaded = load_model(tmp_path / "sbert")
    assert (loaded.name, loaded.window) == ("sbert", 9)
    modules[0]["path"] = "../../elsewhere"
    (tmp_path / "sbert" / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(InputError, match="leads out of the folder"):
        load_model(tmp_path / "sbert")
    for name in ("a" * 300, "a\0b"):
        modules[0]["path"] = name
        (tmp_path / "sbert" / "modules.json").write_text(json.dumps(modules))
        with pytest.raises(InputError, match="cannot be the name of a file"):
            load_model(tmp_path / "sbert")


@pytest.mark.parametrize(
    ("without", "others", "sentence"),
    [
        (["config.json"], {}, r"holds no config\.json"),
        (["config.json"], {"config__json": "{"}, r"config\.json: is not JSON"),
        (["config.json"], {"config__json": '{"model_type": "bert", "auto_map": {}}'}, "code of its own .* never run"),
        (["model.safetensors"], {}, r"holds no weights; model\.safetensors is expected"),
        (
            ["model.safetensors"],
            {"pytorch_model__bin": "x"},
            r"pytorch_model\.bin: weights in a pickle are never read; .*",
        ),
        (["tokenizer.json"], {}, r"holds no tokenizer; tokenizer\.json is expected"),
        (["model.safetensors"], {"model__safetensors": "no tensors"}, "cannot be loaded: "),
        (["tokenizer.json"], {"tokenizer__json": "{}"}, "cannot be loaded: "),
        (["config.json"], {"config__json": '{"model_type": "no-such-model"}'}, "cannot be loaded: "),
    ],
)
def test_a_damaged_folder_gets_one_sentence(
    tiny_copy: Callable[..., Path], without: list[str], others: dict[str, str], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        load_model(tiny_copy(*without, **others))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_model_and_a_name_of_a_hub_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"PK something else")
    with pytest.raises(InputError, match="is not a GGUF file"):
        load_model(tmp_path / "x.gguf")
    with pytest.raises(InputError, match="never from a hub; fetch one first: hf download"):
        load_model("bert-base-uncased")


def test_weights_of_another_size_and_a_foreign_tokenizer_are_refused(
    tiny_copy: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tiny_copy("config.json")
    small_bert().config.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
    with pytest.raises(InputError, match=r"do not fit config\.json"):
        load_model(folder)
    few = small_bert(vocab_size=40)
    with pytest.raises(InputError, match="tokenizer"):
        load_model((few, wordpieces()))


def test_a_model_without_a_head_predicts_nothing(tiny: Path) -> None:
    with pytest.raises(InputError, match="weights"):
        load_model(tiny, kind="masked")
    with pytest.raises(InputError, match="predicts"):
        load_model((small_bert(), wordpieces()), kind="masked")


def test_too_little_memory_is_one_sentence(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object, **_named: object) -> None:
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")

    monkeypatch.setattr("torch.nn.Module.to", full)
    with pytest.raises(InputError, match="tiny-bert"):
        load_model(tiny)


def test_gguf_gives_the_weights_and_tokens_that_were_written(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=32, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, initializer_range=0.3, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 5000.0},
    )  # fmt: skip
    torch.manual_seed(1)
    model = LlamaForCausalLM(config).eval()
    names = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
             "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate",
             "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "post_attention_layernorm": "ffn_norm"}  # fmt: skip
    writer = gguf.GGUFWriter(tmp_path / "tiny.gguf", "llama")
    for key, value in {
        "block_count": 2,
        "context_length": 64,
        "embedding_length": 32,
        "feed_forward_length": 64,
    }.items():
        writer.add_uint32(f"llama.{key}", value)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_rope_freq_base(5000.0)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    tokens = ["<end>", *"abcdefghij", "Ġ", "1", "2", "ab", "Ġab", *(f"x{number}" for number in range(16))]
    writer.add_token_list(tokens)
    writer.add_token_types([3, *[1] * 31])
    writer.add_token_merges(["a b", "Ġ ab"])
    writer.add_eos_token_id(0)
    writer.add_tensor("token_embd.weight", model.model.embed_tokens.weight.detach().numpy())
    writer.add_tensor("output_norm.weight", model.model.norm.weight.detach().numpy())
    expected = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    for number in range(2):
        for theirs, ours in names.items():
            values = model.state_dict()[f"model.layers.{number}.{theirs}.weight"].numpy()
            heads = {"attn_q": 4, "attn_k": 2}.get(ours)
            if heads:  # GGUF has the two halves of a rotation side by side
                values = values.reshape(heads, 2, -1, values.shape[1]).swapaxes(1, 2).reshape(values.shape)
            kind = None
            if ours == "ffn_up":  # one of them quantized: the model must have what can be read of it
                kind = gguf.GGMLQuantizationType.Q8_0
                values = gguf.quants.quantize(np.ascontiguousarray(values), kind)
                back = torch.from_numpy(gguf.quants.dequantize(values, kind))
                expected[f"model.layers.{number}.{theirs}.weight"] = back
            writer.add_tensor(f"blk.{number}.{ours}.weight", np.ascontiguousarray(values), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    loaded = load_model(tmp_path / "tiny.gguf", kind="causal")
    assert loaded.tokenizer("ab ab12")["input_ids"] == [14, 15, 12, 13]
    model.load_state_dict(expected)
    with torch.inference_mode():
        given = torch.tensor([[14, 15, 12, 3, 4]])
        torch.testing.assert_close(loaded.model(given).logits, model(given).logits, atol=1e-5, rtol=0)
    with pytest.raises(InputError, match="predict"):
        load_model(tmp_path / "tiny.gguf", kind="masked")
    whole = (tmp_path / "tiny.gguf").read_bytes()
    for size in (5, 200, len(whole) // 2):
        (tmp_path / "cut.gguf").write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"cut\.gguf: "):
            load_model(tmp_path / "cut.gguf")


def test_the_shape_of_a_folder_is_known_without_its_weights(tiny: Path) -> None:
    loaded = TransformerEncoder(load_model(tiny))
    found = model_shape(tiny)
    assert (found.layers, found.poolings, found.dim) == (loaded.layers, loaded.poolings, loaded.width)
    assert found.name == loaded.name
    with pytest.raises(InputError, match="nowhere: there is no such folder"):
        model_shape("nowhere")


def test_weights_of_another_shape_are_named(tiny: Path, tmp_path: Path) -> None:
    for file in tiny.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "intermediate_size": 2 * config["intermediate_size"]}))
    with pytest.raises(InputError, match="missing"):
        load_model(tmp_path)


@pytest.mark.parametrize(("kind", "split"), [("gpt2", "unheard-of"), ("llama", "default")])
def test_a_gguf_file_with_another_tokenizer_is_refused(kind: str, split: str) -> None:
    fields: Any = SimpleNamespace(path="x.gguf", get={"tokenizer.ggml.model": kind, "tokenizer.ggml.pre": split}.get)
    with pytest.raises(InputError, match=rf"x\.gguf: has a tokenizer of the kind {kind}/{split}, and those of "):
        gguf_file._tokenizer(fields)  # noqa: SLF001 - a whole file takes a library
