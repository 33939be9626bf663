"""`CorpusBias`: log odds ratios of words in a text, with their intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp
from typing import TYPE_CHECKING, ClassVar

from biasgauge.core import Estimate, JsonMapping, LabeledEstimate, Record
from biasgauge.results import (
    Chart,
    Column,
    Result,
    Summary,
    Table,
    chart_of_rows,
    counted,
    estimate_text,
    level_text,
    number_text,
    share_text,
)

if TYPE_CHECKING:
    import pandas as pd

DOMINATED = 0.5
"""Share of the contexts of a set from which on one word carries it."""
MOST_DRAWN = 40
"""Words that a chart shows: those whose interval is farthest from 0, then those of the shortest interval."""
LABELS = {
    "flat": "every context counts 1",
    "word2vec": "a context at distance d counts (window + 1 − d) / window, as often as word2vec's window reaches it",
    "glove": "a context at distance d counts 1 / d, as in GloVe",
}


@dataclass(frozen=True)
class WordOdds(Record):
    """Log odds ratio of one word.

    Attributes:
        word: the word, as given.
        log_odds: log odds ratio of the word in contexts of A against contexts of B; 0: as likely in both; positive:
            more likely near A. None where the text lacks the word, or has too few contexts of it.
        low, high: ends of the interval.
        se: standard error of the closed form, contexts taken as independent.
        n_wa: contexts of A that hold the word; n_a: all contexts of A; n_wb, n_b: of B. Sums of weights where contexts
            are weighted.
        level, method: of the interval.
        closed_low, closed_high: ends of the interval of the closed form.
        se_documents: standard error over documents, by leaving out each.
        documents: documents in which the word stands near A or B.
        effective_documents: how many documents of equal weight would carry as much.
        reason: why there is no number, or no interval.
        warning: why the interval may cover less than its level.
    """

    word: str
    log_odds: float | None
    low: float | None
    high: float | None
    se: float | None
    n_wa: int | float
    n_a: int | float
    n_wb: int | float
    n_b: int | float
    level: float = 0.95
    method: str = ""
    closed_low: float | None = None
    closed_high: float | None = None
    se_documents: float | None = None
    documents: int = 0
    effective_documents: float | None = None
    reason: str | None = None
    warning: str | None = None

    @property
    def at_least(self) -> float:
        """End of the interval nearest to 0, where it excludes 0; else 0. A lower bound of the association, signed."""
        return max(self.low or 0.0, 0.0) + min(self.high or 0.0, 0.0)

    @property
    def estimate(self) -> Estimate:
        """The log odds ratio with its interval."""
        return Estimate(
            value=self.log_odds, low=self.low, high=self.high, level=self.level, method=self.method,
            n=self.documents, reason=self.reason, over="documents", warning=self.warning,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SetOdds(LabeledEstimate):
    """Log odds ratio of the words of a set together, counts pooled, or the difference of two such, as in a WEAT.

    A word weighs as much as it has contexts. 0: the words are as likely near both groups, or the sets alike. The
    interval speaks of other documents of the same kind and of other words like these; by "bootstrap", of documents
    alone. Undefined where the words have no context, or fewer than `min_contexts`.

    Attributes:
        name: of the set, or "x − y".
        kind: "pooled" or "contrast".
        largest_word: the word with the most contexts; of a contrast, that of the set in which its share is larger.
        largest_share: its share of the contexts of its set; beyond one half the pooled number is mostly about it.
        largest_contexts: its contexts, and those of its set.
        balanced: the same number with words as a random effect, in which no frequent word outweighs the others; None
            where the set is undefined.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("balanced",)

    name: str
    kind: str
    largest_word: str = ""
    largest_share: float | None = None
    largest_contexts: tuple[float, float] = (0.0, 0.0)
    balanced: Estimate | None = None

    @property
    def dominated(self) -> bool:
        """True where one word has more than half of the contexts of a set."""
        return (self.largest_share or 0.0) > DOMINATED

    @property
    def decisive(self) -> Estimate:
        """The number to rely on: pooled, or with words balanced where one word has most contexts."""
        return self.balanced if self.dominated and self.balanced is not None else self

    @property
    def note(self) -> str:
        """Sentence on a word that carries the set; empty where none does."""
        balanced = self.balanced
        if not self.dominated or balanced is None:
            return ""
        contexts, total = (f"{count:,.0f}" for count in self.largest_contexts)
        share = share_text(self.largest_share)
        number = f"undefined: {balanced.reason}" if balanced.value is None else _text(balanced)
        return (
            f"{self.largest_word} has {contexts} of {total} contexts ({share}) of its set, so that {self.name} pooled "
            f"is mostly about this word; with words balanced it is {number}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class CorpusBias(Result):
    """Log odds ratios of words with two groups of words, from counts in a text alone.

    Attributes:
        words: one row per word.
        sets: sets of words, counts pooled; of a test also the contrast of X and Y.
        a, b: words of the two groups that the text has.
        names: names of the first and the second group.
        coverage: words that the text has and lacks.
        settings: everything that decides the numbers.
        warnings: limitations of the text and the lists.
    """

    tables: ClassVar[tuple[str, ...]] = ("words",)

    words: tuple[WordOdds, ...]
    sets: tuple[SetOdds, ...]
    a: tuple[str, ...]
    b: tuple[str, ...]
    names: tuple[str, str]
    coverage: JsonMapping
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    @property
    def log_odds(self) -> dict[str, float]:
        """Log odds ratio of each word that has one."""
        return {row.word: row.log_odds for row in self.words if row.log_odds is not None}

    @property
    def contrast(self) -> SetOdds | None:
        """Log odds ratio of the words of X less that of Y; None where no two sets were given."""
        return next((row for row in self.sets if row.kind == "contrast"), None)

    def sets_to_frame(self) -> pd.DataFrame:
        """One row per set, and one for the contrast of two."""
        from biasgauge.results import records_frame

        return records_frame(self.sets)

    def summary(self) -> Summary:
        """Words by their log odds, sets, and the settings of the counts."""
        ranked = sorted(self.words, key=lambda row: (row.log_odds is None, -row.at_least, -(row.log_odds or 0)))
        number = Column(f"log odds ratio [{level_text(self.settings['level'])} interval]", "estimate")
        is_flat = self.settings["weighting"] == "flat"
        near = [Column(f"near {name}", "count" if is_flat else "number") for name in self.names]
        columns = ["word", number, Column("odds ratio", "number"), *near, Column("documents", "count")]
        rows = []
        for row in ranked:
            odds_ratio = None if row.log_odds is None else exp(row.log_odds)
            rows.append((row.word, row.estimate, odds_ratio, row.n_wa, row.n_wb, row.documents))
        tables = [Table.of("words", "", columns, rows, most=30)]
        if self.sets:
            sets = [(row.name, row, row.balanced, row.n, row.largest_word, row.largest_share) for row in self.sets]
            largest = Column("most contexts", "text"), Column("its share", "share")
            columns = ["set", number, Column("words balanced", "estimate"), Column("words", "count"), *largest]
            tables.insert(0, Table.of("sets", "Sets, counts of their words pooled", columns, sets))
        return replace(super().summary(), tables=tuple(tables))

    def _title(self) -> str:
        return "Association of words in the text"

    def _headline(self) -> str:
        contrast, word = self.contrast, self.words[0]
        if contrast is not None:
            text = f"undefined: {contrast.reason}" if contrast.value is None else _text(contrast)
            if contrast.dominated and contrast.decisive.value is not None:
                share = f"{share_text(contrast.largest_share)} of the contexts of a set are of {contrast.largest_word}"
                balanced = _text(contrast.decisive)
                start = f"{contrast.name}: difference of log odds ratios, words balanced, {balanced}"
                return f"{start} (pooled {text}; {share})"
            return f"{contrast.name}: difference of pooled log odds ratios {text}"
        if len(self.words) > 1:
            associated = [row.log_odds or 0.0 for row in self.words if row.estimate.excludes(0)]
            first = sum(value > 0 for value in associated)
            return (
                f"{counted(self.words, 'word')}: {first} lean to {self.names[0]}, {len(associated) - first} to "
                f"{self.names[1]}, {len(self.words) - len(associated)} to neither"
            )
        if word.log_odds is None:
            return f"{word.word}: undefined: {word.reason}"
        odds = number_text(exp(abs(word.log_odds)))
        toward, against = self.names if word.log_odds >= 0 else self.names[::-1]
        return (
            f"{word.word}: log odds ratio {_text(word.estimate)}: its odds near {toward} are {odds} times those near "
            f"{against}"
        )

    def _sentences(self) -> list[str]:
        window, (first, second) = self.settings["window"], self.names
        size = f"{self.settings['tokens']:,} tokens in {counted(self.settings['documents'], 'document')}"
        sentences = [
            f"Positive: more likely within {window} tokens of {first} than of {second}; 0: alike.",
            f"{size}; {LABELS[self.settings['weighting']]}.",
        ]
        if methods := {row.method for row in self.words if row.method}:
            sentences.append(f"Intervals: {'; '.join(sorted(methods))}.")
        if len(self.words) > 1:
            sentences.append("A word leans where its interval excludes 0.")
        if self.sets:
            sentences.append("Of a set, the counts of its words are pooled: each weighs as much as it has contexts.")
            sentences += [f"{row.note}." for row in self.sets if row.note]
        if undefined := sum(row.log_odds is None for row in self.words):
            sentences.append(f"{counted(undefined, 'word')} without a number: not in the text, or too few contexts.")
        return sentences

    def _charts(self) -> list[Chart]:
        bounded = [row for row in self.words if row.low is not None and row.high is not None]
        if not bounded:
            return []
        surest = sorted(bounded, key=lambda row: (-abs(row.at_least), (row.high or 0.0) - (row.low or 0.0)))
        drawn = sorted(surest[:MOST_DRAWN], key=lambda row: -(row.log_odds or 0))
        rows = [{"what": row.word, "log odds": row.log_odds, "low": row.low, "high": row.high} for row in drawn]
        is_complete = len(drawn) == len(self.words)
        remark = "Every word, with its interval." if is_complete else f"The {len(drawn)} words that most surely lean."
        axis = f"← {self.names[1]} · log odds ratio · {self.names[0]} →"
        title = "Association of words with the groups"
        return [chart_of_rows("log-odds", title, remark, axis, rows, number="log odds")]


def _text(estimate: Estimate) -> str:
    return estimate_text(estimate) + (" no interval" if estimate.low is None else "")
