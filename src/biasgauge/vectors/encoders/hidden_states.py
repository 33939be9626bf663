"""Vectors of words in sentences from a transformer's hidden states: one pass for all layers and all poolings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from inspect import signature
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Places, Singles
from biasgauge.vectors.encoders.kept_vectors import KeptVectors, put
from biasgauge.vectors.encoders.loading import LoadedModel, out_of_memory
from biasgauge.vectors.encoders.packed_layers import PackedLayers
from biasgauge.vectors.encoders.pieces import Span, TokenizedSentences, batches, counting, starts_of, tokenize

if TYPE_CHECKING:
    import torch

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
_MOST_SENTENCES = 4096
_PART_BYTES = 2**28
"""Sentences that a GPU is given at a time, and their vectors: the next are tokenized, and those before brought back,
while it computes."""


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
        if self.threaded:
            return _PACKED_TOKENS
        if self.packed is not None:
            return _MOST_TOKENS
        return int(np.clip(_STATES_BYTES // ((self.layers + 1) * self.width * 4), _LEAST_TOKENS, _MOST_TOKENS))

    @property
    def threaded(self) -> bool:
        """Whether each batch has a thread of its own."""
        return self.packed is not None and self.loaded.model.device.type == "cpu"

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
        # Views take one layer and pooling of all sentences: these lie together, and the shape is turned.
        shape = (len(layers), len(poolings), len(texts), self.width)
        lost: dict[int, str] = {}
        cut = 0
        where = f"{self.name} ran out of memory on {self.loaded.device}; encode fewer layers or words, or use the CPU"
        with out_of_memory(where):
            kept = KeptVectors(shape, self.loaded.device)
            size = self._at_once(len(layers) * len(poolings)) if kept.on_gpu else max(len(texts), 1)
            for start in range(0, len(texts), size):
                # A GPU goes on with the part before while these are tokenized: nothing here waits for it.
                sentences = tokenize(self.loaded, texts[start : start + size], spans[start : start + size])
                lost |= {start + place: reason for place, reason in sentences.lost.items()}
                cut += sentences.cut
                progress(len(sentences.lost))
                part = kept.room(start, len(sentences) + len(sentences.lost))
                for done in self._run(sentences, layers, poolings, part):
                    progress(done)
                kept.asked(start, part)
            kept.finish()
        kept.array[:, :, list(lost)] = np.nan
        return Pooled(kept.array.transpose(2, 0, 1, 3), lost, cut)

    def _at_once(self, views: int) -> int:
        """Sentences that a GPU is given at a time."""
        return int(np.clip(_PART_BYTES // (views * self.width * 4), 1, _MOST_SENTENCES))

    def _run(
        self, sentences: TokenizedSentences, layers: Sequence[int], poolings: Sequence[str], part: torch.Tensor
    ) -> Iterator[int]:
        """Put the vectors of sentences to their places in a part, batch by batch; how many each had."""

        def run(rows: Places) -> int:
            put(part, sentences.places[rows], self._vectors(sentences, rows, layers, poolings))
            return len(rows)

        work = batches(sentences.sizes, self.most_tokens)
        return on_threads(run, work) if self.threaded else map(run, work)

    def _vectors(
        self, sentences: TokenizedSentences, batch: Places, layers: Sequence[int], poolings: Sequence[str]
    ) -> Iterator[tuple[list[int], Any]]:
        """Poolings × sentences × width of each layer, and in which rows it was asked for."""
        import torch
        from torch.nn.functional import embedding_bag

        tokens, mask = sentences.padded(batch, self.loaded.tokenizer.pad_token_id or 0)
        rows, starts = _bags(sentences, batch, poolings, tokens.shape[1])
        with torch.inference_mode():
            ids, held, bags = self._given(tokens), None if mask is None else self._given(mask), self._given(rows)
            needed, last, ends = None, bags, self._given(starts)
            if self.packed is not None and SENTENCE not in poolings:
                some, inside = np.unique(rows, return_inverse=True)
                needed, last = self._given(some), self._given(inside)
            for layer, states in enumerate(self._states(ids, held, needed)):
                if layer in layers:
                    means = embedding_bag(last if layer == self.layers else bags, states.float(), ends, mode="mean")
                    asked = [row for row, wanted in enumerate(layers) if wanted == layer]
                    yield asked, means.view(len(poolings), len(batch), -1)

    def _given(self, numbers: NDArray[np.int64]) -> torch.Tensor:
        """An array for the model; nobody waits until a GPU takes it."""
        import torch

        return torch.from_numpy(numbers).to(self.loaded.model.device, non_blocking=True)

    def _states(self, tokens: Any, mask: Any, needed: Any) -> Iterator[Any]:  # noqa: ANN401 - tensors
        """Hidden states of each layer as (sentences · tokens) × width; of the last one the rows needed, where named."""
        if self.packed is not None:
            yield from self.packed.states(tokens, mask, needed)
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


def _bags(sentences: TokenizedSentences, batch: Places, poolings: Sequence[str], tokens: int) -> tuple[Places, Places]:
    """Which rows of (sentences · tokens) are averaged, bag after bag, poolings first; and where bags start."""
    first = tokens * np.arange(len(batch))
    parts = [_inside(sentences, batch, pooling) for pooling in poolings]
    rows = [np.repeat(first, sizes) + inside for inside, sizes in parts]
    return np.concatenate(rows), starts_of(np.concatenate([sizes for _, sizes in parts]))


def poolings_of(tokenizer: object) -> tuple[str, ...]:
    """All poolings, but for "cls" where the tokenizer has no classification token."""
    has_cls = getattr(tokenizer, "cls_token_id", None) is not None
    return tuple(name for name in POOLINGS if name != "cls" or has_cls)


def _inside(sentences: TokenizedSentences, batch: Places, pooling: str) -> tuple[Places, Places]:
    """Which tokens of each sentence of a batch a pooling averages, one after the other; and how many of each."""
    match pooling:
        case "mean":
            return sentences.pieces_of(batch)
        case "sentence":
            sizes = sentences.sizes[batch]
            return counting(sizes), sizes
        case "cls":
            places = sentences.cls[batch]
        case _:
            places = sentences.piece_of(batch, 0 if pooling == "first" else -1)
    return places, np.ones_like(places)
