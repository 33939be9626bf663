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
from biasgauge.vectors.encoders.loading import LoadedModel, out_of_memory
from biasgauge.vectors.encoders.packed_layers import PackedLayers
from biasgauge.vectors.encoders.pieces import PADDED, Span, TokenizedSentences, batches, starts_of, tokenize

if TYPE_CHECKING:
    import torch

_STAGED_BYTES = 2**26
"""Bytes of vectors that are copied from a GPU at a time."""


class VectorStore:
    """Vectors by layer, pooling and sentence, filled a block of sentences at a time.

    A block that a GPU computes is copied back while it computes the next, so that neither waits: through pinned memory.
    No more than two blocks are on the GPU at a time; about `staged_bytes` are copied at once.

    Attributes:
        array: layers × poolings × sentences × width; whole after `finish`.
    """

    def __init__(self, shape: tuple[int, ...], device: str, staged_bytes: int = _STAGED_BYTES) -> None:
        self.array: Singles = np.empty(shape, np.float32)
        self._device = device
        self._staged_bytes = staged_bytes
        self._stream = stream_of(device)
        self._before: tuple[int, Any, Any] | None = None

    @property
    def on_gpu(self) -> bool:
        """True where a GPU computes beside this process."""
        return self._stream is not None

    def allocate(self, start: int, size: int) -> Any:  # noqa: ANN401 - a tensor
        """Array layers × poolings × `size` × width on the device, for the sentences from `start` on."""
        import torch

        if self._stream is None:
            return torch.from_numpy(self.array[:, :, start : start + size])
        layers, poolings, _, width = self.array.shape
        return torch.empty((layers, poolings, size, width), dtype=torch.float32, device=self._device)

    def submitted(self, start: int, block: Any) -> None:  # noqa: ANN401 - a tensor
        """Note that all work that fills a block is submitted; copy back the block before it."""
        if self._stream is not None:
            filled = self._stream.mark()
            self.finish()
            self._before = start, block, filled

    def finish(self) -> None:
        """Copy back the last block."""
        import torch

        if self._stream is None or self._before is None:
            return
        (start, block, filled), self._before = self._before, None
        target = torch.from_numpy(self.array[:, :, start : start + block.shape[2]])
        rows = max(self._staged_bytes // (4 * block[0].numel()), 1)
        for first in range(0, len(block), rows):
            target[first : first + rows].copy_(self._stream.fetched(block[first : first + rows], filled))


class SideStream:
    """A stream of a GPU beside the one that computes."""

    def __init__(self, device: str) -> None:
        import torch

        self._device = torch.device(device)
        self._stream: Any = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]

    def mark(self) -> Any:  # noqa: ANN401 - an event
        """Event after all work that was submitted to the GPU so far."""
        import torch

        return torch.cuda.current_stream(self._device).record_event()

    def fetched(self, states: Any, after: Any) -> Any:  # noqa: ANN401 - tensors and an event
        """Copy from the GPU to pinned memory once it has passed an event; wait for that."""
        import torch

        with torch.inference_mode(), torch.cuda.stream(self._stream):
            self._stream.wait_event(after)
            memory = torch.empty(states.shape, dtype=torch.float32, pin_memory=True)
            memory.copy_(states, non_blocking=True)
            self._stream.synchronize()
        return memory


def stream_of(device: str) -> SideStream | None:
    """Open a further stream of a GPU; None for another device."""
    return SideStream(device) if device.startswith("cuda") else None


POOLINGS: Mapping[str, str] = MappingProxyType(
    {
        "mean": "mean over the word's own pieces",
        "first": "the word's first piece",
        "last": "the word's last piece",
        "sentence": "mean over all tokens of the sentence, special ones included",
        "cls": "the classification token",
    }
)
"""Poolings: from the tokens of a sentence to one vector."""

_STATES_BYTES = 2**27
"""Hidden states of all layers that one batch may fill: bounds the memory."""
_MOST_TOKENS = 8192
_LEAST_TOKENS = 64
_PACKED_TOKENS = 2048
"""Tokens of a batch with a thread of its own: what its widest product leaves is read again from the cache."""
SENTENCE = "sentence"
_MOST_SENTENCES = 4096
_BLOCK_BYTES = 2**28
"""Sentences that a GPU gets at a time, and bytes of their vectors: the next are tokenized, and the last copied back,
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
    """Properties of a model that are known before it is run."""

    @property
    def name(self) -> str:
        """Name in tables."""

    @property
    def layers(self) -> int:
        """Number of the last layer; the first is 0."""

    @property
    def poolings(self) -> Sequence[str]:
        """Names of its poolings."""


@runtime_checkable
class ContextEncoder(Shaped, Protocol):
    """Interface of a model for `encode`; a third party's encoder returns one from its `contextual`."""

    def pooled(
        self,
        texts: Sequence[str],
        spans: Sequence[Span],
        layers: Sequence[int],
        poolings: Sequence[str],
        progress: Callable[[int], None],
    ) -> Pooled:
        """Vectors of the words at `spans` of `texts`; `progress` is called with the number of sentences done."""


class TransformerEncoder:
    """A loaded transformer as an encoder of words in sentences.

    The sizes change vectors within rounding alone: tokens of a batch, by default as many as its memory allows; by what
    share of the longest its sentences may be shorter; and, on a GPU, sentences that it gets and bytes copied at a time.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        *,
        most_tokens: int | None = None,
        padded: float = PADDED,
        most_sentences: int = _MOST_SENTENCES,
        staged_bytes: int = _STAGED_BYTES,
    ) -> None:
        self.loaded = loaded
        self._most_tokens, self._padded = most_tokens, padded
        self._most_sentences, self._staged_bytes = most_sentences, staged_bytes
        self.name = loaded.name
        self.layers = loaded.layers

    @cached_property
    def poolings(self) -> tuple[str, ...]:
        """All poolings, but for "cls" where the tokenizer has no classification token."""
        return poolings_of(self.loaded.tokenizer)

    @cached_property
    def width(self) -> int:
        """Numbers of a vector."""
        return int(self.loaded.model.config.get_text_config().hidden_size)

    @cached_property
    def most_tokens(self) -> int:
        """Tokens of a batch, so that its hidden states fit into their share of memory; fewer where it has a thread."""
        if self._most_tokens is not None:
            return self._most_tokens
        if self.threaded:
            return _PACKED_TOKENS
        if self.packed is not None:
            return _MOST_TOKENS
        return int(np.clip(_STATES_BYTES // ((self.layers + 1) * self.width * 4), _LEAST_TOKENS, _MOST_TOKENS))

    @property
    def threaded(self) -> bool:
        """True where each batch has its own thread."""
        return self.packed is not None and self.loaded.model.device.type == "cpu"

    @cached_property
    def packed(self) -> PackedLayers | None:
        """Faster layers in the place of the model's, where they exist for it on this machine."""
        return PackedLayers.of(self.loaded.model)

    def pooled(
        self,
        texts: Sequence[str],
        spans: Sequence[Span],
        layers: Sequence[int],
        poolings: Sequence[str],
        progress: Callable[[int], None],
    ) -> Pooled:
        """Vectors of words, as in `ContextEncoder`."""
        # Views take one layer and pooling of all sentences: these lie together, and the shape is turned.
        shape = (len(layers), len(poolings), len(texts), self.width)
        lost: dict[int, str] = {}
        cut = 0
        where = f"{self.name} ran out of memory on {self.loaded.device}; encode fewer layers or words, or use the CPU"
        with out_of_memory(where):
            store = VectorStore(shape, self.loaded.device, self._staged_bytes)
            most = np.clip(_BLOCK_BYTES // (len(layers) * len(poolings) * self.width * 4), 1, self._most_sentences)
            size = int(most) if store.on_gpu else max(len(texts), 1)
            for start in range(0, len(texts), size):
                # A GPU goes on with the previous block while these are tokenized: nothing here waits for it.
                sentences = tokenize(self.loaded, texts[start : start + size], spans[start : start + size])
                lost |= {start + index: reason for index, reason in sentences.lost.items()}
                cut += sentences.cut
                progress(len(sentences.lost))
                block = store.allocate(start, len(sentences) + len(sentences.lost))
                for done in self._run(sentences, layers, poolings, block):
                    progress(done)
                store.submitted(start, block)
            store.finish()
        store.array[:, :, list(lost)] = np.nan
        return Pooled(store.array.transpose(2, 0, 1, 3), lost, cut)

    def _run(
        self, sentences: TokenizedSentences, layers: Sequence[int], poolings: Sequence[str], block: torch.Tensor
    ) -> Iterator[int]:
        """Put the vectors of sentences into a block, batch by batch; yield the size of each."""
        import torch

        def run(batch: Places) -> int:
            columns = torch.from_numpy(sentences.places[batch]).to(block.device, non_blocking=True)
            with torch.inference_mode():
                for layer, states in self._vectors(sentences, batch, layers, poolings):
                    for row in (row for row, wanted in enumerate(layers) if wanted == layer):
                        block[row].index_copy_(1, columns, states.to(block.device))
            return len(batch)

        work = batches(sentences.sizes, self.most_tokens, self._padded)
        return on_threads(run, work) if self.threaded else map(run, work)

    def _vectors(
        self, sentences: TokenizedSentences, batch: Places, layers: Sequence[int], poolings: Sequence[str]
    ) -> Iterator[tuple[int, Any]]:
        """Yield the chosen layers, with poolings × sentences × width of each."""
        import torch
        from torch.nn.functional import embedding_bag

        tokens, mask = sentences.padded(batch, self.loaded.tokenizer.pad_token_id or 0)
        rows, starts = _bags(sentences, batch, poolings, tokens.shape[1])
        with torch.inference_mode():
            ids, bags = self._to_device(tokens), self._to_device(rows)
            attention = None if mask is None else self._to_device(mask)
            needed, last, bag_starts = None, bags, self._to_device(starts)
            # The last layer need only compute the rows that are pooled; `last` indexes into these.
            if self.packed is not None and SENTENCE not in poolings:
                some, inside = np.unique(rows, return_inverse=True)
                needed, last = self._to_device(some), self._to_device(inside)
            for layer, states in enumerate(self._states(ids, attention, needed)):
                if layer in layers:
                    pooled_rows = last if layer == self.layers else bags
                    means = embedding_bag(pooled_rows, states.float(), bag_starts, mode="mean")
                    yield layer, means.view(len(poolings), len(batch), -1)

    def _to_device(self, numbers: NDArray[np.int64]) -> torch.Tensor:
        """Copy an array to the model's device without waiting."""
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
        cache = {"use_cache": False} if "use_cache" in signature(model.forward).parameters else {}
        attention = {} if mask is None else {"attention_mask": mask}
        outcome = model(input_ids=tokens, **attention, **cache, output_hidden_states=True, return_dict=True)
        for states in outcome.hidden_states:
            yield states.reshape(-1, states.shape[-1])


def on_threads(run: Callable[[Places], int], work: Iterable[Places]) -> Iterator[int]:
    """Run batches side by side, one thread each: two cores are twice as fast, however small the batches."""
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
    """Rows of (sentences · tokens) that are averaged, bag after bag, poolings first; and the starts of the bags."""
    first = tokens * np.arange(len(batch))
    bags = [sentences.pooled(batch, pooling) for pooling in poolings]
    rows = [np.repeat(first, sizes) + inside for inside, sizes in bags]
    return np.concatenate(rows), starts_of(np.concatenate([sizes for _, sizes in bags]))


def poolings_of(tokenizer: object) -> tuple[str, ...]:
    """All poolings, but for "cls" where the tokenizer has no classification token."""
    has_cls = getattr(tokenizer, "cls_token_id", None) is not None
    return tuple(name for name in POOLINGS if name != "cls" or has_cls)
