"""Every exception that biasgauge raises on purpose.

    BiasgaugeError
    ├── InputError                 the user can mend it: exit code 2
    │   ├── CorpusError            a text does not say what it should, or a tokenized corpus is damaged
    │   ├── EmbeddingFormatError   a vector file does not say what it should
    │   ├── LexiconError           a word list does not say what it should, or is not known
    │   ├── OutputError            a file cannot be written: the disk is full, a folder may not be written to
    │   ├── ParameterError         an argument has the wrong type or an impossible value
    │   └── SeveralProblemsError   several things are wrong: a sentence for each, a line each
    └── InternalError              a defect of ours: exit code 1

A message is one sentence or two: where (file, line or offset), what was expected, what was found, and what to do
next. Line numbers count from 1, byte offsets from 0, both in the decompressed text. It has at most `LONGEST`
characters: long values are cut in their middle, and control characters are shown by their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike

LONGEST = 300
"""Most characters of a message."""
_LONGEST_VALUE, _LONGEST_PATH = 100, 140
_MOST_PROBLEMS = 20
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+""", re.DOTALL)
"""A value in quotes, or a run of characters without a blank."""
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""C0 but for tabs and line feeds, DEL, C1, marks of direction, and separators of lines."""


def escape_control_characters(text: str) -> str:
    r"""The text with characters that a terminal would obey shown by their numbers: ESC as `\x1b`."""
    return CONTROLS.sub(
        lambda control: f"\\x{ord(control[0]):02x}" if control[0] < "\u0100" else f"\\u{ord(control[0]):04x}", text
    )


def cut_middle(text: str, most: int) -> str:
    """The text with at most so many characters: "…" stands for its middle."""
    if len(text) <= most:
        return text
    start = most // 2
    return f"{text[:start]}…{text[len(text) - (most - start - 1) :]}"


def one_sentence(message: str) -> str:
    """The message on one line, with at most `LONGEST` characters, of which a terminal obeys none.

    Values in quotes and runs without a blank lose their middle first, and then the whole, which begins with what is
    wrong and ends with what to do.
    """
    if len(message) > LONGEST:
        message = cut_middle(message, 100 * LONGEST)  # bounds the search below
        message = _QUOTED.sub(lambda value: cut_middle(value[0], _LONGEST_VALUE), message)
    return cut_middle(escape_control_characters(message).replace("\n", "\\n"), LONGEST)


class BiasgaugeError(Exception):
    """Parent of all of them: catch this to catch whatever biasgauge raises on purpose."""

    def __init__(self, message: str = "") -> None:
        super().__init__(one_sentence(message))


class InputError(BiasgaugeError):
    """Something that the user gave cannot be used as it is."""


class SeveralProblemsError(InputError):
    """Several things are wrong; the message has a line for each of the first twenty."""

    def __init__(self, sentences: Sequence[str]) -> None:
        super().__init__()
        lines = [one_sentence(sentence) for sentence in sentences]
        if len(lines) > _MOST_PROBLEMS + 1:
            lines[_MOST_PROBLEMS:] = [f"and {len(lines) - _MOST_PROBLEMS:,} further problems"]
        self.args = ("\n".join(lines),)

    def __reduce__(self) -> tuple[type[SeveralProblemsError], tuple[list[str]]]:
        return type(self), (str(self).split("\n"),)


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
        place = [] if self.path is None else [cut_middle(self.path, _LONGEST_PATH)]
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
