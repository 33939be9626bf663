"""`GapResult` and `GapComparison`: gaps between groups, and how they differ between two sets of predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from biasgauge.core import Estimate, JsonObject, LabeledEstimate
from biasgauge.errors import ParameterError
from biasgauge.results import (
    AltairChart,
    Chart,
    Column,
    RecordTable,
    Result,
    altair,
    interval_chart,
    level_text,
    records_frame,
)

if TYPE_CHECKING:
    import pandas as pd

Label = str | int | float | bool | None
"""Name of a class or a group; None for none."""
REST = "the rest"
"""All other groups together."""
_UNSET: Label = "the first class"
_GAPS = "Gap between groups: rate of the first − rate of the second"
_CHANGES = "Differences of gaps: second predictions − first"


@dataclass(frozen=True, kw_only=True)
class RatedEstimate(LabeledEstimate):
    """An estimate about one rate of a classifier.

    Attributes:
        metric: "precision" (predictive parity), "recall" (equality of opportunity), "false_positive_rate", "f1",
            "accuracy", or what a task calls its metrics.
        positive_class: class that counts as positive, "weighted" for the mean over classes, None for accuracy; for
            coreference the set of sentences. `of` in JSON and frames.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "positive_class": "of"}

    metric: str
    positive_class: Label


@dataclass(frozen=True, kw_only=True)
class GroupRate(RatedEstimate):
    """A rate within one `group` with `n` items, such as its recall: between 0 and 1, with its interval over items."""

    group: Label


@dataclass(frozen=True, kw_only=True)
class Gap(RatedEstimate):
    """Difference of a rate between two groups, a − b, with its interval over items.

    From −1 to 1; 0 where the groups have the same rate, positive where it is higher in `a`.

    Attributes:
        a, b: the groups; `b` may be "the rest".
        p_value: probability of a gap at least as large, in either direction, if group membership did not matter.
        p_method: "exact" or "monte-carlo", and among which items groups were shuffled.
        p_holm: p adjusted for the number of pairs compared in this metric (Holm 1979), those with the rest apart.
        n_a, n_b: items of the two groups.
    """

    a: Label
    b: Label
    p_value: float | None = None
    p_method: str | None = None
    p_holm: float | None = None
    n_a: int
    n_b: int


@dataclass(frozen=True, kw_only=True)
class GapChange(RatedEstimate):
    """Difference of a gap between two sets of predictions of the same items: second − first.

    0 where the gap is the same, not where it is absent. The interval draws each item with both predictions.

    Attributes:
        a, b: the groups, as in `Gap`.
        first, second: the two gaps.
        p_value: probability of a difference at least as large if the two sets of predictions were exchangeable.
        p_method: its method.
    """

    renamed: ClassVar[Mapping[str, str]] = {**RatedEstimate.renamed, "value": "difference"}

    a: Label
    b: Label
    first: float | None
    second: float | None
    p_value: float | None = None
    p_method: str | None = None


def rate_label(row: RatedEstimate) -> str:
    """Name of a rate in words, with its positive class."""
    return row.metric.replace("_", " ") + ("" if row.positive_class is None else f", {row.positive_class}")


def pair_label(row: Gap | GapChange) -> str:
    """Names of the two groups."""
    return f"{row.a} − {row.b}"


_RATE = Column("rate", source=rate_label)
_GROUPS = Column("groups", source=pair_label)
_P = Column("p", "p", source="p_value")


@dataclass(frozen=True, repr=False)
class GapResult(Result):
    """Gaps between groups, with the rates that they are differences of.

    Attributes:
        settings: arguments of `gaps`.
        classes: labels and predictions that occur.
        counts: items by group.
        warnings: caveats.
        gaps: one for each rate and pair of groups; with more than two groups also each against the rest.
        rates: one for each rate and group.
    """

    tables: ClassVar[tuple[str, ...]] = ("gaps",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "gaps",
            "Gaps: first group − second",
            (
                _RATE,
                _GROUPS,
                Column("gap", "estimate", 3, source="."),
                _P,
                Column("Holm-adjusted p", "p", source="p_holm"),
                Column("items of the first", "count", source="n_a"),
                Column("items of the second", "count", source="n_b"),
            ),
        ),
        RecordTable(
            "rates",
            "Rates of each group",
            (_RATE, Column("group"), Column("value", "estimate", 3, source="."), Column("items", "count", source="n")),
        ),
    )

    settings: JsonObject
    classes: tuple[Label, ...]
    counts: dict[Label, int]
    warnings: tuple[str, ...]
    gaps: tuple[Gap, ...]
    rates: tuple[GroupRate, ...]

    def gap(self, metric: str, positive_class: Label = _UNSET, a: Label = None, b: Label = None) -> Gap:
        """Find one gap, by default of the positive class, or of the first where every class is positive in turn.

        Raises:
            ParameterError: no gap, or more than one, matches.
        """
        label = self.gaps[0].positive_class if positive_class is _UNSET else positive_class
        label = None if metric == "accuracy" else label
        matching = [
            gap
            for gap in self.gaps
            if (gap.metric, gap.positive_class) == (metric, label) and a in {None, gap.a} and b in {None, gap.b}
        ]
        if len(matching) != 1:
            metrics = sorted({gap.metric for gap in self.gaps})
            raise ParameterError(
                f"There must be one gap of {metric!r} for {label!r} between {a!r} and {b!r}. Got {len(matching)}; "
                f"metrics are {', '.join(metrics)}, groups {', '.join(map(repr, self.counts))}."
            )
        return matching[0]

    def rates_frame(self) -> pd.DataFrame:
        """One row for each rate of each group."""
        return records_frame(self.rates)

    def _title(self) -> str:
        return "Gaps between groups"

    def _headline(self) -> str:
        return gap_headline(self.gaps, "gaps between groups")

    def _charts(self) -> tuple[Chart, ...]:
        return _charts(self.gaps, self.settings, "gaps", "gap", _GAPS)


@dataclass(frozen=True, repr=False)
class GapComparison(Result):
    """Differences of gaps between two sets of predictions of the same items.

    Attributes:
        settings, classes, counts, warnings: as in `GapResult`.
        changes: one for each rate and pair of groups.
    """

    tables: ClassVar[tuple[str, ...]] = ("changes",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "changes",
            _CHANGES,
            (
                _RATE,
                _GROUPS,
                Column("first gap", "number", 3, source="first"),
                Column("second gap", "number", 3, source="second"),
                Column("second − first", "estimate", 3, source="."),
                _P,
            ),
        ),
    )

    settings: JsonObject
    classes: tuple[Label, ...]
    counts: dict[Label, int]
    warnings: tuple[str, ...]
    changes: tuple[GapChange, ...]

    def _title(self) -> str:
        return "Gaps by two sets of predictions"

    def _headline(self) -> str:
        return gap_headline(self.changes, "differences of gaps")

    def _charts(self) -> tuple[Chart, ...]:
        return _charts(self.changes, self.settings, "gap_changes", "difference of gaps", _CHANGES)


def gap_headline(rows: Sequence[Estimate], subject: str) -> str:
    """Sentence on how many intervals exclude 0."""
    defined = [row for row in rows if row.value is not None]
    nonzero = sum(row.excludes(0.0) is True for row in defined)
    level = level_text(defined[0].level) if defined else level_text(0.95)
    return f"{nonzero} of {len(defined)} {subject} have a {level} interval that excludes 0."


def _charts(
    rows: Sequence[Gap] | Sequence[GapChange], settings: JsonObject, name: str, axis: str, title: str
) -> tuple[Chart, ...]:
    """Every gap, or difference of gaps, with its interval: a row for each metric and class, a panel a comparison."""
    defined = [row for row in rows if row.value is not None]
    if not defined:
        return ()
    pairs = {pair_label(row) for row in defined}
    start = f"{pairs.pop()}; " if len(pairs) == 1 else ""
    interval = f"{level_text(settings['level'])} interval ({settings['interval']} bootstrap over items)"

    def draw() -> AltairChart:
        import pandas as pd

        value = defined[0].renamed.get("value", "value")
        columns = ["what", "pair", value, "low", "high", "p_value"]
        cells = [(rate_label(row), pair_label(row), row.value, row.low, row.high, row.p_value) for row in defined]
        x = altair().X(f"{value}:Q", title=axis)
        return interval_chart(pd.DataFrame(cells, columns=columns), x, panel="pair", columns=3, width=300)

    return (Chart(name, title, f"{start}{interval}; 0 is no difference", draw),)
