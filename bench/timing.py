"""How long something takes, for the other files of this folder."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def best(work: Callable[[], object], repeat: int = 3) -> float:
    """Seconds of the fastest of some runs: the others were disturbed."""
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)
