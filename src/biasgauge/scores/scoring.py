"""`score`: models, pairs, words and measures to one score tensor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge import registry
from biasgauge._version import __version__
from biasgauge.core import (
    Codes,
    JsonMapping,
    ModelsLike,
    PairsLike,
    Places,
    VectorsLike,
    WordPolicy,
    WordsLike,
    check_choice,
    check_whole,
    device_named,
)
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import is_occupied
from biasgauge.lexicons import Words, WordSet, pairs_of, words_of
from biasgauge.metrics import Measure, Neighborhood
from biasgauge.scores import engine
from biasgauge.scores.engine import ScoringTask
from biasgauge.scores.tensor import END_LOST, EQUAL_ENDS, FEW_NEIGHBORS, WORD_LOST, ModelScores, ScoreTensor
from biasgauge.vectors import Embedding, load, named_models

if TYPE_CHECKING:
    from biasgauge.scores.store import ScoreStore

FULL = "full"
CPU = "cpu"
MEASURES = ("dbwa", "ripa", "nbm")
AS_WRITTEN = WordPolicy(case="exact")

MeasuresLike = str | Measure | Sequence[str | Measure]

AS_PUBLISHED = {"du2021": {"ripa": "ripa_unit", "nbm": "nbm_du2021"}, "zhang2020": {"nbm": "nbm_zhang2020"}}
"""Measure that a paper's code computed, by the name it has there."""


def score(
    vectors: ModelsLike,
    *,
    pairs: PairsLike,
    words: WordsLike,
    measures: MeasuresLike = MEASURES,
    k: int = 100,
    pool: WordsLike | None = None,
    as_published: str | None = None,
    policy: WordPolicy = AS_WRITTEN,
    store: str | os.PathLike[str] | None = None,
    device: str = CPU,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ScoreTensor:
    """Score every word against every pair with every measure, on every model.

    Args:
        vectors: an `Embedding` or anything `load` takes, or a list of them.
        pairs: a lexicon of pairs, or pairs (first, second); positive scores lean to the first.
        words: a lexicon, one of its sets ("weat7:x"), words, or "full" for all words of the models.
        measures: names of measures, or `Measure` objects.
        k: how many neighbors vote in a neighborhood measure.
        pool: which words may be neighbors, more than `k`: a lexicon or words; the whole vocabulary when None.
        as_published: "du2021" or "zhang2020": the measures as those papers' code computed them.
        policy: how words are looked up; by default as they are written. Scores have no minimal coverage.
        store: a folder to keep the scores in, a model at a time; models that are in it already are not computed again.
            `score_to_store` does the same without reading all scores back into memory.
        device: "cpu", or "cuda" for a GPU through PyTorch; the same scores within single precision.
        n_jobs: threads; all cores when None or −1. The result does not depend on it.
        progress: called with (done, total) blocks of each model.

    Raises:
        ParameterError: an argument cannot be used.
        InputError: the store holds something else.
    """
    run = _Scoring(
        vectors, pairs=pairs, words=words, measures=measures, k=k, pool=pool, as_published=as_published, policy=policy,
        device=device, n_jobs=n_jobs, progress=progress,
    )  # fmt: skip
    if store is not None:
        return run.into(store).read(model=list(run.models))
    parts = [(name, *run.score_model(model)) for name, model in run.loaded()]
    return ScoreTensor(
        values=np.stack([scores.values for _, scores, _ in parts], axis=3),
        undefined=np.stack([scores.undefined() for _, scores, _ in parts], axis=3),
        measures=run.measure_names,
        pairs=run.pairs,
        words=run.words,
        models=tuple(run.models),
        provenance={**run.provenance, "models": {name: record for name, _, record in parts}},
    )


def score_to_store(
    store: str | os.PathLike[str],
    vectors: ModelsLike,
    *,
    replace: bool = False,
    **settings: Any,  # noqa: ANN401 - those of `score`
) -> ScoreStore:
    """Score as `score` does, with the same settings, into a folder; nothing but one model at a time is in memory.

    Models that are in the store already are not computed again, unless their scores are damaged; what was is recorded
    under "recomputed". A store that holds other words, pairs, measures or settings is refused before any vectors are
    read; with `replace`, it makes room.
    """
    defaults = {name: value for name, value in (score.__kwdefaults__ or {}).items() if name != "store"}
    return _Scoring(vectors, **{**defaults, **settings}).into(store, replace=replace)


class _Scoring:
    """Settings of `score`, the same for every model, and their provenance; no model is loaded yet."""

    def __init__(
        self,
        vectors: ModelsLike,
        *,
        pairs: PairsLike,
        words: WordsLike,
        measures: MeasuresLike,
        k: int,
        pool: WordsLike | None,
        as_published: str | None,
        policy: WordPolicy,
        device: str,
        n_jobs: int | None,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        full = isinstance(words, str) and words == FULL
        self.models: Mapping[str, VectorsLike] = named_models(vectors)
        if full and len(self.models) == 1:  # several are loaded twice, so that only one is ever in memory
            self.models = dict(self.loaded())
        pair_list = pairs_of(pairs)
        vocabulary = (word for _, model in self.loaded() for word in model.words) if full else ()
        word_list = WordSet(FULL, tuple(dict.fromkeys(vocabulary))) if full else words_of(words)
        self.pairs = tuple(dict.fromkeys(pair_list.pairs))
        self.words = tuple(dict.fromkeys(word_list.words))
        self.measures = _measures(measures, as_published)
        self.measure_names = tuple(measure.name for measure in self.measures)
        self.pool = None if pool is None else words_of(pool).words
        self.k, self.policy, self.device, self.progress = k, policy, device, progress
        self.n_jobs = None if n_jobs == -1 else n_jobs
        check_whole(1, k=k, n_jobs=1 if self.n_jobs is None else self.n_jobs)
        if device != CPU:
            device_named(device)  # refused before anything is computed
        self.provenance: JsonMapping = {
            "version": __version__,
            "pairs": {"name": pair_list.name, "checksum": pair_list.checksum},
            "words": {"name": word_list.name, "checksum": Words(name=word_list.name, listed=self.words).checksum},
            "k": k,
            "pool": None if self.pool is None else list(self.pool),
            "as_published": as_published,
            "case_fallback": {"exact": False, "fallback": True}.get(policy.case, policy.case),
        }

    def loaded(self) -> Iterator[tuple[str, Embedding]]:
        """Load one model after the other."""
        for name, source in self.models.items():
            yield name, load(source, name=name)

    def into(self, path: str | os.PathLike[str], *, replace: bool = False) -> ScoreStore:
        """Keep the scores in a store, which is made once the first model could be loaded."""
        from biasgauge.scores.store import ScoreStore

        labels: dict[str, Any] = {"measures": self.measure_names, "pairs": self.pairs, "words": self.words}
        create = partial(ScoreStore.create, path, **labels, provenance=self.provenance, replace=replace)
        if is_occupied(Path(path)) and not replace:
            create()  # refuses what does not fit before any vectors are read
        for name, model in self.loaded():
            store = create()
            if name not in store.models:
                store.append(name, *self.score_model(model))
            elif damage := _find_damage(model, store, replace=replace):
                scores, record = self.score_model(model)
                store.replace(name, scores, {**record, "recomputed": damage})
        return ScoreStore.open(path)

    def score_model(self, model: Embedding) -> tuple[ModelScores, dict[str, Any]]:
        """Scores of one model, and what is to be recorded about it."""
        fallback = self.policy.uses_fallback([model])
        ends = {"first": [first for first, _ in self.pairs], "second": [second for _, second in self.pairs]}
        word_rows, word_reasons = _rows(model, self.words, WORD_LOST, case_fallback=fallback)
        first, first_reasons = _rows(model, ends["first"], END_LOST, case_fallback=fallback)
        second, second_reasons = _rows(model, ends["second"], END_LOST, case_fallback=fallback)
        end_reasons = np.where(first_reasons, first_reasons, second_reasons)
        usable = np.flatnonzero(end_reasons == 0)
        equal = (model.vectors[first[usable]] == model.vectors[second[usable]]).all(axis=1)
        end_reasons[usable[equal]] = EQUAL_ENDS
        usable = usable[~equal]
        pool = None if self.pool is None else model.lookup(self.pool, case_fallback=fallback).rows
        pair_reasons = np.tile(end_reasons, (len(self.measures), 1))
        voting = np.flatnonzero([isinstance(measure, Neighborhood) for measure in self.measures])
        if len(voting) and np.count_nonzero(model.directed(None if pool is None else np.unique(pool))) <= self.k:
            pair_reasons[np.ix_(voting, usable)] = FEW_NEIGHBORS
        scored = np.flatnonzero(word_reasons == 0)
        values = np.full((len(self.measures), len(self.pairs), len(self.words)), np.nan, np.float32)
        if len(usable) and len(scored):
            rows = (word_rows[scored], first[usable], second[usable])
            task = ScoringTask(model.vectors, *rows, self.measures, self.k, pool)
            grid = np.ix_(np.arange(len(self.measures)), usable, scored)
            if self.device == CPU:
                values[grid] = engine.compute(task, n_jobs=self.n_jobs, progress=self.progress)
            else:
                from biasgauge.scores import gpu

                values[grid] = gpu.compute(task, device_named(self.device), self.progress)
        values[pair_reasons > 0] = np.nan
        sets = {"words": self.words, **ends, **({} if self.pool is None else {"pool": self.pool})}
        coverage = model.coverage(sets, case_fallback=fallback).to_dict()
        record = {"checksum": model.checksum, "source": model.source, "coverage": coverage}
        record |= {"facets": dict(model.facets)} if model.facets else {}
        return ModelScores(values, word_reasons, pair_reasons), record


def _measures(measures: MeasuresLike, as_published: str | None) -> tuple[Measure, ...]:
    names = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    check_choice((None, *AS_PUBLISHED), as_published=as_published)
    variants = AS_PUBLISHED.get(as_published or "", {})
    chosen = [registry.get("measure", variants.get(name, name) if isinstance(name, str) else name) for name in names]
    if not chosen or len({measure.name for measure in chosen}) != len(chosen):
        raise ParameterError(f"The 'measures' parameter of score must name measures, each once. Got {names!r}.")
    return tuple(chosen)


def _find_damage(model: Embedding, store: ScoreStore, *, replace: bool) -> str:
    """Describe why stored scores of this model cannot be used; empty when they can.

    Raises:
        InputError: they are the scores of other vectors, and are not to be replaced.
    """
    if store.provenance["models"][model.name].get("checksum") != model.checksum:
        mismatch = f"{store.path}: holds scores of other vectors named {model.name!r}"
        if not replace:
            raise InputError(f"{mismatch}; name another folder, or replace it (--force)")
        return mismatch
    try:
        store.check(model.name)
    except InputError as problem:
        return str(problem)
    return ""


def _rows(model: Embedding, words: Sequence[str], lost: int, *, case_fallback: bool) -> tuple[Places, Codes]:
    """Row of each word (0 where it has none), and why it cannot be used (0 where it can): `lost` or one of two more."""
    row_of = model.lookup(words, case_fallback=case_fallback).row_of
    rows = np.array([row_of.get(word, 0) for word in words], np.intp)
    missing = np.array([word not in row_of for word in words], bool)
    dropped = np.array([word in model.dropped for word in words], bool)
    reasons = np.zeros(len(words), np.uint8)
    present = np.flatnonzero(~missing)
    reasons[present[~model.directed(rows[present])]] = lost + 2
    reasons[missing] = lost
    reasons[missing & dropped] = lost + 1
    return rows, reasons
