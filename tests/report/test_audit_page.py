"""The page: whole, self-contained, and unmoved by hostile words."""

from __future__ import annotations

import csv
import json
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.lexicons import parse_lexicon
from biasgauge.report import audit_page
from biasgauge.report.tables import csv_text

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "</td></tr></table>",
    '" onmouseover="alert(1)',
    "&lt;b&gt;",
    "{{ 7 * 7 }}",
    "line\u2028break",
    "\u202eright-to-left",
    "=1+1",
    "@SUM(A1)",
]


class Outline(HTMLParser):
    """The tags of a page with their attributes' names, in order, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.text: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.references += [value or "" for name, value in attrs if name in {"src", "href", "action"}]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def outline(page: str) -> Outline:
    parser = Outline()
    parser.feed(page)
    return parser


def result(words: list[str], name: str = "toy") -> bg.AuditResult:
    own = parse_lexicon({"name": "own", "kind": "words", "words": words, "title": words[0]}, path="own.toml")
    return bg.audit(bg.Embedding(("cat",), np.ones((1, 2)), name=name), lexicons=[own])


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_words_leave_the_page_as_it_is(word: str) -> None:
    harmless = outline(audit_page(result(["harmless"])))
    hostile = outline(audit_page(result([word], name=word)))
    assert hostile.tags == harmless.tags
    assert "".join(hostile.text).count(word) == 5  # title, header, table of models, the lexicon's title, lost words


def test_the_page_refers_to_nothing_outside() -> None:
    page = audit_page(result(["word"]))
    assert outline(page).references == []
    assert "http" not in page.replace("http-equiv", "")
    assert "url(" not in page


def test_the_page_lists_every_lost_word_and_every_reason() -> None:
    lost = [f"word{number}" for number in range(500)]
    text = "".join(outline(audit_page(result(lost))).text)
    assert [word for word in lost if word not in text] == []
    assert "fewer than 80% of the words found: words 0 of 500" in text


def test_saving_writes_page_json_and_csv_with_the_same_content(tmp_path: Path) -> None:
    audited = result(["cat", "dog"])
    page = audited.save(tmp_path / "report.html")
    assert page == tmp_path / "report.html"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.csv", "report.html", "report.json"]
    assert json.loads((tmp_path / "report.json").read_text()) == audited.to_dict()
    with (tmp_path / "report.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["set"], row["asked"], row["found"], row["lost"]) for row in rows] == [("words", "2", "1", "dog")]


def test_the_same_audit_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        bg.audit(lexicons=["weat7", "occ16"]).save(tmp_path / f"{name}.html")
    for ending in (".html", ".json", ".csv"):
        assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()


def test_a_folder_that_is_not_there_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(bg.InputError, match="nowhere does not exist; make it first"):
        result(["cat"]).save(tmp_path / "nowhere" / "report.html")


def test_cells_that_start_a_formula_are_neutralised() -> None:
    frame: pd.DataFrame = result(["=1+1", "plain"]).to_frame()
    rows = list(csv.DictReader(csv_text(frame).splitlines()))
    assert rows[0]["lost"] == "'=1+1 plain"


def test_a_notebook_shows_the_table() -> None:
    shown = result(["<b>"])._repr_html_()
    assert "&lt;b&gt;" in shown
    assert outline(shown).tags[0][0] == "table"
