"""What a mitigation did: one row a number, before, after and the change, each with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from biasgauge import registry
from biasgauge.core import Estimate, IntervalsBeside, JsonMapping
from biasgauge.results import (
    AltairChart,
    Chart,
    Column,
    Result,
    Shown,
    Slope,
    Summary,
    Table,
    altair,
    estimate_text,
    list_name,
    number_text,
    records_frame,
    share_text,
    slope_panels,
    test_name,
    top_legend,
    zero_line,
)
from biasgauge.vectors import Embedding

PARTS = {
    "association": "association tests, for every lexicon of kind test",
    "distances": "posterior mean distance of each connection; human and neutral words should not have moved",
    "moved": "mean cosine of a word's new vector with its old one: 1 where it did not move",
    "benchmark": "rank correlation of similarities with those of people",
    "neighbors": "share of the nearest neighbors that are the same",
    "recovery": "what is left of the removed bias (Gonen & Goldberg 2019)",
}

COLORS = {"before": "#6b7280", "after": "#b3402a"}
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
        "Posterior means with 89 % intervals; 1: unrelated, less: closer. Human and neutral should stay",
    ),
    "benchmark": ("Similarity benchmarks", "Rank correlation with human similarity, with intervals over word pairs"),
    "recovery": (
        "What is left of the bias",
        "Accuracies (chance: ½) and a correlation (chance: 0) of the most biased words' old bias with their vectors",
    ),
}
"""Title and remark of the chart of a part."""

CLASSIFIER, CLUSTERS, NEIGHBORS = "classifier accuracy", "cluster match", "neighbor correlation"
RECOVERED = {
    CLASSIFIER: ("A classifier", "tells", "the side of the most biased words"),
    CLUSTERS: ("Two clusters", "match", "the sides of the most biased words"),
    NEIGHBORS: ("The neighbors", "share", "a word's old bias"),
}
"""What each number of the recovery is about: who, does what, to what."""


@dataclass(frozen=True, kw_only=True)
class Row(IntervalsBeside):
    """One number before and after.

    Attributes:
        part: a key of `PARTS`.
        name: which number.
        of: lexicon, set or benchmark that it is about.
        before: None when undefined, or where there is nothing to say before.
        after: None when undefined.
        change: after less before, on the same words; None when undefined.
        count: words, pairs or sets that it rests on.
        chance: what the number would be without any bias, where that is known.
        reason: why a number is undefined.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("before", "after", "change")

    part: str
    name: str
    of: str
    before: Estimate | None = None
    after: Estimate | None = None
    change: Estimate | None = None
    count: int | None = None
    chance: float | None = None
    reason: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class MitigationEffect(Result):
    """What a change of vectors did to bias, to everything else, and what it left.

    Attributes:
        before: name of the vectors before.
        after: name of the vectors after.
        words: how many words both have.
        changed: how many of them have another vector after.
        rows: the numbers.
        warnings: what the reader should know first.
        settings: everything that decides the numbers.
    """

    tables: ClassVar[tuple[str, ...]] = ("rows",)

    before: str
    after: str
    words: int
    changed: int
    rows: tuple[Row, ...]
    warnings: tuple[str, ...]
    settings: JsonMapping

    def part(self, name: str) -> tuple[Row, ...]:
        """The rows of one part."""
        return tuple(row for row in self.rows if row.part == name)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What happened, in words; a change counts where its interval does not hold 0."""
        return tuple(_sentences(self))

    def derived(self) -> JsonMapping:
        """The sentences."""
        return {"sentences": self.sentences}

    def summary(self) -> Summary:
        """Every number before and after, part by part; a chart for each part that has both."""
        name = f"{self.before} → {self.after}"
        first, *rest = self.sentences
        both = {row.part for row in self.rows if _number(row.before) is not None and _number(row.after) is not None}
        return Summary(
            title=f"Effect, {name}",
            headline=f"{name}: {first}",
            sentences=tuple(rest),
            charts=tuple(
                Chart(
                    part,
                    f"{title}: {self.after}",
                    remark,
                    self._slopes if part == "association" else partial(self._dumbbells, part),
                )
                for part, (title, remark) in CHARTS.items()
                if part in both
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
            number, of = Shown(row.name, test_name(row.name)), Shown(row.of, list_name(row.of))
            rows.append((number, of, _number(row.before), _number(row.after), change))
        return Table.of(part, "", columns, rows)

    def _slopes(self) -> AltairChart:
        """A panel for each association test."""
        panels: dict[str, list[Slope]] = {}
        tests = registry.everything("association_test")
        for row in self.part("association"):
            before, after = _number(row.before), _number(row.after)
            if before is not None and after is not None:
                test = tests.get(row.name)
                signed = test is not None and "negates" in (test.swap_xy, test.swap_ab)
                panels.setdefault(test_name(row.name), []).append(
                    Slope(list_name(row.of), before, after, signed=signed)
                )
        return slope_panels(panels)

    def _dumbbells(self, part: str) -> AltairChart:
        """One dot a number and side."""
        import pandas as pd

        alt = altair()
        frame = records_frame(self.part(part))
        frame = frame[frame["before"].notna() & frame["after"].notna()]
        ends = {"value": "", "low": "_low", "high": "_high"}
        parts = [
            pd.DataFrame({"what": frame["of"].map(list_name) + ": " + frame["name"], "side": side}).assign(
                **{name: frame[f"{side}{end}"].astype(float) for name, end in ends.items()}
            )
            for side in COLORS
        ]
        sides = pd.concat(parts, ignore_index=True)
        order = list(dict.fromkeys(sides["what"]))
        scale = alt.Scale(domain=list(COLORS), range=list(COLORS.values()))
        base = alt.Chart(sides).encode(
            y=alt.Y("what:N", title=None, sort=order, axis=alt.Axis(grid=True)),
            yOffset=alt.YOffset("side:N", sort=list(COLORS)),
            color=alt.Color("side:N", title=None, scale=scale, sort=list(COLORS), legend=top_legend()),
            tooltip=["what", "side", "value", "low", "high"],
        )
        x = alt.Scale(zero=part == "recovery", nice=True)
        zero = [zero_line()] if part == "recovery" else []
        chart = alt.layer(
            *zero,
            base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="value", scale=x), x2="high:Q"),
            base.mark_point(filled=True, size=46, opacity=1).encode(x=alt.X("value:Q", scale=x)),
        )
        return chart.properties(width=480, height=len(order) * 26)


def changed_words(before: Embedding, after: Embedding) -> int:
    """How many words have another vector; both hold the same words in the same order."""
    rows = 65_536
    return sum(
        int((before.vectors[at : at + rows] != after.vectors[at : at + rows]).any(axis=1).sum())
        for at in range(0, len(before), rows)
    )


def _sentences(effect: MitigationEffect) -> list[str]:
    sentences = [f"{effect.changed:,} of {effect.words:,} words changed."]
    tests = [row for row in effect.part("association") if row.name == "weat" and row.change is not None]
    sentences += [f"Effect size of {list_name(row.of)}: {_from_to(row, 2)}{_verdict(row, 2)}." for row in tests]
    sentences += [
        f"Distances of {list_name(row.of)}, {row.name}: {_from_to(row, 3)}{_verdict(row, 3)}."
        for row in effect.part("distances")
        if row.name in {"associated", "different"} and row.change is not None
    ]
    sentences += _side_effects(effect)
    for row in effect.part("recovery"):
        if _number(row.after) is not None:
            who, does, what = RECOVERED[row.name]
            sentences.append(f"{who} {_still(row)} {does} {what}: {_from_to(row, 2)}, where chance is {row.chance:g}.")
    return sentences


def _side_effects(effect: MitigationEffect) -> list[str]:
    sentences = [
        f"{row.of.capitalize()} words: mean cosine of new with old vectors {number_text(_number(row.after), 3)}."
        for row in effect.part("moved")
        if row.of in {"human", "neutral"} and _number(row.after) is not None
    ]
    tried = {row.of: row.change for row in effect.part("benchmark") if row.change is not None}
    worse = ", ".join(name for name, change in tried.items() if change.high is not None and change.high < 0)
    if tried:
        how = f"worse on {worse} (of {len(tried)})" if worse else f"none of {len(tried)} is clearly worse"
        sentences.append(f"Similarity benchmarks: {how}.")
    sentences += [
        f"Of the {row.name} neighbors, {share_text(_number(row.after))} are the same as before."
        for row in effect.part("neighbors")
        if _number(row.after) is not None
    ]
    return sentences


def _still(row: Row) -> str:
    """Whether the number is above chance, as far as its interval tells."""
    low = None if row.after is None else row.after.low
    return "still" if low is not None and row.chance is not None and low > row.chance else "hardly"


def _from_to(row: Row, digits: int) -> str:
    sides = (_number(row.before), _number(row.after))
    return " → ".join(number_text(side, digits) for side in sides)


def _number(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value


def _verdict(row: Row, digits: int) -> str:
    change = row.change
    if change is None or change.low is None or change.high is None:
        return ""
    spread = f"change {estimate_text(change, digits, signed=True)}"
    return f", {spread}" + ("" if change.excludes(0) else ", which may be nothing")
