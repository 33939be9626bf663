"""Arguments of public functions: types of vectors, words, pairs and lexicons in all their forms, and checks.

`load` reads vectors, `words_of` and `pairs_of` read words and pairs, `lexicon` reads lexicons; each says what is wrong
with something else. A check has one sentence for each kind of mistake, takes parameters by their names and hands
nothing back:

>>> check_whole(1, resamples=500, neighbors=10)
>>> check_choice(("mean", "any"), to="all")
Traceback (most recent call last):
biasgauge.errors.ParameterError: The 'to' parameter must be one of mean, any. Got 'all'.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from math import inf, isfinite
from numbers import Integral, Real
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


class PipelineOfSpacy(Protocol):
    """A pipeline `nlp` of spaCy."""

    @property
    def vocab(self) -> Any:  # noqa: ANN401 - spaCy need not be installed
        """Its vocabulary, which holds the vectors."""


class VectorsOfSpacy(Protocol):
    """spaCy's `Vectors`."""

    @property
    def key2row(self) -> Mapping[int, int]:
        """Row of the hash of each word."""

    @property
    def strings(self) -> Any:  # noqa: ANN401 - spaCy need not be installed
        """Word of each hash."""

    @property
    def data(self) -> Any:  # noqa: ANN401 - of NumPy or CuPy
        """One row for each vector; words may share one."""


class StaticEmbeddings(Protocol):
    """A `StaticModel` of model2vec."""

    @property
    def tokens(self) -> Sequence[str]:
        """Words and pieces of words, in the order of the rows."""

    @property
    def embedding(self) -> Any:  # noqa: ANN401 - whatever NumPy makes a matrix of
        """One row for each token."""


VectorsLike: TypeAlias = (
    "Embedding | str | PathLike[str] | KeyedVectors | TrainedByGensim | PipelineOfSpacy "
    "| VectorsOfSpacy | StaticEmbeddings | Mapping[str, ArrayLike] | tuple[Sequence[str], ArrayLike] | FrameLike"
)
"""One model: an `Embedding`, a file of any format, vectors of gensim, spaCy or model2vec, a dict of word to vector, a
data frame (pandas, polars) with the words in its one column of text or as labels of its rows, or (words, matrix)."""

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


def check_whole(least: int, /, **parameters: object) -> None:
    """Each must be a whole number of at least so much.

    Raises:
        ParameterError: one is something else.
    """
    for name, value in parameters.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            raise ParameterError(f"The {name!r} parameter must be a whole number of at least {least}. Got {value!r}.")


def check_choice(allowed: Iterable[object], /, **parameters: object) -> None:
    """Each must be one of the values that are allowed.

    Raises:
        ParameterError: one is something else.
    """
    values = list(allowed)
    for name, value in parameters.items():
        if value not in values:
            raise ParameterError(f"The {name!r} parameter must be one of {', '.join(map(str, values))}. Got {value!r}.")


def check_number(low: float = -inf, high: float = inf, /, *, ends: bool = True, **parameters: object) -> None:
    """Each must be a finite number from `low` to `high`; with `ends=False`, strictly between them.

    Raises:
        ParameterError: one is something else.
    """
    for name, value in parameters.items():
        number = not isinstance(value, bool) and isinstance(value, Real) and isfinite(value)
        if not number or not (low <= value <= high if ends else low < value < high):  # type: ignore[operator]
            raise ParameterError(f"The {name!r} parameter must be {_range(low, high, ends=ends)}. Got {value!r}.")


def _range(low: float, high: float, *, ends: bool) -> str:
    if low == -inf and high == inf:
        return "a finite number"
    if high == inf:
        return f"a number {'of at least' if ends else 'above'} {low:g}"
    if low == -inf:
        return f"a number {'of at most' if ends else 'below'} {high:g}"
    return f"a number {'from' if ends else 'strictly between'} {low:g} {'to' if ends else 'and'} {high:g}"


_LONGEST_NAME = 200
"""Names longer than this are not compared: no known name comes near, and the comparison is quadratic."""


def nearest(name: str, known: Iterable[str], count: int = 1) -> list[str]:
    """Give up to `count` of the `known` names that look most like `name`, best first; empty when none does."""
    if len(name) > _LONGEST_NAME:
        return []
    by_folded = {candidate.casefold(): candidate for candidate in known}
    return [by_folded[match] for match in get_close_matches(name.casefold(), by_folded, n=count, cutoff=0.6)]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Give "; did you mean 'x'?", or nothing when no known name is near."""
    matches = nearest(name, known)
    return f"; did you mean {matches[0]!r}?" if matches else ""
