"""What training needs beyond the package itself."""

from __future__ import annotations

from importlib.util import find_spec

from biasgauge.errors import InputError

NEEDS_NUMBA = 'Training needs numba. Install it with: pip install "biasgauge[train]"'


def check_extra() -> None:
    """Refuse to begin what could not be finished: before a text is read or a folder is made.

    Raises:
        InputError: the extra is not installed; says how to get it.
    """
    if find_spec("numba") is None:
        raise InputError(NEEDS_NUMBA)
