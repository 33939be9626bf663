"""A cell: one piece of a study's work, addressed by everything that its outcome depends on; its state and failure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal

from biasgauge.core import JsonMapping, JsonObject, Record
from biasgauge.errors import ParameterError

CPU, CUDA = "cpu", "cuda"
State = Literal["done", "reused", "failed", "blocked"]
"""Computed now, found in the store, failed, or not tried because a cell that it needs failed."""


@dataclass(frozen=True)
class Cell(Record):
    """One call of a step.

    Its key is the same on every machine: neither paths nor names of files count, only what the files hold.

    Attributes:
        step: name of the step, one of `registry.names("study_step")`.
        version: of the step's code; another version is another cell.
        settings: what the step is told, as JSON holds it.
        inputs: outcomes of other cells that it reads: the name that the step knows each by, and its cell's key.
        files: the user's own files and folders that it reads: their name in the step, and their SHA-256.
        paths: where those files lie here; not part of the key.
        label: what people call the cell; not part of the key.
        device: "cpu", or "cuda" for a training on a GPU; not part of the key, for the bytes are the same.
    """

    step: str
    version: int
    settings: JsonMapping
    inputs: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    label: str = ""
    device: str = CPU

    @property
    def name(self) -> str:
        """Label, or the start of the key where there is none."""
        return self.label or self.key[:12]

    @cached_property
    def address(self) -> JsonObject:
        """Content that the key is computed from."""
        return {
            "step": self.step,
            "version": self.version,
            "settings": dict(self.settings),
            "inputs": dict(self.inputs),
            "files": dict(self.files),
        }

    @cached_property
    def key(self) -> str:
        """SHA-256 of the address, in hexadecimal."""
        return address_sha256(self.address)


@dataclass(frozen=True)
class CellRun(Record):
    """State of one cell after a run; seconds that it took when it was computed; why it failed or is blocked."""

    label: str
    step: str
    key: str
    state: State
    seconds: float | None
    error: str | None

    @property
    def is_stored(self) -> bool:
        """True where the outcome is in the store."""
        return self.state in {"done", "reused"}


@dataclass(frozen=True)
class Failure(Record):
    """Error of a cell that has no outcome: one sentence, and a log of what was printed and the traceback.

    A `transient` one may go well the next time without any change (full disk, lost worker), so it is always retried.
    """

    renamed: ClassVar[Mapping[str, str]] = {"transient": "passing"}

    key: str
    label: str
    step: str
    error: str
    log: str
    transient: bool = False

    @classmethod
    def of_cell(cls, cell: Cell, error: str, log: str = "", *, transient: bool) -> Failure:
        """Failure of a cell."""
        return cls(cell.key, cell.label, cell.step, error, log, transient)


def address_sha256(address: JsonMapping) -> str:
    """The key of the cell with that address."""
    return hashlib.sha256(canonical(address).encode()).hexdigest()


def canonical(content: object) -> str:
    """JSON with one spelling: keys sorted, no spaces, no NaN.

    Raises:
        ParameterError: JSON cannot hold it.
    """
    try:
        return json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as problem:
        raise ParameterError(f"A cell's settings must be what JSON can hold: {problem}.") from problem
