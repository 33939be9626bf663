"""Names of files that every system allows, and that stay apart where capitals do not count (Windows, macOS)."""

from __future__ import annotations

import re
from collections.abc import Iterable

_FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f]+')
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE | re.DOTALL)


def is_device(name: str) -> bool:
    """Whether Windows takes a name for a device, whatever ending it has: con, nul, aux, com1."""
    return _DEVICE.fullmatch(name) is not None


def portable_name(name: str) -> str:
    """A name as near to this one as every system allows: without signs that mean something, and no device."""
    allowed = _FORBIDDEN.sub("-", name).strip(" .") or "_"
    return f"_{allowed}" if is_device(allowed) else allowed


def portable_names(names: Iterable[str]) -> dict[str, str]:
    """For each name a portable one of its own, also where capitals do not count: a later one gets a number."""
    given: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        own = portable_name(name)
        number, tried = 2, own
        while tried.casefold() in taken:
            tried, number = f"{own}-{number}", number + 1
        taken.add(tried.casefold())
        given[name] = tried
    return given
