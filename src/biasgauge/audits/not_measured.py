"""A part of an audit that could not be measured, with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from biasgauge.core import JsonObject
from biasgauge.results import Result, Summary


@dataclass(frozen=True, eq=False, repr=False)
class NotMeasured(Result):
    """Why there are no numbers.

    Attributes:
        reason: why.
        empty: keys of the JSON whose lists are empty for that reason.
    """

    abridged: ClassVar[bool] = True

    reason: str
    empty: tuple[str, ...] = ()

    def to_dict(self) -> JsonObject:
        """Empty lists, and the reason."""
        return {**{name: [] for name in self.empty}, "reason": self.reason}

    def summary(self) -> Summary:
        """The reason."""
        return Summary("Not measured", f"Unknown: {self.reason.rstrip('.')}.")
