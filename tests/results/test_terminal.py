"""Tables on a terminal: everything is shown where breaking the names of columns makes room for it."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from biasgauge.results.summary import Column, Table
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


@pytest.mark.parametrize("width", [36, 40, 54])
def test_names_are_broken_before_numbers_are_cut(width: int) -> None:
    *names, first, second = printed(width)
    assert max(map(len, (*names, first, second))) <= width
    assert [first.split(), second.split()] == [["literature", "110", "68", "51"], ["poetry", "116", "76", "54"]]
    assert [line.split() for line in names] == [
        ["near", "near"],
        ["male", "female"],
        ["word", "terms", "terms", "documents"],
    ]
    assert names[-1].index("terms") + len("terms") == first.index("110") + len("110")  # names end where numbers end
