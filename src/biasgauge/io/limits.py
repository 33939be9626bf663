"""Limits on what input may take: bytes that a compressed file unpacks to, and the memory of this machine.

A small file that unpacks to a full disk or to hours of work is refused. Text packs to a tenth, vectors to a half, and
nothing real to less than a hundredth. Up to `FLOOR` bytes anything may expand. Where a user's file is past the limit,
`BIASGAUGE_MAX_EXPANSION` raises it, or the file is unpacked before.
"""

from __future__ import annotations

import os

from biasgauge.errors import ParameterError

VARIABLE = "BIASGAUGE_MAX_EXPANSION"
RATIO = 100
"""Bytes of content per byte of the file."""
FLOOR = 2**28
_ASSUMED_MEMORY = 64 * 2**30


def expansion_limit(packed: int) -> int:
    """Bytes that a file or archive member of `packed` bytes may unpack to.

    Raises:
        ParameterError: the environment variable is not a whole number of at least 1.
    """
    ratio = os.environ.get(VARIABLE, "").strip() or str(RATIO)
    if not ratio.isdecimal() or not 1 <= len(ratio) <= 12 or int(ratio) < 1:
        raise ParameterError(f"{VARIABLE} must be a whole number of at least 1, such as 1000. Got {ratio[:40]!r}.")
    return max(FLOOR, int(ratio) * packed)


def expansion_sentence(packed: int) -> str:
    """Reason why a file is refused, and what to do with one that is trusted."""
    return (
        f"unpacks to more than {readable_size(expansion_limit(packed))}, from {readable_size(packed)}; if you trust "
        f"it, unpack it first, or set {VARIABLE}=1000"
    )


def physical_memory() -> int:
    """Bytes of main memory; a generous guess where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _ASSUMED_MEMORY


def readable_size(size: float) -> str:
    """Format a number of bytes: `1536` -> `1.5 KB`; powers of 1,024."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:.0f} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TB"
