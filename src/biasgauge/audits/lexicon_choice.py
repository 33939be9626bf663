"""Choice of the lexicons that an audit asks, and of their language."""

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
    requested = None if language is None else language_of(language)
    if lexicons is not None:
        references = [lexicons] if isinstance(lexicons, (str, os.PathLike, Lexicon)) else lexicons
        selected = [lexicon(reference) for reference in references]
        codes = sorted({lexicon.language for lexicon in selected} | ({requested.name} if requested else set()))
        if len(codes) > 1:
            raise ParameterError(
                f"An audit asks in one language. Got lexicons in {' and '.join(codes)}; audit each by itself."
            )
        return selected, requested or language_of(codes[0] if codes else DEFAULT_LANGUAGE)
    language_record = requested or language_of(DEFAULT_LANGUAGE)
    inside = lexicons_in_language(language_record)
    if not inside:
        names = ", ".join(record.name for record in languages())
        raise ParameterError(
            f"The 'language' parameter of audit must be a language of the shipped lexicons ({names}), or the "
            f"file of one of your own (`biasgauge lexicons check {language_record.name}` says where its template is). "
            f"Got {language_record.name!r}; or name your own lexicons."
        )
    if not any(lexicon.kind in QUERY_KINDS for lexicon in inside):
        raise ParameterError(
            f"The language {language_record.name!r} has no association test and no stereotypes to ask about: name your "
            "own lexicons."
        )
    return inside, language_record
