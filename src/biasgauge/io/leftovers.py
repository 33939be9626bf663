"""What killed processes leave behind: names that say whose it is, and how it goes.

Work in progress has a name that ends with its owner, MACHINE-PROCESS-DIGITS. Only what processes of this machine made
is ever looked at, and only what nobody works on any more is removed.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import socket
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

OWNER = r"(?P<machine>[0-9a-f]{6})-(?P<process>[0-9a-f]+)-[0-9a-f]{8}"
"""The pattern of what `owner_mark` gives."""


def owner_mark() -> str:
    """A mark of this process that it gives once: machine, process, random digits."""
    return f"{machine_tag()}-{os.getpid():x}-{secrets.token_hex(4)}"


def made_here(folder: Path, pattern: re.Pattern[str]) -> Iterator[tuple[Path, int]]:
    """What processes of this machine made in a folder under names like that, each with the number of its process."""
    for name in names_in(folder):
        named = pattern.fullmatch(name)
        if named is not None and named["machine"] == machine_tag():
            yield folder / name, int(named["process"], 16)


@cache
def machine_tag() -> str:
    """Six digits for what process numbers are unique in: this machine, or this container."""
    try:
        space = str(os.stat("/proc/self/ns/pid").st_ino)  # noqa: PTH116 - a path of the system
    except OSError:
        space = ""
    return hashlib.sha256(f"{socket.gethostname()}\0{space}".encode()).hexdigest()[:6]


def is_alive(process: int) -> bool:
    """Whether a process of that number is there; yes where the system cannot say."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def remove(path: Path) -> None:
    """Remove a file, or a folder with what is in it; of a link the link alone."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def names_in(folder: Path) -> list[str]:
    """Names in a folder; none where it cannot be read."""
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are enough
    except OSError:
        return []
