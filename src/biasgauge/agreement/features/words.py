"""`word_features`: properties of words that may decide how reliably their bias can be measured.

Source: Du, Fang & Nguyen, "Assessing the Reliability of Word Embedding Gender Bias Measures", EMNLP 2021, section 5.5
and appendix F: frequency, number of senses, part of speech, similarity to the nearest word, length of the vector,
stability of the vector over replicates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.agreement.features.geometry import nearest_similarity
from biasgauge.agreement.features.table import word_properties
from biasgauge.arrays import Floats
from biasgauge.embeddings import Embedding, load, named_models, stability
from biasgauge.errors import ParameterError
from biasgauge.geometry import all_lengths
from biasgauge.inputs import ModelsLike

if TYPE_CHECKING:
    import pandas as pd


NUMBERS = ("log_frequency", "log_senses", "nn_similarity", "norm", "stability")
"""Features that are numbers; the part of speech is the one that is not."""

REASONS = (
    "",
    "no count of the word was given",
    "the word is not in the Brown corpus, from which parts of speech are taken",
    "WordNet has no sense of the word",
    "the word is in no model",
    "the word's vector is zero in every model",
    "stability needs two models that have the word",
    "no other word has a direction",
)
"""Why a feature is undefined; `WordFeatures.undefined` holds the place in this list, 0 where it is defined."""
_DEFINED, _NO_COUNT, _NOT_IN_BROWN, _NO_SENSE, _IN_NO_MODEL, _ZERO, _ONE_MODEL, _ALONE = range(len(REASONS))


@dataclass(frozen=True, eq=False)
class WordFeatures:
    """Properties of words.

    Attributes:
        words: the words.
        log_frequency: natural logarithm of the count in the corpus that the models were trained on.
        log_senses: natural logarithm of the number of WordNet synsets, over all parts of speech.
        nn_similarity: cosine with the nearest other word of the whole vocabulary, mean over the models.
        norm: Euclidean length of the vector, mean over the models.
        stability: mean cosine of the word with itself after alignment, over pairs of models.
        pos: most frequent universal part of speech in the Brown corpus ("NOUN", "VERB", …); empty where undefined.
        undefined: for each feature, places in `REASONS`. Numbers are NaN exactly where this is not 0.
        models: how many replicates they are means of.
    """

    words: tuple[str, ...]
    log_frequency: Floats
    log_senses: Floats
    nn_similarity: Floats
    norm: Floats
    stability: Floats
    pos: tuple[str, ...]
    undefined: Mapping[str, NDArray[np.uint8]]
    models: int

    def count_undefined(self) -> dict[str, dict[str, int]]:
        """For each feature, how many words lack it, by reason."""
        return {
            name: {
                REASONS[place]: int(count)
                for place, count in enumerate(np.bincount(codes, minlength=len(REASONS)).tolist())
                if place and count
            }
            for name, codes in self.undefined.items()
        }

    def to_frame(self) -> pd.DataFrame:
        """One row a word: its features, None where undefined, and the first reason why one is."""
        import pandas as pd

        table: dict[str, Any] = {"word": self.words, **{name: getattr(self, name) for name in NUMBERS}}
        table["pos"] = [tag or None for tag in self.pos]
        first = np.zeros(len(self.words), np.uint8)
        for codes in self.undefined.values():
            first = np.where(first, first, codes)
        table["undefined"] = np.array(REASONS, dtype=object)[first]
        return pd.DataFrame(table)

    def to_dict(self) -> dict[str, Any]:
        """Counts, without the features themselves."""
        return {"words": len(self.words), "models": self.models, "undefined": self.count_undefined()}

    def _repr_html_(self) -> str:
        return f"<p>{escape(f'Features of {len(self.words):,} words over {self.models} models')}</p>"


def word_features(
    vectors: ModelsLike,
    *,
    words: Iterable[str] | None = None,
    counts: Mapping[str, float] | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> WordFeatures:
    """Find the properties of words in replicates of one model.

    Args:
        vectors: an `Embedding`, anything `load` takes, or a list of them: replicates of one algorithm on one corpus.
        words: which words; all words of the models when None.
        counts: how often each word occurs in the corpus.
        n_jobs: threads of the alignment; all cores when None. The result does not depend on it.
        progress: called with (done, total) models.

    Raises:
        ParameterError: an argument cannot be used.
    """
    loaded = [load(source, name=name) for name, source in named_models(vectors).items()]
    asked = _asked(words, loaded)
    rows = [_rows(model, asked) for model in loaded]
    held = np.stack([one >= 0 for one in rows])
    norms, similarities = np.full(held.shape, np.nan), np.full(held.shape, np.nan)
    for place, (model, own) in enumerate(zip(loaded, rows, strict=True)):
        here = np.flatnonzero(own >= 0)
        norms[place, here] = all_lengths(model.vectors, own[here])
        similarities[place, here] = nearest_similarity(model, own[here])
        if progress is not None:
            progress(place + 1, len(loaded))
    in_none = np.where(held.any(axis=0), _DEFINED, _IN_NO_MODEL).astype(np.uint8)
    zero = np.where((norms == 0).any(axis=0) & ~(norms > 0).any(axis=0), _ZERO, _ALONE)
    frequency, no_count = _log_frequency(asked, counts)
    senses, tags, no_sense, no_tag = _from_table(asked)
    similarity = _mean(similarities)
    stable, unstable = _stability(loaded, asked, n_jobs)
    return WordFeatures(
        words=asked,
        log_frequency=frequency,
        log_senses=senses,
        nn_similarity=similarity,
        norm=_mean(norms),
        stability=stable,
        pos=tags,
        undefined={
            "log_frequency": no_count,
            "log_senses": no_sense,
            "pos": no_tag,
            "nn_similarity": np.where(in_none, in_none, np.where(np.isnan(similarity), zero, 0)).astype(np.uint8),
            "norm": in_none,
            "stability": unstable,
        },
        models=len(loaded),
    )


def _asked(words: Iterable[str] | None, models: list[Embedding]) -> tuple[str, ...]:
    if words is None:
        return tuple(dict.fromkeys(word for model in models for word in model.words))
    if isinstance(words, str):
        raise ParameterError(f"The 'words' parameter of word_features must be a list of words. Got {words!r}.")
    return tuple(dict.fromkeys(words))


def _rows(model: Embedding, words: tuple[str, ...]) -> NDArray[np.intp]:
    index = model.index
    return np.fromiter((index.get(word, -1) for word in words), np.intp, len(words))


def _mean(table: Floats) -> Floats:
    """Mean over models, of what is defined; NaN where nothing is."""
    sound = ~np.isnan(table)
    count = sound.sum(axis=0)
    mean: Floats = np.where(sound, table, 0.0).sum(axis=0) / np.where(count, count, np.nan)
    return mean


def _log_frequency(words: tuple[str, ...], counts: Mapping[str, float] | None) -> tuple[Floats, NDArray[np.uint8]]:
    if counts is not None and not isinstance(counts, Mapping):
        raise ParameterError(f"The 'counts' parameter must map words to counts. Got {type(counts).__name__}.")
    found = np.array([float((counts or {}).get(word, np.nan)) for word in words])
    if (found < 1).any():
        word = words[int(np.argmax(found < 1))]
        raise ParameterError(f"A count must be at least 1. Got {(counts or {})[word]!r} for {word!r}.")
    return np.log(found), np.where(np.isnan(found), _NO_COUNT, _DEFINED).astype(np.uint8)


def _from_table(
    words: tuple[str, ...],
) -> tuple[Floats, tuple[str, ...], NDArray[np.uint8], NDArray[np.uint8]]:
    """Log senses, tags, and why each is undefined."""
    table = word_properties()
    rows = [table.get(word.lower()) for word in words]
    senses = np.array([np.nan if row is None or not row.senses else float(row.senses) for row in rows])
    tags = tuple("" if row is None else row.tag for row in rows)
    no_tag = np.array([_NOT_IN_BROWN if row is None else _DEFINED for row in rows], np.uint8)
    no_sense = np.where(np.isnan(senses) & (no_tag == _DEFINED), _NO_SENSE, no_tag).astype(np.uint8)
    return np.log(senses), tags, no_sense, no_tag


def _stability(models: list[Embedding], words: tuple[str, ...], n_jobs: int | None) -> tuple[Floats, NDArray[np.uint8]]:
    if len(models) < 2 or not words:
        return np.full(len(words), np.nan), np.full(len(words), _ONE_MODEL, np.uint8)
    found = stability(models, words=words, n_jobs=n_jobs)
    reasons = np.array([_DEFINED, _IN_NO_MODEL, _ONE_MODEL, _ZERO], np.uint8)[found.undefined]
    return np.asarray(found.values, np.float64), reasons
