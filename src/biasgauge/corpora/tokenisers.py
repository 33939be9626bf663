"""Text to words: the tokenisers, by name."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from biasgauge.corpora.twitter import tweet_splitter
from biasgauge.corpora.unicode_words import ascii_words, unicode_words
from biasgauge.errors import InputError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_SPACY = "spacy:"


@dataclass(frozen=True)
class Tokeniser:
    """A rule from a text to its words.

    Attributes:
        name: as it is asked for; the qualified name of a function that is none of ours.
        split: the rule itself.
        versions: what else the words depend on.
        keeps_marks: whether a mark such as <unk> stays one token.
        whole_records: whether a record is one text even where it has line breaks.
        ours: whether the name alone says what it does, so that words found earlier can be used again.
    """

    name: str
    split: Callable[[str], list[str]]
    versions: Mapping[str, str] = field(default_factory=dict)
    keeps_marks: bool = True
    whole_records: bool = False
    ours: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Name and versions, as a corpus records them."""
        return {"name": self.name, **self.versions}


def tokeniser_names() -> tuple[str, ...]:
    """The names that `tokeniser_named` takes; the last stands for any language that spaCy knows."""
    return (*_MAKERS, "spacy:en")


def tokeniser_named(given: str | Callable[[str], Iterable[str]]) -> Tokeniser:
    """The tokeniser of that name, or around a function of the user's own.

    Raises:
        ParameterError: there is no such tokeniser.
        InputError: the library that it needs is not installed.
    """
    if callable(given):
        return _own(given)
    if isinstance(given, str) and given.startswith(_SPACY):
        return _spacy(given)
    if given not in _MAKERS:
        raise unknown_name("tokeniser", given, tokeniser_names())
    return _MAKERS[given]()


def unknown_name(parameter: str, given: object, known: Iterable[str]) -> ParameterError:
    """The error for a name that is none of the known ones, with the nearest of them."""
    names = tuple(known)
    near = get_close_matches(given[:100], names, n=1, cutoff=0.6) if isinstance(given, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return ParameterError(
        f"The {parameter!r} parameter of read_corpus must be one of {', '.join(names)}. Got {given!r}.{hint}"
    )


def _words() -> Tokeniser:
    return Tokeniser("words", unicode_words, {"unicode": unicodedata.unidata_version}, keeps_marks=False)


def _ascii_words() -> Tokeniser:
    return Tokeniser("ascii-words", ascii_words, keeps_marks=False)


def _whitespace() -> Tokeniser:
    return Tokeniser("whitespace", str.split)


def _lower_whitespace() -> Tokeniser:
    return Tokeniser("lower-whitespace", lambda text: text.lower().split())


def _twitter() -> Tokeniser:
    split, version = tweet_splitter()
    return Tokeniser("twitter", split, {"nltk": version}, whole_records=True)


_MAKERS: dict[str, Callable[[], Tokeniser]] = {
    "words": _words,
    "ascii-words": _ascii_words,
    "whitespace": _whitespace,
    "lower-whitespace": _lower_whitespace,
    "twitter": _twitter,
}


def _spacy(name: str) -> Tokeniser:
    """The tokens of spaCy's blank pipeline for a language, in lower case; blanks are no tokens."""
    try:
        import spacy  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as problem:
        raise InputError(
            f'The tokeniser {name} needs spaCy. Install it with: pip install "biasgauge[spacy]"'
        ) from problem
    try:
        tokenise = spacy.blank(name.removeprefix(_SPACY)).tokenizer
    except ImportError as problem:
        raise ParameterError(
            f"The 'tokeniser' parameter of read_corpus must name a language that spaCy knows, as spacy:en does. "
            f"Got {name!r}."
        ) from problem
    return Tokeniser(
        name,
        lambda text: [token.lower_ for token in tokenise(text) if not token.is_space],
        {"spacy": version("spacy")},
    )


def _own(function: Callable[[str], Iterable[str]]) -> Tokeniser:
    kind = type(function)
    name = f"{getattr(function, '__module__', kind.__module__)}.{getattr(function, '__qualname__', kind.__qualname__)}"
    return Tokeniser(name, lambda text: list(function(text)), ours=False)
