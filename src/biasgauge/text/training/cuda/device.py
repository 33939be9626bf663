"""A GPU through CuPy: memory, compiled kernels, launches. Nothing else of this package touches CuPy."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from biasgauge.errors import InputError
from biasgauge.text.training.cuda.kernels import Kernel

_OPTIONS = ("--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false", "--generate-line-info")
"""Arithmetic as the source has it: nothing fused, division and root rounded as on a CPU, small numbers kept."""


class Buffer(Protocol):
    """Memory of a device, freed with the object."""

    @property
    def address(self) -> int:
        """Address of its first byte."""

    def get(self) -> NDArray[Any]:
        """Copy it to main memory."""


class Program(Protocol):
    """A compiled kernel."""

    shared_bytes: int

    def launch(self, name: str, grid: tuple[int, int], threads: int, arguments: tuple[int, int, int]) -> None:
        """Run one of the kernel's functions to its end; arguments are addresses."""


class Device(Protocol):
    """The part of a GPU that training uses."""

    name: str
    multiprocessors: int
    shared_memory: int
    """Bytes of shared memory that one block can have."""

    def free_memory(self) -> int:
        """Bytes of free memory."""

    def put(self, array: NDArray[Any]) -> Buffer:
        """Copy an array to the device."""

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Buffer:
        """Make an array of zeros on the device."""

    def program(self, kernel: Kernel) -> Program:
        """Compile a kernel."""


class CudaBuffer:
    """An array of CuPy."""

    def __init__(self, array: Any) -> None:  # noqa: ANN401 - CuPy has no types
        self._array = array

    @property
    def address(self) -> int:
        """Address of its first byte."""
        return int(self._array.data.ptr)

    def get(self) -> NDArray[Any]:
        """Copy it to main memory."""
        copy: NDArray[Any] = self._array.get()
        return copy


class CudaProgram:
    """A module of CuPy."""

    def __init__(self, cupy: Any, kernel: Kernel) -> None:  # noqa: ANN401 - CuPy has no types
        self._cupy = cupy
        self._module = cupy.RawModule(code=kernel.source, options=(*_OPTIONS, *kernel.flags), backend="nvrtc")
        pointer = self._module.get_global("shared_bytes")
        self.shared_bytes = int(cupy.ndarray((1,), np.int32, memptr=pointer).get()[0])
        self._main = kernel.name
        self._blocks = dict(kernel.constants)["BLOCKS"]
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self._shared_per_multiprocessor = int(properties["sharedMemPerMultiprocessor"])

    def launch(self, name: str, grid: tuple[int, int], threads: int, arguments: tuple[int, int, int]) -> None:
        """Run one of the kernel's functions to its end; arguments are addresses."""
        function = self._module.get_function(name)
        shared = self.shared_bytes if name == self._main else 0
        if shared:
            function.max_dynamic_shared_size_bytes = shared
            # The remainder of a multiprocessor's fast memory stays a cache.
            wanted = -(-100 * self._blocks * (shared + 1024) // self._shared_per_multiprocessor)
            function.preferred_shared_memory_carveout = min(100, wanted)
        function(grid, (threads,), tuple(np.uint64(address) for address in arguments), shared_mem=shared)
        self._cupy.cuda.Device().synchronize()


class CudaDevice:
    """The current GPU."""

    def __init__(self, cupy: Any) -> None:  # noqa: ANN401 - CuPy has no types
        self._cupy = cupy
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self.name = properties["name"].decode()
        self.multiprocessors = int(properties["multiProcessorCount"])
        self.shared_memory = int(properties["sharedMemPerBlockOptin"])
        self._programs: dict[Kernel, CudaProgram] = {}

    def free_memory(self) -> int:
        """Bytes of free memory."""
        self._cupy.get_default_memory_pool().free_all_blocks()
        return int(self._cupy.cuda.Device().mem_info[0])

    def put(self, array: NDArray[Any]) -> CudaBuffer:
        """Copy an array to the device."""
        raw = np.ascontiguousarray(array)  # records go as bytes: CuPy has no such type
        return CudaBuffer(self._cupy.asarray(raw.view(np.uint8) if raw.dtype.names else raw))

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> CudaBuffer:
        """Make an array of zeros on the device."""
        return CudaBuffer(self._cupy.zeros(shape, dtype))

    def program(self, kernel: Kernel) -> CudaProgram:
        """Compile a kernel, once."""
        if kernel not in self._programs:
            self._programs[kernel] = CudaProgram(self._cupy, kernel)
        return self._programs[kernel]


def open_device() -> Device:
    """Open the GPU to train on.

    Raises:
        InputError: CuPy is not installed, or there is no GPU that it can use.
    """
    try:
        import cupy
    except ImportError as problem:
        raise InputError(
            'device="cuda" needs CuPy. Install it with: pip install "biasgauge[gpu]"; or train on the CPU.'
        ) from problem
    try:
        if cupy.cuda.runtime.getDeviceCount() < 1:
            raise InputError('device="cuda" needs an NVIDIA GPU, and this machine shows none. Train on the CPU.')
    except cupy.cuda.runtime.CUDARuntimeError as problem:
        raise InputError(
            f'device="cuda" needs an NVIDIA GPU with its driver: {problem}. Train on the CPU.'
        ) from problem
    return CudaDevice(cupy)
