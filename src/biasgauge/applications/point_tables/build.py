"""`points`: intrinsic numbers beside extrinsic ones, for many versions of an embedding, ready for `correlate`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from biasgauge.applications.point_tables.outcomes import Outcome, outcome_of
from biasgauge.applications.point_tables.result import Performance, Point, PointsResult
from biasgauge.applications.tasks.run import extrinsic
from biasgauge.applications.tasks.task import Task
from biasgauge.embeddings import load
from biasgauge.errors import ParameterError
from biasgauge.inputs import VectorsLike
from biasgauge.lexicons import AssociationTest
from biasgauge.scores import Resampling, weat
from biasgauge.stats.estimate import Estimate

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


class Intrinsic(NamedTuple):
    """One association test on one version."""

    test: str
    weat: Estimate
    found: int
    asked: int


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
        weat_settings: further arguments of `weat`, such as {"case_fallback": True}.
        random_state: first task seed, and seed of the resampling.
        progress: called with (done, total).
        settings: of the task; `docs/extrinsic.md` lists them.

    Raises:
        ParameterError: there is nothing to measure, two versions have the same name, or a setting cannot be used.
        InputError: data or vectors are not what they should be.
    """
    given = _checked(variants)
    how = _weat_settings(weat_settings, random_state)
    measured = []
    for place, variant in enumerate(given):

        def part(done: int, total: int, place: int = place) -> None:
            if progress is not None:
                progress(place * _PARTS + _PARTS * done // max(total, 1), len(given) * _PARTS)

        intrinsic = _intrinsic(variant, tests, how)
        result = extrinsic(
            task, variant.vectors, data, seeds=seeds, cache=cache, random_state=random_state, resamples=_FEW,
            progress=part, **settings,
        )  # fmt: skip
        measured.append((variant, intrinsic, outcome_of(result)))
        recorded = {"data_path": str(data), **result.settings}
    recorded = {key: value for key, value in recorded.items() if key not in {"vectors_checksum", "level", "resamples"}}
    return _gathered(measured, {"tests": _names(measured), "weat": _told(how), **recorded})


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
    how = _weat_settings(weat_settings, random_state)
    given = [(variant, outcome_of(result)) for variant, result in results]
    versions = {variant.label: variant for variant, _ in given}
    _checked(versions.values())
    tasks = sorted({outcome.task for _, outcome in given})
    if len(tasks) > 1:
        raise ParameterError(f"Points must be of one task; the results are of {', '.join(tasks)}.")
    seen = Counter((variant.label, *gap[:4], gap.seed) for variant, outcome in given for gap in outcome.gaps)
    twice = next((one for one, count in seen.items() if count > 1), None)
    if twice is not None:
        raise ParameterError(f"Two results of {twice[0]!r} have the seed {twice[-1]}; each model counts once.")
    intrinsic = {name: _intrinsic(variant, tests, how) for name, variant in versions.items()}
    measured = [(variant, intrinsic[variant.label], outcome) for variant, outcome in given]
    return _gathered(measured, {"tests": _names(measured), "weat": _told(how), "task": tasks[0]})


def _checked(variants: Iterable[Variant]) -> tuple[Variant, ...]:
    given = tuple(variants)
    if not given:
        raise ParameterError("Points need at least one version of an embedding. Got none.")
    for one in given:
        if not isinstance(one, Variant):
            raise ParameterError(f"Versions of an embedding must be of the kind Variant. Got {type(one).__name__}.")
    name, count = Counter(one.label for one in given).most_common(1)[0]
    if count > 1:
        raise ParameterError(f"{count} versions are called {name!r}; give each a name of its own.")
    return given


def _weat_settings(given: Mapping[str, Any] | None, random_state: int) -> dict[str, Any]:
    return {"interval": Resampling(random_state=random_state), "random_state": random_state, **(given or {})}


def _told(how: Mapping[str, Any]) -> dict[str, Any]:
    return {key: asdict(value) if isinstance(value, Resampling) else value for key, value in how.items()}


def _intrinsic(variant: Variant, tests: Sequence[Test], how: Mapping[str, Any]) -> tuple[Intrinsic, ...]:
    if isinstance(tests, str) or not tests:
        raise ParameterError(f"The 'tests' of points must be a list of lexicons of kind 'test'. Got {tests!r}.")
    model = load(variant.vectors)
    found = []
    for test in tests:
        one = weat(model, test, **how)
        low, high = (None, None) if one.interval is None else (one.interval.low, one.interval.high)
        effect = Estimate(value=one.value, low=low, high=high, reason=one.reason)
        found.append(Intrinsic(one.name, effect, one.coverage.found, one.coverage.asked))
    return tuple(found)


_Measured = tuple[Variant, tuple[Intrinsic, ...], "Outcome"]


def _names(measured: Sequence[_Measured]) -> list[str]:
    return [one.test for one in measured[0][1]]


def _gathered(measured: Sequence[_Measured], settings: dict[str, Any]) -> PointsResult:
    rows: list[Point] = []
    performance: list[Performance] = []
    undefined: dict[str, None] = {}
    warnings: dict[str, None] = {}
    for variant, tests, outcome in measured:
        made = {"variant": variant.label, "embedding": variant.embedding, "method": variant.method}
        about: dict[str, Any] = {**made, "direction": variant.direction, "strength": variant.strength}
        about["task"] = outcome.task
        rows += [Point(**about, **test._asdict(), **gap._asdict()) for test in tests for gap in outcome.gaps]
        performance += [Performance(**about, **one._asdict()) for one in outcome.metrics]
        warnings |= dict.fromkeys(outcome.warnings)
        undefined |= {
            f"{one.test} on {variant.label}: {one.weat.reason}": None for one in tests if one.weat.value is None
        }
    return PointsResult(tuple(rows), tuple(performance), settings, (*undefined, *warnings))
