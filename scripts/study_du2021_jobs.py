"""What the study of Du et al. 2021 trains on a GPU, in the order of importance, and how kernels share the GPU."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


class TensorBuffer:
    """A tensor as memory of the device."""

    def __init__(self, tensor: Any) -> None:  # noqa: ANN401 - PyTorch is imported late
        self._tensor, self.address = tensor, int(tensor.data_ptr())

    def get(self) -> np.ndarray:
        """A copy in the main memory."""
        return self._tensor.cpu().numpy()  # type: ignore[no-any-return]


@dataclass(eq=False)
class Job:
    """Replicates that are trained by one kernel: an algorithm with its dimensions, on one or more texts.

    Attributes:
        rate: windows (or cells) a second of one replicate with few neighbors, to see what can still be done in time.
        whole: whether statistics of the whole vocabulary are kept, beside scores of the lists.
    """

    name: str
    algorithm: str
    dim: int
    texts: tuple[str, ...]
    rate: float
    subwords: str = ""
    whole: bool = True
    group: Any = None
    places: dict[str, list[int]] = field(default_factory=dict)
    active: int = 0
    began: float = 0.0


JOBS = (
    Job("sgns", "sgns", 300, ("wiki", "imdb", "novels"), 260e3),
    Job("glove", "glove", 300, ("imdb", "novels"), 1.3e6),
    Job("fasttext", "fasttext", 300, ("imdb", "novels"), 70e3, "ngrams"),
    Job("own_negatives", "fasttext", 300, ("imdb", "novels"), 110e3, "none", whole=False),
    Job("sgns100", "sgns", 100, ("imdb", "novels"), 300e3, whole=False),
    Job("glove_wiki", "glove", 300, ("wiki",), 1.3e6),
    Job("sgns100_wiki", "sgns", 100, ("wiki",), 300e3, whole=False),
)


def open_streams() -> Any:  # noqa: ANN401 - of CuPy
    """The GPU, with kernels that wait for their own stream alone and leave shared memory to one another."""
    import cupy

    from biasgauge.training.cuda.device import CudaDevice, CudaProgram

    class StreamProgram(CudaProgram):
        def launch(self, name: str, grid: tuple[int, int], threads: int, arguments: tuple[int, int, int]) -> None:
            function = self._module.get_function(name)
            shared = self.shared_bytes if name == self._main else 0
            if shared:
                function.max_dynamic_shared_size_bytes = shared
            function.preferred_shared_memory_carveout = 100
            function(grid, (threads,), tuple(np.uint64(address) for address in arguments), shared_mem=shared)
            self._cupy.cuda.get_current_stream().synchronize()

    class StreamDevice(CudaDevice):
        def program(self, kernel: Any) -> StreamProgram:  # noqa: ANN401 - a kernel
            return StreamProgram(self._cupy, kernel)

    return StreamDevice(cupy)
