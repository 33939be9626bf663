"""How much memory this machine has, so that an impossible request is refused before it is tried."""

from __future__ import annotations

import os

_UNKNOWN = 64 * 2**30


def physical_memory() -> int:
    """Bytes of main memory; a generous guess where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _UNKNOWN


def readable_size(size: float) -> str:
    """`1536` -> `1.5 KB`; powers of 1,024."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:.0f} bytes" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TB"
