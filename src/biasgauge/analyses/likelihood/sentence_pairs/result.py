"""`PairPreferences`: which of two sentences models prefer, how often, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.analyses.likelihood.context_association.result import Undefined
from biasgauge.core import Estimate, IntervalsBeside, JsonMapping, Record
from biasgauge.results import Chart, Column, Result, Summary, Table, estimate_text, level_text, records_frame

if TYPE_CHECKING:
    import pandas as pd

NEITHER = 50.0


@dataclass(frozen=True)
class PreferenceScores(IntervalsBeside):
    """How often the first sentence of some pairs is preferred.

    Attributes:
        measure: by which sentences were scored.
        group: of pairs; "all" for all of them.
        preferred: percent of pairs in which the first sentence scores higher; 50 is neither.
        difference: mean of first score less second, in the units of the measure; 0 is neither.
        pairs: how many there are.
        compared: comparisons that are defined, over all models.
        clusters: of pairs that belong together.
        ties: comparisons of two equal scores.
        undefined: comparisons without a score of both sentences.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("preferred", "difference")

    measure: str
    group: str
    preferred: Estimate
    difference: Estimate
    pairs: int
    compared: int
    clusters: int
    ties: int
    undefined: int

    def derived(self) -> JsonMapping:
        """Why there is no number, where there is none."""
        return {"reason": self.preferred.reason if self.preferred.value is None else None}


@dataclass(frozen=True)
class Flip(IntervalsBeside):
    """How often two measures prefer different sentences of a pair.

    Attributes:
        first, second: the measures.
        flipped: percent of pairs, among those with a preference by both.
        pairs: how many those are, over all models.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("flipped",)

    first: str
    second: str
    flipped: Estimate
    pairs: int


@dataclass(frozen=True)
class PairScore(Record):
    """The scores of one pair by one measure and model; None where undefined, with the reason."""

    id: str
    measure: str
    model: str
    first_score: float | None
    second_score: float | None
    reason: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class PairPreferences(Result):
    """Preferences of one model, or of replicates, between two sentences, with intervals over clusters.

    Attributes:
        what: what the pairs are.
        measures: one row per measure.
        groups: one row per measure and group of pairs.
        flips: one row for every two measures.
        undefined: pairs without a score by some measure, by id.
        models: names of what was scored.
        settings: everything that decides the result.
        warnings: what to know before trusting a number.
        scores: of every pair by every measure and model; left out of JSON, `scores_frame` has them.
        directions: of CrowS-Pairs, one row per measure for pairs that show a stereotype and one for those that show its
            opposite, as the paper prints them; the first sentence is the more stereotypical one in both.
    """

    tables: ClassVar[tuple[str, ...]] = ("measures", "groups")
    hidden: ClassVar[frozenset[str]] = frozenset({"scores"})

    what: str
    measures: tuple[PreferenceScores, ...]
    groups: tuple[PreferenceScores, ...]
    flips: tuple[Flip, ...]
    undefined: tuple[Undefined, ...]
    models: tuple[str, ...]
    settings: JsonMapping
    warnings: tuple[str, ...] = ()
    scores: tuple[PairScore, ...] = ()
    directions: tuple[PreferenceScores, ...] = ()

    def scores_frame(self) -> pd.DataFrame:
        """One row per pair, measure and model: id, first_score, second_score, and why one is undefined."""
        return records_frame(self.scores)

    def frames_beside(self) -> Mapping[str, pd.DataFrame]:
        """Scores of pairs, by their ids."""
        return {"scores": self.scores_frame()} if self.scores else {}

    def summary(self) -> Summary:
        """How often the first sentence is preferred, by measure and group, and where measures disagree."""
        level = level_text(self.settings["level"])
        heads = [
            "measure",
            Column(f"first preferred, % [{level}]", "estimate", 1),
            Column("mean difference", "estimate", 3),
            Column("pairs", "count"),
        ]
        tables = [Table.of("measures", "By measure", heads, [_cells(row) for row in self.measures])]
        if self.groups:
            rows = [(row.group, *_cells(row)) for row in self.groups]
            tables.append(Table.of("groups", "By group of pairs", ["group", *heads], rows))
        if self.directions:
            rows = [(row.group, *_cells(row)) for row in self.directions]
            tables.append(Table.of("directions", "By direction of the pair", ["direction", *heads], rows))
        if self.flips:
            columns = ["measure", "other", Column(f"prefer different sentences, % [{level}]", "estimate", 1)]
            rows = [(flip.first, flip.second, flip.flipped) for flip in self.flips]
            tables.append(Table.of("flips", "Where measures disagree", columns, rows))
        return Summary(
            title=f"{self.what}: {', '.join(self.models)}",
            headline=" ".join(self._sentence(row, level) for row in self.measures),
            sentences=self._sentences(),
            tables=tuple(tables),
            charts=(self._chart(level),),
            warnings=self.warnings,
        )

    def _sentence(self, row: PreferenceScores, level: str) -> str:
        if row.preferred.value is None:
            return f"{row.measure}: undefined, {row.preferred.reason}."
        shown = {None: "there is no interval", True: "the interval excludes 50", False: "the interval holds 50"}
        return (
            f"{row.measure}: the first sentence is preferred in {estimate_text(row.preferred, 1)} % of the pairs "
            f"({level}, over {row.preferred.over}; {shown[row.preferred.excludes(NEITHER)]})."
        )

    def _sentences(self) -> tuple[str, ...]:
        said = [
            f"{flip.first} and {flip.second} prefer different sentences in {estimate_text(flip.flipped, 1)} % of pairs."
            for flip in self.flips
        ]
        if self.undefined:
            said.append(f"Pairs without a score by some measure: {len({entry.id for entry in self.undefined}):,}.")
        return tuple(said)

    def _chart(self, level: str) -> Chart:
        from biasgauge.analyses.likelihood.figures import forest_chart

        several = len(self.measures) > 1
        rows = [(f"{row.group}{f', {row.measure}' if several else ''}", row.preferred)
                for row in (*self.measures, *self.groups)]  # fmt: skip
        remark = f"Percent of pairs; lines: {level} intervals over {self.settings['unit']}. 50: neither is preferred"
        title = f"How often the first sentence is preferred: {self.what}"
        return Chart("preferred", title, remark, lambda: forest_chart(rows, NEITHER, "first preferred, %"))


def _cells(row: PreferenceScores) -> tuple[Any, ...]:
    return row.measure, row.preferred, row.difference, row.pairs
