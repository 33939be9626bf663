"""Which files a corpus is read from, in an order that does not depend on the file system."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biasgauge._io.checksums import file_sha256
from biasgauge.errors import CorpusError

_LONGEST_SHOWN = 200


@dataclass(frozen=True)
class TextFile:
    """A file of a corpus.

    Attributes:
        path: where it is.
        name: under which it is recorded: its path inside the folder that was given, or its own name.
        layout: how it is read.
        size: its bytes, compressed if it is.
    """

    path: Path
    name: str
    layout: str
    size: int

    def to_dict(self) -> dict[str, Any]:
        """Name, bytes, their SHA-256 and layout, as a corpus records them.

        Raises:
            CorpusError: the file cannot be read.
        """
        try:
            digest = file_sha256(self.path)
        except OSError as problem:
            raise CorpusError(f"cannot be opened: {problem.strerror}", path=self.path) from problem
        return {"name": self.name, "bytes": self.size, "sha256": digest, "layout": self.layout}


def text_files(paths: Iterable[str | os.PathLike[str]], layout_of: Callable[[str], str]) -> tuple[TextFile, ...]:
    """The files that are named, in that order; those of a folder sorted by path, hidden ones left out.

    Raises:
        CorpusError: one does not exist, or a folder holds none.
    """
    found = []
    for given in paths:
        path = Path(given)
        try:
            kind = path.stat().st_mode
        except (OSError, ValueError) as problem:
            raise CorpusError(
                "there is no such file; check the path (texts themselves are given as an iterator: iter(texts))",
                path=_brief(str(path)),
            ) from problem
        if stat.S_ISDIR(kind):
            inside = sorted(_inside(path))
            if not inside:
                raise CorpusError("the folder holds no files", path=path)
            found += [TextFile(path / name, name, layout_of(name), (path / name).stat().st_size) for name in inside]
        elif stat.S_ISREG(kind):
            found.append(TextFile(path, path.name, layout_of(path.name), path.stat().st_size))
        else:
            raise CorpusError("is neither a file nor a folder", path=path)
    return tuple(found)


def _brief(path: str) -> str:
    return path if len(path) <= _LONGEST_SHOWN else path[: _LONGEST_SHOWN - 1] + "…"


def _inside(folder: Path) -> Iterable[str]:
    """Paths of the files in a folder and its folders, relative to it, with slashes."""
    for here, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(here, name)
            if not name.startswith(".") and path.is_file():
                yield path.relative_to(folder).as_posix()


def _refuse(problem: OSError) -> None:
    raise CorpusError(f"cannot be opened: {problem.strerror}", path=problem.filename) from problem
