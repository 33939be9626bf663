"""Vectors of words in sentences from a transformer's hidden states: one pass for all layers and all poolings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np

from biasgauge.arrays import Singles
from biasgauge.encoders.loading import LoadedModel, out_of_memory
from biasgauge.encoders.pieces import Span, TokenizedSentence, batches, padded, tokenize

POOLINGS: Mapping[str, str] = MappingProxyType(
    {
        "mean": "mean over the word's own pieces",
        "first": "the word's first piece",
        "last": "the word's last piece",
        "sentence": "mean over all tokens of the sentence, special ones included",
        "cls": "the classification token",
    }
)
"""Every way from the tokens of a sentence to one vector."""

_STATES_BYTES = 2**27
"""Hidden states of all layers that one batch may fill: bounds the memory."""
_MOST_TOKENS = 8192
_LEAST_TOKENS = 64


@dataclass(frozen=True, eq=False)
class Pooled:
    """Vectors of some sentences.

    Attributes:
        vectors: sentences × layers × poolings × dimensions; NaN for a sentence whose word cannot be used.
        lost: why, by the place of the sentence.
        cut: how many sentences were longer than the window.
    """

    vectors: Singles
    lost: Mapping[int, str]
    cut: int = 0


@runtime_checkable
class ContextEncoder(Protocol):
    """What `encode` needs of a model; a third party's encoder gives one of these from its `contextual`."""

    @property
    def name(self) -> str:
        """What tables call it."""

    @property
    def layers(self) -> int:
        """The number of the last layer; the first is 0."""

    @property
    def poolings(self) -> Sequence[str]:
        """Names of poolings that it has."""

    def pooled(
        self,
        texts: Sequence[str],
        spans: Sequence[Span],
        layers: Sequence[int],
        poolings: Sequence[str],
        progress: Callable[[int], None],
    ) -> Pooled:
        """Vectors of the words that stand at `spans` of `texts`; `progress` is told how many sentences were done."""


class TransformerEncoder:
    """A loaded transformer as an encoder of words in sentences."""

    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded = loaded
        self.name = loaded.name
        self.layers = loaded.layers

    @cached_property
    def poolings(self) -> tuple[str, ...]:
        """All of them, but for "cls" where the tokenizer has no classification token."""
        has_cls = getattr(self.loaded.tokenizer, "cls_token_id", None) is not None
        return tuple(name for name in POOLINGS if name != "cls" or has_cls)

    @cached_property
    def most_tokens(self) -> int:
        """Tokens of a batch, so that its hidden states fit into their share of memory."""
        width = int(self.loaded.model.config.get_text_config().hidden_size)
        return int(np.clip(_STATES_BYTES // ((self.layers + 1) * width * 4), _LEAST_TOKENS, _MOST_TOKENS))

    def pooled(
        self,
        texts: Sequence[str],
        spans: Sequence[Span],
        layers: Sequence[int],
        poolings: Sequence[str],
        progress: Callable[[int], None],
    ) -> Pooled:
        """Vectors of words; as `ContextEncoder` has it."""
        import torch

        tokenized = tokenize(self.loaded, texts, spans)
        lost = {place: sentence for place, sentence in enumerate(tokenized) if isinstance(sentence, str)}
        places = np.array([place for place in range(len(texts)) if place not in lost], np.intp)
        sentences = [sentence for sentence in tokenized if isinstance(sentence, TokenizedSentence)]
        width = int(self.loaded.model.config.get_text_config().hidden_size)
        vectors = np.full((len(texts), len(layers), len(poolings), width), np.nan, np.float32)
        progress(len(lost))
        where = f"{self.name} ran out of memory on {self.loaded.device}; encode fewer layers or words, or use the CPU"
        with torch.inference_mode(), out_of_memory(where):
            for chosen in batches([len(sentence.tokens) for sentence in sentences], self.most_tokens):
                states = self._states([sentences[place] for place in chosen])
                weights = self._weights([sentences[place] for place in chosen], poolings)
                for row, layer in enumerate(layers):
                    vectors[places[chosen], row] = torch.bmm(weights, states[layer].float()).cpu().numpy()
                progress(len(chosen))
        return Pooled(vectors, lost, sum(sentence.cut for sentence in sentences))

    def _states(self, sentences: Sequence[TokenizedSentence]) -> Any:  # noqa: ANN401 - tensors, one a layer
        import torch

        model = self.loaded.model
        if getattr(model.config, "is_encoder_decoder", False):
            model = model.get_encoder()
        tokens, mask = padded(sentences, self.loaded.tokenizer.pad_token_id or 0)
        given: dict[str, Any] = {"input_ids": torch.from_numpy(tokens).to(model.device)}
        if mask is not None:
            given["attention_mask"] = torch.from_numpy(mask).to(model.device)
        if "use_cache" in signature(model.forward).parameters:
            given["use_cache"] = False
        return model(**given, output_hidden_states=True, return_dict=True).hidden_states

    def _weights(self, sentences: Sequence[TokenizedSentence], poolings: Sequence[str]) -> Any:  # noqa: ANN401 - a tensor
        """Sentences × poolings × tokens: how much of each token a pooling takes."""
        import torch

        longest = max(len(sentence.tokens) for sentence in sentences)
        weights = np.zeros((len(sentences), len(poolings), longest), np.float32)
        for row, sentence in zip(weights, sentences, strict=True):
            for weight, pooling in zip(row, poolings, strict=True):
                chosen = _tokens_of(sentence, pooling)
                weight[chosen] = 1 / len(chosen)
        return torch.from_numpy(weights).to(self.loaded.model.device)


def _tokens_of(sentence: TokenizedSentence, pooling: str) -> list[int]:
    """Which tokens a pooling averages."""
    match pooling:
        case "mean":
            return list(sentence.pieces)
        case "first":
            return [sentence.pieces[0]]
        case "last":
            return [sentence.pieces[-1]]
        case "cls":
            return [sentence.cls]
        case _:
            return list(range(len(sentence.tokens)))
