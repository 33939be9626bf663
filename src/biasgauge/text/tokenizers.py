"""Text to words: the tokenizers, by name."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from itertools import groupby

from biasgauge.core import JsonObject, nearest
from biasgauge.errors import InputError, ParameterError

_SPACY = "spacy:"
_ASCII = re.compile(r"[a-z]+(?:'[a-z]+)?")
_PLANE = 0x10000
_BEYOND_PLANE = re.compile("[\U00010000-\U0010ffff]")

HASH, MENTION, URL = "<HASH>", "<MENTION>", "<URL>"

_RETWEET = re.compile(r"\s*RT @")
_MENTION = re.compile(r"@.[a-zA-Z0-9]\S+")
_URL = re.compile(r"https?://.\S*")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class Tokenizer:
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

    def to_dict(self) -> JsonObject:
        """Name and versions, as a corpus records them."""
        return {"name": self.name, **self.versions}


def tokenizer_names() -> tuple[str, ...]:
    """The names that `tokenizer_named` takes; the last stands for any language that spaCy knows."""
    return (*_MAKERS, "spacy:en")


def tokenizer_named(given: str | Callable[[str], Iterable[str]]) -> Tokenizer:
    """The tokenizer of that name, or around a function of the user's own; an error where there is none."""
    if callable(given):
        return _own(given)
    if isinstance(given, str) and given.startswith(_SPACY):
        return _spacy(given)
    if given not in _MAKERS:
        raise unknown_name("tokenizer", given, tokenizer_names())
    return _MAKERS[given]()


def unknown_name(parameter: str, given: object, known: Iterable[str]) -> ParameterError:
    """The error for a name that is none of the known ones, with the nearest of them."""
    names = tuple(known)
    near = nearest(given, names) if isinstance(given, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return ParameterError(
        f"The {parameter!r} parameter of read_corpus must be one of {', '.join(names)}. Got {given!r}.{hint}"
    )


def ascii_words(text: str) -> list[str]:
    """Runs of a to z in lower case, with one apostrophe inside; any other sign separates.

    This is the rule under which the GloVe reference was made: `[a-z]+(?:'[a-z]+)?`.
    """
    return _ASCII.findall(text.lower())


def unicode_words(text: str) -> list[str]:
    """Runs of letters with their combining marks, in lower case, with one apostrophe inside; other signs separate.

    The typographic apostrophe is read as the plain one, and a letter with its mark as one sign where there is one
    (form NFC), so that a word has one spelling. On ASCII this is `ascii_words`.
    """
    text = text.lower()
    if text.isascii():
        return _ASCII.findall(text)
    text = unicodedata.normalize("NFC", text).replace("’", "'")
    return _pattern(sys.maxunicode + 1 if _BEYOND_PLANE.search(text) else _PLANE).findall(text)


@cache
def _pattern(end: int) -> re.Pattern[str]:
    """The rule over code points below `end`.

    The letters of the first plane become one table inside the pattern, those beyond it a list that is walked for every
    sign that is no letter: ten times as slow, so it is used only where such signs are.
    """
    kinds = [(point, unicodedata.category(chr(point))[0]) for point in range(end)]
    letter = _ranges([point for point, kind in kinds if kind == "L"])
    inside = _ranges([point for point, kind in kinds if kind in "LM"])
    word = f"[{letter}][{inside}]*"
    return re.compile(f"{word}(?:'{word})?")


def _ranges(points: list[int]) -> str:
    """Sorted code points as the inside of a character class."""
    runs = [[point for _, point in run] for _, run in groupby(enumerate(points), key=lambda place: place[1] - place[0])]
    return "".join(f"{re.escape(chr(run[0]))}-{re.escape(chr(run[-1]))}" for run in runs)


def tweets() -> Tokenizer:
    """The rules for tweets of Goldfarb-Tarrant et al. 2021, as their code applied them.

    In this order: a retweet (a text that starts with `RT @`) gives nothing; lower case; the sign `#` becomes <HASH>,
    its tag stays a word; `@`, any sign, a letter or digit and the rest up to a blank become <MENTION>, so names of one
    or two letters are left; a web address becomes <URL>; double quotes become single; NLTK's `TweetTokenizer` splits.
    """
    try:
        from nltk.tokenize import TweetTokenizer
    except ImportError as problem:
        raise InputError(
            'The tokenizer twitter needs NLTK. Install it with: pip install "biasgauge[train]"'
        ) from problem
    tokenize: Callable[[str], list[str]] = TweetTokenizer().tokenize

    def split(text: str) -> list[str]:
        if _RETWEET.match(text):
            return []
        tweet = text.lower().replace("#", f" {HASH} ")
        tweet = _MENTION.sub(f" {MENTION} ", tweet)
        tweet = _URL.sub(f" {URL} ", tweet)
        return tokenize(_BLANKS.sub(" ", tweet).replace('"', "'"))

    return Tokenizer("twitter", split, {"nltk": version("nltk")}, whole_records=True)


_MAKERS: dict[str, Callable[[], Tokenizer]] = {
    "words": lambda: Tokenizer("words", unicode_words, {"unicode": unicodedata.unidata_version}, keeps_marks=False),
    "ascii-words": lambda: Tokenizer("ascii-words", ascii_words, keeps_marks=False),
    "whitespace": lambda: Tokenizer("whitespace", str.split),
    "lower-whitespace": lambda: Tokenizer("lower-whitespace", lambda text: text.lower().split()),
    "twitter": tweets,
}


def _spacy(name: str) -> Tokenizer:
    """The tokens of spaCy's blank pipeline for a language, in lower case; blanks are no tokens."""
    try:
        import spacy
    except ImportError as problem:
        raise InputError(
            f'The tokenizer {name} needs spaCy. Install it with: pip install "biasgauge[spacy]"'
        ) from problem
    try:
        tokenize = spacy.blank(name.removeprefix(_SPACY)).tokenizer
    except ImportError as problem:
        raise ParameterError(
            f"The 'tokenizer' parameter of read_corpus must name a language that spaCy knows, as spacy:en does. "
            f"Got {name!r}."
        ) from problem
    return Tokenizer(
        name, lambda text: [token.lower_ for token in tokenize(text) if not token.is_space], {"spacy": version("spacy")}
    )


def _own(function: Callable[[str], Iterable[str]]) -> Tokenizer:
    kind = type(function)
    name = f"{getattr(function, '__module__', kind.__module__)}.{getattr(function, '__qualname__', kind.__qualname__)}"
    return Tokenizer(name, lambda text: list(function(text)), ours=False)
