"""Replicates of one algorithm with the same settings, trained side by side on a device: slice by slice, in step.

A slice is a stretch of each replicate's text (or cells); between two slices the host looks at losses, reports and can
stop. Imports NumPy alone: what needs Numba is given by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.text.training.cuda.device import Buffer, Device
from biasgauge.text.training.cuda.kernels import (
    CELL,
    GLOVE_MODEL,
    LONGEST,
    MODEL,
    TEXT,
    Kernel,
    glove_row,
    padded,
    stored_order,
)  # fmt: skip

FILLING = (2048, 128)
"""Blocks of a replicate, and threads of a block, that make first vectors."""


@dataclass(frozen=True, eq=False)
class DeviceText:
    """The tables of one text on the device, shared by the replicates that read it."""

    record: NDArray[Any]
    buffers: tuple[Buffer, ...]

    @classmethod
    def of(cls, device: Device, tables: dict[str, NDArray[Any]], on_device: dict[int, Buffer]) -> DeviceText:
        """Copy tables by the names of `TEXT`; those in `on_device` (by id) are not copied again."""
        record = np.zeros(1, TEXT)
        buffers = []
        for name, table in tables.items():
            if id(table) not in on_device:
                on_device[id(table)] = device.put(table)
            buffers.append(on_device[id(table)])
            record[name] = buffers[-1].address
        record["words"] = len(tables["keep"])
        return cls(record, tuple(buffers))


@dataclass(frozen=True, eq=False)
class Slices:
    """Boundaries of a replicate's slices; `passes` is the number of slices of an epoch."""

    edges: NDArray[np.int64]
    epochs: int

    @property
    def passes(self) -> int:
        """Slices of one epoch."""
        return len(self.edges) - 1

    def __len__(self) -> int:
        return self.passes * self.epochs

    def bounds(self, turn: int) -> tuple[int, int]:
        """First and last line (or cell) of a slice; (0, 0) once all are done."""
        if turn >= len(self):
            return 0, 0
        index = turn % self.passes
        return int(self.edges[index]), int(self.edges[index + 1])


@dataclass(frozen=True, eq=False)
class Reader:
    """A replicate of skip-gram, CBOW or fastText.

    Attributes:
        text: its tables on the device.
        slices: lines of its order.
        first_state, state: starts of the streams of its first vectors and of its epochs.
        input_rows: number of words and n-grams.
        total: tokens of all epochs.
    """

    text: DeviceText
    slices: Slices
    first_state: int
    state: int
    input_rows: int
    total: int


@dataclass(eq=False)
class ReplicateProgress:
    """Progress of a replicate: losses of its epochs, tokens or cells done."""

    losses: list[float] = field(default_factory=list)
    done: int = 0


class NegativeSamplingGroup:
    """Replicates of skip-gram, CBOW or fastText."""

    def __init__(
        self, device: Device, kernel: Kernel, readers: Sequence[Reader], *, dim: int, alpha: float, min_alpha: float,
        tables: NDArray[np.float32],
    ) -> None:  # fmt: skip
        self._device, self._kernel, self._readers, self._dim = device, kernel, readers, dim
        self._program = device.program(kernel)
        self._tables = device.put(tables)
        self.courses = [ReplicateProgress() for _ in readers]
        width = padded(dim)
        self._models = np.zeros(len(readers), MODEL)
        self._texts: list[Buffer] = []
        self._inputs: list[Buffer] = []
        self._outputs: list[Buffer] = []
        text_records: dict[int, Buffer] = {}
        line_buffers = device.zeros((len(readers), LONGEST), np.int32)
        self._kept = line_buffers
        for number, reader in enumerate(readers):
            record = text_records.setdefault(id(reader.text), None) or device.put(reader.text.record)  # type: ignore[arg-type]
            text_records[id(reader.text)] = record
            words = int(reader.text.record["words"][0])
            self._inputs.append(device.zeros((reader.input_rows, width), np.float32))
            self._outputs.append(device.zeros((words, width), np.float32))
            model = self._models[number : number + 1]
            model["text"], model["kept"] = record.address, line_buffers.address + 4 * LONGEST * number
            model["inputs"], model["outputs"] = self._inputs[-1].address, self._outputs[-1].address
            model["first_state"], model["state"] = np.uint64(reader.first_state), np.uint64(reader.state)
            model["input_rows"], model["total"] = reader.input_rows, max(1, reader.total)
            model["alpha"], model["min_alpha"] = alpha, min_alpha
        self._texts = list(text_records.values())
        self._run("fill_first_vectors", (FILLING[0], len(readers)), FILLING[1])

    @property
    def turns(self) -> int:
        """Slices until the last replicate is done."""
        return max(len(reader.slices) for reader in self._readers)

    def turn(self, number: int) -> None:
        """Train one slice of every replicate."""
        for index, reader in enumerate(self._readers):
            self._models["first"][index], self._models["last"][index] = reader.slices.bounds(number)
        self._run(self._kernel.name, (len(self._readers), 1), self._kernel.threads)
        for index, (reader, course) in enumerate(zip(self._readers, self.courses, strict=True)):
            course.done = int(self._models["done"][index])
            if number < len(reader.slices) and (number + 1) % reader.slices.passes == 0:
                loss, pairs = (float(self._models[name][index]) for name in ("loss", "pairs"))
                course.losses.append(loss / max(pairs, 1.0))
                self._models["loss"][index] = self._models["pairs"][index] = 0

    def inputs(self, number: int) -> NDArray[np.float32]:
        """Rows of a replicate's words (and n-grams), as wide as on the CPU."""
        return np.ascontiguousarray(self._inputs[number].get()[:, stored_order(padded(self._dim))])

    def _run(self, name: str, grid: tuple[int, int], threads: int) -> None:
        models = self._device.put(self._models)
        self._program.launch(name, grid, threads, (0, models.address, self._tables.address))
        self._models = models.get().view(MODEL).reshape(-1)


@dataclass(frozen=True, eq=False)
class Visitor:
    """A replicate of GloVe: its cells in their order (of the type `CELL`), how many words there are, its stream."""

    cells: NDArray[np.void] | Buffer
    count: int
    rows: int
    first_state: int


class GloveGroup:
    """Replicates of GloVe."""

    def __init__(
        self, device: Device, kernel: Kernel, visitors: Iterator[Visitor], *, dim: int, eta: float, epochs: int,
        piece: int,
    ) -> None:  # fmt: skip
        self._device, self._kernel, self._dim = device, kernel, dim
        self._program = device.program(kernel)
        self._weights: list[Buffer] = []
        self._cells: list[Buffer] = []
        self._slices: list[Slices] = []
        records = []
        for visitor in visitors:
            cells = device.put(visitor.cells.view(CELL)) if isinstance(visitor.cells, np.ndarray) else visitor.cells
            self._cells.append(cells)
            self._weights.append(device.zeros((visitor.rows, glove_row(dim)), np.float32))
            self._slices.append(Slices(np.array([*range(0, visitor.count, piece), visitor.count]), epochs))
            record = np.zeros(1, GLOVE_MODEL)
            record["weights"], record["cells"] = self._weights[-1].address, cells.address
            record["first_state"], record["rows"] = np.uint64(visitor.first_state), visitor.rows
            record["eta"] = eta
            records.append(record)
        self._models = np.concatenate(records)
        self._costs = [0.0] * len(records)
        self.courses = [ReplicateProgress() for _ in records]
        self._run("fill_first_vectors", (FILLING[0], len(records)), FILLING[1])

    @property
    def turns(self) -> int:
        """Slices until the last replicate is done."""
        return max(map(len, self._slices))

    def turn(self, number: int) -> None:
        """Train one slice of every replicate."""
        for index, slices in enumerate(self._slices):
            self._models["first"][index], self._models["last"][index] = slices.bounds(number)
        self._models["cost"] = 0
        self._run(self._kernel.name, (len(self._models), 1), self._kernel.threads)
        for index, (slices, course) in enumerate(zip(self._slices, self.courses, strict=True)):
            if number >= len(slices):
                continue
            self._costs[index] += float(self._models["cost"][index])
            course.done += int(self._models["last"][index] - self._models["first"][index])
            if (number + 1) % slices.passes == 0:
                course.losses.append(self._costs[index] / int(slices.edges[-1]))
                self._costs[index] = 0.0

    def weights(self, number: int) -> NDArray[np.float32]:
        """Rows of a replicate, as on the CPU: vectors, sums of squares, bias and its sum."""
        rows = self._weights[number].get()
        width = padded(self._dim)
        order = stored_order(width)
        rows[:, : 2 * width] = rows[:, np.concatenate([order, width + order])]
        return rows

    def _run(self, name: str, grid: tuple[int, int], threads: int) -> None:
        models = self._device.put(self._models)
        self._program.launch(name, grid, threads, (0, models.address, 0))
        self._models = models.get().view(GLOVE_MODEL).reshape(-1)


Group = NegativeSamplingGroup | GloveGroup


def run_group(group: Group, report: Callable[[], None]) -> None:
    """Train all slices; `report` may stop it by raising."""
    for number in range(group.turns):
        group.turn(number)
        report()
