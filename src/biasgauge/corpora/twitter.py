"""The rules for tweets of Goldfarb-Tarrant et al. 2021, as their code applied them."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import TYPE_CHECKING

from biasgauge.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

HASH, MENTION, URL = "<HASH>", "<MENTION>", "<URL>"

_RETWEET = re.compile(r"\s*RT @")
_MENTION = re.compile(r"@.[a-zA-Z0-9]\S+")
_URL = re.compile(r"https?://.\S*")
_BLANKS = re.compile(r"\s+")


def tweet_splitter() -> tuple[Callable[[str], list[str]], str]:
    """The tokeniser, and the version of NLTK that it uses.

    In this order: a retweet (a text that starts with `RT @`) gives nothing; lower case; the sign `#` becomes <HASH>,
    its tag stays a word; `@`, any sign, a letter or digit and the rest up to a blank become <MENTION>, so names of one
    or two letters are left; a web address becomes <URL>; double quotes become single; NLTK's `TweetTokenizer` splits.

    Raises:
        InputError: NLTK is not installed.
    """
    try:
        from nltk.tokenize import TweetTokenizer  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as problem:
        raise InputError(
            'The tokeniser twitter needs NLTK. Install it with: pip install "biasgauge[train]"'
        ) from problem
    tokenise: Callable[[str], list[str]] = TweetTokenizer().tokenize

    def split(text: str) -> list[str]:
        if _RETWEET.match(text):
            return []
        tweet = text.lower().replace("#", f" {HASH} ")
        tweet = _MENTION.sub(f" {MENTION} ", tweet)
        tweet = _URL.sub(f" {URL} ", tweet)
        return tokenise(_BLANKS.sub(" ", tweet).replace('"', "'"))

    return split, version("nltk")
