"""A corpus whose bias is known because it was planted: the ground truth for tests and validity studies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from biasgauge.core import Floats, Integers, JsonMapping, check_number, check_whole
from biasgauge.errors import ParameterError
from biasgauge.io import atomic_file, read_toml
from biasgauge.results import Column, Result, Summary, Table, counted
from biasgauge.text.tokenizers import unicode_words

_DATA = read_toml(Path(__file__).with_name("planted.toml"))
PAIRS: tuple[tuple[str, str], ...] = tuple((first, second) for first, second in _DATA["pairs"])
_TEMPLATES: list[list[str]] = [_DATA[kind] for kind in ("planted", "balanced", "plain", "filling")]
_FILLERS: dict[str, list[str]] = {kind: words.split() for kind, words in _DATA["fillers"].items()}

_SYLLABLES = tuple(consonant + vowel for consonant, vowel in product("bdfgklmnprstvz", "aeiou"))
_STRIDE = 197_413
"""Shares no divisor with the number of words of three syllables, so all of them come before one comes again."""

_CHUNK = 2**14
_SHARES = (0.4, 0.25, 0.15, 0.2)
"""Of sentences with planted bias, with both ends alike, with a target word alone, with neither."""


@dataclass(frozen=True, repr=False)
class PlantedCorpus(Result):
    """Sentences in which each target word leans to the first or the second end of pairs with a given strength.

    A sentence with planted bias has a target word and two words of the same end; it is the first end with probability
    (1 + strength) / 2. The ends of a pair have all other sentences in common, and target words occur equally often.

    Attributes:
        strengths: for each target word its association, −1 (second end only) to 1 (first end only).
        pairs: the pairs (first, second).
        lines: number of sentences.
        random_state: the seed.
    """

    abridged: ClassVar[bool] = True
    tables: ClassVar[tuple[str, ...]] = ("truth",)
    hidden: ClassVar[frozenset[str]] = frozenset({"strengths"})

    strengths: Mapping[str, float]
    pairs: tuple[tuple[str, str], ...]
    lines: int
    random_state: int

    def documents(self) -> Iterator[str]:
        """Yield the sentences, one per document; the same every time."""
        subjects = set(_DATA["subjects"])
        forms = [tuple(_DATA["phrases"].get(word, "the {}").format(word) for word in pair) for pair in self.pairs]
        objects = [form for form, pair in zip(forms, self.pairs, strict=True) if not subjects & set(pair)] or forms
        targets, fillers = tuple(self.strengths), tuple(_FILLERS.items())
        for draws in self._chunks():
            for kind, word, end, random in zip(*(column.tolist() for column in draws), strict=True):
                template = _pick(_TEMPLATES[kind], random[0])
                first, second = _pick(forms, random[1])[end], _pick(objects, random[2])[end]
                filled = {name: _pick(words, share) for (name, words), share in zip(fillers, random[3:], strict=True)}
                yield template.format(word=targets[word], first=first, second=second, **filled)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the sentences, one per line; the file appears whole or not at all."""
        with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{text}\n" for text in self.documents())
        return Path(path)

    def null(self) -> PlantedCorpus:
        """The same corpus with all strengths 0."""
        return replace(self, strengths=MappingProxyType(dict.fromkeys(self.strengths, 0.0)))

    @cached_property
    def counts(self) -> Integers:
        """Sentences of each target word with the first end, and with the second, as they were drawn."""
        counts = np.zeros((len(self.strengths), 2), np.int64)
        for kind, word, end, _ in self._chunks():
            np.add.at(counts, (word[kind == 0], end[kind == 0]), 1)
        return counts

    @property
    def truth(self) -> list[dict[str, Any]]:
        """Strength of each target word, and its sentences with the first and with the second end."""
        return [
            {"word": word, "strength": strength, "first": int(first), "second": int(second)}
            for (word, strength), (first, second) in zip(self.strengths.items(), self.counts, strict=True)
        ]

    def derived(self) -> JsonMapping:
        """The truth stands in JSON in place of the strengths."""
        return {"truth": self.truth}

    def summary(self) -> Summary:
        """The truth, word by word."""
        counts = [Column("first end", "count"), Column("second end", "count")]
        rows = [tuple(row.values()) for row in self.truth]
        return Summary(
            title="Planted corpus",
            headline=f"{counted(self.lines, 'sentence')} about {counted(rows, 'target word')} and "
            f"{counted(self.pairs, 'pair')}",
            tables=(Table.of("truth", "", ["word", Column("strength", "number"), *counts], rows),),
        )

    def _chunks(self) -> Iterator[tuple[Integers, Integers, Integers, Floats]]:
        """Yield kind, word, end and random numbers of some sentences at a time; each chunk has its own stream."""
        first_end = (1 + np.array(list(self.strengths.values()))) / 2
        for number, start in enumerate(range(0, self.lines, _CHUNK)):
            size = min(_CHUNK, self.lines - start)
            generator = np.random.default_rng([self.random_state, number])
            bounds = np.round(np.cumsum(_SHARES) * size).astype(np.int64)
            kind = np.searchsorted(bounds, np.arange(size), "right")
            word = (np.arange(size) + number) % len(first_end)
            # The first end (0) with probability (1 + strength) / 2 where bias is planted, else with 1/2.
            probability = np.where(kind == 0, first_end[word], 0.5)
            end = (generator.random(size) >= probability).astype(np.int64)
            order = generator.permutation(size)
            random = generator.random((size, 3 + len(_FILLERS)))
            yield kind[order], word[order], end[order], random


def planted_corpus(
    strengths: Mapping[str, float] | Sequence[float],
    *,
    pairs: Iterable[tuple[str, str]] = PAIRS,
    lines: int = 100_000,
    random_state: int = 0,
) -> PlantedCorpus:
    """Make a corpus of template sentences in which each target word has a given association.

    Args:
        strengths: target words with strengths from −1 (second end only) over 0 (no bias) to 1 (first end only); or
            strengths alone, for invented words.
        pairs: the pairs (first, second); their two ends are used alike in all sentences but the planted ones.
        lines: number of sentences, of nine words in the mean.
        random_state: the seed; the same one gives the same sentences.

    Raises:
        ParameterError: an argument is impossible.
    """
    if not isinstance(strengths, Mapping):
        values = list(strengths)
        strengths = dict(zip(invented_words(len(values)), values, strict=True))
    chosen = tuple((str(first), str(second)) for first, second in pairs)
    if not strengths or not chosen:
        raise ParameterError("The parameters 'strengths' and 'pairs' of planted_corpus must not be empty.")
    _check_words([*(word for pair in chosen for word in pair), *strengths])
    for strength in strengths.values():
        check_number(-1, 1, strengths=strength)
    check_whole(1, lines=lines)
    check_whole(0, random_state=random_state)
    fixed = MappingProxyType({word: float(strength) for word, strength in strengths.items()})
    return PlantedCorpus(fixed, chosen, lines, random_state)


def _check_words(words: list[str]) -> None:
    """Refuse words that occur twice, or that the templates contain."""
    fixed = " ".join(text for templates in _TEMPLATES for text in templates) + " friend the"
    used = {word for word in fixed.split() if "{" not in word}.union(*_FILLERS.values())
    for word in words:
        if unicode_words(word) != [word]:
            raise ParameterError(f"A word of planted_corpus must be one word in lower case. Got {word!r}.")
        if word in used:
            raise ParameterError(
                f"A word of planted_corpus must occur once, and in none of its sentences. Got {word!r} again."
            )
        used.add(word)


def _pick(choices: Sequence[Any], share: float) -> Any:  # noqa: ANN401 - one of the choices
    """Return the choice at a share from 0 to below 1 of the list."""
    return choices[int(share * len(choices))]


def invented_words(count: int) -> tuple[str, ...]:
    """Invent words of three syllables, far from each other in spelling, and always the same ones."""
    base = len(_SYLLABLES)
    if count > base**3:
        raise ParameterError(f"No more than {base**3:,} words can be invented. Got {count:,}.")
    numbers = [(index + 1) * _STRIDE % base**3 for index in range(count)]
    return tuple(
        _SYLLABLES[number // base**2] + _SYLLABLES[number // base % base] + _SYLLABLES[number % base]
        for number in numbers
    )
