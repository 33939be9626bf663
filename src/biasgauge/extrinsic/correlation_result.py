"""What `correlate` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.extrinsic.correlation_levels import Levels
    from biasgauge.extrinsic.correlation_seeds import SeedReliability
    from biasgauge.extrinsic.correlation_statistics import Coefficient
    from biasgauge.scores import Interval


@dataclass(frozen=True)
class CorrelationGroup:
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
    def _asked(self) -> Coefficient:
        return self.spearman if self.method == "spearman" else self.pearson

    @property
    def r(self) -> float | None:
        """The correlation asked for, from −1 to 1; None when undefined."""
        return self._asked.value

    @property
    def interval(self) -> Interval | None:
        """Bootstrap interval of `r`."""
        return self._asked.interval

    @property
    def p(self) -> float | None:
        """Two-sided p of no correlation."""
        return self._asked.p

    @property
    def name(self) -> str:
        """The values that tell the points from others, for sentences."""
        return ", ".join(self.by.values()) or "all points"

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        around = self.interval
        return {
            "by": self.by,
            "r": self.r,
            "low": None if around is None else around.low,
            "high": None if around is None else around.high,
            "n": self.n,
            "units": self.units,
            "p": self.p,
            "p_method": self._asked.p_method,
            "p_holm": self.p_holm,
            "pearson": self.pearson.value,
            "spearman": self.spearman.value,
            "pearson_p": self.pearson.p,
            "spearman_p": self.spearman.p,
            **{
                f"{name}{kind}": None if one is None else one.to_dict()
                for name, both in (("pearson", self.pearson), ("spearman", self.spearman))
                for kind, one in (("_interval", both.interval), ("_fisher", both.fisher))
            },
            "power": self.power,
            "detectable": self.detectable,
            "reliability": None if self.reliability is None else self.reliability.to_dict(),
            "reason": self.reason or self._asked.reason,
        }


@dataclass(frozen=True)
class CorrelationResult:
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
    """

    x: str
    y: str
    by: tuple[str, ...]
    groups: tuple[CorrelationGroup, ...]
    levels: Levels | None
    power_of: float
    readings: tuple[str, ...]
    warnings: tuple[str, ...]
    settings: dict[str, Any]
    points: dict[str, Any] = field(repr=False)
    independent: bool = True

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
        found = [one for one in self.groups if one.by and wanted.items() <= one.by.items()]
        if len(found) != 1:
            raise ParameterError(f"There must be one stratum with {wanted}. Got {len(found)}.")
        return found[0]

    def to_frame(self) -> pd.DataFrame:
        """One row a stratum, the first for all points."""
        import pandas as pd  # noqa: PLC0415 - only those who want a frame pay for it

        rows = []
        for one in self.groups:
            plain = {name: value for name, value in one.to_dict().items() if not isinstance(value, dict)}
            most = None if one.reliability is None else one.reliability.r_max
            rows.append({**{name: one.by.get(name) for name in self.by}, **plain, "r_max": most})
        return pd.DataFrame(rows)

    def points_frame(self) -> pd.DataFrame:
        """The points that counted, one row each."""
        import pandas as pd  # noqa: PLC0415 - as in to_frame

        return pd.DataFrame(self.points)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; undefined numbers are None beside their reason."""
        return {
            "x": self.x,
            "y": self.y,
            "groups": [one.to_dict() for one in self.groups],
            "levels": None if self.levels is None else self.levels.to_dict(),
            "readings": list(self.readings),
            "settings": self.settings,
            "warnings": list(self.warnings),
        }

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(one)}</p>" for one in (*self.warnings, *self.readings))
        return f"{self.to_frame().to_html(index=False)}{notes}"
