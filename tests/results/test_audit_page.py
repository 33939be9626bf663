"""The page: whole, self-contained, and unmoved by hostile words."""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import re
import zlib
from dataclasses import replace
from functools import cache
from html import unescape
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.audits import Evidence, Verdict
from biasgauge.audits.explorer import explore
from biasgauge.audits.shared_scores import SharedScores
from biasgauge.io.json_file import read_saved
from biasgauge.io.text_file import csv_text
from biasgauge.lexicons import lexicon, parse_lexicon
from biasgauge.results.page.rendering import PLOTS, summary_page
from biasgauge.scores import Weat

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "</td></tr></table>",
    '" onmouseover="alert(1)',
    "&lt;b&gt;",
    "{{ 7 * 7 }}",
    "line\u2028break\u2029again",
    "\u202eright-to-left",
    "=1+1",
    "@SUM(A1)",
]


def audit_page(result: bg.audits.AuditResult) -> str:
    return summary_page(result.summary())


class Outline(HTMLParser):
    """The tags of a page with their attributes' names, in order, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.text: list[str] = []
        self.references: list[str] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.names: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        self.references += [value or "" for name, value in attrs if name in {"src", "href", "action"}]
        self.names += [value or "" for name, value in attrs if name == "id"]
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def packed(self) -> dict[str, str]:
        """What the page carries packed: data and the plotting code, by the id of its element."""
        held = {about["id"]: code for about, code in self.scripts if about.get("id")}
        return {str(name): zlib.decompress(base64.b64decode(code)).decode() for name, code in held.items()}

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script" and self.cdata_elem:
            about, code = self.scripts.pop()
            self.scripts.append((about, code + data))
        else:
            self.text.append(data)


def outline(page: str) -> Outline:
    parser = Outline()
    parser.feed(page)
    return parser


def result(words: list[str], name: str = "toy") -> bg.audits.AuditResult:
    own = parse_lexicon({"name": "own", "kind": "words", "words": words, "title": words[0]}, path="own.toml")
    return bg.audit(bg.Embedding(("cat",), np.ones((1, 2)), name=name), lexicons=[own])


def rich(word: str) -> bg.audits.AuditResult:
    """An audit with a chart and an explorer, in which model, sets and a word bear the name `word`."""
    ends = tuple(dict.fromkeys(end for pair in lexicon("du2021").sets.values() for end in pair))
    words = (*ends, "x1", "x2", "y1", "y2", "a1", "a2", "b1", "b2", word, *(f"word{number}" for number in range(60)))
    vectors = np.random.default_rng(5).standard_normal((len(words), 8))
    sets = {role: {"name": role, "words": [f"{role}1", f"{role}2"]} for role in "xyab"}
    sets["x"]["name"], sets["y"]["name"] = word, "plain"
    own = parse_lexicon({"name": "own", "kind": "test", "title": word, **sets}, path="own.toml")
    model = bg.Embedding(words, vectors, name=word)
    shown = explore(SharedScores((model,), (own,)), [])  # by itself only in an audit of all lexicons
    audit = bg.audit(model, lexicons=[own])
    return replace(audit, parts={**audit.parts, "explorer": shown})


@cache
def rich_page(word: str = "harm-less") -> str:  # like the hostile ones, no word of letters alone
    return audit_page(rich(word))


@cache
def harmless_outline() -> Outline:
    return outline(audit_page(result(["harmless"], name="harmless")))


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_words_leave_the_page_as_it_is(word: str) -> None:
    harmless = harmless_outline()
    hostile = outline(audit_page(result([word], name=word)))
    assert hostile.tags == harmless.tags
    shown, expected = ("".join(page.text).lower() for page in (hostile, harmless))  # a claim starts with a capital
    assert shown.count(word.lower()) == expected.count("harmless") >= 8


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_words_in_charts_and_explorer_leave_the_page_as_it_is(word: str) -> None:
    hostile = outline(audit_page(rich(word)))
    # A page says if all is in lower case, and random words are spelled like those they stand for.
    plain = rich_page() if word == word.lower() else rich_page("4HARM" if word.isupper() else "Harmless")
    assert hostile.tags == outline(plain).tags
    blocks = {name: json.loads(text) for name, text in hostile.packed().items() if name != PLOTS}
    assert word in blocks["explorer-data"]["words"]
    assert blocks["explorer-data"]["model"] == word
    drawn = [row for rows in blocks["charts-data"]["bias-weat"]["datasets"].values() for row in rows]
    assert {(row["model"], row["concept"]) for row in drawn} == {(word, f"own: {word} / plain")}


def test_the_page_refers_to_nothing_outside() -> None:
    found = outline(rich_page())
    assert {reference[0] for reference in found.references} == {"#"}
    assert [reference for reference in found.references if reference[1:] not in found.names] == []
    own = "".join(code for about, code in found.scripts if not about)
    assert "http" not in "".join(found.text) + own
    assert "url(" not in "".join(found.text) + own


def test_only_the_scripts_of_the_page_may_run() -> None:
    page = rich_page()
    found = outline(page)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    rules = dict(rule.strip().split(" ", 1) for rule in unescape(policy).split(";"))
    hashes = [
        base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        for code in (found.packed()[PLOTS], *(code for about, code in found.scripts if not about))
    ]
    assert rules["script-src"].split() == [f"'sha256-{one}'" for one in hashes]
    assert rules["default-src"] == "'none'"
    assert len(hashes) == 5  # bundle, pictures, figures, page, explorer
    assert not [name for _, names in found.tags for name in names if name.startswith("on")]


def test_a_page_without_anything_to_draw_carries_no_plotting_code() -> None:
    assert len(audit_page(result(["word"]))) < 60_000  # the plotting code has some 500,000


def test_every_name_on_the_page_is_given_once() -> None:
    names = outline(rich_page()).names
    assert sorted(set(names)) == sorted(names)
    assert "explorer" in names


def test_the_page_has_every_number_of_its_charts_in_tables() -> None:
    audited = rich("harm-less")
    text = "".join(outline(rich_page()).text)
    values = [one.contrast for one in audited.bias if isinstance(one, Weat) and one.contrast is not None]
    assert values
    for one in values:
        assert one.value is not None
        assert one.low is not None
        assert f"{one.value:.4g}".replace("-", "−") in text
        assert f"{one.low:.4g}".replace("-", "−") in text


def test_decisions_come_first_where_there_are_any() -> None:
    evidence = (
        Evidence("kappa <b>", 0.31, 0.6, passes=False, reason="kappa is .31 <low>", link="lexicons"),
        Evidence("seeds", 8, 2, passes=True, reason="8 seeds"),
        Evidence("corpus", None, None, passes=None, reason="nobody knows"),
    )
    verdicts = (
        Verdict("q1", "Trust", "toy", "weat", "not-measurable", "", "too few <words>"),
        Verdict("q2", "Trust", "toy", "weat", "do-not-report", "it leans", "pairs <differ>", evidence),
    )
    found = outline(audit_page(replace(result(["word"]), verdicts=verdicts)))
    text = " ".join("".join(found.text).split())
    assert found.names.index("verdicts") < found.names.index("lexicons")
    for part in ("Do not report", "pairs <differ>.", "1 of 3 rules are met", "kappa <b>", "0.60", "unknown"):
        assert part in text
    assert text.index("Not measurable") < text.index("too few <words>") < text.index("1 of 3 rules are met")
    assert "#lexicons" in found.references


def test_queries_have_their_plural(shipped_audit: Callable[..., bg.audits.AuditResult]) -> None:
    texts = outline(audit_page(shipped_audit())).text
    assert "query" in texts
    assert "querys" not in texts


def test_the_pictures_of_the_page_are_of_this_version(
    shipped_audit: Callable[..., bg.audits.AuditResult], repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(repository / "scripts"))
    from make_screens import first_screen

    told = (repository / "docs" / "screens" / "first_screen.txt").read_text(encoding="utf-8")
    assert first_screen(shipped_audit().summary()) == told, "run scripts/make_screens.py, and look at the pictures"


def test_the_page_lists_every_lost_word_and_every_reason() -> None:
    lost = [f"word{number}" for number in range(500)]
    text = "".join(outline(audit_page(result(lost))).text)
    assert [word for word in lost if word not in text] == []
    assert "fewer than 80\u00a0% of the words found: words 0 of 500" in text


def test_saving_writes_page_json_and_csv_with_the_same_content(tmp_path: Path) -> None:
    audited = result(["cat", "dog"])
    page = audited.save(tmp_path / "report.html")
    assert page == tmp_path / "report.html"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "effects.csv",
        "report.html",
        "report.json",
        "verdicts.csv",
    ]
    assert read_saved(tmp_path / "report.json") == audited.to_dict()
    with (tmp_path / "verdicts.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["question"], row["asked"], row["found"]) for row in rows] == [("own", "2", "1")]


def test_the_same_audit_gives_the_same_bytes(
    shipped_audit: Callable[..., bg.audits.AuditResult], tmp_path: Path
) -> None:
    shipped_audit("weat7").save(tmp_path / "a.html")
    bg.audit(lexicons=["weat7"]).save(tmp_path / "b.html")
    for ending in (".html", ".json"):
        assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()
    effects = list(csv.DictReader((tmp_path / "effects.csv").read_text().splitlines()))
    assert {row["statistic"] for row in effects} >= {"contrast", "effect size d", "mean effect size d"}
    assert all(row["value"] or row["reason"] for row in effects)


def test_a_folder_that_is_not_there_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(bg.errors.InputError, match="nowhere"):
        result(["cat"]).save(tmp_path / "nowhere" / "report.html")


def test_cells_that_start_a_formula_are_neutralized() -> None:
    frame: pd.DataFrame = result(["=1+1", "plain"]).to_frame()
    rows = list(csv.DictReader(csv_text(frame).splitlines()))
    assert rows[0]["title"] == "'=1+1"


def test_a_notebook_shows_the_verdicts(shipped_audit: Callable[..., bg.audits.AuditResult]) -> None:
    shown = result(["<b>"])._repr_html_()
    assert "&lt;b&gt;" in shown
    audit = shipped_audit("weat7")
    asked = audit._repr_html_()
    assert asked.index(f"<b>{audit.verdicts[0].decision}</b>") < asked.index("<details>")
