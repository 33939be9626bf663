"""Frequencies of words: counts or ranks in the training text, or, where a model has none, those of a reference list.

A cosine follows the frequencies of both words, so that a contrast of frequent with rare words differs from 0 whatever
they mean. What is needed for holding frequency constant is a number for each word that grows with it; which number and
on what scale matters little.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from biasgauge.core import Floats, Integers, LogFrequencies, Places, check_choice
from biasgauge.errors import ParameterError

FrequencyKind = Literal["counts", "ranks"]

ORDERED = 0.4
"""Rank correlation of the order of a file with reference frequencies from which the file is in order of frequency.

Files in order of frequency have .53 (a part of word2vec's GoogleNews) to .83 (a Wikipedia); shuffled, alphabetical and
merged ones .07 at most.
"""
FEWEST_COMPARED = 300
"""Words of the reference list that a file must have for its order to be judged."""
COMPARED = 20_000
"""Rows from the beginning of a file, beyond which the reference list is too short to tell."""


@dataclass(frozen=True, eq=False)
class Frequencies:
    """Frequency of each word of an embedding in its training text.

    Attributes:
        values: one per word, in the order of the words: counts, or ranks from 1 for the most frequent.
        kind: "counts" or "ranks".
        source: the file they were read from, or "memory".
    """

    values: Integers
    kind: FrequencyKind = "counts"
    source: str = "memory"

    def __post_init__(self) -> None:
        check_choice(get_args(FrequencyKind), kind=self.kind)
        values = np.asarray(self.values)
        if values.ndim != 1 or values.dtype.kind not in "iu" or (len(values) and values.min() < 0):
            raise ParameterError(
                f"Frequencies must be one whole number of at least 0 per word. Got {self.values!r:.80}."
            )
        object.__setattr__(self, "values", values.astype(np.int64))

    def of_table(self, words: Sequence[str], table_words: Sequence[str]) -> Frequencies:
        """Frequencies of the words that a table has of all `words` of a file; of a word that recurs, the first."""
        first_rows = {word: row for row, word in reversed(list(enumerate(words)))}
        return self.select(np.array([first_rows[word] for word in table_words], np.intp))

    def select(self, rows: Places) -> Frequencies:
        """Return the frequencies of some rows."""
        return replace(self, values=self.values[rows])

    def log(self) -> LogFrequencies:
        """Return log10 of the counts, or −log10 of the ranks; a count of 0 is taken for a half."""
        values = np.log10(np.maximum(self.values, 0.5))
        return LogFrequencies(-values if self.kind == "ranks" else values, self.kind)


def log_frequencies(words: Sequence[str], known: Frequencies | None, language: str) -> LogFrequencies | None:
    """Return the log frequency of every word of a model: from what is known best, or None where nothing is.

    In this order: counts or ranks that the source has; the order of the words, where it agrees with reference
    frequencies; the reference frequencies of the language.
    """
    if known is not None:
        return known.log()
    reference = reference_frequencies(language)
    if is_ordered(words, reference):
        return LogFrequencies(-np.log10(np.arange(1.0, len(words) + 1)), "order")
    frequencies = _look_up(words, reference)
    if not np.isfinite(frequencies).any():
        return None
    # A word that the list lacks is rarer than those that it has.
    rarest = min(reference.values())
    return LogFrequencies(np.log10(np.where(np.isfinite(frequencies), frequencies, rarest / 2)), "reference")


def is_ordered(words: Sequence[str], reference: Mapping[str, int]) -> bool:
    """Return whether words stand in order of frequency: their order agrees with reference frequencies (Spearman)."""
    from scipy.stats import rankdata

    frequencies = _look_up(words[:COMPARED], reference)
    frequencies = frequencies[np.isfinite(frequencies)]
    if len(frequencies) < FEWEST_COMPARED:
        return False
    return float(np.corrcoef(rankdata(-frequencies), np.arange(len(frequencies)))[0, 1]) >= ORDERED


def _look_up(words: Sequence[str], reference: Mapping[str, int]) -> Floats:
    """Reference frequency of each word, whatever its case; NaN where the list lacks it."""
    return np.array([reference.get(word.lower(), np.nan) for word in words], np.float64)


def reference_path(language: str) -> Path:
    """Path of the reference frequencies of a language; `scripts/make_reference_frequencies.py` makes it."""
    return Path(__file__).with_name("data") / "frequencies" / f"{language}.csv.gz"


@cache
def reference_frequencies(language: str) -> Mapping[str, int]:
    """Return occurrences of words in a hundred million tokens of mixed text; empty for a language without a list."""
    path = reference_path(language)
    if not path.is_file():
        return MappingProxyType({})
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        pairs = (line.rstrip("\n").rsplit(",", 1) for line in lines)
        return MappingProxyType({word: int(count) for word, count in pairs})
