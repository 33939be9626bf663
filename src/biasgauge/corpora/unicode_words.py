"""Words of running text in any alphabet: runs of letters, in lower case."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from itertools import groupby

_ASCII = re.compile(r"[a-z]+(?:'[a-z]+)?")
_PLANE = 0x10000
_BEYOND_PLANE = re.compile("[\U00010000-\U0010ffff]")


def ascii_words(text: str) -> list[str]:
    """Runs of a to z in lower case, with one apostrophe inside; any other sign separates.

    This is the rule under which the GloVe reference was made: `[a-z]+(?:'[a-z]+)?`.
    """
    return _ASCII.findall(text.lower())


def unicode_words(text: str) -> list[str]:
    """Runs of letters with their combining marks, in lower case, with one apostrophe inside; other signs separate.

    The typographic apostrophe is read as the plain one, and a letter with its mark as one sign where there is one
    (form NFC), so that a word has one spelling. On ASCII this is `ascii_words`.
    """
    text = text.lower()
    if text.isascii():
        return _ASCII.findall(text)
    text = unicodedata.normalize("NFC", text).replace("’", "'")
    return _pattern(sys.maxunicode + 1 if _BEYOND_PLANE.search(text) else _PLANE).findall(text)


@cache
def _pattern(end: int) -> re.Pattern[str]:
    """The rule over code points below `end`.

    The letters of the first plane become one table inside the pattern, those beyond it a list that is walked for every
    sign that is no letter: ten times as slow, so it is used only where such signs are.
    """
    kinds = [(point, unicodedata.category(chr(point))[0]) for point in range(end)]
    letter = _ranges([point for point, kind in kinds if kind == "L"])
    inside = _ranges([point for point, kind in kinds if kind in "LM"])
    word = f"[{letter}][{inside}]*"
    return re.compile(f"{word}(?:'{word})?")


def _ranges(points: list[int]) -> str:
    """Sorted code points as the inside of a character class."""
    runs = [[point for _, point in run] for _, run in groupby(enumerate(points), key=lambda place: place[1] - place[0])]
    return "".join(f"{re.escape(chr(run[0]))}-{re.escape(chr(run[-1]))}" for run in runs)
