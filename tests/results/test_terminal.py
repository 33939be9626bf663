"""Tables on a terminal: everything is shown where breaking the names of columns makes room for it."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

import biasgauge as bg
from biasgauge.core import Estimate
from biasgauge.results import Column, Table
from biasgauge.results.terminal import print_table

TABLE = Table.of(
    "t",
    "",
    [Column("word"), *(Column(name, "count") for name in ("near male terms", "near female terms", "documents"))],
    [("literature", 110, 68, 51), ("poetry", 116, 76, 54)],
)


def printed(width: int) -> list[str]:
    screen = Console(file=StringIO(), width=width)
    print_table(screen, TABLE)
    assert isinstance(screen.file, StringIO)
    return screen.file.getvalue().splitlines()


def test_names_of_columns_stand_in_one_line_where_there_is_room() -> None:
    lines = printed(80)
    assert lines[0] == "word        near male terms  near female terms  documents"
    assert [line.split() for line in lines[1:]] == [["literature", "110", "68", "51"], ["poetry", "116", "76", "54"]]


@pytest.mark.parametrize("width", [36, 40, 46, 54])
def test_names_are_broken_before_numbers_are_cut(width: int) -> None:
    lines = printed(width)
    assert max(map(len, lines)) <= width
    assert not any(line.endswith(" ") for line in lines)  # a log file holds no padding
    first, second = (next(line for line in lines if line.endswith(number)) for number in ("51", "54"))
    assert [first.split(), second.split()] == [["literature", "110", "68", "51"], ["poetry", "116", "76", "54"]]
    names = lines[: lines.index(first)]
    assert sorted(" ".join(names).split()) == sorted(" ".join(column.name for column in TABLE.columns).split())
    assert names[-1].index("terms") + len("terms") == first.index("110") + len("110")  # names end where numbers end


def test_an_interval_goes_below_its_estimate_before_a_word_is_broken() -> None:
    screen = Console(file=StringIO(), width=55)
    estimate = Estimate(value=-1.234, low=-2.345, high=3.456)
    columns = ["term", "decision", Column("norm", "estimate", 3), Column("counts", "estimate", 3)]
    print_table(screen, Table.of("t", "", columns, [("party", "inconclusive", estimate, estimate)]))
    assert isinstance(screen.file, StringIO)
    lines = screen.file.getvalue().replace("\u00a0", " ").splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["party", "inconclusive", "−1.234", "−1.234"],
        ["[−2.345,", "3.456]", "[−2.345,", "3.456]"],
    ]
    assert max(map(len, lines)) <= 55


def test_text_that_is_too_long_goes_on_in_the_next_line() -> None:
    screen = Console(file=StringIO(), width=30)
    print_table(screen, Table.of("t", "", ["of", Column("value", "number")], [("a rather long name of a list", 1.25)]))
    assert isinstance(screen.file, StringIO)
    assert screen.file.getvalue().splitlines() == [
        "of                       value",
        "a rather long name of a   1.25",
        "list",
    ]


def test_print_of_a_summary_is_prose() -> None:
    found = bg.weat(bg.vectors.load_default(), "weat7", interval=None)
    text = str(found.summary())
    assert text.startswith(found.summary().headline[:40])
    assert "Summary(" not in text
    assert "- As published (Caliskan et al. 2017)" in text


def test_several_reasons_name_their_rows() -> None:
    rows = [
        ("algebra", Estimate(value=None, reason="not in the text")),
        ("symphony", Estimate(value=None, reason="no context")),
    ]
    screen = Console(file=StringIO(), width=80)
    print_table(screen, Table.of("t", "", [Column("word"), Column("log odds", "estimate")], rows))
    assert isinstance(screen.file, StringIO)
    text = screen.file.getvalue()
    assert "undefined: not in the text (algebra)\n" in text
    assert "undefined: no context (symphony)\n" in text
