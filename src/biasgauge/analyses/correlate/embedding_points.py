"""`points`: intrinsic and extrinsic bias of many versions of an embedding side by side, ready for `correlate`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from biasgauge.applications import Task, TaskGap, TaskMetric, TaskResult, extrinsic, read_task
from biasgauge.core import Estimate, JsonMapping, JsonObject, Record, VectorsLike
from biasgauge.errors import InputError, ParameterError
from biasgauge.io import read_saved
from biasgauge.lexicons import AssociationTest
from biasgauge.results import Column, RecordTable, Result, counted, records_frame
from biasgauge.scores import association_test, weat
from biasgauge.stats import Resampling
from biasgauge.vectors import load

if TYPE_CHECKING:
    import pandas as pd

    Test = str | os.PathLike[str] | AssociationTest

INTRINSIC = ("weat", "contrast", "adjusted", "ripa")
"""Intrinsic numbers of a point: WEAT's effect size, the contrast, the contrast at equal word frequency, RIPA."""
_ENDS = ("low", "high", "reason")
_NOT_MEASURED = Estimate(value=None, reason="not measured")
ORIGINAL = "original"
NO_DIRECTION = "none"
_STEPS = 1000
"""Steps of progress for each version."""
_FEW_RESAMPLES = 100
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
        name: its name in tables; composed of the others where it is empty.
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
        change = [] if self.method == ORIGINAL else [self.direction, f"{self.strength:g}"]
        return self.name or " ".join([self.embedding, self.method, *change])


@dataclass(frozen=True, kw_only=True)
class _VersionRecord(Record):
    """A number of one version of an embedding.

    Attributes:
        variant: name of the version of the embedding: the `unit` of `correlate`.
        embedding, method, direction, strength: as in `Variant`.
        task: the downstream task.
        metric, positive_class: as in `TaskGap`; the latter is `of` in JSON and frames.
        seed: of the task model.
    """

    renamed: ClassVar[Mapping[str, str]] = {"positive_class": "of"}

    variant: str
    embedding: str
    method: str
    direction: str
    strength: float
    task: str
    metric: str
    positive_class: str | None
    seed: int


@dataclass(frozen=True, kw_only=True)
class Point(_VersionRecord):
    """An intrinsic number beside an extrinsic one.

    Attributes:
        test: the association test.
        weat: its effect size, with its interval over words.
        contrast: its contrast in cosine units, over targets and attributes.
        adjusted: the contrast at equal word frequency.
        ripa: the same sets by RIPA in WEAT's place.
        found, asked: words of the test with a vector, and words of the test.
        a, b: groups of the gap, as in `TaskGap`.
        gap: a − b, from −1 to 1; None when undefined.
        gap_reason: reason why it is undefined.
    """

    test: str
    weat: Estimate
    contrast: Estimate = _NOT_MEASURED
    adjusted: Estimate = _NOT_MEASURED
    ripa: Estimate = _NOT_MEASURED
    found: int
    asked: int
    a: str
    b: str
    gap: float | None
    gap_reason: str | None

    def derived(self) -> JsonMapping:
        """Each intrinsic number and the ends of its interval, in columns of their own."""
        numbers: dict[str, float | str | None] = {}
        for name in INTRINSIC:
            estimate = getattr(self, name)
            numbers[name] = estimate.value
            numbers |= {f"{name}_{end}": getattr(estimate, end) for end in _ENDS}
        return numbers

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """Read the point from what `to_dict` wrote."""
        estimates = {
            name: {"value": content.get(name), **{end: content.get(f"{name}_{end}") for end in _ENDS}}
            for name in INTRINSIC
        }
        return super().from_dict({**content, **estimates})


@dataclass(frozen=True, kw_only=True)
class Performance(_VersionRecord):
    """Performance on a task with one version and seed; fields as in `Point` and `TaskMetric`."""

    group: str | None
    value: float | None


@dataclass(frozen=True, repr=False)
class PointsResult(Result):
    """Points of a correlation study; `correlate` takes its frame, or the CSV file that `save` writes.

    Attributes:
        points: one for every version, association test, gap and task seed.
        performance: metrics of the task, without which gaps cannot be judged.
        settings: arguments of `points`.
        warnings: caveats.
    """

    tables: ClassVar[tuple[str, ...]] = ("points",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "points",
            "The points",
            (
                Column("version", source="variant"),
                "test",
                Column("WEAT", "estimate", source="weat"),
                Column("contrast", "estimate", source="contrast"),
                "metric",
                Column("of", source="positive_class"),
                Column("groups", source=lambda row: f"{row.a} − {row.b}"),
                Column("gap", "number", 3),
                Column("seed", "count"),
            ),
            most=20,
        ),
    )

    points: tuple[Point, ...]
    performance: tuple[Performance, ...]
    settings: JsonObject
    warnings: tuple[str, ...] = ()

    def performance_frame(self) -> pd.DataFrame:
        """One row for each metric, group, version and seed."""
        return records_frame(self.performance)

    def _title(self) -> str:
        return "Intrinsic and extrinsic numbers"

    def _headline(self) -> str:
        versions = len({point.variant for point in self.points})
        return f"{counted(self.points, 'point')} of {counted(versions, 'version')}"


class _TaskOutcome(NamedTuple):
    """Gaps and metrics of every seed, as fields of `Point` and `Performance`."""

    task: str
    gaps: list[JsonObject]
    metrics: list[JsonObject]
    warnings: tuple[str, ...]


_Measured = tuple[Variant, list[JsonObject], _TaskOutcome]
"""A version, its effect sizes by test, and one result of the task."""


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

    Effect size and contrast of a version are those of `weat`, its gaps those of `extrinsic`, one for each task seed.
    `correlate` takes `to_frame()` or the file of `save` with x "contrast" ("weat", "adjusted", "ripa"), y "gap",
    seed_column "seed" and unit "variant".

    Args:
        variants: the versions.
        tests: lexicons of kind "test".
        task: one of `registry.names("task")`.
        data: folder (or file) of the task's data.
        seeds: how many models to train for each version, from the seed `random_state` on, or the seeds themselves.
        cache: folder of finished models, as in `extrinsic`: an interrupted study resumes from it.
        weat_settings: further arguments of `weat`, such as {"policy": WordPolicy(case="fallback")}.
        random_state: first task seed, and seed of the resampling.
        progress: called with (done, total).
        settings: of the task; `docs/applications/extrinsic.md` lists them.

    Raises:
        ParameterError: there is nothing to measure, two versions have the same name, or a setting cannot be used.
        InputError: data or vectors are not what they should be.
    """
    versions = _check_variants(variants)
    arguments = _weat_arguments(weat_settings, random_state)
    measured: list[_Measured] = []
    for index, variant in enumerate(versions):

        def version_progress(done: int, total: int, index: int = index) -> None:
            if progress is not None:
                progress(index * _STEPS + _STEPS * done // max(total, 1), len(versions) * _STEPS)

        effect_sizes = _effect_sizes(variant, tests, arguments)
        result = extrinsic(
            task, variant.vectors, data, seeds=seeds, cache=cache, random_state=random_state, resamples=_FEW_RESAMPLES,
            progress=version_progress, **settings,
        )  # fmt: skip
        measured.append((variant, effect_sizes, _task_outcome(result)))
        recorded = {"data_path": str(data), **result.settings}
    recorded = {key: value for key, value in recorded.items() if key not in {"vectors_checksum", "level", "resamples"}}
    return _collect(measured, arguments, recorded)


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
    arguments = _weat_arguments(weat_settings, random_state)
    outcomes = [(variant, _task_outcome(result)) for variant, result in results]
    versions = {variant.label: variant for variant, _ in outcomes}
    _check_variants(versions.values())
    tasks = sorted({outcome.task for _, outcome in outcomes})
    if len(tasks) > 1:
        raise ParameterError(f"Points must be of one task; the results are of {', '.join(tasks)}.")
    labels = ("metric", "positive_class", "a", "b", "seed")
    counts = Counter(
        (variant.label, *(gap[name] for name in labels)) for variant, outcome in outcomes for gap in outcome.gaps
    )
    repeated = next((gap for gap, count in counts.items() if count > 1), None)
    if repeated is not None:
        raise ParameterError(f"Two results of {repeated[0]!r} have the seed {repeated[-1]}; each model counts once.")
    effect_sizes = {name: _effect_sizes(variant, tests, arguments) for name, variant in versions.items()}
    measured = [(variant, effect_sizes[variant.label], outcome) for variant, outcome in outcomes]
    return _collect(measured, arguments, {"task": tasks[0]})


def _weat_arguments(settings: Mapping[str, Any] | None, random_state: int) -> dict[str, Any]:
    return {"interval": Resampling(random_state=random_state), "random_state": random_state, **(settings or {})}


def _check_variants(variants: Iterable[Variant]) -> tuple[Variant, ...]:
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


def _effect_sizes(variant: Variant, tests: Sequence[Test], arguments: Mapping[str, Any]) -> list[JsonObject]:
    """Effect sizes of one version, by test."""
    if isinstance(tests, str) or not tests:
        raise ParameterError(f"The 'tests' of points must be a list of lexicons of kind 'test'. Got {tests!r}.")
    model = load(variant.vectors)
    rows = []
    shared = {name: arguments[name] for name in ("policy", "interval") if name in arguments}
    for test in tests:
        result = weat(model, test, **arguments)
        low, high = (None, None) if result.interval is None else (result.interval.low, result.interval.high)
        numbers = {
            "weat": Estimate(value=result.value, low=low, high=high, reason=result.reason),
            "contrast": _bare(result.contrast),
            "adjusted": _bare(None if result.contrast is None else result.contrast.adjusted),
            "ripa": _bare(association_test(model, test, kind="set_ripa", **shared).estimate),
        }
        counts = {"found": result.coverage.found, "asked": result.coverage.asked}
        rows.append({"test": result.name, **numbers, **counts})
    return rows


def _bare(estimate: Estimate | None) -> Estimate:
    """Number and interval alone."""
    if estimate is None:
        return _NOT_MEASURED
    return Estimate(value=estimate.value, low=estimate.low, high=estimate.high, reason=estimate.reason)


def _collect(measured: Sequence[_Measured], arguments: Mapping[str, Any], settings: JsonObject) -> PointsResult:
    rows: list[Point] = []
    performance: list[Performance] = []
    undefined: dict[str, None] = {}
    warnings: dict[str, None] = {}
    for variant, tests, outcome in measured:
        labels: dict[str, Any] = {"variant": variant.label, "embedding": variant.embedding, "method": variant.method}
        labels |= {"direction": variant.direction, "strength": variant.strength, "task": outcome.task}
        rows += [Point(**labels, **test, **gap) for test in tests for gap in outcome.gaps]
        performance += [Performance(**labels, **metric) for metric in outcome.metrics]
        warnings |= dict.fromkeys(outcome.warnings)
        reasons = [(test["test"], test["weat"].reason) for test in tests if test["weat"].value is None]
        undefined |= {f"{name} on {variant.label}: {reason}": None for name, reason in reasons}
    weat_settings = {key: asdict(value) if isinstance(value, Resampling) else value for key, value in arguments.items()}
    settings = {"tests": [test["test"] for test in measured[0][1]], "weat": weat_settings, **settings}
    return PointsResult(tuple(rows), tuple(performance), settings, (*undefined, *warnings))


def _task_outcome(result: object) -> _TaskOutcome:
    """Outcome of a `TaskResult`, a file of its JSON, or results of scripts/train_coref.py, seed by seed."""
    if isinstance(result, (str, os.PathLike)):
        try:
            content = read_saved(result)
        except InputError:
            content = {}  # `read_task` raises the error
        result = content if isinstance(content, dict) and "winobias" in content else read_task(result)
    if isinstance(result, TaskResult):
        outcome = _outcome_of_result(result)
    elif isinstance(result, Mapping):
        outcome = _outcome_of_coref(result)
    else:
        raise ParameterError(
            f"An extrinsic result must be a TaskResult, or a file of its JSON. Got {type(result).__name__}."
        )
    if not outcome.gaps:
        reason = getattr(result, "no_gaps", None) or "none were computed"
        raise ParameterError(f"The task {outcome.task} has no gaps between groups, which points need: {reason}.")
    return outcome


def _outcome_of_result(result: TaskResult) -> _TaskOutcome:
    seeds = [run.seed for run in result.seeds]
    gaps, metrics = [], []
    rows: tuple[TaskGap | TaskMetric, ...] = (*result.gaps, *result.metrics)
    for row in rows:
        if len(row.values) != len(seeds):
            raise InputError(
                f"The result of {result.task} on {result.vectors} has {len(row.values)} values of {row.metric!r} for "
                f"{len(seeds)} seeds; expected one a seed"
            )
        for value, seed in zip(row.values, seeds, strict=True):
            labels = {"metric": row.metric, "positive_class": row.positive_class, "seed": seed}
            if isinstance(row, TaskMetric):
                metrics.append({**labels, "group": row.group, "value": value})
            else:
                gaps.append(_gap_fields(value, row.reason, **labels, a=row.a, b=row.b))
    return _TaskOutcome(result.task, gaps, metrics, result.warnings)


def _outcome_of_coref(result: JsonMapping) -> _TaskOutcome:
    """Gaps of WinoBias, as fractions and under the names that the task `coref` gives them."""
    try:
        seed = int(result["seed"])
        metrics = [
            {"metric": score["rate"], "positive_class": "conll", "group": None, "value": score["value"], "seed": seed}
            for score in result["test"]["scores"]
            if score["metric"] == "conll"
        ]
        gaps = []
        for row in result["winobias"]["gaps"]:
            labels = {"metric": row["metric"], "positive_class": f"winobias {row['of']}", "seed": seed}
            gap, pro, anti = (None if row[key] is None else row[key] / 100 for key in ("gap", "first", "second"))
            gaps.append(_gap_fields(gap, row["reason"], a="pro", b="anti", **labels))
            metrics += [{**labels, "group": group, "value": value} for group, value in (("pro", pro), ("anti", anti))]
    except (KeyError, TypeError, ValueError) as problem:
        raise InputError(
            f"A result of coreference is not what scripts/train_coref.py --winobias writes: {problem!r}"
        ) from problem
    return _TaskOutcome("coref", gaps, metrics, tuple(result["winobias"].get("warnings", ())))


def _gap_fields(value: float | None, reason: str | None, **labels: Any) -> JsonObject:  # noqa: ANN401 - fields of a point
    return {**labels, "gap": value, "gap_reason": None if value is not None else reason or "undefined with this seed"}
