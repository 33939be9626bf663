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
from typing import Any

TYPES = frozenset({"bert", "roberta", "xlm-roberta", "camembert"})
"""Model types of one architecture: attention, residual, norm; two products, residual, norm."""
CLOSE = 1e-3
"""Tolerance for a hidden state, in standard deviations of all; rounding is a hundredth of that."""


class PackedLayers:
    """All layers of one model, whose products oneDNN fuses or functions that every device has compute.

    `of` returns None for a model that it cannot replace.
    """

    def __init__(self, model: Any, *, one_dnn: bool) -> None:  # noqa: ANN401 - a PreTrainedModel
        self._model = model
        self._heads = int(model.config.num_attention_heads)
        self._linear = _fused_linear if one_dnn else _plain_linear
        self._layers = [_pack_layer(layer, one_dnn=one_dnn) for layer in model.encoder.layer]

    @classmethod
    def of(cls, model: Any) -> PackedLayers | None:  # noqa: ANN401 - as above
        """Pack the layers of a model; None where they are of another kind, or a CPU has no oneDNN."""
        import torch

        config = model.config
        alike = config.model_type in TYPES and config.hidden_act == "gelu" and not getattr(config, "is_decoder", False)
        absolute = getattr(config, "position_embedding_type", "absolute") in (None, "absolute")
        on_cpu = model.device.type == "cpu"
        has_library = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        supported = has_library if on_cpu else model.device.type == "cuda"
        if not (alike and absolute and model.dtype == torch.float32 and supported) or model.training:
            return None
        try:
            with torch.inference_mode():
                packed = cls(model, one_dnn=on_cpu)
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

        x = self._model.embeddings(input_ids=tokens)
        x = x.view(-1, x.shape[-1])
        yield x
        # Padding gets −∞ (the least number) before the softmax of attention.
        bias = None if mask is None else torch.where(mask[:, None, None].bool(), 0.0, torch.finfo(x.dtype).min)
        for number, (qkv, output, inner, outer, first_norm, second_norm) in enumerate(self._layers, 1):
            heads = self._linear(x, qkv).view(*tokens.shape, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
            mixed = scaled_dot_product_attention(heads[0], heads[1], heads[2], attn_mask=bias)
            mixed = mixed.transpose(1, 2).reshape(x.shape)
            if number == len(self._layers) and needed is not None:
                mixed, x = mixed[needed], x[needed]
            x = layer_norm(self._linear(mixed, output, residual=x), *first_norm)
            x = layer_norm(self._linear(self._linear(x, inner, gelu=True), outer, residual=x), *second_norm)
            yield x

    def _agrees(self) -> bool:
        """Compare with the model's own hidden states, with padding and without."""
        import torch

        random = torch.Generator().manual_seed(0)
        tokens = torch.randint(3, max(int(self._model.config.vocab_size), 4), (3, 7), generator=random)
        tokens = tokens.to(self._model.device)
        full, padded = torch.ones_like(tokens), torch.ones_like(tokens)
        padded[1, 4:] = 0
        for mask in (full, padded):
            expected = self._model(tokens, attention_mask=mask, output_hidden_states=True, return_dict=True)
            real = mask.view(-1).bool()
            ours = self.states(tokens, None if mask is full else mask, None)
            for states, model_states in zip(ours, expected.hidden_states, strict=True):
                flat = model_states.reshape(states.shape)[real]
                if not bool((states[real] - flat).abs().max() <= CLOSE * flat.std()):
                    return False
        return True


def _fused_linear(x: Any, product: Any, *, gelu: bool = False, residual: Any = None) -> Any:  # noqa: ANN401 - tensors
    """X · weights + bias, then GELU or plus a residual, in one call of oneDNN, as torch.compile makes it."""
    import torch

    linear = torch.ops.mkldnn._linear_pointwise  # noqa: SLF001 - there is no public name
    if residual is not None:
        return linear.binary(x, residual, *product, "add")
    return linear(x, *product, "gelu", [], "none") if gelu else linear(x, *product, "none", [], "")


def _plain_linear(x: Any, product: Any, *, gelu: bool = False, residual: Any = None) -> Any:  # noqa: ANN401 - tensors
    """Compute the same by functions that every device has."""
    from torch.nn import functional

    outcome = functional.linear(x, *product)
    if residual is not None:
        return outcome.add_(residual)
    return functional.gelu(outcome) if gelu else outcome


def _pack_layer(layer: Any, *, one_dnn: bool) -> tuple[Any, ...]:  # noqa: ANN401 - a layer of transformers
    """Weights and bias of the four products of one layer, and the arguments of its two norms."""
    import torch

    def product(weight: Any, bias: Any) -> tuple[Any, Any]:  # noqa: ANN401 - tensors
        weight = weight.detach()
        if one_dnn:
            weight = torch.ops.mkldnn._reorder_linear_weight(weight, 1024)  # noqa: SLF001 - as above
        return weight, bias

    attention = layer.attention.self
    parts = (attention.query, attention.key, attention.value)
    qkv = torch.cat([linear.weight for linear in parts]), torch.cat([linear.bias for linear in parts])
    linears = (layer.attention.output.dense, layer.intermediate.dense, layer.output.dense)
    norms = (layer.attention.output.LayerNorm, layer.output.LayerNorm)
    return (
        product(*qkv),
        *(product(linear.weight, linear.bias) for linear in linears),
        *((tuple(norm.weight.shape), norm.weight, norm.bias, norm.eps) for norm in norms),
    )
