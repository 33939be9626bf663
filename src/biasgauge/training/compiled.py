"""One way to compile a loop: to machine code, without Python's lock, kept on disk between runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from biasgauge.errors import InputError

if TYPE_CHECKING:
    Loop = TypeVar("Loop", bound=Callable[..., Any])

try:
    import numba
except ImportError as problem:  # pragma: no cover - every test environment has it
    raise InputError('Training needs numba. Install it with: pip install "biasgauge[train]"') from problem


def compiled(function: Loop) -> Loop:
    """Compile `function` on its first call.

    Arithmetic is that of the source, in its order: no fast-math, no fused multiply-add, so that every processor gives
    the same bits. Python's lock is let go, so that models can be trained side by side in threads. What is kept on disk
    is renewed when the file of `function` changes, not when one that it calls does: touch it then.
    """
    loop: Loop = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return loop
