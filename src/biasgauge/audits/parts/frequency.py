"""Part of an audit: word frequency, near words, and the contrast of each question at equal frequency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.audits.measurement import Measured
from biasgauge.audits.part import ShippedPart
from biasgauge.core import Estimate, Record, check_object
from biasgauge.results import Chart, Column, RecordTable, Result, altair, counted

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext

GRID = 12
"""Frequencies in either direction of the figure."""
MOST_DRAWN = 8
"""Questions in the figure: as many as its legend has room for."""
"""Questions whose lists are marked in the figure."""


@dataclass(frozen=True)
class EqualFrequency(Record):
    """A contrast as it is and at equal word frequency.

    Attributes:
        question: the question.
        model: the vectors.
        source: where the frequencies are from: counts, ranks, order of the words, or a reference list.
        contrast: as it is, in cosine units.
        adjusted: at equal word frequency; undefined, with the reason, where nothing is known of frequencies.
        lists: names of the lists, targets first.
        frequencies: median log10 frequency of each list, up to a constant of the model; empty where unknown.
        words: number of words of each list.
        effective: effective number of words of each list: words near each other count less than in full.
    """

    question: str
    model: str
    source: str
    contrast: Estimate
    adjusted: Estimate
    lists: tuple[str, ...]
    frequencies: tuple[float, ...]
    words: tuple[int, ...]
    effective: tuple[float, ...]

    @property
    def shift(self) -> float | None:
        """Contrast that frequency makes: as it is, less that at equal frequency."""
        if self.contrast.value is None or self.adjusted.value is None:
            return None
        return self.contrast.value - self.adjusted.value

    @property
    def effective_text(self) -> str:
        """Effective words of words, list by list."""
        pairs = zip(self.effective, self.words, strict=True)
        return ", ".join(f"{number:.0f} of {words}" for number, words in pairs)


@dataclass(frozen=True)
class FrequencySurface(Record):
    """Mean cosine of any two words of a model, by the log frequency of both.

    Attributes:
        model: the vectors.
        source: where the frequencies are from.
        frequencies: log10 frequencies of the grid, rarest first.
        cosines: mean cosine of words of one frequency with words of another.
    """

    model: str
    source: str
    frequencies: tuple[float, ...]
    cosines: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class FrequencyReport(Result):
    """Word frequency in the questions of an audit."""

    tables: ClassVar[tuple[str, ...]] = ("questions", "surfaces")
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "questions",
            "Contrasts at equal word frequency",
            (
                Column("question", "lexicon"),
                Column("vectors", source="model"),
                Column("contrast [{level}]", "estimate", 3, source="contrast"),
                Column("at equal frequency [{level}]", "estimate", 3, source="adjusted"),
                Column("due to frequency", "number", 3, source="shift"),
                Column("effective words of words", source="effective_text"),
            ),
            note="effective words: a word near others of its list counts less than in full",
            drop_constant=("vectors",),
            folded=True,
            name="equal-frequency",
        ),
    )

    questions: tuple[EqualFrequency, ...]
    surfaces: tuple[FrequencySurface, ...] = ()

    @classmethod
    def from_dict(cls, content: Any) -> FrequencyReport:  # noqa: ANN401 - as read from JSON
        """Read the report back."""
        check_object(cls, content)
        return cls(
            tuple(map(EqualFrequency.from_dict, content["questions"])),
            tuple(map(FrequencySurface.from_dict, content["surfaces"])),
        )

    def _headline(self) -> str:
        known = [row for row in self.questions if row.shift is not None]
        if not known:
            return "Word frequencies are unknown, so that no contrast could be adjusted."
        large = [row for row in known if abs(row.shift or 0.0) > abs(row.adjusted.value or 0.0)]
        return (
            f"In {len(large)} of {counted(known, 'question')} word frequency contributes more to the contrast than "
            "what remains at equal frequency."
        )

    def _charts(self) -> Sequence[Chart]:
        return tuple(self._surface_charts())

    def _surface_charts(self) -> Iterator[Chart]:
        for surface in self.surfaces:
            located = [row for row in self.questions if row.model == surface.model and row.frequencies]
            rows = sorted(located, key=lambda row: -abs(row.shift or 0.0))[:MOST_DRAWN]
            shown = "a question" if len(rows) == len(located) else f"the {len(rows)} questions that it moves most"
            yield Chart(
                "frequency" if len(self.surfaces) == 1 else f"frequency-{surface.model}",
                "Cosines by the frequencies of both words",
                "Color: mean cosine of any two words of these frequencies, whatever they mean. Marks: the four pairs "
                f"of lists of {shown}, at their median frequencies. Where the marks of a question lie on different "
                "colors, frequency alone makes a contrast.",
                partial(_draw, surface, rows),
            )


def _draw(surface: FrequencySurface, rows: Sequence[EqualFrequency]) -> Any:  # noqa: ANN401 - a chart
    import pandas as pd

    alt = altair()
    axis = "log₁₀ frequency" if surface.source != "order" else "−log₁₀ rank"
    grid = surface.frequencies
    half = (grid[1] - grid[0]) / 2
    cells = pd.DataFrame(
        [
            {
                "x": round(first - half, 3),
                "x2": round(first + half, 3),
                "y": round(second - half, 3),
                "y2": round(second + half, 3),
                "mean cosine": cosine,
            }
            for first, cosines in zip(grid, surface.cosines, strict=True)
            for second, cosine in zip(grid, cosines, strict=True)
        ]
    )
    marks = pd.DataFrame(
        [
            {"question": row.question, "targets": row.lists[i], "attributes": row.lists[j],
             "target": row.frequencies[i], "attribute": row.frequencies[j]}
            for row in rows if len(row.lists) == 4
            for i in (0, 1) for j in (2, 3)
        ],
        columns=["question", "targets", "attributes", "target", "attribute"],
    )  # fmt: skip
    heat = alt.Chart(cells).mark_rect().encode(
        x=alt.X("x:Q", title=f"{axis} of the target", scale=alt.Scale(zero=False, nice=False)), x2="x2",
        y=alt.Y("y:Q", title=f"{axis} of the attribute", scale=alt.Scale(zero=False, nice=False)), y2="y2",
        color=alt.Color("mean cosine:Q", scale=alt.Scale(scheme="blues"), title="mean cosine",
                        legend=alt.Legend(gradientLength=80, format=".1f", tickCount=3)),
    )  # fmt: skip
    chart = heat
    if len(marks):
        chart += alt.Chart(marks).mark_point(filled=True, size=60, opacity=1, stroke="white", strokeWidth=0.7).encode(
        x="target:Q", y="attribute:Q", shape=alt.Shape("question:N", title="question", sort=None),
        fill=alt.value("#c8553d"), tooltip=["question:N", "targets:N", "attributes:N"],
    )  # fmt: skip
    return chart.resolve_legend(shape="independent", color="independent").properties(width=360, height=300)


def measure(context: AuditContext) -> FrequencyReport:
    """Collect the contrasts of all questions, as they are and at equal frequency."""
    outcomes = [outcome for outcome in context.outcomes if isinstance(outcome, Measured)]
    surfaces: dict[str, FrequencySurface] = {}
    for outcome in outcomes:
        model = outcome.subject.models[0]
        if surfaces or outcome.subject.viewed:  # one figure: that of the audited vectors
            continue
        language = outcome.query.language
        log, means = model.log_frequencies(language), model.frequency_means(language)
        if log is not None and means is not None:
            grid = np.linspace(means.knots[0], means.knots[-1], GRID)
            vectors = means.at(grid)
            cosines = tuple(tuple(row) for row in (vectors @ vectors.T).round(4).tolist())
            surfaces[outcome.subject.name] = FrequencySurface(
                outcome.subject.name, log.source, tuple(grid.round(3).tolist()), cosines
            )
    return FrequencyReport(tuple(map(_equal_frequency, outcomes)), tuple(surfaces.values()))


def _equal_frequency(outcome: Measured) -> EqualFrequency:
    contrast, similarities = outcome.test.contrast, outcome.similarities
    sides = similarities.targets, similarities.attributes
    groups = (*outcome.query.targets, *(() if outcome.query.pairs else outcome.query.attributes))
    frequencies = [
        round(float(np.median(side.frequencies[side.groups == group])), 3)
        for side in sides
        if side.frequencies is not None
        for group in range(int(side.groups.max()) + 1)
    ]
    return EqualFrequency(
        question=outcome.query.name,
        model=outcome.subject.name,
        source=", ".join(dict.fromkeys(source or "unknown" for source in similarities.frequency_sources)),
        contrast=_interval(contrast),
        adjusted=_interval(contrast.adjusted),
        lists=tuple(words.name for words in groups),
        frequencies=tuple(frequencies),
        words=tuple(size for side in contrast.words for size in side),
        effective=tuple(number for side in contrast.effective for number in side),
    )


def _interval(contrast: Estimate | None) -> Estimate:
    """Return number and interval of a contrast."""
    if contrast is None:
        return Estimate(value=None, reason="nothing was adjusted")
    return Estimate(
        value=contrast.value, low=contrast.low, high=contrast.high, level=contrast.level, method=contrast.method,
        reason=contrast.reason,
    )  # fmt: skip


PART = ShippedPart(
    "word_frequency", "Word frequency and near words", measure, order=105, stage="word frequency",
    read=FrequencyReport.from_dict,
    about="Cosine similarity depends on the frequencies of both words: frequent words lie nearer to frequent ones, so "
    "that lists of unequal frequency have a contrast for that reason alone. Verdicts use the contrast at equal "
    "frequency.",
)  # fmt: skip
