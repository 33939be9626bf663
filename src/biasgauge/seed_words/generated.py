"""Generated seed sets: a random noun and its nearest nouns, as a reference for sets that people chose.

Sources: Antoniak & Mimno, "Bad Seeds" (2021), and "Badder Seeds" (2022). There a noun was any word ever tagged as one,
which let verbs and names in; here it is a word whose most frequent part of speech in the Brown corpus is "noun", and
that WordNet knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasgauge.agreement.features.table import word_properties
from biasgauge.embeddings import Embedding, load_models
from biasgauge.errors import ParameterError
from biasgauge.geometry import unit_singles
from biasgauge.inputs import ModelsLike
from biasgauge.scores.neighbors import exact_similarities, nearest
from biasgauge.seed_words.balance import set_similarity
from biasgauge.seed_words.every_model import in_every_model
from biasgauge.seed_words.located import locate
from biasgauge.seed_words.relations import Relation, relations
from biasgauge.seed_words.subspaces import Method, pair_components, seed_vectors
from biasgauge.seed_words.word_pairs import SeedPair

if TYPE_CHECKING:
    import pandas as pd

_STREAM = 7
_TRIES = 20


class GeneratedSet(NamedTuple):
    """A noun and its nearest nouns, nearest first.

    Attributes:
        words: the noun, then its neighbors.
        model: the model they were found in.
    """

    words: tuple[str, ...]
    model: str


def generated_sets(
    vectors: ModelsLike, *, sets: int = 50, size: int = 5, random_state: int = 0
) -> tuple[GeneratedSet, ...]:
    """Draw sets of nouns that belong together: each from a model drawn at random, no two the same.

    Args:
        vectors: an `Embedding`, anything `load` takes, or a list of them.
        sets: how many sets.
        size: words in each, the noun itself included.
        random_state: seed; the same seed gives the same sets.

    Raises:
        ParameterError: a number is too small, or the models have too few nouns.
    """
    models = load_models(vectors)
    if sets < 1 or size < 2:
        raise ParameterError(f"Generated sets must be at least 1, each of at least 2 words. Got {sets} of {size}.")
    pools = [_nouns(model) for model in models]
    fewest = min(map(len, pools))
    if fewest <= max(size, sets):
        raise ParameterError(f"A model has {fewest:,} common nouns, too few to generate {sets} sets of {size}.")
    stream = np.random.default_rng([random_state, _STREAM])
    found: dict[frozenset[str], GeneratedSet] = {}
    for _ in range(_TRIES * sets):
        if len(found) == sets:
            break
        place = int(stream.integers(len(models)))
        pool = pools[place]
        drawn = int(stream.integers(len(pool)))
        words = tuple(models[place].words[row] for row in _neighborhood(models[place], pool, drawn, size))
        found.setdefault(frozenset(words), GeneratedSet(words, models[place].name))
    return tuple(found.values())


def _nouns(model: Embedding) -> NDArray[np.intp]:
    """Rows of common nouns, as far as tables tell."""
    table = word_properties()
    rows = [
        row
        for row, word in enumerate(model.words)
        if (known := table.get(word)) is not None and known.tag == "NOUN" and known.senses and word.isalpha()
    ]
    chosen = np.array(rows, np.intp)
    return chosen[np.asarray(model.vectors[chosen].any(axis=1))] if len(chosen) else chosen


def _neighborhood(model: Embedding, pool: NDArray[np.intp], drawn: int, size: int) -> list[int]:
    unit = unit_singles(model.vectors, pool)
    query = unit[drawn : drawn + 1]
    near = nearest(query, unit, size - 1, np.array([drawn]))
    order = np.lexsort((near[0], -exact_similarities(query, unit, near)[0]))
    return [int(pool[drawn]), *pool[near[0][order]].tolist()]


@dataclass(frozen=True, eq=False)
class Cloud:
    """Every two generated sets that share no word, measured as pairs of sets that people chose are.

    Attributes:
        sets: the generated sets.
        pairs: places in `sets` of the two of each pair.
        similarity: cosine of the two mean vectors, mean over models.
        coherence: as a share of the vocabulary, mean over models; NaN where no model has all words.
        coherence_published: each divided by the largest in its model, mean over models.
        first_share: share of the variance along the first component of the pairs by position, mean over models.
    """

    sets: tuple[GeneratedSet, ...]
    pairs: tuple[tuple[int, int], ...]
    similarity: NDArray[np.float64]
    coherence: NDArray[np.float64]
    coherence_published: NDArray[np.float64]
    first_share: NDArray[np.float64]

    @property
    def relations(self) -> tuple[Relation, ...]:
        """How similarity goes with coherence and explained variance."""
        return relations(self.to_frame(), "generated")

    def to_frame(self) -> pd.DataFrame:
        """One row for each pair of generated sets."""
        import pandas as pd

        shown = [" ".join(one.words) for one in self.sets]
        table = {"a": [shown[one] for one, _ in self.pairs], "b": [shown[other] for _, other in self.pairs]}
        numbers = ("similarity", "coherence", "coherence_published", "first_share")
        return pd.DataFrame({**table, **{name: getattr(self, name) for name in numbers}})

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(max_rows=20, index=False))

    def share_below(self, coherence: float) -> float:
        """Share of the pairs of generated sets with a lower coherence."""
        known = self.coherence[np.isfinite(self.coherence)]
        return float((known < coherence).mean()) if len(known) else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Sets and quantiles, without the pairs."""
        return {
            "sets": [list(one.words) for one in self.sets],
            "pairs": len(self.pairs),
            **{name: _quantiles(getattr(self, name)) for name in ("similarity", "coherence", "first_share")},
        }


def _quantiles(values: NDArray[np.float64]) -> dict[str, float] | None:
    known = values[np.isfinite(values)]
    if not len(known):
        return None
    shares = (0.05, 0.25, 0.5, 0.75, 0.95)
    return dict(zip(("p05", "q1", "median", "q3", "p95"), np.quantile(known, shares).tolist(), strict=True))


def generated_cloud(
    vectors: ModelsLike,
    *,
    sets: int = 50,
    size: int = 5,
    method: Method = "mean-difference",
    unit: bool = False,
    random_state: int = 0,
) -> Cloud:
    """Generate sets of nouns, and measure every two that share no word.

    Args:
        vectors: as in `generated_sets`.
        sets: as in `generated_sets`; pairs grow with their square.
        size: as in `generated_sets`.
        method: the subspace, "mean-difference" or "pca".
        unit: scale vectors to length 1 first.
        random_state: seed of the draws.
    """
    models = load_models(vectors)
    drawn = generated_sets(models, sets=sets, size=size, random_state=random_state)
    pairs = tuple(
        (one, other)
        for one, other in combinations(range(len(drawn)), 2)
        if not set(drawn[one].words) & set(drawn[other].words)
    )
    return _cloud(drawn, pairs, models, method, scaled=unit)


def _cloud(
    drawn: tuple[GeneratedSet, ...],
    pairs: tuple[tuple[int, int], ...],
    models: Sequence[Embedding],
    method: Method,
    *,
    scaled: bool,
) -> Cloud:
    asked = [SeedPair(f"set {one}", f"set {other}", drawn[one].words, drawn[other].words) for one, other in pairs]
    located = locate(asked, models, min_coverage=1.0, case_fallback=False)
    numbers = in_every_model(located, models, method, scaled=scaled)
    similarity = [
        [
            set_similarity(models[place].vectors, rows, scaled=scaled)
            for place, rows in zip(one.places, one.rows, strict=True)
        ]
        for one in located
    ]
    first = [
        [
            _first_share(models[place], rows.first, rows.second, scaled=scaled)
            for place, rows in zip(one.places, one.rows, strict=True)
        ]
        for one in located
    ]
    return Cloud(
        drawn,
        pairs,
        similarity=np.array([_mean(np.array(one)) for one in similarity]),
        coherence=np.array([_mean(one.coherence) for one in numbers]),
        coherence_published=np.array([_mean(one.published) for one in numbers]),
        first_share=np.array([_mean(np.array(one)) for one in first]),
    )


def _first_share(model: Embedding, first: NDArray[np.intp], second: NDArray[np.intp], *, scaled: bool) -> float:
    found = pair_components(*(seed_vectors(model.vectors, one, scaled=scaled) for one in (first, second)))
    return float("nan") if found is None else float(found.shares[0])


def _mean(values: NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")
