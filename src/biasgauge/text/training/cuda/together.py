"""Replicates of one algorithm with the same settings, trained side by side on a device: slice by slice, in step.

A slice is a stretch of each replicate's text (or cells); between two slices the host looks at losses, reports and can
stop. Imports NumPy alone: what needs Numba is given by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
)

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

    def ends_epoch(self, turn: int) -> bool:
        """Tell whether an epoch ends with this slice."""
        return turn < len(self) and (turn + 1) % self.passes == 0


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


@dataclass(frozen=True, eq=False)
class Visitor:
    """A replicate of GloVe: its cells in their order (of the type `CELL`), how many words there are, its stream."""

    cells: NDArray[np.void] | Buffer
    count: int
    rows: int
    first_state: int


@dataclass(eq=False)
class ReplicateProgress:
    """Progress of a replicate: losses of its epochs, tokens or cells done."""

    losses: list[float] = field(default_factory=list)
    done: int = 0


class ReplicateGroup:
    """Replicates that are trained in step: records of them on the host, their rows and slices."""

    _vectors_of_row = 1

    def __init__(self, device: Device, kernel: Kernel, dim: int, tables: Buffer | None = None) -> None:
        self._device, self._kernel, self._dim, self._tables = device, kernel, dim, tables
        self._program = device.program(kernel)
        self._rows: list[Buffer] = []
        self._slices: list[Slices] = []
        self._kept_alive: list[Buffer] = []
        self._models: NDArray[Any] = np.zeros(0)
        self.courses: list[ReplicateProgress] = []

    def _start(self, models: NDArray[Any]) -> None:
        """Take the records of the replicates, and fill their first vectors."""
        self._models = models
        self.courses = [ReplicateProgress() for _ in models]
        self._run("fill_first_vectors", (FILLING[0], len(models)), FILLING[1])

    @property
    def turns(self) -> int:
        """Slices until the last replicate is done."""
        return max(map(len, self._slices))

    def turn(self, number: int) -> None:
        """Train one slice of every replicate."""
        for index, slices in enumerate(self._slices):
            self._models["first"][index], self._models["last"][index] = slices.bounds(number)
        self._run(self._kernel.name, (len(self._slices), 1), self._kernel.threads)
        for index in range(len(self._slices)):
            self._follow(index, number)

    def _follow(self, index: int, number: int) -> None:
        """Take over what a slice has changed in the progress of a replicate."""
        raise NotImplementedError

    def rows(self, number: int) -> NDArray[np.float32]:
        """Rows of a replicate, as wide as on the CPU and in its order of columns."""
        rows = self._rows[number].get()
        order = stored_order(padded(self._dim))
        moved = np.concatenate([order + vector * len(order) for vector in range(self._vectors_of_row)])
        rows[:, : len(moved)] = rows[:, moved]
        return rows

    def _run(self, name: str, grid: tuple[int, int], threads: int) -> None:
        models = self._device.put(self._models)
        self._program.launch(name, grid, threads, (0, models.address, self._tables.address if self._tables else 0))
        self._models = models.get().view(self._models.dtype).reshape(-1)


class NegativeSamplingGroup(ReplicateGroup):
    """Replicates of skip-gram, CBOW or fastText; their rows are those of words and n-grams."""

    def __init__(
        self, device: Device, kernel: Kernel, readers: Sequence[Reader], *, dim: int, alpha: float, min_alpha: float,
        tables: NDArray[np.float32],
    ) -> None:  # fmt: skip
        super().__init__(device, kernel, dim, device.put(tables))
        models = np.zeros(len(readers), MODEL)
        line_buffers = device.zeros((len(readers), LONGEST), np.int32)
        text_records = {id(reader.text): reader.text.record for reader in readers}
        texts = {text: device.put(record) for text, record in text_records.items()}
        for number, reader in enumerate(readers):
            inputs = device.zeros((reader.input_rows, padded(dim)), np.float32)
            outputs = device.zeros((int(reader.text.record["words"][0]), padded(dim)), np.float32)
            model = models[number : number + 1]
            model["text"], model["kept"] = texts[id(reader.text)].address, line_buffers.address + 4 * LONGEST * number
            model["inputs"], model["outputs"] = inputs.address, outputs.address
            model["first_state"], model["state"] = np.uint64(reader.first_state), np.uint64(reader.state)
            model["input_rows"], model["total"] = reader.input_rows, max(1, reader.total)
            model["alpha"], model["min_alpha"] = alpha, min_alpha
            self._rows.append(inputs)
            self._kept_alive += [outputs, *reader.text.buffers]
            self._slices.append(reader.slices)
        self._kept_alive += [line_buffers, *texts.values()]
        self._start(models)

    def _follow(self, index: int, number: int) -> None:
        course = self.courses[index]
        course.done = int(self._models["done"][index])
        if self._slices[index].ends_epoch(number):
            loss, pairs = (float(self._models[name][index]) for name in ("loss", "pairs"))
            course.losses.append(loss / max(pairs, 1.0))
            self._models["loss"][index] = self._models["pairs"][index] = 0


class GloveGroup(ReplicateGroup):
    """Replicates of GloVe; their rows are vectors, sums of squares, bias and its sum."""

    _vectors_of_row = 2

    def __init__(
        self, device: Device, kernel: Kernel, visitors: Iterable[Visitor], *, dim: int, eta: float, epochs: int,
        piece: int,
    ) -> None:  # fmt: skip
        super().__init__(device, kernel, dim)
        records = []
        for visitor in visitors:
            cells = device.put(visitor.cells.view(CELL)) if isinstance(visitor.cells, np.ndarray) else visitor.cells
            weights = device.zeros((visitor.rows, glove_row(dim)), np.float32)
            record = np.zeros(1, GLOVE_MODEL)
            record["weights"], record["cells"] = weights.address, cells.address
            record["first_state"], record["rows"] = np.uint64(visitor.first_state), visitor.rows
            record["eta"] = eta
            records.append(record)
            self._rows.append(weights)
            self._kept_alive.append(cells)
            self._slices.append(Slices(np.array([*range(0, visitor.count, piece), visitor.count]), epochs))
        self._costs = [0.0] * len(records)
        self._start(np.concatenate(records))

    def turn(self, number: int) -> None:
        """Train one slice of every replicate."""
        self._models["cost"] = 0
        super().turn(number)

    def _follow(self, index: int, number: int) -> None:
        course, slices = self.courses[index], self._slices[index]
        if number < len(slices):
            self._costs[index] += float(self._models["cost"][index])
            course.done += int(self._models["last"][index] - self._models["first"][index])
        if slices.ends_epoch(number):
            course.losses.append(self._costs[index] / int(slices.edges[-1]))
            self._costs[index] = 0.0


def run_group(group: ReplicateGroup, report: Callable[[], None]) -> None:
    """Train all slices; `report` may stop it by raising."""
    for number in range(group.turns):
        group.turn(number)
        report()
