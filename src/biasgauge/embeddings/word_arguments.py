"""Words that a user hands to a function."""

from __future__ import annotations

from collections.abc import Iterable

from biasgauge.errors import ParameterError


def distinct_words(words: object, parameter: str, function: str) -> tuple[str, ...]:
    """Each word once, in the order given.

    Raises:
        ParameterError: it is one text, no collection, or holds something that is no text.
    """
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise ParameterError(f"The '{parameter}' parameter of {function} must be a collection of words. Got {words!r}.")
    given = list(words)
    for word in given:
        if not isinstance(word, str):
            raise ParameterError(f"The '{parameter}' parameter of {function} must hold text only. Got {word!r}.")
    return tuple(dict.fromkeys(given))
