"""BERT's forward pass in NumPy, from its weights alone: the oracle for hidden states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, softmax

Array = NDArray[np.float64]


def hidden_states(
    weights: Mapping[str, NDArray[Any]], tokens: Sequence[int], heads: int, epsilon: float
) -> list[Array]:
    """The states of one sentence at layers 0 … n, tokens × dimensions each, in double precision."""
    w = {name: np.asarray(values, np.float64) for name, values in weights.items()}

    def linear(x: Array, name: str) -> Array:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(x: Array, name: str) -> Array:
        centered = x - x.mean(axis=-1, keepdims=True)
        scaled = centered / np.sqrt((centered**2).mean(axis=-1, keepdims=True) + epsilon)
        shifted: Array = scaled * w[f"{name}.weight"] + w[f"{name}.bias"]
        return shifted

    x = w["embeddings.word_embeddings.weight"][list(tokens)]
    x = x + w["embeddings.position_embeddings.weight"][: len(tokens)] + w["embeddings.token_type_embeddings.weight"][0]
    states = [norm(x, "embeddings.LayerNorm")]
    layer = 0
    while f"encoder.layer.{layer}.attention.self.query.weight" in w:
        at, x = f"encoder.layer.{layer}", states[-1]
        query, key, value = (
            linear(x, f"{at}.attention.self.{part}").reshape(len(tokens), heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        attention = softmax(query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1]), axis=-1)
        mixed = (attention @ value).transpose(1, 0, 2).reshape(x.shape)
        x = norm(linear(mixed, f"{at}.attention.output.dense") + x, f"{at}.attention.output.LayerNorm")
        inner = linear(x, f"{at}.intermediate.dense")
        inner = inner * (1 + erf(inner / np.sqrt(2))) / 2
        states.append(norm(linear(inner, f"{at}.output.dense") + x, f"{at}.output.LayerNorm"))
        layer += 1
    return states
