"""Labeled texts: what a classifier learns from, stops by and is judged on; also as tokens.

Tweets become tokens by the rules of Goldfarb-Tarrant et al. 2021.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from biasgauge.applications.text.tables import TextTable
from biasgauge.core import check_choice
from biasgauge.errors import InputError
from biasgauge.text import tokenizer_named

Retweets = Literal["drop", "keep"]
TWITTER = "twitter"
LONGEST = 1000
"""Tokens of a text that are looked at."""
SHARES = MappingProxyType({"train": 0.8, "dev": 0.1, "test": 0.1})
"""Of a data set that comes in one part."""
WITHOUT_DEV = MappingProxyType({"train": 0.9, "dev": 0.1})
"""Of the texts to learn from, where only those to be judged on are set apart."""
_RETWEET = re.compile(r"^\s*RT (?=@)")


@dataclass(frozen=True)
class Texts:
    """Some texts with their labels.

    Attributes:
        texts: as they were written.
        labels: what is true of each.
        groups: whom each is about; None where that is nobody's group or not known.
        source: the file.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    groups: tuple[str | None, ...]
    source: str

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def of(
        cls, table: TextTable, texts: Sequence[str], labels: Sequence[str], groups: Sequence[str | None] | None = None
    ) -> Texts:
        """Texts of a table; without groups nobody has one."""
        owners = tuple(groups) if groups is not None else (None,) * len(texts)
        return cls(tuple(texts), tuple(labels), owners, str(table.path))

    def take(self, places: Sequence[int]) -> Texts:
        """Some of them, in the order given."""
        texts, labels = (tuple(column[place] for place in places) for column in (self.texts, self.labels))
        return replace(self, texts=texts, labels=labels, groups=tuple(self.groups[place] for place in places))


@dataclass(frozen=True)
class TextData:
    """A data set: train, dev and test.

    Attributes:
        name: of the data set.
        parts: texts for "train", "dev" and "test".
        positive: the class that counts as positive.
        order: groups in the order in which they are subtracted; None for sorted.
        warnings: what to know before reading results.
    """

    name: str
    parts: Mapping[str, Texts]
    positive: str
    order: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()

    @property
    def classes(self) -> tuple[str, ...]:
        """All labels, sorted."""
        return tuple(sorted({label for part in self.parts.values() for label in part.labels}))

    def checked(self) -> TextData:
        """The same data, if a classifier can learn from it: no part is empty, and there are two labels to learn."""
        for name, part in self.parts.items():
            if not len(part):
                raise InputError(f"{part.source}: {self.name} has no texts for {name}")
        learned = self.parts["train"]
        problem = ""
        if len(set(learned.labels)) < 2:
            all_alike = f"all {len(learned):,} texts to learn from are labeled {learned.labels[0]!r}"
            problem = f"{all_alike}; a classifier needs two labels at least"
        elif self.positive not in self.classes:
            problem = f"nothing is labeled {self.positive!r}; labels are {', '.join(self.classes)}"
        if problem:
            raise InputError(f"{learned.source}: {problem}")
        return self


def stratified(labels: Sequence[str], shares: Sequence[float], random_state: int) -> list[list[int]]:
    """Places of texts in parts of these shares, each label spread alike; the same for the same seed.

    What rounding leaves over goes to the first part. Places are in the order of the file.
    """
    random = np.random.default_rng(random_state)
    parts: list[list[int]] = [[] for _ in shares]
    for label in sorted(set(labels)):
        places = random.permutation([place for place, own in enumerate(labels) if own == label]).tolist()
        counts = [int(share * len(places) + 1e-9) for share in shares[1:]]
        bounds = np.cumsum([0, len(places) - sum(counts), *counts]).tolist()
        for part, (start, stop) in zip(parts, pairwise(bounds), strict=True):
            part.extend(places[start:stop])
    return [sorted(part) for part in parts]


def split_up(texts: Texts, random_state: int, shares: Mapping[str, float] = SHARES) -> dict[str, Texts]:
    """Texts in parts of these shares, each label spread alike."""
    places = stratified(texts.labels, list(shares.values()), random_state)
    return {name: texts.take(own) for name, own in zip(shares, places, strict=True)}


def split_by(texts: Texts, column: Sequence[str]) -> dict[str, Texts]:
    """Texts in the parts that a column names."""
    places = {name: [place for place, own in enumerate(column) if own == name] for name in SHARES}
    return {name: texts.take(own) for name, own in places.items() if own}


@dataclass(frozen=True)
class Tokenized:
    """Texts as tokens, with labels and groups as in the data."""

    tokens: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...]
    groups: tuple[str | None, ...]

    def __len__(self) -> int:
        return len(self.tokens)


def cleaned(
    data: TextData, tokenizer: str = TWITTER, retweets: Retweets = "drop"
) -> tuple[dict[str, Tokenized], list[str]]:
    """Tokens of train, dev and test, and sentences about what was dropped or cut.

    The tokenizer "twitter" has the paper's rules: lower case, <HASH>, <MENTION>, <URL>. A tweet that starts with `RT @`
    is dropped as in the paper, or kept without the RT.
    """
    check_choice(get_args(Retweets), retweets=retweets)
    split = tokenizer_named(tokenizer).split
    tweets = tokenizer == TWITTER
    data, notes = _without_retweets(data) if tweets and retweets == "drop" else (data, [])
    parts = {}
    for name, part in data.checked().parts.items():
        texts = [_RETWEET.sub("", text) for text in part.texts] if tweets else part.texts
        tokens = [tuple(split(text)) for text in texts]
        empty, long = sum(not text for text in tokens), sum(len(text) > LONGEST for text in tokens)
        if empty:
            notes.append(f"{empty:,} texts for {name} have no words")
        if long:
            notes.append(f"{long:,} texts for {name} were cut after {LONGEST:,} tokens")
        parts[name] = Tokenized(tuple(text[:LONGEST] for text in tokens), part.labels, part.groups)
    return parts, notes


def _without_retweets(data: TextData) -> tuple[TextData, list[str]]:
    """The data without tweets that start with `RT @`, and sentences about how many there were."""
    parts, notes = {}, []
    for name, part in data.parts.items():
        parts[name] = part.take([place for place, text in enumerate(part.texts) if not _RETWEET.match(text)])
        dropped = len(part) - len(parts[name])
        if dropped:
            notes.append(f"{dropped:,} of {len(part):,} texts for {name} are retweets and were dropped")
    return replace(data, parts=parts), notes
