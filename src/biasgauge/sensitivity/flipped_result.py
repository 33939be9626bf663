"""What `flips` found, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasgauge.agreement import Estimate
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.results.summary import Tone
from biasgauge.sensitivity.agreements import numbers

if TYPE_CHECKING:
    import pandas as pd

UNCLEAR = "no clear lean"
HOLDS, REVERSED, CLEAR_TO_NONE, NONE_TO_CLEAR = "holds", "reversed", "lost", "appears"


@dataclass(frozen=True)
class Flip:
    """What changing one choice does to the conclusion about one concept.

    Attributes:
        concept: the set of words.
        choice: what changes: "pair", "measure" or "form".
        old, new: from which pair, measure or form to which.
        before, after: to which end the words lean on average, or "no clear lean"; None with fewer than two words.
        outcome: "holds", "reversed" (the other end), "lost" (a lean that is no longer clear), "appears" (one that was
            not clear before); None where a side is undefined.
        share: share of the words that lean to the other end after the change.
        words: those words.
    """

    concept: str
    choice: str
    old: str
    new: str
    before: str | None
    after: str | None
    outcome: str | None
    share: Estimate
    words: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        shape = {
            "concept": self.concept,
            "conclusion": self.before,
            "choice": self.choice,
            "from": self.old,
            "to": self.new,
            "conclusion_then": self.after,
            "outcome": self.outcome,
            **numbers("share", self.share),
            "n": self.share.n,
            "words": list(self.words),
        }
        return {**shape, **({"reason": self.share.reason} if self.share.reason else {})}


@dataclass(frozen=True, eq=False, repr=False)
class Flips(Result):
    """Every single change of a choice, for every concept.

    Attributes:
        rows: one for each concept and change.
        baseline: measure, pair and form from which one thing at a time is changed.
        level: of the intervals.
        lost_pairs: pairs that the embedding does not have.
        lost_words: words of each concept that it does not have.
    """

    rows: tuple[Flip, ...]
    baseline: Mapping[str, str]
    level: float
    lost_pairs: tuple[str, ...]
    lost_words: Mapping[str, tuple[str, ...]]

    @property
    def headlines(self) -> tuple[str, ...]:
        """One sentence a concept: its conclusion, how many changes keep it, and the worst one."""
        said = []
        for concept in dict.fromkeys(row.concept for row in self.rows):
            rows = [row for row in self.rows if row.concept == concept and row.outcome is not None]
            if not rows:
                said.append(f"{concept}: unknown, too few of its words are in the vocabulary.")
                continue
            kept = sum(row.outcome == HOLDS for row in rows)
            turned = [row for row in rows if row.outcome == REVERSED]
            worst = max(rows, key=lambda row: row.share.value or 0.0)
            verb = "reverses" if len(turned) == 1 else "reverse"
            reverse = f"; {len(turned)} {verb} it ({_changes(turned)})" if turned else ""
            said.append(
                f"{concept} {_verb(rows[0].before)} ({self.baseline['measure']}, {self.baseline['pair']}): the lean "
                f"holds under {kept} of {len(rows)} alternative choices{reverse}. Most words flip with {worst.new}: "
                f"{worst.share.value:.0%} of {worst.share.n}."
            )
        return tuple(said)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {
            "flips": [row.to_dict() for row in self.rows],
            "headlines": list(self.headlines),
            "baseline": dict(self.baseline),
            "lost_pairs": list(self.lost_pairs),
            "lost_words": {name: list(words) for name, words in self.lost_words.items()},
        }

    def to_frame(self) -> pd.DataFrame:
        """One row a change."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "concept": row.concept,
                    "choice": row.choice,
                    "from": row.old,
                    "to": row.new,
                    "before": row.before,
                    "after": row.after,
                    "outcome": row.outcome,
                    "share": row.share.value,
                    "low": row.share.low,
                    "high": row.share.high,
                    "n": row.share.n,
                    "words": " ".join(row.words),
                }
                for row in self.rows
            ]
        )

    def summary(self) -> Summary:
        """One sentence a concept, and every single change."""
        tones: dict[str, Tone] = {HOLDS: "good", REVERSED: "bad", CLEAR_TO_NONE: "caution", NONE_TO_CLEAR: "caution"}
        columns: list[Column | str] = [
            "words", "changed", "to", "before", "after", Column("outcome", "mark", tones=tones),
            Column("words that flip", "estimate"), Column("of", "count"),
        ]  # fmt: skip
        rows = [
            (row.concept, row.choice, row.new, row.before, row.after, row.outcome, row.share, row.share.n)
            for row in self.rows
        ]
        title = "Every single change of a choice, and what it does to the conclusion"
        return Summary(
            title="Conclusions under other choices",
            headline=self.headlines[0],
            sentences=self.headlines[1:],
            tables=(Table.of("flips", title, columns, rows),),
        )


def _verb(conclusion: str | None) -> str:
    return "has no clear lean" if conclusion in {None, UNCLEAR} else str(conclusion)


def _changes(rows: list[Flip]) -> str:
    return ", ".join(row.new for row in rows)
