"""What was odd about an input, and what was done about it."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from biasgauge.core import Record

OUTCOMES = MappingProxyType(
    {
        "bom": "the file starts with a byte order mark, which was skipped",
        "crlf": "lines end in CR LF, read as LF",
        "blank-line": "blank lines were skipped",
        "no-final-newline": "the last line has no line feed; if the file was cut short, its last number is wrong",
        "header-count": "the header does not tell the truth about the number of rows",
        "trailing-bytes": "bytes after the last row that the header promises were not read",
        "spaced-word": "words with a space in them were kept as they are",
        "invalid-utf8": "words that are not valid UTF-8 were kept with the bad bytes written as \\xNN",
        "empty-word": "rows with an empty word were dropped",
        "duplicate": "words that occur again were dropped; the first vector of each was kept",
        "not-finite": "vectors with NaN or infinity were dropped",
        "zero": "zero vectors were kept; a measure that needs their direction is undefined",
        "integers": "the vectors are stored as integers and were read as 32-bit floating point",
    }
)
"""Each notice's code and what it says. `docs/formats.md` tells when each arises; a test keeps the two in step."""


@dataclass(frozen=True)
class Notice(Record):
    """One oddity of an input.

    Attributes:
        code: a key of `OUTCOMES`, to test for.
        message: a sentence to read, with the count and the first few examples.
        count: how many rows, lines or words are concerned.
        examples: the first few of them.
    """

    code: str
    message: str
    count: int = 1
    examples: tuple[str, ...] = ()


def brief(text: str, longest: int) -> str:
    """Make one printable line of what a file says, however long it is or whatever it holds."""
    line = text if len(text) <= longest else text[: longest - 1] + "…"
    if line.isprintable():
        return line
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in line)


class NoticeBook:
    """Collects notices while an input is read."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._examples: dict[str, list[str]] = {}

    def add(self, code: str, example: str | None = None) -> None:
        """Note one more occurrence of an oddity, with the word or the place."""
        self._counts[code] = self._counts.get(code, 0) + 1
        examples = self._examples.setdefault(code, [])
        if example is not None and len(examples) < 5:
            examples.append(brief(example, 80))

    def notices(self) -> tuple[Notice, ...]:
        """Everything noted, in the order of `OUTCOMES`."""
        notices = []
        for code in (code for code in OUTCOMES if code in self._counts):
            message, count, examples = OUTCOMES[code], self._counts[code], tuple(self._examples[code])
            if examples:
                shown = ", ".join(examples) + (", …" if count > len(examples) else "")
                message += f" ({shown})" if count == 1 else f" ({count:,}: {shown})"
            notices.append(Notice(code, message, count, examples))
        return tuple(notices)
