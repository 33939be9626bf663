"""Vectors of words in sentences from a transformer's hidden states: one pass for all layers and all poolings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from inspect import signature
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from biasgauge.arrays import Places, Singles
from biasgauge.encoders.loading import LoadedModel, out_of_memory
from biasgauge.encoders.packed_layers import PackedLayers
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
_PACKED_TOKENS = 2048
"""Tokens of a batch with a thread of its own: what its widest product leaves is read again from the cache."""
SENTENCE = "sentence"


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


class Shaped(Protocol):
    """What can be asked of a model before it is run."""

    @property
    def name(self) -> str:
        """What tables call it."""

    @property
    def layers(self) -> int:
        """The number of the last layer; the first is 0."""

    @property
    def poolings(self) -> Sequence[str]:
        """Names of poolings that it has."""


@runtime_checkable
class ContextEncoder(Shaped, Protocol):
    """What `encode` needs of a model; a third party's encoder gives one of these from its `contextual`."""

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
        return poolings_of(self.loaded.tokenizer)

    @cached_property
    def width(self) -> int:
        """Numbers of a vector."""
        return int(self.loaded.model.config.get_text_config().hidden_size)

    @cached_property
    def most_tokens(self) -> int:
        """Tokens of a batch, so that its hidden states fit into their share of memory; fewer where it has a thread."""
        if self.packed is not None:
            return _PACKED_TOKENS
        return int(np.clip(_STATES_BYTES // ((self.layers + 1) * self.width * 4), _LEAST_TOKENS, _MOST_TOKENS))

    @cached_property
    def packed(self) -> PackedLayers | None:
        """Faster layers than the model's own, where there are any for it on this machine."""
        return PackedLayers.of(self.loaded.model)

    def pooled(
        self,
        texts: Sequence[str],
        spans: Sequence[Span],
        layers: Sequence[int],
        poolings: Sequence[str],
        progress: Callable[[int], None],
    ) -> Pooled:
        """Vectors of words; as `ContextEncoder` has it."""
        tokenized = tokenize(self.loaded, texts, spans)
        lost = {place: sentence for place, sentence in enumerate(tokenized) if isinstance(sentence, str)}
        places = np.array([place for place in range(len(texts)) if place not in lost], np.intp)
        sentences = [sentence for sentence in tokenized if isinstance(sentence, TokenizedSentence)]
        # Views take one layer and pooling of all sentences: these lie together, and the shape is turned.
        by_view = np.empty((len(layers), len(poolings), len(texts), self.width), np.float32)
        by_view[:, :, list(lost)] = np.nan
        progress(len(lost))

        def run(chosen: Places) -> int:
            batch = [sentences[place] for place in chosen]
            for layer, vectors in self._vectors(batch, layers, poolings):
                for row in (row for row, wanted in enumerate(layers) if wanted == layer):
                    by_view[row][:, places[chosen]] = vectors
            return len(chosen)

        where = f"{self.name} ran out of memory on {self.loaded.device}; encode fewer layers or words, or use the CPU"
        with out_of_memory(where):
            work = batches([len(sentence.tokens) for sentence in sentences], self.most_tokens)
            for done in on_threads(run, work) if self.packed is not None else map(run, work):
                progress(done)
        return Pooled(by_view.transpose(2, 0, 1, 3), lost, sum(sentence.cut for sentence in sentences))

    def _vectors(
        self, batch: Sequence[TokenizedSentence], layers: Sequence[int], poolings: Sequence[str]
    ) -> Iterator[tuple[int, Singles]]:
        """Poolings × sentences × width, layer by layer."""
        import torch
        from torch.nn.functional import embedding_bag

        model = self.loaded.model
        tokens, mask = padded(batch, self.loaded.tokenizer.pad_token_id or 0)
        rows, starts = _bags(batch, poolings, tokens.shape[1])
        with torch.inference_mode():
            ids = torch.from_numpy(tokens).to(model.device)
            held = None if mask is None else torch.from_numpy(mask).to(model.device)
            last, compact = rows, None
            if self.packed is not None and SENTENCE not in poolings:
                compact, last = np.unique(rows, return_inverse=True)
            bags = torch.from_numpy(rows).to(model.device), torch.from_numpy(starts).to(model.device)
            for layer, states in enumerate(self._states(ids, held, compact)):
                if layer in layers:
                    inside = torch.from_numpy(last) if layer == self.layers and compact is not None else bags[0]
                    means = embedding_bag(inside, states.float(), bags[1], mode="mean")
                    yield layer, means.view(len(poolings), len(batch), -1).cpu().numpy()

    def _states(self, tokens: Any, mask: Any, needed: Places | None) -> Iterator[Any]:  # noqa: ANN401 - tensors
        """Hidden states of each layer as (sentences · tokens) × width; of the last one the rows needed, where named."""
        import torch

        if self.packed is not None:
            yield from self.packed.states(tokens, mask, None if needed is None else torch.from_numpy(needed))
            return
        model = self.loaded.model
        if getattr(model.config, "is_encoder_decoder", False):
            model = model.get_encoder()
        given: dict[str, Any] = {"input_ids": tokens}
        if mask is not None:
            given["attention_mask"] = mask
        if "use_cache" in signature(model.forward).parameters:
            given["use_cache"] = False
        for states in model(**given, output_hidden_states=True, return_dict=True).hidden_states:
            yield states.reshape(-1, states.shape[-1])


def on_threads(run: Callable[[Places], int], work: Iterable[Places]) -> Iterator[int]:
    """Batches side by side, each on one thread of its own: two cores are twice as fast, however small the batches."""
    import torch

    threads = torch.get_num_threads()
    if threads == 1:
        yield from map(run, work)
        return
    with ThreadPoolExecutor(threads, initializer=partial(torch.set_num_threads, 1)) as pool:
        try:
            yield from pool.map(run, list(work))
        finally:
            torch.set_num_threads(threads)


def _bags(
    sentences: Sequence[TokenizedSentence], poolings: Sequence[str], tokens: int
) -> tuple[Places, NDArray[np.int64]]:
    """Which rows of (sentences · tokens) are averaged, bag after bag, poolings first; and where bags start."""
    bags = [
        [number * tokens + token for token in _tokens_of(sentence, pooling)]
        for pooling in poolings
        for number, sentence in enumerate(sentences)
    ]
    sizes = np.fromiter((len(bag) for bag in bags), np.int64, len(bags))
    rows = np.fromiter((row for bag in bags for row in bag), np.int64, int(sizes.sum()))
    return rows, np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)


def poolings_of(tokenizer: object) -> tuple[str, ...]:
    """All poolings, but for "cls" where the tokenizer has no classification token."""
    has_cls = getattr(tokenizer, "cls_token_id", None) is not None
    return tuple(name for name in POOLINGS if name != "cls" or has_cls)


def _tokens_of(sentence: TokenizedSentence, pooling: str) -> Sequence[int]:
    """Which tokens a pooling averages."""
    match pooling:
        case "mean":
            return sentence.pieces
        case "first":
            return [sentence.pieces[0]]
        case "last":
            return [sentence.pieces[-1]]
        case "cls":
            return [sentence.cls]
        case _:
            return range(len(sentence.tokens))
