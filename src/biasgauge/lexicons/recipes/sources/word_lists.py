"""Words that somebody has listed: in the recipe, in a file of one's own, in a lexicon, in the seed bank."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from biasgauge.core import WordSet
from biasgauge.lexicons import BANK, PLAIN_SUFFIX, SUFFIX, SourceRecord, words_of
from biasgauge.lexicons.recipes.word_source import Candidate, SourceRequest, WordSource


def _listed_words(request: SourceRequest) -> Iterator[Candidate]:
    """Words of the recipe itself."""
    for word in request.settings.words("words"):
        yield Candidate(word, "listed in the recipe")


def _words_of_file(request: SourceRequest) -> Iterator[Candidate]:
    """Words of a plain list or of a lexicon file; of one of its sets where `set` names it."""
    settings = request.settings
    reference = str(request.files.named(settings.text("file")))
    if not reference.endswith((SUFFIX, PLAIN_SUFFIX)):
        settings.fail(f"'{settings.key('file')}' must end in {PLAIN_SUFFIX}, one word per line, or in {SUFFIX}")
    yield from _words_of(request, reference + _set_suffix(request))


def _words_of_lexicon(request: SourceRequest) -> Iterator[Candidate]:
    """Words of a lexicon by its name; of one of its sets where `set` names it."""
    yield from _words_of(request, request.settings.text("lexicon") + _set_suffix(request))


def _seeds(request: SourceRequest) -> Iterator[Candidate]:
    """Words of sets of the seed bank."""
    for identifier in request.words("sets"):
        yield from _words_of(request, f"{BANK}:{identifier}")


def _set_suffix(request: SourceRequest) -> str:
    name = request.settings.text("set", default="")
    return f":{name}" if name else ""


def _words_of(request: SourceRequest, reference: str) -> Iterator[Candidate]:
    words: WordSet = words_of(reference)
    origin = words.lexicon
    stated = request.settings.text("license", default="")
    checksum = hashlib.sha256("\n".join(words.words).encode("utf-8", "surrogatepass")).hexdigest()
    license_text = stated or (origin.license if origin is not None else "")
    citation = (origin.citation or origin.source) if origin is not None else ""
    request.files.record(SourceRecord(request.source, words.name, checksum, license_text, citation))
    for word in dict.fromkeys(words.words):
        yield Candidate(word, f"listed in {words.name}")


SOURCE = (
    WordSource("words", "Words of the recipe itself: words.", _listed_words),
    WordSource("file", "A list of one's own (.txt, one word per line, or .toml): file, set, license.", _words_of_file),
    WordSource("lexicon", "A lexicon that ships or is registered: lexicon, set.", _words_of_lexicon),
    WordSource("seed_bank", "Sets of the seed bank of Antoniak and Mimno: sets.", _seeds),
)
