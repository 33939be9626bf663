"""What `gaps` and `compare_gaps` return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.applications.group_gaps.cells import Label
from biasgauge.applications.group_gaps.figures import gap_charts
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.results.result import records_frame
from biasgauge.stats.estimate import Estimate, LabeledEstimate

if TYPE_CHECKING:
    import pandas as pd

REST = "the rest"
"""Stands for all other groups together."""
_FIRST: Label = "the first class"
"""Nothing was named."""


@dataclass(frozen=True, kw_only=True)
class GroupRate(LabeledEstimate):
    """A rate within one group, such as its recall: between 0 and 1, with its interval over items of the same kind.

    Attributes:
        metric: which rate.
        of: the class that counts as positive, "weighted" for the mean over classes, None for accuracy.
        group: whose.
        n: items of the group.
    """

    metric: str
    of: Label
    group: Label


@dataclass(frozen=True, kw_only=True)
class Gap(LabeledEstimate):
    """Difference of a rate between two groups, a − b, with its interval over items of the same kind.

    From −1 to 1; 0 where the groups fare alike, positive where the rate is higher in `a`.

    Attributes:
        metric: "precision" (predictive parity), "recall" (equality of opportunity), "false_positive_rate", "f1" or
            "accuracy".
        of: the class that counts as positive, "weighted" for the mean over classes, None for accuracy.
        a, b: the groups; `b` may be "the rest".
        p_value: chance of a gap at least as large, in either direction, if it did not matter who is in which group.
        p_method: "exact" or "monte-carlo", and among which items groups were shuffled.
        p_holm: p corrected for the number of pairs compared in this metric (Holm 1979), those with the rest apart.
        n_a, n_b: items of the two groups.
    """

    metric: str
    of: Label
    a: Label
    b: Label
    p_value: float | None = None
    p_method: str | None = None
    p_holm: float | None = None
    n_a: int
    n_b: int


@dataclass(frozen=True, kw_only=True)
class GapChange(LabeledEstimate):
    """How a gap differs between two sets of predictions of the same items: second − first.

    0 where the gap is the same, not where it is absent. The interval draws each item with both predictions.

    Attributes:
        metric, of, a, b: as in `Gap`.
        first, second: the two gaps.
        p_value: chance of a difference at least as large if it did not matter which set a prediction came from.
        p_method: how it was found.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "value": "difference"}

    metric: str
    of: Label
    a: Label
    b: Label
    first: float | None
    second: float | None
    p_value: float | None = None
    p_method: str | None = None


@dataclass(frozen=True, repr=False)
class GapResult(Result):
    """Gaps between groups, with the rates that they are differences of.

    Attributes:
        settings: what was asked for.
        classes: labels and predictions that occur.
        counts: items by group.
        warnings: what to know before reading the table.
        gaps: one for each rate and pair of groups; with more than two groups also each against the rest.
        rates: one for each rate and group.
    """

    tables: ClassVar[tuple[str, ...]] = ("gaps",)

    settings: dict[str, Any]
    classes: tuple[Label, ...]
    counts: dict[Label, int]
    warnings: tuple[str, ...]
    gaps: tuple[Gap, ...]
    rates: tuple[GroupRate, ...]

    def gap(self, metric: str, of: Label = _FIRST, a: Label = None, b: Label = None) -> Gap:
        """Find one gap: `of` is a class or "weighted"; by default the positive class, or the first where all are.

        Raises:
            ParameterError: there is none, or several, of that description.
        """
        wanted = None if metric == "accuracy" else self.gaps[0].of if of is _FIRST else of
        matching = [
            gap
            for gap in self.gaps
            if (gap.metric, gap.of) == (metric, wanted) and a in {None, gap.a} and b in {None, gap.b}
        ]
        if len(matching) != 1:
            known = sorted({gap.metric for gap in self.gaps})
            raise ParameterError(
                f"There must be one gap of {metric!r} for {wanted!r} between {a!r} and {b!r}. Got {len(matching)}; "
                f"metrics are {', '.join(known)}, groups {', '.join(map(repr, self.counts))}."
            )
        return matching[0]

    def rates_frame(self) -> pd.DataFrame:
        """One row for each rate of each group."""
        return records_frame(self.rates)

    def summary(self) -> Summary:
        """How many gaps differ from 0, every gap, and the rates of each group."""
        rates = [(what(rate), rate.group, rate, rate.n) for rate in self.rates]
        columns: list[Column | str] = ["rate", "group", Column("value", "estimate", 3), Column("items", "count")]
        return Summary(
            title="Gaps between groups",
            headline=_headline(self.gaps, "gaps between groups have"),
            warnings=self.warnings,
            tables=(gap_table(self.gaps), Table.of("rates", "Rates of each group", columns, rates)),
            charts=gap_charts(self),
        )


@dataclass(frozen=True, repr=False)
class GapComparison(Result):
    """Differences of gaps between two sets of predictions of the same items.

    Attributes:
        settings, classes, counts, warnings: as in `GapResult`.
        changes: one for each rate and pair of groups.
    """

    tables: ClassVar[tuple[str, ...]] = ("changes",)

    settings: dict[str, Any]
    classes: tuple[Label, ...]
    counts: dict[Label, int]
    warnings: tuple[str, ...]
    changes: tuple[GapChange, ...]

    def summary(self) -> Summary:
        """How many gaps changed, and each of them by the first and the second predictions."""
        rows = [
            (what(change), f"{change.a} − {change.b}", change.first, change.second, change, change.p_value)
            for change in self.changes
        ]
        gaps = [Column("first gap", "number", 3), Column("second gap", "number", 3)]
        columns: list[Column | str] = [
            "rate", "groups", *gaps, Column("second − first", "estimate", 3), Column("p", "p"),
        ]  # fmt: skip
        return Summary(
            title="Gaps by two sets of predictions",
            headline=_headline(self.changes, "differences of gaps have"),
            warnings=self.warnings,
            tables=(Table.of("changes", "How gaps differ: second predictions − first", columns, rows),),
            charts=gap_charts(self),
        )


def what(row: GroupRate | Gap | GapChange) -> str:
    """The rate in words, with the class that it is of."""
    return row.metric.replace("_", " ") + ("" if row.of is None else f", {row.of}")


def gap_table(gaps: Sequence[Gap]) -> Table:
    """Gaps with intervals and p-values."""
    rows = [(what(gap), f"{gap.a} − {gap.b}", gap, gap.p_value, gap.p_holm, gap.n_a, gap.n_b) for gap in gaps]
    columns: list[Column | str] = [
        "rate", "groups", Column("gap", "estimate", 3), Column("p", "p"), Column("Holm-adjusted p", "p"),
        Column("items of the first", "count"), Column("items of the second", "count"),
    ]  # fmt: skip
    return Table.of("gaps", "Gaps: first group − second", columns, rows)


def _headline(rows: Sequence[Gap] | Sequence[GapChange], subject: str) -> str:
    known = [row for row in rows if row.value is not None]
    clear = sum(row.excludes(0.0) is True for row in known)
    level = f"{known[0].level:.0%}" if known else "95%"
    return f"{clear} of {len(known)} {subject} a {level} interval that excludes 0."
