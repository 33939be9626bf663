"""Checksums, tables and dictionaries of lexicons."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING

import pytest

from biasgauge import registry
from biasgauge.lexicons import (
    AssociationTest,
    Lexicon,
    Pairs,
    Translations,
    lexicon,
    parse_lexicon,
    read_lexicon,
)
from biasgauge.lexicons.listing import LexiconContent, show_lexicon

if TYPE_CHECKING:
    from pathlib import Path

COMPACT = 'kind="test"\nx={words=["a","b"]}\ny={words=["c"]}\na={words=["d"]}\nb={words=["e"]}\n'
SPACIOUS = """
# the same, laid out otherwise, with another title and the tables in another order
title = "A test"
kind = 'test'
beware = ["nothing"]

[b]
words = ['e']
[a]
words = ['d']
[y]
words = ['c']
[x]
name = 'x'
words = [
  "a",  # first
  "b",
]
"""


def _read(tmp_path: Path, text: str) -> Lexicon:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return read_lexicon(path)


def test_checksum_does_not_depend_on_the_layout_of_the_file(tmp_path: Path) -> None:
    assert _read(tmp_path, COMPACT).checksum == _read(tmp_path, SPACIOUS).checksum


def test_checksum_does_not_depend_on_the_order_of_tables() -> None:
    one = parse_lexicon({"kind": "sets", "sets": {"p": ["a"], "q": ["b"]}})
    other = parse_lexicon({"kind": "sets", "sets": {"q": ["b"], "p": ["a"]}})
    assert one.checksum == other.checksum
    assert list(one.sets) != list(other.sets)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"a","b"', '"b","a"'),  # order may pair words, so it counts
        ('"a","b"', '"a"'),
        ('"a","b"', '"A","b"'),
        ('"a","b"', '"a","b","b"'),
        ('["c"]', '["é"]'),
        ('["d"]', '["d","f"]'),
        ('["e"]', '["f"]'),
        ('kind="test"', 'kind="test"\nlanguage="es"'),
    ],
)
def test_checksum_changes_with_any_word(tmp_path: Path, before: str, after: str) -> None:
    assert _read(tmp_path, COMPACT).checksum != _read(tmp_path, COMPACT.replace(before, after)).checksum


def test_checksums_of_shipped_lexicons_are_all_different() -> None:
    checksums = {lexicon(name).checksum for name in registry.names("lexicon")}
    assert len(checksums) == len(registry.names("lexicon"))


def test_checksum_is_that_of_the_stated_canonical_text() -> None:
    # sha256 of {"kind":"words","language":"en","words":["nurse","pilot"]}
    expected = "ad8687389632143715fce81e7311c081146801f290b141a2cdc69b8b0a74e277"
    assert parse_lexicon({"kind": "words", "words": ["nurse", "pilot"]}).checksum == expected


@pytest.mark.parametrize("name", registry.names("lexicon"))
def test_a_dictionary_parses_back_to_an_equal_lexicon(name: str) -> None:
    original = lexicon(name)
    through_json = json.loads(json.dumps(original.to_dict()))
    assert parse_lexicon(through_json) == original


@pytest.mark.parametrize("name", registry.names("lexicon"))
def test_lexicons_survive_pickling_and_hash_alike(name: str) -> None:
    original = lexicon(name)
    copy = pickle.loads(pickle.dumps(original))  # noqa: S301  # our own bytes
    assert copy == original
    assert hash(copy) == hash(original)


@pytest.mark.parametrize("name", [name for name in registry.names("lexicon") if name != "xweat_es"])
def test_a_table_has_one_row_per_word_of_each_set(name: str) -> None:
    original = lexicon(name)
    rows = [(set_name, word) for set_name, words in original.sets.items() for word in words]
    frame = original.to_frame()
    assert list(zip(frame["set"], frame["word"], strict=True)) == rows


def test_tables_carry_what_is_specific_to_the_kind() -> None:
    pairs = lexicon("bolukbasi2016").to_frame()
    first = pairs[pairs["pair"] == 0]
    assert list(zip(first["set"], first["word"], strict=True)) == [("male", "man"), ("female", "woman")]
    assert set(lexicon("weat7").to_frame()["label"]) == {"math", "arts", "male terms", "female terms"}
    values = lexicon("occ16_stereotypical").to_frame()
    assert values.loc[values["word"] == "accountant", "value"].item() == 0.4
    forms = lexicon("xweat_es").to_frame()
    assert list(forms.loc[forms["of"] == "educator", "word"]) == ["educador", "educadora"]
    seeds = lexicon("seed_bank").to_frame()
    assert len(seeds) == 7_213
    assert seeds["paper"].nunique() == 15  # counted: of 18 papers three (Sweeney, Kumar, Park) list no words
    groups = lexicon("race").to_frame()
    assert set(groups.loc[groups["word"] == "redneck", "group"]) == {"caucasian"}


def test_words_are_unique_in_first_seen_order() -> None:
    pairs = lexicon("du2021")
    assert isinstance(pairs, Pairs)
    assert pairs.sets["male"].count("his") == 2
    assert pairs.words.count("his") == 1
    assert pairs.words[:2] == ("boy", "boys")


def test_translations_show_both_languages() -> None:
    xweat = lexicon("xweat_es")
    assert isinstance(xweat, Translations)
    assert xweat.sets["en"][1] == "educator"
    assert xweat.sets["es"][1:3] == ("educador", "educadora")


def test_a_notebook_shows_the_words() -> None:
    test = lexicon("weat7")
    assert isinstance(test, AssociationTest)
    assert "algebra" in test._repr_html_()  # the name that notebooks call


def test_repr_is_short_however_long_the_list() -> None:
    assert repr(lexicon("google10k")) == "Words('google10k': 10,000 words in 1 set)"


@pytest.mark.parametrize("name", ["occ16", "bolukbasi2016", "weat7", "religion", "gender"])
def test_a_lexicon_to_read_goes_to_json_and_back(name: str) -> None:
    shown = show_lexicon(name)
    shape = json.loads(json.dumps(shown.to_dict()))
    assert shape["lexicon"]["checksum"] == lexicon(name).checksum
    again = LexiconContent.from_dict(shape)
    assert again.lexicon == lexicon(name)
    assert again.to_dict() == shape
