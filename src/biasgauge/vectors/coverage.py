"""Coverage: words of a list that are in the vocabulary, and those that are not, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from biasgauge.core import Codes, Flags, JsonObject, Places, Record, ResolvedSet
from biasgauge.results import Column, Result, Summary, Table, counted, share_text

if TYPE_CHECKING:
    import pandas as pd


NOT_THERE = "not in the vocabulary"
ZERO = "its vector is zero"


def spellings(word: str, *, case_fallback: bool) -> Iterable[str]:
    """Spellings under which a word is looked for, in order: as written, lower case, capitalized."""
    if not case_fallback:
        return (word,)
    return dict.fromkeys((word, word.lower(), word.capitalize()))


def by_reason(reasons: Sequence[str], undefined: Codes) -> dict[str, int]:
    """Count undefined values by reason, from their indices in the list of reasons; 0 means defined."""
    counts = np.bincount(undefined.ravel(), minlength=len(reasons))
    return {reason: int(count) for reason, count in zip(reasons, counts, strict=True) if reason and count}


@dataclass(frozen=True)
class Lookup(Record):
    """Rows of the words that were found.

    Attributes:
        words: the words found, as asked for, each once.
        rows: the row of each of them in the embedding.
        lost: the words that were not found, with the reason.
        respelled: words found only under another case, with the spelling that was found.
    """

    words: tuple[str, ...]
    rows: Places
    lost: Mapping[str, str]
    respelled: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def only(self, usable: Flags, reason: str) -> Lookup:
        """Keep the usable words; the others are lost for the reason given."""
        if usable.all():
            return self
        words = tuple(word for word, good in zip(self.words, usable, strict=True) if good)
        lost = {word: reason for word, good in zip(self.words, usable, strict=True) if not good}
        return Lookup(words, self.rows[usable], MappingProxyType({**self.lost, **lost}), self.respelled)

    @property
    def row_of(self) -> dict[str, int]:
        """Row of each word that was found."""
        return dict(zip(self.words, self.rows.tolist(), strict=True))

    @property
    def asked(self) -> int:
        """Distinct words asked for."""
        return len(self.words) + len(self.lost)

    @property
    def share(self) -> float:
        """Share of them that was found; 1.0 when none were asked for."""
        return len(self.words) / self.asked if self.asked else 1.0


def look_up(
    index: Mapping[str, int], words: Iterable[str], *, case_fallback: bool, why_lost: Callable[[str], str]
) -> Lookup:
    """Find words in an index, in their order; lost words are listed with the reason, never an error."""
    rows_found: dict[str, int] = {}
    lost: dict[str, str] = {}
    respelled: dict[str, str] = {}
    for word in words:
        for spelling in spellings(word, case_fallback=case_fallback):
            if (row := index.get(spelling)) is not None:
                rows_found[word] = row
                if spelling != word:
                    respelled[word] = spelling
                break
        else:
            lost[word] = why_lost(word)
    return Lookup(
        words=tuple(rows_found),
        rows=np.fromiter(rows_found.values(), dtype=np.intp, count=len(rows_found)),
        lost=MappingProxyType(lost),
        respelled=MappingProxyType(respelled),
    )


@dataclass(frozen=True, repr=False)
class Coverage(Result):
    """Share of some named sets of words that an embedding has.

    Attributes:
        sets: a `Lookup` for each set.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {
        "asked": int | Mapping[str, int],
        "found": int | Mapping[str, int],
        "lost": Mapping[str, tuple[str, ...]],
    }

    sets: Mapping[str, Lookup]

    @classmethod
    def of(cls, lookups: Mapping[str, Lookup]) -> Self:
        """Collect the look-ups of several sets."""
        return cls(MappingProxyType(dict(lookups)))

    @classmethod
    def from_resolved(cls, sets: Mapping[str, ResolvedSet], model: int = 0) -> Self:
        """Coverage of sets that `resolve` looked up, with the rows of one of its models."""
        return cls.of(
            {key: Lookup(words.words, words.rows[model], words.lost, words.respelled) for key, words in sets.items()}
        )

    @property
    def asked(self) -> int:
        """Distinct words asked for, summed over the sets."""
        return sum(lookup.asked for lookup in self.sets.values())

    @property
    def found(self) -> int:
        """Distinct words found, summed over the sets."""
        return sum(len(lookup.words) for lookup in self.sets.values())

    @property
    def share(self) -> float:
        """Share of the words asked for that were found; 1.0 when none were asked for."""
        return self.found / self.asked if self.asked else 1.0

    @property
    def lost(self) -> dict[str, tuple[str, ...]]:
        """Lost words of each set that lost any."""
        return {name: tuple(lookup.lost) for name, lookup in self.sets.items() if lookup.lost}

    @property
    def respelled(self) -> dict[str, str]:
        """Words found only under another case, with the spelling that was found."""
        return {word: spelling for lookup in self.sets.values() for word, spelling in lookup.respelled.items()}

    def short_of(self, share: float, enough: float = inf) -> tuple[str, ...]:
        """Names of the sets of which less than `share` and fewer than `enough` words were found, or nothing at all."""
        return tuple(
            name
            for name, lookup in self.sets.items()
            if len(lookup.words) < min(enough, share * lookup.asked) or not lookup.words
        )

    def shortfall(self, share: float, enough: float = inf) -> str:
        """Say which sets `short_of` names, with their counts; empty when there is none."""
        short = self.short_of(share, enough)
        counts = [f"{name} {len(self.sets[name].words)} of {self.sets[name].asked}" for name in short]
        if not counts:
            return ""
        more = f" and {len(counts) - 4} more sets" if len(counts) > 4 else ""
        return f"fewer than {share_text(share)} of the words found: {', '.join(counts[:4])}{more}"

    def to_dict(self) -> JsonObject:
        """The shape that every `--json` uses: asked, found, lost; reasons and respelled only when there are any."""
        reasons = {word: why for lookup in self.sets.values() for word, why in lookup.lost.items() if why != NOT_THERE}
        remarks = {"reasons": reasons, "respelled": self.respelled}
        lost = {name: list(words) for name, words in self.lost.items()}
        shape = {"asked": self.asked, "found": self.found, "lost": lost}
        return shape | {key: value for key, value in remarks.items() if value}

    def summary(self) -> Summary:
        """Number of words found, and the lost ones of each set."""
        counts = Column("asked", "count"), Column("found", "count"), Column("share", "share")
        columns = ["set", *counts, Column("lost", "words")]
        return Summary(
            title="Coverage",
            headline=f"{self.found:,} of {counted(self.asked, 'word')} found",
            tables=(Table.of("coverage", "", columns, self._rows()),),
        )

    def _rows(self) -> list[tuple[Any, ...]]:
        return [
            (name, lookup.asked, len(lookup.words), lookup.share, tuple(lookup.lost))
            for name, lookup in self.sets.items()
        ]

    def to_frame(self) -> pd.DataFrame:
        """One row per set: asked, found, share, lost words."""
        import pandas as pd

        rows = [(*counts, " ".join(lost)) for *counts, lost in self._rows()]
        return pd.DataFrame(rows, columns=["set", "asked", "found", "share", "lost"])
