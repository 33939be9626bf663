"""How far a gap hangs on the seed of the task model.

One embedding cannot say how reliable a gap is: an intraclass correlation compares the spread over seeds with the spread
over embeddings (`seed_reliability`, in `correlate`). It can say how large the spread over seeds is, and whether the
gap keeps its sign.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from biasgauge.scores import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.extrinsic.tasks_result import TaskGap

METHOD = "chi-square, seeds taken as normal"
ONE_SEED = (
    "One model was trained: how far the gaps hang on its seed is not known, and the intervals leave it out. Train "
    "several (--seeds 5)."
)
_FEWEST = 2
_MOST_NAMED = 3


def with_spread(gap: TaskGap, level: float) -> TaskGap:
    """The same gap with the interval of its standard deviation over seeds."""
    if gap.sd is None:
        return gap
    return replace(gap, sd_interval=sd_interval(gap.sd, len(gap.values), level))


def sd_interval(sd: float, seeds: int, level: float) -> Interval:
    """Where the standard deviation over all seeds may lie, if gaps of seeds are normal: (k − 1) sd² / σ² is χ²."""
    from scipy.special import chdtri  # noqa: PLC0415 - only results of several seeds need it

    if sd == 0:
        return Interval(None, None, level, METHOD, 0, "seeds", reason="every seed gives the same value")
    free = seeds - 1
    low, high = (sd * (free / float(chdtri(free, tail))) ** 0.5 for tail in ((1 - level) / 2, (1 + level) / 2))
    return Interval(low, high, level, METHOD, 0, "seeds")


def seed_readings(gaps: Sequence[TaskGap], seeds: int) -> tuple[str, ...]:
    """What seeds make of the gaps, in plain sentences."""
    known = [one for one in gaps if one.value is not None]
    if not known:
        return ()
    if seeds < _FEWEST:
        return (ONE_SEED,)
    if not any(one.sd for one in known):
        return (f"All {seeds} seeds give the same gaps, to the last digit: look whether the models differ at all.",)
    told = [_largest(known, seeds)]
    turning = [one for one in known if any((value or 0.0) * cast("float", one.value) < 0 for value in one.values)]
    if turning:
        named = ", ".join(map(_name, turning[:_MOST_NAMED])) + (", …" if len(turning) > _MOST_NAMED else "")
        verb = "changes its sign" if len(turning) == 1 else "change their sign"
        told.append(
            f"{len(turning)} of {len(known)} gaps {verb} from seed to seed ({named}): no property of the vectors."
        )
    else:
        told.append("No gap changes its sign from seed to seed.")
    told.append(
        "Whether the gaps are reliable enough to correlate with anything takes several embeddings: biasgauge correlate "
        "--seed-column."
    )
    return tuple(told)


def _largest(known: Sequence[TaskGap], seeds: int) -> str:
    """The gap that moves most, with how far."""
    most = max(known, key=lambda one: one.sd or 0.0)
    around = most.sd_interval
    ends = "" if around is None or around.low is None else f", {around.level:.0%} {around.low:.3f} to {around.high:.3f}"
    return (
        f"Over {seeds} seeds the gap that moves most is {_name(most)}: {most.value:+.3f} with a standard deviation "
        f"of {most.sd or 0.0:.3f}{ends}."
    )


def _name(gap: TaskGap) -> str:
    of = f" of {gap.of}" if gap.of else ""
    return f"{gap.metric.replace('_', ' ')}{of}, {gap.a} − {gap.b}"
