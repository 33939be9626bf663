"""One checkable number of a paper: what was printed, what its rule gives here, what a corrected rule gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, NamedTuple

from biasgauge.core import JsonMapping, Record

Number = float | str | None
"""What a paper prints: a number, a few words ("none survives"), or nothing."""
Kind = Literal["value", "identity", "range"]
"""What reaching a row says. "value": a computation gives the printed number. "identity": the length of a list or file
is the printed one, or a sum, mean or quotient of other printed numbers is, which says that the list is whole or the
table adds up and nothing about a method. "range": a number lies where the printed words put it ("no correlation": p
from .05 to 1), which most numbers do."""

_ROUNDING = 1e-12
"""Slack for binary fractions: .84 − .83 is a little more than .01."""
_DIGITS = 4
"""Significant digits of our numbers, at least."""
_EXACT = 1e12


class Recomputed(NamedTuple):
    """Our numbers for one published number; what is left out is not known.

    Attributes:
        as_published: by the rule of the paper's own code, on the data at hand.
        corrected: by the rule that we hold to be right, on the same data.
        low, high: interval of `corrected`, where one is defined.
        note: why the three differ, or what is missing; replaces the note of the published row.
        same_data: False on other data than the paper's: then nothing is expected to agree.
    """

    as_published: Number = None
    corrected: Number = None
    low: float | None = None
    high: float | None = None
    note: str = ""
    same_data: bool = True

    @classmethod
    def of(cls, as_published: Any, corrected: Any = None, note: str = "", differs: str = "") -> Recomputed:  # noqa: ANN401
        """From numbers or estimates, whose interval stands beside `corrected`.

        Args:
            as_published: a number, words, or an estimate with a `value`.
            corrected: the same.
            note: what is to be said.
            differs: in what the data differ from those of the paper; empty where they are the paper's.
        """
        return cls(
            getattr(as_published, "value", as_published),
            getattr(corrected, "value", corrected),
            getattr(corrected, "low", None),
            getattr(corrected, "high", None),
            "; ".join(text for text in (note, differs) if text),
            same_data=not differs,
        )

    @classmethod
    def both(cls, value: Number, note: str = "") -> Recomputed:
        """A number that both rules agree on."""
        return cls(value, value, note=note)

    def times(self, factor: float) -> Recomputed:
        """The same with all numbers multiplied; a negative factor swaps the ends of the interval."""
        ends = (self.low, self.high) if factor > 0 else (self.high, self.low)
        numbers = (self.as_published, self.corrected, *ends)
        scaled = [factor * number if isinstance(number, int | float) else None for number in numbers]
        return Recomputed(scaled[0], scaled[1], scaled[2], scaled[3], self.note, self.same_data)


@dataclass(frozen=True)
class Row(Record):
    """One published number beside ours. In `--json`, id, published, as_published, corrected and note are a contract.

    Attributes:
        id: its name, such as "table2.gender.recall"; no two of a paper are called the same.
        what: what the number is.
        where: table, figure or section of the paper.
        published: what is printed there; None where the paper prints nothing but its code or data say something.
        as_published, corrected, low, high: as of `Recomputed`.
        note: why they differ, or what is missing.
        tolerance: how far `as_published` may be from `published` to agree, from the precision of what is printed;
            None where they are not expected to agree, for instance on other data.
        between: where the paper prints words ("significant", "moderate"), the numbers that they stand for; then
            `as_published` agrees when it lies between these two, ends included.
        needs: the data that it takes, if any.
        part: the part of the paper that it belongs to.
        kind: what reaching it says; kinds are counted apart.
    """

    counted: ClassVar[Mapping[str, str]] = {
        "agrees": "agree",
        "differs": "differ",
        "not printed": "have no printed number",
        "not checked": "not checked",
    }
    """The states that a row can be in, and how many of them are counted."""

    id: str
    what: str
    where: str
    published: Number = None
    as_published: Number = None
    corrected: Number = None
    note: str = ""
    tolerance: float | None = None
    low: float | None = None
    high: float | None = None
    needs: str | None = None
    part: str = ""
    between: tuple[float, float] | None = None
    kind: Kind = "value"

    def __post_init__(self) -> None:
        if self.between is not None and self.kind == "value":
            object.__setattr__(self, "kind", "range")

    def derived(self) -> JsonMapping:
        """`agrees`."""
        return {"agrees": self.agrees}

    @property
    def agrees(self) -> bool | None:
        """Return whether the paper's rule gives the paper's number here; None where that cannot be said."""
        if self.published is None or self.as_published is None:
            return None
        if self.between is not None and not isinstance(self.as_published, str):
            return self.between[0] <= self.as_published <= self.between[1]
        if self.tolerance is None:
            return None
        if isinstance(self.published, str) or isinstance(self.as_published, str):
            return self.published == self.as_published
        return abs(self.published - self.as_published) <= self.tolerance + _ROUNDING

    @property
    def state(self) -> str:
        """One of `counted`; "not printed": we have a number and the paper has none."""
        if self.published is None and (self.as_published is not None or self.corrected is not None):
            return "not printed"
        return {True: "agrees", False: "differs", None: "not checked"}[self.agrees]

    @property
    def numeric(self) -> bool:
        """Return whether a published number can be compared with one of ours."""
        ours = (self.as_published, self.corrected)
        return isinstance(self.published, int | float) and any(isinstance(number, int | float) for number in ours)

    @property
    def off(self) -> float:
        """Distance of the paper's rule from the printed number, in tolerances; 0 where it is unknown."""
        if not (isinstance(self.published, int | float) and isinstance(self.as_published, int | float)):
            return 0.0
        return abs(self.as_published - self.published) / max(self.tolerance or 0.0, _ROUNDING)

    @property
    def rule(self) -> str:
        """When `as_published` agrees, in words; empty where that is not asked, and where only the same number does."""
        if self.between is not None:
            return f"{self.between[0]:g} to {self.between[1]:g} agrees"
        return f"within {self.tolerance:g} agrees" if self.tolerance else ""

    @property
    def texts(self) -> dict[str, str]:
        """`published`, `as_published`, `corrected` and its `interval` as a reader wants them; empty where unknown.

        What was printed stands as it was printed; our numbers have as many decimals, and at least four digits.
        """
        decimals = _decimals(self.published)
        ours = {name: _shown(getattr(self, name), decimals) for name in ("as_published", "corrected")}
        ends = [_shown(end, decimals) for end in (self.low, self.high)]
        return {"published": _shown(self.published, None), **ours, "interval": " to ".join(ends) if all(ends) else ""}

    def filled(self, ours: Recomputed) -> Row:
        """The same row with our numbers."""
        values = ours._asdict()
        if not values.pop("same_data"):
            values |= {"tolerance": None, "between": None}
        return replace(self, **{**values, "note": ours.note or self.note})


def _decimals(value: Number) -> int:
    text = "" if value is None or isinstance(value, str) else f"{value:.12g}"
    return len(text.partition(".")[2]) if "e" not in text else 0


def _shown(value: Number, decimals: int | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if float(value).is_integer() and abs(value) < _EXACT:
        return f"{value:,.0f}".replace("-", "−")
    text = f"{value:.12g}" if decimals is None else f"{value:.{decimals}f}"
    if decimals is not None and sum(character.isdigit() for character in text.lstrip("-0.")) < _DIGITS:
        text = f"{value:.{_DIGITS}g}"
    return text.replace("-", "−")
