"""How far compressed input may expand: a small file that unpacks to a full disk or to hours of work is refused.

Text packs to a tenth, vectors to a half, and nothing real to less than a hundredth. Up to `FLOOR` bytes anything may
expand. Where a file of the user's is past that, `BIASGAUGE_MAX_EXPANSION` raises the limit, or it is unpacked before.
"""

from __future__ import annotations

import os

from biasgauge.errors import ParameterError
from biasgauge.io.memory import readable_size

VARIABLE = "BIASGAUGE_MAX_EXPANSION"
RATIO = 100
"""Bytes of content for a byte of the file."""
FLOOR = 2**28


def expansion_limit(packed: int) -> int:
    """Bytes that a file or member of `packed` bytes may unpack to.

    Raises:
        ParameterError: the environment variable holds something else than a whole number of at least 1.
    """
    given = os.environ.get(VARIABLE, "").strip() or str(RATIO)
    if not given.isdecimal() or not 1 <= len(given) <= 12 or int(given) < 1:
        raise ParameterError(f"{VARIABLE} must be a whole number of at least 1, such as 1000. Got {given[:40]!r}.")
    return max(FLOOR, int(given) * packed)


def expansion_sentence(packed: int) -> str:
    """Why a file is refused, and what to do with one that is trusted."""
    return (
        f"unpacks to more than {readable_size(expansion_limit(packed))}, from {readable_size(packed)}; if you trust "
        f"it, unpack it first, or set {VARIABLE}=1000"
    )
