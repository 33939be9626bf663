"""What a decision study says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasgauge.core import Estimate, JsonMapping, Record
from biasgauge.results import Column, Result, Summary, Table, level_text, number_text, records_frame, share_text

if TYPE_CHECKING:
    import pandas as pd

PLURAL = {
    "word": "words", "pair": "pairs", "model": "replicates", "checkpoint": "checkpoints", "layer": "layers",
    "pooling": "poolings", "template": "templates", "context": "contexts", "measure": "measures",
}  # fmt: skip
"""What the levels of a facet are called in tables."""


@dataclass(frozen=True)
class Design(Record):
    """How reliable the mean over one design is.

    Attributes:
        levels: how many of each facet are averaged over; infinite for the limit.
        generalizability: E rho², of the order of objects; None for a query, or where nothing varies.
        dependability: Φ, of the values themselves; at most the generalizability.
        standard_error: of an object's mean score, absolute, in the units of the scores.
        reaches: whether the coefficient that counts reaches the target, at the estimates.
        assurance: share of the draws of the components in which it does.
    """

    hidden: ClassVar[frozenset[str]] = frozenset({"levels"})

    levels: Mapping[str, float]
    generalizability: float | None
    generalizability_interval: Estimate | None
    dependability: float | None
    dependability_interval: Estimate
    standard_error: float
    reaches: bool
    assurance: float

    def derived(self) -> JsonMapping:
        """Levels by their names in tables; an infinite number is null."""
        return {PLURAL[name]: int(size) if np.isfinite(size) else None for name, size in self.levels.items()}


@dataclass(frozen=True)
class Need(Record):
    """How many levels of one facet the target needs, beside so many of the others.

    Attributes:
        levels: of the other facets.
        facet: whose levels are counted.
        number: the smallest that is enough in the share `assurance` of the draws of the components; None when none is.
        estimate: the smallest that is enough at the estimates, which falls short about every second time.
        low, high: interval of the number needed; None when no number is enough at that end.
        reason: why there is none.
    """

    hidden: ClassVar[frozenset[str]] = frozenset({"levels", "facet", "number"})

    levels: Mapping[str, float]
    facet: str
    number: int | None
    estimate: int | None
    low: int | None
    high: int | None
    level: float
    assurance: float
    method: str
    reason: str | None

    def derived(self) -> JsonMapping:
        """Levels of all facets by their names in tables."""
        return {**{PLURAL[name]: int(size) for name, size in self.levels.items()}, PLURAL[self.facet]: self.number}


@dataclass(frozen=True, repr=False)
class DecisionStudy(Result):
    """Reliabilities of designs, and the smallest designs that are enough.

    Attributes:
        object: what is measured: "word", "pair" or "query".
        target: the reliability wanted.
        assurance: share of the draws of the components in which a recommended design must reach it.
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

    abridged: ClassVar[bool] = True
    tables: ClassVar[tuple[str, ...]] = ("designs",)
    hidden: ClassVar[frozenset[str]] = frozenset({"facets", "solved"})

    object: str
    target: float
    assurance: float
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
        possible = [need for need in self.needs if need.number is not None]
        kept = [need for need in possible if not any(_undercuts(other, need) for other in possible)]
        return tuple(sorted(kept, key=lambda need: np.prod([*need.levels.values(), need.number or 0])))

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
        said = [
            f"{name}{symbol} of a {self.object}'s mean score with the {at_hand} at hand: {here}; with {least}: {alone}"
        ]
        if self.reachable:
            ways = "; or ".join(
                f"{_sizes({**need.levels, self.solved: need.number or 0})} ({_needed(need)})"
                for need in self.smallest[:3]
            )
            said.append(f"{self.target:g} with an assurance of {share_text(self.assurance)} needs {ways}")
        else:
            out = f"{self.target:g} with an assurance of {share_text(self.assurance)} is out of reach"
            said.append(f"{out} of the designs tried, however many {plural} there are")
        limit = _shown(self.value(self.limits[self.bottleneck]))
        said.append(f"more {PLURAL[self.bottleneck]} would help most: with infinitely many it would be {limit}")
        for facet, need in self.alone.items():
            others = _sizes(need.levels) or "nothing"
            enough = need.reason
            if need.number is not None:
                enough = (
                    f"{_sizes({facet: need.number})} {'is' if need.number == 1 else 'are'} enough ({_needed(need)})"
                )
            said.append(f"with {others} as at hand, {enough}")
        return tuple(said)

    def to_frame(self) -> pd.DataFrame:
        """One row a design, fit for a plot of reliability against replicates with one line a number of pairs."""
        return super().to_frame().set_index([PLURAL[name] for name in self.facets]).reset_index()

    def needs_frame(self) -> pd.DataFrame:
        """One row for each combination of the other facets: how many are needed, with its interval, or why none is."""
        frame = records_frame(self.needs)
        return frame.astype(dict.fromkeys((PLURAL[self.solved], "estimate", "low", "high"), "Int64"))

    def derived(self) -> JsonMapping:
        """Facets by their names in tables, and what follows from the needs."""
        return {
            "limits": {PLURAL[name]: design for name, design in self.limits.items()},
            "alone": {PLURAL[name]: need for name, need in self.alone.items()},
            "bottleneck": PLURAL[self.bottleneck],
            "smallest": self.smallest,
            "reachable": self.reachable,
            "sentences": self.sentences(),
        }

    def summary(self) -> Summary:
        """How reliable what is at hand is, and which designs are enough."""
        from biasgauge.analyses.reliability.figures import study_chart

        first, *rest = self.sentences()
        facets = list(self.needs[0].levels) if self.needs else []
        counts = [*(PLURAL[name] for name in (*facets, self.solved)), "at the estimates", "low", "high"]
        columns = [*(Column(name, "count") for name in counts), "reason"]
        rows = [
            (*map(int, need.levels.values()), need.number, need.estimate, need.low, need.high, need.reason)
            for need in self.needs
        ]
        wanted = f"What a reliability of {self.target:g} needs with an assurance of {share_text(self.assurance)}"
        return Summary(
            title="How many are enough",
            headline=first,
            sentences=tuple(rest),
            tables=(Table.of("needs", wanted, columns, rows),),
            charts=(study_chart(self),),
            warnings=self.warnings,
        )


def _undercuts(need: Need, other: Need) -> bool:
    """Whether `need` needs no more of anything than `other`, and less of something."""
    ours = [*need.levels.values(), need.number or 0]
    theirs = [*other.levels.values(), other.number or 0]
    return ours != theirs and all(a <= b for a, b in zip(ours, theirs, strict=True))


def _needed(need: Need) -> str:
    """The interval of the number needed; infinite where no number is enough."""
    low, high = ("∞" if end is None else f"{end:,}" for end in (need.low, need.high))
    return f"{level_text(need.level)} interval of {PLURAL[need.facet]} needed: {low} to {high}"


def _sizes(levels: Mapping[str, float]) -> str:
    return " × ".join(f"{int(size):,} {PLURAL[name].removesuffix('s' * (size == 1))}" for name, size in levels.items())


def _shown(value: float | None) -> str:
    return "undefined" if value is None else number_text(value)
