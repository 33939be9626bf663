"""What `scripts/fuzz.py` tries: a reader with sound inputs."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

if TYPE_CHECKING:
    from collections.abc import Callable

    Read = Callable[[Path], object]

CORPUS = Path(__file__).parent.parent / "tests" / "fuzz" / "corpus"


@dataclass(frozen=True)
class Target:
    """A reader with sound inputs. `share` of the inputs asked for is what it gets: slow ones get fewer."""

    read: Read
    seeds: tuple[bytes, ...] = ()
    share: float = 1.0


def folder_of(read: Read, pattern: str, sound: Callable[[Path], object], *ignored: str) -> Target:
    """A reader of a folder of ours, of which one file is the input and the others are sound.

    `ignored` are comparisons of checksums, by where they are called from, that let everything pass.
    """
    folder = Path(tempfile.mkdtemp()) / "folder"
    sound(folder)
    file = next(folder.rglob(pattern))
    content = file.read_bytes()

    def use(path: Path) -> object:
        file.write_bytes(path.read_bytes())
        return read(folder)

    for name in ignored:
        patch(name, lambda *_, **__: None).start()
    return Target(use, (content,))
