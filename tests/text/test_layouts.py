"""Where documents start and end in each layout, and what is said about a file that is not in it."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.errors import CorpusError, ParameterError
from biasgauge.text import TokenCorpus, read_corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Matches = Callable[[TokenCorpus, Sequence[Sequence[Sequence[str]]]], None]


WIKITEXT = """\x20
 = Valkyria Chronicles III = \n\x20
 Senjō no Valkyria 3 : <unk> Chronicles is a role @-@ playing game .\x20
 = = Gameplay = =\x20
\x20
 As with <unk> games <formula> x .\x20
 <formula>\x20
\x20
 = = = Story = = =\x20
\x20
 = x + y =\x20
 is no title .\x20
\x20
 = Tower Building =\x20
 <formula>\x20
\x20
 The Tower .\x20
\x20
 = Empty =\x20
\x20
"""


BOOK = """CHAPTER ONE


  It was a dark
and stormy night;
the rain fell.
\t
Nobody spoke
"""


def test_paragraphs_are_joined_up_to_a_blank_line(tmp_path: Path, matches: Matches) -> None:
    path = tmp_path / "book.txt"
    path.write_text(BOOK, encoding="utf-8")
    chapter = ["chapter", "one"]
    night = ["it", "was", "a", "dark", "and", "stormy", "night", "the", "rain", "fell"]
    nobody = ["nobody", "spoke"]
    for documents in ("line", "blank-line"):
        matches(read_corpus(path, layout="paragraphs", documents=documents), [[chapter], [night], [nobody]])
    matches(read_corpus(path, layout="paragraphs", documents="file"), [[chapter, night, nobody]])


def test_wikitext_articles(tmp_path: Path, matches: Matches) -> None:
    path = tmp_path / "wiki.train.tokens"
    path.write_text(WIKITEXT, encoding="utf-8")
    expected = [
        [
            ["valkyria", "chronicles", "iii"],
            ["senjō", "no", "valkyria", "chronicles", "is", "a", "role", "playing", "game"],
            ["gameplay"],
            ["as", "with", "games", "x"],
            ["story"],
            ["x", "y"],
            ["is", "no", "title"],
        ],
        [["tower", "building"], ["the", "tower"]],
        [["empty"]],
    ]
    corpus = read_corpus(path)
    matches(corpus, expected)
    assert corpus.settings["files"][0]["layout"] == "wikitext"


def test_wikitext_keeps_unknown_words_for_tokenizers_that_can(tmp_path: Path) -> None:
    path = tmp_path / "any.txt"
    path.write_text(WIKITEXT, encoding="utf-8")
    corpus = read_corpus(path, layout="wikitext", tokenizer="whitespace")
    assert corpus.document(0)[1][:6] == ["Senjō", "no", "Valkyria", "3", ":", "<unk>"]
    assert corpus.document(0)[0] == ["Valkyria", "Chronicles", "III"]
    assert "<formula>" not in corpus.words
    assert corpus.document(0)[5] == ["x", "+", "y"]


def test_text_before_the_first_title_is_a_document(tmp_path: Path, matches: Matches) -> None:
    path = tmp_path / "a"
    path.write_text("before\n\n= Title =\n\ninside\n", encoding="utf-8")
    matches(read_corpus(path, layout="wikitext"), [[["before"]], [["title"], ["inside"]]])


def test_file_without_titles_is_not_wikitext(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("just\ntext\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="WikiText"):
        read_corpus(tmp_path / "a", layout="wikitext")


def test_table_by_name_and_by_number(tmp_path: Path, matches: Matches) -> None:
    (tmp_path / "a.tsv").write_text('label\ttext\r\npos\tSays "so" now\n\nneg\t\nneg\tNo\ttoo many\n', encoding="utf-8")
    by_name = read_corpus(tmp_path / "a.tsv", field="text")
    matches(by_name, [[["says", "so", "now"]], [["no"]]])
    assert by_name.settings["empty_documents"] == 1
    matches(read_corpus(tmp_path / "a.tsv", field=2), [[["text"]], [["says", "so", "now"]], [["no"]]])


def test_csv_has_quotes_and_line_breaks_inside(tmp_path: Path, matches: Matches) -> None:
    (tmp_path / "a.csv").write_text('id,text\n1,"One, two\nthree ""four"""\n\n2,five\n', encoding="utf-8")
    matches(read_corpus(tmp_path / "a.csv", field="text"), [[["one", "two"], ["three", "four"]], [["five"]]])


def test_json_lines(tmp_path: Path, matches: Matches) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"body": "One\\ntwo\\r\\nthree", "id": 1}\n\n{"body": null}\n{"body": "caf\\u00e9"}\n', encoding="utf-8"
    )
    corpus = read_corpus(path, field="body")
    matches(corpus, [[["one"], ["two"], ["three"]], [["café"]]])
    assert corpus.settings["empty_documents"] == 1


text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@settings(deadline=None, max_examples=60)
@given(texts=st.lists(text, min_size=1, max_size=6), name=st.sampled_from(["jsonl", "csv"]))
def test_records_come_back_from_what_the_standard_library_writes(
    texts: list[str], name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any text, also with line breaks and quotes, gives the corpus of the strings themselves."""
    texts = [*texts, "end"]
    path = tmp_path_factory.mktemp("records") / f"records.{name}"
    if name == "jsonl":
        path.write_text("".join(json.dumps({"t": one}) + "\n" for one in texts), encoding="utf-8")
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["t"], *([one] for one in texts)])
    assert read_corpus(path, field="t").checksum == read_corpus(iter(texts)).checksum


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        ("a.txt", "lines"),
        ("a", "lines"),
        ("a.tsv.gz", "tsv"),
        ("A.CSV", "csv"),
        ("a.jsonl.zst", "jsonl"),
        ("a.ndjson.xz", "jsonl"),
        ("a.json", "lines"),
        ("wiki.train.tokens", "wikitext"),
        ("wiki.test.raw.zst", "wikitext"),
        ("my.tokens", "lines"),
        ("tsv", "lines"),
    ],
)
def test_layout_by_name_only_where_it_is_certain(name: str, layout: str, tmp_path: Path) -> None:
    table = "text\na\n"
    contents = {"tsv": table, "csv": table, "lines": table, "jsonl": '{"text": "a"}\n', "wikitext": "= A =\n\na\n"}
    (tmp_path / name).write_text(contents[layout], encoding="utf-8")
    field = "text" if layout in {"tsv", "csv", "jsonl"} else None
    assert read_corpus(tmp_path / name, field=field).settings["files"][0]["layout"] == layout


TSV, CSV, JSONL = ({"layout": layout, "field": "t"} for layout in ("tsv", "csv", "jsonl"))

BAD: dict[str, tuple[bytes, dict[str, Any], str]] = {
    "binary": (b"some\ntext\0more", {}, r"line 2: looks like a binary file \(it has a NUL byte\)"),
    "not UTF-8": ("a\nb\ncaf\u00e9\n".encode("latin1"), {}, r"line 3: is not UTF-8 \(byte 0xe9\); convert the file"),
    "cut letter": ("ab\ncaf\u00e9".encode()[:-1], {}, r"line 2: is not UTF-8"),
    "UTF-16": ("a b".encode("utf-16"), {}, r"is UTF-16 text; convert it first: iconv"),
    "empty": (b"", {}, r"there are no words in the corpus: 0 lines"),
    "no words": (b"1 2 3\n---\n", {}, r"there are no words in the corpus: 2 lines, none .* tokenizer words"),
    "gzip cut short": (b"\x1f\x8b\x08\x00", {}, r"byte 0: the gzip stream is damaged or cut short"),
    "tsv without it": (
        b"a\tb\n1\t2\n",
        TSV,
        r"line 1: has no column 't' \(field=…, --field\): the first row has 'a', 'b'",
    ),
    "tsv, no field": (b"a\tb\n", {"layout": "tsv"}, r"line 1: name the column of the text \(field=…, --field\)"),
    "tsv, too few columns": (b"a\tt\n1\t2\n3\n", TSV, r"line 3: has 1 columns, expected at least 2"),
    "csv with an open quote": (b't\n"a\nb\n', CSV, r"line 3: is not separated text"),
    "csv with a quote in the middle": (b't\n"a"b\n', CSV, r"line 2: is not separated text"),
    "no JSON": (b'{"t": "a"}\n{"t": \n', JSONL, r"line 2: is not JSON \(.*\); expected one object"),
    "deep JSON": (b"[" * 200_000, JSONL, r"line 1: is not JSON"),
    "JSON list": (b'["a"]\n', JSONL, r"line 1: is a list, expected a JSON object"),
    "JSON without it": (b'{"a": 1}\n', JSONL, r"line 1: has no field 't' \(field=…, --field\): the object has 'a'"),
    "JSON, no field": (b'{"a": 1}\n', {"layout": "jsonl"}, r"line 1: name the field of the text \(field=…, --field\)"),
    "JSON number": (b'{"t": "a"}\n{"t": 5}\n', JSONL, r"line 2: the field 't' is a number, expected text"),
    "JSON half pair": (b'{"t": "\\ud800"}\n', JSONL, r"line 1: .* half of a surrogate pair"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_file_is_one_sentence_with_its_place(name: str, tmp_path: Path) -> None:
    content, options, sentence = BAD[name]
    path = tmp_path / "bad file"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=sentence) as raised:
        read_corpus(path, **options)
    assert "\n" not in str(raised.value)
    if "no words" not in sentence:
        assert str(raised.value).startswith(str(path))


@settings(deadline=None, max_examples=300)
@given(
    content=st.binary(max_size=60)
    | st.text(st.sampled_from('{}[]"t:, \t\nab=1\\u\0é\r'), max_size=60).map(str.encode)
    | st.sampled_from([b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"]).flatmap(
        lambda magic: st.binary(max_size=40).map(lambda rest: magic + rest)
    ),
    layout=st.sampled_from(["lines", "wikitext", "tsv", "csv", "jsonl"]),
    number=st.booleans(),
)
def test_any_bytes_are_a_corpus_or_one_sentence(
    content: bytes, layout: str, tmp_path_factory: pytest.TempPathFactory, *, number: bool
) -> None:
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(content)
    field = None if layout in {"lines", "wikitext"} else 1 if number and layout != "jsonl" else "t"
    try:
        corpus = read_corpus(path, layout=layout, field=field)
    except CorpusError as problem:
        assert str(problem).isprintable(), problem  # noqa: PT017 - either outcome is fine
    else:
        corpus.check()


def test_record_that_is_too_long_to_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasgauge.text.corpus_reader.LONGEST_RECORD", 100)
    monkeypatch.setattr("biasgauge.text.corpus_reader.READ_BYTES", 64)
    (tmp_path / "a.jsonl").write_text('{"t": "a"}\n{"t": "' + "long " * 50, encoding="utf-8")
    with pytest.raises(CorpusError, match=r"line 2.*longer"):
        read_corpus(tmp_path / "a.jsonl", field="t")


def test_csv_cell_beyond_the_bound_of_the_library(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t\n" + "word " * 40_000, encoding="utf-8")
    assert read_corpus(tmp_path / "a.csv", field="t").counts.tolist() == [40_000]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"layout": "json"}, r"auto, conllu, csv, jsonl, lines, .*wikitext\. Got 'json'\. Did you mean 'jsonl'"),
        ({"documents": "lines"}, r"'documents' parameter .* Got 'lines'\. Did you mean 'line'"),
        ({"field": 0}, r"'field' parameter of read_corpus must be a column from 1 on\. Got 0"),
        ({"field": True}, r"'field' parameter .* a name or the number of a column"),
        ({"field": ""}, r"'field' parameter .* a name or the number of a column"),
        ({"field": 1, "layout": "jsonl"}, r"must be the name of a field\. Got 1"),
        ({"field": "text", "layout": "lines"}, r"is for tables and JSON lines, not for 'lines'\. Got 'text'"),
    ],
)
def test_impossible_settings(options: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a", encoding="utf-8")
    with pytest.raises(ParameterError, match=sentence):
        read_corpus(tmp_path / "a", **options)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (5, "must be a path, a list of paths, or an iterable of documents in a fixed order. Got int"),
        ({"a b", "c"}, "in a fixed order. Got set"),
        (b"bytes", "Got bytes"),
        ([], r"as a list, must hold paths. Got \[\]"),
        ([["a", "b"]], "as a list, must hold paths"),
        (iter([1]), "must give strings. Got int"),
    ],
)
def test_impossible_sources(source: Any, sentence: str) -> None:  # noqa: ANN401 - on purpose
    with pytest.raises(ParameterError, match=sentence):
        read_corpus(source)


def test_layout_and_field_are_for_files() -> None:
    with pytest.raises(ParameterError, match="documents"):
        read_corpus(iter(["a"]), field="text")


@pytest.mark.parametrize("path", ["nowhere.txt", "the cat sat on the mat " * 30, "nul\0byte"])
def test_missing_file_says_how_to_give_texts(path: str) -> None:
    with pytest.raises(
        CorpusError, match=r"there is no such file; check the path \(texts .* iter\(texts\)\)"
    ) as raised:
        read_corpus([path])
    assert len(str(raised.value)) < 400


def test_folder_without_files(tmp_path: Path) -> None:
    (tmp_path / ".hidden").write_text("a", encoding="utf-8")
    with pytest.raises(CorpusError, match="the folder holds no files"):
        read_corpus(tmp_path)


def test_device_is_no_text() -> None:
    with pytest.raises(CorpusError, match="neither"):
        read_corpus("/dev/null")
