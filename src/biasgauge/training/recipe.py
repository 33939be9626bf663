"""`Recipe`: everything that decides a model's bytes, and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from biasgauge.checks import check_choice, check_whole
from biasgauge.errors import ParameterError
from biasgauge.results import Record
from biasgauge.training.algorithms import ALGORITHMS, Settings, algorithm

PRECISIONS = ("float32", "float16")


@dataclass(frozen=True)
class Recipe(Record):
    """How one model is made. Two models of equal recipes have equal bytes, unless `threads` is more than one.

    Attributes:
        algorithm: "sgns", "cbow", "fasttext" or "glove".
        settings: those of the algorithm.
        corpus: checksum of the tokenized corpus.
        seed: decides the initial vectors and everything random in training.
        sample: number of the bootstrap sample of documents; None is the corpus itself.
        sample_seed: seed of the bootstrap samples.
        min_count, unknown, remove: the vocabulary, as `corpora.vocabulary` has them.
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
            raise ParameterError(
                f"The algorithm {self.algorithm!r} takes {chosen.settings.__name__}. "
                f"Got {type(self.settings).__name__}."
            )
        check_choice(PRECISIONS, precision=self.precision)
        check_whole(0, seed=self.seed, sample_seed=self.sample_seed, min_count=self.min_count)
        check_whole(1, threads=self.threads)

    @property
    def deterministic(self) -> bool:
        """Whether this recipe gives the same bytes each time."""
        return self.threads == 1

    def derived(self) -> Mapping[str, Any]:
        """The version of the algorithm."""
        return {"version": ALGORITHMS[self.algorithm].version}

    @property
    def digest(self) -> str:
        """SHA-256 of the recipe: the address of the model."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    @property
    def text_digest(self) -> str:
        """Address of what replicates that differ only by their seed share."""
        own = ("seed", "precision", "threads", "subwords")
        shared = {name: value for name, value in self.to_dict().items() if name not in own}
        return hashlib.sha256(json.dumps(shared, sort_keys=True).encode()).hexdigest()

    @property
    def name(self) -> str:
        """Name of the model's file, without its ending: what a person looks for, then the address."""
        sample = "" if self.sample is None else f"-sample{self.sample}"
        return f"{self.algorithm}-{self.settings.dim}d{sample}-seed{self.seed}-{self.digest[:10]}"
