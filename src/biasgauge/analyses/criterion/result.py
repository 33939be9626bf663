"""How scores of words stand to something known about them, as one result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from biasgauge.core import Estimate, IntervalsBeside, JsonMapping
from biasgauge.results import (
    AltairChart,
    Chart,
    Column,
    Result,
    Summary,
    Table,
    counted,
    estimate_text,
    measure_name,
    number_text,
)

COLORS = ("#1b6ca8", "#9aa09a")


@dataclass(frozen=True)
class CriterionRow(IntervalsBeside):
    """How one measure stands to the truth.

    Attributes:
        measure: whose scores.
        pearson: correlation with the truth, signed so that positive agrees with it.
        spearman: the same of ranks.
        reliability: of the scores, of these words: over repeated models, over pairs, or from known errors.
        disattenuated: Pearson's r divided by the root of the reliability: what scores without error would show. Its
            interval carries the error of both.
        auc: for two lists, the chance that a word of the first leans more to the first end than one of the second.
        words: how many words it rests on.
        reliability_over: what the reliability is over: "models", "pairs" or "documents".
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("pearson", "spearman", "reliability", "disattenuated", "auc")

    measure: str
    pearson: Estimate | None
    spearman: Estimate | None
    reliability: Estimate | None
    disattenuated: Estimate | None
    auc: Estimate | None
    words: int
    reliability_over: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Criterion(Result):
    """Scores of words against something known about these words: criterion validity.

    Attributes:
        rows: one per measure.
        truth: the name of what is known.
        unit: of its numbers; empty for two lists.
        points: word, truth and score by measure, for the words that count.
        lost: words of the truth without a score.
        settings: everything that decides the result.
        warnings: what to know first.
    """

    tables: ClassVar[tuple[str, ...]] = ("rows",)

    rows: tuple[CriterionRow, ...]
    truth: str
    unit: str
    points: tuple[Mapping[str, Any], ...]
    lost: tuple[str, ...]
    settings: JsonMapping
    warnings: tuple[str, ...] = field(default=())

    def summary(self) -> Summary:
        """The correlation, raw and disattenuated, of each measure."""
        lists = not self.unit
        columns: list[Column | str] = [Column("measure", "name")]
        if lists:
            columns += [Column("AUC", "estimate")]
            rows: list[tuple[Any, ...]] = [(row.measure, row.auc, row.words) for row in self.rows]
        else:
            columns += [Column("Pearson r", "estimate"), Column("Spearman", "estimate"),
                        Column("reliability", "estimate"), Column("disattenuated r", "estimate")]  # fmt: skip
            rows = [(row.measure, row.pearson, row.spearman, row.reliability, row.disattenuated, row.words)
                    for row in self.rows]  # fmt: skip
        best = max(self.rows, key=lambda row: self._main(row).value or 0.0)
        value = self._main(best)
        kind = "AUC" if lists else "r"
        said = f"undefined: {value.reason}" if value.value is None else f"{kind} = {_said(value)}"
        what = f"{self.truth} ({self.unit})" if self.unit else self.truth
        lost = f"{len(self.lost)} words of the list have no score: {', '.join(self.lost[:12])}" + (
            ", …" if len(self.lost) > 12 else "."
        )
        return Summary(
            title=f"Criterion validity against {what}",
            headline=f"{measure_name(best.measure)}: {said} over {counted(best.words, 'word')}",
            sentences=(self._reading(), *((lost,) if self.lost else ())),
            tables=(Table.of("criterion", "", [*columns, Column("words", "count")], rows),),
            charts=() if lists or best.words < 3 else (self._chart(best),),
            warnings=self.warnings,
        )

    def _main(self, row: CriterionRow) -> Estimate:
        return (row.auc if not self.unit else row.pearson) or Estimate(value=None, reason="nothing was compared")

    def _reading(self) -> str:
        if not self.unit:
            return "AUC: the chance that a word of the first list leans more to the first end; .5 is chance."
        over = next((row.reliability_over for row in self.rows if row.reliability_over), "")
        rest = (
            f" Disattenuated: divided by the root of the scores' reliability over {over}; its interval carries the "
            "error of both."
            if over
            else ""
        )
        return f"Positive: scores agree with {self.unit}; 0: they tell nothing about it.{rest}"

    def _chart(self, row: CriterionRow) -> Chart:
        def draw() -> AltairChart:
            import pandas as pd

            from biasgauge.results import altair

            alt = altair()
            frame = pd.DataFrame([point for point in self.points if point["measure"] == row.measure])
            x = alt.X("truth:Q", title=self.unit)
            y = alt.Y("score:Q", title=f"{measure_name(row.measure)}, toward that end")
            base = alt.Chart(frame).encode(x=x, y=y)
            dots = base.mark_circle(size=42, color=COLORS[0], opacity=0.75).encode(tooltip=["word", "truth", "score"])
            line = base.transform_regression("truth", "score").mark_line(color=COLORS[1], strokeDash=[4, 3])
            return (line + dots).properties(width=420, height=300)

        value = row.pearson.value if row.pearson is not None else None
        claim = f"{measure_name(row.measure)} against {self.unit}" + (
            "" if value is None else f": r = {number_text(value)}"
        )
        return Chart("criterion", claim, "Each dot is a word; the line is least squares.", draw)


def _said(estimate: Estimate) -> str:
    return estimate_text(estimate) + (" no interval" if estimate.low is None else "")
