"""What a mitigation did: one row a number, before, after and the change, each with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from biasgauge.association import Interval
    from biasgauge.embeddings import Embedding

PARTS = {
    "association": "association tests, for every lexicon of kind test",
    "distances": "posterior mean distance of each connection; human and neutral words should not have moved",
    "moved": "mean cosine of a word's new vector with its old one: 1 where it did not move",
    "benchmark": "rank correlation of similarities with those of people",
    "neighbours": "share of the nearest neighbours that are the same",
    "recovery": "what is left of the removed bias (Gonen & Goldberg 2019)",
}

CLASSIFIER, CLUSTERS, NEIGHBOURS = "classifier accuracy", "cluster match", "neighbour correlation"
RECOVERED = {
    CLASSIFIER: ("A classifier", "tells", "the side of the most biased words"),
    CLUSTERS: ("Two clusters", "match", "the sides of the most biased words"),
    NEIGHBOURS: ("The neighbours", "share", "a word's old bias"),
}
"""What each number of the recovery is about: who, does what, to what."""


@dataclass(frozen=True)
class Row:
    """One number before and after.

    Attributes:
        part: a key of `PARTS`.
        name: which number.
        of: lexicon, set or benchmark that it is about.
        before: None when undefined, or where there is nothing to say before.
        after: None when undefined.
        change: after less before, on the same words; None when undefined.
        before_interval, after_interval, change_interval: of these; None where the number is.
        count: words, pairs or sets that it rests on.
        chance: what the number would be without any bias, where that is known.
        reason: why a number is undefined.
    """

    part: str
    name: str
    of: str
    before: float | None
    after: float | None
    change: float | None
    before_interval: Interval | None = None
    after_interval: Interval | None = None
    change_interval: Interval | None = None
    count: int | None = None
    chance: float | None = None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        ends = {name: one for name, one in vars(self).items() if name.endswith("interval")}
        return {**vars(self), **{name: None if one is None else one.to_dict() for name, one in ends.items()}}


@dataclass(frozen=True, eq=False)
class MitigationEffect:
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

    before: str
    after: str
    words: int
    changed: int
    rows: tuple[Row, ...]
    warnings: tuple[str, ...]
    settings: Mapping[str, Any]

    def part(self, name: str) -> tuple[Row, ...]:
        """The rows of one part."""
        return tuple(row for row in self.rows if row.part == name)

    def about(self, part: str) -> str:
        """What the numbers of a part are."""
        return PARTS[part]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What happened, in words; a change counts where its interval does not hold 0."""
        return tuple(_sentences(self))

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {
            "before": self.before,
            "after": self.after,
            "words": self.words,
            "changed": self.changed,
            "sentences": list(self.sentences),
            "rows": [row.to_dict() for row in self.rows],
            "warnings": list(self.warnings),
            "settings": dict(self.settings),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row a number, the ends of each interval in columns of their own."""
        import pandas as pd  # noqa: PLC0415 - pandas takes longer to import than most of this takes to compute

        return pd.DataFrame([_flat(row) for row in self.rows])

    def __repr__(self) -> str:
        return f"<MitigationEffect {self.before!r} → {self.after!r}: {self.changed:,} of {self.words:,} words changed>"

    def _repr_html_(self) -> str:
        said = "".join(f"<li>{escape(one)}</li>" for one in self.sentences)
        table = self.to_frame()[["part", "name", "of", "before", "after", "change", "change_low", "change_high"]]
        return f"<p>{escape(repr(self))}</p><ul>{said}</ul>{table.round(3).to_html(index=False, na_rep='–')}"


def changed_words(before: Embedding, after: Embedding) -> int:
    """How many words have another vector; both hold the same words in the same order."""
    rows = 65_536
    return sum(
        int((before.vectors[at : at + rows] != after.vectors[at : at + rows]).any(axis=1).sum())
        for at in range(0, len(before), rows)
    )


def _flat(row: Row) -> dict[str, Any]:
    flat: dict[str, Any] = {"part": row.part, "name": row.name, "of": row.of}
    for name in ("before", "after", "change"):
        interval = getattr(row, f"{name}_interval")
        flat[name] = getattr(row, name)
        flat[f"{name}_low"] = None if interval is None else interval.low
        flat[f"{name}_high"] = None if interval is None else interval.high
    method = None if row.change_interval is None else row.change_interval.method
    return {**flat, "method": method, "count": row.count, "chance": row.chance, "reason": row.reason}


def _sentences(effect: MitigationEffect) -> list[str]:
    found = [f"{effect.changed:,} of {effect.words:,} words changed."]
    tests = [row for row in effect.part("association") if row.name == "weat" and row.change is not None]
    found += [f"WEAT {row.of}: {_from_to(row, 2)}{_verdict(row, 2)}." for row in tests]
    found += [
        f"Distances of {row.of}, {row.name}: {_from_to(row, 3)}{_verdict(row, 3)}."
        for row in effect.part("distances")
        if row.name in {"associated", "different"} and row.change is not None
    ]
    found += _side_effects(effect)
    for row in effect.part("recovery"):
        if row.after is not None:
            who, does, what = RECOVERED[row.name]
            found.append(f"{who} {_still(row)} {does} {what}: {_from_to(row, 2)}, where chance is {row.chance:g}.")
    return found


def _side_effects(effect: MitigationEffect) -> list[str]:
    found = [
        f"{row.of.capitalize()} words: mean cosine of new with old vectors {row.after:.3f}."
        for row in effect.part("moved")
        if row.of in {"human", "neutral"} and row.after is not None
    ]
    worse = [
        row.of
        for row in effect.part("benchmark")
        if row.change_interval is not None and row.change_interval.high is not None and row.change_interval.high < 0
    ]
    tried = [row for row in effect.part("benchmark") if row.change is not None]
    if tried:
        found.append(
            f"Similarity benchmarks: worse on {', '.join(worse)} (of {len(tried)})."
            if worse
            else f"Similarity benchmarks: none of {len(tried)} is clearly worse."
        )
    found += [
        f"Of the {row.name} neighbours, {row.after:.0%} are the same as before."
        for row in effect.part("neighbours")
        if row.after is not None
    ]
    return found


def _still(row: Row) -> str:
    """Whether the number is above chance, as far as its interval tells."""
    low = None if row.after_interval is None else row.after_interval.low
    return "still" if low is not None and row.chance is not None and low > row.chance else "hardly"


def _from_to(row: Row, digits: int) -> str:
    return " → ".join("–" if value is None else f"{value:.{digits}f}" for value in (row.before, row.after))


def _verdict(row: Row, digits: int) -> str:
    ends = row.change_interval
    if ends is None or ends.low is None or ends.high is None:
        return ""
    spread = f"change {row.change:+.{digits}f} [{ends.low:+.{digits}f}, {ends.high:+.{digits}f}]"
    return f", {spread}" + (", which may be nothing" if ends.low <= 0 <= ends.high else "")
