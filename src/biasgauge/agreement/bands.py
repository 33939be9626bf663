"""Names for how good a reliability is, with their sources."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BANDS = ("poor", "moderate", "good", "excellent")
LIMITS = (0.5, 0.75, 0.9)
ACCEPTABLE = 0.7

SOURCES = {
    "icc": "Koo & Li 2016: below .5 poor, to .75 moderate, to .9 good, above .9 excellent",
    "alpha": "Nunnally 1978: .7 and more acceptable",
}


def band(value: float | None) -> str | None:
    """Band of an ICC after Koo & Li: .5 is moderate, .75 good, .9 still good; None for None."""
    return None if value is None or np.isnan(value) else str(bands(np.array([value]))[0])


def bands(values: NDArray[np.floating[Any]]) -> NDArray[np.object_]:
    """`band` of many values; None where they are NaN."""
    numbers = np.asarray(values, np.float64)
    steps = (numbers >= LIMITS[0]).astype(int) + (numbers >= LIMITS[1]) + (numbers > LIMITS[2])
    names = np.array([*BANDS, None], dtype=object)
    return np.asarray(names[np.where(np.isnan(numbers), len(BANDS), steps)])


def verdict(low: float | None, high: float | None) -> str:
    """What an interval says, as Koo & Li advise to judge: "good to excellent"; "undefined" without one."""
    ends = [band(low), band(high)]
    if ends[0] is None or ends[1] is None:
        return "undefined"
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def alpha_bands(values: NDArray[np.floating[Any]]) -> NDArray[np.object_]:
    """Whether Cronbach's alphas are acceptable (Nunnally): "acceptable" from .7 on, "low" below; None for NaN."""
    numbers = np.asarray(values, np.float64)
    names = np.array(["low", "acceptable", None], dtype=object)
    return np.asarray(names[np.where(np.isnan(numbers), 2, numbers >= ACCEPTABLE)])
