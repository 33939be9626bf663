"""Rows for the regression: reliability of words under every measure, algorithm and corpus, with their features."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from biasgauge.agreement import over_measures, over_replicates
from biasgauge.agreement.features.table import word_properties
from biasgauge.agreement.features.words import NUMBERS, REASONS, word_features
from biasgauge.agreement.scores_by_measure import by_measure
from biasgauge.embeddings import Embedding, load
from biasgauge.errors import InputError, ParameterError
from biasgauge.inputs import ModelsLike
from biasgauge.scores import ScoreStore, ScoreTensor
from biasgauge.stats.intraclass import icc_stack

if TYPE_CHECKING:
    import pandas as pd

Outcome = Literal["test_retest", "inter_rater"]
ALL_MEASURES = "all"
"""What stands in the column of measures when the outcome is over all of them."""


@dataclass(frozen=True, eq=False)
class FactorSource:
    """Replicates of one algorithm on one corpus, with their scores.

    Attributes:
        algorithm, corpus: what to call them; each is a level of a random effect.
        scores: of all replicates.
        vectors: the replicates themselves, for features of words; None reads the files that the scores were made from.
        models_in: the folder that has these files, if they are no longer where they were.
        counts: how often each word occurs in the corpus; None leaves frequency out.
    """

    algorithm: str
    corpus: str
    scores: ScoreTensor | ScoreStore
    vectors: ModelsLike | None = None
    models_in: str | os.PathLike[str] | None = None
    counts: Mapping[str, float] | None = None


def factor_table(
    sources: Sequence[FactorSource],
    *,
    outcome: Outcome = "test_retest",
    standardize: bool = False,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Put reliabilities and features of words into one table.

    Columns: word, measure, algorithm, corpus, score (the reliability), the features of `word_features`, and
    `undefined`: why a row cannot be used, empty where it can.

    Args:
        sources: one for each algorithm and corpus.
        outcome: "test_retest": ICC(2,1) over replicates, a row for each measure; "inter_rater": ICC(3,1) over measures
            of scores averaged over replicates.
        standardize: bring measures to one standard deviation before they are compared; as published, they are not.
        n_jobs: threads of the alignment behind stability.
        progress: called with (done, total) sources.

    Raises:
        ParameterError: an argument cannot be used.
        InputError: a model that the scores were made from is gone or has changed.
    """
    import pandas as pd

    if outcome not in get_args(Outcome):
        raise ParameterError(f"The 'outcome' must be one of {', '.join(get_args(Outcome))}. Got {outcome!r}.")
    given = list(sources)
    names = [(one.algorithm, one.corpus) for one in given]
    if not given or len(set(names)) != len(names):
        raise ParameterError(f"The sources must be of different algorithms and corpora, at least one. Got {names!r}.")
    parts = []
    for place, source in enumerate(given):
        features = _features(source, n_jobs)
        for measure, values, reasons in _reliabilities(source.scores, outcome, standardize=standardize):
            part = features.copy()
            part["measure"], part["algorithm"], part["corpus"] = measure, source.algorithm, source.corpus
            part["score"] = values
            part["undefined"] = np.where(reasons != "", reasons, part["undefined"].to_numpy())
            parts.append(part)
        if progress is not None:
            progress(place + 1, len(given))
    table = pd.concat(parts, ignore_index=True)
    for name in ("measure", "algorithm", "corpus", "pos"):
        table[name] = table[name].astype("category")
    return table[["word", "measure", "algorithm", "corpus", "score", *NUMBERS, "pos", "undefined"]]


def _features(source: FactorSource, n_jobs: int | None) -> pd.DataFrame:
    """Features of the words of the scores, in their order; only words that have senses and a tag are looked up."""
    words = source.scores.words
    table = word_properties()
    senses = [None if (row := table.get(word.lower())) is None else row.senses for word in words]
    known = [word for word, count in zip(words, senses, strict=True) if count]
    models = source.vectors if source.vectors is not None else list(_recorded_models(source))
    found = word_features(models, words=known, counts=source.counts, n_jobs=n_jobs)
    frame = found.to_frame().set_index("word").reindex(words)
    # A feature that no word of a source has is left out of the model later on; it is no reason to drop every row.
    absent = [name for name, codes in found.undefined.items() if len(codes) and codes.all()]
    codes = np.zeros(len(known), np.uint8)
    for name, own in found.undefined.items():
        if name not in absent:
            codes = np.where(codes, codes, own)
    frame["undefined"] = ""
    frame.loc[known, "undefined"] = np.array(REASONS, dtype=object)[codes]
    for reason, lost in ((REASONS[2], None), (REASONS[3], 0)):
        frame.loc[[word for word, count in zip(words, senses, strict=True) if count == lost], "undefined"] = reason
    return frame.reset_index(names="word")


def _recorded_files(scores: ScoreTensor | ScoreStore, folder: str | os.PathLike[str] | None = None) -> dict[str, Path]:
    """Where the models that were scored are: where they were, or under the same name in a folder.

    Raises:
        ParameterError: a model was in memory when it was scored.
        InputError: a file is not there.
    """
    recorded = scores.provenance.get("models", {})
    found = {}
    for name in scores.models:
        source = recorded.get(name, {}).get("source", "memory")
        if source == "memory":
            raise ParameterError(f"The model {name!r} was in memory when it was scored; give FactorSource(vectors=…).")
        path = Path(source) if folder is None else Path(folder) / Path(source).name
        if not path.is_file():
            raise InputError(
                f"{path}: the model {name!r} is not there; say which folder has it (models_in, --models-in)"
            )
        found[name] = path
    return found


def _recorded_models(source: FactorSource) -> Iterator[Embedding]:
    """Load the models that were scored, and make sure that they are the same."""
    recorded = source.scores.provenance["models"]
    for name, path in _recorded_files(source.scores, source.models_in).items():
        model = load(path, name=name)
        if model.checksum != recorded[name].get("checksum"):
            raise InputError(f"{path}: has changed since it was scored; score it again")
        yield model


def _reliabilities(
    scores: ScoreTensor | ScoreStore, outcome: Outcome, *, standardize: bool
) -> Iterator[tuple[str, np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Measure, reliability of every word, and why it has none."""
    if outcome == "test_retest":
        for one in by_measure(scores):
            stack = np.moveaxis(one.values, 1, 0)
            found = icc_stack(stack, over_replicates.FORM, subjects="pairs", raters="models")
            yield one.measure, found.value, _reasons(found.value, found.sentences(), found.undefined)
        return
    averages = np.stack([one.mean_over_models() for one in by_measure(scores)])
    if standardize:
        averages = over_measures.standardized(averages)
    found = icc_stack(averages.transpose(2, 1, 0), over_measures.FORM, subjects="pairs", raters="measures")
    yield ALL_MEASURES, found.value, _reasons(found.value, found.sentences(), found.undefined)


def _reasons(
    values: np.ndarray[Any, Any], sentences: list[str], undefined: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    reasons: np.ndarray[Any, Any] = np.array(sentences, dtype=object)[undefined]
    reasons[~np.isnan(values)] = ""  # only the interval may be undefined
    return reasons
