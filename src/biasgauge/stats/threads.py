"""How many threads products may use."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any


def on_one_thread() -> AbstractContextManager[Any]:
    """Keep products on one thread: their last bits depend on how threads share them."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1, "blas")
    return limits
