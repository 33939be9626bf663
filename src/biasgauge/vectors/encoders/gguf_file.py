"""A GGUF file to a Llama model and its tokenizer: weights are dequantized to single precision once, when read.

Why not transformers' own reader (5.22 checked): it needs `accelerate` for the weights, and a tokenizer whose way of
splitting text it does not know (SmolLM's, for one) is silently replaced by its default, which gives other tokens.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from biasgauge.core import Singles
from biasgauge.errors import InputError
from biasgauge.vectors.encoders.gguf_header import check_header

_INSTALL = 'GGUF files need an extra: pip install "biasgauge[transformers]"'
_CONTROL, _USER_DEFINED = 3, 4
"""Types of tokens that are never split."""
_MOST_DIMENSIONS = 2**16
"""Of an attention head; its rotary frequencies are computed."""
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SPLITS: dict[str, tuple[bool, str]] = {
    "default": (False, _GPT2),
    "gpt-2": (False, _GPT2),
    "smollm": (True, _GPT2),
    "starcoder": (True, _GPT2),
    "refact": (True, _GPT2),
    "llama-bpe": (False, _LLAMA3),
}
"""Splitting of text before pieces are looked up, by the name in the file: whether each digit is alone, and the pattern.
Facts about the tokenizers of these models, as their tokenizer.json states them."""
_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_OUTSIDE = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}


def model_from_gguf(path: Path, *, head: bool) -> tuple[Any, Any]:
    """Load the model of a GGUF file, with its head or without, and its tokenizer."""
    fields, tensors = _opened(path)
    return _llama(fields, tensors, head=head), _tokenizer(fields)


def parts_of_gguf(path: Path) -> tuple[Any, Any]:
    """Load the configuration and the tokenizer of a GGUF file; its weights are not read."""
    fields, tensors = _opened(path)
    return _config(fields, tensors), _tokenizer(fields)


def _opened(path: Path) -> tuple[_Fields, Any]:
    try:
        import gguf
    except ImportError as problem:
        raise InputError(_INSTALL) from problem
    check_header(path)
    try:
        reader = gguf.GGUFReader(path)
    except (ValueError, IndexError, KeyError, OSError, OverflowError) as problem:
        raise InputError(f"{path}: is damaged: {problem}") from problem
    return _Fields(path, reader.fields), reader.tensors


class _Fields:
    """Metadata of the file."""

    def __init__(self, path: Path, fields: Any) -> None:  # noqa: ANN401 - the library has no types
        self.path = path
        self._fields = fields

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def get(self, name: str, default: Any = None) -> Any:  # noqa: ANN401 - a field has any type
        """Return a field; an error where it is missing and has no default."""
        if name not in self._fields:
            if default is None:
                raise InputError(f"{self.path}: is damaged: it does not state {name}")
            return default
        return self._fields[name].contents()


def _config(fields: _Fields, tensors: Any) -> Any:  # noqa: ANN401 - objects of two libraries
    from transformers import LlamaConfig

    architecture = fields.get("general.architecture")
    if architecture != "llama":
        raise InputError(f"{fields.path}: is of the architecture {architecture!r}; GGUF files of Llama are read")
    scaled = [name for name in ("llama.rope.scaling.type",) if fields.get(name, "none") != "none"]
    names = {str(tensor.name) for tensor in tensors}
    if scaled or "rope_freqs.weight" in names:
        raise InputError(f"{fields.path}: scales its rotary positions, which is not known here; use its folder instead")
    heads = int(fields.get("llama.attention.head_count"))
    width = int(fields.get("llama.embedding_length"))
    layers = int(fields.get("llama.block_count"))
    head_dim = int(fields.get("llama.attention.key_length", width // heads if heads else 0))
    vocabulary: list[int] = next(
        (tensor.shape.tolist() for tensor in tensors if tensor.name == "token_embd.weight"), []
    )
    if len(vocabulary) != 2 or vocabulary[0] != width or not 0 < layers <= len(tensors) or not heads:
        raise InputError(f"{fields.path}: is damaged: its tensors do not fit its settings")
    if not 0 < head_dim <= _MOST_DIMENSIONS:
        raise InputError(f"{fields.path}: is damaged: its attention heads have {head_dim:,} dimensions")
    return LlamaConfig(
        vocab_size=vocabulary[1],
        hidden_size=width,
        intermediate_size=int(fields.get("llama.feed_forward_length")),
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=int(fields.get("llama.attention.head_count_kv", heads)),
        head_dim=head_dim,
        max_position_embeddings=int(fields.get("llama.context_length")),
        rms_norm_eps=float(fields.get("llama.attention.layer_norm_rms_epsilon")),
        rope_parameters={"rope_type": "default", "rope_theta": float(fields.get("llama.rope.freq_base", 10_000.0))},
        tie_word_embeddings="output.weight" not in names,
        bos_token_id=fields.get("tokenizer.ggml.bos_token_id", 1),
        eos_token_id=fields.get("tokenizer.ggml.eos_token_id", 2),
    )


def _llama(fields: _Fields, tensors: Any, *, head: bool) -> Any:  # noqa: ANN401 - objects of two libraries
    import torch
    from transformers import LlamaForCausalLM

    config = _config(fields, tensors)
    with torch.device("meta"):
        model = LlamaForCausalLM(config)
    weights = {}
    for tensor in tensors:
        key = _key(fields, str(tensor.name))
        values = _dequantized(fields, tensor)
        if key.endswith(("q_proj.weight", "k_proj.weight")):
            values = _half_split(
                values, config.num_attention_heads if key.endswith("q_proj.weight") else config.num_key_value_heads
            )
        weights[key] = torch.from_numpy(np.require(values, requirements=("C", "W")))
    if config.tie_word_embeddings:
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    try:
        model.load_state_dict(weights, assign=True)
    except RuntimeError as problem:
        raise InputError(f"{fields.path}: is damaged: its tensors do not fit its settings") from problem
    model.model.rotary_emb = type(model.model.rotary_emb)(config)  # computed, not stored: still without values
    model.tie_weights()
    return model if head else model.model


def _key(fields: _Fields, name: str) -> str:
    """Name of a tensor in transformers."""
    if name in _OUTSIDE:
        return _OUTSIDE[name]
    block, _, tail = name.removeprefix("blk.").partition(".")
    layer_part, _, kind = tail.partition(".")
    if not name.startswith("blk.") or layer_part not in _LAYER or kind != "weight":
        raise InputError(f"{fields.path}: holds the tensor {name}, which a Llama model does not have")
    return f"model.layers.{block}.{_LAYER[layer_part]}.weight"


def _dequantized(fields: _Fields, tensor: Any) -> Singles:  # noqa: ANN401 - the library has no types
    from gguf.quants import dequantize

    try:
        values: Singles = np.asarray(dequantize(tensor.data, tensor.tensor_type), np.float32)
    except NotImplementedError as problem:
        kind = tensor.tensor_type.name
        raise InputError(
            f"{fields.path}: is quantized as {kind}, which cannot be read; use Q4_1, Q8_0, F16"
        ) from problem
    return values


def _half_split(values: Singles, heads: int) -> Singles:
    """Reorder the rows of each head from GGUF (rotated pairs side by side) to transformers (two halves)."""
    rows, columns = values.shape
    pairs = values.reshape(heads, rows // heads // 2, 2, columns)
    return pairs.swapaxes(1, 2).reshape(rows, columns)


def _tokenizer(fields: _Fields) -> Any:  # noqa: ANN401 - the library has no types
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    kind, split = fields.get("tokenizer.ggml.model"), fields.get("tokenizer.ggml.pre", "default")
    if kind != "gpt2" or split not in SPLITS:
        raise InputError(
            f"{fields.path}: has a tokenizer of the kind {kind}/{split}, and those of {', '.join(SPLITS)} are known; "
            "load the model's folder instead"
        )
    tokens: list[str] = fields.get("tokenizer.ggml.tokens")
    types: list[int] = fields.get("tokenizer.ggml.token_type", [1] * len(tokens))
    merges = [tuple(merge.split(" ", 1)) for merge in fields.get("tokenizer.ggml.merges")]
    tokenizer = Tokenizer(models.BPE(vocab={token: number for number, token in enumerate(tokens)}, merges=merges))
    digits, pattern = SPLITS[split]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            *([pre_tokenizers.Digits(individual_digits=True)] if digits else []),
            pre_tokenizers.Split(Regex(pattern), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    unsplit = [token for token, type_ in zip(tokens, types, strict=True) if type_ in (_CONTROL, _USER_DEFINED)]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in unsplit])
    special = {
        f"{role}_token": tokens[fields.get(f"tokenizer.ggml.{role_id}_token_id")]
        for role, role_id in (("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding"))
        if f"tokenizer.ggml.{role_id}_token_id" in fields
    }
    byte_level = processors.ByteLevel(trim_offsets=True)
    if fields.get("tokenizer.ggml.add_bos_token", False) and "bos_token" in special:
        start = special["bos_token"]
        template = processors.TemplateProcessing(
            single=f"{start} $A", pair=f"{start} $A {start} $B", special_tokens=[(start, tokens.index(start))]
        )
        tokenizer.post_processor = processors.Sequence([byte_level, template])
    else:
        tokenizer.post_processor = byte_level
    special.setdefault("pad_token", special.get("eos_token", tokens[0]))
    longest = int(fields.get("llama.context_length"))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=longest, **special)
