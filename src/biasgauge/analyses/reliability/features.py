"""`word_features`: properties of words that may decide how reliably their bias can be measured.

Source: Du, Fang & Nguyen, "Assessing the Reliability of Word Embedding Gender Bias Measures", EMNLP 2021, section 5.5
and appendix F.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.analyses.reliability.senses import word_properties
from biasgauge.core import (
    Floats,
    JsonObject,
    ModelsLike,
    Places,
    all_lengths,
    distinct_words,
    has_direction,
    unit_singles,
)
from biasgauge.errors import ParameterError
from biasgauge.results import counted
from biasgauge.scores import Workspace, block_rows, exact_similarities, nearest
from biasgauge.vectors import Embedding, load, named_models

if TYPE_CHECKING:
    import pandas as pd

Codes = np.ndarray[Any, np.dtype[np.uint8]]

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
"""Reasons why a feature is undefined; `WordFeatures.undefined` holds indices, 0 where it is defined."""
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
        undefined: for each feature, indices in `REASONS`. Numbers are NaN exactly where this is not 0.
        models: number of replicates that they are means of.
    """

    words: tuple[str, ...]
    log_frequency: Floats
    log_senses: Floats
    nn_similarity: Floats
    norm: Floats
    stability: Floats
    pos: tuple[str, ...]
    undefined: Mapping[str, Codes]
    models: int

    def count_undefined(self) -> dict[str, dict[str, int]]:
        """Number of words that lack each feature, by reason."""
        return {
            name: {REASONS[code]: count for code, count in sorted(Counter(codes.tolist()).items()) if code}
            for name, codes in self.undefined.items()
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per word: its features, None where undefined, and the first reason why one is."""
        import pandas as pd

        table: dict[str, Any] = {"word": self.words, **{name: getattr(self, name) for name in NUMBERS}}
        table["pos"] = [tag or None for tag in self.pos]
        first = np.zeros(len(self.words), np.uint8)
        for codes in self.undefined.values():
            first = np.where(first, first, codes)
        table["undefined"] = np.array(REASONS, dtype=object)[first]
        return pd.DataFrame(table)

    def to_dict(self) -> JsonObject:
        """Numbers of words and models, and what is undefined; without the features themselves."""
        return {"words": len(self.words), "models": self.models, "undefined": self.count_undefined()}

    def _repr_html_(self) -> str:
        return f"<p>Features of {counted(self.words, 'word')} over {counted(self.models, 'model')}</p>"


def word_features(
    vectors: ModelsLike,
    *,
    words: Iterable[str] | None = None,
    counts: Mapping[str, float] | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> WordFeatures:
    """Measure properties of words in replicates of one model.

    Args:
        vectors: an `Embedding`, anything `load` takes, or a list of them: replicates of one algorithm on one corpus.
        words: which words; all words of the models when None.
        counts: how often each word occurs in the corpus.
        n_jobs: threads of the alignment; all cores when None. The result does not depend on it.
        progress: called with (done, total) models.

    Raises:
        ParameterError: an argument cannot be used.
    """
    models = [load(source, name=name) for name, source in named_models(vectors).items()]
    if counts is not None and not isinstance(counts, Mapping):
        raise ParameterError(f"The 'counts' parameter must map words to counts. Got {type(counts).__name__}.")
    vocabulary = dict.fromkeys(word for model in models for word in model.words)
    targets = tuple(vocabulary) if words is None else distinct_words(words, "words", "word_features")
    frequencies = np.array([float((counts or {}).get(word, np.nan)) for word in targets])
    if (frequencies < 1).any():
        word = targets[int(np.argmax(frequencies < 1))]
        raise ParameterError(f"A count must be at least 1. Got {(counts or {})[word]!r} for {word!r}.")
    rows = np.array([[model.index.get(word, -1) for word in targets] for model in models], np.intp)
    norms, similarities = np.full(rows.shape, np.nan), np.full(rows.shape, np.nan)
    for number, model in enumerate(models):
        present = np.flatnonzero(rows[number] >= 0)
        norms[number, present] = all_lengths(model.vectors, rows[number, present])
        similarities[number, present] = nearest_similarity(model, rows[number, present])
        if progress is not None:
            progress(number + 1, len(models))
    # Means over the models that have the word; NaN where none has it.
    norm, similarity = (np.ma.masked_invalid(table).mean(axis=0).filled(np.nan) for table in (norms, similarities))
    in_none = np.where((rows >= 0).any(axis=0), _DEFINED, _IN_NO_MODEL)
    zero = np.where((norms == 0).any(axis=0) & ~(norms > 0).any(axis=0), _ZERO, _ALONE)
    table = word_properties()
    properties = [table.get(word.lower()) for word in targets]
    senses = np.array([np.nan if row is None or not row.senses else float(row.senses) for row in properties])
    no_tag = np.array([_NOT_IN_BROWN if row is None else _DEFINED for row in properties], np.uint8)
    stabilities, unstable = np.full(len(targets), np.nan), np.full(len(targets), _ONE_MODEL)
    if len(models) > 1 and targets:
        from biasgauge.vectors import stability  # replicates are compared here alone

        result = stability(models, words=targets, n_jobs=n_jobs)
        stabilities = np.asarray(result.values, np.float64)
        unstable = np.array([_DEFINED, _IN_NO_MODEL, _ONE_MODEL, _ZERO])[result.undefined]
    undefined = {
        "log_frequency": np.where(np.isnan(frequencies), _NO_COUNT, _DEFINED),
        "log_senses": np.where(np.isnan(senses) & (no_tag == _DEFINED), _NO_SENSE, no_tag),
        "pos": no_tag,
        "nn_similarity": np.where(in_none, in_none, np.where(np.isnan(similarity), zero, 0)),
        "norm": in_none,
        "stability": unstable,
    }
    return WordFeatures(
        words=targets,
        log_frequency=np.log(frequencies),
        log_senses=np.log(senses),
        nn_similarity=similarity,
        norm=norm,
        stability=stabilities,
        pos=tuple("" if row is None else row.tag for row in properties),
        undefined={name: codes.astype(np.uint8) for name, codes in undefined.items()},
        models=len(models),
    )


def nearest_similarity(model: Embedding, rows: Places, step: int | None = None) -> Floats:
    """Cosine of each word with its nearest other word, over the whole vocabulary.

    1 means that another word has the same direction. NaN for a zero vector, and where no other word has a direction.
    The neighbor is exact: single precision proposes, double precision decides, as for the measures. `step` words are
    compared with the vocabulary at a time.
    """
    similarities = np.full(len(rows), np.nan)
    pool = unit_singles(model.vectors)
    directed = has_direction(pool)
    row_in_pool = np.cumsum(directed) - 1  # zero vectors are no neighbors
    targets = np.flatnonzero(directed[rows])
    pool = pool[directed] if not directed.all() else pool
    if len(pool) < 2:
        return similarities
    step = step or block_rows(len(pool))
    workspace = Workspace(min(step, max(len(targets), 1)), len(pool))
    for start in range(0, len(targets), step):
        block = targets[start : start + step]
        pool_rows = row_in_pool[rows[block]]
        neighbor = nearest(pool[pool_rows], pool, 1, pool_rows, workspace)
        similarities[block] = exact_similarities(pool[pool_rows], pool, neighbor)[:, 0]
    return similarities
