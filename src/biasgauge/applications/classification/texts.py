"""Labeled texts for training, early stopping and testing: their tokens, their groups, and the vectors of their words.

Tweets become tokens by the rules of Goldfarb-Tarrant et al. 2021.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from biasgauge.core import JsonObject, Singles, VectorsLike, check_choice
from biasgauge.errors import InputError, ParameterError
from biasgauge.lexicons import lexicon
from biasgauge.results import share_text
from biasgauge.text import tokenizer_named
from biasgauge.vectors import load, load_subwords

GroupWords = str | Mapping[str, Iterable[str]]
Retweets = Literal["drop", "keep"]
Unknown = Literal["zero", "subwords"]
LOW_COVERAGE = 0.5
"""Share of running words with a vector below which results say little about the vectors."""
TWITTER = "twitter"
MAX_TOKENS = 1000
"""Tokens of a text beyond which it is cut."""
SHARES = MappingProxyType({"train": 0.8, "dev": 0.1, "test": 0.1})
"""Split of a data set that comes in one part."""
WITHOUT_DEV = MappingProxyType({"train": 0.9, "dev": 0.1})
"""Split of the training texts where only test texts are set apart."""
_RETWEET = re.compile(r"^\s*RT (?=@)")


@dataclass(frozen=True)
class Texts:
    """Some texts with their labels.

    Attributes:
        texts: as they were written.
        labels: true class of each.
        groups: group that each is about; None where there is none or it is unknown.
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
        cls,
        source: str | os.PathLike[str],
        texts: Sequence[str],
        labels: Sequence[str],
        groups: Sequence[str | None] | None = None,
    ) -> Texts:
        """Build from columns of a table; without `groups` no text has one."""
        return cls(tuple(texts), tuple(labels), tuple(groups or [None] * len(texts)), os.fspath(source))

    def take(self, rows: Sequence[int]) -> Texts:
        """Return some of them, in the order given."""
        texts, labels = (tuple(column[row] for row in rows) for column in (self.texts, self.labels))
        return replace(self, texts=texts, labels=labels, groups=tuple(self.groups[row] for row in rows))


@dataclass(frozen=True)
class TextData:
    """A data set: train, dev and test.

    Attributes:
        name: of the data set.
        parts: texts for "train", "dev" and "test".
        positive: the class that counts as positive.
        order: groups in the order in which they are subtracted; None for sorted.
        warnings: caveats.
    """

    name: str
    parts: Mapping[str, Texts]
    positive: str
    order: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()

    @property
    def classes(self) -> tuple[str, ...]:
        """All labels, sorted."""
        return tuple(sorted({label for split in self.parts.values() for label in split.labels}))

    def checked(self) -> TextData:
        """Return the data if a classifier can learn from it: no part is empty, and there are two labels to learn."""
        for name, split in self.parts.items():
            if not len(split):
                raise InputError(f"{split.source}: {self.name} has no texts for {name}")
        train = self.parts["train"]
        problem = ""
        if len(set(train.labels)) < 2:
            problem = f"all {len(train):,} training texts are labeled {train.labels[0]!r}; two labels are needed"
        elif self.positive not in self.classes:
            problem = f"nothing is labeled {self.positive!r}; labels are {', '.join(self.classes)}"
        if problem:
            raise InputError(f"{train.source}: {problem}")
        return self


def stratified(labels: Sequence[str], shares: Sequence[float], random_state: int) -> list[list[int]]:
    """Rows of texts in parts of these shares, stratified by label; the same for the same seed.

    The remainder of rounding goes to the first part. Rows are in the order of the file.
    """
    random = np.random.default_rng(random_state)
    parts: list[list[int]] = [[] for _ in shares]
    for stratum in sorted(set(labels)):
        rows = random.permutation([row for row, label in enumerate(labels) if label == stratum]).tolist()
        counts = [int(share * len(rows) + 1e-9) for share in shares[1:]]
        bounds = np.cumsum([0, len(rows) - sum(counts), *counts]).tolist()
        for subset, (start, stop) in zip(parts, pairwise(bounds), strict=True):
            subset.extend(rows[start:stop])
    return [sorted(subset) for subset in parts]


def split_up(texts: Texts, random_state: int, shares: Mapping[str, float] = SHARES) -> dict[str, Texts]:
    """Split texts into parts of these shares, stratified by label."""
    parts = stratified(texts.labels, list(shares.values()), random_state)
    return {name: texts.take(rows) for name, rows in zip(shares, parts, strict=True)}


def split_by(texts: Texts, column: Sequence[str]) -> dict[str, Texts]:
    """Split texts into the parts that a column names."""
    parts = {name: [row for row, cell in enumerate(column) if cell == name] for name in SHARES}
    return {name: texts.take(rows) for name, rows in parts.items() if rows}


@dataclass(frozen=True)
class Tokenized:
    """Texts as tokens, with labels and groups as in the data."""

    tokens: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...]
    groups: tuple[str | None, ...]

    def __len__(self) -> int:
        return len(self.tokens)


def tokenize(
    data: TextData, tokenizer: str = TWITTER, retweets: Retweets = "drop"
) -> tuple[dict[str, Tokenized], list[str]]:
    """Tokens of train, dev and test, and notes on texts that were dropped or cut.

    The tokenizer "twitter" has the paper's rules: lower case, <HASH>, <MENTION>, <URL>. A tweet that starts with `RT @`
    is dropped as in the paper, or kept without the RT.
    """
    check_choice(get_args(Retweets), retweets=retweets)
    split = tokenizer_named(tokenizer).split
    tweets = tokenizer == TWITTER
    notes, kept = [], {}
    for name, source in data.parts.items() if tweets and retweets == "drop" else ():
        kept[name] = source.take([row for row, text in enumerate(source.texts) if not _RETWEET.match(text)])
        dropped = len(source) - len(kept[name])
        if dropped:
            notes.append(f"{dropped:,} of {len(source):,} texts for {name} are retweets and were dropped")
    parts = {}
    for name, source in replace(data, parts=kept or data.parts).checked().parts.items():
        texts = [_RETWEET.sub("", text) for text in source.texts] if tweets else source.texts
        tokens = [tuple(split(text)) for text in texts]
        empty, long = sum(not text for text in tokens), sum(len(text) > MAX_TOKENS for text in tokens)
        if empty:
            notes.append(f"{empty:,} texts for {name} have no words")
        if long:
            notes.append(f"{long:,} texts for {name} were cut after {MAX_TOKENS:,} tokens")
        parts[name] = Tokenized(tuple(text[:MAX_TOKENS] for text in tokens), source.labels, source.groups)
    return parts, notes


def group_words(groups: GroupWords) -> dict[str, frozenset[str]]:
    """Words of each group, in lower case, in the order of the groups.

    Args:
        groups: groups with their words; or the name or file of a lexicon, each of whose sets is a group
            ("bolukbasi2016": male, female); or NAME:SET,SET for some of them ("goldfarb2021_expansion:male,female").

    Raises:
        ParameterError: there are fewer than two groups, or a group has no words or shares one with another.
        LexiconError: there is no such lexicon.
    """
    word_lists: Mapping[str, Iterable[str]] = {}
    if isinstance(groups, Mapping):
        word_lists = groups
    else:
        name, colon, selection = groups.rpartition(":")
        every = lexicon(name if colon else groups).sets
        selected = [group.strip() for group in selection.split(",")] if colon else list(every)
        if missing := [group for group in selected if group not in every]:
            raise ParameterError(f"The lexicon {name!r} has no set {missing[0]!r}; its sets are {', '.join(every)}.")
        word_lists = {group: every[group] for group in selected}
    sets = {name: frozenset(word.lower() for word in words) for name, words in word_lists.items()}
    if len(sets) < 2 or not all(sets.values()):
        raise ParameterError(
            f"Words of groups must be of two groups at least, each with a word. Got {', '.join(sets) or 'none'}."
        )
    for first, second in combinations(sets, 2):
        if shared := sets[first] & sets[second]:
            raise ParameterError(
                f"Words of groups must not be shared: {first!r} and {second!r} both have {len(shared)} such words."
            )
    return sets


def groups_by_words(tokens: Iterable[Sequence[str]], words: Mapping[str, frozenset[str]]) -> tuple[str | None, ...]:
    """Group of each text: the one whose words it mentions; None where it mentions none, or words of several groups."""
    groups = []
    for text in tokens:
        present = {token.lower() for token in text}
        mentioned = [name for name, group in words.items() if not group.isdisjoint(present)]
        groups.append(mentioned[0] if len(mentioned) == 1 else None)
    return tuple(groups)


@dataclass(frozen=True)
class TaskVectors:
    """Vectors for the words of a task, which have the rows from 1 on in the order of the alphabet.

    The first row is zero and stands for words without a vector, the last for what is beyond the end of a text.
    """

    name: str
    numbers: Mapping[str, int]
    table: Singles
    coverage: JsonObject
    warnings: tuple[str, ...]

    @property
    def checksum(self) -> str:
        """SHA-256 of words and rows."""
        digest = hashlib.sha256(f"{self.table.shape}\n".encode())
        for word in self.numbers:
            raw = word.encode("utf-8", "surrogatepass")
            digest.update(len(raw).to_bytes(8, "little") + raw)
        digest.update(np.ascontiguousarray(self.table, "<f4").data)
        return digest.hexdigest()


def task_vectors(
    vectors: VectorsLike,
    parts: Iterable[Tokenized],
    task: str,
    unknown: Unknown = "zero",
    progress: Callable[[int, int], None] | None = None,
) -> TaskVectors:
    """Read the vectors of the words of a task's texts; at least one must have one.

    A word without a vector gets "zero", as published, or for a fastText model with n-grams the vector that its
    "subwords" compose.
    """
    check_choice(get_args(Unknown), unknown=unknown)
    counts = Counter(token for split in parts for text in split.tokens for token in text)
    embedding = load(vectors, words=list(counts), progress=progress)
    if unknown == "subwords":
        if not isinstance(vectors, (str, os.PathLike)):
            raise ParameterError("The 'unknown' setting can be subwords for a file of vectors with n-grams only.")
        embedding = load_subwords(vectors).extend(embedding, list(counts))
    words = sorted(word for word in counts if word in embedding)
    tokens, tokens_found = sum(counts.values()), sum(counts[word] for word in words)
    if not words:
        raise ParameterError(
            f"The vectors {embedding.name!r} have none of the {len(counts):,} different words of {task}; are they of "
            "another language, or cased where the texts are not?"
        )
    table = np.zeros((len(words) + 2, embedding.dim), np.float32)
    table[1:-1] = embedding.vectors[embedding.lookup(words).rows]
    warnings = [f"{embedding.name}: {notice.message}" for notice in embedding.notices if notice.code != "composed"]
    if tokens_found < LOW_COVERAGE * tokens:
        warnings.append(
            f"only {share_text(tokens_found / tokens)} of the running words of {task} have a vector, so results say "
            "little about the vectors"
        )
    coverage = {"asked": len(counts), "found": len(words), "asked_tokens": tokens, "found_tokens": tokens_found}
    numbers = {word: row for row, word in enumerate(words, 1)}
    return TaskVectors(embedding.name, numbers, table, coverage, tuple(warnings))
