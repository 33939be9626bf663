"""Where vectors of sentences are gathered: in memory, also those that a GPU computes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from biasgauge.core import Places, Singles

_STAGED_BYTES = 2**26
"""Vectors that are on their way from a GPU at a time."""


class KeptVectors:
    """Vectors by layer, pooling and sentence, a part of the sentences after another.

    A part that a GPU computes is brought back when the next has been asked of it, so that neither waits: through memory
    that it can write to by itself. No more than two parts are on it at a time.

    Attributes:
        array: layers × poolings × sentences × width; whole after `finish`.
    """

    def __init__(self, shape: tuple[int, ...], device: str) -> None:
        self.array: Singles = np.empty(shape, np.float32)
        self._device = device
        self._stream = stream_of(device)
        self._before: tuple[int, Any, Any] | None = None

    @property
    def on_gpu(self) -> bool:
        """Whether a GPU computes beside this process."""
        return self._stream is not None

    def room(self, start: int, size: int) -> Any:  # noqa: ANN401 - a tensor
        """Layers × poolings × `size` × width for vectors of the sentences from `start` on, where they are computed."""
        import torch

        if self._stream is None:
            return torch.from_numpy(self.array[:, :, start : start + size])
        layers, poolings, _, width = self.array.shape
        return torch.empty((layers, poolings, size, width), dtype=torch.float32, device=self._device)

    def asked(self, start: int, part: Any) -> None:  # noqa: ANN401 - a tensor
        """All that fills a part of `room` has been asked for: bring back the part before it."""
        if self._stream is not None:
            filled = self._stream.mark()
            self.finish()
            self._before = start, part, filled

    def finish(self) -> None:
        """Bring back what is still to come."""
        import torch

        if self._stream is None or self._before is None:
            return
        (start, part, filled), self._before = self._before, None
        own = torch.from_numpy(self.array[:, :, start : start + part.shape[2]])
        rows = max(_STAGED_BYTES // (4 * part[0].numel()), 1)
        for first in range(0, len(part), rows):
            own[first : first + rows].copy_(self._stream.fetched(part[first : first + rows], filled))


def put(part: Any, places: Places, vectors: Iterable[tuple[list[int], Any]]) -> None:  # noqa: ANN401 - a tensor
    """Vectors of the sentences at some places of a part: rows of layers, and poolings × sentences × width for each."""
    import torch

    own = torch.from_numpy(places).to(part.device, non_blocking=True)
    with torch.inference_mode():
        for rows, states in vectors:
            for row in rows:
                part[row].index_copy_(1, own, states.to(part.device))


class SideStream:
    """A queue of work of a GPU beside the one that computes."""

    def __init__(self, device: str) -> None:
        import torch

        self._device = torch.device(device)
        self._stream: Any = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]

    def mark(self) -> Any:  # noqa: ANN401 - an event
        """A point behind all that the GPU was told so far."""
        import torch

        return torch.cuda.current_stream(self._device).record_event()

    def fetched(self, states: Any, after: Any) -> Any:  # noqa: ANN401 - tensors and an event
        """Copy from the GPU once it is past a point, to memory that it can write to by itself; wait for that."""
        import torch

        with torch.inference_mode(), torch.cuda.stream(self._stream):
            self._stream.wait_event(after)
            memory = torch.empty(states.shape, dtype=torch.float32, pin_memory=True)
            memory.copy_(states, non_blocking=True)
            self._stream.synchronize()
        return memory


def stream_of(device: str) -> SideStream | None:
    """A further stream of a GPU; None for what has none."""
    return SideStream(device) if device.startswith("cuda") else None
