"""What a paper needs, and where it lies in a folder of the user's."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from biasgauge.core import Record
from biasgauge.errors import InputError, InternalError

T = TypeVar("T")


@dataclass(frozen=True)
class Need(Record):
    """Data that a part of a paper takes.

    Attributes:
        name: in a word, as `--json` and the table call it.
        what: what it is.
        fetch: what to fetch from where: the project, the file, its license, and where to put it.
        accepts: files or folders that will do, relative to the user's folder, best first; `*` and `**` as in `glob`.
        holds: whether such a file or folder has in it what is needed; an empty folder is as good as none.
    """

    hidden: ClassVar[frozenset[str]] = frozenset({"holds"})

    name: str
    what: str
    fetch: str
    accepts: tuple[str, ...]
    holds: Callable[[Path], bool] = Path.exists


class Data:
    """A folder of the user's, or none, and what of a paper's needs is in it.

    Raises:
        InputError: there is no such folder.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, needs: Iterable[Need] = ()) -> None:
        self.folder = None if folder is None else Path(folder)
        self.needs = {need.name: need for need in needs}
        if self.folder is not None and not self.folder.is_dir():
            raise InputError(f"{self.folder}: is not a folder; name the folder that holds the data")
        self._paths: dict[str, tuple[Path, ...]] = {}
        self._made: dict[Hashable, Any] = {}

    def find(self, name: str) -> Path | None:
        """The file or folder for a need, the best one where there are several; None when there is none."""
        return next(iter(self.find_all(name)), None)

    def find_all(self, name: str) -> tuple[Path, ...]:
        """Every file or folder for a need, in the order of what it accepts, then by name."""
        if name not in self.needs:
            raise InternalError(f"The paper has no need {name!r}; it has {', '.join(self.needs) or 'none'}.")
        if self.folder is None:
            return ()
        if name not in self._paths:
            need = self.needs[name]
            paths = (path for accepted in need.accepts for path in sorted(self.folder.glob(accepted)))
            self._paths[name] = tuple(dict.fromkeys(path for path in paths if need.holds(path)))
        return self._paths[name]

    def path(self, name: str) -> Path:
        """As `find`, for a part that runs only where its needs are met."""
        path = self.find(name)
        if path is None:
            raise InternalError(f"A part ran although its need {name!r} is not met.")
        return path

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made the first time it is asked for: parts of a paper share what takes long."""
        if key not in self._made:
            self._made[key] = make()
        made: T = self._made[key]
        return made

    def used(self) -> dict[str, str]:
        """For each need that is met, where; relative to the folder."""
        paths = {name: self.find(name) for name in self.needs}
        return {
            name: path.relative_to(self.folder).as_posix()
            for name, path in paths.items()
            if path is not None and self.folder is not None
        }
