"""A device for tests: the kernels' own source, compiled by a C++ compiler and run block by block on the CPU."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike, NDArray

from biasgauge.text.training.cuda.kernels import Kernel

COMPILER = shutil.which("g++") or shutil.which("clang++")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C++ compiler: the CUDA sources cannot be emulated")
_HEADER = Path(__file__).with_name("emulated_block.h")
_ENTRY = """
extern "C" void run_{name}(unsigned x, unsigned y, unsigned threads, int order, int late, void* a, void* b, void* c)
{{
    emulation::launch(x, y, threads, order, late, [=] {{ {name}((const {a}*)a, (Model*)b, (const {c}*)c); }});
}}
"""


class EmulatedBuffer:
    def __init__(self, array: NDArray[Any]) -> None:
        raw = np.zeros(array.nbytes + 64, np.uint8)  # 64-byte lines, as a GPU's memory has
        start = -raw.ctypes.data % 64
        self._array = raw[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
        self._array[...] = array

    @property
    def address(self) -> int:
        return int(self._array.ctypes.data)

    def get(self) -> NDArray[Any]:
        return self._array.copy()


class EmulatedProgram:
    def __init__(self, kernel: Kernel, folder: Path, order: int, late: int) -> None:
        self._order, self._late = order, late
        kept = "float4* memory = (float4*)emulation::shared_memory;"
        source = _HEADER.read_text() + kernel.parts.replace("extern __shared__ float4 memory[];", kept)
        tables = "void" if kernel.name == "glove" else "float"
        source += _ENTRY.format(name=kernel.name, a="void", c=tables)
        source += _ENTRY.format(name="fill_first_vectors", a="void", c="void")
        digest = hashlib.sha256((source + " ".join(kernel.flags)).encode()).hexdigest()[:16]
        library = folder / f"{digest}.so"
        if not library.exists():
            path = folder / f"{digest}.cpp"
            path.write_text(source)
            assert COMPILER is not None
            subprocess.run(
                [COMPILER, "-std=c++17", "-O1", "-w", "-ffp-contract=off", "-fno-strict-aliasing", "-shared", "-fPIC",
                 *kernel.flags, "-o", library, path],
                check=True,
            )  # fmt: skip
        self._library = ctypes.CDLL(str(library))
        self.shared_bytes = ctypes.c_int.in_dll(self._library, "shared_bytes").value
        assert self.shared_bytes <= 1 << 18

    def launch(self, name: str, grid: tuple[int, int], threads: int, arguments: tuple[int, int, int]) -> None:
        x, y = (2, grid[1]) if name == "fill_first_vectors" else grid
        run = getattr(self._library, f"run_{name}")
        run(x, y, threads, self._order, self._late, *(ctypes.c_void_p(address) for address in arguments))


class EmulatedDevice:
    """As `cuda.device.CudaDevice`; `order` and `late` are what emulated_block.h says."""

    name = "emulated"
    multiprocessors = 2
    shared_memory = 1 << 17

    def __init__(self, folder: Path, order: int = 0, *, late: bool = False, memory: int = 1 << 30) -> None:
        self._folder, self._order, self._late, self._memory = folder, order, int(late), memory

    def free_memory(self) -> int:
        return self._memory

    def put(self, array: NDArray[Any]) -> EmulatedBuffer:
        return EmulatedBuffer(np.ascontiguousarray(array))

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> EmulatedBuffer:
        return EmulatedBuffer(np.zeros(shape, dtype))

    def program(self, kernel: Kernel) -> EmulatedProgram:
        return EmulatedProgram(kernel, self._folder, self._order, self._late)
