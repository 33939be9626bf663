"""The page on corpora: its tables are complete."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from biasgauge import registry
from biasgauge.text import PAPER_RULES, tokenizer_names

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "text" / "corpora.md").read_text(encoding="utf-8")


def test_tables_name_everything(page: str) -> None:
    first_cells = set(re.findall(r"^\| `([\w:-]+)` \|", page, re.MULTILINE))
    assert first_cells - {"layout", "tokenizer"} == {*tokenizer_names(), *registry.names("corpus_reader"), *PAPER_RULES}


def test_minimum_counts_are_those_of_the_rules(page: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (left out|`<UNK>`) \|", page, re.MULTILINE)
    assert {name: (int(count), unknown.strip("`")) for name, count, unknown in rows} == {
        name: (rules.min_count, rules.unknown or "left out") for name, rules in PAPER_RULES.items()
    }
