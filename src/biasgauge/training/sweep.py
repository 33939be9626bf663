"""Many models from one corpus: planned, trained side by side, found again after an interruption."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from biasgauge._io.memory import physical_memory, readable_size
from biasgauge.checks import check_choice, check_whole
from biasgauge.corpora import TokenCorpus
from biasgauge.errors import InputError, ParameterError
from biasgauge.training.algorithms import algorithm
from biasgauge.training.model_file import TrainedModel, find_model, write_model
from biasgauge.training.text import TrainingText, training_text

if TYPE_CHECKING:
    from biasgauge.training.algorithms import Recipe

SCRATCH = ".shared"
CPU, GPU = "cpu", "cuda"
_UNITS = 1000


class _Stopped(Exception):  # noqa: N818 - not an error: another model failed, or the user stopped
    """Leaves a training loop early."""


@dataclass
class _Shared:
    """What models that differ only by their seed have in common, made by whoever needs it first."""

    lock: Lock
    left: int
    text: TrainingText | None = None
    prepared: Any = None


def run_sweep(
    corpus: TokenCorpus,
    recipes: Sequence[Recipe],
    folder: Path,
    *,
    n_jobs: int | None = None,
    device: str = CPU,
    progress: Callable[[int, int], None] | None = None,
    say: Callable[[str], None] | None = None,
) -> list[TrainedModel]:
    """Train every recipe whose model is not in `folder` yet, `n_jobs` models at a time; all cores by default.

    On a GPU (`device` "cuda"), as many models at a time as fit into its memory, which `say` is told. Each model
    appears whole or not at all, with its recipe beside it. What is killed loses the models it was at, and nothing else.
    """
    check_choice((CPU, GPU), device=device)
    if len({recipe.digest for recipe in recipes}) != len(recipes):
        raise ParameterError("Every model of a sweep needs a recipe of its own. Got one twice; do seeds recur?")
    folder.mkdir(parents=True, exist_ok=True)
    for part in folder.glob(".*.part"):
        part.unlink(missing_ok=True)
    found = [find_model(folder, recipe) for recipe in recipes]
    missing = [place for place, model in enumerate(found) if not isinstance(model, TrainedModel)]
    wanted = [recipes[place] for place in missing]
    if device == CPU:
        models = _Sweep(corpus, folder, wanted, progress).run(_workers(n_jobs, corpus, wanted))
    else:
        models = _on_gpu(corpus, folder, wanted, progress, say)
    for place, model in zip(missing, models, strict=True):
        remark = found[place]
        found[place] = model if remark is None else replace(model, remark=str(remark))
    shutil.rmtree(folder / SCRATCH, ignore_errors=True)
    return [model for model in found if isinstance(model, TrainedModel)]


def _on_gpu(
    corpus: TokenCorpus, folder: Path, recipes: Sequence[Recipe], progress: Callable[[int, int], None] | None,
    say: Callable[[str], None] | None,
) -> list[TrainedModel]:  # fmt: skip
    from biasgauge.training.cuda import device
    from biasgauge.training.cuda.sweep import DeviceSweep

    if not recipes:
        return []
    return DeviceSweep(corpus, folder, recipes, progress, say, device.open_device()).run(_prepare)


def _prepare(corpus: TokenCorpus, recipe: Recipe, folder: Path) -> tuple[TrainingText, Any]:
    """Make what models that differ only by their seed share; large things go to a folder that the sweep removes."""
    text = training_text(
        corpus, min_count=recipe.min_count, unknown=recipe.unknown, remove=recipe.remove, sample=recipe.sample,
        sample_seed=recipe.sample_seed,
    )  # fmt: skip
    scratch = folder / SCRATCH
    scratch.mkdir(exist_ok=True)
    trainer = algorithm(recipe.algorithm).trainer
    return text, trainer.prepare(text, recipe.settings, scratch / recipe.text_digest[:16])


class _Sweep:
    def __init__(
        self, corpus: TokenCorpus, folder: Path, recipes: Sequence[Recipe], progress: Callable[[int, int], None] | None
    ) -> None:
        self._corpus, self._folder, self._recipes, self._progress = corpus, folder, recipes, progress
        self._stop, self._counting = Event(), Lock()
        self._efforts = [algorithm(recipe.algorithm).effort * recipe.settings.epochs * _UNITS for recipe in recipes]
        self._done = [0.0] * len(recipes)
        keys = [recipe.text_digest for recipe in recipes]
        self._shared = {key: _Shared(Lock(), keys.count(key)) for key in keys}

    def run(self, workers: int) -> list[TrainedModel]:
        with ThreadPoolExecutor(workers, thread_name_prefix="train") as pool:
            futures = [pool.submit(self._train, place) for place in range(len(self._recipes))]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            finally:  # all done; or one has failed, or the user stopped, and the rest shall not go on for hours
                self._stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
            for future in futures:
                problem = None if future.cancelled() else future.exception()
                if problem is not None and not isinstance(problem, _Stopped):
                    raise problem
            return [future.result() for future in futures]

    def _train(self, place: int) -> TrainedModel:
        try:
            return self._train_and_write(place)
        except BaseException:
            self._stop.set()
            raise

    def _train_and_write(self, place: int) -> TrainedModel:
        recipe = self._recipes[place]
        shared = self._shared[recipe.text_digest]
        trainer = algorithm(recipe.algorithm).trainer
        with shared.lock:
            self._report(place, 0.0)
            if shared.text is None:
                shared.text, shared.prepared = _prepare(self._corpus, recipe, self._folder)
        text, prepared = shared.text, shared.prepared
        started = time.monotonic()
        fit = trainer.train(
            text, recipe.settings, seed=recipe.seed, shared=prepared, threads=recipe.threads,
            progress=lambda done, total: self._report(place, done / total),
        )  # fmt: skip
        model = write_model(self._folder, recipe, text, fit, time.monotonic() - started)
        with shared.lock:
            shared.left -= 1
            if shared.left == 0:
                shared.text = shared.prepared = None
        self._report(place, 1.0)
        return model

    def _report(self, place: int, share: float) -> None:
        if self._stop.is_set():
            raise _Stopped
        with self._counting:
            self._done[place] = share * self._efforts[place]
            if self._progress is not None:
                self._progress(int(sum(self._done)), int(sum(self._efforts)))


def _workers(n_jobs: int | None, corpus: TokenCorpus, recipes: Sequence[Recipe]) -> int:
    """As many models at a time as there are cores, unless their memory would be more than three quarters of all."""
    if n_jobs is not None:
        check_whole(1, n_jobs=n_jobs)
    if not recipes:
        return 1
    threads = max(recipe.threads for recipe in recipes)
    asked = n_jobs or max(1, (os.cpu_count() or 1) // threads)
    largest = max(
        int((corpus.counts >= recipe.min_count).sum()) * recipe.settings.dim * 4 * algorithm(recipe.algorithm).rows
        for recipe in recipes
    )
    room = physical_memory() * 3 // 4
    if largest > room:
        raise InputError(
            f"One model would take about {readable_size(largest)}, this machine has "
            f"{readable_size(physical_memory())}; raise min_count or lower dim"
        )
    return int(max(1, min(asked, len(recipes), room // max(1, largest))))
