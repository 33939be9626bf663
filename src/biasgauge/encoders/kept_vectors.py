"""Where vectors of sentences are gathered: in memory, also those that a GPU computes."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

import numpy as np

from biasgauge.arrays import Places, Singles


class KeptVectors:
    """Vectors by layer, pooling and sentence, a part of the sentences after another.

    Those of a GPU are brought back part by part, by a thread, while it computes the next: through memory that it can
    write to by itself, of the size of one layer. No more than two parts are on it at a time.

    Attributes:
        array: layers × poolings × sentences × width; whole once the `with` block has ended.
    """

    def __init__(self, shape: tuple[int, ...], device: str) -> None:
        self.array: Singles = np.empty(shape, np.float32)
        self._device = device
        self._stream = stream_of(device)
        self._thread = None if self._stream is None else ThreadPoolExecutor(1)
        self._coming: list[Future[None]] = []
        self._staging: Any = None

    @property
    def on_gpu(self) -> bool:
        """Whether a GPU computes beside this process."""
        return self._stream is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=kind is not None)
        if kind is None:
            self._wait(0)

    def room(self, start: int, size: int) -> Any:  # noqa: ANN401 - a tensor
        """Layers × poolings × `size` × width for vectors of the sentences from `start` on, where they are computed."""
        import torch

        if self._stream is None:
            return torch.from_numpy(self.array[:, :, start : start + size])
        self._wait(1)
        layers, poolings, _, width = self.array.shape
        return torch.empty((layers, poolings, size, width), dtype=torch.float32, device=self._device)

    def bring(self, start: int, part: Any) -> None:  # noqa: ANN401 - a tensor
        """Have a part of `room` brought to its place, as it is when a GPU has done what it was told before."""
        if self._thread is not None and self._stream is not None:
            self._coming.append(self._thread.submit(self._bring, self._stream, self._stream.mark(), start, part))

    def _bring(self, stream: SideStream, filled: Any, start: int, part: Any) -> None:  # noqa: ANN401 - event, tensor
        import torch

        size = part.shape[2]
        if self._staging is None:  # the first part is the largest
            self._staging = stream.memory(part.shape[1:])
        own = torch.from_numpy(self.array[:, :, start : start + size])
        for row, states in enumerate(part):
            stream.fetch(states, self._staging[:, :size], filled)
            own[row].copy_(self._staging[:, :size])

    def _wait(self, left: int) -> None:
        """Until no more than so many parts are on their way; what went wrong with one is raised."""
        while len(self._coming) > left:
            self._coming.pop(0).result()


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

    def memory(self, shape: tuple[int, ...]) -> Any:  # noqa: ANN401 - a tensor
        """Memory that the GPU can write to by itself."""
        import torch

        return torch.empty(shape, dtype=torch.float32, pin_memory=True)

    def fetch(self, states: Any, memory: Any, after: Any) -> None:  # noqa: ANN401 - tensors and an event
        """Copy from the GPU once it is past a point, and wait for that."""
        import torch

        with torch.inference_mode(), torch.cuda.stream(self._stream):
            self._stream.wait_event(after)
            memory.copy_(states, non_blocking=True)
            self._stream.synchronize()


def stream_of(device: str) -> SideStream | None:
    """A further stream of a GPU; None for what has none."""
    return SideStream(device) if device.startswith("cuda") else None
