"""`MitigationEffect`: one row per number, before, after and the change, each with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from biasgauge import registry
from biasgauge.core import Estimate, IntervalsBeside, JsonMapping, frequency_effect
from biasgauge.results import (
    AltairChart,
    Chart,
    Column,
    Result,
    Shown,
    Slope,
    Summary,
    Table,
    chart_of_rows,
    estimate_text,
    list_name,
    number_text,
    share_text,
    slope_panels,
    test_name,
)
from biasgauge.vectors import ROWS, Embedding

PARTS = {
    "association": "association tests, for every lexicon of kind test",
    "contrast": "contrasts in cosine units, as they are and at equal word frequency, on which a finding rests",
    "distances": "posterior mean distance of each connection; human and neutral words should not have moved",
    "moved": "mean cosine of a word's new vector with its old one: 1 where it did not move",
    "benchmark": "rank correlation of similarities with those of people",
    "neighbors": "share of the nearest neighbors that are the same",
    "recovery": "remaining bias (Gonen & Goldberg 2019)",
}

COLORS = {"before": ("circle", "#6b7280"), "after": ("circle", "#b3402a")}
CHARTS = {
    "association": (
        "Association tests, before and after",
        (
            "A panel for each test, each with its own scale; a line for each lexicon. Where 0 is no association it is "
            "the gray line, and a line that crosses it changed its sign"
        ),
    ),
    "distances": (
        "Mean cosine distances",
        "Posterior means with 89 % intervals; 1: unrelated, less: closer. Human and neutral should not change",
    ),
    "benchmark": ("Similarity benchmarks", "Rank correlation with human similarity, with intervals over word pairs"),
    "recovery": (
        "Remaining bias",
        "Accuracies (chance: ½) and a correlation (chance: 0) of the most biased words' old bias with their vectors",
    ),
}
"""Title and remark of the chart of a part."""

AS_IT_IS, EQUAL_FREQUENCY = "as it is", "at equal word frequency"
"""Names of the contrasts of a lexicon."""
CLASSIFIER, CLUSTERS, NEIGHBORS = "classifier accuracy", "cluster match", "neighbor correlation"
RECOVERED = {
    CLASSIFIER: ("A classifier", "tells", "the side of the most biased words"),
    CLUSTERS: ("Two clusters", "match", "the sides of the most biased words"),
    NEIGHBORS: ("The neighbors", "share", "a word's old bias"),
}
"""Subject, verb and object of the sentence on each number of the recovery."""


@dataclass(frozen=True)
class EffectRow(IntervalsBeside):
    """One number before and after.

    Attributes:
        part: a key of `PARTS`.
        name: of the number.
        subject: lexicon, set or benchmark; `of` in JSON and frames.
        before: None when undefined, or where there is nothing to compare with.
        after: None when undefined.
        change: after − before, on the same words; None when undefined.
        count: words, pairs or sets that it rests on.
        chance: value in the absence of bias, where that is known.
        reason: why a number is undefined.
    """

    renamed: ClassVar[Mapping[str, str]] = {"subject": "of"}
    intervals_of: ClassVar[tuple[str, ...]] = ("before", "after", "change")

    part: str
    name: str
    subject: str
    before: Estimate | None = None
    after: Estimate | None = None
    change: Estimate | None = None
    count: int | None = None
    chance: float | None = None
    reason: str | None = None

    @property
    def sides(self) -> tuple[float | None, float | None]:
        """Numbers before and after, without intervals."""
        return _value(self.before), _value(self.after)


@dataclass(frozen=True, eq=False, repr=False)
class MitigationEffect(Result):
    """Effect of a change of vectors on bias and on everything else, and the bias that remains.

    Attributes:
        before: name of the vectors before.
        after: name of the vectors after.
        words: number of words that both have.
        changed: number of them with another vector after.
        rows: the numbers.
        warnings: caveats.
        settings: everything that decides the numbers.
    """

    tables: ClassVar[tuple[str, ...]] = ("rows",)

    before: str
    after: str
    words: int
    changed: int
    rows: tuple[EffectRow, ...]
    warnings: tuple[str, ...]
    settings: JsonMapping

    def part(self, name: str) -> tuple[EffectRow, ...]:
        """Rows of one part."""
        return tuple(row for row in self.rows if row.part == name)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Conclusions in words; a change counts where its interval excludes 0."""
        sentences = [f"{self.changed:,} of {self.words:,} words changed."]
        tests = [row for row in self.part("association") if row.name == "weat" and row.change is not None]
        sentences += [f"Effect size of {list_name(row.subject)}: {_change_text(row, 2)}." for row in tests]
        sentences += self._contrasts()
        sentences += [
            f"Distances of {list_name(row.subject)}, {row.name}: {_change_text(row, 3)}."
            for row in self.part("distances")
            if row.name in {"associated", "different"} and row.change is not None
        ]
        sentences += self._side_effects()
        for row in self.part("recovery"):
            if row.after is not None and row.after.value is not None:
                subject, verb, noun = RECOVERED[row.name]
                above = row.after.low is not None and row.chance is not None and row.after.low > row.chance
                claim = f"{subject} {'still' if above else 'hardly'} {verb} {noun}"
                sentences.append(f"{claim}: {_from_to(row, 2)}, where chance is {row.chance:g}.")
        return tuple(sentences)

    def _contrasts(self) -> Iterator[str]:
        """Yield a sentence on the contrast of each lexicon, and on what word frequency has to do with its change."""
        rows = {(row.subject, row.name): row for row in self.part("contrast") if row.change is not None}
        for (subject, name), row in rows.items():
            equal = rows.get((subject, EQUAL_FREQUENCY))
            if name != AS_IT_IS or equal is None:
                continue
            change = f"{_change_text(equal, 3)}{_explained(row, equal)}"
            yield f"Contrast of {list_name(subject)} at equal word frequency: {change}."

    def _side_effects(self) -> list[str]:
        sentences = [
            f"{row.subject.capitalize()} words: mean cosine of new with old vectors {number_text(row.sides[1], 3)}."
            for row in self.part("moved")
            if row.subject in {"human", "neutral"} and row.sides[1] is not None
        ]
        changes = {row.subject: row.change for row in self.part("benchmark") if row.change is not None}
        worse = ", ".join(name for name, change in changes.items() if change.high is not None and change.high < 0)
        if changes:
            outcome = f"worse on {worse} (of {len(changes)})" if worse else f"none of {len(changes)} is clearly worse"
            sentences.append(f"Similarity benchmarks: {outcome}.")
        sentences += [
            f"Of the {row.name} neighbors, {share_text(row.sides[1])} are the same as before."
            for row in self.part("neighbors")
            if row.sides[1] is not None
        ]
        return sentences

    def derived(self) -> JsonMapping:
        """The sentences."""
        return {"sentences": self.sentences}

    def summary(self) -> Summary:
        """Every number before and after, part by part; a chart for each part that has both."""
        name = f"{self.before} → {self.after}"
        first, *sentences = self.sentences
        complete = {row.part for row in self.rows if None not in row.sides}
        return Summary(
            title=f"Effect, {name}",
            headline=f"{name}: {first}",
            sentences=tuple(sentences),
            charts=tuple(
                Chart(part, f"{title}: {self.after}", remark, self._draw_slopes)
                if part == "association"
                else self._pair_chart(part, f"{title}: {self.after}", remark)
                for part, (title, remark) in CHARTS.items()
                if part in complete
            ),
            parts=tuple(
                Summary(part, "", question=PARTS[part], tables=(self._table(part),))
                for part in dict.fromkeys(row.part for row in self.rows)
            ),
            warnings=self.warnings,
        )

    def _table(self, part: str) -> Table:
        sides = [Column(name, "number", 3) for name in ("before", "after")]
        columns: list[Column | str] = ["number", "of", *sides, Column("change [interval]", "estimate", 3)]
        rows = []
        for row in self.part(part):
            change = row.change or (Estimate(value=None, reason=row.reason) if row.reason else None)
            labels = Shown(row.name, test_name(row.name)), Shown(row.subject, list_name(row.subject))
            rows.append((*labels, *row.sides, change))
        return Table.of(part, "", columns, rows)

    def _draw_slopes(self) -> AltairChart:
        """A panel for each association test."""
        panels: dict[str, list[Slope]] = {}
        tests = registry.everything("association_test")
        for row in self.part("association"):
            before, after = row.sides
            if before is not None and after is not None:
                test = tests.get(row.name)
                signed = test is not None and "negates" in (test.swap_xy, test.swap_ab)
                slope = Slope(list_name(row.subject), before, after, signed=signed)
                panels.setdefault(test_name(row.name), []).append(slope)
        return slope_panels(panels)

    def _pair_chart(self, part: str, title: str, remark: str) -> Chart:
        """One dot for each number and side."""
        rows = [
            {"what": f"{list_name(row.subject)}: {row.name}", "side": side, "value": number.value, "low": number.low,
             "high": number.high}
            for row in self.part(part) if None not in row.sides
            for side, number in (("before", row.before), ("after", row.after)) if number is not None
        ]  # fmt: skip
        lines = (0.0,) if part == "recovery" else ()
        return chart_of_rows(
            part, title, remark, "value", rows, color="side", meanings=COLORS, offset="side", lines=lines, width=480
        )


def count_changed_words(before: Embedding, after: Embedding) -> int:
    """Number of words with another vector; both hold the same words in the same order."""
    blocks = [slice(start, start + ROWS) for start in range(0, len(before), ROWS)]
    return sum(int((before.vectors[rows] != after.vectors[rows]).any(axis=1).sum()) for rows in blocks)


def _explained(plain: EffectRow, equal: EffectRow) -> str:
    """Clause on what word frequency has to do with a change; empty where it does not alter the decision."""
    effect = frequency_effect(as_it_is=_changed(plain), at_equal_frequency=_changed(equal))
    if effect == "explains":
        return f"; the change as it is ({_change_text(plain, 3)}) is explained by word frequency"
    if effect == "hides":
        return f"; word frequency hides it ({_change_text(plain, 3)} as it is)"
    return ""


def _changed(row: EffectRow) -> bool | None:
    return None if row.change is None or row.change.low is None else row.change.excludes(0)


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def _from_to(row: EffectRow, digits: int) -> str:
    return " → ".join(number_text(value, digits) for value in row.sides)


def _change_text(row: EffectRow, digits: int) -> str:
    """Before → after, then the change with its interval."""
    change = row.change
    if change is None or change.low is None or change.high is None:
        return _from_to(row, digits)
    interval = f"change {estimate_text(change, digits, signed=True)}"
    return f"{_from_to(row, digits)}, {interval}" + ("" if change.excludes(0) else ", interval includes 0")
