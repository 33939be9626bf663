"""Small transformers of many random seeds side by side: one set of launches on a GPU for all of them.

Every weight has the seeds as its first axis, under the name that transformers gives it; forward passes of
ModernBERT and Llama are written out for such stacks. `save` writes each seed as a folder in the layout of Hugging Face.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional

Kind = Literal["masked", "causal"]
ROPE_BASE = 10_000.0
EPSILON = {"masked": 1e-5, "causal": 1e-6}


def config_of(kind: Kind, vocabulary: int, size: dict[str, int]) -> Any:  # noqa: ANN401 - of transformers
    """The settings as transformers knows them."""
    from transformers import LlamaConfig, ModernBertConfig

    shared = {
        "vocab_size": vocabulary, "hidden_size": size["width"], "num_hidden_layers": size["layers"],
        "num_attention_heads": size["heads"], "max_position_embeddings": size["window"],
        "intermediate_size": 8 * size["width"] // 3 // 16 * 16, "tie_word_embeddings": True, "pad_token_id": 0,
        "bos_token_id": 2, "eos_token_id": 3,
    }  # fmt: skip
    rotary = {"rope_type": "default", "rope_theta": ROPE_BASE}
    if kind == "masked":
        return ModernBertConfig(
            **shared, norm_eps=EPSILON["masked"], layer_types=["full_attention"] * size["layers"], cls_token_id=2,
            sep_token_id=3, rope_parameters={"full_attention": rotary}, architectures=["ModernBertForMaskedLM"],
        )  # fmt: skip
    return LlamaConfig(
        **shared, num_key_value_heads=size["heads"], rms_norm_eps=EPSILON["causal"], rope_parameters=rotary,
        architectures=["LlamaForCausalLM"],
    )  # fmt: skip


def shapes_of(kind: Kind, config: Any) -> dict[str, tuple[int, ...]]:  # noqa: ANN401 - as above
    """Shape of every weight of one model, by the name that transformers gives it; tied ones once."""
    width, inner, words = config.hidden_size, config.intermediate_size, config.vocab_size
    shapes: dict[str, tuple[int, ...]] = {}
    if kind == "causal":
        shapes["model.embed_tokens.weight"] = (words, width)
        for layer in range(config.num_hidden_layers):
            own = f"model.layers.{layer}."
            shapes |= {f"{own}{name}.weight": (width,) for name in ("input_layernorm", "post_attention_layernorm")}
            shapes |= {f"{own}self_attn.{name}_proj.weight": (width, width) for name in "qkvo"}
            shapes |= {f"{own}mlp.{name}_proj.weight": (inner, width) for name in ("gate", "up")}
            shapes[f"{own}mlp.down_proj.weight"] = (width, inner)
        return {**shapes, "model.norm.weight": (width,)}

    shapes["model.embeddings.tok_embeddings.weight"] = (words, width)
    shapes["model.embeddings.norm.weight"] = (width,)
    for layer in range(config.num_hidden_layers):
        own = f"model.layers.{layer}."
        shapes |= {f"{own}{name}.weight": (width,) for name in (("attn_norm", "mlp_norm") if layer else ("mlp_norm",))}
        shapes |= {f"{own}attn.Wqkv.weight": (3 * width, width), f"{own}attn.Wo.weight": (width, width)}
        shapes |= {f"{own}mlp.Wi.weight": (2 * inner, width), f"{own}mlp.Wo.weight": (width, inner)}
    shapes |= {"model.final_norm.weight": (width,), "head.dense.weight": (width, width), "head.norm.weight": (width,)}
    return {**shapes, "decoder.bias": (words,)}


class Stack:
    """Models of one kind that differ by their random seed."""

    def __init__(self, kind: Kind, config: Any, seeds: list[int], device: str) -> None:  # noqa: ANN401 - as above
        self.kind, self.config, self.seeds, self.device = kind, config, seeds, device
        self.weights = {
            name: self._start(name, shape).to(device).requires_grad_()
            for name, shape in shapes_of(kind, config).items()
        }

    def _start(self, name: str, shape: tuple[int, ...]) -> Tensor:
        if len(shape) == 1:
            return (
                torch.zeros(len(self.seeds), *shape) if name.endswith("bias") else torch.ones(len(self.seeds), *shape)
            )
        place = sum(ord(letter) * (at + 1) for at, letter in enumerate(name))
        parts = []
        for seed in self.seeds:
            random = torch.Generator().manual_seed(1_000_003 * (seed + 1) + place)
            parts.append(torch.randn(*shape, generator=random) * 0.02)
        return torch.stack(parts)

    def parameters(self) -> list[Tensor]:
        """All weights."""
        return list(self.weights.values())

    def hidden(self, ids: Tensor) -> Tensor:
        """Last hidden states, seeds × sequences × tokens × width, of ids of the same shape without width."""
        return self._modern_bert(ids) if self.kind == "masked" else self._llama(ids)

    def logits(self, states: Tensor) -> Tensor:
        """Predictions from hidden states, seeds × places × width."""
        if self.kind == "causal":
            return states @ self.weights["model.embed_tokens.weight"].transpose(1, 2)
        states = self._norm(functional.gelu(self._dense(states, "head.dense")), "head.norm")
        words = self.weights["model.embeddings.tok_embeddings.weight"]
        return states @ words.transpose(1, 2) + self.weights["decoder.bias"][:, None]

    def _embed(self, ids: Tensor, name: str) -> Tensor:
        table = self.weights[name]
        start = torch.arange(len(self.seeds), device=ids.device)[:, None] * table.shape[1]
        return functional.embedding(ids.flatten(1) + start, table.flatten(0, 1))

    def _dense(self, x: Tensor, name: str) -> Tensor:
        return x @ self.weights[f"{name}.weight"].transpose(1, 2)

    def _norm(self, x: Tensor, name: str) -> Tensor:
        scaled = functional.layer_norm(x.float(), x.shape[-1:], eps=EPSILON["masked"])
        return scaled * self.weights[f"{name}.weight"][:, None]

    def _rms(self, x: Tensor, name: str) -> Tensor:
        x = x.float()
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON["causal"]) * self.weights[name][:, None]

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, shape: torch.Size) -> Tensor:
        """Attention within each sequence; seeds × (sequences · tokens) × width in and out."""
        seeds, sequences, tokens = shape
        heads = self.config.num_attention_heads

        def split(x: Tensor) -> Tensor:
            return x.reshape(seeds * sequences, tokens, heads, -1).transpose(1, 2)

        q, k, v = self._turn(split(q)), self._turn(split(k)), split(v)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=self.kind == "causal")
        return mixed.transpose(1, 2).reshape(seeds, sequences * tokens, -1)

    def _turn(self, x: Tensor) -> Tensor:
        """Rotary positions, halves of a head turned together."""
        size = x.shape[-1]
        rates = ROPE_BASE ** (-torch.arange(0, size, 2, device=x.device, dtype=torch.float32) / size)
        angles = torch.arange(x.shape[2], device=x.device, dtype=torch.float32)[:, None] * rates
        cosine, sine = torch.cos(angles).to(x.dtype), torch.sin(angles).to(x.dtype)
        one, two = x.chunk(2, dim=-1)
        return torch.cat([one * cosine - two * sine, two * cosine + one * sine], dim=-1)

    def _modern_bert(self, ids: Tensor) -> Tensor:
        x = self._norm(self._embed(ids, "model.embeddings.tok_embeddings.weight"), "model.embeddings.norm")
        for layer in range(self.config.num_hidden_layers):
            own = f"model.layers.{layer}."
            h = self._norm(x, f"{own}attn_norm") if layer else x
            q, k, v = self._dense(h, f"{own}attn.Wqkv").chunk(3, dim=-1)
            x = x + self._dense(self._attend(q, k, v, ids.shape), f"{own}attn.Wo")
            inner, gate = self._dense(self._norm(x, f"{own}mlp_norm"), f"{own}mlp.Wi").chunk(2, dim=-1)
            x = x + self._dense(functional.gelu(inner) * gate, f"{own}mlp.Wo")
        return self._norm(x, "model.final_norm").view(*ids.shape, -1)

    def _llama(self, ids: Tensor) -> Tensor:
        x = self._embed(ids, "model.embed_tokens.weight")
        for layer in range(self.config.num_hidden_layers):
            own = f"model.layers.{layer}."
            h = self._rms(x, f"{own}input_layernorm.weight")
            q, k, v = (self._dense(h, f"{own}self_attn.{name}_proj") for name in "qkv")
            x = x + self._dense(self._attend(q, k, v, ids.shape), f"{own}self_attn.o_proj")
            h = self._rms(x, f"{own}post_attention_layernorm.weight")
            inner = functional.silu(self._dense(h, f"{own}mlp.gate_proj")) * self._dense(h, f"{own}mlp.up_proj")
            x = x + self._dense(inner, f"{own}mlp.down_proj")
        return self._rms(x, "model.norm.weight").view(*ids.shape, -1)

    def save(self, folder: Path, tokenizer: Any) -> list[Path]:  # noqa: ANN401 - of transformers
        """One folder for each seed; the weights are loaded strictly, so that a name that is wrong is an error."""
        from transformers import LlamaForCausalLM, ModernBertForMaskedLM

        places = []
        for at, seed in enumerate(self.seeds):
            model: Any = (ModernBertForMaskedLM if self.kind == "masked" else LlamaForCausalLM)(self.config)
            known = {name: value[at].detach().float().cpu() for name, value in self.weights.items()}
            if self.kind == "masked":
                known["decoder.weight"] = known["model.embeddings.tok_embeddings.weight"]
            else:
                known["lm_head.weight"] = known["model.embed_tokens.weight"]
            missing, unexpected = model.load_state_dict(known, strict=False)
            unset = [name for name in missing if "position_ids" not in name]
            if unset or unexpected:
                raise RuntimeError(f"weights do not fit: {unset} {unexpected}")
            place = folder / f"{self.kind}-seed{seed}"
            model.eval().save_pretrained(place)
            tokenizer.save_pretrained(place)
            places.append(place)
        return places
