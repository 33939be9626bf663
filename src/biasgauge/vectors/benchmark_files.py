"""Files that say what vectors should know: pairs of words with human scores, and analogy questions."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from biasgauge.core import did_you_mean
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.io import ByteSource
from biasgauge.vectors.notices import brief

LARGEST = 64 * 2**20
"""Bytes; the largest known benchmark takes less than one million."""

_FOLDER = Path(__file__).with_name("data") / "similarity"
_GOOGLE = Path(__file__).with_name("data") / "analogies" / "google.txt.gz"
_SHOWN = 80


class RatedPair(NamedTuple):
    """Two words and how similar or related people find them."""

    first: str
    second: str
    score: float


class Question(NamedTuple):
    """`a` is to `b` as `c` is to `d`; `d` is the answer, "" where none is known."""

    category: str
    a: str
    b: str
    c: str
    d: str


def similarity_names() -> tuple[str, ...]:
    """Names of the similarity benchmarks that ship with the package; each file names its source and citation."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.tsv")))


def find_similarity(benchmark: str | os.PathLike[str]) -> tuple[str, tuple[RatedPair, ...]]:
    """Name and pairs of a shipped benchmark, or of a file; `LexiconError` where there is neither."""
    names = similarity_names()
    if benchmark in names:
        return str(benchmark), read_similarity(_FOLDER / f"{benchmark}.tsv")
    path = Path(benchmark)
    if isinstance(benchmark, str) and not os.path.exists(benchmark):  # noqa: PTH110 - Path's raises for absurd names
        known = f"{benchmark!r} is neither a similarity benchmark ({', '.join(names)}) nor a file"
        raise LexiconError(known + did_you_mean(benchmark, names))
    return path.name, read_similarity(path)


def read_similarity(path: Path) -> tuple[RatedPair, ...]:
    """Read one pair a line: two words and a number, between tabs, commas or blanks; further fields are ignored.

    Lines that start with `#` are remarks. The first line may be a heading: its third field then starts with a letter.

    Raises:
        LexiconError: a line is something else; names the file and the line.
    """
    pairs: list[RatedPair] = []
    heading = True
    for number, line in _lines(path):
        if line.startswith("#"):
            continue
        separator = "\t" if "\t" in line else "," if "," in line else None
        fields = [field.strip() for field in line.split(separator) if field.strip()]
        score = _number(fields[2]) if len(fields) >= 3 else math.nan
        if score is not None and math.isfinite(score):
            pairs.append(RatedPair(fields[0], fields[1], score))
        elif not (heading and score is None and fields[2][0].isalpha()):
            raise LexiconError(
                f"expected two words and a finite number; found {brief(line, _SHOWN)!r}", path=path, line=number
            )
        heading = False
    if not pairs:
        raise LexiconError("holds no pair of words with a score", path=path)
    return tuple(pairs)


def read_analogies(path: Path) -> tuple[Question, ...]:
    """Read one question a line, four words between blanks; a line `: name` starts a category.

    Lines that start with `//` or `#` are remarks. Questions before the first category are in the category "all".

    Raises:
        LexiconError: a line is something else; names the file and the line.
    """
    category, questions = "all", []
    for number, line in _lines(path):
        if line.startswith(("//", "#")):
            continue
        if line.startswith(":"):
            category = line[1:].strip()
            continue
        words = line.split()
        if len(words) != 4:
            raise LexiconError(
                f"expected four words, or ': ' and a category; found {brief(line, _SHOWN)!r}", path=path, line=number
            )
        questions.append(Question(category, *words))
    if not questions:
        raise LexiconError("holds no analogy question", path=path)
    return tuple(questions)


def google_analogies() -> tuple[Question, ...]:
    """The Google analogy test set, which ships with the package: 19,544 questions in 14 categories.

    Source: Mikolov, Chen, Corrado & Dean, *Efficient Estimation of Word Representations in Vector Space*, 2013.
    """
    return read_analogies(_GOOGLE)


def questions_of(given: object, function: str, *, answers: bool = True) -> tuple[Question, ...]:
    """Questions as a user hands them over: a file, questions, or a dict of category to questions; None: the Google set.

    Without `answers` three words are a question too. `function` is whose parameter it was.
    """
    if given is None:
        return google_analogies()
    if isinstance(given, (str, os.PathLike)):
        return read_analogies(Path(given))
    grouped: Mapping[Any, Any] = given if isinstance(given, Mapping) else {"all": given}
    least = 4 if answers else 3
    try:
        rows = [(str(name), words) for name, members in grouped.items() for words in members]
        sound = bool(rows) and all(not isinstance(words, str) and least <= len(words) <= 4 for _, words in rows)
    except TypeError:
        sound = False
    if not sound:
        words = "four words each" if answers else "three or four words each"
        raise ParameterError(
            f"The 'questions' parameter of {function} must be a file, questions of {words}, or a dict of category to "
            "such questions."
        )
    return tuple(Question(name, *map(str, words), *[""] * (4 - len(words))) for name, words in rows)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers, without blanks at their ends."""
    with ByteSource(path, error=LexiconError) as source:
        content = source.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise LexiconError(f"holds more than {LARGEST // 2**20} MiB, so it is no list of words", path=path)
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            line = raw.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise LexiconError("is not UTF-8 text; save it as UTF-8", path=path, line=number) from None
        if line:
            yield number, line


def _number(field: str) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None
