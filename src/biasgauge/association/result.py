"""What every association test returns at least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasgauge.results.plain import fields_to_plain

if TYPE_CHECKING:
    from biasgauge.stats.estimate import Estimate


@dataclass(frozen=True, kw_only=True)
class AssociationResult:
    """A number, or the reason why there is none.

    Attributes:
        value: the test's number; None when it is undefined.
        reason: why it is undefined; None when it is not.
        interval: how far `value` would move with other words of the same kind; None when it was not asked for.
    """

    value: float | None
    reason: str | None = None
    interval: Estimate | None = None

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object: every field, tuples as lists, undefined numbers as None beside their reason."""
        return fields_to_plain(self)
