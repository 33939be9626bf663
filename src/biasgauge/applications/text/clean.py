"""Texts to tokens, tweets by the rules of Goldfarb-Tarrant et al. 2021."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from biasgauge.corpora.tokenizers import tokenizer_named
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.applications.text.data import TextData

Retweets = Literal["drop", "keep"]
TWITTER = "twitter"
LONGEST = 1000
"""Tokens of a text that are looked at."""
_RETWEET = re.compile(r"^\s*RT (?=@)")


@dataclass(frozen=True)
class Tokenized:
    """Texts as tokens.

    Attributes:
        tokens: of each text.
        labels: as in the data.
        groups: as in the data.
    """

    tokens: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...]
    groups: tuple[str | None, ...]

    def __len__(self) -> int:
        return len(self.tokens)


def without_retweets(data: TextData) -> tuple[TextData, list[str]]:
    """The data without tweets that start with `RT @`, and sentences about how many there were."""
    parts, notes = {}, []
    for name, part in data.parts.items():
        parts[name] = part.take([at for at, text in enumerate(part.texts) if not _RETWEET.match(text)])
        dropped = len(part) - len(parts[name])
        if dropped:
            notes.append(f"{dropped:,} of {len(part):,} texts for {name} are retweets and were dropped")
    return replace(data, parts=parts), notes


def cleaned(
    data: TextData, tokenizer: str = TWITTER, retweets: Retweets = "drop"
) -> tuple[dict[str, Tokenized], list[str]]:
    """Tokens of train, dev and test, and sentences about what was dropped or cut.

    Args:
        data: the texts.
        tokenizer: one of `tokenizer_names()`; "twitter" are the paper's rules: lower case, <HASH>, <MENTION>, <URL>.
        retweets: what becomes of a tweet that starts with `RT @`: "drop" as in the paper, or "keep", without the RT.

    Raises:
        InputError: a classifier cannot learn from what is there.
        ParameterError: `retweets` is something else, or there is no such tokenizer.
    """
    if retweets not in {"drop", "keep"}:
        raise ParameterError(f"The 'retweets' setting must be drop or keep. Got {retweets!r}.")
    split = tokenizer_named(tokenizer).split
    tweets = tokenizer == TWITTER
    data, notes = without_retweets(data) if tweets and retweets == "drop" else (data, [])
    found = {}
    for name, part in data.checked().parts.items():
        texts = [_RETWEET.sub("", text) for text in part.texts] if tweets else part.texts
        tokens = [tuple(split(text)) for text in texts]
        empty, long = sum(not one for one in tokens), sum(len(one) > LONGEST for one in tokens)
        if empty:
            notes.append(f"{empty:,} texts for {name} have no words")
        if long:
            notes.append(f"{long:,} texts for {name} were cut after {LONGEST:,} tokens")
        found[name] = Tokenized(tuple(one[:LONGEST] for one in tokens), part.labels, part.groups)
    return found, notes
