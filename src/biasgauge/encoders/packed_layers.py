"""The layers of BERT and its kin on a CPU, with weights packed for oneDNN: about half as long as the model's own pass.

Nearly all time of a small encoder goes into matrix products. Here queries, keys and values are one product, products
carry what follows them (bias, GELU, the residual) and their weights lie as the library wants them; in the last layer
only tokens that somebody asked for go through its second half. Whatever these layers give was held against the model
itself on the first sentences: where it differs, or a library lacks what is needed, there are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TYPES = frozenset({"bert", "roberta", "xlm-roberta", "camembert"})
"""Whose layers are built alike: attention, residual, norm; two products, residual, norm."""
CLOSE = 1e-3
"""How far a hidden state may be from the model's own, in standard deviations of all; rounding is 1e-5 of that."""


@dataclass(frozen=True)
class _Layer:
    """Packed weights of one layer, and its norms."""

    qkv: Any
    mixed: Any
    inner: Any
    outer: Any
    first_norm: Any
    second_norm: Any


class PackedLayers:
    """All layers of one model; `of` gives None for a model that it cannot stand for."""

    def __init__(self, model: Any) -> None:  # noqa: ANN401 - a PreTrainedModel
        self._model = model
        self._heads = int(model.config.num_attention_heads)
        self._layers = [_packed(layer) for layer in model.encoder.layer]

    @classmethod
    def of(cls, model: Any) -> PackedLayers | None:  # noqa: ANN401 - as above
        """The layers of a model on a CPU; None where they are of another kind, or this machine has no oneDNN."""
        import torch

        config = model.config
        alike = config.model_type in TYPES and config.hidden_act == "gelu" and not getattr(config, "is_decoder", False)
        absolute = getattr(config, "position_embedding_type", "absolute") in (None, "absolute")
        single = model.device.type == "cpu" and model.dtype == torch.float32
        has_library = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        if not (alike and absolute and single and has_library) or model.training:
            return None
        try:
            with torch.inference_mode():
                packed = cls(model)
                return packed if packed._agrees() else None
        except (AttributeError, NotImplementedError, RuntimeError, TypeError):  # another version of a library
            return None

    def states(self, tokens: Any, mask: Any, needed: Any) -> Iterator[Any]:  # noqa: ANN401 - tensors
        """Hidden states of layer 0, 1, …, each (sentences · tokens) × width.

        Args:
            tokens: sentences × tokens.
            mask: which are no padding; None where all are.
            needed: rows of the last layer that are wanted, in order, which it then consists of; None for all.
        """
        import torch
        from torch.nn.functional import layer_norm, scaled_dot_product_attention

        linear = torch.ops.mkldnn._linear_pointwise  # noqa: SLF001 - what torch.compile calls
        shape = tokens.shape
        x = self._model.embeddings(input_ids=tokens)
        x = x.view(-1, x.shape[-1])
        yield x
        bias = None if mask is None else torch.where(mask[:, None, None].bool(), 0.0, torch.finfo(x.dtype).min)
        for number, layer in enumerate(self._layers, 1):
            qkv = linear(x, *layer.qkv, "none", [], "").view(*shape, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
            mixed = scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], attn_mask=bias)
            mixed = mixed.transpose(1, 2).reshape(x.shape)
            if number == len(self._layers) and needed is not None:
                mixed, x = mixed[needed], x[needed]
            x = layer_norm(linear.binary(mixed, x, *layer.mixed, "add"), *layer.first_norm)
            inner = linear(x, *layer.inner, "gelu", [], "none")
            x = layer_norm(linear.binary(inner, x, *layer.outer, "add"), *layer.second_norm)
            yield x

    def _agrees(self) -> bool:
        """Whether the model itself gives the same hidden states, with padding and without."""
        import torch

        random = torch.Generator().manual_seed(0)
        tokens = torch.randint(3, max(int(self._model.config.vocab_size), 4), (3, 7), generator=random)
        mask = torch.ones_like(tokens)
        mask[1, 4:] = 0
        for around in (None, mask):
            given = {} if around is None else {"attention_mask": around}
            own = self._model(tokens, **given, output_hidden_states=True, return_dict=True).hidden_states
            kept = torch.ones(21, dtype=torch.bool) if around is None else around.view(-1).bool()
            for ours, theirs in zip(self.states(tokens, around, None), own, strict=True):
                flat = theirs.reshape(ours.shape)[kept]
                if not bool((ours[kept] - flat).abs().max() <= CLOSE * flat.std()):
                    return False
        return True


def _packed(layer: Any) -> _Layer:  # noqa: ANN401 - a layer of transformers
    import torch

    attention = layer.attention.self
    parts = (attention.query, attention.key, attention.value)
    weight = torch.cat([part.weight for part in parts])
    bias = torch.cat([part.bias for part in parts])
    return _Layer(
        (_reordered(weight), bias.contiguous()),
        *((_reordered(part.weight), part.bias) for part in
          (layer.attention.output.dense, layer.intermediate.dense, layer.output.dense)),
        *(((norm.weight.shape[0],), norm.weight, norm.bias, norm.eps) for norm in
          (layer.attention.output.LayerNorm, layer.output.LayerNorm)),
    )  # fmt: skip


def _reordered(weight: Any) -> Any:  # noqa: ANN401 - a tensor
    import torch

    return torch.ops.mkldnn._reorder_linear_weight(weight.detach(), 1024)  # noqa: SLF001 - as above
