"""One rule for ties: what differs by rounding alone is equal."""

from __future__ import annotations

SAME = 1e-12
"""Numbers closer than this, as a share of the size of what they were computed from, differ by rounding alone."""


def slack(*numbers: float) -> float:
    """How far numbers of this size may lie apart and still be the same."""
    return SAME * max(1.0, *(abs(number) for number in numbers))
