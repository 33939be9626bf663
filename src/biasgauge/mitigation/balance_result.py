"""What balancing did, as counts of lines."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from biasgauge.mitigation.balance_plan import CLASSES, MIXED, holding

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True)
class LineClass:
    """Lines of one class. They are counts of the whole text, not estimates, so they have no intervals.

    Attributes:
        name: "pro 1", "pro 2", "anti 1", "anti 2", "mixed" or "neutral"; every line is in one of them.
        holds: the two sets that a line of it has a word of, by what they stand for; empty for mixed and neutral.
        before: lines before.
        after: lines after.
        mixed_before: mixed lines that hold both of these sets too; None for mixed and neutral.
        mixed_after: the same after.
    """

    name: str
    holds: tuple[str, ...]
    before: int
    after: int
    mixed_before: int | None = None
    mixed_after: int | None = None

    @property
    def removed(self) -> int:
        """Lines removed."""
        return self.before - self.after

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {**asdict(self), "holds": list(self.holds), "removed": self.removed}


@dataclass(frozen=True)
class BalanceResult:
    """A balanced corpus, and what became of its lines.

    Attributes:
        path: the corpus that was written.
        source: the corpus that was read.
        lexicon: whose words decided.
        classes: lines of each class, before and after.
        asked: how many lines the degree asks to remove.
        limit: how many lines may be removed; None where the published rule knows no limit.
        coverage: how many words of the sets occur in the corpus, and which do not.
        settings: all that the result depends on.
        warnings: what the reader should know first.
    """

    path: str
    source: str
    lexicon: str
    classes: tuple[LineClass, ...]
    asked: int
    limit: int | None
    coverage: Mapping[str, Any]
    settings: Mapping[str, Any]
    warnings: tuple[str, ...]

    @property
    def lines(self) -> int:
        """Lines before."""
        return sum(one.before for one in self.classes)

    @property
    def removed(self) -> int:
        """Lines removed."""
        return sum(one.removed for one in self.classes)

    @property
    def reached(self) -> float | None:
        """Share of the lines that the degree asks to remove that were removed; None where it asks for none."""
        return self.removed / self.asked if self.asked else None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {
            "path": self.path,
            "changed": self.removed,
            "lines": {"before": self.lines, "after": self.lines - self.removed},
            "classes": [one.to_dict() for one in self.classes],
            "asked": self.asked,
            "limit": self.limit,
            "reached": self.reached,
            **({} if self.asked else {"reason": "the degree asks for no line to be removed"}),
            "source": self.source,
            "lexicon": self.lexicon,
            "coverage": dict(self.coverage),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row a class."""
        import pandas as pd  # noqa: PLC0415 - importing pandas takes longer than most corpora

        rows = [{**one.to_dict(), "holds": " + ".join(one.holds)} for one in self.classes]
        columns = ["name", "holds", "before", "removed", "after", "mixed_before", "mixed_after"]
        return pd.DataFrame(rows, columns=columns).astype({"mixed_before": "Int64", "mixed_after": "Int64"})

    def _repr_html_(self) -> str:
        notes = "".join(f"<p><strong>{escape(warning)}</strong></p>" for warning in self.warnings)
        said = f"<p>{self.removed:,} of {self.lines:,} lines removed: {escape(self.path)}</p>"
        return f"{said}{notes}{self.to_frame().to_html(index=False)}"


def line_classes(
    before: NDArray[np.int64], after: NDArray[np.int64], labels: Mapping[int, str]
) -> tuple[LineClass, ...]:
    """The classes from lines by their sum of sets; `labels` says what each set stands for."""
    mixed = list(MIXED)
    found = []
    for name, sets in CLASSES.items():
        also = [place for place in mixed if holding(name)[place]]
        # The attribute is what a pro and an anti class share, so the target is named first.
        holds = tuple(label for one, label in labels.items() if sets & one)
        found.append(
            LineClass(name, holds, int(before[sets]), int(after[sets]), int(before[also].sum()), int(after[also].sum()))
        )
    neutral = [sets for sets in range(16) if sets not in {*mixed, *CLASSES.values()}]
    for name, places in (("mixed", mixed), ("neutral", neutral)):
        found.append(LineClass(name, (), int(before[places].sum()), int(after[places].sum())))
    return tuple(found)
