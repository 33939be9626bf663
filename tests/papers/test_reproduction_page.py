"""The page of a reproduced paper: whole, self-contained, and unmoved by hostile words."""

from __future__ import annotations

import csv
import json
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from biasgauge.papers import Missing, Reproduction, Row
from biasgauge.results.page.rendering import summary_page

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = ("<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", '" onmouseover="x', "{{ 7 * 7 }}")


def result(word: str = "plain") -> Reproduction:
    rows = (
        Row("a.one", word, "Table 1", 0.5, 0.52, 0.7, note=word, tolerance=0.01, low=0.6, high=0.8, part="a"),
        Row("a.two", "two", word, word, 0.03, part="a", between=(0, 0.05)),
        Row("a.three", "three", "Table 1", None, 4, part="a"),
        Row("b.four", "four", "Table 2", 4, note="needs x", needs="x", part="b"),
    )
    return Reproduction(
        paper="nobody1900",
        title=word,
        citation=word,
        about=word,
        parts={"a": word, "b": "second"},
        rows=rows,
        missing=(Missing("x", word, f"Fetch {word}.", (word,), ("b",)),),
        settings={"paper": "nobody1900", "data": None, "parts": ["a", "b"], "files": {"y": word}},
    )


def reproduction_page(found: Reproduction) -> str:
    return summary_page(found.summary())


def tags(page: str) -> list[str]:
    return re.findall(r"<(\w+)", page)


@pytest.mark.parametrize("word", HOSTILE)
def test_nothing_from_data_becomes_markup(word: str) -> None:
    page, plain = reproduction_page(result(word)), reproduction_page(result())
    assert tags(page) == tags(plain)
    assert word in unescape(page)
    shown, safe = (one._repr_html_() for one in (result(word), result()))
    assert tags(shown) == tags(safe)


def test_the_page_holds_every_row_and_loads_nothing() -> None:
    page = reproduction_page(result())
    assert "default-src 'none'" in unescape(page)
    assert not re.search(r"""(?:src|href)=["'](?!#)""", page)
    text = unescape(re.sub(r"<[^>]*>", "|", page))
    for cell in ("0.5", "0.52", "within 0.01 agrees", "0.6 to 0.8", "0 to 0.05 agrees", "needs x", "Looked for:"):
        assert cell in text, cell
    assert [page.count(f">{state}<") for state in ("agrees", "differs", "not printed", "not checked")] == [1, 1, 1, 1]
    assert 'data-order="0.52"' in page


def test_saved_with_json_and_csv(tmp_path: Path) -> None:
    page = result("=1+1").save(tmp_path / "out.html")
    content = json.loads(page.with_suffix(".json").read_text())
    assert [row["id"] for row in content["rows"]] == ["a.one", "a.two", "a.three", "b.four"]
    assert content["version"]
    rows = list(csv.DictReader(page.with_suffix(".csv").read_text().splitlines()))
    assert rows[0]["what"] == "'=1+1"
