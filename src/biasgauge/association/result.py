"""What every association test returns at least."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from biasgauge.association.intervals import Interval


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
    interval: Interval | None = None

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object: every field, tuples as lists, undefined numbers as None beside their reason."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    to_dict = getattr(value, "to_dict", None)
    return value if to_dict is None else to_dict()
