"""`points`: intrinsic numbers beside extrinsic ones, for many versions of an embedding, ready for `correlate`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from biasgauge.applications.coref.paired import PERCENT
from biasgauge.applications.coref.scores import CONLL
from biasgauge.applications.coref.winobias_pairs import VERSIONS
from biasgauge.applications.point_tables.result import Performance, Point, PointsResult
from biasgauge.applications.tasks.result import TaskResult, read_task
from biasgauge.applications.tasks.run import extrinsic
from biasgauge.applications.tasks.task import Task
from biasgauge.core import Estimate, JsonMapping, JsonObject, VectorsLike
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import read_saved
from biasgauge.lexicons import AssociationTest
from biasgauge.scores import weat
from biasgauge.stats import Resampling
from biasgauge.vectors import load

if TYPE_CHECKING:
    Test = str | os.PathLike[str] | AssociationTest

ORIGINAL = "original"
NO_DIRECTION = "none"
_PARTS = 1000
"""What each version counts in progress."""
_FEW = 100
"""Resamples for intervals over items, which points do not have."""


@dataclass(frozen=True)
class Variant:
    """One version of an embedding.

    Attributes:
        vectors: a path, or anything `load` takes.
        embedding: which embedding it is a version of, such as "sgns".
        method: how it was changed, such as "balanced" or "attract_repel"; "original" where it was not.
        direction: "debias", "overbias", or "none".
        strength: how far it was changed; 0 where it was not.
        name: what tables call it; made of the others where it is empty.
    """

    vectors: VectorsLike
    embedding: str
    method: str = ORIGINAL
    direction: str = NO_DIRECTION
    strength: float = 0.0
    name: str = ""

    @property
    def label(self) -> str:
        """Its name, e.g. "sgns attract_repel debias 0.5"."""
        changed = [] if self.method == ORIGINAL else [self.direction, f"{self.strength:g}"]
        return self.name or " ".join([self.embedding, self.method, *changed])


class _Measured(NamedTuple):
    """One version by its tests and by one result of the task; rows hold the fields of `Point` and `Performance`."""

    variant: Variant
    tests: list[JsonObject]
    task: str
    gaps: list[JsonObject]
    metrics: list[JsonObject]
    warnings: tuple[str, ...]


def points(
    variants: Iterable[Variant],
    tests: Sequence[Test],
    task: str | Task,
    data: str | os.PathLike[str],
    *,
    seeds: int | Sequence[int] = 3,
    cache: str | os.PathLike[str] | None = None,
    weat_settings: Mapping[str, Any] | None = None,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,  # noqa: ANN401 - those of the task
) -> PointsResult:
    """Measure every version of an embedding by association tests and by a downstream task: a row for each combination.

    A version's effect sizes are those of `weat`, its gaps those of `extrinsic`, one for each task seed. `correlate`
    takes `to_frame()` or the file of `save` with x "weat", y "gap", seed_column "seed" and unit "variant".

    Args:
        variants: the versions.
        tests: lexicons of kind "test".
        task: one of `registry.names("task")`.
        data: folder (or file) of the task's data.
        seeds: how many models to train for each version, from the seed `random_state` on, or the seeds themselves.
        cache: folder of finished models, as in `extrinsic`: a study that was stopped goes on where it was.
        weat_settings: further arguments of `weat`, such as {"policy": WordPolicy(case="fallback")}.
        random_state: first task seed, and seed of the resampling.
        progress: called with (done, total).
        settings: of the task; `docs/extrinsic.md` lists them.

    Raises:
        ParameterError: there is nothing to measure, two versions have the same name, or a setting cannot be used.
        InputError: data or vectors are not what they should be.
    """
    versions = _checked(variants)
    how = {"interval": Resampling(random_state=random_state), "random_state": random_state, **(weat_settings or {})}
    measured = []
    for place, variant in enumerate(versions):

        def part(done: int, total: int, place: int = place) -> None:
            if progress is not None:
                progress(place * _PARTS + _PARTS * done // max(total, 1), len(versions) * _PARTS)

        intrinsic = _intrinsic(variant, tests, how)
        result = extrinsic(
            task, variant.vectors, data, seeds=seeds, cache=cache, random_state=random_state, resamples=_FEW,
            progress=part, **settings,
        )  # fmt: skip
        measured.append(_Measured(variant, intrinsic, *_outcome(result)))
        recorded = {"data_path": str(data), **result.settings}
    recorded = {key: value for key, value in recorded.items() if key not in {"vectors_checksum", "level", "resamples"}}
    return _gathered(measured, how, recorded)


def points_from_results(
    results: Iterable[tuple[Variant, object]],
    tests: Sequence[Test],
    *,
    weat_settings: Mapping[str, Any] | None = None,
    random_state: int = 0,
) -> PointsResult:
    """Points of a task that was trained elsewhere, such as coreference on a machine with a GPU.

    Args:
        results: versions, each with a result: a `TaskResult`, a file with its JSON (`biasgauge extrinsic … --json`), or
            results.json of scripts/train_coref.py, as a file or parsed. A version may have several, with other seeds.
        tests: lexicons of kind "test".
        weat_settings: further arguments of `weat`.
        random_state: seed of the resampling.

    Raises:
        ParameterError: there are no results, they are of several tasks, or two of a version have the same seed.
        InputError: a file is not what it should be.
    """
    how = {"interval": Resampling(random_state=random_state), "random_state": random_state, **(weat_settings or {})}
    measured = [_Measured(variant, [], *_outcome(result)) for variant, result in results]
    versions = {row.variant.label: row.variant for row in measured}
    _checked(versions.values())
    tasks = sorted({row.task for row in measured})
    if len(tasks) > 1:
        raise ParameterError(f"Points must be of one task; the results are of {', '.join(tasks)}.")
    labels = ("metric", "of", "a", "b", "seed")
    seen = Counter((row.variant.label, *(gap[name] for name in labels)) for row in measured for gap in row.gaps)
    twice = next((gap for gap, count in seen.items() if count > 1), None)
    if twice is not None:
        raise ParameterError(f"Two results of {twice[0]!r} have the seed {twice[-1]}; each model counts once.")
    intrinsic = {name: _intrinsic(variant, tests, how) for name, variant in versions.items()}
    measured = [row._replace(tests=intrinsic[row.variant.label]) for row in measured]
    return _gathered(measured, how, {"task": tasks[0]})


def _checked(variants: Iterable[Variant]) -> tuple[Variant, ...]:
    versions = tuple(variants)
    if not versions:
        raise ParameterError("Points need at least one version of an embedding. Got none.")
    for version in versions:
        if not isinstance(version, Variant):
            raise ParameterError(f"Versions of an embedding must be of the kind Variant. Got {type(version).__name__}.")
    name, count = Counter(version.label for version in versions).most_common(1)[0]
    if count > 1:
        raise ParameterError(f"{count} versions are called {name!r}; give each a name of its own.")
    return versions


def _intrinsic(variant: Variant, tests: Sequence[Test], how: Mapping[str, Any]) -> list[JsonObject]:
    """Effect sizes of one version, by test."""
    if isinstance(tests, str) or not tests:
        raise ParameterError(f"The 'tests' of points must be a list of lexicons of kind 'test'. Got {tests!r}.")
    model = load(variant.vectors)
    rows = []
    for test in tests:
        result = weat(model, test, **how)
        low, high = (None, None) if result.interval is None else (result.interval.low, result.interval.high)
        effect = Estimate(value=result.value, low=low, high=high, reason=result.reason)
        counts = {"found": result.coverage.found, "asked": result.coverage.asked}
        rows.append({"test": result.name, "weat": effect, **counts})
    return rows


def _gathered(measured: Sequence[_Measured], how: Mapping[str, Any], settings: JsonObject) -> PointsResult:
    rows: list[Point] = []
    performance: list[Performance] = []
    undefined: dict[str, None] = {}
    warnings: dict[str, None] = {}
    for variant, tests, task, gaps, metrics, notes in measured:
        about: dict[str, Any] = {"variant": variant.label, "embedding": variant.embedding, "method": variant.method}
        about |= {"direction": variant.direction, "strength": variant.strength, "task": task}
        rows += [Point(**about, **test, **gap) for test in tests for gap in gaps]
        performance += [Performance(**about, **metric) for metric in metrics]
        warnings |= dict.fromkeys(notes)
        lost = [(test["test"], test["weat"].reason) for test in tests if test["weat"].value is None]
        undefined |= {f"{name} on {variant.label}: {reason}": None for name, reason in lost}
    weat_settings = {key: asdict(value) if isinstance(value, Resampling) else value for key, value in how.items()}
    settings = {"tests": [test["test"] for test in measured[0].tests], "weat": weat_settings, **settings}
    return PointsResult(tuple(rows), tuple(performance), settings, (*undefined, *warnings))


_Outcome = tuple[str, list[JsonObject], list[JsonObject], tuple[str, ...]]
"""Task, gaps and metrics of every seed, warnings."""


def _outcome(result: object) -> _Outcome:
    """What a `TaskResult`, a file of its JSON, or results of scripts/train_coref.py say, seed by seed."""
    if isinstance(result, (str, os.PathLike)):
        try:
            content = read_saved(result)
        except InputError:
            content = {}  # `read_task` says what is wrong
        result = content if isinstance(content, dict) and "winobias" in content else read_task(result)
    if isinstance(result, TaskResult):
        outcome = _of_task(result)
    elif isinstance(result, Mapping):
        outcome = _of_coref(result)
    else:
        raise ParameterError(
            f"An extrinsic result must be a TaskResult, or a file of its JSON. Got {type(result).__name__}."
        )
    if not outcome[1]:
        why = getattr(result, "no_gaps", None) or "none were computed"
        raise ParameterError(f"The task {outcome[0]} has no gaps between groups, which points need: {why}.")
    return outcome


def _of_task(result: TaskResult) -> _Outcome:
    seeds = [run.seed for run in result.seeds]
    for row in (*result.gaps, *result.metrics):
        if len(row.values) != len(seeds):
            raise InputError(
                f"The result of {result.task} on {result.vectors} has {len(row.values)} values of {row.metric!r} for "
                f"{len(seeds)} seeds; expected one a seed"
            )
    gaps = [
        _gap(value, gap.reason, metric=gap.metric, of=gap.of, a=gap.a, b=gap.b, seed=seed)
        for gap in result.gaps
        for value, seed in zip(gap.values, seeds, strict=True)
    ]
    metrics = [
        {"metric": metric.metric, "of": metric.of, "group": metric.group, "value": value, "seed": seed}
        for metric in result.metrics
        for value, seed in zip(metric.values, seeds, strict=True)
    ]
    return result.task, gaps, metrics, result.warnings


def _of_coref(result: JsonMapping) -> _Outcome:
    """Gaps of WinoBias, as fractions and under the names that the task `coref` gives them."""
    try:
        seed = int(result["seed"])
        metrics = [
            {"metric": score["rate"], "of": CONLL, "group": None, "value": score["value"], "seed": seed}
            for score in result["test"]["scores"]
            if score["metric"] == CONLL
        ]
        gaps = []
        for row in result["winobias"]["gaps"]:
            about = {"metric": row["metric"], "of": f"winobias {row['of']}", "seed": seed}
            gaps.append(_gap(_fraction(row["gap"]), row["reason"], a=VERSIONS[0], b=VERSIONS[1], **about))
            sides = zip(VERSIONS, ("first", "second"), strict=True)
            metrics += [{**about, "group": version, "value": _fraction(row[side])} for version, side in sides]
    except (KeyError, TypeError, ValueError) as problem:
        raise InputError(
            f"A result of coreference is not what scripts/train_coref.py --winobias writes: {problem!r}"
        ) from problem
    return "coref", gaps, metrics, tuple(result["winobias"].get("warnings", ()))


def _gap(value: float | None, reason: str | None, **about: Any) -> JsonObject:  # noqa: ANN401 - fields of a point
    return {**about, "gap": value, "gap_reason": None if value is not None else reason or "undefined with this seed"}


def _fraction(percent: float | None) -> float | None:
    return None if percent is None else percent / PERCENT
