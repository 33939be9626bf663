"""Summaries that follow from what a class of results declares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import biasgauge as bg
from biasgauge.core import Estimate, Record
from biasgauge.results import Column, RecordTable, Result
from biasgauge.results.wording import table_texts


@dataclass(frozen=True, kw_only=True)
class Gap(Estimate):
    word: str


@dataclass(frozen=True)
class Inner(Record):
    number: float | None


@dataclass(frozen=True)
class Row(Record):
    word: str
    seen: int
    inner: Inner
    lost: tuple[str, ...]
    contrast: Estimate | None = None


@dataclass(frozen=True, eq=False, repr=False)
class PlainResult(Result):
    """Declares nothing but its fields."""

    tables: ClassVar[tuple[str, ...]] = ("word_gaps",)
    word_gaps: tuple[Gap, ...]


@dataclass(frozen=True, eq=False, repr=False)
class DeclaredResult(Result):
    """Declares its table and its headline."""

    tables: ClassVar[tuple[str, ...]] = ("rows",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "rows",
            "By word",
            (
                "word",
                "seen",
                "lost",
                Column("inner number", "number", 1, source="inner.number"),
                Column("contrast [{level}]", "estimate", 1, source="contrast"),
                Column("length", "count", source=lambda row: len(row.word)),
                Column("empty", source=lambda _row: None),
            ),
            note="A note",
            drop_empty=True,
        ),
    )
    rows: tuple[Row, ...]
    warnings: tuple[str, ...] = ()

    def _headline(self) -> str:
        return f"{len(self.rows)} words"


GAPS = (
    Gap(word="nurse", value=0.5, low=0.25, high=0.75, level=0.9, n=3),
    Gap(word="clerk", value=None, reason="no pair", level=0.9),
)


def test_a_result_that_declares_nothing_has_a_summary() -> None:
    summary = PlainResult(GAPS).summary()
    assert (summary.title, summary.headline) == ("Plain result", "Plain result: 2 rows")
    (table,) = summary.tables
    assert [(column.name, column.kind) for column in table.columns] == [
        ("word", "text"),
        ("value [90 %]", "estimate"),
        ("n", "count"),
    ]
    assert table_texts(table) == [["nurse", "0.50 [0.25, 0.75]", "3"], ["clerk", "undefined: no pair", "0"]]


def test_a_result_without_rows_has_a_summary() -> None:
    assert PlainResult(()).summary().tables == ()
    assert bg.Result is Result


def test_columns_kinds_and_levels_follow_from_the_records() -> None:
    rows = (
        Row("nurse", 1_200, Inner(2.0), ("a", "b"), Estimate(value=1.0, low=0.0, high=2.0, level=0.99)),
        Row("clerk", 3, Inner(None), ()),
    )
    summary = DeclaredResult(rows, ("beware",)).summary()
    assert (summary.title, summary.headline, summary.warnings) == ("Declared result", "2 words", ("beware",))
    (table,) = summary.tables
    assert (table.name, table.title, table.note) == ("rows", "By word", "A note")
    heads = [("word", "text"), ("seen", "count"), ("lost", "words"), ("inner number", "number")]
    assert [(column.name, column.kind) for column in table.columns] == [
        *heads,
        ("contrast [99 %]", "estimate"),
        ("length", "count"),
    ]
    assert table_texts(table) == [
        ["nurse", "1,200", "a, b", "2.0", "1.0 [0.0, 2.0]", "5"],
        ["clerk", "3", "–", "–", "–", "5"],
    ]
