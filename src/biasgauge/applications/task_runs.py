"""`extrinsic`: train and evaluate a downstream task on some vectors; `compare_tasks`: gaps with two sets of vectors.

Finished cells are cached on disk: one JSON file for each (vectors, data, settings, seed). A file holds the outcome, its
key and a checksum, so that a damaged or foreign file is noticed and its cell is computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge import registry
from biasgauge.applications.gap_result import GapComparison
from biasgauge.applications.group_gaps import compare_gaps
from biasgauge.applications.task import PairedItems, Task, TaskItems, TaskResult
from biasgauge.core import JsonMapping, JsonObject, VectorsLike, did_you_mean
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import as_read_back, make_folder, parse_json, portable_name, utf8, write_text
from biasgauge.stats import bootstrap_settings

if TYPE_CHECKING:
    Progress = Callable[[int, int], None]

_STEPS = 1000
"""Steps of progress for reading and for each model."""
_CACHE_VERSION = 1
"""Raised when the same key would give another outcome, so that old cells are not taken for new ones."""
_ITEMS_DIFFER = "Two results can be compared on the same test items and groups; these differ."


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
    """Train a downstream task on frozen vectors; report its performance and the gaps between groups of people.

    Args:
        task: one of `registry.names("task")`, or a `Task`.
        vectors: a path, or anything `load` takes; only the words of the task are read.
        data: folder (or file) of the task's data.
        seeds: how many models to train, from the seed `random_state` on, or the seeds themselves. Metrics and gaps are
            means over them; with more than one, intervals cover the variation over seeds too.
        cache: folder of finished models: an outcome for the same vectors, data, settings and seed is used again.
        level: nominal coverage of intervals.
        resamples: bootstrap samples, and shuffles where p is not exact.
        random_state: first seed, and seed of the resampling.
        progress: called with (done, total).
        settings: of the task; `docs/applications/extrinsic.md` lists them.

    Raises:
        ParameterError: a task or setting is unknown or cannot be used, or the vectors have no word of the task.
        InputError: the data is not what it should be, or PyTorch is not installed.
    """
    chosen = registry.get("task", task)
    for name in sorted(settings.keys() - chosen.settings):
        near = did_you_mean(name, chosen.settings) or ";"
        raise ParameterError(
            f"The task {chosen.name!r} has no setting {name!r}{near} it has {', '.join(sorted(chosen.settings))}."
        )
    seed_list = _seed_list(seeds, random_state)
    resampling = bootstrap_settings(
        "extrinsic", method="percentile", level=level, resamples=resamples, random_state=random_state
    )
    stages = len(seed_list) + 1

    def stage_progress(stage: int) -> Progress | None:
        if progress is None:
            return None
        return lambda done, total: progress(stage * _STEPS + _STEPS * done // max(total, 1), stages * _STEPS)

    store = CellCache(None if cache is None else Path(cache))
    reading = {"progress": stage_progress(0)} if chosen.tells_reading else {}
    prepared = chosen.prepare(chosen.name, vectors, Path(data), **reading, **settings)
    key = {
        "task": chosen.name,
        "vectors": prepared.vectors_checksum,
        "data": prepared.data_checksum,
        "settings": prepared.settings,
    }
    outcomes: dict[int, JsonObject] = {}
    reused = set()
    for stage, seed in enumerate(seed_list, 1):
        outcome = store.read({**key, "seed": seed})
        if outcome is None:
            outcome = prepared.train(seed, stage_progress(stage))
            store.write({**key, "seed": seed}, outcome)
        else:
            reused.add(seed)
        outcomes[seed] = outcome
        if progress is not None:
            progress((stage + 1) * _STEPS, stages * _STEPS)
    summary = prepared.summarize(outcomes, resampling)
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
            **_plain_setting(settings),
            **prepared.recorded,
            **prepared.settings,
            "vectors_checksum": prepared.vectors_checksum,
            "data_checksum": prepared.data_checksum,
            "seeds": list(seed_list),
            "level": level,
            "resamples": resamples,
            "random_state": random_state,
        },
        **measured,
    )


def _plain_setting(value: object) -> Any:  # noqa: ANN401 - JSON
    """A setting as JSON takes it: paths and other objects by their text."""
    if isinstance(value, Mapping):
        return {str(name): _plain_setting(item) for name, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain_setting(item) for item in value]
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _seed_list(seeds: int | Sequence[int], first: int) -> tuple[int, ...]:
    numbers = tuple(range(first, first + seeds)) if isinstance(seeds, int) else tuple(seeds)
    usable = all(isinstance(seed, int) and seed >= 0 for seed in numbers)
    if not numbers or not usable or len(set(numbers)) != len(numbers):
        raise ParameterError(
            f"The 'seeds' parameter of extrinsic must be a number of at least 1, or different seeds. Got {seeds!r}."
        )
    return numbers


class CellCache:
    """Outcomes in a folder, or nowhere where the folder is None; `notes` are sentences about damaged files."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.notes: list[str] = []
        if folder is not None:
            if folder.exists() and not folder.is_dir():
                raise InputError(f"{folder}: is a file; name a folder for finished cells")
            make_folder(folder)

    def read(self, key: JsonMapping) -> JsonObject | None:
        """Outcome of a cell; None where it is missing or damaged."""
        if self.folder is None or not (path := self._path(key)).is_file():
            return None
        try:
            content = parse_json(path.read_bytes())
            outcome: JsonObject = content["outcome"]
            if content["key"] == _stored_key(key) and content["sha256"] == _digest(outcome):
                return outcome
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        self.notes.append(f"{path.name} was damaged; the cell was computed again")
        return None

    def write(self, key: JsonMapping, outcome: JsonObject) -> None:
        """Store an outcome."""
        if self.folder is not None:
            content = {"key": _stored_key(key), "sha256": _digest(outcome), "outcome": outcome}
            write_text(self._path(key), json.dumps(content, ensure_ascii=False, sort_keys=True) + "\n")

    def _path(self, key: JsonMapping) -> Path:
        assert self.folder is not None  # noqa: S101 - checked by the callers
        return self.folder / f"{portable_name(str(key['task']))}-{_digest(_stored_key(key))[:24]}.json"


def _stored_key(key: JsonMapping) -> JsonObject:
    """A key as JSON gives it back."""
    stored: JsonObject = as_read_back({**key, "version": _CACHE_VERSION})
    return stored


def _digest(content: JsonMapping) -> str:
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(utf8(text)).hexdigest()


def compare_tasks(first: TaskResult, second: TaskResult, *, seed: int | None = None) -> GapComparison:
    """Differences of gaps between two results on the same test items, as before and after debiasing: second − first.

    Items are texts, or, for coreference, pairs of sentences of WinoBias. One model of each is compared, so the
    intervals are about other test items and not about other seeds.

    Args:
        first: a result of `extrinsic`.
        second: a result of `extrinsic` with other vectors.
        seed: one of the seeds that both have; the first such by default.

    Raises:
        ParameterError: the items or groups are not the same, there are no gaps, or the seed is in neither.
    """
    items = first.items, second.items
    if None in items or not first.gaps or not second.gaps:
        raise ParameterError(
            "Two results can be compared where both have items and gaps; one of these has none (a result that was read "
            "from JSON has no items)."
        )
    seeds = [[run.seed for run in result.seeds] for result in (first, second)]
    common = [run for run in seeds[0] if run in seeds[1]] if seed is None else [seed]
    if not common or any(common[0] not in numbers for numbers in seeds):
        raise ParameterError(f"Both results must have the seed to compare. Got seeds {seeds[0]} and {seeds[1]}.")
    rows = seeds[0].index(common[0]), seeds[1].index(common[0])
    match items:
        case PairedItems(), PairedItems():
            return _compare_pairs(first, *items, rows)
        case TaskItems(), TaskItems() if first.counts == second.counts:
            return _compare_items(first, *items, rows)
    raise ParameterError(_ITEMS_DIFFER)


def _compare_items(first: TaskResult, before: TaskItems, after: TaskItems, rows: tuple[int, int]) -> GapComparison:
    """Differences of gaps between groups of items; `rows` are those of the seed in each result."""
    if (before.labels, before.groups) != (after.labels, after.groups):
        raise ParameterError(_ITEMS_DIFFER)
    counted = [item for item, group in enumerate(before.groups) if group in first.counts]
    columns = (before.labels, before.predictions[rows[0]], after.predictions[rows[1]], before.groups)
    selected = ([column[item] for item in counted] for column in columns)
    names = ("positive", "as_published", "level", "resamples", "random_state")
    return compare_gaps(*selected, order=list(first.counts), **{name: first.settings[name] for name in names})


def _compare_pairs(first: TaskResult, before: PairedItems, after: PairedItems, rows: tuple[int, int]) -> GapComparison:
    """Differences of gaps between two versions of the same sentences."""
    from biasgauge.applications.coref.task import WINOBIAS, compare_pairs

    if (before.checksum, list(before.parts)) != (after.checksum, list(after.parts)):
        raise ParameterError(_ITEMS_DIFFER)
    settings = {name: first.settings[name] for name in ("level", "resamples", "random_state")}
    resampling = bootstrap_settings("compare_tasks", method="percentile", **settings)
    changes = [
        change
        for name, sums in before.parts.items()
        for change in compare_pairs(sums[rows[0]], after.parts[name][rows[1]], f"{WINOBIAS}{name}", resampling)
    ]
    return GapComparison(resampling.to_settings(), (), dict(first.counts.items()), (), tuple(changes))
