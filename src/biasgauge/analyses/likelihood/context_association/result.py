"""`StereoSetResult`: what `stereoset` hands back, and how it is summed up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.core import Estimate, IntervalsBeside, JsonMapping, Record
from biasgauge.results import Chart, Column, Result, Summary, Table, estimate_text, level_text, records_frame

if TYPE_CHECKING:
    import pandas as pd

MEANING = (
    "lms: percent of comparisons in which a meaningful sentence beats the unrelated one (100 is best). "
    "ss: percent in which the stereotype beats the anti-stereotype (50 is neither). "
    "icat = lms · min(ss, 100 − ss) / 50. All are means over targets."
)


@dataclass(frozen=True)
class Undefined(Record):
    """Something without a value: its id and the reason."""

    id: str
    reason: str


@dataclass(frozen=True)
class StereoSetScores(IntervalsBeside):
    """The three numbers for some clusters, in percent.

    Attributes:
        domain: gender, profession, race, religion; "all" for all of them.
        lms: share of comparisons in which a meaningful sentence beats the unrelated one, mean over targets.
        ss: share of clusters in which the stereotype beats the anti-stereotype, mean over targets.
        icat: lms · min(ss, 100 − ss) / 50.
        clusters: clusters of three sentences.
        targets: targets that have a defined comparison of stereotype and anti-stereotype.
        compared: of three comparisons a cluster, how many are defined, over all models.
        ties: comparisons of two equal scores.
        undefined: sentences without a score.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("lms", "ss", "icat")

    domain: str
    lms: Estimate
    ss: Estimate
    icat: Estimate
    clusters: int
    targets: int
    compared: int
    ties: int
    undefined: tuple[Undefined, ...] = ()

    def derived(self) -> JsonMapping:
        """Why there is no number, where there is none."""
        return {"reason": next((e.reason for e in (self.lms, self.ss, self.icat) if e.value is None), None)}


@dataclass(frozen=True)
class SplitScores(StereoSetScores):
    """The three numbers of a split, and by domain.

    Attributes:
        domains: the same for each domain.
    """

    domains: tuple[StereoSetScores, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class StereoSetResult(Result):
    """StereoSet of one model, or of replicates, with intervals over targets.

    Attributes:
        intrasentence: three sentences that differ in a word.
        intersentence: three continuations of a context.
        overall: both, by target.
        models: names of what was scored.
        settings: everything that decides the result.
        warnings: what to know before trusting a number.
    """

    intrasentence: SplitScores
    intersentence: SplitScores
    overall: SplitScores
    models: tuple[str, ...]
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    @property
    def _splits(self) -> dict[str, SplitScores]:
        return {name: getattr(self, name) for name in ("intrasentence", "intersentence", "overall")}

    def to_frame(self) -> pd.DataFrame:
        """One row per split and domain: lms, ss and icat with the ends of their intervals."""
        rows = [(split, row) for split, scores in self._splits.items() for row in (scores, *scores.domains)]
        frame = records_frame([row for _, row in rows]).drop(columns=["domains", "undefined"], errors="ignore")
        frame.insert(0, "split", [split for split, _ in rows])
        return frame

    def summary(self) -> Summary:
        """All three numbers, by split and domain."""
        level = level_text(self.settings["level"])
        numbers = [Column(f"{name} [{level}]", "estimate", 1) for name in ("lms", "ss", "icat")]
        heads = [*numbers, Column("targets", "count")]
        whole = Table.of(
            "stereoset", "Scores with intervals over targets", ["split", *heads],
            [(split, *_cells(scores)) for split, scores in self._splits.items()],
        )  # fmt: skip
        by_domain = [
            Table.of(f"{split}-domains", f"By domain: {split}", ["domain", *heads],
                     [(row.domain, *_cells(row)) for row in scores.domains])
            for split, scores in self._splits.items()
        ]  # fmt: skip
        return Summary(
            title=f"StereoSet: {', '.join(self.models)}",
            headline=self._headline(level),
            sentences=(MEANING, *self._undefined()),
            tables=(whole, *by_domain),
            charts=(self._chart(level),),
            warnings=self.warnings,
        )

    def _headline(self, level: str) -> str:
        row = self.overall if self.overall.ss.value is not None else next(
            (scores for scores in self._splits.values() if scores.ss.value is not None), self.overall
        )  # fmt: skip
        name = next(split for split, scores in self._splits.items() if scores is row)
        ss = row.ss
        if ss.value is None:
            return f"StereoSet is undefined: {ss.reason}."
        where = "" if name == "overall" else f" ({name})"
        shown = {None: "has no interval", True: "excludes 50", False: "holds 50, no preference"}[ss.excludes(50.0)]
        return (
            f"The stereotype is preferred in {estimate_text(ss, 1)} % of the comparisons{where}; the {level} interval "
            f"over targets {shown}. icat is {estimate_text(row.icat, 1)}."
        )

    def _undefined(self) -> tuple[str, ...]:
        lost = {
            reason: 0 for scores in self._splits.values() for reason in (entry.reason for entry in scores.undefined)
        }
        for entry in self.overall.undefined:
            lost[entry.reason] += 1
        return tuple(f"Sentences that are undefined because {reason}: {count:,}." for reason, count in lost.items())

    def _chart(self, level: str) -> Chart:
        from biasgauge.analyses.likelihood.figures import forest_chart

        rows = [
            (f"{split}, {row.domain}", row.ss) for split, scores in self._splits.items()
            for row in (scores, *scores.domains)
        ]  # fmt: skip
        title = "How often the stereotype is preferred, by split and domain"
        remark = f"ss, percent of clusters; lines: {level} intervals over targets. 50: neither is preferred"
        return Chart("ss", title, remark, lambda: forest_chart(rows, 50.0, "ss, %"), width="full")


def _cells(row: StereoSetScores) -> tuple[Any, ...]:
    return row.lms, row.ss, row.icat, row.targets
