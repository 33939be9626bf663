"""Words that people have rated as good or bad."""

from __future__ import annotations

from collections.abc import Iterator

from biasgauge.errors import LexiconError, file_error
from biasgauge.lexicons.recipes.word_source import Candidate, SourceRequest, StandardFile, WordSource

FILE = StandardFile("vader_lexicon.txt", "MIT", "VADER, Hutto and Gilbert 2014")
_SCALE = 1e6


def _rated_words(request: SourceRequest) -> Iterator[Candidate]:
    """Words, those with the most extreme mean first."""
    low, high = request.settings.bounds("mean", -_SCALE, _SCALE)
    rows = []
    lines, path = request.lines(FILE)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        word, *cells = line.split("\t")
        try:
            mean, sd = float(cells[0]), float(cells[1]) if len(cells) > 1 else None
        except (IndexError, ValueError):
            expected = "a word, its mean rating and, if known, the standard deviation, separated by tabs"
            raise file_error(LexiconError, f"a line must be {expected}", path, line=number) from None
        if low <= mean <= high:
            rows.append((-abs(mean), word, mean, sd))
    for _, word, mean, sd in sorted(rows, key=lambda row: row[:2]):
        yield Candidate(word, f"mean rating {mean:+.2f}" + ("" if sd is None else f", sd {sd:.2f}"), sd)


SOURCE = WordSource(
    "valence",
    "Rated words (VADER, or a file of its form: word, mean, standard deviation, separated by tabs): mean, from and to; "
    "file. The filter max_sd looks at the standard deviations.",
    _rated_words,
)
