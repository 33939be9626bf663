"""`seeds`: is this pair of word lists fit to measure anything with these models?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from biasgauge.embeddings import Embedding, load_models
from biasgauge.errors import ParameterError
from biasgauge.inputs import ModelsLike, WordsLike
from biasgauge.lexicons.bank import Filter
from biasgauge.seed_words.advice import advise
from biasgauge.seed_words.balance import balance, set_similarity, similarity_left_out
from biasgauge.seed_words.card import FitnessCard
from biasgauge.seed_words.every_model import PairNumbers, in_every_model
from biasgauge.seed_words.generated import generated_cloud
from biasgauge.seed_words.influence import SeedInfluence, held_out_gap, held_out_left_out, influences, why_none
from biasgauge.seed_words.located import Located, locate
from biasgauge.seed_words.pairing import pairing
from biasgauge.seed_words.result import SeedsResult
from biasgauge.seed_words.subspaces import Method, check_method
from biasgauge.seed_words.word_pairs import SeedPairsLike, seed_pairs
from biasgauge.stats.estimate import Estimate, check_level
from biasgauge.stats.means import mean_over_models

_NO_SUBSPACE = "the two sets have one mean, so that nothing lies between them"
_NO_COMPONENTS = "no pair by position has two different words"


def seeds(  # noqa: PLR0913 - settings, each with a name and a default
    vectors: ModelsLike,
    a: WordsLike | None = None,
    b: WordsLike | None = None,
    *,
    pairs: SeedPairsLike | None = None,
    paper: str | None = None,
    method: Method = "mean-difference",
    unit: bool = False,
    shuffles: int = 200,
    leave_one_out: bool | int = True,
    generated: int = 0,
    counts: Mapping[str, float] | None = None,
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    level: float = 0.95,
    filter: Filter = "corrected",  # noqa: A002 - the word that the papers use
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> SeedsResult:
    """Say what pairs of seed sets are worth: a fitness card for each.

    Numbers are found in every model and then averaged, so that replicates need not be aligned; to average vectors
    instead, hand over `mean_embedding(models)` (aligned) or `mean_embedding(models, aligned=False)` (as published).

    Args:
        vectors: an `Embedding`, anything `load` takes, or a list of them: replicates.
        a: one set: words, a lexicon, NAME:SET, or the id of a set of the seed bank.
        b: the other set.
        pairs: instead of a and b: "all" for the 90 pairings of the seed bank, a lexicon of kind "test" or "pairs", or
            several (a, b).
        paper: only pairings of the seed bank whose paper or id holds this text, as in "Caliskan".
        method: the subspace whose coherence is measured: "mean-difference", or "pca" of the pairs by position.
        unit: scale seed vectors to length 1 first; published with vectors as they are.
        shuffles: shuffled pairings to compare with, over all models together; 0 for none.
        leave_one_out: also measure without each seed, which costs a ranking of the vocabulary for every seed; a number
            means in the first so many models.
        generated: also generate so many sets of nouns as a reference; 0 for none, 50 as published.
        counts: how often each word occurs; by default the order of rows stands for frequency.
        min_coverage: share of each set that must be found. A seed is lost when most models lack it; models that lack
            another one take no part in that pair.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.
        level: nominal coverage of the intervals.
        filter: which form of the seed bank: "corrected", "published" or "none".
        random_state: seed of shuffles and generated sets.
        progress: called with (done, total) models.

    Raises:
        ParameterError: an argument cannot be used.
        LexiconError: a set is not known.
    """
    _check(shuffles, generated, min_coverage, int(leave_one_out))
    check_method(method)
    check_level(level)
    asked = seed_pairs(a, b, pairs, paper=paper, bank_filter=filter)
    models = load_models(vectors)
    located = locate(asked, models, min_coverage=min_coverage, case_fallback=case_fallback)
    times = len(models) if leave_one_out is True else int(leave_one_out)
    numbers = in_every_model(located, models, method, scaled=unit, left_out=times, progress=progress)
    settings = {
        "method": method,
        "unit": unit,
        "shuffles": shuffles,
        "leave_one_out": leave_one_out,
        "generated": generated,
        "min_coverage": min_coverage,
        "case_fallback": case_fallback,
        "level": level,
        "filter": filter,
        "frequency": "row order" if counts is None else "counts",
        "random_state": random_state,
        "model_checksums": {model.name: model.checksum for model in models},
    }
    cards = tuple(_card(one, found, models, counts, settings) for one, found in zip(located, numbers, strict=True))
    cloud = None
    if generated:
        cloud = generated_cloud(models, sets=generated, method=method, unit=unit, random_state=random_state)
    warnings = tuple(dict.fromkeys(notice.message for model in models for notice in model.notices))
    return SeedsResult(cards, tuple(model.name for model in models), settings, cloud, warnings)


def _check(shuffles: int, generated: int, min_coverage: float, leave_one_out: int) -> None:
    for name, value in (("shuffles", shuffles), ("leave_one_out", leave_one_out)):
        if value < 0:
            raise ParameterError(f"The {name!r} of seeds must be 0 or more. Got {value!r}.")
    if generated < 0 or generated == 1:
        raise ParameterError(f"The 'generated' sets of seeds must be 0, or at least 2. Got {generated!r}.")
    if not 0 <= min_coverage <= 1:
        raise ParameterError(f"The 'min_coverage' of seeds must lie between 0 and 1. Got {min_coverage!r}.")


def _card(
    located: Located,
    numbers: PairNumbers,
    models: Sequence[Embedding],
    counts: Mapping[str, float] | None,
    settings: Mapping[str, Any],
) -> FitnessCard:
    level, scaled = settings["level"], settings["unit"]
    pairs = pairing(
        located,
        models,
        scaled=scaled,
        shuffles=settings["shuffles"],
        level=level,
        random_state=settings["random_state"],
    )
    about = balance(located, models, counts)
    coherence, held_out = _coherence(located, numbers, settings)
    similarity = _similarity(located, models, level, scaled=scaled)
    influence: tuple[SeedInfluence, ...] = ()
    if numbers.left_out and coherence.value is not None:
        influence = influences(located, numbers.left_out, numbers.coherence[: len(numbers.left_out)])
    return FitnessCard(
        a=located.pair.a,
        b=located.pair.b,
        coherence=coherence,
        held_out=held_out,
        coherence_published=_published(located, numbers.published, level),
        similarity=similarity,
        pairing=pairs,
        balance=about,
        influence=influence,
        coverage=located.coverage,
        models=len(located.places) if located.reason is None else 0,
        of_models=located.models,
        reason=located.reason,
        advice=advise(located, coherence, held_out, similarity, pairs, about, influence),
    )


def _coherence(located: Located, numbers: PairNumbers, settings: Mapping[str, Any]) -> tuple[Estimate, Estimate]:
    if located.reason is not None:
        return Estimate(value=None, reason=located.reason), Estimate(value=None, reason=located.reason)
    if not np.isfinite(numbers.coherence).any():
        why = _NO_SUBSPACE if settings["method"] == "mean-difference" else _NO_COMPONENTS
        return Estimate(value=None, reason=why), Estimate(value=None, reason=why)
    size = len(located.a)
    left = numbers.left_out
    without = [left[0].coherence[:size], left[0].coherence[size:]] if left else None
    coherence = mean_over_models(numbers.coherence, settings["level"], without, (0.0, 1.0))
    if not left:
        return coherence, Estimate(value=None, reason="no seed was left out")
    gaps = np.array([held_out_gap(one, size) for one in left])
    if not np.isfinite(gaps).any():
        return coherence, Estimate(value=None, reason=why_none(located))
    return coherence, mean_over_models(gaps, settings["level"], held_out_left_out(left[0], size), (-1.0, 1.0))


def _published(located: Located, values: np.ndarray[Any, np.dtype[np.float64]], level: float) -> Estimate:
    if np.isfinite(values).any():
        return mean_over_models(values, level, None, (0.0, 1.0))
    return Estimate(value=None, reason=_NO_SUBSPACE if located.whole else "no model has every seed")


def _similarity(located: Located, models: Sequence[Embedding], level: float, *, scaled: bool) -> Estimate:
    if located.reason is not None:
        return Estimate(value=None, reason=located.reason)
    values = np.array(
        [
            set_similarity(models[place].vectors, rows, scaled=scaled)
            for place, rows in zip(located.places, located.rows, strict=True)
        ]
    )
    left = None
    if len(values) == 1:
        left = similarity_left_out(models[located.places[0]].vectors, located.rows[0], scaled=scaled)
    return mean_over_models(values, level, left, (-1.0, 1.0))
