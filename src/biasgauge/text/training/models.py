"""`train`: a corpus to replicates, in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.core import JsonObject, check_whole
from biasgauge.errors import ParameterError
from biasgauge.io import make_folder
from biasgauge.results import Column, Result, Summary, Table, counted
from biasgauge.text import TokenCorpus, read_corpus, statistics
from biasgauge.text.training.algorithms import Algorithm, Recipe, Settings, algorithm
from biasgauge.text.training.model_file import TrainedModel
from biasgauge.text.training.sweep import run_sweep
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    import pandas as pd


_SHOWN = ("algorithm", "sample", "seed", "words", "loss", "seconds", "model")


@dataclass(frozen=True, eq=False, repr=False)
class TrainedModels(Result):
    """The models of one call of `train`, in the order of algorithm, sample and seed.

    Attributes:
        models: each with its path, recipe, size and losses.
        corpus: their training text.
    """

    abridged: ClassVar[bool] = True

    models: tuple[TrainedModel, ...]
    corpus: TokenCorpus

    def __len__(self) -> int:
        return len(self.models)

    @property
    def paths(self) -> list[Path]:
        """The vector files, ready for `score` or `audit`."""
        return [model.path for model in self.models]

    def load(self) -> list[Embedding]:
        """Open the vectors of all models."""
        return [model.load() for model in self.models]

    def to_dict(self) -> JsonObject:
        """One JSON-ready object."""
        size = statistics(self.corpus).rows[0]
        corpus = {**self.corpus.to_dict(), "mean_length": size.mean_length}
        return {"models": [model.to_dict() for model in self.models], "corpus": corpus}

    def summary(self) -> Summary:
        """Models, size of the text, and training times."""
        corpus = self.to_dict()["corpus"]
        text = (
            f"{counted(corpus['documents'], 'document')} of {corpus['mean_length']:,.0f} words on average; "
            f"{corpus['tokens']:,} words, {corpus['words']:,} distinct"
        )
        columns: list[Column | str] = [
            "algorithm",
            *(Column(name, "count") for name in ("sample", "seed", "words")),
            Column("loss", "number", 4),
            Column("seconds", "number", 1, about="none where the model was there already"),
            "model",
        ]
        rows = [
            [None if name == "seconds" and model.reused else row[name] for name in _SHOWN]
            for model, row in zip(self.models, self._rows(), strict=True)
        ]
        warnings = [model.remark for model in self.models if model.remark]
        if not all(model.recipe.deterministic for model in self.models):
            warnings.append("several threads within a model: no other run gives the same bytes")
        table = Table.of("models", "", columns, rows)
        return Summary("Trained models", f"{text}; {counted(self, 'model')}", tables=(table,), warnings=tuple(warnings))

    def to_frame(self) -> pd.DataFrame:
        """One row per model."""
        import pandas as pd

        return pd.DataFrame(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {
                "model": model.path.stem,
                "algorithm": model.recipe.algorithm,
                "seed": model.recipe.seed,
                "sample": model.recipe.sample,
                "words": model.words,
                "dim": model.recipe.settings.dim,
                "loss": model.losses[-1],
                "seconds": model.seconds,
                "path": str(model.path),
            }
            for model in self.models
        ]


def train(  # noqa: PLR0913 - each is a choice that a study has to report
    corpus: TokenCorpus | str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    out: str | os.PathLike[str],
    algorithm: str | Sequence[str] = "sgns",
    seeds: int | Sequence[int] = 1,
    bootstrap: int = 0,
    random_state: int = 0,
    min_count: int = 5,
    unknown: str | None = None,
    remove: Sequence[str] = (),
    precision: str = "float32",
    subwords: bool = True,
    n_jobs_per_model: int = 1,
    n_jobs: int | None = None,
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
    say: Callable[[str], None] | None = None,
    **settings: Any,  # noqa: ANN401 - those of the algorithm, checked one by one
) -> TrainedModels:
    """Train replicates: models that differ only by seed, by bootstrap sample, or by both.

    Args:
        corpus: a tokenized corpus, or what `read_corpus` reads; the latter is tokenized with its defaults and kept in
            `out`.
        out: folder for the models; those that are there already are not trained again.
        algorithm: "sgns", "cbow", "fasttext", "glove", or several.
        seeds: how many seeds, from `random_state` on; or the seeds themselves.
        bootstrap: how many samples of documents, drawn with replacement; each is trained with each seed. 0 trains on
            the corpus itself.
        random_state: first seed, and the seed of the samples.
        min_count: words that occur less often are left out, or become `unknown`.
        unknown: the word that stands for rare ones.
        remove: words to leave out.
        precision: "float32" or "float16".
        subwords: keep fastText's n-grams in the file, so that unseen words can be built.
        n_jobs_per_model: threads within a model; more than one is faster and not deterministic.
        n_jobs: models at a time; all cores by default. It changes nothing in the models.
        device: "cpu", or "cuda" for a GPU through CuPy, where all models are trained side by side; the files are the
            same, byte for byte.
        progress: called with (done, total).
        say: called with the plan for a GPU in one sentence, before anything is trained there.
        settings: of the algorithm: dim, window, epochs, …; one that none of the algorithms has is an error.

    Raises:
        ParameterError: an argument has an impossible value.
        InputError: the corpus cannot be read, or the vocabulary is empty.
    """
    chosen = select_algorithms(algorithm, settings)
    if isinstance(seeds, int):
        check_whole(1, seeds=seeds)
    numbers = list(range(random_state, random_state + seeds) if isinstance(seeds, int) else seeds)
    check_whole(1, n_jobs_per_model=n_jobs_per_model)
    check_whole(0, bootstrap=bootstrap)
    folder = make_folder(out)
    if not isinstance(corpus, TokenCorpus):
        corpus = read_corpus(corpus, out=folder / "corpus")
    common: dict[str, Any] = {
        "corpus": corpus.checksum, "min_count": min_count, "unknown": unknown, "remove": tuple(remove),
        "precision": precision, "subwords": subwords, "threads": n_jobs_per_model,
    }  # fmt: skip
    samples: list[dict[str, Any]] = [
        {"sample": sample, "sample_seed": random_state} for sample in range(bootstrap)
    ] or [{}]
    recipes = [
        Recipe(algorithm=entry.name, settings=select_settings(entry, settings), seed=seed, **sample, **common)
        for entry in chosen
        for sample in samples
        for seed in numbers
    ]
    models = run_sweep(corpus, recipes, folder, n_jobs=n_jobs, device=device, progress=progress, say=say)
    return TrainedModels(tuple(models), corpus)


def select_algorithms(names: str | Sequence[str], settings: JsonObject) -> list[Algorithm]:
    """Find algorithms by name, and refuse settings that none of them has, or that are impossible."""
    chosen = [algorithm(name) for name in ([names] if isinstance(names, str) else names)]
    if not chosen:
        raise ParameterError("The 'algorithm' parameter must name at least one algorithm. Got none.")
    names_of_settings = {field.name for entry in chosen for field in fields(entry.settings)}
    for name, value in settings.items():
        if value is not None and name not in names_of_settings:
            chosen[0].settings_from({name: value})  # refuses it, and says which settings there are
    for entry in chosen:
        select_settings(entry, settings)
    return chosen


def select_settings(entry: Algorithm, settings: JsonObject) -> Settings:
    """Settings of one algorithm, out of those for several."""
    names = {field.name for field in fields(entry.settings)}
    return entry.settings_from({name: value for name, value in settings.items() if name in names})
