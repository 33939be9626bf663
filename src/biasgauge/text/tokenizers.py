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
_REDDIT = ("reddit", "reddit-du2021")
"""Comments as Du et al. 2021 read them; the second as their code has it."""
_DELETED = "[deleted]"
_NO_SPACY = 'The tokenizer {} needs spaCy. Install it with: pip install "biasgauge[spacy]"'
_ASCII = re.compile(r"[a-z]+(?:'[a-z]+)?")
_PLANE = 0x10000
_BEYOND_PLANE = re.compile("[\U00010000-\U0010ffff]")

HASH, MENTION, URL = "<HASH>", "<MENTION>", "<URL>"

_RETWEET = re.compile(r"\s*RT @")
_MENTION = re.compile(r"@.[a-zA-Z0-9]\S+")
_URL = re.compile(r"https?://.\S*")
_ANY_URL = re.compile(r"http\S+")
_BREAK = re.compile("[\r\n]")
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True)
class Tokenizer:
    """A rule from a text to its words.

    Attributes:
        name: as users write it; the qualified name of a user's function.
        split: the rule itself.
        versions: of libraries that the words depend on.
        keeps_marks: whether a mark such as <unk> stays one token.
        whole_records: whether a record is one text even where it has line breaks.
        ours: whether the name alone defines the rule, so that a corpus made earlier can be used again.
        sentences: the rule from a text to its sentences, each of which is a line that no context window crosses; None
            where a line of the text is one.
    """

    name: str
    split: Callable[[str], list[str]]
    versions: Mapping[str, str] = field(default_factory=dict)
    keeps_marks: bool = True
    whole_records: bool = False
    ours: bool = True
    sentences: Callable[[str], list[list[str]]] | None = None

    def to_dict(self) -> JsonObject:
        """Name and versions, as a corpus records them."""
        return {"name": self.name, **self.versions}


def tokenizer_names() -> tuple[str, ...]:
    """Names that `tokenizer_named` takes; the last stands for any language that spaCy knows."""
    return (*_MAKERS, *_REDDIT, "spacy:en")


def tokenizer_named(name: str | Callable[[str], Iterable[str]]) -> Tokenizer:
    """Return the tokenizer of that name, or one around a user's function; an error where there is none."""
    if callable(name):
        return _wrap_function(name)
    if isinstance(name, str) and name.startswith(_SPACY):
        return _spacy(name)
    if isinstance(name, str) and name.partition(":")[0] in _REDDIT:
        return reddit_comments(name)
    if name not in _MAKERS:
        raise unknown_name("tokenizer", name, tokenizer_names())
    return _MAKERS[name]()


def unknown_name(parameter: str, value: object, accepted: Iterable[str]) -> ParameterError:
    """Return the error for a name that is not accepted, with the nearest of those that are."""
    names = tuple(accepted)
    near = nearest(value, names) if isinstance(value, str) else []
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return ParameterError(
        f"The {parameter!r} parameter of read_corpus must be one of {', '.join(names)}. Got {value!r}.{hint}"
    )


def ascii_words(text: str) -> list[str]:
    """Split into runs of a to z in lower case, with one apostrophe inside; any other sign separates.

    This is the rule under which the GloVe reference was made: `[a-z]+(?:'[a-z]+)?`.
    """
    return _ASCII.findall(text.lower())


def unicode_words(text: str) -> list[str]:
    """Split into runs of letters with their combining marks, in lower case, with one apostrophe inside.

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
    """Compile the rule over code points below `end`.

    The letters of the first plane become one table inside the pattern, those beyond it a list that is walked for every
    sign that is not a letter: ten times as slow, so it is used only where such signs are.
    """
    kinds = [(point, unicodedata.category(chr(point))[0]) for point in range(end)]
    letter = _ranges([point for point, kind in kinds if kind == "L"])
    inside = _ranges([point for point, kind in kinds if kind in "LM"])
    word = f"[{letter}][{inside}]*"
    return re.compile(f"{word}(?:'{word})?")


def _ranges(points: list[int]) -> str:
    """Format sorted code points as the inside of a character class."""
    # Consecutive points share the difference between value and index.
    runs = [[point for _, point in run] for _, run in groupby(enumerate(points), key=lambda pair: pair[1] - pair[0])]
    return "".join(f"{re.escape(chr(run[0]))}-{re.escape(chr(run[-1]))}" for run in runs)


def tweets() -> Tokenizer:
    """Build the tokenizer for tweets of Goldfarb-Tarrant et al. 2021, as their code applied them.

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


def reddit_comments(name: str) -> Tokenizer:
    """Build the tokenizer of Du et al. 2021 for comments of Reddit: no web addresses, sentences as lines, lower case.

    A comment that is `[deleted]` gives nothing; what starts with `http` goes up to the next blank; spaCy splits into
    words and sentences. `reddit` ends sentences at full stops, exclamation and question marks; `reddit:PIPELINE` where
    that pipeline of spaCy does, as `reddit:en_core_web_sm` in the paper. `reddit-du2021` deletes line breaks as the
    released code does, so that the words on both sides of one are joined; otherwise they are blanks.
    """
    rule, _, pipeline = name.partition(":")
    try:
        import spacy
    except ImportError as problem:
        raise InputError(_NO_SPACY.format(name)) from problem
    versions = {"spacy": version("spacy")}
    if pipeline:
        try:
            language = spacy.load(pipeline, exclude=["ner", "tagger", "attribute_ruler", "lemmatizer"])
        except (OSError, ValueError) as problem:
            raise ParameterError(
                f"The 'tokenizer' parameter of read_corpus names a pipeline that spaCy cannot load. Got {name!r}; "
                f"reddit alone needs none."
            ) from problem
        versions["pipeline"] = f"{language.meta['lang']}_{language.meta['name']} {language.meta['version']}"
    else:
        language = spacy.blank("en")
        language.add_pipe("sentencizer")
    if {"parser", "senter", "sentencizer"}.isdisjoint(language.pipe_names):
        raise ParameterError(f"The pipeline of the tokenizer {name!r} ends no sentences; reddit alone does.")
    line_break = "" if rule == "reddit-du2021" else " "

    def sentences(comment: str) -> list[list[str]]:
        if comment.strip() == _DELETED:
            return []
        document = language.tokenizer(_ANY_URL.sub("", _BREAK.sub(line_break, comment)))
        for _, component in language.pipeline:  # one by one: a call of the whole refuses texts of a million signs
            document = component(document)
        found = ([token.lower_ for token in sentence if not token.is_space] for sentence in document.sents)
        return [words for words in found if words]

    def split(comment: str) -> list[str]:
        return [word for sentence in sentences(comment) for word in sentence]

    return Tokenizer(name, split, versions, whole_records=True, sentences=sentences)


def _spacy(name: str) -> Tokenizer:
    """Build a tokenizer from spaCy's blank pipeline for a language; lower case, blanks are not tokens."""
    try:
        import spacy
    except ImportError as problem:
        raise InputError(_NO_SPACY.format(name)) from problem
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


def _wrap_function(function: Callable[[str], Iterable[str]]) -> Tokenizer:
    kind = type(function)
    name = f"{getattr(function, '__module__', kind.__module__)}.{getattr(function, '__qualname__', kind.__qualname__)}"
    return Tokenizer(name, lambda text: list(function(text)), ours=False)
