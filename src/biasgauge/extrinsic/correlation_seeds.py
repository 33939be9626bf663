"""Is the extrinsic number reliable over task seeds? If not, nothing can correlate with it.

A task model trained again gives another gap. How far the gaps of embeddings differ beyond that is an intraclass
correlation, one-way, since the seeds of one embedding have nothing to do with those of another. By the law of
attenuation (Spearman 1904) an error-free number correlates with gaps at the root of their reliability at most.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from biasgauge.reliability import Estimate, band, icc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.reliability import Icc

Floats = np.ndarray[Any, np.dtype[np.float64]]

RELIABLE = 0.5
"""Below this a reliability is poor (Koo & Li 2016)."""


@dataclass(frozen=True)
class SeedReliability:
    """Reliability of y over task seeds.

    Attributes:
        single: ICC(1,1), of y from one seed.
        mean: ICC(1,k), of its mean over the k seeds, which is what is correlated.
        r_max: largest correlation that an error-free x could show with that mean: √ICC(1,k), 0 where it is negative.
        r_max_low, r_max_high: its interval, from that of the ICC.
        left_out: points that have fewer seeds and did not count.
        reading: what it comes to, in a sentence.
    """

    single: Estimate
    mean: Estimate
    r_max: float | None
    r_max_low: float | None
    r_max_high: float | None
    left_out: int
    reading: str

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return asdict(self)


def seed_reliability(runs: Sequence[Sequence[float]], name: str, *, level: float = 0.95) -> SeedReliability:
    """Reliability of numbers that were measured several times.

    Where points have different numbers of seeds, as many seeds are used as make the most of the runs.

    Args:
        runs: for each point its values, one a seed.
        name: what the values are, for the sentence.
        level: of the intervals.
    """
    sizes = np.array([len(one) for one in runs])
    most = max(range(1, int(sizes.max(initial=1)) + 1), key=lambda k: (k * int((sizes >= k).sum()) if k > 1 else 0, k))
    matrix = np.array([list(one[:most]) for one in runs if len(one) >= most], float).reshape(-1, most)
    single, mean = (_estimate(matrix, form, level) for form in ("1,1", "1,k"))
    most_r, low, high = (None if one is None else max(one, 0.0) ** 0.5 for one in (mean.value, mean.low, mean.high))
    if mean.value is None and single.value is not None:  # subjects do not differ on average: nothing but noise
        most_r = low = 0.0
    return SeedReliability(
        single, mean, most_r, low, high, len(runs) - len(matrix), _reading(single, mean, most_r, name)
    )


def _estimate(matrix: Floats, form: Any, level: float) -> Estimate:  # noqa: ANN401 - a form of icc
    found = cast("Icc", icc(matrix, form, level=level))  # one matrix, one number
    return Estimate(
        found.statistic, found.value, found.low, found.high, level, found.method, found.n, found.k, found.reason
    )


def _reading(single: Estimate, mean: Estimate, most: float | None, name: str) -> str:
    if most is None or single.value is None:
        return f"The reliability of {name!r} over task seeds is not known: {mean.reason or single.reason}."
    over = f"over {single.k} task seeds"
    if most == 0:
        return (
            f"{name!r} is not reliable: it does not differ between embeddings by more than task seeds make of it "
            f"({single}): no correlation can be seen, whatever is true."
        )
    if mean.value is not None and mean.value < RELIABLE:
        return (
            f"{name!r} is not reliable: as a mean {over} its reliability is {mean.value:.2f} ({band(mean.value)}; one "
            f"seed: {single.value:.2f}), so that hardly any correlation can be seen: even a perfect relation would "
            f"show as r = {most:.2f} at most. Train with more seeds."
        )
    return (
        f"{name!r} has a reliability of {mean.value:.2f} as a mean {over} ({band(mean.value)}; one seed: "
        f"{single.value:.2f}). Even a perfect relation would show as r = {most:.2f} at most."
    )
