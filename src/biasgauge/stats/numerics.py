"""One rule for ties: what differs by rounding alone is equal."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


SAME = 1e-12
"""Numbers closer than this, as a share of the size of what they were computed from, differ by rounding alone."""


def slack(*numbers: float) -> float:
    """How far numbers of this size may lie apart and still be the same."""
    return SAME * max(1.0, *(abs(number) for number in numbers))


def on_one_thread() -> AbstractContextManager[Any]:
    """Keep products on one thread: their last bits depend on how threads share them."""
    limits: AbstractContextManager[Any] = thread_pools().limit(limits=1, user_api="blas")
    return limits


def thread_pools() -> ThreadpoolController:
    """Those of loaded libraries, looked for again when there are more modules: to look takes milliseconds."""
    return _found(len(sys.modules))


@lru_cache(maxsize=1)
def _found(_modules: int) -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
