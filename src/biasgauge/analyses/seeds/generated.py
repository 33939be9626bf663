"""Generated seed sets: a random noun and its nearest nouns, as a reference for sets that people chose.

Sources: Antoniak & Mimno, "Bad Seeds" (2021), and "Badder Seeds" (2022). There a noun was any word ever tagged as one,
which let verbs and names in; here it is a word whose most frequent part of speech in the Brown corpus is "noun", and
that WordNet knows, unless the nouns are given, for instance those of your own text after tagging it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from biasgauge.analyses.seeds.coherence import in_every_model
from biasgauge.analyses.seeds.pairing import set_similarities
from biasgauge.analyses.seeds.subspaces import Method, pair_components, seed_vectors
from biasgauge.analyses.seeds.word_pairs import Located, SeedPair, locate
from biasgauge.core import (
    Estimate,
    Floats,
    JsonObject,
    ModelsLike,
    Places,
    WordPolicy,
    WordsLike,
    check_whole,
    unit_singles,
)
from biasgauge.errors import ParameterError
from biasgauge.lexicons import words_of
from biasgauge.results import Column, Result, Summary, Table, counted, number_text
from biasgauge.scores import exact_similarities, nearest
from biasgauge.stats import LEAST, correlation, fisher_interval
from biasgauge.vectors import Embedding, load_models

if TYPE_CHECKING:
    import pandas as pd

BETWEEN = tuple(
    (x, y)
    for y in ("coherence", "coherence_held_out", "first_share")
    for x in ("similarity", "overlap", "size_balance", "frequency_imbalance", "pos_balance")
)
"""Properties of pairs of seed sets that are correlated over pairs."""
_STREAM = 7
_TRIES = 20
_SHARES = {"p05": 0.05, "q1": 0.25, "median": 0.5, "q3": 0.75, "p95": 0.95}


class GeneratedSet(NamedTuple):
    """A noun and its nearest nouns, nearest first, and the model that they were found in."""

    words: tuple[str, ...]
    model: str


def generated_sets(
    vectors: ModelsLike, *, sets: int = 50, size: int = 5, nouns: WordsLike | None = None, random_state: int = 0
) -> tuple[GeneratedSet, ...]:
    """Draw sets of nouns that belong together: each from a model drawn at random, no two the same.

    Args:
        vectors: an `Embedding`, anything `load` takes, or a list of them.
        sets: how many sets.
        size: words in each, the noun itself included.
        nouns: words that count as nouns, such as those that a tagger found in your text; by default those that are
            nouns most often in the Brown corpus and that WordNet knows.
        random_state: seed; the same seed gives the same sets.

    Raises:
        ParameterError: a number is too small, or the models have too few nouns.
    """
    check_whole(1, sets=sets)
    check_whole(2, size=size)
    models = load_models(vectors)
    noun_words = None if nouns is None else frozenset(words_of(nouns).words)
    pools = [_nouns(model, noun_words) for model in models]
    fewest = min(map(len, pools))
    if fewest <= max(size, sets):
        raise ParameterError(f"A model has {fewest:,} common nouns, too few to generate {sets} sets of {size}.")
    stream = np.random.default_rng([random_state, _STREAM])
    drawn: dict[frozenset[str], GeneratedSet] = {}
    for _ in range(_TRIES * sets):
        if len(drawn) == sets:
            break
        index = int(stream.integers(len(models)))
        model, pool = models[index], pools[index]
        words = tuple(model.words[row] for row in _neighborhood(model, pool, int(stream.integers(len(pool))), size))
        drawn.setdefault(frozenset(words), GeneratedSet(words, model.name))
    return tuple(drawn.values())


def _nouns(model: Embedding, nouns: frozenset[str] | None) -> Places:
    """Rows of nouns: those that are given, or common nouns as far as tables tell."""
    if nouns is None:
        from biasgauge.analyses.reliability import word_properties  # few need generated sets

        nouns = frozenset(word for word, facts in word_properties().items() if facts.tag == "NOUN" and facts.senses)
    rows = np.array([row for row, word in enumerate(model.words) if word in nouns and word.isalpha()], np.intp)
    return rows[model.directed(rows)]


def _neighborhood(model: Embedding, pool: Places, drawn: int, size: int) -> list[int]:
    unit = unit_singles(model.vectors, pool)
    query = unit[drawn : drawn + 1]
    near = nearest(query, unit, size - 1, np.array([drawn]))
    order = np.lexsort((near[0], -exact_similarities(query, unit, near)[0]))
    return [int(pool[drawn]), *pool[near[0][order]].tolist()]


@dataclass(frozen=True, kw_only=True)
class Relation(Estimate):
    """Spearman's rank correlation of two columns over pairs of sets, in which both are defined.

    Its value is −1 to 1; negative: the larger x, the smaller y. Pairs share sets, so that its interval is narrower than
    it should be.

    Attributes:
        of: "gathered" or "generated" sets.
        x, y: the columns; `frequency_imbalance` is the distance of the frequency balance from .5.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "value": "rho"}

    of: str
    x: str
    y: str
    method: str = "Fisher z (Bonett & Wright 2000)"


def relations(frame: pd.DataFrame, origin: str) -> tuple[Relation, ...]:
    """Every relation between the properties that the frame has."""
    if "frequency_balance" in frame:
        frame = frame.assign(frequency_imbalance=(frame["frequency_balance"].astype(float) - 0.5).abs())
    return tuple(
        _relation(origin, x, y, frame) for x, y in BETWEEN if x in frame and y in frame and frame[x].notna().any()
    )


def _relation(origin: str, x: str, y: str, frame: pd.DataFrame) -> Relation:
    both = frame[[x, y]].astype(float).dropna().to_numpy()
    relation = Relation(of=origin, x=x, y=y, value=None, n=len(both))
    if len(both) < LEAST:
        return replace(relation, reason=f"fewer than {LEAST} pairs of sets")
    if np.ptp(both, axis=0).min() == 0:
        return replace(relation, reason="one of the two does not vary")
    rho = float(correlation("spearman", both[:, 0], both[:, 1])[0])
    interval = fisher_interval(rho, len(both), kind="spearman", over="pairs of sets")
    return replace(relation, value=rho, low=interval.low, high=interval.high, reason=interval.reason)


@dataclass(frozen=True, eq=False, repr=False)
class Cloud(Result):
    """Every two generated sets that share no word, measured as pairs of sets that people chose are.

    Attributes:
        sets: the generated sets.
        pairs: places in `sets` of the two of each pair.
        similarity: cosine of the two mean vectors, mean over models.
        coherence: as a share of the vocabulary, mean over models; NaN where no model has all words.
        coherence_published: each divided by the largest in its model, mean over models.
        first_share: share of the variance along the first component of the pairs by position, mean over models.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {
        "sets": tuple[tuple[str, ...], ...],
        "pairs": int,
        "similarity": Mapping[str, float],
        "coherence": Mapping[str, float],
        "first_share": Mapping[str, float],
    }

    sets: tuple[GeneratedSet, ...]
    pairs: tuple[tuple[int, int], ...]
    similarity: Floats
    coherence: Floats
    coherence_published: Floats
    first_share: Floats

    @property
    def relations(self) -> tuple[Relation, ...]:
        """Correlations of similarity with coherence and explained variance."""
        return relations(self.to_frame(), "generated")

    def to_frame(self) -> pd.DataFrame:
        """One row for each pair of generated sets."""
        import pandas as pd

        names = [" ".join(drawn.words) for drawn in self.sets]
        table = {end: [names[pair[index]] for pair in self.pairs] for index, end in enumerate("ab")}
        numbers = ("similarity", "coherence", "coherence_published", "first_share")
        return pd.DataFrame({**table, **{name: getattr(self, name) for name in numbers}})

    def share_below(self, coherence: float) -> float:
        """Share of the pairs of generated sets with a lower coherence."""
        defined = self.coherence[np.isfinite(self.coherence)]
        return float((defined < coherence).mean()) if len(defined) else float("nan")

    def to_dict(self) -> JsonObject:
        """Sets and quantiles, without the pairs."""
        return {
            "sets": [list(drawn.words) for drawn in self.sets],
            "pairs": len(self.pairs),
            **{name: _quantiles(getattr(self, name)) for name in ("similarity", "coherence", "first_share")},
        }

    def summary(self) -> Summary:
        """Coherence of two generated sets, and the quantiles of each number."""
        quantiles = {name: values for name, values in self.to_dict().items() if isinstance(values, dict)}
        headline = f"{counted(self.sets, 'generated set')}, {counted(self.pairs, 'pair')}"
        if coherence := quantiles.get("coherence"):
            low, high, median = (number_text(coherence[name]) for name in ("p05", "p95", "median"))
            ends = f"{low} to {high} (5 to 95 %), median {median}"
            headline = f"{headline}: coherence {ends}."
        columns = ["", *(Column(name, "number") for name in _SHARES)]
        rows = [(name, *values.values()) for name, values in quantiles.items()]
        return Summary("Generated sets", headline, tables=(Table.of("generated", "", columns, rows),))


def _quantiles(values: Floats) -> dict[str, float] | None:
    defined = values[np.isfinite(values)]
    if not len(defined):
        return None
    return dict(zip(_SHARES, np.quantile(defined, list(_SHARES.values())).tolist(), strict=True))


def generated_cloud(
    vectors: ModelsLike,
    *,
    sets: int = 50,
    size: int = 5,
    nouns: WordsLike | None = None,
    method: Method = "mean-difference",
    unit: bool = False,
    random_state: int = 0,
) -> Cloud:
    """Generate sets of nouns, and measure every two that share no word.

    Args:
        vectors: as in `generated_sets`.
        sets: as in `generated_sets`; pairs grow with their square.
        size: as in `generated_sets`.
        nouns: as in `generated_sets`.
        method: the subspace, "mean-difference" or "pca".
        unit: scale vectors to length 1 first.
        random_state: seed of the draws.
    """
    models = load_models(vectors)
    drawn = generated_sets(models, sets=sets, size=size, nouns=nouns, random_state=random_state)
    pairs = tuple(
        (first, second)
        for first, second in combinations(range(len(drawn)), 2)
        if not set(drawn[first].words) & set(drawn[second].words)
    )
    set_pairs = [
        SeedPair(f"set {first}", f"set {second}", drawn[first].words, drawn[second].words) for first, second in pairs
    ]
    located = locate(set_pairs, models, WordPolicy(min_coverage=1, case="exact"))
    numbers = in_every_model(located, models, method, scaled=unit)
    return Cloud(
        drawn,
        pairs,
        similarity=_means(set_similarities(pair, models, scaled=unit) for pair in located),
        coherence=_means(np.array(pair.coherence) for pair in numbers),
        coherence_published=_means(np.array(pair.published) for pair in numbers),
        first_share=_means(_first_shares(pair, models, scaled=unit) for pair in located),
    )


def _first_shares(located: Located, models: Sequence[Embedding], *, scaled: bool) -> Floats:
    shares = []
    for index, rows in located.rows.items():
        ends = (seed_vectors(models[index].vectors, end, scaled=scaled) for end in (rows.first, rows.second))
        components = pair_components(*ends)
        shares.append(np.nan if components is None else components.shares[0])
    return np.array(shares)


def _means(by_model: Iterable[Floats]) -> Floats:
    """The mean of the defined numbers of each pair; NaN where there are none."""
    defined = (values[np.isfinite(values)] for values in by_model)
    return np.array([float(values.mean()) if len(values) else np.nan for values in defined])
