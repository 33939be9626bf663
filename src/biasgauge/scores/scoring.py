"""`score`: models, pairs, words and measures to one score tensor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge import registry
from biasgauge._version import __version__
from biasgauge.embeddings import Embedding, load, named_models
from biasgauge.errors import InputError, ParameterError
from biasgauge.inputs import ModelsLike, PairsLike, VectorsLike, WordsLike
from biasgauge.lexicons import Words, WordSet, pairs_of, words_of
from biasgauge.measures import Measure, Neighborhood
from biasgauge.scores import engine
from biasgauge.scores.engine import Task
from biasgauge.scores.store import ModelScores, ScoreStore
from biasgauge.scores.tensor import REASONS, ScoreTensor

FULL = "full"
CPU = "cpu"

AS_PUBLISHED = {
    "du2021": {"ripa": "ripa_unit", "nbm": "nbm_du2021"},
    "zhang2020": {"nbm": "nbm_zhang2020"},
}
"""Which measure a paper's code computed under which name."""

_REASON = {sentence: place for place, sentence in enumerate(REASONS)}


@dataclass(frozen=True)
class _Plan:
    """What is asked for, the same for every model."""

    pairs: tuple[tuple[str, str], ...]
    words: tuple[str, ...]
    measures: tuple[Measure, ...]
    k: int
    pool: tuple[str, ...] | None
    case_fallback: bool
    device: str
    n_jobs: int | None
    progress: Callable[[int, int], None] | None


def score(
    vectors: ModelsLike,
    *,
    pairs: PairsLike,
    words: WordsLike,
    measures: str | Measure | Sequence[str | Measure] = ("dbwa", "ripa", "nbm"),
    k: int = 100,
    pool: WordsLike | None = None,
    as_published: str | None = None,
    case_fallback: bool = False,
    store: str | os.PathLike[str] | None = None,
    device: str = "cpu",
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
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.
        store: a folder to keep the scores in, a model at a time; models that are in it already are not computed again.
            `score_to_store` does the same without reading all scores back into memory.
        device: "cpu", or "cuda" for a GPU through PyTorch; the same scores within single precision.
        n_jobs: threads; all cores when None or −1. The result does not depend on it.
        progress: called with (done, total) blocks of each model.

    Raises:
        ParameterError: an argument cannot be used.
        InputError: the store holds something else.
    """
    request = _Request.of(
        vectors,
        pairs=pairs,
        words=words,
        measures=measures,
        k=k,
        pool=pool,
        as_published=as_published,
        case_fallback=case_fallback,
        device=device,
        n_jobs=n_jobs,
        progress=progress,
    )
    if store is not None:
        return request.into(store).read(model=list(request.models))
    parts = [(name, *_score_model(model, request.plan)) for name, model in request.loaded()]
    return ScoreTensor(
        values=np.stack([scores.values for _, scores, _ in parts], axis=3),
        undefined=np.stack([scores.undefined() for _, scores, _ in parts], axis=3),
        measures=request.measures,
        pairs=request.plan.pairs,
        words=request.plan.words,
        models=tuple(request.models),
        provenance={**request.provenance, "models": {name: about for name, _, about in parts}},
    )


def score_to_store(store: str | os.PathLike[str], vectors: ModelsLike, **settings: Any) -> ScoreStore:  # noqa: ANN401
    """Score as `score` does, with the same settings, into a folder; nothing but one model at a time is in memory.

    Models that are in the store already are not computed again, unless their scores are damaged; what was is recorded
    under "recomputed".
    """
    return _Request.of(vectors, **settings).into(store)


@dataclass(frozen=True)
class _Request:
    """What is asked for: the models, not yet loaded, the plan for each of them, and how to describe it."""

    models: Mapping[str, VectorsLike]
    plan: _Plan
    provenance: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        vectors: ModelsLike,
        *,
        pairs: PairsLike,
        words: WordsLike,
        measures: str | Measure | Sequence[str | Measure] = ("dbwa", "ripa", "nbm"),
        k: int = 100,
        pool: WordsLike | None = None,
        as_published: str | None = None,
        case_fallback: bool = False,
        device: str = "cpu",
        n_jobs: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> _Request:
        models = named_models(vectors)
        if _is_full(words) and len(models) == 1:  # several are loaded twice, so that only one is ever in memory
            models = {name: load(source, name=name) for name, source in models.items()}
        given = pairs_of(pairs)
        asked = _words(words, models)
        plan = _Plan(
            pairs=tuple(dict.fromkeys(given.pairs)),
            words=tuple(dict.fromkeys(asked.words)),
            measures=_measures(measures, as_published),
            k=_at_least_one(k),
            pool=None if pool is None else words_of(pool).words,
            case_fallback=case_fallback,
            device=_device(device),
            n_jobs=_threads(n_jobs),
            progress=progress,
        )
        provenance = {
            "version": __version__,
            "pairs": {"name": given.name, "checksum": given.checksum},
            "words": {"name": asked.name, "checksum": Words(name=asked.name, listed=plan.words).checksum},
            "k": k,
            "pool": None if plan.pool is None else list(plan.pool),
            "as_published": as_published,
            "case_fallback": case_fallback,
        }
        return cls(models, plan, provenance)

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(measure.name for measure in self.plan.measures)

    def loaded(self) -> Iterator[tuple[str, Embedding]]:
        """Load one model after the other."""
        for name, source in self.models.items():
            yield name, load(source, name=name)

    def into(self, path: str | os.PathLike[str]) -> ScoreStore:
        """Keep the scores in a store, which is made once the first model could be loaded."""
        labels = {"measures": self.measures, "pairs": self.plan.pairs, "words": self.plan.words}
        for name, model in self.loaded():
            store = ScoreStore.create(path, **labels, provenance=self.provenance)  # type: ignore[arg-type]  # tuples
            if name not in store.models:
                store.append(name, *_score_model(model, self.plan))
            elif damage := _damage(model, store):
                scores, about = _score_model(model, self.plan)
                store.replace(name, scores, {**about, "recomputed": damage})
        return ScoreStore.open(path)


def _measures(given: str | Measure | Iterable[str | Measure], as_published: str | None) -> tuple[Measure, ...]:
    names = [given] if isinstance(given, (str, Measure)) else list(given)
    if as_published is not None and as_published not in AS_PUBLISHED:
        raise ParameterError(
            f"The 'as_published' parameter of score must be one of {', '.join(AS_PUBLISHED)}. Got {as_published!r}."
        )
    variants = AS_PUBLISHED.get(as_published or "", {})
    found = [registry.get("measure", variants.get(name, name) if isinstance(name, str) else name) for name in names]
    if not found or len({measure.name for measure in found}) != len(found):
        raise ParameterError(f"The 'measures' parameter of score must name measures, each once. Got {names!r}.")
    return tuple(found)


def _is_full(words: object) -> bool:
    return isinstance(words, str) and words == FULL


def _words(given: WordsLike, models: Mapping[str, VectorsLike]) -> WordSet:
    if _is_full(given):
        return WordSet(FULL, tuple(dict.fromkeys(word for source in models.values() for word in load(source).words)))
    return words_of(given)


def _at_least_one(k: int) -> int:
    if not isinstance(k, int) or isinstance(k, bool) or k < 1:
        raise ParameterError(f"The 'k' parameter of score must be a whole number of at least 1. Got {k!r}.")
    return k


def _threads(n_jobs: int | None) -> int | None:
    if n_jobs is None or n_jobs == -1:
        return None
    if not isinstance(n_jobs, int) or isinstance(n_jobs, bool) or n_jobs < 1:
        raise ParameterError(
            f"The 'n_jobs' parameter of score must be a whole number of at least 1, or −1 for all. Got {n_jobs!r}."
        )
    return n_jobs


def _device(name: str) -> str:
    """Refuse a device that cannot be used before anything is computed."""
    if name != CPU:
        from biasgauge.scores import gpu

        gpu.device_named(name)
    return name


def _damage(model: Embedding, kept: ScoreStore) -> str:
    """What is wrong with the scores that are kept of this model; empty when they can be used.

    Raises:
        InputError: they are the scores of other vectors.
    """
    if kept.provenance["models"][model.name].get("checksum") != model.checksum:
        raise InputError(
            f"{kept.path}: holds scores of other vectors named {model.name!r}; name another folder, or remove it"
        )
    try:
        kept.check(model.name)
    except InputError as problem:
        return str(problem)
    return ""


def _about(model: Embedding, plan: _Plan) -> dict[str, Any]:
    asked = {} if plan.pool is None else {"pool": plan.pool}
    ends = {"first": [first for first, _ in plan.pairs], "second": [second for _, second in plan.pairs]}
    found = model.coverage({"words": plan.words, **ends, **asked}, case_fallback=plan.case_fallback)
    return {"checksum": model.checksum, "source": model.source, "coverage": found.to_dict()}


def _score_model(model: Embedding, plan: _Plan) -> tuple[ModelScores, dict[str, Any]]:
    """Scores of one model, and what is to be recorded about it."""
    word_rows, word_reasons = _rows(model, plan.words, "the word", plan)
    first, first_reasons = _rows(model, [first for first, _ in plan.pairs], "an end of the pair", plan)
    second, second_reasons = _rows(model, [second for _, second in plan.pairs], "an end of the pair", plan)
    end_reasons = np.where(first_reasons, first_reasons, second_reasons)
    usable = np.flatnonzero(end_reasons == 0)
    equal = (model.vectors[first[usable]] == model.vectors[second[usable]]).all(axis=1)
    end_reasons[usable[equal]] = _REASON["the ends of the pair have equal vectors"]
    usable = np.flatnonzero(end_reasons == 0)
    pool = None if plan.pool is None else model.lookup(plan.pool, case_fallback=plan.case_fallback).rows
    pair_reasons = np.tile(end_reasons, (len(plan.measures), 1))
    voting = np.flatnonzero([isinstance(measure, Neighborhood) for measure in plan.measures])
    if len(voting) and np.count_nonzero(_has_direction(model, None if pool is None else np.unique(pool))) <= plan.k:
        pair_reasons[np.ix_(voting, usable)] = _REASON["fewer than k neighbors exist"]
    scored = np.flatnonzero(word_reasons == 0)
    values = np.full((len(plan.measures), len(plan.pairs), len(plan.words)), np.nan, np.float32)
    if len(usable) and len(scored):
        task = Task(model.vectors, word_rows[scored], first[usable], second[usable], plan.measures, plan.k, pool)
        grid = np.ix_(np.arange(len(plan.measures)), usable, scored)
        if plan.device == CPU:
            values[grid] = engine.compute(task, n_jobs=plan.n_jobs, progress=plan.progress)
        else:
            from biasgauge.scores import gpu

            values[grid] = gpu.compute(task, gpu.device_named(plan.device), plan.progress)
    values[pair_reasons > 0] = np.nan
    return ModelScores(values, word_reasons, pair_reasons), _about(model, plan)


def _rows(model: Embedding, words: Sequence[str], what: str, plan: _Plan) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Row of each word (0 where it has none), and why it cannot be used (0 where it can)."""
    found = model.lookup(words, case_fallback=plan.case_fallback)
    places = dict(zip(found.words, found.rows.tolist(), strict=True))
    rows = np.array([places.get(word, 0) for word in words], np.intp)
    missing = np.array([word not in places for word in words], bool)
    dropped = np.array([word in model.dropped for word in words], bool)
    own = "the word's vector is" if what == "the word" else f"{what} has a"
    endings = (" zero", " not finite") if what == "the word" else (" zero vector", " vector that is not finite")
    reasons = np.zeros(len(words), np.uint8)
    present = np.flatnonzero(~missing)
    reasons[present[~_has_direction(model, rows[present])]] = _REASON[own + endings[0]]
    reasons[missing] = _REASON[f"{what} is not in the vocabulary"]
    reasons[missing & dropped] = _REASON[own + endings[1]]
    return rows, reasons


def _has_direction(model: Embedding, rows: NDArray[np.intp] | None) -> NDArray[np.bool_]:
    """Which of these rows (None: all) are not zero vectors."""
    vectors = model.vectors if rows is None else model.vectors[rows]
    return np.asarray(vectors.any(axis=1))
