"""Occupations by their share of women, or any other words with a number."""

from __future__ import annotations

from collections.abc import Iterator

from biasgauge.lexicons import SourceRecord, Values, lexicon, shown
from biasgauge.lexicons.recipes.word_source import Candidate, SourceRequest, WordSource

_DEFAULT = "bls2015"
_SCALE = 1e9


def _valued_words(request: SourceRequest) -> Iterator[Candidate]:
    """Words of a lexicon of values whose number is in a range, in the order of the lexicon."""
    settings = request.settings
    values = lexicon(request.file or settings.text("lexicon", default=_DEFAULT))
    settings.allow("lexicon")
    low, high = request.settings.bounds("value", -_SCALE, _SCALE)
    if not isinstance(values, Values):
        settings.fail(f"'{settings.key('lexicon')}' must be a lexicon of kind values, and {shown(values.name)} holds "
                      f"{values.kind}")  # fmt: skip
    file = f"{values.name}.toml"
    request.files.record(SourceRecord(request.source, file, values.checksum, values.license, values.citation))
    for word, value in values.items:
        if low <= value <= high:
            yield Candidate(word, f"{value:g} {values.unit}")


SOURCE = WordSource(
    "occupations",
    "Occupations with their share of women, in percent (bls2015, or another lexicon of kind values by the key lexicon "
    "or file): value, from and to.",
    _valued_words,
)
