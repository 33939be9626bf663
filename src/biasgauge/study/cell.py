"""A cell: one piece of a study's work, addressed by everything that its outcome depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from biasgauge.core import Record
from biasgauge.errors import ParameterError

CPU, CUDA = "cpu", "cuda"
Json = Any
"""What JSON can hold."""


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
    settings: Mapping[str, Json]
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
    def address(self) -> dict[str, Json]:
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


def address_sha256(address: Mapping[str, Json]) -> str:
    """The key of the cell with that address."""
    return hashlib.sha256(canonical(address).encode()).hexdigest()


def canonical(content: Json) -> str:
    """JSON with one spelling: keys sorted, no spaces, no NaN.

    Raises:
        ParameterError: JSON cannot hold it.
    """
    try:
        return json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as problem:
        raise ParameterError(f"A cell's settings must be what JSON can hold: {problem}.") from problem
