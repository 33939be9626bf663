"""Which lexicons an audit asks, and in which language."""

from __future__ import annotations

import os
from collections.abc import Iterable

from biasgauge.core import LexiconLike
from biasgauge.errors import ParameterError
from biasgauge.lexicons import (
    DEFAULT_LANGUAGE,
    QUERY_KINDS,
    Language,
    Lexicon,
    language_of,
    languages,
    lexicon,
    lexicons_in_language,
)


def select_lexicons(
    lexicons: Iterable[LexiconLike] | LexiconLike | None, language: str | os.PathLike[str] | Language | None
) -> tuple[list[Lexicon], Language]:
    """The lexicons to ask, and the record of the one language that they are in.

    Raises:
        ParameterError: lexicons are in several languages, or there is none in the language.
    """
    asked = None if language is None else language_of(language)
    if lexicons is not None:
        several = [lexicons] if isinstance(lexicons, (str, os.PathLike, Lexicon)) else lexicons
        given = [lexicon(reference) for reference in several]
        codes = sorted({lexicon.language for lexicon in given} | ({asked.name} if asked else set()))
        if len(codes) > 1:
            raise ParameterError(
                f"An audit asks in one language. Got lexicons in {' and '.join(codes)}; audit each by itself."
            )
        return given, asked or language_of(codes[0] if codes else DEFAULT_LANGUAGE)
    spoken = asked or language_of(DEFAULT_LANGUAGE)
    inside = lexicons_in_language(spoken)
    if not inside:
        known = ", ".join(record.name for record in languages())
        raise ParameterError(
            f"The 'language' parameter of audit must be a language of the shipped lexicons ({known}), or the file of "
            f"one of your own (`biasgauge lexicons check {spoken.name}` says where its template is). Got "
            f"{spoken.name!r}; or name your own lexicons."
        )
    if not any(lexicon.kind in QUERY_KINDS for lexicon in inside):
        raise ParameterError(
            f"The language {spoken.name!r} has no association test and no stereotypes to ask about: name your own "
            "lexicons."
        )
    return inside, spoken
