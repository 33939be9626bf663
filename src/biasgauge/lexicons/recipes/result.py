"""`BuiltLexicon`: a lexicon made by a recipe, with the fate of every candidate."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from biasgauge import io
from biasgauge.core import JsonMapping, Record
from biasgauge.lexicons import Lexicon, lexicon_toml
from biasgauge.results import Result, Summary, Table, counted

COLUMNS = ("list", "word", "chosen", "step", "reason", "source", "evidence", "log10_frequency")
"""Columns of the table of candidates."""


@dataclass(frozen=True)
class CandidateWord(Record):
    """One candidate of a list.

    Attributes:
        list_name: key of the list.
        word: the candidate.
        chosen: whether it is in the lexicon.
        step: step that rejected it; empty where it was chosen.
        reason: why it was rejected.
        source: name of the word source.
        evidence: the numbers for which the source offered it.
        log10_frequency: up to a constant; None where it is not known.
    """

    list_name: str
    word: str
    chosen: bool
    step: str
    reason: str
    source: str
    evidence: str
    log10_frequency: float | None


@dataclass(frozen=True, eq=False, repr=False)
class BuiltLexicon(Result):
    """A lexicon that a recipe made, every candidate with the reason for which it was chosen or not, and warnings.

    Attributes:
        lexicon: the lexicon; its `made` says how it was made.
        candidates: all words that the sources offered, list by list: those chosen in the order of the lexicon, then
            those rejected, step by step.
        warnings: lists that have fewer words than wanted, and whatever else a reader should know first.
    """

    tables: ClassVar[tuple[str, ...]] = ("candidates",)
    abridged: ClassVar[bool] = True

    lexicon: Lexicon
    candidates: tuple[CandidateWord, ...]
    warnings: tuple[str, ...]

    @property
    def random_state(self) -> int:
        """Random seed of the recipe."""
        recipe = self.lexicon.made[-1].recipe
        return recipe.random_state if recipe else 0

    @property
    def rejected(self) -> tuple[CandidateWord, ...]:
        """Candidates that are not in the lexicon."""
        return tuple(candidate for candidate in self.candidates if not candidate.chosen)

    def derived(self) -> JsonMapping:
        """The lexicon with its checksum."""
        return {"lexicon": {**self.lexicon.to_dict(), "checksum": self.lexicon.checksum}}

    def csv(self) -> str:
        """Format the table of candidates as CSV."""
        names = {"list": "list_name"}
        rows = [candidate.to_dict() for candidate in self.candidates]
        return io.csv_of_records(COLUMNS, [{name: row[names.get(name, name)] for name in COLUMNS} for row in rows])

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the lexicon as TOML, whole or not at all, and the table of candidates as CSV beside it.

        A name that ends in .html, .json, .csv, .md, .tex or .txt gets the result in that form, as every result.
        """
        target = Path(path)
        if target.suffix in {".html", ".json", ".csv", ".md", ".tex", ".txt"}:
            return super().save(target)
        # The table first: a lexicon that is there has its table.
        io.write_text(table_path(target), self.csv())
        io.write_text(target, lexicon_toml(self.lexicon))
        return target

    def summary(self) -> Summary:
        """Chosen words by list, and how many were rejected at each step."""
        (made,) = self.lexicon.made
        recipe = made.recipe
        lists = recipe.lists if recipe else ()
        rows = [(row.name, row.candidates, row.words, _steps(row.rejected)) for row in lists]
        tables = [Table.of("lists", "Lists", ["list", "candidates", "words", "rejected"], rows)]
        for match in recipe.matches if recipe else ():
            first, second = match.lists
            difference = (match.pairs, match.mean_difference, match.largest_difference, match.frequencies)
            columns = ["pairs", "mean difference", "largest difference", "frequencies"]
            title = f"Log10 frequency of {first} less that of {second}, matched ({match.method})"
            tables.append(Table.of(f"match_{first}_{second}", title, columns, [difference]))
        words = [(name, ", ".join(members)) for name, members in self.lexicon.sets.items()]
        tables.append(Table.of("words", "Words", ["list", "words"], words))
        sizes = " + ".join(f"{len(members):,}" for members in self.lexicon.sets.values())
        headline = f"{self.lexicon.name}: {sizes} words; {counted(self.rejected, 'candidate')} rejected"
        return Summary(self.lexicon.label, headline, tables=tuple(tables), warnings=self.warnings)


def table_path(path: Path) -> Path:
    """Path of the table of candidates beside a lexicon."""
    return path.with_suffix(".csv")


def _steps(rejected: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{step} {count:,}" for step, count in rejected) or "none"
