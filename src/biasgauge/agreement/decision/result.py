"""What a decision study says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.results import Column, Result, Summary, Table
from biasgauge.stats.estimate import Estimate

if TYPE_CHECKING:
    import pandas as pd

PLURAL = {"word": "words", "pair": "pairs", "model": "replicates", "measure": "measures"}
"""What the levels of a facet are called in tables."""


@dataclass(frozen=True)
class Design:
    """How reliable the mean over one design is.

    Attributes:
        levels: how many of each facet are averaged over; infinite for the limit.
        generalizability: E rho², of the order of objects; None for a query, or where nothing varies.
        dependability: Φ, of the values themselves; at most the generalizability.
        standard_error: of an object's mean score, absolute, in the units of the scores.
        reaches: whether the coefficient that counts reaches the target.
    """

    levels: Mapping[str, float]
    generalizability: float | None
    generalizability_interval: Estimate | None
    dependability: float | None
    dependability_interval: Estimate
    standard_error: float
    reaches: bool

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`; an infinite number of levels is null."""
        general = self.generalizability_interval
        return {
            **{PLURAL[name]: int(size) if np.isfinite(size) else None for name, size in self.levels.items()},
            "generalizability": self.generalizability,
            "generalizability_interval": None if general is None else general.to_dict(),
            "dependability": self.dependability,
            "dependability_interval": self.dependability_interval.interval(),
            "standard_error": self.standard_error,
            "reaches": self.reaches,
        }


@dataclass(frozen=True)
class Need:
    """How many levels of one facet the target needs, beside so many of the others.

    Attributes:
        levels: of the other facets.
        number: the smallest that is enough; None when none is.
        low, high: interval of that number; None when no number is enough at that end.
        reason: why there is none.
    """

    levels: Mapping[str, float]
    number: int | None
    low: int | None
    high: int | None
    level: float
    method: str
    reason: str | None

    def to_dict(self, solved: str) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {
            **{PLURAL[name]: int(size) for name, size in self.levels.items()},
            PLURAL[solved]: self.number,
            "low": self.low,
            "high": self.high,
            "level": self.level,
            "method": self.method,
            "reason": self.reason,
        }


@dataclass(frozen=True, repr=False)
class DecisionStudy(Result):
    """Reliabilities of designs, and the smallest designs that are enough.

    Attributes:
        object: what is measured: "word", "pair" or "query".
        target: the reliability wanted.
        coefficient: which reliability must reach it.
        measure: the measure that was analyzed; None when measures are a facet.
        fixed: facets whose levels are all there are.
        facets: what is averaged over.
        designs: every combination that was tried.
        solved: the facet whose number is solved for in `needs`.
        needs: for each combination of the other facets, how many levels of it are needed.
        today: the design at hand.
        single: one level of each facet (but of the fixed ones, all).
        limits: the design at hand with infinitely many levels of one facet.
        alone: how many levels of each facet would reach the target, the others as at hand.
        bottleneck: the facet of which more levels would take away most error from the design at hand.
        warnings: those of the components.
    """

    object: str
    target: float
    coefficient: str
    measure: str | None
    fixed: tuple[str, ...]
    facets: tuple[str, ...]
    designs: tuple[Design, ...]
    solved: str
    needs: tuple[Need, ...]
    today: Design
    single: Design
    limits: Mapping[str, Design]
    alone: Mapping[str, Need]
    bottleneck: str
    warnings: tuple[str, ...]

    @property
    def smallest(self) -> tuple[Need, ...]:
        """Needs that can be met and that no other undercuts in every facet, those with fewest scores first."""
        possible = [one for one in self.needs if one.number is not None]
        kept = [one for one in possible if not any(_undercuts(other, one) for other in possible)]
        return tuple(sorted(kept, key=lambda one: np.prod([*one.levels.values(), one.number or 0])))

    @property
    def reachable(self) -> bool:
        """Whether some design that was tried, with any number of the solved facet, reaches the target."""
        return bool(self.smallest)

    def value(self, design: Design) -> float | None:
        """The coefficient that counts."""
        return design.dependability if self.coefficient == "dependability" else design.generalizability

    def sentences(self) -> tuple[str, ...]:
        """The outcome in words."""
        plural, name = PLURAL[self.solved], self.coefficient
        here, alone = _shown(self.value(self.today)), _shown(self.value(self.single))
        at_hand, least = _sizes(self.today.levels), _sizes(self.single.levels)
        symbol = " (Φ)" if name == "dependability" else ""
        found = [
            f"{name}{symbol} of a {self.object}'s mean score with the {at_hand} at hand: {here}; with {least}: {alone}"
        ]
        if self.reachable:
            ways = "; or ".join(_sizes({**one.levels, self.solved: one.number or 0}) for one in self.smallest[:3])
            found.append(f"{self.target:g} needs {ways}")
        else:
            found.append(f"{self.target:g} is out of reach of the designs tried, however many {plural} there are")
        limit = _shown(self.value(self.limits[self.bottleneck]))
        found.append(f"more {PLURAL[self.bottleneck]} would help most: with infinitely many it would be {limit}")
        for facet, need in self.alone.items():
            others = _sizes(need.levels) or "nothing"
            enough = need.reason
            if need.number is not None:
                enough = f"{_sizes({facet: need.number})} {'is' if need.number == 1 else 'are'} enough"
            found.append(f"with {others} as at hand, {enough}")
        return tuple(found)

    def to_frame(self) -> pd.DataFrame:
        """One row a design, fit for a plot of reliability against replicates with one line a number of pairs."""
        import pandas as pd

        rows = []
        for one in self.designs:
            general = one.generalizability_interval
            rows.append(
                {
                    **{PLURAL[name]: int(size) for name, size in one.levels.items()},
                    "generalizability": one.generalizability,
                    "generalizability_low": None if general is None else general.low,
                    "generalizability_high": None if general is None else general.high,
                    "dependability": one.dependability,
                    "dependability_low": one.dependability_interval.low,
                    "dependability_high": one.dependability_interval.high,
                    "standard_error": one.standard_error,
                    "reaches": one.reaches,
                }
            )
        return pd.DataFrame(rows)

    def needs_frame(self) -> pd.DataFrame:
        """One row for each combination of the other facets: how many are needed, with its interval, or why none is."""
        import pandas as pd

        frame = pd.DataFrame([one.to_dict(self.solved) for one in self.needs])
        return frame.astype(dict.fromkeys((PLURAL[self.solved], "low", "high"), "Int64"))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "object": self.object,
            "target": self.target,
            "coefficient": self.coefficient,
            "measure": self.measure,
            "fixed": list(self.fixed),
            "today": self.today.to_dict(),
            "single": self.single.to_dict(),
            "limits": {PLURAL[name]: one.to_dict() for name, one in self.limits.items()},
            "alone": {PLURAL[name]: one.to_dict(name) for name, one in self.alone.items()},
            "bottleneck": PLURAL[self.bottleneck],
            "smallest": [one.to_dict(self.solved) for one in self.smallest],
            "needs": [one.to_dict(self.solved) for one in self.needs],
            "designs": [one.to_dict() for one in self.designs],
            "reachable": self.reachable,
            "sentences": list(self.sentences()),
            "warnings": list(self.warnings),
        }

    def summary(self) -> Summary:
        """How reliable what is at hand is, and which designs are enough."""
        from biasgauge.agreement.figures import study_charts

        first, *rest = self.sentences()
        facets = list(self.needs[0].levels) if self.needs else []
        columns: list[Column | str] = [
            *(Column(PLURAL[name], "count") for name in facets),
            Column(PLURAL[self.solved], "count"),
            "reason",
        ]
        rows = [(*map(int, one.levels.values()), one.number, one.reason) for one in self.needs]
        return Summary(
            title="How many are enough",
            headline=first,
            sentences=tuple(rest),
            tables=(Table.of("needs", f"What a reliability of {self.target:g} needs", columns, rows),),
            charts=study_charts(self),
            warnings=self.warnings,
        )


def _undercuts(one: Need, other: Need) -> bool:
    """Whether `one` needs no more of anything than `other`, and less of something."""
    ours = [*one.levels.values(), one.number or 0]
    theirs = [*other.levels.values(), other.number or 0]
    return ours != theirs and all(a <= b for a, b in zip(ours, theirs, strict=True))


def _sizes(levels: Mapping[str, float]) -> str:
    return " × ".join(f"{int(size):,} {PLURAL[name].removesuffix('s' * (size == 1))}" for name, size in levels.items())


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
