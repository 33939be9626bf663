"""What became of a study: every cell, what failed and why, and where the results are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from biasgauge.study.store import Failure

State = Literal["done", "reused", "failed", "blocked"]


@dataclass(frozen=True)
class CellRun:
    """What became of one cell.

    Attributes:
        label: what people call it.
        step: its kind.
        key: its address in the store.
        state: computed now, found in the store, failed, or blocked: not tried because one that it needs failed.
        seconds: that it took when it was computed; None where it was not.
        error: why it failed or is blocked, one sentence.
    """

    label: str
    step: str
    key: str
    state: State
    seconds: float | None
    error: str | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class StudyRun:
    """What became of a study.

    Attributes:
        out: the folder or URL that holds all outcomes.
        cells: all of them, inputs first.
        failures: why cells failed, with logs.
        results: name to the folder (or URL) that holds it; those of cells that failed or are blocked are missing.
        warnings: what was odd: damaged outcomes that were computed again, cells that hardly fit the machine.
    """

    out: str
    cells: tuple[CellRun, ...]
    failures: tuple[Failure, ...]
    results: Mapping[str, str]
    warnings: tuple[str, ...]

    @property
    def done(self) -> int:
        """Cells that were computed now."""
        return self._count("done")

    @property
    def reused(self) -> int:
        """Cells that were in the store."""
        return self._count("reused")

    @property
    def failed(self) -> int:
        """Cells that failed, now or in an earlier run that is not repeated."""
        return self._count("failed")

    @property
    def blocked(self) -> int:
        """Cells that need one that failed."""
        return self._count("blocked")

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "out": self.out,
            "cells": [cell.to_dict() for cell in self.cells],
            "done": self.done,
            "reused": self.reused,
            "failed": self.failed,
            "blocked": self.blocked,
            "failures": [failure.to_dict() for failure in self.failures],
            "results": dict(self.results),
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row a cell."""
        import pandas as pd  # noqa: PLC0415 - importing pandas takes longer than a small study

        return pd.DataFrame(
            [cell.to_dict() for cell in self.cells], columns=["label", "step", "key", "state", "seconds", "error"]
        )

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False))

    def _count(self, state: State) -> int:
        return sum(cell.state == state for cell in self.cells)
