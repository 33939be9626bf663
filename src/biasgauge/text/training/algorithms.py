"""Algorithms by name: their settings, checked when they are made, the module of their trainer, and recipes of models.

Nothing is compiled until an algorithm is used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from biasgauge.core import JsonMapping, Record, check_choice, check_number, check_whole
from biasgauge.errors import InputError, ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from biasgauge.vectors import Subwords


@dataclass(frozen=True)
class NegativeSampling:
    """Settings of skip-gram and CBOW; the defaults are those of word2vec and gensim.

    Attributes:
        dim: numbers in a vector.
        window: context words on each side, at most.
        epochs: readings of the text.
        negative: words drawn against each true one.
        alpha, min_alpha: learning rate at the start and at the end.
        subsample: words more frequent than this share of the text are skipped at random; 0 skips none.
        exponent: negatives are drawn in proportion to count ** exponent.
    """

    dim: int = 100
    window: int = 5
    epochs: int = 5
    negative: int = 5
    alpha: float = 0.025
    min_alpha: float = 0.0001
    subsample: float = 0.001
    exponent: float = 0.75

    def __post_init__(self) -> None:
        check_whole(1, dim=self.dim, window=self.window, epochs=self.epochs, negative=self.negative)
        check_number(0, alpha=self.alpha, min_alpha=self.min_alpha, subsample=self.subsample)
        check_number(exponent=self.exponent)


@dataclass(frozen=True)
class FastTextSettings(NegativeSampling):
    """Those of skip-gram, and the lengths of the n-grams in characters, `<` and `>` at the ends included."""

    min_n: int = 3
    max_n: int = 6

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(1, min_n=self.min_n)
        check_whole(self.min_n, max_n=self.max_n)


@dataclass(frozen=True)
class GloveSettings:
    """Settings of GloVe; the defaults are those of the official tool's demonstration.

    Attributes:
        dim: numbers in a vector.
        window: context words on each side; a word at distance d counts 1 / d.
        epochs: readings of the co-occurrence counts (the tool calls them iterations).
        x_max, alpha: a count x weighs (x / x_max) ** alpha, at most 1.
        eta: first learning rate of AdaGrad.
    """

    dim: int = 100
    window: int = 15
    epochs: int = 15
    x_max: float = 100.0
    alpha: float = 0.75
    eta: float = 0.05

    def __post_init__(self) -> None:
        check_whole(1, dim=self.dim, window=self.window, epochs=self.epochs)
        check_number(0, ends=False, x_max=self.x_max, alpha=self.alpha, eta=self.eta)


Settings = NegativeSampling | GloveSettings


@dataclass(frozen=True, eq=False)
class TrainedVectors:
    """Trained vectors, and the report of the trainer.

    Attributes:
        vectors: one row per word of the vocabulary, 32-bit.
        losses: mean loss of each epoch: per predicted pair for negative sampling, per cell for GloVe.
        tokens: tokens of the vocabulary that the trainer read, over all epochs.
        subwords: fastText's vectors of character n-grams.
        untrained: rows of words that keep their random vectors because no cell mentions them: in GloVe those that are
            alone in every line.
    """

    vectors: NDArray[np.float32]
    losses: tuple[float, ...]
    tokens: int = 0
    subwords: Subwords | None = None
    untrained: tuple[int, ...] = ()


@dataclass(frozen=True)
class Algorithm:
    """An algorithm of training.

    Attributes:
        name: its name in recipes and commands.
        settings: the class of its settings, whose defaults are the algorithm's.
        module: module, and object in it, with `prepare` (makes the data that replicates of one text share; large ones
            go to a folder, and may be there already) and `train` (one model, from what `prepare` gave).
        version: raised when the same recipe would give other vectors, so that old models are not taken for new ones.
        effort: cost of a token relative to skip-gram, for estimates of the remaining time.
        rows: rows of 32-bit numbers per word, for the limit on memory.
    """

    name: str
    settings: type[Settings]
    module: str
    version: int
    effort: float
    rows: float

    @property
    def trainer(self) -> Any:  # noqa: ANN401 - a module or an object
        """The module or object that trains."""
        return resolve_name(f"biasgauge.text.training.{self.module}")

    def settings_from(self, values: Mapping[str, Any]) -> Settings:
        """Make settings of values that are not None; the others keep their defaults.

        Raises:
            ParameterError: a setting is not one of this algorithm, or impossible.
        """
        names = [field.name for field in fields(self.settings)]
        chosen = {name: value for name, value in values.items() if value is not None}
        if strange := sorted(chosen.keys() - set(names)):
            raise ParameterError(
                f"The algorithm {self.name!r} has no setting {strange[0]!r}. It has: {', '.join(names)}."
            )
        return self.settings(**chosen)


ALGORITHMS = {
    "sgns": Algorithm("sgns", NegativeSampling, "word2vec:SGNS", version=1, effort=1.0, rows=2),
    "cbow": Algorithm("cbow", NegativeSampling, "word2vec:MEAN_OF_ROWS", version=1, effort=0.6, rows=2),
    "fasttext": Algorithm("fasttext", FastTextSettings, "word2vec:MEAN_OF_ROWS", version=1, effort=3.0, rows=14),
    "glove": Algorithm("glove", GloveSettings, "glove", version=1, effort=5.0, rows=4),
}


def algorithm(name: str) -> Algorithm:
    """Find an algorithm.

    Raises:
        ParameterError: there is none of this name.
    """
    check_choice(ALGORITHMS, algorithm=name)
    return ALGORITHMS[name]


@dataclass(frozen=True)
class Recipe(Record):
    """Everything that decides a model's bytes, and nothing else; with more than one thread, chance does too.

    Attributes:
        algorithm: "sgns", "cbow", "fasttext" or "glove".
        settings: those of the algorithm.
        corpus: checksum of the tokenized corpus.
        seed: decides the initial vectors and everything random in training.
        sample: number of the bootstrap sample of documents; None is the corpus itself.
        sample_seed: seed of the bootstrap samples.
        min_count, unknown, remove: the vocabulary, as in `vocabulary`.
        precision: of the numbers in the file.
        subwords: whether the file holds the vectors of fastText's n-grams, from which unseen words are built.
        threads: threads within the model; more than one is faster and not deterministic.
    """

    algorithm: str
    settings: Settings
    corpus: str
    seed: int = 0
    sample: int | None = None
    sample_seed: int = 0
    min_count: int = 5
    unknown: str | None = None
    remove: tuple[str, ...] = ()
    precision: str = "float32"
    subwords: bool = True
    threads: int = 1

    def __post_init__(self) -> None:
        chosen = algorithm(self.algorithm)
        if type(self.settings) is not chosen.settings:
            takes = f"The algorithm {self.algorithm!r} takes {chosen.settings.__name__}"
            raise ParameterError(f"{takes}. Got {type(self.settings).__name__}.")
        check_choice(("float32", "float16"), precision=self.precision)
        check_whole(0, seed=self.seed, sample_seed=self.sample_seed, min_count=self.min_count)
        check_whole(1, threads=self.threads)

    @property
    def deterministic(self) -> bool:
        """True where this recipe gives the same bytes each time."""
        return self.threads == 1

    def derived(self) -> JsonMapping:
        """The version of the algorithm."""
        return {"version": ALGORITHMS[self.algorithm].version}

    @property
    def digest(self) -> str:
        """SHA-256 of the recipe: the address of the model."""
        return self._digest_without()

    @property
    def text_digest(self) -> str:
        """Address of the data shared by replicates that differ only by their seed."""
        return self._digest_without("seed", "precision", "threads", "subwords")

    def _digest_without(self, *names: str) -> str:
        content = {name: value for name, value in self.to_dict().items() if name not in names}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def name(self) -> str:
        """Name of the model's file, without its ending: algorithm, dimensions, sample, seed, then the address."""
        sample = "" if self.sample is None else f"-sample{self.sample}"
        return f"{self.algorithm}-{self.settings.dim}d{sample}-seed{self.seed}-{self.digest[:10]}"


NEEDS_NUMBA = 'Training needs numba. Install it with: pip install "biasgauge[train]"'


def check_extra() -> None:
    """Refuse to begin training that could not be finished, before a text is read or a folder is made.

    Raises:
        InputError: the extra is not installed; says how to get it.
    """
    if find_spec("numba") is None:
        raise InputError(NEEDS_NUMBA)
