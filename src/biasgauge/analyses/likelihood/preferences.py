"""Which of two sentences a model prefers, and when that is undefined."""

from __future__ import annotations

from typing import Literal

import numpy as np

from biasgauge.core import Flags, Floats

NO_SCORE = "it has no score"
NOT_FINITE = "its score is not a finite number"
Ties = Literal["published", "undefined"]
TIES: dict[Ties, str] = {
    "undefined": "they are undefined and left out",
    "published": "they count as not preferring the first sentence, as in the released code",
}
"""What is done about two equal scores."""


def preferred(first: Floats, second: Floats, tied: Ties) -> Floats:
    """1 where the first scores higher, 0 where the second does, NaN where that is undefined.

    A sentence without a score leaves its comparisons undefined. Of two equal scores neither is preferred: "undefined"
    leaves the comparison out, "published" leaves it in the denominator alone, as released codes do, which lowers the
    share.
    """
    wins: Floats = np.where(np.asarray(first) > np.asarray(second), 1.0, 0.0)
    undefined = ~(np.isfinite(first) & np.isfinite(second))
    if tied == "undefined":
        undefined |= np.asarray(first) == np.asarray(second)
    return np.where(undefined, np.nan, wins)


def equal_scores(first: Floats, second: Floats) -> Flags:
    """Where both have a score, and it is the same."""
    return np.asarray(np.isfinite(first) & np.isfinite(second) & (np.asarray(first) == np.asarray(second)))
