"""`Comparison`: what `compare` hands back, and how it is summed up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.analyses.compare.figures import charts_of
from biasgauge.analyses.compare.groups import ComparedGroup, listed
from biasgauge.analyses.compare.rows import (
    Compared,
    Difference,
    GroupContrast,
    LinePoint,
    QuestionAbout,
    Trend,
    WordChange,
)
from biasgauge.core import JsonMapping
from biasgauge.results import (
    Column,
    Result,
    Summary,
    Table,
    estimate_text,
    figures_text,
    interval_text,
    lexicon_name,
    number_text,
    p_phrase,
    records_frame,
    share_text,
)

if TYPE_CHECKING:
    import pandas as pd

UNITS = {"contrast": "cosine units", "effect_size": "standard deviations (d)"}
NUMBERS = {"contrast": "contrast", "effect_size": "effect size"}
RUNS = {
    "none": "one model",
    "seeds": "training runs with other random seeds",
    "samples": "bootstrap samples of its text",
    "texts": "texts of their own",
}
_DIGITS = 3
_MOST_WORDS = 10
_MOST_TOLD = 4
"""Differences that a headline tells."""


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Contrasts of some questions in groups of models, the differences between groups, and trends along an order.

    Attributes:
        groups: what was compared, in order where there is one.
        questions: what was asked, and why where one cannot be compared.
        contrasts: one row per question and group.
        differences: one row per question and pair of groups; of groups in an order, the last less the first.
        trends: one row per question; empty without an order or with fewer than three groups.
        words: one row per question and target word, first group to last; empty with several groups in no order.
        lines: points of the lines of trends.
        coverage: words that every model has, by question.
        settings: everything that decides the result.
        warnings: what to know before trusting a difference.
    """

    tables: ClassVar[tuple[str, ...]] = ("differences", "trends")

    groups: tuple[ComparedGroup, ...]
    questions: tuple[QuestionAbout, ...]
    contrasts: tuple[GroupContrast, ...]
    differences: tuple[Difference, ...]
    trends: tuple[Trend, ...]
    words: tuple[WordChange, ...]
    lines: tuple[LinePoint, ...]
    coverage: Mapping[str, Mapping[str, Any]]
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """One row per difference or trend."""
        return super().to_frame().drop(columns="variances", errors="ignore")

    def words_frame(self) -> pd.DataFrame:
        """One row per question and target word."""
        return records_frame(self.words)

    def contrasts_frame(self) -> pd.DataFrame:
        """One row per question and group."""
        return records_frame(self.contrasts)

    @property
    def level(self) -> float:
        """Nominal coverage of the intervals."""
        return float(self.settings["level"])

    @property
    def answers(self) -> tuple[Compared, ...]:
        """Main answers: trends where there are any, otherwise differences."""
        return self.trends or self.differences

    def derived(self) -> JsonMapping:
        """The answer in words."""
        return {"headline": self._headline(), "sentences": [self.sentence(row) for row in self.answers]}

    def title_of(self, question: str) -> str:
        """Title of a question."""
        return next(entry.title for entry in self.questions if entry.name == question)

    def sentence(self, row: Compared) -> str:
        """One difference or trend in words."""
        return f"{self.title_of(row.question)} – {self._reading(row)}"

    def _reading(self, row: Compared) -> str:
        if row.value is None:
            return f"undefined: {row.reason}"
        span = self._span(row)
        if row.low is None or row.high is None or row.p is None:
            return f"{self._describe_change(row, row.value * span)}, without an interval: {row.reason}"
        ends = interval_text(row.low * span, row.high * span, _DIGITS)
        adjusted = f", Holm-adjusted {p_phrase(row.p_adjusted)}" if len(self.answers) > 1 and row.p_adjusted else ""
        spread = f"{share_text(row.level)} interval {ends}, {p_phrase(row.p)}{adjusted}"
        if row.excludes():
            return f"{self._describe_change(row, row.value * span)} ({spread})"
        answer_name = f"trend from {self._ends()}" if isinstance(row, Trend) else f"difference between {_between(row)}"
        estimate = f"{number_text(row.value * span, _DIGITS)} {UNITS[self.settings['measure']]}"
        return f"no {answer_name} is shown; the estimate is {estimate} ({spread})"

    def _span(self, row: Compared) -> float:
        """Span over which a slope is reported: all positions, for a number per year is too small to read."""
        if not isinstance(row, Trend):
            return 1.0
        return (self.groups[-1].position or 0.0) - (self.groups[0].position or 0.0)

    def _ends(self) -> str:
        return f"{self.groups[0].name} to {self.groups[-1].name}"

    def _describe_change(self, row: Compared, value: float) -> str:
        number, unit = NUMBERS[self.settings["measure"]], UNITS[self.settings["measure"]]
        size = f"{number_text(abs(value), _DIGITS)} {unit}"
        if isinstance(row, Difference):
            return f"the {number} is {size} {'higher' if value > 0 else 'lower'} in {row.second} than in {row.first}"
        return f"along a straight line the {number} {'rises' if value > 0 else 'falls'} by {size} from {self._ends()}"

    def _headline(self) -> str:
        rows = self.answers
        if len(rows) == 1:
            return f"{self.sentence(rows[0])}."
        answer_name = "trends" if self.trends else "differences"
        alpha = 1 - self.level
        shown = [row for row in rows if row.p_adjusted is not None and row.p_adjusted < alpha]
        listed_rows = shown if len(rows) > _MOST_TOLD else rows
        pairs = {_between(row) for row in listed_rows}
        numbers = [
            f"{lexicon_name(row.question)} {estimate_text(row, _digits(row))}"
            + (f" ({_less(row)})" if len(pairs) > 1 else "")
            for row in listed_rows[:_MOST_TOLD]
        ]
        whose = f" ({_less(listed_rows[0])}, {self._unit(listed_rows[0])})" if len(pairs) == 1 else ""
        count = f"{len(shown)} of {len(rows)} {answer_name} {'is' if len(shown) == 1 else 'are'} shown"
        listing = f": {'; '.join(numbers)}{whose}" if numbers else ""
        return f"{count} (Holm-adjusted p < {figures_text(alpha).removeprefix('0')}){listing}."

    def _unit(self, row: Compared) -> str:
        unit = UNITS[self.settings["measure"]]
        return f"{unit} per unit of position" if isinstance(row, Trend) else unit

    def summary(self) -> Summary:
        """The differences first; then what each group has, which words change, and which were left out."""
        return Summary(
            title=f"Comparison of {listed([group.name for group in self.groups])}",
            headline=self._headline(),
            sentences=self._sentences(),
            tables=tuple(table for table in self._tables() if table.rows),
            charts=charts_of(self),
            warnings=self.warnings,
        )

    def _sentences(self) -> tuple[str, ...]:
        rows = self.answers
        sentences = [f"{self.sentence(row)}." for row in rows] if 1 < len(rows) <= 12 else []
        number = NUMBERS[self.settings["measure"]]
        sentences += [f"A positive {number} in {question.title}: {question.claim}." for question in self.questions[:12]]
        sentences += [
            f"{question.title} cannot be compared: {question.reason}." for question in self.questions if question.reason
        ]
        if len(rows) == 1:
            sentences.append(self._these_words(rows[0]))
            sentences += self._other_texts(rows[0])
        if self.trends and len(self.differences) == 1:
            sentences.append(f"From first to last: {self._reading(self.differences[0])}.")
        return tuple(sentences)

    def _these_words(self, row: Compared) -> str:
        fixed, span = row.these_words, self._span(row)
        first = (
            "The interval is for other words of the same kind"
            + ("" if "runs" not in row.over else f" and {self._runs()}")
            + "."
        )
        if fixed.low is None or fixed.high is None:
            return f"{first} For these very words there is none: {fixed.reason}."
        ends = interval_text(fixed.low * span, fixed.high * span, _DIGITS)
        if fixed.low == row.low and fixed.high == row.high:
            return f"{first} For these very words it is the same: so few models barely tell how models vary."
        return f"{first} For these very words and {self._runs()} it is {ends}, {p_phrase(row.p_these_words)}."

    def _runs(self) -> str:
        kinds = {group.replicates for group in self.groups} - {"none"}
        if kinds == {"samples"}:
            return "other samples of the texts"
        return "other texts of the same kind" if kinds == {"texts"} else "other training runs"

    def _other_texts(self, row: Compared) -> list[str]:
        if not isinstance(row, Trend) or row.other_texts.low is None or row.other_texts.high is None:
            return []
        span = self._span(row)
        ends = interval_text(row.other_texts.low * span, row.other_texts.high * span, _DIGITS)
        scatter = "With the scatter of the groups about the line, which holds what is peculiar to each text, it is"
        return [f"{scatter} {ends}, {p_phrase(row.p_other_texts)}, over {len(self.groups)} groups."]

    def _tables(self) -> Sequence[Table]:
        unit = UNITS[self.settings["measure"]]
        tests = [Column("p", "p"), Column("Holm p", "p", about="adjusted for all rows of the table")]
        alone = Column("p, these words", "p")
        differences = [
            (
                row.question, f"{row.second} − {row.first}", row, row.p, row.p_adjusted, row.these_words,
                row.p_these_words, row.words_with, row.n,
            )
            for row in self.differences
        ]  # fmt: skip
        trends = [
            (row.question, row, row.p, row.p_adjusted, row.these_words, row.p_these_words, row.other_texts,
             row.p_other_texts)
            for row in self.trends
        ]  # fmt: skip
        digits = max(map(_digits, self.trends), default=_DIGITS)
        slopes, texts, these = (
            Column(name, "estimate", digits)
            for name in (f"slope per unit of position, {unit}", "with scatter of groups", "these words only")
        )
        fixed = Column("these words only", "estimate", _DIGITS, about="other models, these very words")
        more = [Column("words that change so", "share"), Column("target words", "count")]
        heads = ["question", "groups", Column(f"difference, {unit}", "estimate", _DIGITS), *tests, fixed, alone, *more]
        note = (
            "The interval is for other words of the same kind and other models of the same kind; p is below "
            f"{figures_text(1 - self.level, 2)} exactly where it excludes 0. Holm's adjustment is over all rows of the "
            "table."
        )
        columns = ["question", slopes, *tests, these, alone, texts, Column("p with scatter", "p")]
        runs = [(group.name, len(group.models), RUNS[group.replicates]) for group in self.groups]
        return (
            Table.of("trends", "Trends", columns, trends, note=note),
            Table.of("differences", "Differences", heads, differences, note="" if trends else note),
            self._by_group(),
            Table.of("groups", "Groups", ["group", Column("models", "count"), "that differ by"], runs),
            self._words(),
            self._left_out(),
        )

    def _by_group(self) -> Table:
        names = [group.name for group in self.groups]
        contrasts = {(row.question, row.group): row for row in self.contrasts}
        questions = [question for question in self.questions if question.reason is None]
        columns = [Column(name, "estimate", _DIGITS) for name in names]
        rows = [(question.name, *(contrasts[question.name, name] for name in names)) for question in questions]
        number = NUMBERS[self.settings["measure"]].capitalize()
        return Table.of(
            "contrasts", f"{number} in each group, {UNITS[self.settings['measure']]}", ["question", *columns], rows
        )

    def _words(self) -> Table:
        first, last = self.groups[0].name, self.groups[-1].name
        numbers = [Column(name, "number", _DIGITS) for name in (first, last)]
        columns = ["question", "word", "list", *numbers, Column("change", "estimate", _DIGITS)]
        rows = [(row.question, row.word, row.set, row.first, row.last, row) for row in self.words]
        note = "Associations in cosine units; intervals over models, not adjusted for the number of words."
        title = f"Words, from {first} to {last}, largest change first"
        return Table.of("words", title, columns, rows, note=note, most=_MOST_WORDS, folded=len(self.questions) > 1)

    def _left_out(self) -> Table:
        rows = [
            (name, list_name, tuple(words))
            for name, coverage in self.coverage.items()
            for list_name, words in coverage["lost"].items()
        ]
        title = "Words not in the vocabulary (OOV) of every model, left out of all groups"
        return Table.of("left-out", title, ["question", "list", Column("words", "words")], rows)


def _digits(row: Compared) -> int:
    """Decimals that show two figures of the interval's half width."""
    if row.low is None or row.high is None or row.high <= row.low:
        return _DIGITS
    return min(max(1 - floor(log10((row.high - row.low) / 2)), _DIGITS), 8)


def _between(row: Compared) -> str:
    return f"{row.first} and {row.second}" if isinstance(row, Difference) else "groups"


def _less(row: Compared) -> str:
    return f"{row.second} less {row.first}" if isinstance(row, Difference) else "slope"
