"""Which words of an embedding stand for all of it, and which may be neighbors.

Zhang, Sneyd & Stevenson 2020, section 5, after Bolukbasi et al. 2016 and Gonen & Goldberg 2019.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from biasgauge.embeddings import Embedding
from biasgauge.errors import ParameterError
from biasgauge.lexicons import lexicon

FREQUENT = 50_000
_LONGEST = 20
_PUBLISHED = re.compile(r"[A-Za-z_]+")
_LETTERS = re.compile(r"(?:[^\W\d]|_)+")
GENDERED = ("equalize", "gender_specific")
"""Lexicons of words that name a gender; left out of the neutral words when a pair does so too."""


def limited(vectors: Embedding, frequent: int = FREQUENT, *, as_published: bool = False) -> tuple[str, ...]:
    """Frequent words of letters: among the first `frequent` of the file, no digit, no punctuation, 20 letters at most.

    Underscores join phrases and are allowed. As published: letters of English alone, 19 at most, as the code has it.
    """
    check_frequent(frequent)
    pattern, most = (_PUBLISHED, _LONGEST - 1) if as_published else (_LETTERS, _LONGEST)
    return tuple(
        word for word in vectors.words[:frequent] if len(word) <= most and pattern.fullmatch(word) and word.strip("_")
    )


def as_spelled(model: Embedding, words: Iterable[str], *, case_fallback: bool) -> tuple[str, ...]:
    """Words as the vocabulary spells them: in another case where they are lost as written, if that is allowed."""
    asked = tuple(words)
    respelled = model.lookup(asked, case_fallback=True).respelled if case_fallback else {}
    return tuple(respelled.get(word, word) for word in asked)


def pairs_as_spelled(
    model: Embedding, pairs: Iterable[tuple[str, str]], *, case_fallback: bool
) -> tuple[tuple[str, str], ...]:
    """The same for the ends of pairs."""
    spelled = (as_spelled(model, pair, case_fallback=case_fallback) for pair in pairs)
    return tuple((first, second) for first, second in spelled)


def neutral(
    vectors: Embedding,
    pairs: Iterable[tuple[str, str]],
    frequent: int = FREQUENT,
    *,
    as_published: bool = False,
) -> tuple[str, ...]:
    """The limited words that are in lower case and do not name what the pairs are about.

    Left out are the words of the pairs and, where one of them is a gendered word of `gender_specific`, all words of
    that list and of `equalize`.
    """
    ends = {end for pair in pairs for end in pair}
    left_out = set(ends)
    if as_published or not ends.isdisjoint(lexicon("gender_specific").words):
        left_out.update(word for name in GENDERED for word in lexicon(name).words)
    return tuple(
        word
        for word in limited(vectors, frequent, as_published=as_published)
        if word not in left_out and word == word.lower()
    )


def check_frequent(frequent: int) -> int:
    """Refuse a number of frequent words that is none.

    Raises:
        ParameterError: it is no whole number of at least 1.
    """
    if not isinstance(frequent, int) or isinstance(frequent, bool) or frequent < 1:
        raise ParameterError(f"The number of 'frequent' words must be a whole number of at least 1. Got {frequent!r}.")
    return frequent
