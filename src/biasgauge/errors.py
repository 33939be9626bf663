"""Every exception that biasgauge raises on purpose.

    BiasgaugeError
    ├── InputError                 the user can mend it: exit code 2
    │   ├── CorpusError            a text does not say what it should, or a tokenized corpus is damaged
    │   ├── EmbeddingFormatError   a vector file does not say what it should
    │   ├── LexiconError           a word list does not say what it should, or is not known
    │   ├── OutputError            a file cannot be written: the disk is full, a folder may not be written to
    │   └── ParameterError         an argument has the wrong type or an impossible value
    └── InternalError              a defect of ours: exit code 1

A message is one sentence or two: where (file, line or offset), what was expected, what was found, and what to do
next. Line numbers count from 1, byte offsets from 0, both in the decompressed text.
"""

from __future__ import annotations

from os import PathLike


class BiasgaugeError(Exception):
    """Parent of all of them: catch this to catch whatever biasgauge raises on purpose."""


class InputError(BiasgaugeError):
    """Something that the user gave cannot be used as it is."""


class ParameterError(InputError, ValueError):
    """An argument has the wrong type or an impossible value."""


class OutputError(InputError, OSError):
    """A file or folder cannot be written; `errno` is what the system said."""


class InternalError(BiasgaugeError):
    """A promise of ours was broken; please report it."""


class _FileError(InputError):
    """An input error that names the file and, where it is known, the line or the byte."""

    def __init__(
        self,
        problem: str,
        *,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
        offset: int | None = None,
    ) -> None:
        self.problem = problem
        self.path = None if path is None else str(path)
        self.line = line
        self.offset = offset
        place = [] if self.path is None else [self.path]
        if line is not None:
            place.append(f"line {line}")
        if offset is not None:
            place.append(f"byte {offset}")
        super().__init__(": ".join([", ".join(place), problem]) if place else problem)


class EmbeddingFormatError(_FileError):
    """A vector file is not what it should be, or not in a format that biasgauge reads."""


class CorpusError(_FileError):
    """A text cannot be read as it stands, or a tokenized corpus on disk is not what it should be."""


class LexiconError(_FileError):
    """A word list is unknown, or its file is not what it should be."""


def file_error(
    error: type[InputError],
    problem: str,
    path: str | PathLike[str] | None,
    *,
    line: int | None = None,
    offset: int | None = None,
) -> InputError:
    """An error of any class that names the file, for readers that serve several rooms."""
    if issubclass(error, _FileError):
        return error(problem, path=path, line=line, offset=offset)
    return error(str(_FileError(problem, path=path, line=line, offset=offset)))
