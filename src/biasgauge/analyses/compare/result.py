"""`Comparison`: what `compare` returns, its sentences, tables and charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import floor, log10
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge import results
from biasgauge.analyses.compare.figures import draw_differences, draw_groups, draw_trends, less
from biasgauge.analyses.compare.groups import ComparedGroup, listed
from biasgauge.analyses.compare.methods import comparison_methods
from biasgauge.analyses.compare.rows import (
    Compared,
    CountDifference,
    Difference,
    GroupContrast,
    LinePoint,
    QuestionAbout,
    Trend,
    WordChange,
)
from biasgauge.analyses.compare.verdicts import NUMBERS, UNITS
from biasgauge.audits import DECISIONS, Verdict
from biasgauge.core import REPORTED, Decision, Estimate, JsonMapping
from biasgauge.results import (
    Chart,
    Column,
    Quote,
    RecordTable,
    Result,
    Table,
    interval_text,
    p_phrase,
    share_text,
)

if TYPE_CHECKING:
    import pandas as pd

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
        verdicts: may it be said that the groups differ, or that there is a trend? One per question and pair of groups,
            in the order of `answers`; those on questions that cannot be compared follow.
        questions: what was asked, and why where one cannot be compared.
        contrasts: one row per question and group.
        differences: one row per question and pair of groups; of groups in an order, the last less the first.
        trends: one row per question; empty without an order or with fewer than three groups.
        words: one row per question and target word, first group to last; empty with several groups in no order.
        lines: points of the lines of trends.
        counts: the same differences in the texts themselves, from counts; empty where models were compared.
        coverage: words that every model has, by question.
        settings: everything that decides the result.
        warnings: what to know before trusting a difference.
    """

    tables: ClassVar[tuple[str, ...]] = ("differences", "trends")

    groups: tuple[ComparedGroup, ...]
    verdicts: tuple[Verdict, ...]
    questions: tuple[QuestionAbout, ...]
    contrasts: tuple[GroupContrast, ...]
    differences: tuple[Difference, ...]
    trends: tuple[Trend, ...]
    words: tuple[WordChange, ...]
    lines: tuple[LinePoint, ...]
    coverage: Mapping[str, Mapping[str, Any]]
    settings: JsonMapping
    counts: tuple[CountDifference, ...] = ()
    warnings: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """One row per difference or trend."""
        return super().to_frame().drop(columns="variances", errors="ignore")

    def words_frame(self) -> pd.DataFrame:
        """One row per question and target word."""
        return results.records_frame(self.words)

    def contrasts_frame(self) -> pd.DataFrame:
        """One row per question and group."""
        return results.records_frame(self.contrasts)

    @property
    def level(self) -> float:
        """Nominal coverage of the intervals."""
        return float(self.settings["level"])

    @property
    def answers(self) -> tuple[Compared, ...]:
        """Main answers: trends where there are any, otherwise differences."""
        return self.trends or self.differences

    @property
    def decision(self) -> Decision:
        """Decision on the first answer; `verdicts` has all."""
        return self.verdicts[0].decision

    @property
    def difference(self) -> float | None:
        """The first answer: the difference, or the slope of the trend, as it is."""
        return self.answers[0].value

    @property
    def adjusted(self) -> Estimate | None:
        """The first answer at equal word frequency, which its decision rests on; None where that is not known."""
        return self.answers[0].adjusted

    @property
    def generalizes_over(self) -> str:
        """Units that the interval of the first answer generalizes over: "targets and attributes and documents"."""
        return self.answers[0].over

    @property
    def tokens(self) -> dict[str, int | None]:
        """Tokens that a model of each group read in one epoch; None where that is unknown."""
        return {group.name: group.tokens for group in self.groups}

    def derived(self) -> JsonMapping:
        """The first answer, and all answers in words."""
        return {
            "decision": self.decision, "difference": self.difference, "generalizes_over": self.generalizes_over,
            "tokens": self.tokens, "headline": self._headline(),
            "sentences": [verdict.sentence for verdict in self.verdicts], "methods": comparison_methods(self),
        }  # fmt: skip

    def title_of(self, question: str) -> str:
        """Title of a question."""
        return next(entry.title for entry in self.questions if entry.name == question)

    def sentence(self, row: Compared) -> str:
        """The verdict on one difference or trend, in words."""
        return self.verdict_on(row).sentence

    def verdict_on(self, row: Compared) -> Verdict:
        """The verdict on one of the answers."""
        return self.verdicts[next(index for index, answer in enumerate(self.answers) if answer is row)]

    def _span(self, row: Compared) -> float:
        """Span over which a slope is reported: all positions, for a number per year is too small to read."""
        if not isinstance(row, Trend):
            return 1.0
        return (self.groups[-1].position or 0.0) - (self.groups[0].position or 0.0)

    def _ends(self) -> str:
        return f"{self.groups[0].name} to {self.groups[-1].name}"

    def _headline(self) -> str:
        rows = self.answers
        if len(rows) == 1:
            return self.verdicts[0].sentence
        answer_name = "trends" if self.trends else "differences"
        reported = [row for row, verdict in zip(rows, self.verdicts, strict=False) if verdict.decision in REPORTED]
        listed_rows = reported if len(rows) > _MOST_TOLD else rows
        pairs = {less(row) for row in listed_rows}
        numbers = [
            f"{results.lexicon_name(row.question)} {results.estimate_text(row.decisive, _digits(row))}"
            + (f" ({less(row)})" if len(pairs) > 1 else "")
            for row in listed_rows[:_MOST_TOLD]
        ]
        whose = f" ({less(listed_rows[0])}, {self._unit(listed_rows[0])})" if len(pairs) == 1 else ""
        count = f"{len(reported)} of {len(rows)} {answer_name} may be reported"
        listing = f": {'; '.join(numbers)}{whose}" if numbers else ""
        return f"{count}{listing}."

    def _unit(self, row: Compared) -> str:
        unit = UNITS[self.settings["measure"]]
        return f"{unit} per unit of position" if isinstance(row, Trend) else unit

    def summary(self) -> results.Summary:
        """The verdicts first; then what each group has, which words change, and which were left out."""
        first = self.verdicts[0] if len(self.answers) == 1 else None
        methods = Quote("Methods", comparison_methods(self), "Made from the settings of this comparison.")
        tables = tuple(table for table in self._tables() if table.rows)
        summary = replace(super().summary(), tables=tables, quotes=(methods,))
        return summary if first is None else replace(summary, mark=first.decision, tone=first.style.tone)

    def _title(self) -> str:
        return f"Comparison of {listed([group.name for group in self.groups])}"

    def _sentences(self) -> tuple[str, ...]:
        rows = self.answers
        sentences = [verdict.sentence for verdict in self.verdicts[:12]] if len(self.verdicts) > 1 else []
        number = NUMBERS[self.settings["measure"]]
        sentences += [f"A positive {number} in {question.title}: {question.claim}." for question in self.questions[:12]]
        if len(rows) == 1:
            sentences.append(self._these_words(rows[0]))
            sentences += self._other_texts(rows[0])
        notes = {verdict.question: verdict.beware for verdict in self.verdicts if verdict.beware}
        sentences += [f"Beware of {name}: {' '.join(told)}" for name, told in list(notes.items())[:12]]
        if self.trends and len(self.differences) == 1:
            row = self.differences[0]
            change = results.estimate_text(row.decisive, _digits(row))
            sentences.append(f"{row.second} less {row.first}: {change} {self._unit(row)}, {p_phrase(row.p_decisive)}.")
        return tuple(sentences)

    def _these_words(self, row: Compared) -> str:
        fixed, span = row.these_words, self._span(row)
        models = f" and {self._runs()}" if row.over.count(" and ") else ""
        first = f"The interval is for other words of the same kind{models}."
        if fixed.low is None or fixed.high is None:
            return f"{first} For these very words there is none: {fixed.reason}."
        if (fixed.low, fixed.high) == (row.decisive.low, row.decisive.high):
            return f"{first} For these very words it is the same: so few models barely tell how models vary."
        ends = interval_text(fixed.low * span, fixed.high * span, _DIGITS)
        return f"{first} For these very words and {self._runs()} it is {ends}, {p_phrase(row.p_these_words)}."

    def _runs(self) -> str:
        return "other documents" if all(group.over_documents for group in self.groups) else "other training runs"

    def _other_texts(self, row: Compared) -> list[str]:
        if not isinstance(row, Trend) or row.other_texts.low is None or row.other_texts.high is None:
            return []
        span = self._span(row)
        ends = interval_text(row.other_texts.low * span, row.other_texts.high * span, _DIGITS)
        scatter = "With the scatter of the groups about the line, which holds what is peculiar to each text, it is"
        return [f"{scatter} {ends}, {p_phrase(row.p_other_texts)}, over {len(self.groups)} groups."]

    def _tables(self) -> Iterator[Table]:
        unit, number = UNITS[self.settings["measure"]], NUMBERS[self.settings["measure"]]
        digits = max(map(_digits, self.trends), default=_DIGITS)
        equal = Column("at equal word frequency", "estimate", digits, source="adjusted")
        equal_p = Column("p, equal frequency", "p", source="p_equal_frequency")
        holm_p = Column("Holm p", "p", about="adjusted for all rows of the table", source="p_adjusted")
        tests = Column("p", "p"), equal, equal_p, holm_p
        fixed_p = Column("p, these words", "p", source="p_these_words")
        about = f"{self._runs()}, these very words"
        note = (
            f"The interval is for other words of the same kind and {self._runs()}; p is below "
            f"{results.figures_text(1 - self.level, 2)} exactly where it excludes 0. Verdicts rest on the number at "
            "equal word frequency, where that is known, and so does Holm's adjustment, over all rows of the table."
        )
        trends = (
            "question",
            Column(f"slope per unit of position, {unit}", "estimate", digits, source="."),
            *tests,
            Column("these words only", "estimate", digits, source="these_words"),
            fixed_p,
            Column("with scatter of groups", "estimate", digits, source="other_texts"),
            Column("p with scatter", "p", source="p_other_texts"),
        )
        differences = (
            "question",
            Column("groups", source=lambda row: f"{row.second} − {row.first}"),
            Column(f"difference, {unit}", "estimate", _DIGITS, source="."),
            *tests,
            Column("these words only", "estimate", _DIGITS, about=about, source="these_words"),
            fixed_p,
            Column("words that change so", "share", source="words_with"),
            Column("target words", "count", source="n"),
        )
        yield RecordTable("trends", "Trends", trends, note).fill(self)
        yield RecordTable("differences", "Differences", differences, "" if self.trends else note).fill(self)
        names = [group.name for group in self.groups]
        contrasts = {(row.question, row.group): row.decisive for row in self.contrasts}
        questions = [question.name for question in self.questions if question.reason is None]
        by_group = [(question, *(contrasts[question, name] for name in names)) for question in questions]
        columns = ["question", *(Column(name, "estimate", _DIGITS) for name in names)]
        known = any(row.adjusted is not None for row in self.contrasts)
        where = " at equal word frequency" if known else ""
        yield Table.of("contrasts", f"{number.capitalize()}{where} in each group, {unit}", columns, by_group)
        counted = (
            "question",
            Column("groups", source=lambda row: f"{row.second} − {row.first}"),
            Column("difference of log odds", "estimate", _DIGITS, source="."),
            Column("in the first", "number", _DIGITS, source="in_first"),
            Column("in the second", "number", _DIGITS, source="in_second"),
        )
        about_counts = "The same difference from counts in the texts, without vectors; intervals over documents."
        yield RecordTable("counts", "In the texts themselves", counted, about_counts).fill(self)
        counts = Column("models", "count", source=lambda group: len(group.models))
        runs = Column("that differ by", source=_describe_replicates)
        tokens = Column("tokens a model read", "count", source="tokens")
        yield RecordTable("groups", "Groups", (Column("group", source="name"), counts, runs, tokens)).fill(self)
        words = (
            "question",
            "word",
            Column("list", source="set"),
            Column(names[0], "number", _DIGITS, source="first"),
            Column(names[-1], "number", _DIGITS, source="last"),
            Column("change", "estimate", _DIGITS, source="."),
        )
        remark = "Associations in cosine units; intervals over models, not adjusted for the number of words."
        title = f"Words, from {self._ends()}, largest change first"
        yield RecordTable("words", title, words, remark, _MOST_WORDS, folded=len(self.questions) > 1).fill(self)
        lost = [
            (question, name, tuple(members))
            for question, coverage in self.coverage.items()
            for name, members in coverage["lost"].items()
        ]
        title = "Words not in the vocabulary (OOV) of every model, left out of all groups"
        yield Table.of("left-out", title, ["question", "list", Column("words", "words")], lost)

    def _charts(self) -> tuple[Chart, ...]:
        """Trends where there are any; differences; the groups side by side."""
        charts = []
        percent = share_text(self.level)
        if self.trends:
            remark = (
                f"Points: groups; line: least squares; band: {percent} interval of its slope.\n"
                "Intervals are of the distance from the mean of the groups, in which what all groups share cancels"
            )
            charts.append(Chart("trends", self._claim(), remark, partial(draw_trends, self)))
        if self.differences:
            title = "Differences between groups" if self.trends else self._claim()
            remark = (
                f"Thin: {percent} interval for other words and models; thick: for these very words. 0: no difference"
            )
            charts.append(Chart("differences", title, remark, partial(draw_differences, self)))
        if self.contrasts and not self.trends:
            remark = (
                f"Points and lines: each group and its {percent} interval. 0: no association either way.\n"
                "These may overlap where a difference is shown: the words are the same, and what they share cancels"
            )
            charts.append(Chart("groups", "Each group by itself", remark, partial(draw_groups, self)))
        return tuple(charts)

    def _claim(self) -> str:
        name = "trend" if self.trends else "difference"
        if len(self.answers) == 1:
            return f"{self.title_of(self.answers[0].question)}: {DECISIONS[self.decision].meaning}"
        reported = sum(verdict.decision in REPORTED for verdict in self.verdicts)
        return f"{reported} of {len(self.answers)} {name}s may be reported"


def _describe_replicates(group: ComparedGroup) -> str:
    """Name what the models of a group differ by."""
    return RUNS[group.replicates] if group.draws == 1 else f"disjoint parts of its text, in {group.draws} draws"


def _digits(row: Compared) -> int:
    """Decimals that show two figures of the interval's half width."""
    low, high = row.decisive.low, row.decisive.high
    if low is None or high is None or high <= low:
        return _DIGITS
    return min(max(1 - floor(log10((high - low) / 2)), _DIGITS), 8)
