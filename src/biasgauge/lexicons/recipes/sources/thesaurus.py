"""Words under headwords of a thesaurus, or of the categories of a lexicon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from biasgauge.core import did_you_mean
from biasgauge.lexicons.recipes.word_source import Candidate, SourceRequest, StandardFile, WordSource

FILE = StandardFile("mobythes.aur", "public domain", "Moby Thesaurus II, Grady Ward 1996")


def _words_under_headwords(request: SourceRequest) -> Iterator[Candidate]:
    """Words, those first that stand under most of the headwords."""
    settings = request.settings
    headwords = request.words("headwords")
    fewest = settings.whole("fewest") if "fewest" in settings else 1
    settings.allow("fewest")
    if not 1 <= fewest <= len(headwords):
        settings.fail(f"'{settings.key('fewest')}' must be from 1 to {len(headwords)}, the headwords, found {fewest}")
    lines, _ = request.lines(FILE)
    entries: dict[str, list[str]] = {}
    for line in lines:
        headword, *words = line.strip().split("\t" if "\t" in line else ",")
        entries[headword] = words
    counts: Counter[str] = Counter()
    for headword in headwords:
        if headword not in entries:
            settings.fail(
                f"'{settings.key('headwords')}' has {headword!r}, which is no headword of {request.path.name}"
                f"{did_you_mean(headword, entries)}"
            )
        counts.update(list(dict.fromkeys([headword, *entries[headword]])))
    for word, count in counts.most_common():
        if count >= fewest:
            yield Candidate(word, f"under {count} of {len(headwords)} headwords")


SOURCE = WordSource(
    "thesaurus",
    "Words of a thesaurus (Moby, or a file with a headword and its words on each line, separated by commas or tabs): "
    "headwords; fewest, of the headwords under which a word must stand (1); file.",
    _words_under_headwords,
)
