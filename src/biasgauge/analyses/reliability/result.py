"""What `reliability` found, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, ClassVar

from biasgauge.analyses.reliability import verdicts
from biasgauge.analyses.reliability.components.analysis import VarianceComponents
from biasgauge.analyses.reliability.decision.result import DecisionStudy
from biasgauge.analyses.reliability.distributions import Distribution, Untrusted
from biasgauge.analyses.reliability.figures import reliability_charts
from biasgauge.analyses.reliability.lists import WordList
from biasgauge.analyses.reliability.relations import Correlation, FormComparison
from biasgauge.analyses.reliability.rows import SOURCES, Rows
from biasgauge.core import Estimate, JsonMapping, Record
from biasgauge.results import Column, Result, Summary, Table, counted, level_text, measure_name, records_frame

if TYPE_CHECKING:
    import pandas as pd


PARTS = ("test_retest", "inter_rater", "inter_rater_standardized", "internal")


@dataclass(frozen=True)
class NotAnalyzed(Record):
    """Why the variance of a measure could not be split; `measure` None stands for all measures together."""

    measure: str | None
    reason: str

    def derived(self) -> JsonMapping:
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

    abridged: ClassVar[bool] = True
    renamed: ClassVar[Mapping[str, str]] = {"summaries": "summary", "forms": "word_forms"}
    hidden: ClassVar[frozenset[str]] = frozenset({"omega", "lists", "queries"})

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
    settings: JsonMapping
    warnings: tuple[str, ...]
    components: tuple[VarianceComponents | NotAnalyzed, ...] = ()
    design: tuple[DecisionStudy | NotAnalyzed, ...] = ()

    def derived(self) -> JsonMapping:
        """Omega beside alpha, what all intervals share, the bands, and which words were found."""
        internal = zip(self.internal.to_dict(), self.omega.to_dict(), strict=True)
        return {
            "internal": [
                {**row, "omega": {name: other[name] for name in ("value", "low", "high", "reason")}}
                for row, other in internal
            ],
            "intervals": {
                name: {"statistic": table.statistic, "level": table.level, "method": table.method}
                for name, table in self._tables().items()
            },
            "bands": SOURCES,
            "coverage": {
                "lists": {words.name: words for words in self.lists},
                "queries": {words.name: words for words in self.queries},
            },
        }

    def _tables(self) -> dict[str, Rows]:
        return {name: getattr(self, name) for name in (*PARTS, "omega")}

    def to_frame(self) -> pd.DataFrame:
        """Every reliability in one tidy table; the column `reliability` says which of the parts a row is of."""
        import pandas as pd

        tables = [table.to_frame().assign(reliability=name) for name, table in self._tables().items() if len(table)]
        return pd.concat(tables, ignore_index=True)

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
        size = f"{counted(self.settings['models'], 'replicate')}, {counted(self.settings['measures'], 'measure')}"
        headlines = self.headlines or (f"No reliability is defined ({size}).",)
        scales = _each("internal", self.internal, self.omega)
        return Summary(
            title="Reliability of bias scores",
            headline=headlines[0],
            sentences=headlines[1:],
            more=tuple(sentence for sentence in self.verdicts if sentence not in headlines),
            warnings=(*self.warnings, *lost),
            charts=reliability_charts(self),
            parts=(
                self._part("Test–retest", "do scores hold when the model is trained again? ICC(2,1)", PARTS[:1]),
                self._part("Inter-rater", "do measures agree? ICC(3,1) of scores averaged over models", PARTS[1:3]),
                Summary(
                    "Internal consistency",
                    "",
                    question="do words, or pairs, measure one thing? Cronbach's alpha",
                    tables=(scales,),
                ),
                self._untrusted(),
                *((self._variance(),) if self.components else ()),
            ),
        )

    def _part(self, title: str, question: str, parts: tuple[str, ...]) -> Summary:
        """Distributions over words and pairs, and for test-retest the measures themselves."""
        names = [words.name for words in self.lists]
        scales = {"inter_rater": "raw scores", "inter_rater_standardized": "standardized"}
        mine = [row for row in self.summaries if row.reliability in parts]
        mine.sort(key=lambda row: (names.index(row.list or ""), row.of != "word"))
        rows = []
        for row in mine:
            scored = row.measure or scales.get(row.reliability)
            numbers = (row.count, row.median, row.p05, row.p95, row.below)
            rows.append((row.list, f"{row.of}s", scored, *numbers, row.band or "undefined"))
        again = "test_retest" in parts
        quantiles = (Column(name, "number") for name in ("median", "5 %", "95 %"))
        poor = Column("poor", "count", about="below .5")
        columns = [
            "list",
            "of",
            Column("measure", "name") if again else "scores",
            Column("number", "count"),
            *quantiles,
            poor,
            "median is",
        ]
        measures = (_each("measures", self.test_retest.where(of="rule")),) if again else ()
        return Summary(title, "", question=question, tables=(Table.of(parts[0], "", columns, rows), *measures))

    def _untrusted(self) -> Summary:
        """Words and pairs whose scores change when the model is trained again; of one model, between measures."""
        again = bool(len(self.test_retest.known()))
        looked_at = {"test_retest"} if again else set(PARTS[1:3])
        poor: dict[str, list[Untrusted]] = {}
        for row in self.untrusted:
            if row.kind == "poor" and row.reliability in looked_at and row.of in {"word", "pair"}:
                poor.setdefault(f"{row.of} {row.name}", []).append(row)
        lines = [
            (
                name,
                min(row.value for row in rows),
                tuple(dict.fromkeys(measure_name(row.measure) for row in rows if row.measure)),
                rows[0].because,
            )
            for name, rows in poor.items()
        ]
        columns = ["of", Column("lowest", "number"), Column("measures", "words"), "because"]
        poorly = f"{len(poor):,} words and pairs are poor (below .5)"
        headline = f"{poorly} under some measure." if again else f"Unknown over replicates; {poorly} over measures."
        return Summary("Not to be trusted", headline, tables=(Table.of("untrusted", "", columns, lines, most=8),))

    def _variance(self) -> Summary:
        known = [part for part in self.components if isinstance(part, VarianceComponents)]
        missing = [part for part in self.components if isinstance(part, NotAnalyzed)]
        shares = [{component.name: component.share for component in part.components} for part in known]
        names = dict.fromkeys(name for share in shares for name in share)
        columns = [
            "share of the variance",
            *(Column(measure_name(part.measure or "together"), "share", 3) for part in known),
        ]
        rows = [(name, *(share.get(name) for share in shares)) for name in names]
        return Summary(
            "What scores vary with",
            "",
            question="share of the variance",
            tables=(Table.of("components", "", columns, rows),),
            warnings=tuple(
                f"{measure_name(part.measure or 'all measures together')}: {part.reason}" for part in missing
            ),
            parts=tuple(
                Summary(measure_name(part.measure or "All measures together"), "", sentences=part.sentences())
                for part in self.design
                if isinstance(part, DecisionStudy)
            ),
        )


def _each(name: str, rows: Rows, omega: Rows | None = None) -> Table:
    """One line for each row: with its interval, and omega beside alpha."""
    kinds = {"rule": "list", "query": "query", "pairs": "all pairs on"}
    lines = []
    for index in range(len(rows)):
        of = str(rows.of[index])
        label = str((rows.name if of == "query" else rows.list)[index])
        numbers = (float(end[index]) for end in (rows.value, rows.low, rows.high))
        value, low, high = (None if isnan(number) else number for number in numbers)
        estimate = Estimate(value=value, low=low, high=high, reason=str(rows.reason[index]) or None)
        judged = None if value is None else rows.verdict(index) if omega is None else str(rows.band[index])
        other = [] if omega is None else [None if omega.reason[index] else float(omega.value[index])]
        lines.append((kinds[of], label, str(rows.measure[index]), estimate, *other, judged))
    omegas = [] if omega is None else [Column("omega", "number")]
    value_column = Column(f"value [{level_text(rows.level)} interval]", "estimate")
    return Table.of(name, "", ["of", "", Column("measure", "name"), value_column, *omegas, "so it is"], lines)
