"""`Embedding`: words and one vector for each; and the words of several models together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.core import Flags, FrequencyMeans, LogFrequencies, Places, Vectors, frequency_means
from biasgauge.errors import InputError, ParameterError
from biasgauge.results import counted
from biasgauge.vectors.coverage import NOT_THERE, ZERO, Coverage, Lookup, look_up
from biasgauge.vectors.frequencies import Frequencies, log_frequencies

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from biasgauge.vectors.formats.vector_format import Notice

_CHECKSUM_ROWS = 65_536
_BLOCK = 8192


@dataclass(frozen=True, eq=False)
class Embedding:
    """One model: `words[i]` has the vector `vectors[i]`.

    Vectors are as the file had them: not scaled, not centered, read-only, possibly memory-mapped or in half precision.
    Every vector is finite; zero vectors stay and are named in `notices`.

    Attributes:
        words: the vocabulary, in the order of the file (usually the most frequent first); no word occurs twice.
        vectors: words × dimensions.
        name: of this model in tables and figures.
        source: the file it came from, or "memory".
        format: of the file, e.g. "word2vec-binary".
        notices: oddities of the input and their treatment.
        dropped: words that the input had but that cannot be used, with the reason.
        lineage: the same for models that differ by random seed or bootstrap sample alone, by their recipes; empty where
            no recipe says so.
        text: checksum or name of the text that it was trained on; empty where no recipe says so.
        facets: levels by which views of one model differ, such as {"layer": 3, "pooling": "mean"}; empty
            for a model that stands alone.
        frequencies: count or rank of each word in the training text, where the source has them.
    """

    words: tuple[str, ...]
    vectors: Vectors
    name: str = "embedding"
    source: str = "memory"
    format: str = "memory"
    notices: tuple[Notice, ...] = ()
    dropped: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    lineage: str = ""
    text: str = ""
    facets: Mapping[str, str | int] = field(default_factory=lambda: MappingProxyType({}))
    frequencies: Frequencies | None = None

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.words) != len(self.vectors):
            raise ParameterError(
                f"An Embedding needs one row of vectors for each word. Got {len(self.words):,} words and vectors of "
                f"shape {self.vectors.shape}."
            )
        if len(set(self.words)) != len(self.words):
            raise ParameterError("The words of an Embedding must differ from each other; `load` drops what recurs.")
        try:
            "".join(self.words).encode("utf-8")
        except UnicodeEncodeError as problem:
            raise ParameterError(f"The words of an Embedding must be valid text ({problem}).") from problem
        if self.frequencies is not None and len(self.frequencies.values) != len(self.words):
            raise ParameterError(
                f"An Embedding needs one frequency for each word. Got {len(self.frequencies.values):,} for "
                f"{len(self.words):,} words."
            )
        view = self.vectors.view()
        view.flags.writeable = False
        object.__setattr__(self, "vectors", view)

    @property
    def dim(self) -> int:
        """Number of dimensions of each vector."""
        return int(self.vectors.shape[1])

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Row of each word."""
        return MappingProxyType({word: row for row, word in enumerate(self.words)})

    @cached_property
    def lower_case(self) -> bool:
        """True where no word of the vocabulary has a capital letter."""
        return not any(word != word.lower() for word in self.words)

    def log_frequencies(self, language: str) -> LogFrequencies | None:
        """Log10 frequency of every word, up to a constant; None where nothing is known of it.

        From counts or ranks where the source has them, else from the order of the words where it is by frequency, else
        from the reference frequencies of the language.
        """
        known = self._log_frequencies
        if language not in known:
            known[language] = log_frequencies(self.words, self.frequencies, language)
        return known[language]

    def frequency_ranks(self, language: str) -> Places:
        """Rank of each word by frequency, 0 for the most frequent; its row where nothing is known of frequencies."""
        known = self._frequency_ranks
        if language not in known:
            log = self.log_frequencies(language)
            order = np.arange(len(self)) if log is None else np.argsort(-log[0], kind="stable")
            known[language] = np.argsort(order)
        return known[language]

    def frequency_means(self, language: str) -> FrequencyMeans | None:
        """Mean unit vector of words by log frequency; None without frequencies, or with too few words."""
        known = self._frequency_means
        if language not in known:
            log = self.log_frequencies(language)
            known[language] = None if log is None else frequency_means(self.vectors, log.values)
        return known[language]

    def with_frequencies_of(self, whole: Embedding, language: str) -> Embedding:
        """Return this part of an embedding with log frequencies and mean vectors by frequency of the whole.

        A few words alone show neither the order of a file nor what words of one frequency have in common.
        """
        part, log = replace(self), whole.log_frequencies(language)
        if log is not None:
            frequencies, source = log
            log = LogFrequencies(frequencies[whole.lookup(self.words).rows], source)
        part._log_frequencies[language] = log  # noqa: SLF001 - of this class
        part._frequency_means[language] = whole.frequency_means(language)  # noqa: SLF001 - of this class
        return part

    @cached_property
    def _log_frequencies(self) -> dict[str, LogFrequencies | None]:
        return {}

    @cached_property
    def _frequency_ranks(self) -> dict[str, Places]:
        return {}

    @cached_property
    def _frequency_means(self) -> dict[str, FrequencyMeans | None]:
        return {}

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index

    def __getitem__(self, word: str) -> Vectors:
        row = self.index.get(word)
        if row is None:
            raise KeyError(f"{word!r} is not in {self.name} ({self.why_lost(word)})")
        vector: Vectors = self.vectors[row]
        return vector

    def why_lost(self, word: str) -> str:
        """Reason why `word` has no usable vector here."""
        return self.dropped.get(word, NOT_THERE)

    def lookup(self, words: Iterable[str], *, case_fallback: bool = False) -> Lookup:
        """Find the rows of `words`, in their order; lost words are listed, never an error.

        With `case_fallback` a word that is not there as written is tried in lower case, then capitalized; which words
        were found under another spelling is recorded.
        """
        return look_up(self.index, words, case_fallback=case_fallback, why_lost=self.why_lost)

    def directed(self, rows: Places | None = None) -> Flags:
        """Flag the rows (of all when None) that are not zero vectors, and so have a direction."""
        starts = range(0, len(self) if rows is None else len(rows), _BLOCK)
        parts = (slice(start, start + _BLOCK) for start in starts)
        blocks = (self.vectors[block if rows is None else rows[block]] for block in parts)
        return np.concatenate([np.empty(0, bool), *(block.any(axis=1) for block in blocks)])

    def coverage(
        self, sets: Mapping[str, Sequence[str]], *, case_fallback: bool = False, directions: bool = False
    ) -> Coverage:
        """List the words of each named set that this embedding has and lacks. A repeated word counts once.

        With `directions`, a word whose vector is zero counts as lost too: it has no direction to compare.
        """
        lookups = {name: self.lookup(words, case_fallback=case_fallback) for name, words in sets.items()}
        if directions:
            lookups = {name: lookup.only(self.directed(lookup.rows), ZERO) for name, lookup in lookups.items()}
        return Coverage.of(lookups)

    def subset(self, words: Iterable[str]) -> Embedding:
        """Keep only `words` (those that are here), in the order of this embedding."""
        return self.take(np.sort(self.lookup(words).rows))

    def take(self, rows: Places) -> Embedding:
        """Return the words of these rows, in their order."""
        return replace(
            self,
            words=tuple(self.words[row] for row in rows),
            vectors=np.asarray(self.vectors[rows]),
            frequencies=None if self.frequencies is None else self.frequencies.select(rows),
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per word, one column per dimension, in single precision or better; `load` reads it back."""
        import pandas as pd

        vectors = np.asarray(self.vectors)
        wide = vectors.astype(
            np.promote_types(vectors.dtype, np.float32), copy=False
        )  # pandas cannot show half precision
        return pd.DataFrame(wide, index=pd.Index(self.words, name="word"))

    def to_gensim(self) -> KeyedVectors:
        """Convert to gensim's `KeyedVectors`; needs gensim.

        Raises:
            InputError: gensim is not installed.
        """
        try:
            from gensim.models import KeyedVectors
        except ImportError as problem:
            raise InputError("KeyedVectors need gensim. Install it with: pip install gensim") from problem
        keyed = KeyedVectors(self.dim)
        keyed.add_vectors(list(self.words), np.asarray(self.vectors, np.float32))
        return keyed

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of words and vectors: equal for equal content, whatever file it came from."""
        digest = hashlib.sha256(f"{len(self.words)} {self.dim} {self.vectors.dtype.name}\n".encode())
        for start in range(0, len(self.words), _CHECKSUM_ROWS):
            encoded = [word.encode("utf-8") for word in self.words[start : start + _CHECKSUM_ROWS]]
            digest.update(b"".join(len(raw).to_bytes(8, "little") + raw for raw in encoded))
        little = self.vectors.dtype.newbyteorder("<")
        for start in range(0, len(self.words), _CHECKSUM_ROWS):
            digest.update(np.ascontiguousarray(self.vectors[start : start + _CHECKSUM_ROWS], dtype=little).data)
        return digest.hexdigest()

    def __repr__(self) -> str:
        odd = f", {len(self.notices)} notices" if self.notices else ""
        return f"<Embedding {self.name!r}: {counted(self, 'word')} × {self.dim}, {self.format}{odd}>"

    def _repr_html_(self) -> str:
        rows = "".join(f"<li>{escape(notice.message)}</li>" for notice in self.notices)
        return f"<p>{escape(repr(self))}</p>" + (f"<ul>{rows}</ul>" if rows else "")


@dataclass(frozen=True, eq=False)
class JointVocabulary:
    """Every word that any of some models has.

    Attributes:
        words: in the order of the first model, then what the second has besides, and so on.
        rows: models × words: the row of each word in each model, −1 where it has none.
    """

    words: tuple[str, ...]
    rows: Places

    @classmethod
    def of(cls, models: Sequence[Embedding]) -> JointVocabulary:
        """Collect the words of some models."""
        index = dict(models[0].index)
        columns = []
        for model in models:
            if model.words == models[0].words:
                columns.append(np.arange(len(model)))
                continue
            new = [word for word in model.words if word not in index]
            index.update(zip(new, range(len(index), len(index) + len(new)), strict=True))
            columns.append(np.fromiter(map(index.__getitem__, model.words), np.intp, len(model)))
        rows = np.full((len(models), len(index)), -1, np.intp)
        for row, columns_of_model in zip(rows, columns, strict=True):
            row[columns_of_model] = np.arange(len(columns_of_model))
        return cls(tuple(index), rows)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Index of each word."""
        return MappingProxyType({word: index for index, word in enumerate(self.words)})

    def shared(self, *models: int) -> Places:
        """Indices of the words that all of these models have; of all models when none is named."""
        chosen = self.rows[list(models)] if models else self.rows
        return np.flatnonzero((chosen >= 0).all(axis=0))

    def places(self, words: Iterable[str]) -> Places:
        """Index of each of these words, −1 for those that no model has."""
        return np.array([self.index.get(word, -1) for word in words], np.intp)
