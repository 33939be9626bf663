"""What `gaps` and `compare_gaps` return."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from biasgauge.errors import ParameterError
from biasgauge.extrinsic.frames import rows_to_frame

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.extrinsic.gaps_cells import Label
    from biasgauge.scores import Interval

REST = "the rest"
"""Stands for all other groups together."""
_FIRST: Label = object()
"""Nothing was named."""


@dataclass(frozen=True)
class GroupRate:
    """A rate within one group, such as its recall.

    Attributes:
        metric: which rate.
        of: the class that counts as positive, "weighted" for the mean over classes, None for accuracy.
        group: whose.
        value: between 0 and 1; None when undefined.
        interval: how far it would move with other items of the same kind.
        n: items of the group.
        reason: why it is undefined.
    """

    metric: str
    of: Label
    group: Label
    value: float | None
    interval: Interval | None
    n: int
    reason: str | None = None


@dataclass(frozen=True)
class Gap:
    """Difference of a rate between two groups: a − b.

    Attributes:
        metric: "precision" (predictive parity), "recall" (equality of opportunity), "false_positive_rate", "f1" or
            "accuracy".
        of: the class that counts as positive, "weighted" for the mean over classes, None for accuracy.
        a, b: the groups; `b` may be "the rest".
        value: from −1 to 1; 0 where the groups fare alike, positive where the rate is higher in `a`. None when
            undefined.
        interval: how far it would move with other items of the same kind.
        p_value: chance of a gap at least as large, in either direction, if it did not matter who is in which group.
        p_method: "exact" or "monte-carlo", and among which items groups were shuffled.
        p_holm: p corrected for the number of pairs compared in this metric (Holm 1979), those with the rest apart.
        n_a, n_b: items of the two groups.
        reason: why it is undefined.
    """

    metric: str
    of: Label
    a: Label
    b: Label
    value: float | None
    interval: Interval | None
    p_value: float | None
    p_method: str | None
    n_a: int
    n_b: int
    reason: str | None = None
    p_holm: float | None = None


@dataclass(frozen=True)
class GapChange:
    """How a gap differs between two sets of predictions of the same items: second − first.

    Attributes:
        metric, of, a, b: as in `Gap`.
        first, second: the two gaps.
        difference: second − first; 0 where the gap is the same, not where it is absent. None when undefined.
        interval: how far the difference would move with other items of the same kind, each drawn with both predictions.
        p_value: chance of a difference at least as large if it did not matter which set a prediction came from.
        p_method: how it was found.
        reason: why it is undefined.
    """

    metric: str
    of: Label
    a: Label
    b: Label
    first: float | None
    second: float | None
    difference: float | None
    interval: Interval | None
    p_value: float | None
    p_method: str | None
    reason: str | None = None


@dataclass(frozen=True)
class _Table:
    """Rows about groups, and what they rest on.

    Attributes:
        settings: what was asked for.
        classes: labels and predictions that occur.
        counts: items by group.
        warnings: what to know before reading the table.
    """

    settings: dict[str, Any]
    classes: tuple[Label, ...]
    counts: dict[Label, int]
    warnings: tuple[str, ...]

    def _about(self) -> dict[str, Any]:
        return {
            "classes": list(self.classes),
            "counts": {str(name): count for name, count in self.counts.items()},
            "settings": self.settings,
            "warnings": list(self.warnings),
        }

    def _notes(self) -> str:
        return "".join(f"<p>{escape(one)}</p>" for one in self.warnings)


@dataclass(frozen=True)
class GapResult(_Table):
    """Gaps between groups, with the rates that they are differences of.

    Attributes:
        gaps: one for each rate and pair of groups; with more than two groups also each against the rest.
        rates: one for each rate and group.
    """

    gaps: tuple[Gap, ...]
    rates: tuple[GroupRate, ...]

    def gap(self, metric: str, of: Label = _FIRST, a: Label = None, b: Label = None) -> Gap:
        """Find one gap: `of` is a class or "weighted"; by default the positive class, or the first where all are.

        Raises:
            ParameterError: there is none, or several, of that description.
        """
        wanted = None if metric == "accuracy" else self.gaps[0].of if of is _FIRST else of
        found = [
            one
            for one in self.gaps
            if (one.metric, one.of) == (metric, wanted) and a in {None, one.a} and b in {None, one.b}
        ]
        if len(found) != 1:
            known = sorted({one.metric for one in self.gaps})
            raise ParameterError(
                f"There must be one gap of {metric!r} for {wanted!r} between {a!r} and {b!r}. Got {len(found)}; "
                f"metrics are {', '.join(known)}, groups {', '.join(map(repr, self.counts))}."
            )
        return found[0]

    def to_frame(self) -> pd.DataFrame:
        """One row a gap."""
        return rows_to_frame(self.gaps, reasons=True)

    def rates_frame(self) -> pd.DataFrame:
        """One row for each rate of each group."""
        return rows_to_frame(self.rates, reasons=True)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; undefined numbers are None beside their reason."""
        return {
            "gaps": [asdict(one) for one in self.gaps],
            "rates": [asdict(one) for one in self.rates],
            **self._about(),
        }

    def _repr_html_(self) -> str:
        return f"{self._notes()}{self.to_frame().to_html(index=False)}"


@dataclass(frozen=True)
class GapComparison(_Table):
    """Differences of gaps between two sets of predictions of the same items.

    Attributes:
        changes: one for each rate and pair of groups.
    """

    changes: tuple[GapChange, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a difference."""
        return rows_to_frame(self.changes, reasons=True)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; undefined numbers are None beside their reason."""
        return {"changes": [asdict(one) for one in self.changes], **self._about()}

    def _repr_html_(self) -> str:
        return f"{self._notes()}{self.to_frame().to_html(index=False)}"
