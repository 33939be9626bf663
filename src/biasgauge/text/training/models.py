"""`train`: a corpus to replicates, in one call; `training_plan`: settings of papers, of their text and their code."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.core import JsonMapping, JsonObject, Record, check_whole
from biasgauge.errors import ParameterError
from biasgauge.io import make_folder
from biasgauge.results import Column, RecordTable, Result, counted
from biasgauge.text import PAPER_RULES, TokenCorpus, read_corpus, statistics
from biasgauge.text.training.algorithms import Algorithm, Recipe, Settings, algorithm
from biasgauge.text.training.sweep import TrainedModel, run_sweep
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class TrainedModels(Result):
    """The models of one call of `train`, in the order of algorithm, sample and seed.

    Attributes:
        models: each with its path, recipe, size and losses.
        corpus: their training text.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"models": tuple[JsonObject, ...], "corpus": JsonMapping}
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "models",
            "",
            (
                Column("algorithm", source="recipe.algorithm"),
                Column("sample", "count", source="recipe.sample"),
                Column("seed", "count", source="recipe.seed"),
                Column("words", "count"),
                Column("loss", "number", 4, source=lambda model: model.losses[-1]),
                Column(
                    "seconds",
                    "number",
                    1,
                    about="none where the model was there already",
                    source=lambda model: None if model.reused else model.seconds,
                ),
                Column("model", source="path.stem"),
            ),
        ),
    )

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

    def _headline(self) -> str:
        corpus = self.to_dict()["corpus"]
        return (
            f"{counted(corpus['documents'], 'document')} of {corpus['mean_length']:,.0f} words on average; "
            f"{corpus['tokens']:,} words, {corpus['words']:,} distinct; {counted(self, 'model')}"
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Models that were trained again, and training that cannot be repeated."""
        threads = "several threads within a model: no other run gives the same bytes"
        deterministic = all(model.recipe.deterministic for model in self.models)
        remarks = [model.remark for model in self.models if model.remark]
        return (*remarks, *(() if deterministic else (threads,)))

    def to_frame(self) -> pd.DataFrame:
        """One row per model."""
        import pandas as pd

        rows = [
            {
                "model": model.path.stem,
                **{name: getattr(model.recipe, name) for name in ("algorithm", "seed", "sample")},
                "words": model.words,
                "dim": model.recipe.settings.dim,
                "loss": model.losses[-1],
                "seconds": model.seconds,
                "path": str(model.path),
            }
            for model in self.models
        ]
        return pd.DataFrame(rows)


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
        corpus = read_corpus(corpus, out=folder / "corpus", replaceable=not holds_models(folder))
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


def holds_models(folder: Path) -> bool:
    """Return whether models were trained into a folder: each has its recipe beside it."""
    return any(folder.glob("*.json"))


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


_NO_SEED = "the paper's released code passes no seed to its trainer; here every model has its own, as the paper says"
_CBOW = "the paper's released code leaves gensim's default, CBOW; this is what --as-published trains"

_TEN = "the paper keeps words that occur 10 times or more, its released code those that occur 11 times or more"


@dataclass(frozen=True)
class TrainingPlan(Record):
    """Algorithms, settings and vocabulary: the arguments of `read_corpus` and `train` that a paper decides.

    Attributes:
        algorithms, settings, min_count, unknown, remove: as `train` has them.
        tokenizer: as `read_corpus` has it.
        remarks: differences between a paper and its released code.
        like, as_published: the paper that this follows, and whether its text or its code.
    """

    algorithms: tuple[str, ...] = ("sgns",)
    settings: JsonObject = field(default_factory=dict)
    min_count: int = 5
    unknown: str | None = None
    remove: tuple[str, ...] = ()
    tokenizer: str = "words"
    remarks: tuple[str, ...] = ()
    like: str | None = None
    as_published: bool = False


def _like(name: str, *remarks: str, tokenizer: str, algorithms: tuple[str, ...], dim: int = 300) -> TrainingPlan:
    rules = PAPER_RULES[name]
    dropped = tuple(f"{word} is trained as a word; leave it out of what is scored" for word in rules.not_scored[:1])
    settings = {"dim": dim, "window": 5, "epochs": 5, "negative": 5}
    return TrainingPlan(
        algorithms, settings, rules.min_count, rules.unknown, rules.remove, tokenizer, (*remarks, *dropped), like=name
    )


_DU = partial(_like, "du2021", tokenizer="whitespace")
_BADDER = partial(_like, "badder_seeds2022", tokenizer="spacy:en", dim=100)
_WIKI = partial(_like, "goldfarb_tarrant2021_wiki", algorithms=("sgns", "fasttext"), tokenizer="whitespace")
_TWITTER = partial(_like, "goldfarb_tarrant2021_twitter", algorithms=("sgns", "fasttext"), tokenizer="twitter")

PAPERS: dict[str, tuple[TrainingPlan, TrainingPlan]] = {
    "du2021": (_DU(_NO_SEED, algorithms=("sgns",)), _DU(_CBOW, _NO_SEED, algorithms=("cbow",))),
    "badder_seeds2022": (_BADDER(_NO_SEED, algorithms=("sgns",)), _BADDER(_CBOW, _NO_SEED, algorithms=("cbow",))),
    "goldfarb_tarrant2021_wiki": (replace(_WIKI(), min_count=10), _WIKI(_TEN)),
    "goldfarb_tarrant2021_twitter": (_TWITTER(), _TWITTER()),
}
"""For each paper: the settings of its text, and those of its released code."""

GLOVE = {
    "du2021": replace(_DU(algorithms=("glove",)), settings={"dim": 300, "window": 15, "epochs": 15}),
}
"""Settings of GloVe, which no other algorithm shares, for the papers that trained it."""


def training_plan(
    like: str | None = None,
    *,
    as_published: bool = False,
    algorithm: list[str] | None = None,
    min_count: int | None = None,
    unknown: str | None = None,
    tokenizer: str | None = None,
    **settings: Any,  # noqa: ANN401 - those of the algorithms
) -> TrainingPlan:
    """Start from a paper's settings, or from the defaults, and replace those that are not None.

    Raises:
        ParameterError: the paper is not known, `as_published` stands without one, or a setting is impossible.
    """
    if like is not None and like not in PAPERS:
        raise ParameterError(f"Settings are known of {', '.join(PAPERS)}. Got {like!r}.")
    if as_published and like is None:
        raise ParameterError("as_published needs to know which paper: add like (--like on the command line).")
    base = TrainingPlan() if like is None else PAPERS[like][as_published]
    names = tuple(algorithm) if algorithm else base.algorithms
    if like is not None and "glove" in names:
        base = _glove_plan(like, names)
    plan = replace(
        base,
        algorithms=names,
        settings={**base.settings, **{name: value for name, value in settings.items() if value is not None}},
        min_count=base.min_count if min_count is None else min_count,
        unknown=base.unknown if unknown is None else unknown,
        tokenizer=tokenizer or base.tokenizer,
        as_published=as_published,
    )
    select_algorithms(plan.algorithms, plan.settings)
    return plan


def _glove_plan(like: str, names: tuple[str, ...]) -> TrainingPlan:
    if like not in GLOVE:
        raise ParameterError(f"GloVe was trained by {', '.join(GLOVE)}, not by {like}. Leave out algorithm or like.")
    if set(names) != {"glove"}:
        remaining = ", ".join(name for name in names if name != "glove")
        raise ParameterError(
            f"{like} trained GloVe with settings of its own (window 15, 15 epochs). "
            f"Train it in a call by itself, and {remaining} in another."
        )
    return GLOVE[like]
