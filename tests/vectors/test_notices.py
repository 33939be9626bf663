"""Notices: counted, with the first few examples, in step with the documentation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from biasgauge.vectors import load
from biasgauge.vectors.formats.vector_format import OUTCOMES

if TYPE_CHECKING:
    from pathlib import Path


def test_documentation_names_each_code_and_no_other(repository: Path) -> None:
    text = (repository / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
    table = text.partition("## When something is odd")[2]
    assert set(re.findall(r"noted as `([a-z0-9-]+)`", table)) == set(OUTCOMES)


def test_notice_counts_all_and_shows_the_first_five(tmp_path: Path) -> None:
    path = tmp_path / "zeros.txt"
    path.write_text("".join(f"w{row} 0 0\n" for row in range(7)) + "a 1 2\na 3 4\n", encoding="utf-8")
    duplicate, zero = load(path).notices
    assert (duplicate.code, duplicate.count, duplicate.examples) == ("duplicate", 1, ("'a'",))
    assert (zero.code, zero.count) == ("zero", 7)
    assert zero.examples == ("'w0'", "'w1'", "'w2'", "'w3'", "'w4'")
    assert zero.message == OUTCOMES["zero"] + " (7: 'w0', 'w1', 'w2', 'w3', 'w4', …)"
    assert zero.to_dict() == {"code": "zero", "message": zero.message, "count": 7, "examples": list(zero.examples)}


def test_example_of_any_length_or_kind_is_one_short_line(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"a 1 2\n" + b"w" * 5_000 + b" 0 0\n\x07\xff 1 2\n")
    for notice in load(path).notices:
        assert all(len(example) <= 100 and example.isprintable() for example in notice.examples)


def test_place_is_told_where_there_is_no_word(tmp_path: Path) -> None:
    path = tmp_path / "gaps.txt"
    path.write_bytes(b"a 1 2\n\nb 3 4\n\n\nc 5 6")
    blank, unended = load(path).notices
    assert (blank.code, blank.count, blank.examples) == ("blank-line", 3, ("line 2", "line 4", "line 5"))
    assert (unended.code, unended.examples) == ("no-final-newline", ("line 6",))
