"""DB/WA: direct bias, or word association, of a word towards the ends of a pair."""

from __future__ import annotations

from biasgauge.core import Floats, unit_rows
from biasgauge.metrics.measure import Linear


def direction(first: Floats, second: Floats) -> Floats:
    """Return the difference of the two ends, each of length 1."""
    return unit_rows(first) - unit_rows(second)


MEASURE = Linear(
    name="dbwa",
    display_name="DB/WA",
    summary=(
        "cos(word, first) − cos(word, second): how much nearer the word is to the first end. 0: equally near. "
        "Undefined where the word or an end is missing or a zero vector, or the ends are equal."
    ),
    low=-2.0,
    high=2.0,
    source="Bolukbasi et al. 2016 and Caliskan et al. 2017, in the form of Du et al. 2021, §3.2, and Zhang et al. 2020",
    scale_invariant=True,
    word_scale_invariant=True,
    direction=direction,
    per_length=True,
)
