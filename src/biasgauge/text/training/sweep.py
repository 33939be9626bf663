"""Many models from one corpus: trained side by side, written whole, found again after an interruption.

A trained model on disk is its vectors, and beside them its recipe, written last: the model is then whole.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasgauge._version import __version__
from biasgauge.core import JsonObject, Record, check_choice, check_whole
from biasgauge.errors import InputError, InternalError, ParameterError
from biasgauge.io import (
    LOCK,
    Scratch,
    file_sha256,
    make_folder,
    manifest_text,
    physical_memory,
    read_record,
    readable_size,
    write_text,
    writer_lock,
)
from biasgauge.text import TokenCorpus, Vocabulary, bootstrap_documents, vocabulary
from biasgauge.text.training.algorithms import Recipe, algorithm
from biasgauge.vectors import Embedding, load, save

if TYPE_CHECKING:
    from biasgauge.text.training.algorithms import TrainedVectors

SCRATCH = ".biasgauge-"
"""Beginning of the names of folders for work in progress, in the folder of the models."""
COUNTS = f"{SCRATCH}counts-"
"""Beginning of the names of folders for data that models share."""
_COUNTS_FOLDER = re.compile(rf"{re.escape(COUNTS)}[0-9a-f]{{16}}")
CPU, GPU = "cpu", "cuda"
_UNITS = 1000


@dataclass(frozen=True, eq=False)
class TrainingText:
    """A corpus, or a bootstrap sample of its documents, seen through a vocabulary counted in this very sample.

    `order` has the lines to read; a document that was drawn twice has its lines there twice.
    """

    corpus: TokenCorpus
    vocabulary: Vocabulary
    order: NDArray[np.int64]

    @cached_property
    def tokens(self) -> int:
        """Tokens in one reading that are words of the vocabulary."""
        return int(self.vocabulary.counts.sum())

    @cached_property
    def reach(self) -> NDArray[np.int64]:
        """Running total of tokens (of any kind) over the lines of `order`, from 0; one longer than `order`."""
        lengths = np.diff(self.corpus.lines)[self.order]
        return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])

    def blocks(self, first: int, last: int, tokens: int) -> list[tuple[int, int]]:
        """Cut the lines `first` … `last` of `order` into blocks of about `tokens` tokens each."""
        marks = np.arange(self.reach[first], self.reach[last], tokens)
        edges = np.unique(np.concatenate([[first], np.searchsorted(self.reach, marks[1:]), [last]]))
        return [(int(first), int(end)) for first, end in itertools.pairwise(edges)]

    def split(self, parts: int) -> list[tuple[int, int]]:
        """Cut `order` into `parts` stretches of about equal length, some perhaps empty."""
        marks = np.linspace(0, self.reach[-1], parts + 1)[1:-1]
        edges = [0, *np.searchsorted(self.reach, marks).tolist(), len(self.order)]
        return list(itertools.pairwise(edges))


def training_text(
    corpus: TokenCorpus,
    *,
    sample: int | None = None,
    sample_seed: int = 0,
    min_count: int = 5,
    **words: Any,  # noqa: ANN401
) -> TrainingText:
    """Prepare a corpus, or the bootstrap sample of its documents with that number; `words` as in `vocabulary`."""
    corpus.check_numbers()  # compiled loops do not check them
    documents = None if sample is None else bootstrap_documents(corpus, sample, sample_seed)
    order = np.arange(len(corpus.lines) - 1, dtype=np.int64)
    if documents is not None:
        # The lines of each document, first … first + count − 1, side by side in the order of the draws.
        first = corpus.documents[documents]
        count = corpus.documents[documents + 1] - first
        start = np.cumsum(count) - count
        order = np.arange(count.sum(), dtype=np.int64) - np.repeat(start - first, count)
    return TrainingText(corpus, vocabulary(corpus, min_count=min_count, documents=documents, **words), order)


Prepare = Callable[[Recipe], tuple[TrainingText, Any]]
"""Makes the data that models share which differ only by their seed."""


@dataclass(frozen=True)
class TrainedModel(Record):
    """One model of a sweep.

    Attributes:
        path: the file with the vectors; the recipe lies beside it, ending in `.json`.
        recipe: its recipe.
        words: size of its vocabulary.
        seconds: time of its training, when it was trained.
        losses: mean loss of each epoch, as the trainer reported it.
        reused: whether it was in the folder already.
        remark: reason for training again although its files were there.
    """

    path: Path
    recipe: Recipe
    words: int
    seconds: float
    losses: tuple[float, ...]
    reused: bool = False
    remark: str | None = None

    def load(self) -> Embedding:
        """Open the vectors."""
        return load(self.path, name=self.path.stem)

    def to_dict(self) -> JsonObject:
        """One JSON-ready object; a remark only where there is one."""
        shape = super().to_dict() | {"seconds": round(self.seconds, 3)}
        shape["recipe"]["deterministic"] = self.recipe.deterministic
        return shape if self.remark else {name: value for name, value in shape.items() if name != "remark"}


def write_model(
    folder: Path, recipe: Recipe, text: TrainingText, fit: TrainedVectors, seconds: float, *, device: str = "cpu"
) -> TrainedModel:
    """Check the trainer's report against the recipe, then write the vectors, then the recipe.

    Raises:
        InputError: the vectors are not finite: the learning rate is too high for this text.
        InternalError: the trainer departed from the recipe.
    """
    words = text.vocabulary.words
    epochs = recipe.settings.epochs
    if fit.vectors.shape != (len(words), recipe.settings.dim) or len(fit.losses) != epochs:
        raise InternalError(
            f"The trainer made {fit.vectors.shape} vectors in {len(fit.losses)} epochs; the recipe asks for "
            f"{(len(words), recipe.settings.dim)} in {epochs}."
        )
    if fit.tokens != epochs * text.tokens:
        raise InternalError(f"The trainer read {fit.tokens:,} tokens; {epochs} epochs have {epochs * text.tokens:,}.")
    with np.errstate(over="ignore"):
        vectors = fit.vectors.astype(recipe.precision, copy=False)
    if not np.isfinite(vectors).all():
        raise InputError(f"Training {recipe.name} diverged: its vectors are not finite. Lower the learning rate.")
    path = folder / f"{recipe.name}.safetensors"
    model = Embedding(words=words, vectors=vectors, name=path.stem)
    save(model, path, counts=text.vocabulary.counts, subwords=fit.subwords if recipe.subwords else None)
    record = {
        "recipe": recipe.to_dict(),
        "digest": recipe.digest,
        "file": {"name": path.name, "bytes": path.stat().st_size, "sha256": file_sha256(path)},
        "words": len(words),
        "tokens": fit.tokens,
        "losses": list(fit.losses),
        "untrained": [words[row] for row in fit.untrained],
        "seconds": round(seconds, 3),
        "device": device,
        "corpus": text.corpus.to_dict(),
        "versions": {"biasgauge": __version__, "numba": version("numba"), "numpy": np.__version__},
    }
    write_text(path.with_suffix(".json"), manifest_text(record, indent=1))
    return TrainedModel(path, recipe, len(words), seconds, fit.losses)


def find_model(folder: Path, recipe: Recipe) -> TrainedModel | str | None:
    """Find a recipe's model: the model, or the problem with its files, or None where there are none."""
    path = folder / f"{recipe.name}.safetensors"
    recipe_path = path.with_suffix(".json")
    if not recipe_path.exists():
        return None
    try:
        record = read_record(recipe_path, again="trained again")
        if record["digest"] != recipe.digest:
            return f"{recipe_path.name} belongs to another recipe; trained again"
        if not path.is_file():
            return f"{path.name} was gone; trained again"
        if path.stat().st_size != record["file"]["bytes"] or file_sha256(path) != record["file"]["sha256"]:
            return f"{path.name} was damaged; trained again"
        return TrainedModel(
            path,
            recipe,
            int(record["words"]),
            float(record["seconds"]),
            tuple(map(float, record["losses"])),
            reused=True,
        )
    except (InputError, ValueError, KeyError, TypeError, OverflowError):
        return f"{recipe_path.name} was damaged; trained again"


class _Stopped(Exception):  # noqa: N818 - not an error: another model failed, or the user stopped
    """Leaves a training loop early."""


class SweepProgress:
    """Progress of all models of a sweep together; each call may stop its model."""

    def __init__(self, recipes: Sequence[Recipe], progress: Callable[[int, int], None] | None) -> None:
        self.stop = Event()
        self._progress, self._lock = progress, Lock()
        self._efforts = [algorithm(recipe.algorithm).effort * recipe.settings.epochs * _UNITS for recipe in recipes]
        self._done = [0.0] * len(recipes)

    def __call__(self, index: int, share: float) -> None:
        """Report that a share of one model is done."""
        if self.stop.is_set():
            raise _Stopped
        with self._lock:
            self._done[index] = share * self._efforts[index]
            if self._progress is not None:
                self._progress(int(sum(self._done)), int(sum(self._efforts)))


def run_sweep(
    corpus: TokenCorpus | Sequence[TokenCorpus],
    recipes: Sequence[Recipe],
    folder: Path,
    *,
    n_jobs: int | None = None,
    device: str = CPU,
    progress: Callable[[int, int], None] | None = None,
    say: Callable[[str], None] | None = None,
) -> list[TrainedModel]:
    """Train every recipe whose model is not in `folder` yet, `n_jobs` models at a time; all cores by default.

    Of several corpora, each recipe is trained on the one whose checksum it has.
    On a GPU (`device` "cuda"), as many models at a time as fit into its memory, which `say` reports. Each model appears
    whole or not at all, with its recipe beside it. A killed process loses the models in training, and nothing else.
    One process trains into a folder at a time; others wait, which `say` reports too, and find its models there.
    """
    check_choice((CPU, GPU), device=device)
    if len({recipe.digest for recipe in recipes}) != len(recipes):
        raise ParameterError("Every model of a sweep needs a recipe of its own. Got one twice; do seeds recur?")
    corpora = {text.checksum: text for text in ([corpus] if isinstance(corpus, TokenCorpus) else corpus)}
    make_folder(folder)
    with writer_lock(folder / LOCK, waits=say) as sole:
        scratch = Scratch(folder, SCRATCH)
        scratch.sweep()
        try:
            with scratch.folder() as temporary:
                models = [find_model(folder, recipe) for recipe in recipes]
                missing = [index for index, model in enumerate(models) if not isinstance(model, TrainedModel)]
                new = [recipes[index] for index in missing]
                prepare = partial(_prepare, corpora, folder if sole else temporary)
                report = SweepProgress(new, progress)
                if device == CPU:
                    trained = _train_in_threads(folder, new, prepare, report, _workers(n_jobs, corpora, new))
                else:
                    trained = _train_on_gpu(folder, new, prepare, report, say)
        finally:
            if sole:  # data that models shared, of this run and of runs that were killed: nobody else uses the folder
                for path in folder.iterdir():
                    if _COUNTS_FOLDER.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                        shutil.rmtree(path, ignore_errors=True)
            scratch.close()
    for index, model in zip(missing, trained, strict=True):
        remark = models[index]
        models[index] = model if remark is None else replace(model, remark=str(remark))
    return [model for model in models if isinstance(model, TrainedModel)]


def _prepare(corpora: Mapping[str, TokenCorpus], shared_folder: Path, recipe: Recipe) -> tuple[TrainingText, Any]:
    """Make the data that models share which differ only by their seed; large ones go to a folder.

    The sweep removes it. After a kill it is still there, and the next training of the same recipe finds it.
    """
    names = ("sample", "sample_seed", "min_count", "unknown", "remove")
    text = training_text(corpora[recipe.corpus], **{name: getattr(recipe, name) for name in names})
    folder = shared_folder / f"{COUNTS}{recipe.text_digest[:16]}"
    return text, algorithm(recipe.algorithm).trainer.prepare(text, recipe.settings, folder)


def _train_in_threads(
    folder: Path, recipes: Sequence[Recipe], prepare: Prepare, report: SweepProgress, workers: int
) -> list[TrainedModel]:
    """Train models side by side: compiled loops release Python's lock. Any failure stops all of them."""
    models_left = Counter(recipe.text_digest for recipe in recipes)
    locks = {digest: Lock() for digest in models_left}
    shared: dict[str, tuple[TrainingText, Any]] = {}

    def train(index: int) -> TrainedModel:
        recipe = recipes[index]
        digest = recipe.text_digest
        try:
            with locks[digest]:
                report(index, 0.0)
                if digest not in shared:
                    shared[digest] = prepare(recipe)
                text, prepared = shared[digest]
            started = time.monotonic()
            fit = algorithm(recipe.algorithm).trainer.train(
                text, recipe.settings, seed=recipe.seed, shared=prepared, threads=recipe.threads,
                progress=lambda done, total: report(index, done / total),
            )  # fmt: skip
            model = write_model(folder, recipe, text, fit, time.monotonic() - started)
            with locks[digest]:
                models_left[digest] -= 1
                if not models_left[digest]:
                    del shared[digest]
            report(index, 1.0)
        except BaseException:
            report.stop.set()
            raise
        return model

    with ThreadPoolExecutor(workers, thread_name_prefix="train") as pool:
        futures = [pool.submit(train, index) for index in range(len(recipes))]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:  # all done; or one failed, or the user stopped, and the others shall not go on for hours
            report.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
        for future in futures:
            problem = None if future.cancelled() else future.exception()
            if problem is not None and not isinstance(problem, _Stopped):
                raise problem
        return [future.result() for future in futures]


def _train_on_gpu(
    folder: Path, recipes: Sequence[Recipe], prepare: Prepare, report: SweepProgress,
    say: Callable[[str], None] | None,
) -> list[TrainedModel]:  # fmt: skip
    from biasgauge.text.training.cuda import device
    from biasgauge.text.training.cuda.sweep import train_on_device

    return train_on_device(device.open_device(), folder, recipes, prepare, report, say) if recipes else []


def _workers(n_jobs: int | None, corpora: Mapping[str, TokenCorpus], recipes: Sequence[Recipe]) -> int:
    """As many models at a time as there are cores, unless their memory would be more than three quarters of all."""
    check_whole(1, n_jobs=1 if n_jobs is None else n_jobs)
    if not recipes:
        return 1
    threads = max(recipe.threads for recipe in recipes)
    wanted = n_jobs or max(1, (os.cpu_count() or 1) // threads)
    largest = max(
        int((corpora[recipe.corpus].counts >= recipe.min_count).sum())
        * recipe.settings.dim
        * 4
        * algorithm(recipe.algorithm).rows
        for recipe in recipes
    )
    available = physical_memory() * 3 // 4
    if largest > available:
        raise InputError(
            f"One model would take about {readable_size(largest)}, this machine has "
            f"{readable_size(physical_memory())}; raise min_count or lower dim"
        )
    return int(max(1, min(wanted, len(recipes), available // max(1, largest))))
