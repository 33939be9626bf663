"""Layers of BERT and related models as products and norms alone, faster than the model's own classes.

Queries, keys and values are one product, and in the last layer only tokens that are pooled go through its second
half. On a CPU nearly all time of a small encoder goes into matrix products: there they carry what follows them
(bias, GELU, the residual) and their weights are in oneDNN's order, which takes about half the time of the model's own
pass (bench/encoders.py). A GPU waits for Python where a model is small: there the number of calls counts.

The states of these layers are compared with the model's own on three sentences first: where they differ, or a library
lacks a function, the model's own layers are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TYPES = frozenset({"bert", "roberta", "xlm-roberta", "camembert"})
"""Model types of one architecture: attention, residual, norm; two products, residual, norm."""
CLOSE = 1e-3
"""Tolerance for a hidden state, in standard deviations of all; rounding is a hundredth of that."""


@dataclass(frozen=True)
class _Layer:
    """Weights and bias of each product of one layer, and its norms."""

    qkv: Any
    mixed: Any
    inner: Any
    outer: Any
    first_norm: Any
    second_norm: Any


class PackedLayers:
    """All layers of one model; `of` returns None for a model that it cannot replace."""

    def __init__(self, model: Any, products: OneDnn | Plain) -> None:  # noqa: ANN401 - a PreTrainedModel
        self._model = model
        self._heads = int(model.config.num_attention_heads)
        self._products = products
        self._layers = [_pack_layer(layer, products) for layer in model.encoder.layer]

    @classmethod
    def of(cls, model: Any) -> PackedLayers | None:  # noqa: ANN401 - as above
        """Pack the layers of a model; None where they are of another kind, or a CPU has no oneDNN."""
        import torch

        config = model.config
        alike = config.model_type in TYPES and config.hidden_act == "gelu" and not getattr(config, "is_decoder", False)
        absolute = getattr(config, "position_embedding_type", "absolute") in (None, "absolute")
        single = model.dtype == torch.float32
        on_cpu = model.device.type == "cpu"
        has_library = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        supported = has_library if on_cpu else model.device.type == "cuda"
        if not (alike and absolute and single and supported) or model.training:
            return None
        try:
            with torch.inference_mode():
                packed = cls(model, OneDnn() if on_cpu else Plain())
                return packed if packed._agrees() else None
        except (AttributeError, NotImplementedError, RuntimeError, TypeError):  # another version of a library
            return None

    def states(self, tokens: Any, mask: Any, needed: Any) -> Iterator[Any]:  # noqa: ANN401 - tensors
        """Yield hidden states of layer 0, 1, …, each (sentences · tokens) × width.

        Args:
            tokens: sentences × tokens.
            mask: 0 for padding; None where there is none.
            needed: rows of the last layer to return, in order; None for all.
        """
        import torch
        from torch.nn.functional import layer_norm, scaled_dot_product_attention

        products = self._products
        shape = tokens.shape
        x = self._model.embeddings(input_ids=tokens)
        x = x.view(-1, x.shape[-1])
        yield x
        # Padding gets −∞ (the least number) before the softmax of attention.
        bias = None if mask is None else torch.where(mask[:, None, None].bool(), 0.0, torch.finfo(x.dtype).min)
        for number, layer in enumerate(self._layers, 1):
            qkv = products.plain(x, layer.qkv).view(*shape, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
            mixed = scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], attn_mask=bias)
            mixed = mixed.transpose(1, 2).reshape(x.shape)
            if number == len(self._layers) and needed is not None:
                mixed, x = mixed[needed], x[needed]
            x = layer_norm(products.added(mixed, layer.mixed, x), *layer.first_norm)
            inner = products.gelu(x, layer.inner)
            x = layer_norm(products.added(inner, layer.outer, x), *layer.second_norm)
            yield x

    def _agrees(self) -> bool:
        """Compare with the model's own hidden states, with padding and without."""
        import torch

        random = torch.Generator().manual_seed(0)
        tokens = torch.randint(3, max(int(self._model.config.vocab_size), 4), (3, 7), generator=random)
        tokens = tokens.to(self._model.device)
        mask = torch.ones_like(tokens)
        mask[1, 4:] = 0
        for attention in (None, mask):
            arguments = {} if attention is None else {"attention_mask": attention}
            expected = self._model(tokens, **arguments, output_hidden_states=True, return_dict=True).hidden_states
            real = torch.ones_like(tokens).view(-1).bool() if attention is None else attention.view(-1).bool()
            for ours, theirs in zip(self.states(tokens, attention, None), expected, strict=True):
                flat = theirs.reshape(ours.shape)[real]
                if not bool((ours[real] - flat).abs().max() <= CLOSE * flat.std()):
                    return False
        return True


class OneDnn:
    """Products on a CPU: weights in the library's order, fused with the operation that follows."""

    def __init__(self) -> None:
        import torch

        self._linear = torch.ops.mkldnn._linear_pointwise  # noqa: SLF001 - what torch.compile calls

    def ordered(self, weight: Any) -> Any:  # noqa: ANN401 - a tensor
        """Reorder weights for the other calls."""
        import torch

        return torch.ops.mkldnn._reorder_linear_weight(weight.detach(), 1024)  # noqa: SLF001 - as above

    def plain(self, x: Any, product: Any) -> Any:  # noqa: ANN401 - tensors
        """X · weights + bias."""
        return self._linear(x, *product, "none", [], "")

    def gelu(self, x: Any, product: Any) -> Any:  # noqa: ANN401 - tensors
        """GELU(X · weights + bias)."""
        return self._linear(x, *product, "gelu", [], "none")

    def added(self, x: Any, product: Any, residual: Any) -> Any:  # noqa: ANN401 - tensors
        """X · weights + bias + residual."""
        return self._linear.binary(x, residual, *product, "add")


class Plain:
    """The same products by functions that every device has."""

    def ordered(self, weight: Any) -> Any:  # noqa: ANN401 - a tensor
        """Return weights unchanged."""
        return weight.detach()

    def plain(self, x: Any, product: Any) -> Any:  # noqa: ANN401 - tensors
        """X · weights + bias."""
        from torch.nn.functional import linear

        return linear(x, *product)

    def gelu(self, x: Any, product: Any) -> Any:  # noqa: ANN401 - tensors
        """GELU(X · weights + bias)."""
        from torch.nn.functional import gelu

        return gelu(self.plain(x, product))

    def added(self, x: Any, product: Any, residual: Any) -> Any:  # noqa: ANN401 - tensors
        """X · weights + bias + residual."""
        return self.plain(x, product).add_(residual)


def _pack_layer(layer: Any, products: OneDnn | Plain) -> _Layer:  # noqa: ANN401 - a layer of transformers
    import torch

    attention = layer.attention.self
    parts = (attention.query, attention.key, attention.value)
    weight = torch.cat([linear.weight for linear in parts])
    bias = torch.cat([linear.bias for linear in parts])
    return _Layer(
        (products.ordered(weight), bias.contiguous()),
        *((products.ordered(linear.weight), linear.bias) for linear in
          (layer.attention.output.dense, layer.intermediate.dense, layer.output.dense)),
        *(((norm.weight.shape[0],), norm.weight, norm.bias, norm.eps) for norm in
          (layer.attention.output.LayerNorm, layer.output.LayerNorm)),
    )  # fmt: skip
