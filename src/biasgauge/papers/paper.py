"""A paper as data: the files that it needs, its published numbers part by part, and the functions that compute them."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from biasgauge.core import JsonMapping, Record
from biasgauge.errors import InputError, InternalError

T = TypeVar("T")
Number = float | str | None
"""What a paper prints: a number, a few words ("none survives"), or nothing."""
Source = Literal["printed", "figure", "file"]
"""Origin of a published number: printed in text, table or output; read off the coordinates of a figure, which prints
none; or looked up in a file of the authors, where agreement says that the file is theirs."""
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
        """From numbers, words or estimates; the interval is that of `corrected`.

        `differs` says in what the data differ from those of the paper; empty where they are the paper's.
        """
        return cls(
            getattr(as_published, "value", as_published),
            getattr(corrected, "value", corrected),
            getattr(corrected, "low", None),
            getattr(corrected, "high", None),
            "; ".join(filter(None, (note, differs))),
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
        id: its name, such as "table2.gender.recall"; unique within a paper.
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
        source: where the published number is from.
        obtainable: whether data that are missing for it can be fetched, from a public place or by a link of their
            authors; set where nothing could be computed.
    """

    counted: ClassVar[Mapping[str, str]] = {
        "agrees": "agree",
        "differs": "differ",
        "not printed": "have no printed number",
        "not checked": "not checked",
        "no number": "have no number, in print or here",
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
    source: Source = "printed"
    obtainable: bool = False

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
        if self.published is None:
            return "no number" if self.as_published is None and self.corrected is None else "not printed"
        return {True: "agrees", False: "differs", None: "not checked"}[self.agrees]

    @property
    def numbers(self) -> dict[str, float]:
        """Those of `published`, `as_published` and `corrected` that are numbers."""
        values = {name: getattr(self, name) for name in ("published", "as_published", "corrected")}
        return {name: value for name, value in values.items() if isinstance(value, int | float)}

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
        printed = f"{self.published:.12g}" if "published" in self.numbers else ""
        decimals = 0 if "e" in printed else len(printed.partition(".")[2])
        ours = {name: _number_text(getattr(self, name), decimals) for name in ("as_published", "corrected")}
        ends = [_number_text(end, decimals) for end in (self.low, self.high)]
        interval = " to ".join(ends) if all(ends) else ""
        return {"published": _number_text(self.published, None), **ours, "interval": interval}

    def filled(self, ours: Recomputed) -> Row:
        """The same row with our numbers."""
        values = ours._asdict()
        if not values.pop("same_data"):
            values |= {"tolerance": None, "between": None}
        return replace(self, **{**values, "note": ours.note or self.note})


def _number_text(value: Number, decimals: int | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if float(value).is_integer() and abs(value) < _EXACT:
        return f"{value:,.0f}".replace("-", "−")
    text = f"{value:.12g}" if decimals is None else f"{value:.{decimals}f}"
    if decimals is not None and sum(character.isdigit() for character in text.lstrip("-0.")) < _DIGITS:
        text = f"{value:.{_DIGITS}g}"
    return text.replace("-", "−")


@dataclass(frozen=True)
class Need(Record):
    """Data that a part of a paper takes.

    Attributes:
        name: in a word, as `--json` and the table call it.
        what: what it is.
        fetch: what to fetch from where: the project, the file, its license, and where to put it.
        accepts: files or folders that will do, relative to the user's folder, best first; `*` and `**` as in `glob`.
        holds: whether such a file or folder has in it what is needed; an empty folder is as good as none.
        public: whether it can be fetched, from a public place or by a link that the authors give; False where it has to
            be made, bought, or cannot be had at all.
    """

    hidden: ClassVar[frozenset[str]] = frozenset({"holds"})

    name: str
    what: str
    fetch: str
    accepts: tuple[str, ...]
    holds: Callable[[Path], bool] = Path.exists
    public: bool = True


class Data:
    """A folder of the user's, or none, and what of a paper's needs is in it.

    Attributes:
        folder: where files are looked for.
        needs: the paper's needs by name.
        named: places that the user names for single needs; nothing else is taken for these.

    Raises:
        InputError: there is no such folder, or a named place does not hold what is needed.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        needs: Iterable[Need] = (),
        named: Mapping[str, Path] | None = None,
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        self.needs = {need.name: need for need in needs}
        self.named = named or {}
        if self.folder is not None and not self.folder.is_dir():
            raise InputError(f"{self.folder}: is not a folder; name the folder that holds the data")
        for name, path in self.named.items():
            if not self.needs[name].holds(path):
                raise InputError(f"{path}: holds no {name}; biasgauge reproduce without them says what they are")
        self._computed: dict[Hashable, Any] = {}

    def find(self, name: str) -> Path | None:
        """The file or folder for a need, the best one where there are several; None when there is none."""
        return next(iter(self.find_all(name)), None)

    def find_all(self, name: str) -> tuple[Path, ...]:
        """Every file or folder for a need, in the order of what it accepts, then by name."""
        if name not in self.needs:
            raise InternalError(f"The paper has no need {name!r}; it has {', '.join(self.needs) or 'none'}.")
        if name in self.named:
            return (self.named[name],)
        if self.folder is None:
            return ()
        need = self.needs[name]
        paths = (path for accepted in need.accepts for path in sorted((self.folder or Path()).glob(accepted)))
        return self.once(("paths", name), lambda: tuple(dict.fromkeys(filter(need.holds, paths))))

    def path(self, name: str) -> Path:
        """As `find`, for a part that runs only where its needs are met."""
        path = self.find(name)
        if path is None:
            raise InternalError(f"A part ran although its need {name!r} is not met.")
        return path

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` gives, computed at the first call: parts of a paper share long computations."""
        if key not in self._computed:
            self._computed[key] = make()
        value: T = self._computed[key]
        return value

    def used(self) -> dict[str, str]:
        """For each need that is met, where; relative to the folder unless the user named the place."""
        paths = {name: path for name in self.needs if (path := self.find(name))}
        return {
            name: (path if name in self.named else path.relative_to(self.folder or "")).as_posix()
            for name, path in paths.items()
        }


Progress = Callable[[int, int], None]
"""Called with the number of steps that are done and their total."""
Recomputations = dict[str, Recomputed]
"""Our numbers by row id."""
Compute = Callable[[Data, int, Progress | None], Mapping[str, Recomputed]]
"""Computes numbers of a part by row id, from the data, the random seed and a progress function."""


@dataclass(frozen=True)
class Part:
    """A table of published numbers and the function that fills it.

    Attributes:
        name: such as "table2".
        about: what it is, in a sentence.
        published: its rows without our numbers; a row that needs more than the part names it in `needs`.
        compute: takes the data, the random seed and a progress function (or None), and gives our numbers by row id. It
            may leave rows out. None: nothing of it can be computed from any data that we read; its rows say why.
        needs: names of the data without which nothing of it can be computed.
    """

    name: str
    about: str
    published: tuple[Row, ...]
    compute: Compute | None = None
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper(Record):
    """A paper that can be reproduced.

    Attributes:
        name: as the command takes it, such as "zhang2020".
        title: of the paper.
        citation: who, where, when.
        needs: the data that its parts take.
        parts: in the order of the table.
        about: what can be checked and what cannot, in a few sentences.
    """

    hidden: ClassVar[frozenset[str]] = frozenset({"parts"})

    name: str
    title: str
    citation: str
    needs: tuple[Need, ...] = ()
    parts: tuple[Part, ...] = ()
    about: str = ""

    def derived(self) -> JsonMapping:
        """Descriptions of its parts, and how many numbers they have."""
        return {
            "parts": {table.name: table.about for table in self.parts},
            "numbers": sum(len(table.published) for table in self.parts),
        }
