"""The page says something about every test, and what it says of numbers is true."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from biasgauge import registry
from biasgauge.stats import permutation_p

if TYPE_CHECKING:
    from pathlib import Path

TESTS = registry.everything("association_test")


@pytest.fixture
def sections(repository: Path) -> dict[str, str]:
    page = (repository / "docs" / "measures" / "association.md").read_text()
    parts = re.split(r"^## `?([\w ]+)`?$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", sorted(TESTS))
def test_every_test_has_its_section(sections: dict[str, str], name: str) -> None:
    section = sections[name]
    for heading in ("Formula", "Sign", "Range", "0 means", "Undefined", "Source", "Peers"):
        assert f"**{heading}**" in section, heading
    author, year = re.findall(r"^(\w+).*(\d{4})", TESTS[name].source)[0]
    assert author in section
    assert year in section


def test_no_section_speaks_of_a_test_that_is_not_there(sections: dict[str, str]) -> None:
    assert {name for name, text in sections.items() if "**Formula**" in text} == set(TESTS)


def test_the_smallest_p_values_in_the_table_are_right(sections: dict[str, str]) -> None:
    rows = re.findall(r"^\| (\d+) \| ([\d,]+) \| ([\d.e-]+) \|$", sections["The p value"], re.MULTILINE)
    assert len(rows) >= 4
    for words, splits, smallest in rows:
        size = int(words)
        result = permutation_p(range(size, 2 * size), range(size), max_exact=10**9)
        assert result.splits == int(splits.replace(",", ""))
        assert f"{result.p_value:.2g}" == smallest
