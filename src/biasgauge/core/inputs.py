"""Types of what users hand to public functions: vectors, words, pairs and lexicons in all their forms.

`load` reads vectors, `words_of` and `pairs_of` read words and pairs, `lexicon` reads lexicons; each says what is wrong
with something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from numpy.typing import ArrayLike

    from biasgauge.lexicons import Lexicon, WordSet
    from biasgauge.vectors import Embedding


class KeyedVectors(Protocol):
    """gensim's `KeyedVectors`, or anything with its two attributes."""

    @property
    def index_to_key(self) -> Sequence[str]:
        """Words, in the order of the rows."""

    @property
    def vectors(self) -> Any:  # noqa: ANN401 - whatever NumPy makes a matrix of
        """One row for each word."""


class TrainedByGensim(Protocol):
    """A whole gensim model, such as `Word2Vec`."""

    @property
    def wv(self) -> KeyedVectors:
        """Its vectors."""


VectorsLike: TypeAlias = (
    "Embedding | str | PathLike[str] | KeyedVectors | TrainedByGensim | Mapping[str, ArrayLike] "
    "| tuple[Sequence[str], ArrayLike] | FrameLike"
)
"""One model: an `Embedding`, a file of any format, gensim's vectors, a dict of word to vector, a data frame (pandas,
polars) with the words in its one column of text or as labels of its rows, or (words, matrix)."""

FrameLike: TypeAlias = "pd.DataFrame | pl.DataFrame"
"""A table of pandas or polars."""

ModelsLike: TypeAlias = "VectorsLike | Sequence[VectorsLike]"
"""One model, or a list of them: replicates, or models to compare."""

LexiconLike: TypeAlias = "str | PathLike[str] | Lexicon"
"""A lexicon, its name, or its file."""

WordsLike: TypeAlias = "LexiconLike | WordSet | Iterable[str]"
"""Words, or where they are: a lexicon, one of its sets as "NAME:SET", a file, the id of a set of the seed bank."""

PairsLike: TypeAlias = "LexiconLike | Iterable[Sequence[str]]"
"""Base pairs, each (first, second), or a lexicon of them."""


def distinct_words(words: Iterable[str], parameter: str, function: str) -> tuple[str, ...]:
    """Each word once, in the order given.

    Raises:
        ParameterError: it is one text, no collection, or holds something that is no text.
    """
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise ParameterError(f"The '{parameter}' parameter of {function} must be a collection of words. Got {words!r}.")
    listed = list(words)
    for word in listed:
        if not isinstance(word, str):
            raise ParameterError(f"The '{parameter}' parameter of {function} must hold text only. Got {word!r}.")
    return tuple(dict.fromkeys(listed))
