"""`factor_table`: reliability of words under every measure, algorithm and corpus, with their features."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from biasgauge.analyses.reliability.features import NUMBERS, REASONS, word_features
from biasgauge.analyses.reliability.reliabilities import agreement_on_words, by_measure, standardized
from biasgauge.analyses.reliability.senses import word_properties
from biasgauge.core import ModelsLike, check_choice
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import decode_utf8, read_whole
from biasgauge.scores import ScoreStore, ScoreTensor
from biasgauge.stats import Iccs
from biasgauge.vectors import Embedding, load

if TYPE_CHECKING:
    import pandas as pd

Outcome = Literal["test_retest", "inter_rater"]


@dataclass(frozen=True, eq=False)
class FactorSource:
    """Replicates of one algorithm on one corpus, with their scores.

    Attributes:
        algorithm, corpus: their names; each is a level of a random effect.
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

    def describe(self) -> dict[str, Any]:
        """Description in the settings of a result."""
        return {
            "algorithm": self.algorithm,
            "corpus": self.corpus,
            "measures": list(self.scores.measures),
            "models": len(self.scores.models),
            "as_published": self.scores.provenance.get("as_published"),
        }


def factor_table(
    sources: Sequence[FactorSource],
    *,
    outcome: Outcome = "test_retest",
    standardize: bool = False,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Build one table of reliabilities and features of words.

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

    check_choice(get_args(Outcome), outcome=outcome)
    names = [(source.algorithm, source.corpus) for source in sources]
    if not names or len(set(names)) != len(names):
        raise ParameterError(f"The sources must be of different algorithms and corpora, at least one. Got {names!r}.")
    frames = []
    for done, source in enumerate(sources, 1):
        features = _features(source, n_jobs)
        for measure, estimates in _reliabilities(source.scores, outcome, standardize=standardize):
            reasons = np.array(estimates.sentences(), dtype=object)[estimates.undefined]
            reasons[~np.isnan(estimates.value)] = ""  # only the interval may be undefined
            labels = {"measure": measure, "algorithm": source.algorithm, "corpus": source.corpus}
            undefined = np.where(reasons != "", reasons, features["undefined"].to_numpy())
            frames.append(features.assign(**labels, score=estimates.value, undefined=undefined))
        if progress is not None:
            progress(done, len(names))
    table = pd.concat(frames, ignore_index=True)
    for name in ("measure", "algorithm", "corpus", "pos"):
        table[name] = table[name].astype("category")
    return table[["word", "measure", "algorithm", "corpus", "score", *NUMBERS, "pos", "undefined"]]


def _features(source: FactorSource, n_jobs: int | None) -> pd.DataFrame:
    """Features of the words of the scores, in their order; only words that have senses and a tag are looked up."""
    words = source.scores.words
    table = word_properties()
    senses = [None if (row := table.get(word.lower())) is None else row.senses for word in words]
    covered = [word for word, count in zip(words, senses, strict=True) if count]
    models = source.vectors if source.vectors is not None else list(_recorded_models(source))
    features = word_features(models, words=covered, counts=source.counts, n_jobs=n_jobs)
    frame = features.to_frame().set_index("word").reindex(words)
    # A feature that no word of a source has is left out of the model later on; it is no reason to drop every row.
    codes = np.zeros(len(covered), np.uint8)
    for feature_codes in features.undefined.values():
        if not (len(feature_codes) and feature_codes.all()):
            codes = np.where(codes, codes, feature_codes)
    frame["undefined"] = ""
    frame.loc[covered, "undefined"] = np.array(REASONS, dtype=object)[codes]
    for reason, missing in ((REASONS[2], None), (REASONS[3], 0)):
        frame.loc[[word for word, count in zip(words, senses, strict=True) if count == missing], "undefined"] = reason
    return frame.reset_index(names="word")


def _recorded_models(source: FactorSource) -> Iterator[Embedding]:
    """Load the models that were scored, from their paths or from a folder, and check that they are the same."""
    paths: dict[str, Path] = {}
    recorded = source.scores.provenance.get("models", {})
    for name in source.scores.models:
        file = recorded.get(name, {}).get("source", "memory")
        if file == "memory":
            raise ParameterError(f"The model {name!r} was in memory when it was scored; give FactorSource(vectors=…).")
        path = paths[name] = Path(file) if source.models_in is None else Path(source.models_in) / Path(file).name
        if not path.is_file():
            raise InputError(
                f"{path}: the model {name!r} is not there; say which folder has it (models_in, --models-in)"
            )
    for name, path in paths.items():
        model = load(path, name=name)
        if model.checksum != recorded[name].get("checksum"):
            raise InputError(f"{path}: has changed since it was scored; score it again")
        yield model


def _reliabilities(
    scores: ScoreTensor | ScoreStore, outcome: Outcome, *, standardize: bool
) -> Iterator[tuple[str, Iccs]]:
    """Yield measures with the reliability of every word."""
    if outcome == "test_retest":
        for measure in by_measure(scores):
            yield measure.measure, measure.reliability_of_words()
        return
    averages = np.stack([measure.mean_over_models() for measure in by_measure(scores)])
    yield "all", agreement_on_words(standardized(averages) if standardize else averages)


_MOST_DIGITS = 18
"""Digits of a count; no corpus needs more."""


def read_counts(path: Path) -> dict[str, float]:
    """Read a word and its count from each line, as GloVe's `vocab.txt` has them.

    Raises:
        InputError: the file cannot be read, or a line holds something else.
    """
    lines = decode_utf8(read_whole(path), path).removeprefix("\ufeff").split("\n")
    counts: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        word, _, count = line.rstrip().rpartition("\t" if "\t" in line else " ")
        word = word.strip()
        if not word or not count.isdecimal() or len(count) > _MOST_DIGITS or int(count) < 1:
            raise InputError(f"{path}, line {number}: expected a word and a count of at least 1, found {line[:60]!r}")
        if word in counts:
            raise InputError(f"{path}, line {number}: the word {word!r} has a count already")
        counts[word] = float(count)
    if not counts:
        raise InputError(f"{path}: holds no counts; write a word and its count on each line")
    return counts


def stored_counts(store: ScoreStore | ScoreTensor, models_in: Path | None = None) -> dict[str, float] | None:
    """Mean counts of words over the scored models that `biasgauge train` wrote with counts; None when none has any."""
    counts: dict[str, list[int]] = {}
    for model in store.provenance["models"].values():
        path = Path(model.get("source", ""))
        path = path if models_in is None else models_in / path.name
        loaded = load(path) if path.suffix == ".safetensors" and path.is_file() else None
        if loaded is not None and loaded.frequencies is not None and loaded.frequencies.kind == "counts":
            for word, count in zip(loaded.words, np.asarray(loaded.frequencies.values).tolist(), strict=True):
                if count > 0:
                    counts.setdefault(word, []).append(count)
    return {word: sum(values) / len(values) for word, values in counts.items()} or None
