"""What `gaps` and `compare_gaps` return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol

from biasgauge.core import Estimate, JsonObject, LabeledEstimate
from biasgauge.errors import ParameterError
from biasgauge.results import (
    AltairChart,
    Chart,
    Column,
    Result,
    Summary,
    Table,
    altair,
    interval_chart,
    level_text,
    records_frame,
)

if TYPE_CHECKING:
    import pandas as pd

Label = str | int | float | bool | None
"""What a user names a class or a group; None for none."""
REST = "the rest"
"""Stands for all other groups together."""
_FIRST: Label = "the first class"
"""Nothing was named."""
_GAPS = "Gap between groups: rate of the first − rate of the second"
_CHANGES = "How gaps differ: second predictions − first"


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

    settings: JsonObject
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
        rows = [(what(gap), f"{gap.a} − {gap.b}", gap, gap.p_value, gap.p_holm, gap.n_a, gap.n_b) for gap in self.gaps]
        columns = ["rate", "groups", Column("gap", "estimate", 3), Column("p", "p"), Column("Holm-adjusted p", "p")]
        columns += [Column("items of the first", "count"), Column("items of the second", "count")]
        gaps = Table.of("gaps", "Gaps: first group − second", columns, rows)
        rates = [(what(rate), rate.group, rate, rate.n) for rate in self.rates]
        columns = ["rate", "group", Column("value", "estimate", 3), Column("items", "count")]
        return Summary(
            title="Gaps between groups",
            headline=headline(self.gaps, "gaps between groups"),
            warnings=self.warnings,
            tables=(gaps, Table.of("rates", "Rates of each group", columns, rates)),
            charts=_charts(self.gaps, self.settings, "gaps", "gap", _GAPS),
        )


@dataclass(frozen=True, repr=False)
class GapComparison(Result):
    """Differences of gaps between two sets of predictions of the same items.

    Attributes:
        settings, classes, counts, warnings: as in `GapResult`.
        changes: one for each rate and pair of groups.
    """

    tables: ClassVar[tuple[str, ...]] = ("changes",)

    settings: JsonObject
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
        columns = ["rate", "groups", *gaps, Column("second − first", "estimate", 3), Column("p", "p")]
        return Summary(
            title="Gaps by two sets of predictions",
            headline=headline(self.changes, "differences of gaps"),
            warnings=self.warnings,
            tables=(Table.of("changes", _CHANGES, columns, rows),),
            charts=_charts(self.changes, self.settings, "gap_changes", "difference of gaps", _CHANGES),
        )


class _Rated(Protocol):
    """A rate, by its name and the class that it is of."""

    @property
    def metric(self) -> str: ...
    @property
    def of(self) -> Label: ...


def what(row: _Rated) -> str:
    """The rate in words, with the class that it is of."""
    return str(row.metric).replace("_", " ") + ("" if row.of is None else f", {row.of}")


def headline(rows: Sequence[Estimate], subject: str) -> str:
    """How many numbers are clear of 0."""
    known = [row for row in rows if row.value is not None]
    clear = sum(row.excludes(0.0) is True for row in known)
    level = level_text(known[0].level) if known else level_text(0.95)
    return f"{clear} of {len(known)} {subject} have a {level} interval that excludes 0."


def _charts(
    rows: Sequence[Gap] | Sequence[GapChange], settings: JsonObject, name: str, axis: str, title: str
) -> tuple[Chart, ...]:
    """Every gap, or difference of gaps, with its interval: a row for each metric and class, a panel a comparison."""
    known = [row for row in rows if row.value is not None]
    if not known:
        return ()
    pairs = {f"{row.a} − {row.b}" for row in known}
    start = f"{pairs.pop()}; " if len(pairs) == 1 else ""
    how = f"{level_text(settings['level'])} interval ({settings['interval']} bootstrap over items)"
    return (Chart(name, title, f"{start}{how}; 0 is no difference", partial(_drawn, known, axis)),)


def _drawn(rows: Sequence[Gap | GapChange], axis: str) -> AltairChart:
    import pandas as pd

    value = rows[0].renamed.get("value", "value")
    columns = ["what", "pair", value, "low", "high", "p_value"]
    cells = [(what(row), f"{row.a} − {row.b}", row.value, row.low, row.high, row.p_value) for row in rows]
    x = altair().X(f"{value}:Q", title=axis)
    return interval_chart(pd.DataFrame(cells, columns=columns), x, panel="pair", columns=3, width=300)
