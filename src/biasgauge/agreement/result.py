"""What `reliability` found, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from biasgauge.agreement import verdicts
from biasgauge.agreement.bands import SOURCES
from biasgauge.agreement.components.analysis import VarianceComponents
from biasgauge.agreement.decision.result import DecisionStudy
from biasgauge.agreement.figures import reliability_charts
from biasgauge.agreement.lists import WordList
from biasgauge.agreement.relations import Correlation, FormComparison
from biasgauge.agreement.rows import Rows
from biasgauge.agreement.summary import Distribution
from biasgauge.agreement.untrusted import Untrusted
from biasgauge.results import Column, Record, Result, Summary, Table
from biasgauge.results.result import records_frame
from biasgauge.stats.estimate import Estimate

if TYPE_CHECKING:
    import pandas as pd


PARTS = ("test_retest", "inter_rater", "inter_rater_standardized", "internal")


@dataclass(frozen=True)
class NotAnalyzed(Record):
    """Why the variance of a measure could not be split; `measure` None stands for all measures together."""

    measure: str | None
    reason: str

    def derived(self) -> Mapping[str, Any]:
        """What there is not."""
        return {"components": None, "designs": None}


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityResult(Result):
    """Three reliabilities of words, pairs, queries and measures, and what follows from them.

    Attributes:
        test_retest: over replicates, ICC(2,1): words, pairs and measures ("rule").
        inter_rater: over measures, ICC(3,1), of the scores as they are (as published): words and pairs.
        inter_rater_standardized: the same once every measure has standard deviation 1.
        internal: Cronbach's alpha of queries and of all pairs as one scale.
        omega: McDonald's omega of the same, row by row.
        summaries: distribution of each of these, by measure and list.
        measures: how every two measures correlate over words, and how much wider one spreads.
        relations: test-retest with inter-rater reliability, over pairs and over words.
        forms: pairs in the singular against the plural.
        untrusted: words, pairs and queries that are too unreliable, with the reason.
        verdicts: what it all comes to, in sentences.
        lists, queries: which words each stands on, which are lost.
        settings: everything that decides the result.
        warnings: what the reader should know before trusting any number.
        components: what scores vary with: under each measure, then all together; or why that is unknown.
        design: how many replicates and pairs are enough, likewise.
    """

    test_retest: Rows
    inter_rater: Rows
    inter_rater_standardized: Rows
    internal: Rows
    omega: Rows
    summaries: tuple[Distribution, ...]
    measures: tuple[Correlation, ...]
    relations: tuple[Correlation, ...]
    forms: tuple[FormComparison, ...]
    untrusted: tuple[Untrusted, ...]
    verdicts: tuple[str, ...]
    lists: tuple[WordList, ...]
    queries: tuple[WordList, ...]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...]
    components: tuple[VarianceComponents | NotAnalyzed, ...] = ()
    design: tuple[DecisionStudy | NotAnalyzed, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object; `test_retest`, `inter_rater` and `internal` are a contract."""
        internal: list[dict[str, Any]] = self.internal.to_dicts()
        omegas = self.omega.to_dicts()
        for row, other in zip(internal, omegas, strict=True):
            row["omega"] = {name: other[name] for name in ("value", "low", "high", "reason")}
        tables = {name: getattr(self, name) for name in PARTS}
        return {
            "test_retest": self.test_retest.to_dicts(),
            "inter_rater": self.inter_rater.to_dicts(),
            "inter_rater_standardized": self.inter_rater_standardized.to_dicts(),
            "internal": internal,
            "summary": [one.to_dict() for one in self.summaries],
            "measures": [one.to_dict() for one in self.measures],
            "relations": [one.to_dict() for one in self.relations],
            "word_forms": [one.to_dict() for one in self.forms],
            "untrusted": [one.to_dict() for one in self.untrusted],
            "verdicts": list(self.verdicts),
            "intervals": {
                **{
                    name: {"statistic": table.statistic, "level": table.level, "method": table.method}
                    for name, table in tables.items()
                },
                "omega": {"statistic": "omega", "level": self.omega.level, "method": self.omega.method},
            },
            "bands": dict(SOURCES),
            "components": [part.to_dict() for part in self.components],
            "design": [part.to_dict() for part in self.design],
            "coverage": {
                "lists": {one.name: one.to_dict() for one in self.lists},
                "queries": {one.name: one.to_dict() for one in self.queries},
            },
            "settings": dict(self.settings),
            "warnings": list(self.warnings),
        }

    def to_frame(self) -> pd.DataFrame:
        """Every reliability in one tidy table; the column `reliability` says which of the parts a row is of."""
        import pandas as pd

        tables: dict[str, Rows] = {**{name: getattr(self, name) for name in PARTS}, "omega": self.omega}
        return pd.concat(
            [table.to_frame().assign(reliability=name) for name, table in tables.items() if len(table)],
            ignore_index=True,
        )

    def distributions(self) -> pd.DataFrame:
        """The distributions: one row for each reliability, kind, measure and list."""
        return records_frame(self.summaries)

    @property
    def headlines(self) -> tuple[str, ...]:
        """What matters most: which design is enough, whether scores of the first list hold, whether measures agree."""
        first = [words.name for words in self.lists[:1]]
        designs = (part.sentences() for part in self.design if isinstance(part, DecisionStudy) and part.measure is None)
        return (
            *(sentence for sentences in designs for sentence in sentences),
            *(line for name in first for line in verdicts.over_replicates(self.test_retest, self.summaries, name)),
            *verdicts.over_measures(self.summaries, self.measures, first),
            *verdicts.within_scales(self.internal),
        )

    def summary(self) -> Summary:
        """Three reliabilities, what cannot be trusted, what scores vary with, and which designs are enough."""
        lost = [
            f"{words.name}: {len(words.lost):,} of {words.asked:,} words have no scores: {', '.join(words.lost[:6])}"
            for words in (*self.lists, *self.queries)
            if words.lost
        ]
        size = f"{len(self.settings['models'])} replicates, {len(self.settings['measures'])} measures"
        told = self.headlines or (f"No reliability is defined ({size}).",)
        return Summary(
            title="Reliability of bias scores",
            headline=told[0],
            sentences=told[1:],
            more=tuple(sentence for sentence in self.verdicts if sentence not in told),
            warnings=(*self.warnings, *lost),
            charts=reliability_charts(self),
            parts=(
                self._part("Test–retest", "do scores hold when the model is trained again? ICC(2,1)", ("test_retest",)),
                self._part(
                    "Inter-rater",
                    "do measures agree? ICC(3,1) of scores averaged over models",
                    ("inter_rater", "inter_rater_standardized"),
                ),
                Summary(
                    "Internal consistency",
                    "",
                    question="do words, or pairs, measure one thing? Cronbach's alpha",
                    tables=(_each("internal", self.internal, self.omega),),
                ),
                self._untrusted(),
                *((self._variance(),) if self.components else ()),
            ),
        )

    def _part(self, title: str, question: str, parts: tuple[str, ...]) -> Summary:
        """Distributions over words and pairs, and for test-retest the measures themselves."""
        names = [words.name for words in self.lists]
        scales = {"inter_rater": "raw scores", "inter_rater_standardized": "standardized"}
        mine = sorted(
            (one for one in self.summaries if one.reliability in parts),
            key=lambda one: (names.index(one.list or ""), one.of != "word"),
        )
        rows = [
            (
                one.list,
                f"{one.of}s",
                one.measure or scales.get(one.reliability),
                one.count,
                one.median,
                one.p05,
                one.p95,
                one.below,
                one.band or "undefined",
            )
            for one in mine
        ]
        columns: list[Column | str] = [
            "list",
            "of",
            "measure" if "test_retest" in parts else "scores",
            Column("number", "count"),
            Column("median", "number"),
            Column("5 %", "number"),
            Column("95 %", "number"),
            Column("poor", "count", about="below .5"),
            "median is",
        ]
        tables = [Table.of(parts[0], "", columns, rows)]
        if "test_retest" in parts:
            tables.append(_each("measures", self.test_retest.where(of="rule")))
        return Summary(title, "", question=question, tables=tuple(tables))

    def _untrusted(self) -> Summary:
        rows: dict[str, list[Untrusted]] = {}
        for one in self.untrusted:
            if one.kind == "poor" and one.reliability == "test_retest" and one.of in {"word", "pair"}:
                rows.setdefault(f"{one.of} {one.name}", []).append(one)
        table = Table.of(
            "untrusted",
            "",
            ["of", Column("lowest", "number"), Column("measures", "words"), "because"],
            [
                (
                    name,
                    min(one.value for one in poor),
                    tuple(dict.fromkeys(one.measure or "" for one in poor)),
                    poor[0].because,
                )
                for name, poor in rows.items()
            ],
            most=8,
        )
        return Summary(
            "Not to be trusted",
            f"{len(rows):,} words and pairs are poor (below .5) under some measure.",
            tables=(table,),
        )

    def _variance(self) -> Summary:
        known = [part for part in self.components if isinstance(part, VarianceComponents)]
        names = list(dict.fromkeys(one.name for part in known for one in part.components))
        shares = [{one.name: one.share for one in part.components} for part in known]
        table = Table.of(
            "components",
            "",
            ["share of the variance", *(Column(part.measure or "together", "share", 3) for part in known)],
            [(name, *(share.get(name) for share in shares)) for name in names],
        )
        designs = tuple(
            Summary(part.measure or "All measures together", "", sentences=part.sentences())
            for part in self.design
            if isinstance(part, DecisionStudy)
        )
        missing = tuple(
            f"{part.measure or 'all measures together'}: {part.reason}"
            for part in self.components
            if isinstance(part, NotAnalyzed)
        )
        return Summary(
            "What scores vary with",
            "",
            question="share of the variance",
            tables=(table,),
            warnings=missing,
            parts=designs,
        )


def _each(name: str, rows: Rows, omega: Rows | None = None) -> Table:
    """One line for each row: with its interval, and omega beside alpha."""
    kinds = {"rule": "list", "query": "query", "pairs": "all pairs on"}
    lines = []
    for index in range(len(rows)):
        of = str(rows.of[index])
        label = str((rows.name if of == "query" else rows.list)[index])
        value, low, high = (_number(end[index]) for end in (rows.value, rows.low, rows.high))
        estimate = Estimate(value=value, low=low, high=high, reason=str(rows.reason[index]) or None)
        judged = None if value is None else rows.verdict(index) if omega is None else str(rows.band[index])
        other = [] if omega is None else [None if omega.reason[index] else float(omega.value[index])]
        lines.append((kinds[of], label, str(rows.measure[index]), estimate, *other, judged))
    columns: list[Column | str] = ["of", "", "measure", Column(f"value [{rows.level:.0%} interval]", "estimate")]
    columns += [] if omega is None else [Column("omega", "number")]
    return Table.of(name, "", [*columns, "so it is"], lines)


def _number(value: float) -> float | None:
    return None if isnan(value) else float(value)
