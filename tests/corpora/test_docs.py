"""The page on corpora: its code runs, its tables are complete."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from biasgauge import registry
from biasgauge.corpora import PAPER_RULES, planted_corpus, tokenizer_names

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "corpora.md").read_text(encoding="utf-8")


def test_code_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = list(planted_corpus([0.0, 0.5], lines=2_000).documents())
    (tmp_path / "articles.txt.xz").write_text("\n\n".join(texts), encoding="utf-8")
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, names)  # noqa: S102 - the page's own code
    assert (tmp_path / "corpus" / "corpus.json").exists()


def test_tables_name_everything(page: str) -> None:
    first_cells = set(re.findall(r"^\| `([\w:-]+)` \|", page, re.MULTILINE))
    assert first_cells - {"layout", "tokenizer"} == {*tokenizer_names(), *registry.names("corpus_reader"), *PAPER_RULES}


def test_minimum_counts_are_those_of_the_rules(page: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (left out|`<UNK>`) \|", page, re.MULTILINE)
    assert {name: (int(count), unknown.strip("`")) for name, count, unknown in rows} == {
        name: (rules.min_count, rules.unknown or "left out") for name, rules in PAPER_RULES.items()
    }
