"""The algorithms by name: their settings, and where their trainer is. Nothing is compiled until one is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from biasgauge.errors import ParameterError
from biasgauge.training.settings import FastTextSettings, GloveSettings, NegativeSampling, Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from biasgauge.embeddings.subwords import Subwords
    from biasgauge.training.text import TrainingText


@dataclass(frozen=True, eq=False)
class Fit:
    """Trained vectors, and what the trainer reports of itself.

    Attributes:
        vectors: one row a word of the vocabulary, 32-bit.
        tokens: tokens of the vocabulary that the trainer read, over all epochs.
        losses: mean loss of each epoch: per predicted pair for negative sampling, per cell for GloVe.
        subwords: fastText's vectors of character n-grams.
        untrained: places of words that nothing was learned about, so that they keep their random vectors: in GloVe
            those that stand alone in every line.
    """

    vectors: NDArray[np.float32]
    tokens: int
    losses: tuple[float, ...]
    subwords: Subwords | None = None
    untrained: tuple[int, ...] = ()


class Trainer(Protocol):
    """A module that trains: `prepare` does once what replicates share, `train` makes one model."""

    def prepare(self, text: TrainingText, settings: Any, folder: Path) -> Any:  # noqa: ANN401 - only `train` looks inside
        """What all replicates of one text share; large things go to `folder`, which may hold them already."""

    def train(
        self,
        text: TrainingText,
        settings: Any,  # noqa: ANN401 - each trainer has its own settings
        *,
        seed: int,
        shared: Any,  # noqa: ANN401 - what `prepare` gave
        threads: int,
        progress: Callable[[int, int], None] | None,
    ) -> Fit:
        """Train one model."""


@dataclass(frozen=True)
class Algorithm:
    """One way to train.

    Attributes:
        name: what recipes and commands call it.
        settings: the class of its settings, whose defaults are the algorithm's.
        module: where `prepare` and `train` are.
        version: raised when the same recipe would give other vectors, so that old models are not taken for new ones.
        effort: cost of a token relative to skip-gram, for estimates of what is left.
        rows: rows of 32-bit numbers held for each word, for the limit on memory.
    """

    name: str
    settings: type[Settings]
    module: str
    version: int
    effort: float
    rows: float

    @property
    def trainer(self) -> Trainer:
        """The module that trains."""
        module: Any = import_module(f"biasgauge.training.{self.module}")
        return module  # type: ignore[no-any-return]

    def settings_from(self, given: Mapping[str, Any]) -> Settings:
        """Make settings of those that are given and not None; the rest keep their defaults.

        Raises:
            ParameterError: a setting is not one of this algorithm, or impossible.
        """
        known = [field.name for field in fields(self.settings)]
        chosen = {name: value for name, value in given.items() if value is not None}
        if strange := sorted(chosen.keys() - set(known)):
            raise ParameterError(
                f"The algorithm {self.name!r} has no setting {strange[0]!r}. It has: {', '.join(known)}."
            )
        return self.settings(**chosen)


ALGORITHMS = {
    one.name: one
    for one in (
        Algorithm("sgns", NegativeSampling, "sgns", version=1, effort=1.0, rows=2),
        Algorithm("cbow", NegativeSampling, "cbow", version=1, effort=0.6, rows=2),
        Algorithm("fasttext", FastTextSettings, "fasttext", version=1, effort=3.0, rows=14),
        Algorithm("glove", GloveSettings, "glove.model", version=1, effort=5.0, rows=4),
    )
}


def algorithm(name: str) -> Algorithm:
    """Find an algorithm.

    Raises:
        ParameterError: there is none of this name.
    """
    if name not in ALGORITHMS:
        raise ParameterError(f"The algorithm must be one of {', '.join(ALGORITHMS)}. Got {name!r}.")
    return ALGORITHMS[name]
