"""`bias_subspace`: the vocabulary ranked along the subspace of two sets, in one model or in the mean of replicates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from biasgauge.analyses.seeds.figures import subspace_charts
from biasgauge.analyses.seeds.subspaces import Method, mean_direction, pair_components, seed_vectors
from biasgauge.analyses.seeds.word_pairs import PairRows, locate, seed_pairs
from biasgauge.core import (
    BLOCK,
    DEFAULT_POLICY,
    Floats,
    JsonObject,
    ModelsLike,
    Places,
    WordPolicy,
    WordsLike,
    check_choice,
    check_number,
    unit_singles,
)
from biasgauge.errors import ParameterError
from biasgauge.lexicons import shared_words
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.vectors import Coverage, Embedding, load_models

if TYPE_CHECKING:
    import pandas as pd

Order = Literal["as-is", "shuffled", "random"]


@dataclass(frozen=True, eq=False, repr=False)
class BiasSubspace(Result):
    """A direction in a model, or in the mean of replicates.

    Attributes:
        a, b: the two sets; the direction points to A.
        vector: the direction, of length 1.
        explained: share of the variance of the pairs along each component; empty for the mean difference.
        words: the vocabulary that is ranked.
        cosines: cosine of each word with the direction; NaN for a zero vector.
        coverage: which seeds were found.
        settings: method, component, order, unit, aligned, how many models.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"words": tuple[JsonObject, ...], "explained_variance": tuple[float, ...]}

    a: str
    b: str
    vector: Floats
    explained: tuple[float, ...]
    words: tuple[str, ...]
    cosines: Floats
    coverage: Coverage
    settings: JsonObject

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warning about words in both sets, which do not affect the direction."""
        sentence = shared_words(self.coverage.sets["a"].words, self.coverage.sets["b"].words).sentence
        return (sentence,) if sentence else ()

    def ends(self, count: int = 10) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The `count` words nearest to A's end, best first, and to B's end, best first."""
        order = np.lexsort((np.arange(len(self.words)), -self.cosines))
        order = order[: len(order) - np.count_nonzero(np.isnan(self.cosines))]  # NaN comes last
        top, bottom = order[:count], order[::-1][:count]
        return tuple(self.words[row] for row in top), tuple(self.words[row] for row in bottom)

    def cosine_of(self, words: Iterable[str]) -> dict[str, float | None]:
        """Cosine of some words with the direction, by word; None for one that is not there or has a zero vector."""
        rows = {word: row for row, word in enumerate(self.words) if not np.isnan(self.cosines[row])}
        return {word: float(self.cosines[rows[word]]) if word in rows else None for word in words}

    def to_frame(self, count: int = 10) -> pd.DataFrame:
        """The words at both ends: end, word, cosine, from the top to the bottom."""
        import pandas as pd

        top, bottom = self.ends(count)
        values = self.cosine_of((*top, *bottom))
        table = [("a", word, values[word]) for word in top] + [("b", word, values[word]) for word in reversed(bottom)]
        return pd.DataFrame(table, columns=["end", "word", "cosine"])

    def to_dict(self, count: int = 10) -> JsonObject:
        """One JSON-ready object."""
        return {
            "a": self.a,
            "b": self.b,
            "explained_variance": list(self.explained),
            "words": self.to_frame(count).to_dict(orient="records"),
            "coverage": self.coverage.to_dict(),
            "settings": self.settings,
            "warnings": list(self.warnings),
        }

    def summary(self) -> Summary:
        """The words at both ends."""
        top, bottom = self.ends()
        ends = (self.a, top), (self.b, bottom)
        rows = [(name, *row) for name, words in ends for row in self.cosine_of(words).items()]
        return Summary(
            title=f"Subspace of {self.a} and {self.b}",
            headline=f"{self.a}: {', '.join(top)}; {self.b}: {', '.join(bottom)}",
            tables=(Table.of("ends", "Words at both ends", ["end", "word", Column("cosine", "number", 3)], rows),),
            charts=subspace_charts(self),
            warnings=self.warnings,
        )


def bias_subspace(
    vectors: ModelsLike,
    a: WordsLike,
    b: WordsLike,
    *,
    method: Method = "pca",
    component: int = 1,
    order: Order = "as-is",
    unit: bool = False,
    aligned: bool = True,
    policy: WordPolicy = DEFAULT_POLICY,
    random_state: int = 0,
) -> BiasSubspace:
    """Find the subspace of two sets, in one model or in the mean of replicates, and rank the vocabulary along it.

    Replicates are turned to each other before their vectors are averaged, over the words that all of them have
    (`mean_embedding`), and the subspace is that of the mean vectors. With `aligned=False` vectors are averaged as they
    are, and so are the directions of the replicates, each with the sign that its decomposition happens to give: the
    published way, which means little unless all models share their axes.

    Args:
        vectors: an `Embedding`, anything `load` takes, or a list of them: replicates.
        a: one set, as in `seeds`.
        b: the other.
        method: "pca" of the pairs by position, or "mean-difference".
        component: which principal component, from 1.
        order: pairs "as-is", "shuffled", or as many "random" pairs of words of the vocabulary instead.
        unit: scale seed vectors to length 1 first.
        aligned: see above.
        policy: how words are looked up; one word of each set is enough.
        random_state: seed of the order.

    Raises:
        ParameterError: an argument cannot be used, a seed set has no word in the models, or there is no direction.
    """
    check_choice(get_args(Method), method=method)
    check_choice(get_args(Order), order=order)
    models = load_models(vectors)
    model = models[0]
    if len(models) > 1:
        from biasgauge.vectors import mean_embedding  # alignment is for several models

        model = mean_embedding(models, aligned=aligned)
    (located,) = locate(seed_pairs(a, b, None), [model], replace(policy, min_coverage=0))
    if located.reason is not None:
        raise ParameterError(f"There is no subspace: {located.reason}.")
    rows, stream = located.rows[0], np.random.default_rng([random_state, 3])
    if order == "shuffled":
        rows = rows._replace(second=stream.permutation(rows.second))
    elif order == "random":
        first, second = np.split(stream.choice(len(model), 2 * len(rows.first), replace=False), 2)
        rows = PairRows(first, second, first, second)
    if len(models) > 1 and not aligned:
        names = [tuple(model.words[row] for row in members.tolist()) for members in rows]
        vector, explained = _averaged(models, names, method, component, scaled=unit)
    else:
        vector, explained = _direction(model, rows, method, component, scaled=unit)
    blocks = (model.vectors[start : start + BLOCK] for start in range(0, len(model), BLOCK))
    cosines = np.concatenate([unit_singles(block).astype(np.float64) @ vector for block in blocks])
    settings = {
        "method": method, "component": component, "order": order, "unit": unit, "aligned": aligned,
        "models": len(models), "random_state": random_state,
    }  # fmt: skip
    a_name, b_name = located.pair[:2]
    return BiasSubspace(a_name, b_name, vector, explained, model.words, cosines, located.coverage, settings)


def _direction(
    model: Embedding, rows: Sequence[Places], method: Method, component: int, *, scaled: bool
) -> tuple[Floats, tuple[float, ...]]:
    a, b, first, second = (seed_vectors(model.vectors, members, scaled=scaled) for members in rows)
    if method == "mean-difference":
        if (vector := mean_direction(a, b)) is None:
            raise ParameterError("There is no subspace: the two sets have one mean.")
        return vector, ()
    if (components := pair_components(first, second)) is None:
        raise ParameterError("There is no subspace: no pair by position has two different words.")
    check_number(1, len(components.axes), component=component)
    return components.axes[component - 1], tuple(components.shares.tolist())


def _averaged(
    models: Sequence[Embedding], words: Sequence[Sequence[str]], method: Method, component: int, *, scaled: bool
) -> tuple[Floats, tuple[float, ...]]:
    """The published way: directions of the models averaged as they come."""
    vectors, shares = [], []
    for model in models:
        rows = [np.array([model.index[word] for word in listed], np.intp) for listed in words]
        vector, explained = _direction(model, rows, method, component, scaled=scaled)
        # The decomposition's own sign: that of the largest entry, which no meaning decides.
        vectors.append(vector * np.sign(vector[np.argmax(np.abs(vector))]) if method == "pca" else vector)
        shares.append(explained)
    mean = np.mean(vectors, axis=0)
    length = float(np.linalg.norm(mean))
    if not length:
        raise ParameterError("There is no subspace: the models' directions cancel out.")
    return mean / length, tuple(np.mean(shares, axis=0).tolist())
