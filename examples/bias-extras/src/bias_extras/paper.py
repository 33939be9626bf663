"""A paper: what it printed, and the function that computes it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.papers import Paper, Part, Recomputed, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from biasgauge.papers import Data


def compute(_data: Data, _random_state: int, _progress: Callable[[int, int], None] | None) -> Mapping[str, Recomputed]:
    """What was found, by the id of the row."""
    return {"table1.sum": Recomputed(as_published=3.0, corrected=4.0, note="the paper forgot one")}


PAPER = Paper(
    name="doe2024",
    title="On Sums",
    citation="Doe, Journal of Sums, 2024",
    needs=(),
    parts=(Part("table1", "One sum.", (Row("table1.sum", "the sum", "Table 1", 3.0, tolerance=0.5),), compute),),
)
