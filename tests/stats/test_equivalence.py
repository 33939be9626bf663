"""Whether an interval shows a difference that matters, that none does, or neither."""

from __future__ import annotations

import pytest

from biasgauge.stats import decide_equivalence


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.2, 0.4, "different"),
        (-0.4, -0.2, "different"),
        (-0.05, 0.08, "equivalent"),
        (-0.1, 0.1, "equivalent"),  # the ends of the region belong to it
        (-0.05, 0.3, "undecided"),  # inside at one end alone
        (-0.3, 0.05, "undecided"),
        (-0.3, 0.3, "undecided"),
        (None, 0.05, None),
        (0.0, None, None),
    ],
)
def test_where_an_interval_lies(low: float | None, high: float | None, expected: str | None) -> None:
    assert decide_equivalence(low, high, 0.1) == expected
