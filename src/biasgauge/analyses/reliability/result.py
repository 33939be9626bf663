"""`ReliabilityResult`: the three reliabilities with the sentences and tables that report them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.analyses.reliability.components import VarianceComponents
from biasgauge.analyses.reliability.decision import DecisionStudy
from biasgauge.analyses.reliability.figures import reliability_charts
from biasgauge.analyses.reliability.reliabilities import Correlation, FormComparison
from biasgauge.analyses.reliability.reliability_table import (
    ACCEPTABLE,
    NOTABLE,
    SOURCES,
    Distribution,
    LowReliability,
    ReliabilityTable,
    band,
    span_text,
    verdict,
)
from biasgauge.core import Estimate, Floats, JsonMapping, JsonObject, Record
from biasgauge.results import (
    Column,
    Result,
    Summary,
    Table,
    counted,
    interval_text,
    level_text,
    measure_name,
    number_text,
    p_phrase,
    records_frame,
)

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.analyses.reliability.analysis import WordList


RELIABILITIES = ("test_retest", "inter_rater", "inter_rater_standardized", "internal")


@dataclass(frozen=True)
class NotAnalyzed(Record):
    """Reason why the variance of a measure could not be split; `measure` None stands for all measures together."""

    measure: str | None
    reason: str

    def derived(self) -> JsonMapping:
        """Add the keys of an analysis, empty."""
        return {"components": None, "designs": None}


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityResult(Result):
    """Three reliabilities of words, pairs, queries and measures, and what follows from them.

    Attributes:
        test_retest: over replicates, ICC(2,1): words, pairs and measures ("rule").
        inter_rater: over measures, ICC(3,1), on raw scores (as published): words and pairs.
        inter_rater_standardized: the same after standardizing each measure.
        internal: Cronbach's alpha of queries and of all pairs as one scale.
        omega: McDonald's omega of the same, row by row.
        summaries: distribution of each of these, by measure and list.
        measures: correlation of every two measures over words, and the ratio of their standard deviations.
        relations: correlation of test-retest with inter-rater reliability, over pairs and over words.
        forms: pairs in the singular against the plural.
        untrusted: words, pairs and queries that are too unreliable, with the cause.
        verdicts: conclusions, in sentences.
        lists, queries: word lists with the words that have no score.
        settings: everything that decides the result.
        warnings: limitations of the data.
        components: variance components under each measure, then of all together; or why there are none.
        design: how many replicates and pairs are enough, likewise.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {
        "test_retest": tuple[JsonObject, ...],
        "inter_rater": tuple[JsonObject, ...],
        "inter_rater_standardized": tuple[JsonObject, ...],
        "internal": tuple[JsonObject, ...],
        "intervals": JsonMapping,
        "bands": Mapping[str, str],
        "coverage": JsonMapping,
    }
    renamed: ClassVar[Mapping[str, str]] = {"summaries": "summary", "forms": "word_forms"}
    hidden: ClassVar[frozenset[str]] = frozenset({"omega", "lists", "queries"})

    test_retest: ReliabilityTable
    inter_rater: ReliabilityTable
    inter_rater_standardized: ReliabilityTable
    internal: ReliabilityTable
    omega: ReliabilityTable
    summaries: tuple[Distribution, ...]
    measures: tuple[Correlation, ...]
    relations: tuple[Correlation, ...]
    forms: tuple[FormComparison, ...]
    untrusted: tuple[LowReliability, ...]
    verdicts: tuple[str, ...]
    lists: tuple[WordList, ...]
    queries: tuple[WordList, ...]
    settings: JsonMapping
    warnings: tuple[str, ...]
    components: tuple[VarianceComponents | NotAnalyzed, ...] = ()
    design: tuple[DecisionStudy | NotAnalyzed, ...] = ()

    def derived(self) -> JsonMapping:
        """Add omega beside alpha, methods of the intervals, sources of the bands, and coverage."""
        keys = ("value", "low", "high", "reason")
        internal = zip(self.internal.to_dict(), self.omega.to_dict(), strict=True)
        return {
            "internal": [{**alpha, "omega": {key: omega[key] for key in keys}} for alpha, omega in internal],
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

    def _tables(self) -> dict[str, ReliabilityTable]:
        return {name: getattr(self, name) for name in (*RELIABILITIES, "omega")}

    def to_frame(self) -> pd.DataFrame:
        """Every reliability in one tidy table; the column `reliability` names the kind."""
        import pandas as pd

        tables = [table.to_frame().assign(reliability=name) for name, table in self._tables().items() if len(table)]
        return pd.concat(tables, ignore_index=True)

    def distributions(self) -> pd.DataFrame:
        """Distributions: one row for each reliability, object, measure and list."""
        return records_frame(self.summaries)

    @property
    def headlines(self) -> tuple[str, ...]:
        """Main conclusions: designs that are enough, reliability on the first list, agreement of measures."""
        studies = (study for study in self.design if isinstance(study, DecisionStudy) and study.measure is None)
        first = [words.name for words in self.lists[:1]]
        return (
            *(sentence for study in studies for sentence in study.sentences()),
            *conclusions(self.test_retest, self.internal, self.summaries, self.measures, first),
        )

    def summary(self) -> Summary:
        """Three reliabilities, low reliabilities, variance components, and designs that are enough."""
        lost = [
            f"{words.name}: {len(words.lost):,} of {words.size:,} words have no scores: {', '.join(words.lost[:6])}"
            for words in (*self.lists, *self.queries)
            if words.lost
        ]
        size = f"{counted(self.settings['models'], 'replicate')}, {counted(self.settings['measures'], 'measure')}"
        headlines = self.headlines or (f"No reliability is defined ({size}).",)
        scales = _estimate_table("internal", self.internal, self.omega)
        consistency = "consistency of words or pairs: Cronbach's alpha"
        return Summary(
            title="Reliability of bias scores",
            headline=headlines[0],
            sentences=headlines[1:],
            more=tuple(sentence for sentence in self.verdicts if sentence not in headlines),
            warnings=(*self.warnings, *lost),
            charts=reliability_charts(self),
            parts=(
                self._section("Test–retest", "agreement of scores over training runs: ICC(2,1)", "test_retest"),
                self._section(
                    "Inter-rater",
                    "agreement of measures: ICC(3,1) of scores averaged over models",
                    "inter_rater",
                    "inter_rater_standardized",
                ),
                Summary("Internal consistency", "", question=consistency, tables=(scales,)),
                self._low_reliabilities(),
                *((self._variance(),) if self.components else ()),
            ),
        )

    def _section(self, title: str, question: str, *reliabilities: str) -> Summary:
        """Distributions over words and pairs, and for test-retest the measures themselves."""
        names = [words.name for words in self.lists]
        scales = {"inter_rater": "raw scores", "inter_rater_standardized": "standardized"}
        summaries = [row for row in self.summaries if row.reliability in reliabilities]
        summaries.sort(key=lambda row: (names.index(row.list or ""), row.of != "word"))
        rows = []
        for row in summaries:
            numbers = (row.count, row.median, row.p05, row.p95, row.below)
            scored_by = row.measure or scales.get(row.reliability)
            rows.append((row.list, f"{row.of}s", scored_by, *numbers, row.band or "undefined"))
        is_retest = "test_retest" in reliabilities
        scored = Column("measure", "name") if is_retest else "scores"
        quantiles = (Column(name, "number") for name in ("median", "5 %", "95 %"))
        poor = Column("poor", "count", about="below .5")
        columns = ["list", "of", scored, Column("number", "count"), *quantiles, poor, "band of the median"]
        measures = (_estimate_table("measures", self.test_retest.where(of="rule")),) if is_retest else ()
        return Summary(title, "", question=question, tables=(Table.of(reliabilities[0], "", columns, rows), *measures))

    def _low_reliabilities(self) -> Summary:
        """Words and pairs of poor test-retest reliability; of one model, of poor inter-rater reliability."""
        has_replicates = bool(len(self.test_retest.drop_undefined()))
        kinds = {"test_retest"} if has_replicates else {"inter_rater", "inter_rater_standardized"}
        poor: dict[str, list[LowReliability]] = {}
        for row in self.untrusted:
            if row.kind == "poor" and row.reliability in kinds and row.of in {"word", "pair"}:
                poor.setdefault(f"{row.of} {row.name}", []).append(row)
        lines = []
        for name, rows in poor.items():
            measures = tuple(dict.fromkeys(measure_name(row.measure) for row in rows if row.measure))
            lines.append((name, min(row.value for row in rows), measures, rows[0].because))
        columns = ["of", Column("lowest", "number"), Column("measures", "words"), "because"]
        count = f"{len(poor):,} words and pairs are poor (below .5)"
        over_measures = f"Unknown over replicates; {count} over measures."
        headline = f"{count} under some measure." if has_replicates else over_measures
        return Summary(
            "Words and pairs of poor reliability", headline, tables=(Table.of("untrusted", "", columns, lines, most=8),)
        )

    def _variance(self) -> Summary:
        """Shares of the variance components under each measure, and the designs that follow from them."""
        analyzed = [study for study in self.components if isinstance(study, VarianceComponents)]
        missing = [study for study in self.components if isinstance(study, NotAnalyzed)]
        shares = [{component.name: component.share for component in study.components} for study in analyzed]
        names = dict.fromkeys(name for share in shares for name in share)
        measures = (Column(measure_name(study.measure or "together"), "share", 3) for study in analyzed)
        rows = [(name, *(share.get(name) for share in shares)) for name in names]
        return Summary(
            "Variance components",
            "",
            question="shares of the variance of scores",
            tables=(Table.of("components", "", ["component", *measures], rows),),
            warnings=tuple(
                f"{measure_name(study.measure or 'all measures together')}: {study.reason}" for study in missing
            ),
            parts=tuple(
                Summary(measure_name(study.measure or "All measures together"), "", sentences=study.sentences())
                for study in self.design
                if isinstance(study, DecisionStudy)
            ),
        )


def _estimate_table(name: str, rows: ReliabilityTable, omega: ReliabilityTable | None = None) -> Table:
    """One line for each row with its interval, and omega beside alpha."""
    kinds = {"rule": "list", "query": "query", "pairs": "all pairs on"}
    lines = []
    for index in range(len(rows)):
        kind = str(rows.of[index])
        label = str((rows.name if kind == "query" else rows.list)[index])
        numbers = (float(column[index]) for column in (rows.value, rows.low, rows.high))
        value, low, high = (None if isnan(number) else number for number in numbers)
        estimate = Estimate(value=value, low=low, high=high, reason=str(rows.reason[index]) or None)
        judgment = None
        if value is not None:
            judgment = verdict(low, high) if omega is None else str(rows.band[index])
        omega_value = [] if omega is None else [None if omega.reason[index] else float(omega.value[index])]
        lines.append((kinds[kind], label, str(rows.measure[index]), estimate, *omega_value, judgment))
    omega_column = [] if omega is None else [Column("omega", "number")]
    value_column = Column(f"value [{level_text(rows.level)} interval]", "estimate")
    return Table.of(name, "", ["of", "", Column("measure", "name"), value_column, *omega_column, "band"], lines)


def conclusions(
    test_retest: ReliabilityTable,
    internal: ReliabilityTable,
    summaries: Sequence[Distribution],
    measures: Sequence[Correlation],
    lists: Sequence[str],
    relations: Iterable[Correlation] = (),
    forms: Iterable[FormComparison] = (),
) -> tuple[str, ...]:
    """Conclusions on these lists, in sentences."""
    return (
        *(sentence for name in lists for sentence in _on_replicates(test_retest, summaries, name)),
        *_on_measures(summaries, measures, lists),
        *_on_scales(internal),
        *_on_relations(relations, forms),
    )


def _on_replicates(table: ReliabilityTable, summaries: Sequence[Distribution], word_list: str) -> Iterator[str]:
    """Test-retest reliability of words, pairs and measures on one list."""
    for kind in ("word", "pair"):
        rows = [row for row in summaries if (row.of, row.list, row.reliability) == (kind, word_list, "test_retest")]
        medians = [row.median for row in rows if row.median is not None]
        if medians:
            poor, count = sorted(row.below for row in rows), max(row.count for row in rows)
            yield (
                f"Test–retest reliability of the median {kind} of {word_list} is {_band_span(medians)} "
                f"({_range(medians)}); {span_text(f'{poor[0]:,}', f'{poor[-1]:,}')} of {count:,} {kind}s are poor "
                "(below .5)."
            )
    rules = table.where(of="rule", list=word_list).drop_undefined()
    if len(rules):
        bands = verdict(float(np.nanmin(rules.low)), float(np.nanmax(rules.high)))
        yield f"Averaged over pairs, scores of the words of {word_list} reach {_range(rules.value)} ({bands})."


def _on_measures(
    summaries: Sequence[Distribution], measures: Sequence[Correlation], lists: Iterable[str]
) -> Iterator[str]:
    """Agreement of measures on the words of each list, and the scales behind disagreement on raw scores."""
    both_defined = False
    for word_list in lists:
        medians = {row.reliability: row.median for row in summaries if row.of == "word" and row.list == word_list}
        raw, scaled = medians.get("inter_rater"), medians.get("inter_rater_standardized")
        if raw is not None and scaled is not None:
            both_defined = True
            yield (
                f"Agreement of measures on the median word of {word_list} is {band(raw)} on raw scores "
                f"({number_text(raw)}) and {band(scaled)} after standardizing ({number_text(scaled)})."
            )
    compared = [row for row in measures if row.spread_ratio is not None and row.defined]
    if both_defined and compared:
        widest = max(compared, key=lambda row: abs(np.log(row.spread_ratio or 1)))
        ratio, names = float(widest.spread_ratio or 1), (measure_name(widest.b), measure_name(widest.a))
        if ratio < 1:
            ratio, names = 1 / ratio, names[::-1]
        if ratio > NOTABLE:
            yield (
                f"The two differ because the standard deviation of {names[0]} is {number_text(ratio, 1)} times that of "
                f"{names[1]}, which counts as disagreement on raw scores, although {names[0]} and {names[1]} correlate "
                f"at {number_text(widest.value)} over words."
            )


def _on_scales(table: ReliabilityTable) -> Iterator[str]:
    """Internal consistency of queries, and of all pairs as one scale."""
    queries = table.where(of="query").drop_undefined()
    low = queries.take(queries.value < ACCEPTABLE)
    if len(low):
        rows = dict.fromkeys(zip(low.name, low.measure, low.value, strict=True))
        texts = (f"{name} ({number_text(value)} under {measure_name(measure)})" for name, measure, value in rows)
        yield f"Below an alpha of .7: {', '.join(texts)}."
    elif len(queries):
        yield f"All {counted(set(queries.name), 'query is', 'queries are')} consistent (alpha ≥ .7)."
    values = table.where(of="pairs").drop_undefined().value
    if len(values):
        state = "consistent" if values.min() >= ACCEPTABLE else "not consistent throughout"
        yield f"The pairs together are {state}: alpha {_range(values)}."


def _on_relations(relations: Iterable[Correlation], forms: Iterable[FormComparison]) -> Iterator[str]:
    """Correlation of the two reliabilities over pairs, and the singular against the plural."""
    for row in relations:
        if row.of == "pair" and row.p is not None:
            related = "are correlated" if row.p < 0.05 else "may be unrelated"
            yield (
                f"Over the pairs on {row.list}, test–retest and inter-rater reliability {related}: "
                f"r = {number_text(row.value)} {interval_text(row.low, row.high)}."
            )
    for form in forms:
        if form.p is not None:
            more = "more" if (form.value or 0) > 0 else "less"
            differ = f"are {more} reliable than" if form.p < 0.05 else "do not differ significantly from"
            yield (
                f"Singular pairs {differ} plural ones in {form.reliability.replace('_', '-')} reliability on "
                f"{form.list}: {number_text(form.value)} {interval_text(form.low, form.high)}, "
                f"t({form.df}) = {number_text(form.t)}, {p_phrase(form.p)}."
            )


def _band_span(values: Sequence[float]) -> str:
    return span_text(str(band(min(values))), str(band(max(values))))


def _range(values: Sequence[float] | Floats) -> str:
    return span_text(number_text(float(min(values))), number_text(float(max(values))))
