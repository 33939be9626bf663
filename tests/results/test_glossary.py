"""Terms are explained where a reader first meets them, and display names stand where readers look."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import biasgauge as bg
from biasgauge.results import Column, Summary, Table
from biasgauge.results.markup import plain_text, table_csv
from biasgauge.results.names import lexicon_name, list_name, lists_name, measure_name, with_display_names
from biasgauge.results.names import test_name as display_name_of_test
from biasgauge.results.page.rendering import summary_page
from biasgauge.results.terms import TERMS, terms_in

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("term", TERMS, ids=lambda term: term.key)
def test_a_term_is_one_line_and_its_page_exists(term: bg.results.terms.Term) -> None:
    page, _, heading = term.page.partition("#")
    text = (DOCS / page).read_text(encoding="utf-8")
    anchors = {re.sub(r"[^\w-]+", "-", line.lstrip("# ").replace("`", "").lower()).strip("-")
               for line in text.splitlines() if line.startswith("#")}  # fmt: skip
    assert not heading or heading in anchors
    assert len(term.line) <= 150
    assert "\n" not in term.line


def test_terms_are_met_as_words_and_not_inside_others() -> None:
    assert [term.name for term in terms_in(["Contrasts of replicates, ICC(1,k) = .9, by DB/WA"])] == [
        "contrast", "replicate", "DB/WA", "ICC",
    ]  # fmt: skip
    assert terms_in(["a machine on the MACHINE, EUROPEAN hops, WEATHER"]) == ()


def test_a_page_explains_a_term_once_where_it_is_first_met_and_lists_all() -> None:
    parts = (Summary("One", "The ICC is high.", name="one"), Summary("Two", "ICC again; RIPA too.", name="two"))
    page = summary_page(Summary("T", "H", parts=parts))
    first, second = page.split('<section id="two"')
    assert first.count('<a href="#term-icc">ICC</a>') == 1
    assert '<a href="#term-icc">' not in second
    assert second.count('<a href="#term-ripa">RIPA</a>') == 1
    assert re.findall(r'<dt id="term-(\w+)">', page) == ["icc", "ripa"]
    assert "Terms" not in summary_page(Summary("T", "H"))


def test_a_terminal_explains_terms_below_the_tables() -> None:
    table = Table.of("t", "", [Column("measure", "name"), Column("ICC", "number")], [("dbwa", 0.5)])
    *_, first, second = plain_text(Summary("T", "H", tables=(table,)), width=200).strip().splitlines()
    assert first.startswith("DB/WA: direct bias")
    assert second.startswith("ICC: intraclass correlation")
    assert second.endswith("1: no measurement error")  # no pointer to a page that an installed package does not have


def test_readers_see_display_names_and_files_have_those_that_are_typed() -> None:
    table = Table.of("t", "", [Column("measure", "name"), Column("test", "name")], [("nbm", "weat"), ("mine", None)])
    shown = plain_text(Summary("T", "", tables=(table,)))
    assert "NBM" in shown
    assert "WEAT" in shown
    assert "mine" in shown
    assert table_csv(table).splitlines()[1] == "nbm,weat"


def test_measures_and_tests_that_ship_have_display_names() -> None:
    for group, display_name in {"measure": measure_name, "association_test": display_name_of_test}.items():
        for name in bg.registry.names(group):
            assert display_name(name) == bg.registry.get(group, name).display_name != ""


def test_things_of_others_have_display_names_too() -> None:
    measure = replace(bg.registry.get("measure", "dbwa"), name="mine", display_name="My measure")
    bg.registry.register(measure)
    try:
        assert measure_name("mine") == "My measure"
        assert with_display_names({"data": ["mine", "other"]}) == {"data": ["My measure", "other"]}
    finally:
        bg.registry.unregister("measure", "mine")
    assert measure_name("mine") == "mine"


@pytest.mark.parametrize(
    ("name", "shown"),
    [("weat7", "WEAT 7"), ("weat6b", "WEAT 6b"), ("xweat7_es", "XWEAT 7 (Spanish)"), ("mine", "mine")],
)
def test_a_lexicon_has_one_name(name: str, shown: str) -> None:
    assert lexicon_name(name) == shown
    title = bg.lexicons.lexicon(name).title if name != "mine" else shown
    assert title.startswith(shown.removesuffix(" (Spanish)"))


def test_lists_are_named_by_what_they_hold_and_where_they_are_from() -> None:
    assert list_name("weat7:math") == "math (WEAT 7)"
    assert lists_name("weat7:math", "weat7:arts") == "math / arts (WEAT 7)"
    bank = "definitional_male-Bolukbasi_et_al_2016", "definitional_female-Bolukbasi_et_al_2016"
    assert lists_name(*bank) == "definitional male / definitional female (Bolukbasi et al. 2016)"
    assert lists_name("weat7:math", "weat8:arts") == "math (WEAT 7) / arts (WEAT 8)"
    assert lists_name("given words", "well-known words") == "given words / well-known words"


def test_charts_name_measures_and_leave_words_alone() -> None:
    spec = {"datasets": {"d": [{"measure": "dbwa", "test": "mac", "word": "mac"}]}, "sort": ["dbwa", "ripa"]}
    assert with_display_names(spec) == {
        "datasets": {"d": [{"measure": "DB/WA", "test": "MAC", "word": "mac"}]}, "sort": ["DB/WA", "RIPA"],
    }  # fmt: skip


def test_no_two_shipped_tests_ask_the_same_question() -> None:
    from biasgauge.audits.parts.breakdowns import wording
    from biasgauge.lexicons import queries_from_lexicons

    tests = [bg.lexicons.lexicon(name) for name in ("weat1", "weat2", "weat3", "weat4", "weat5", "weat6", "weat6b",
                                                    "weat7", "weat8", "weat9", "weat10")]  # fmt: skip
    asked = [wording(question)[0] for question in queries_from_lexicons(tests)]
    assert len(set(asked)) == len(tests)
