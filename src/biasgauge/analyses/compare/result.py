"""`Comparison`: what `compare` returns, its sentences, tables and charts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import floor, log10
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge import results
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
    Chart,
    Column,
    RecordTable,
    Result,
    Table,
    interval_text,
    number_text,
    p_phrase,
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
_DIGITS, _WIDTH = 3, 440
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
            f"{results.lexicon_name(row.question)} {results.estimate_text(row, _digits(row))}"
            + (f" ({_less(row)})" if len(pairs) > 1 else "")
            for row in listed_rows[:_MOST_TOLD]
        ]
        whose = f" ({_less(listed_rows[0])}, {self._unit(listed_rows[0])})" if len(pairs) == 1 else ""
        count = f"{len(shown)} of {len(rows)} {answer_name} {'is' if len(shown) == 1 else 'are'} shown"
        listing = f": {'; '.join(numbers)}{whose}" if numbers else ""
        return f"{count} (Holm-adjusted p < {results.figures_text(alpha).removeprefix('0')}){listing}."

    def _unit(self, row: Compared) -> str:
        unit = UNITS[self.settings["measure"]]
        return f"{unit} per unit of position" if isinstance(row, Trend) else unit

    def summary(self) -> results.Summary:
        """The differences first; then what each group has, which words change, and which were left out."""
        return replace(super().summary(), tables=tuple(table for table in self._tables() if table.rows))

    def _title(self) -> str:
        return f"Comparison of {listed([group.name for group in self.groups])}"

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
        models = f" and {self._runs()}" if "runs" in row.over else ""
        first = f"The interval is for other words of the same kind{models}."
        if fixed.low is None or fixed.high is None:
            return f"{first} For these very words there is none: {fixed.reason}."
        if fixed.low == row.low and fixed.high == row.high:
            return f"{first} For these very words it is the same: so few models barely tell how models vary."
        ends = interval_text(fixed.low * span, fixed.high * span, _DIGITS)
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

    def _tables(self) -> Iterator[Table]:
        unit, number = UNITS[self.settings["measure"]], NUMBERS[self.settings["measure"]]
        digits = max(map(_digits, self.trends), default=_DIGITS)
        tests = Column("p", "p"), Column("Holm p", "p", about="adjusted for all rows of the table", source="p_adjusted")
        fixed_p = Column("p, these words", "p", source="p_these_words")
        about = "other models, these very words"
        note = (
            "The interval is for other words of the same kind and other models of the same kind; p is below "
            f"{results.figures_text(1 - self.level, 2)} exactly where it excludes 0. Holm's adjustment is over all "
            "rows of the table."
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
        contrasts = {(row.question, row.group): row for row in self.contrasts}
        questions = [question.name for question in self.questions if question.reason is None]
        by_group = [(question, *(contrasts[question, name] for name in names)) for question in questions]
        columns = ["question", *(Column(name, "estimate", _DIGITS) for name in names)]
        yield Table.of("contrasts", f"{number.capitalize()} in each group, {unit}", columns, by_group)
        counts = Column("models", "count", source=lambda group: len(group.models))
        runs = Column("that differ by", source=lambda group: RUNS[group.replicates])
        yield RecordTable("groups", "Groups", (Column("group", source="name"), counts, runs)).fill(self)
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
            charts.append(Chart("trends", self._claim(), remark, partial(_draw_trends, self)))
        if self.differences:
            title = "Differences between groups" if self.trends else self._claim()
            remark = (
                f"Thin: {percent} interval for other words and models; thick: for these very words. 0: no difference"
            )
            charts.append(Chart("differences", title, remark, partial(_draw_differences, self)))
        if self.contrasts and not self.trends:
            remark = (
                f"Points and lines: each group and its {percent} interval. 0: no association either way.\n"
                "These may overlap where a difference is shown: the words are the same, and what they share cancels"
            )
            charts.append(Chart("groups", "Each group by itself", remark, partial(_draw_groups, self)))
        return tuple(charts)

    def _claim(self) -> str:
        shown = sum(1 for row in self.answers if row.excludes())
        name = "trend" if self.trends else "difference"
        if len(self.answers) == 1:
            return f"{self.title_of(self.answers[0].question)}: {'a' if shown else 'no'} {name} is shown"
        return f"{shown} of {len(self.answers)} {name}s have intervals that exclude 0"


def _digits(row: Compared) -> int:
    """Decimals that show two figures of the interval's half width."""
    if row.low is None or row.high is None or row.high <= row.low:
        return _DIGITS
    return min(max(1 - floor(log10((row.high - row.low) / 2)), _DIGITS), 8)


def _between(row: Compared) -> str:
    return f"{row.first} and {row.second}" if isinstance(row, Difference) else "groups"


def _less(row: Compared) -> str:
    return f"{row.second} less {row.first}" if isinstance(row, Difference) else "slope"


def _draw_differences(result: Comparison) -> results.AltairChart:
    """Differences with their intervals; a thick line for that of these very words."""
    import pandas as pd

    alt = results.altair()
    pairs = {(row.first, row.second) for row in result.differences}
    rows = [
        {
            "what": result.title_of(row.question) + (f": {_less(row)}" if len(pairs) > 1 else ""),
            "value": row.value, "low": row.low, "high": row.high, "these_low": row.these_words.low,
            "these_high": row.these_words.high, "p": row.p,
        }
        for row in result.differences
        if row.value is not None
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    of_pair = "" if len(pairs) > 1 else f": {_less(result.differences[0])}"
    x = alt.X("value:Q", title=f"difference, {UNITS[result.settings['measure']]}{of_pair}")
    color, y = alt.value(results.ACCENT), _title_rows()
    chart = results.interval_chart(frame, x, width=_WIDTH, step=alt.Step(44), color=color, y=y)
    thick = alt.Chart(frame).mark_rule(strokeWidth=5, opacity=0.45, color=results.ACCENT)
    return chart + thick.encode(y=y, x="these_low:Q", x2="these_high:Q")


def _title_rows() -> Any:  # noqa: ANN401 - the library has no stubs
    """Rows of questions, whose labels break where their titles have a colon."""
    alt = results.altair()
    axis = alt.Axis(grid=True, labelLimit=280, labelExpr="split(datum.label, ': ')")
    return alt.Y("what:N", sort=None, title=None, axis=axis)


def _draw_groups(result: Comparison) -> results.AltairChart:
    """Contrasts of all groups with their intervals, by question."""
    import pandas as pd

    alt = results.altair()
    rows = [
        {"what": result.title_of(row.question)}
        | {name: getattr(row, name) for name in ("group", "value", "low", "high")}
        for row in result.contrasts
        if row.value is not None
    ]
    names = [group.name for group in result.groups]
    measure = result.settings["measure"]
    x = alt.X("value:Q", title=f"{measure.replace('_', ' ')}, {UNITS[measure]}")
    colors = {"range": [results.SECOND, results.ACCENT]} if len(names) == 2 else {"scheme": "dark2"}
    color = alt.Color("group:N", sort=names, title=None, scale=alt.Scale(domain=names, **colors))
    channels = {"color": color, "yOffset": alt.YOffset("group:N", sort=names), "y": _title_rows()}
    return results.interval_chart(pd.DataFrame(rows), x, width=_WIDTH, step=alt.Step(18), **channels)


def _draw_trends(result: Comparison) -> results.AltairChart:
    """Contrasts of groups over their positions, with the line of the trend; a panel for each question."""
    import pandas as pd

    alt = results.altair()
    points = []
    for row in result.contrasts:
        mean = (row.value or 0.0) - (row.from_mean.value or 0.0)
        low, high = (None if end is None else end + mean for end in (row.from_mean.low, row.from_mean.high))
        names = {"question": row.question, "group": row.group, "position": row.position}
        points.append({**names, "value": row.value, "low": low, "high": high})
    frames = pd.DataFrame(points), pd.DataFrame([point.to_dict() for point in result.lines])
    groups = {row.position: row.group for row in result.contrasts if row.position is not None}
    # A tick for each group, which says its name.
    named = "".join(f"datum.value == {position!r} ? {json.dumps(name)} : " for position, name in groups.items())
    axis = alt.Axis(values=list(groups), labelExpr=f"{named}''", labelOverlap=True)
    x = alt.X("position:Q", title=None, scale=alt.Scale(zero=False, nice=False, padding=14), axis=axis)
    title = f"{result.settings['measure'].replace('_', ' ')}, {UNITS[result.settings['measure']]}"
    y_low, y = alt.Y("low:Q", title=title), alt.Y("value:Q", title=title)
    panels = []
    for question in dict.fromkeys(row.question for row in result.contrasts):
        dots, line = (alt.Chart(frame[frame["question"] == question]).encode(x=x) for frame in frames)
        layers = [
            results.zero_line(horizontal=True),
            line.mark_area(color=results.ACCENT, opacity=0.16).encode(y=y_low, y2="high:Q"),
            line.mark_line(color=results.ACCENT).encode(y=y),
            dots.mark_rule(color=results.SECOND).encode(y=y_low, y2="high:Q"),
            dots.mark_point(filled=True, size=60, color=results.SECOND, opacity=1).encode(
                y=y, tooltip=list(frames[0].columns)
            ),
        ]
        heading = alt.TitleParams(result.title_of(question), anchor="start", fontSize=12)
        panels.append(alt.layer(*layers).properties(width=_WIDTH, height=170, title=heading))
    return alt.vconcat(*panels, spacing=14).resolve_scale(x="shared")
