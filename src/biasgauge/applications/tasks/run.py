"""`extrinsic`: train and judge a downstream task on some vectors."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge import registry
from biasgauge.applications.tasks.cache import CellCache
from biasgauge.applications.tasks.result import TaskResult
from biasgauge.applications.tasks.task import Task
from biasgauge.core import JsonObject, VectorsLike, did_you_mean
from biasgauge.errors import ParameterError
from biasgauge.stats import bootstrap_settings

if TYPE_CHECKING:
    Progress = Callable[[int, int], None]

_PARTS = 1000
"""What the reading and each model count in progress."""


def extrinsic(
    task: str | Task,
    vectors: VectorsLike,
    data: str | os.PathLike[str],
    *,
    seeds: int | Sequence[int] = 1,
    cache: str | os.PathLike[str] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    random_state: int = 0,
    progress: Progress | None = None,
    **settings: Any,  # noqa: ANN401 - those of the task
) -> TaskResult:
    """Train a downstream task on frozen vectors; say how well it is done, and how differently by group of people.

    Args:
        task: one of `registry.names("task")`, or a `Task`.
        vectors: a path, or anything `load` takes; only the words of the task are read.
        data: folder (or file) of the task's data.
        seeds: how many models to train, from the seed `random_state` on, or the seeds themselves. Metrics and gaps are
            means over them; with more than one, intervals are about seeds too.
        cache: folder of finished models: what is there for the same vectors, data, settings and seed is used again.
        level: nominal coverage of intervals.
        resamples: bootstrap samples, and shuffles where p is not exact.
        random_state: first seed, and seed of the resampling.
        progress: called with (done, total).
        settings: of the task; `docs/extrinsic.md` lists them.

    Raises:
        ParameterError: a task or setting is unknown or cannot be used, or the vectors have no word of the task.
        InputError: the data is not what it should be, or PyTorch is not installed.
    """
    chosen = registry.get("task", task)
    for name in settings:
        if name not in chosen.settings:
            near = did_you_mean(name, chosen.settings) or ";"
            raise ParameterError(
                f"The task {chosen.name!r} has no setting {name!r}{near} it has {', '.join(sorted(chosen.settings))}."
            )
    numbers = _seeds(seeds, random_state)
    how = bootstrap_settings(
        "extrinsic", method="percentile", level=level, resamples=resamples, random_state=random_state
    )
    parts = len(numbers) + 1

    def part(place: int) -> Progress | None:
        if progress is None:
            return None
        return lambda done, total: progress(place * _PARTS + _PARTS * done // max(total, 1), parts * _PARTS)

    store = CellCache(None if cache is None else Path(cache))
    reading = {"progress": part(0)} if chosen.tells_reading else {}
    prepared = chosen.prepare(chosen.name, vectors, Path(data), **reading, **settings)
    key = {
        "task": chosen.name,
        "vectors": prepared.vectors_checksum,
        "data": prepared.data_checksum,
        "settings": prepared.settings,
    }
    outcomes: dict[int, JsonObject] = {}
    reused = set()
    for place, seed in enumerate(numbers, 1):
        outcome = store.read({**key, "seed": seed})
        if outcome is None:
            outcome = prepared.train(seed, part(place))
            store.write({**key, "seed": seed}, outcome)
        else:
            reused.add(seed)
        outcomes[seed] = outcome
        if progress is not None:
            progress((place + 1) * _PARTS, parts * _PARTS)
    summary = prepared.summarize(outcomes, how)
    measured = {
        **vars(summary),
        "seeds": tuple(replace(run, reused=run.seed in reused) for run in summary.seeds),
        "warnings": (*prepared.warnings, *summary.warnings, *store.notes),
    }
    return TaskResult(
        task=chosen.name,
        about=chosen.about,
        vectors=prepared.vectors_name,
        coverage=prepared.coverage,
        settings={
            **{name: _plain(value) for name, value in settings.items()},
            **prepared.recorded,
            **prepared.settings,
            "vectors_checksum": prepared.vectors_checksum,
            "data_checksum": prepared.data_checksum,
            "seeds": list(numbers),
            "level": level,
            "resamples": resamples,
            "random_state": random_state,
        },
        **measured,
    )


def _plain(value: object) -> Any:  # noqa: ANN401 - JSON
    """A setting as JSON takes it: paths and other things by their text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _seeds(given: int | Sequence[int], first: int) -> tuple[int, ...]:
    numbers = tuple(range(first, first + given)) if isinstance(given, int) else tuple(given)
    usable = all(isinstance(seed, int) and seed >= 0 for seed in numbers)
    if not numbers or not usable or len(set(numbers)) != len(numbers):
        raise ParameterError(
            f"The 'seeds' parameter of extrinsic must be a number of at least 1, or different seeds. Got {given!r}."
        )
    return numbers
