"""WordNet: words of a meaning and of all kinds of it, and members of a topic."""

from __future__ import annotations

from collections.abc import Iterator

from biasgauge.lexicons.recipes.word_source import Candidate, SourceRequest, WordSource
from biasgauge.lexicons.recipes.wordnet import HYPONYM, INSTANCE, PARTS_OF_SPEECH, TOPIC_MEMBER


def _words_of_meanings(request: SourceRequest) -> Iterator[Candidate]:
    """Words of meanings, nearest to the top first."""
    settings = request.settings
    kinds_of, topics, without = (_names(request, key) for key in ("hyponyms_of", "topic", "without"))
    first_sense_only = settings.take("first_sense_only", "true or false", bool, default=True)
    instances = settings.take("instances", "true or false", bool, default=False)
    parts = settings.words("parts_of_speech", optional=True) or ("n",)
    for part in parts:
        if part not in PARTS_OF_SPEECH:
            settings.fail(f"'{settings.key('parts_of_speech')}' may hold {', '.join(PARTS_OF_SPEECH)}, found {part!r}")
    if not kinds_of and not topics:
        keys = f"'{settings.key('hyponyms_of')}' or '{settings.key('topic')}'"
        settings.fail(f'{keys} is missing: a meaning of WordNet, as in hyponyms_of = "flower.n.01"')
    settings.finish()
    wordnet = request.files.wordnet(request.file)
    symbols = (HYPONYM, INSTANCE) if instances else (HYPONYM,)
    left_out = {synset for name in without for synset in wordnet.below(wordnet.synset(name), *symbols)}
    synsets = [
        (synset, f"kind of {name}") for name in kinds_of for synset in wordnet.below(wordnet.synset(name), *symbols)
    ]
    synsets += [
        (synset, f"topic {name}") for name in topics for synset in wordnet.related(wordnet.synset(name), TOPIC_MEMBER)
    ]
    for synset, relation in synsets:
        if synset not in left_out and synset[0] in parts:
            for word in wordnet.lemmas(synset):
                number = wordnet.senses(word, synset[0]).index(synset) + 1
                if number == 1 or not first_sense_only:
                    yield Candidate(word, f"{relation}, meaning {number}", synset=synset)


def _names(request: SourceRequest, key: str) -> tuple[str, ...]:
    """Names of meanings under a key that may be missing."""
    request.settings.allow(key)
    return request.words(key) if key in request.settings else ()


SOURCE = WordSource(
    "wordnet",
    "Words of WordNet 3.0: kinds of a meaning (hyponyms_of) or of its topic (topic); without, first_sense_only, "
    "instances, parts_of_speech, file.",
    _words_of_meanings,
)
