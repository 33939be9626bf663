"""A part of the audit: how many words of each lexicon are among the first hundred of the vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from biasgauge.core import Record
from biasgauge.results import Result, Summary

if TYPE_CHECKING:
    from biasgauge.audits import AuditContext


@dataclass(frozen=True)
class FrequentWords(Record):
    """One lexicon: its words, and how many of them are frequent."""

    lexicon: str
    words: int
    frequent: int


@dataclass(frozen=True, eq=False, repr=False)
class FrequencyResult(Result):
    """Frequent words of each lexicon."""

    tables: ClassVar[tuple[str, ...]] = ("rows",)

    rows: tuple[FrequentWords, ...]

    def _headline(self) -> str:
        return f"{sum(row.frequent for row in self.rows)} words of the lexicons are frequent."


class FrequencyPart:
    """What is measured, and how it is shown. `read` is needed only to draw the section again from stored JSON."""

    name = "frequency"
    title = "Frequent words in the word lists"
    read = FrequencyResult.from_dict

    def measure(self, context: AuditContext) -> FrequencyResult:
        """Count the words of each lexicon that are among the first hundred of the first model."""
        first = set(context.models[0].words[:100])
        lexicons = context.lexicons
        return FrequencyResult(
            tuple(FrequentWords(one.name, len(one.words), len(first & {*one.words})) for one in lexicons)
        )

    def summarize(self, result: FrequencyResult) -> Summary:
        """Return the section: headline and table follow from the result."""
        return result.summary()


PART = FrequencyPart()
