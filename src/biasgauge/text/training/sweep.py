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

SCRATCH = ".biasgauge-"
"""What names of folders for work in progress begin with, in the folder of the models."""
COUNTS = f"{SCRATCH}counts-"
"""What names of folders for what models share begin with."""
_COUNTED = re.compile(rf"{re.escape(COUNTS)}[0-9a-f]{{16}}")
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
    One process trains into a folder at a time; others wait, which `say` is told too, and find its models there.
    """
    check_choice((CPU, GPU), device=device)
    if len({recipe.digest for recipe in recipes}) != len(recipes):
        raise ParameterError("Every model of a sweep needs a recipe of its own. Got one twice; do seeds recur?")
    make_folder(folder)
    with writer_lock(folder / LOCK, waits=say) as sole:
        scratch = Scratch(folder, SCRATCH)
        scratch.sweep()
        try:
            with scratch.folder() as own:
                return _run_sweep(corpus, recipes, folder, folder if sole else own, n_jobs, device, progress, say)
        finally:
            if sole:
                _remove_counts(folder)
            scratch.close()


def _run_sweep(
    corpus: TokenCorpus, recipes: Sequence[Recipe], folder: Path, shared: Path, n_jobs: int | None, device: str,
    progress: Callable[[int, int], None] | None, say: Callable[[str], None] | None,
) -> list[TrainedModel]:  # fmt: skip
    """The same, in a folder that no other process trains into; what models share goes below `shared`."""
    found = [find_model(folder, recipe) for recipe in recipes]
    missing = [place for place, model in enumerate(found) if not isinstance(model, TrainedModel)]
    wanted = [recipes[place] for place in missing]
    if device == CPU:
        models = _Sweep(corpus, folder, shared, wanted, progress).run(_workers(n_jobs, corpus, wanted))
    else:
        models = _on_gpu(corpus, folder, shared, wanted, progress, say)
    for place, model in zip(missing, models, strict=True):
        remark = found[place]
        found[place] = model if remark is None else replace(model, remark=str(remark))
    return [model for model in found if isinstance(model, TrainedModel)]


def _on_gpu(
    corpus: TokenCorpus, folder: Path, shared: Path, recipes: Sequence[Recipe],
    progress: Callable[[int, int], None] | None, say: Callable[[str], None] | None,
) -> list[TrainedModel]:  # fmt: skip
    from biasgauge.text.training.cuda import device
    from biasgauge.text.training.cuda.sweep import DeviceSweep

    if not recipes:
        return []
    sweep = DeviceSweep(corpus, folder, recipes, progress, say, device.open_device())
    return sweep.run(lambda corpus, recipe, _folder: _prepare(corpus, recipe, shared))


def _prepare(corpus: TokenCorpus, recipe: Recipe, shared: Path) -> tuple[TrainingText, Any]:
    """Make what models that differ only by their seed share; large things go to a folder that the sweep removes.

    After a kill it is still there, and whoever trains the same again finds it.
    """
    text = training_text(
        corpus, min_count=recipe.min_count, unknown=recipe.unknown, remove=recipe.remove, sample=recipe.sample,
        sample_seed=recipe.sample_seed,
    )  # fmt: skip
    trainer = algorithm(recipe.algorithm).trainer
    return text, trainer.prepare(text, recipe.settings, shared / f"{COUNTS}{recipe.text_digest[:16]}")


def _remove_counts(folder: Path) -> None:
    """Remove what models shared: of this run, and of runs that were killed; nobody else has the folder now."""
    for path in folder.iterdir():
        if _COUNTED.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)


class _Sweep:
    def __init__(
        self, corpus: TokenCorpus, folder: Path, scratch: Path, recipes: Sequence[Recipe],
        progress: Callable[[int, int], None] | None,
    ) -> None:  # fmt: skip
        self._corpus, self._folder, self._recipes, self._progress = corpus, folder, recipes, progress
        self._scratch = scratch
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
                shared.text, shared.prepared = _prepare(self._corpus, recipe, self._scratch)
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
