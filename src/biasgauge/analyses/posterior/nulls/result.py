"""`NullSimulation`: what a test reports when there is nothing to find."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.analyses.posterior.nulls.figures import null_charts
from biasgauge.analyses.posterior.nulls.model import AS_PUBLISHED, EFFECT_SIZE, STATISTIC, NullModel
from biasgauge.core import Estimate, Floats, JsonMapping, JsonObject, Record, to_plain
from biasgauge.results import Column, Result, Summary, Table, figures_text, number_text, share_text, test_name

if TYPE_CHECKING:
    import pandas as pd


QUANTILES = (0.005, 0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975, 0.995)

_TAKEN = {
    "weat": "target words for independent, and these attributes for the only ones there are",
    "mac": "(target, set) pairs for independent, although they share words",
}
"""What the p of a test supposes."""


@dataclass(frozen=True, kw_only=True)
class Share(Estimate):
    """How many of the simulated data sets do something; the interval says where the share over endlessly many lies.

    Attributes:
        hits: how many data sets.
        theory: that share as a formula gives it; None where there is none.
    """

    hits: int
    theory: float | None = None

    @property
    def trials(self) -> int:
        """Data sets in all."""
        return self.n

    def to_dict(self) -> JsonObject:
        """As it stands in `--json`."""
        shape = {"value": self.value, "hits": self.hits, "trials": self.n}
        return {**shape, "interval": self.interval(), "theory": self.theory}


@dataclass(frozen=True, eq=False)
class Spread:
    """Distribution of a number over simulated data sets.

    Attributes:
        values: one for each data set; nan where it is undefined.
    """

    values: Floats = field(repr=False)

    @cached_property
    def defined(self) -> Floats:
        """The values without those that are undefined."""
        return self.values[np.isfinite(self.values)]

    @property
    def mean(self) -> float | None:
        """Mean; None when no value is defined."""
        return float(self.defined.mean()) if len(self.defined) else None

    @property
    def sd(self) -> float | None:
        """Standard deviation (n − 1); None with fewer than two values."""
        return float(self.defined.std(ddof=1)) if len(self.defined) > 1 else None

    @cached_property
    def quantiles(self) -> dict[str, float | None]:
        """Some quantiles by their probability."""
        found = np.quantile(self.defined, QUANTILES).tolist() if len(self.defined) else [None] * len(QUANTILES)
        return {f"{level:g}": value for level, value in zip(QUANTILES, found, strict=True)}

    def histogram(self, bins: int = 40, ends: tuple[float, float] | None = None) -> tuple[Floats, Floats]:
        """Counts, and the edges between which they lie."""
        counts, edges = np.histogram(self.defined, bins, ends)
        return counts.astype(np.float64), edges

    def to_dict(self, ends: tuple[float, float] | None = None) -> JsonObject:
        """As it stands in `--json`: no single values, but a histogram."""
        counts, edges = self.histogram(ends=ends)
        return {
            "mean": self.mean,
            "sd": self.sd,
            "count": len(self.defined),
            "undefined": len(self.values) - len(self.defined),
            "quantiles": self.quantiles,
            "histogram": {"edges": edges.tolist(), "counts": [int(count) for count in counts]},
        }


@dataclass(frozen=True)
class Comparison(Record):
    """An observed number beside the simulated ones.

    Attributes:
        of: "statistic", "effect size" or "effect size as published".
        observed: the number.
        center: what the test gives where there is no bias, if it errs to either side of it alike; None where it has no
            such middle.
        two_sided: share of data sets at least as far from the center; None without one.
        greater: share with at least this much.
        less: share with at most this much.
        published: the two-sided share on the random numbers of the published script; None where there is none.
        reason: why ours or theirs differs.
    """

    of: str
    observed: float
    center: float | None
    two_sided: Share | None
    greater: Share
    less: Share
    published: float | None = None
    reason: str | None = None

    @property
    def question(self) -> str:
        """What the share is the share of."""
        if self.center is None:
            return f"{self.of} ≥ {figures_text(self.observed, 4)}"
        if self.center == 0:
            return f"|{self.of}| ≥ {figures_text(abs(self.observed), 4)}"
        return f"|{self.of} − {self.center:g}| ≥ {figures_text(abs(self.observed - self.center), 4)}"


PAPER = 'paper: the share on the random numbers of its script; in print it is "around 38 %".'


@dataclass(frozen=True, eq=False, repr=False)
class NullSimulation(Result):
    """What a test reports on data sets without bias.

    Attributes:
        test: which association test.
        model: how the data sets were drawn.
        statistic: the test statistic of each data set: WEAT's sum over X less sum over Y, another test's value.
        corrected: WEAT's effect size; None for other tests, which have one number alone.
        published: WEAT's effect size with the fault of the published script; None for other tests.
        as_published: whether `effect_size` is the one with the fault.
        p_values: the p that each data set would report; None when the test has none.
        p_method: how p was found.
        p_reason: why there is no p; None when there is one.
        comparisons: observed numbers beside the simulated ones.
        rejection: share of data sets with p at or below `alpha`; an honest test keeps it there.
        alpha: what p is held against.
        settings: everything that decides the result.
        warnings: what the reader should know first.
    """

    abridged: ClassVar[bool] = True

    test: str
    model: NullModel
    statistic: Spread
    corrected: Spread | None
    published: Spread | None
    as_published: bool
    p_values: Spread | None
    p_method: str | None
    p_reason: str | None
    comparisons: tuple[Comparison, ...]
    rejection: Share | None
    alpha: float
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    @property
    def effect_size(self) -> Spread | None:
        """The effect size asked for: the corrected one, or with `as_published` the one with the fault."""
        return self.published if self.as_published else self.corrected

    @property
    def reading(self) -> str:
        """In words: what an analyst who sees only one such data set would come to believe."""
        if self.rejection is None:
            return f"{test_name(self.test)} reports no p, so nothing is rejected: {self.p_reason}."
        share = self.rejection
        found = (
            f"There is nothing to find, and {share_text(share.value, 1)} of {share.trials:,} data sets "
            f"[{share_text(share.low, 1)}, {share_text(share.high, 1)}] report p ≤ {self.alpha:g}."
        )
        if not share.excludes(self.alpha):
            return (
                f"{found} p promises {share_text(self.alpha, 1)}, which lies between: no false confidence is seen on "
                "such data sets."
            )
        times = (share.value or 0.0) / self.alpha
        if times < 1:
            return f"{found} That is less often than p promises: the test is cautious here."
        taken = _TAKEN.get(self.test, "words for independent that are not")
        return (
            f"{found} An analyst would believe in a finding {number_text(times, 1)} times as often as p promises: p "
            f"takes {taken}."
        )

    def to_dict(self) -> JsonObject:
        """One JSON-ready object: distributions as quantiles and histograms."""
        effect: dict[str, Any] = {"mean": None, "reason": f"{test_name(self.test)} has one number, see statistic"}
        if self.effect_size is not None:
            effect = self.effect_size.to_dict()
        p: dict[str, Any] = {"mean": None, "rejection": None, "reason": self.p_reason}
        if self.p_values is not None:
            how = {"method": self.p_method, "alpha": self.alpha, "rejection": to_plain(self.rejection)}
            p = {**self.p_values.to_dict(ends=(0.0, 1.0)), **how}
        shown = {"statistic": self.statistic.to_dict(), "effect_size": effect, "p_values": p}
        names = ("test", "model", "comparisons", "reading", "as_published")
        return {**{name: to_plain(getattr(self, name)) for name in names}, **shown}

    def shares(self) -> list[tuple[str, Share, float | None]]:
        """What each share is the share of, the share, and the one published: comparisons, then rejections."""
        rows = [(row.question, row.two_sided or row.greater, row.published) for row in self.comparisons]
        return rows if self.rejection is None else [*rows, (f"p ≤ {self.alpha:g}", self.rejection, None)]

    def summary(self) -> Summary:
        """How the test's numbers are distributed without bias, and how often it would report a finding."""
        spreads = [
            (name, spread.mean, spread.sd, spread.quantiles["0.025"], spread.quantiles["0.975"])
            for name, spread in self._spreads().items()
        ]
        remarks = [f"{row.of}: {row.reason}." for row in self.comparisons if row.reason and row.of == AS_PUBLISHED]
        if any(row.published is not None for row in self.comparisons):
            remarks.append(PAPER)
        numbers = [Column(name, "number", 4) for name in ("mean", "sd", "2.5 %", "97.5 %")]
        theory = [Column(name, "number", 4) for name in ("theory", "paper")]
        title = f"{test_name(self.test)} on {len(self.statistic.values):,} data sets without bias"
        columns = ["data sets with", Column("share [95 % interval]", "estimate", 4), *theory]
        shares = [(what, share, share.theory, published) for what, share, published in self.shares()]
        return Summary(
            title=f"{test_name(self.test)} on data sets without bias",
            headline=self.reading,
            sentences=tuple(remarks),
            tables=(
                Table.of("distributions", title, ["number", *numbers], spreads),
                Table.of("shares", "How often such data sets reach a number", columns, shares),
            ),
            charts=null_charts(self),
            warnings=self.warnings,
        )

    def to_frame(self) -> pd.DataFrame:
        """One row a simulated data set."""
        import pandas as pd

        values = {name.replace(" ", "_"): spread.values for name, spread in self._spreads().items()}  # noqa: PD011
        return pd.DataFrame(values).rename(columns={"p": "p_value"})

    def _spreads(self) -> dict[str, Spread]:
        """The distributions that there are, by name."""
        named = {STATISTIC: self.statistic, EFFECT_SIZE: self.corrected, AS_PUBLISHED: self.published}
        return {name: spread for name, spread in {**named, "p": self.p_values}.items() if spread is not None}
