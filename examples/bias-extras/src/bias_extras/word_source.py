"""A word source: the most frequent words of a language that begin with some letters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.lexicons import Candidate, WordSource
from biasgauge.vectors import reference_frequencies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from biasgauge.lexicons import SourceRequest


def beginning_with(request: SourceRequest) -> Iterator[Candidate]:
    """Yield words, the most frequent first; `letters` is the setting of the recipe."""
    letters = request.settings.text("letters")
    for word, count in reference_frequencies(request.language).items():
        if word.startswith(letters):
            yield Candidate(word, f"{count:,} in a hundred million words")


SOURCE = WordSource(
    "beginnings", "Words of the reference list of a language that begin with `letters`.", beginning_with
)
