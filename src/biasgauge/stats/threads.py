"""How many threads products may use."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


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
