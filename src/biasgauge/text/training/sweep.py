"""Many models from one corpus: planned, trained side by side, found again after an interruption."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from biasgauge.core import check_choice, check_whole
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import LOCK, Scratch, make_folder, physical_memory, readable_size, writer_lock
from biasgauge.text import TokenCorpus
from biasgauge.text.training.algorithms import algorithm
from biasgauge.text.training.model_file import TrainedModel, find_model, write_model
from biasgauge.text.training.text import TrainingText, training_text

if TYPE_CHECKING:
    from biasgauge.text.training.algorithms import Recipe

    Progress = Callable[[int, int], None]

SCRATCH = ".biasgauge-"
"""Beginning of the names of folders for work in progress, in the folder of the models."""
COUNTS = f"{SCRATCH}counts-"
"""Beginning of the names of folders for data that models share."""
_COUNTS_FOLDER = re.compile(rf"{re.escape(COUNTS)}[0-9a-f]{{16}}")
CPU, GPU = "cpu", "cuda"
_UNITS = 1000


class _Stopped(Exception):  # noqa: N818 - not an error: another model failed, or the user stopped
    """Leaves a training loop early."""


@dataclass
class _SharedData:
    """Text and tables of models that differ only by their seed, made by the first that needs them."""

    lock: Lock
    models_left: int
    text: TrainingText | None = None
    prepared: Any = None


def run_sweep(
    corpus: TokenCorpus,
    recipes: Sequence[Recipe],
    folder: Path,
    *,
    n_jobs: int | None = None,
    device: str = CPU,
    progress: Progress | None = None,
    say: Callable[[str], None] | None = None,
) -> list[TrainedModel]:
    """Train every recipe whose model is not in `folder` yet, `n_jobs` models at a time; all cores by default.

    On a GPU (`device` "cuda"), as many models at a time as fit into its memory, which `say` reports. Each model appears
    whole or not at all, with its recipe beside it. A killed process loses the models in training, and nothing else.
    One process trains into a folder at a time; others wait, which `say` reports too, and find its models there.
    """
    check_choice((CPU, GPU), device=device)
    if len({recipe.digest for recipe in recipes}) != len(recipes):
        raise ParameterError("Every model of a sweep needs a recipe of its own. Got one twice; do seeds recur?")
    make_folder(folder)
    with writer_lock(folder / LOCK, waits=say) as sole:
        scratch = Scratch(folder, SCRATCH)
        scratch.sweep()
        try:
            with scratch.folder() as temporary:
                models = [find_model(folder, recipe) for recipe in recipes]
                missing = [index for index, model in enumerate(models) if not isinstance(model, TrainedModel)]
                sweep = _Sweep(corpus, folder, folder if sole else temporary, [recipes[index] for index in missing])
                trained = sweep.run(n_jobs, progress) if device == CPU else sweep.run_on_gpu(progress, say)
        finally:
            if sole:
                _remove_counts(folder)
            scratch.close()
    for index, model in zip(missing, trained, strict=True):
        remark = models[index]
        models[index] = model if remark is None else replace(model, remark=str(remark))
    return [model for model in models if isinstance(model, TrainedModel)]


def _remove_counts(folder: Path) -> None:
    """Remove data that models shared, of this run and of runs that were killed; no other process uses the folder."""
    for path in folder.iterdir():
        if _COUNTS_FOLDER.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)


class _Sweep:
    """Training of some recipes into a folder that no other process trains into; shared data go below `shared`."""

    def __init__(self, corpus: TokenCorpus, folder: Path, shared: Path, recipes: Sequence[Recipe]) -> None:
        self._corpus, self._folder, self._shared_folder, self._recipes = corpus, folder, shared, recipes
        self._progress: Progress | None = None
        self._stop, self._counting = Event(), Lock()
        self._efforts = [algorithm(recipe.algorithm).effort * recipe.settings.epochs * _UNITS for recipe in recipes]
        self._done = [0.0] * len(recipes)
        keys = [recipe.text_digest for recipe in recipes]
        self._shared = {key: _SharedData(Lock(), keys.count(key)) for key in keys}

    def run(self, n_jobs: int | None, progress: Progress | None) -> list[TrainedModel]:
        """Train the models in threads: compiled loops release Python's lock."""
        self._progress = progress
        with ThreadPoolExecutor(_workers(n_jobs, self._corpus, self._recipes), thread_name_prefix="train") as pool:
            futures = [pool.submit(self._train, index) for index in range(len(self._recipes))]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:  # all done; or one failed, or the user stopped, and the others shall not go on for hours
                self._stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
            for future in futures:
                problem = None if future.cancelled() else future.exception()
                if problem is not None and not isinstance(problem, _Stopped):
                    raise problem
            return [future.result() for future in futures]

    def run_on_gpu(self, progress: Progress | None, say: Callable[[str], None] | None) -> list[TrainedModel]:
        """Train the models side by side on a GPU."""
        from biasgauge.text.training.cuda import device
        from biasgauge.text.training.cuda.sweep import DeviceSweep

        if not self._recipes:
            return []
        return DeviceSweep(self._folder, self._recipes, progress, say, device.open_device()).run(self._prepare)

    def _prepare(self, recipe: Recipe) -> tuple[TrainingText, Any]:
        """Make the data that models share which differ only by their seed; large ones go to a folder.

        The sweep removes it. After a kill it is still there, and the next training of the same recipe finds it.
        """
        text = training_text(
            self._corpus, min_count=recipe.min_count, unknown=recipe.unknown, remove=recipe.remove,
            sample=recipe.sample, sample_seed=recipe.sample_seed,
        )  # fmt: skip
        folder = self._shared_folder / f"{COUNTS}{recipe.text_digest[:16]}"
        return text, algorithm(recipe.algorithm).trainer.prepare(text, recipe.settings, folder)

    def _train(self, index: int) -> TrainedModel:
        """Train one model and write it; any failure stops the other models too."""
        recipe = self._recipes[index]
        shared = self._shared[recipe.text_digest]
        try:
            with shared.lock:
                self._report(index, 0.0)
                if shared.text is None:
                    shared.text, shared.prepared = self._prepare(recipe)
            text = shared.text
            started = time.monotonic()
            fit = algorithm(recipe.algorithm).trainer.train(
                text, recipe.settings, seed=recipe.seed, shared=shared.prepared, threads=recipe.threads,
                progress=lambda done, total: self._report(index, done / total),
            )  # fmt: skip
            model = write_model(self._folder, recipe, text, fit, time.monotonic() - started)
            with shared.lock:
                shared.models_left -= 1
                if shared.models_left == 0:
                    shared.text = shared.prepared = None
            self._report(index, 1.0)
        except BaseException:
            self._stop.set()
            raise
        return model

    def _report(self, index: int, share: float) -> None:
        if self._stop.is_set():
            raise _Stopped
        with self._counting:
            self._done[index] = share * self._efforts[index]
            if self._progress is not None:
                self._progress(int(sum(self._done)), int(sum(self._efforts)))


def _workers(n_jobs: int | None, corpus: TokenCorpus, recipes: Sequence[Recipe]) -> int:
    """As many models at a time as there are cores, unless their memory would be more than three quarters of all."""
    if n_jobs is not None:
        check_whole(1, n_jobs=n_jobs)
    if not recipes:
        return 1
    threads = max(recipe.threads for recipe in recipes)
    wanted = n_jobs or max(1, (os.cpu_count() or 1) // threads)
    largest = max(
        int((corpus.counts >= recipe.min_count).sum()) * recipe.settings.dim * 4 * algorithm(recipe.algorithm).rows
        for recipe in recipes
    )
    available = physical_memory() * 3 // 4
    if largest > available:
        raise InputError(
            f"One model would take about {readable_size(largest)}, this machine has "
            f"{readable_size(physical_memory())}; raise min_count or lower dim"
        )
    return int(max(1, min(wanted, len(recipes), available // max(1, largest))))
