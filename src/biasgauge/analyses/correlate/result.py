"""`CorrelationResult`: correlations of all points and of every stratum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from biasgauge.analyses.correlate.figures import correlation_charts
from biasgauge.analyses.correlate.influence import SeedReliability, UnitInfluences
from biasgauge.core import Estimate, JsonMapping, JsonObject, Record, check_choice
from biasgauge.errors import ParameterError
from biasgauge.results import Column, RecordTable, Result, Summary, Table, level_text, p_phrase, records_frame
from biasgauge.results import signed_text as signed
from biasgauge.stats import Coefficient, Levels

if TYPE_CHECKING:
    import pandas as pd

_KINDS = ("pearson", "spearman")
_KEYS = ("interval", "fisher", "p", "p_method", "p_reason", "n", "reason")
"""Keys of JSON for each coefficient, such as pearson_interval."""
_LEVELS = {
    "within_r": "r within strata",
    "between_r": "r of their means",
    "within_slope": "slope within strata",
    "random_intercept": "slope, random intercepts",
    "random_slope": "slope, random slopes",
}


@dataclass(frozen=True)
class CorrelationGroup(Record):
    """The correlation of some points.

    Attributes:
        by: which points: the value of each column; empty for all of them.
        n: points.
        units: units that they belong to; as many as points where none were named.
        pearson, spearman: both coefficients.
        method: which of the two is `r`.
        power: chance that so many independent points (or units) would show, p ≤ .05, the true correlation `power_of`
            of the result.
        detectable: true |r| that they would show 4 times in 5.
        p_holm: p of `r` corrected for the number of strata (Holm 1979); None for all points together.
        reliability: of y over task seeds; None where no column says which seed.
        reason: why the correlation is undefined.
    """

    hidden: ClassVar[frozenset[str]] = frozenset(_KINDS)

    by: dict[str, str]
    n: int
    units: int
    pearson: Coefficient
    spearman: Coefficient
    method: str
    power: float | None
    detectable: float | None
    p_holm: float | None = None
    reliability: SeedReliability | None = None
    reason: str | None = None

    @property
    def estimate(self) -> Coefficient:
        """The correlation asked for, with its bootstrap interval."""
        return self.spearman if self.method == "spearman" else self.pearson

    @property
    def r(self) -> float | None:
        """The correlation asked for, from −1 to 1; None when undefined."""
        return self.estimate.value

    def seed_number(self, name: str) -> float | None:
        """Reliability over seeds ("mean"), or the largest r that it allows ("r_max"); None where it is unknown."""
        number: Estimate | None = getattr(self.reliability, name, None)
        return None if number is None else number.value

    @property
    def p(self) -> float | None:
        """Two-sided p of no correlation."""
        return self.estimate.p

    @property
    def name(self) -> str:
        """The values that tell the points from others, for sentences."""
        return ", ".join(self.by.values()) or "all points"

    def derived(self) -> JsonMapping:
        """Both coefficients, and the one asked for."""
        estimate = self.estimate
        shape: dict[str, Any] = {"r": self.r, "low": estimate.low, "high": estimate.high, "p": self.p}
        shape |= {"p_method": estimate.p_method, "reason": self.reason or estimate.p_reason}
        for kind in _KINDS:
            content = getattr(self, kind).to_dict()
            shape |= {kind: content["value"], **{f"{kind}_{key}": content[key] for key in _KEYS}}
        return shape

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """The record of which `to_dict` made `content`."""
        both = {
            kind: {"value": content.get(kind), **{key: content.get(f"{kind}_{key}") for key in _KEYS}}
            for kind in _KINDS
        }
        undefined = content.get("pearson") is None
        return super().from_dict({**content, **both, "reason": content.get("reason") if undefined else None})


@dataclass(frozen=True, eq=False, repr=False)
class CorrelationResult(Result):
    """Does one number track another?

    Attributes:
        x, y: names of the columns.
        by: columns whose values make strata.
        groups: all points together, then each stratum.
        levels: within, between and mixed-model estimates; None with fewer than two strata.
        power_of: the true correlation that `CorrelationGroup.power` is about.
        readings: what it comes to, in sentences.
        warnings: what to know before reading the table.
        settings: what was asked for.
        points: the points that counted: x, y, the columns of `by`, then every other column, as text.
        independent: False where one y seems to stand beside several x and no unit says so: p is then too small.
        influence: which units make the correlation of all points; None where it is undefined or units are few.
    """

    tables: ClassVar[tuple[str, ...]] = ("groups",)
    hidden: ClassVar[frozenset[str]] = frozenset({"points"})

    x: str
    y: str
    by: tuple[str, ...]
    groups: tuple[CorrelationGroup, ...]
    levels: Levels | None
    power_of: float
    readings: tuple[str, ...]
    warnings: tuple[str, ...]
    settings: JsonObject
    points: JsonObject = field(default_factory=dict)
    independent: bool = True
    influence: UnitInfluences | None = None

    @property
    def pooled(self) -> CorrelationGroup:
        """All points together."""
        return self.groups[0]

    def group(self, **by: str) -> CorrelationGroup:
        """The stratum with these values; of columns not named, any value.

        Raises:
            ParameterError: none or several have them.
        """
        wanted = {name: str(value) for name, value in by.items()}
        matching = [group for group in self.groups if group.by and wanted.items() <= group.by.items()]
        if len(matching) != 1:
            raise ParameterError(f"There must be one stratum with {wanted}. Got {len(matching)}.")
        return matching[0]

    def to_frame(self) -> pd.DataFrame:
        """One row per stratum, the first for all points."""
        frame = records_frame(self.groups).drop(columns=["by", "reliability", *self.by], errors="ignore")
        for index, name in enumerate(self.by):
            frame.insert(index, name, [group.by.get(name) for group in self.groups])
        frame["r_max"] = [group.seed_number("r_max") for group in self.groups]
        return frame

    def points_frame(self) -> pd.DataFrame:
        """The points that counted, one row each."""
        import pandas as pd

        return pd.DataFrame(self.points)

    def influence_frame(self) -> pd.DataFrame:
        """Influence of each unit on the correlation of all points, one row each, those that spread x most first."""
        return records_frame(() if self.influence is None else self.influence.units)

    def summary(self) -> Summary:
        """The correlation of all points and of every stratum, and the same relation at every level."""
        estimate, number = self.pooled.estimate, f"undefined: {self.pooled.estimate.reason}"
        if estimate.value is not None:
            ends = f" [{estimate.low:.3f}, {estimate.high:.3f}]" if estimate.bounded else ""
            number = f"{'rho' if self.settings['method'] == 'spearman' else 'r'} = {estimate.value:.3f}{ends}"
        without_p = [group for group in self.groups if group.r is not None and group.p is None]
        notes = [f"{group.name} has no p: {group.estimate.p_reason}." for group in without_p]
        if self.levels is not None and self.levels.within_r.caution:
            notes.append(f"{self.levels.within_r.caution}.")
        return Summary(
            title=f"{self.x} and {self.y}",
            headline=f"{self.x} and {self.y}, all {self.pooled.n:,} points: {number}",
            sentences=(*self.readings, *notes),
            tables=tuple(self._tables()),
            charts=correlation_charts(self),
            warnings=self.warnings,
        )

    def figures(self, **choices: str) -> dict[str, Any]:
        """Its charts by name; `rows`, `columns` and `color` say which columns of `by` make panels and colors.

        Raises:
            ParameterError: there is no such choice, or no such column.
        """
        for name in choices:
            check_choice(("rows", "columns", "color"), choice=name)
        return {chart.name: chart.drawn() for chart in correlation_charts(self, **choices)}

    def _tables(self) -> Iterator[Table]:
        """Correlations; power, and the largest r that the reliability of y allows; the relation at every level."""
        ranks = self.settings["method"] == "spearman"
        r, second = ("rho", "r") if ranks else ("r", "rho")
        name = Column(", ".join(self.by) or "points", source="name")
        units, holm = Column("units", "count"), Column("Holm", "p", source="p_holm")
        columns = [
            name,
            Column("n", "count"),
            units,
            Column(f"{r} [{{level}} {self.settings['interval']}]", "estimate", 3, source="estimate"),
            Column("p", "p"),
            holm,
            Column(second, "number", 3, source="pearson.value" if ranks else "spearman.value"),
        ]
        if len(self.groups) < 3:
            columns.remove(holm)
        if all(group.units == group.n for group in self.groups):
            columns.remove(units)
        yield RecordTable("groups", "", tuple(columns)).fill(self)
        power = (
            name,
            Column(f"power, r = {self.power_of:g}", "share", source="power"),
            Column("r seen 4 of 5 times", "number", source="detectable"),
            Column("reliability over seeds", "number", source=lambda group: group.seed_number("mean")),
            Column("largest r", "number", source=lambda group: group.seed_number("r_max")),
        )
        yield RecordTable("groups", "What could have been seen", power, drop_empty=True, name="power").fill(self)
        if self.levels is not None:
            estimates = [(title, getattr(self.levels, level)) for level, title in _LEVELS.items()]
            rows = [(title, estimate, estimate.p) for title, estimate in estimates]
            value = Column(f"value [{level_text(self.settings['level'])}]", "estimate", 3)
            yield Table.of("levels", "", ["strata kept apart", value, Column("p", "p")], rows)


def level_sentences(pooled: Coefficient, levels: Levels, strata: Sequence[CorrelationGroup]) -> list[str]:
    """Sentences on the levels: signs that turn, and strata that disagree."""
    sentences = []
    within, between = levels.within_r, levels.between_r
    if pooled.value is not None and within.value is not None and pooled.value * within.value < 0:
        numbers = f"over all points r = {signed(pooled.value, 2)}, but within strata {signed(within.value, 2)}"
        if pooled.excludes() and within.excludes():
            sentences.append(
                f"Simpson's paradox: {numbers}. Both intervals exclude 0: strata differ in level, and the pooled "
                "number says the opposite of what holds inside them."
            )
        else:
            sentences.append(
                f"The sign turns: {numbers}. Not both intervals exclude 0, so that may be chance rather than Simpson's "
                "paradox; read the one within strata."
            )
    opposed = within.value is not None and between.value is not None and within.value * between.value < 0
    if opposed and (within.excludes() or between.excludes()):
        sentences.append(
            f"Within strata r = {signed(within.value, 2)}, between their means {signed(between.value, 2)} "
            f"({between.n} means): the two are different questions."
        )
    defined = [(group.name, r) for group in strata if (r := group.pearson.value) is not None]
    if levels.q_p is not None and levels.q_p < 0.05 and defined:
        most, least = max(defined, key=lambda stratum: stratum[1]), min(defined, key=lambda stratum: stratum[1])
        sentences.append(
            f"Strata do not share one correlation (Q = {levels.q:.1f}, df = {levels.q_df}, {p_phrase(levels.q_p)}): "
            f"from {signed(least[1], 2)} ({least[0]}) to {signed(most[1], 2)} ({most[0]}). No single number "
            "stands for all of them."
        )
    return sentences
