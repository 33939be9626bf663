"""CoNLL-U, web archives and R: where documents begin, and what is said of damaged files."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.vectors.test_r_files import generic, number, pairs, rds, reals, strings

from biasgauge.errors import CorpusError
from biasgauge.text import read_corpus, read_documents

if TYPE_CHECKING:
    from pathlib import Path

CONLLU = """\
# newdoc id = a
# sent_id = 1
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\t_\t_\t_\t_\t_\t_
2\tle\tle\tDET\t_\t_\t_\t_\t_\t_
3\tpain\tpain\tNOUN\t_\t_\t_\t_\t_\t_
3.1\tmangé\tmanger\tVERB\t_\t_\t_\t_\t_\t_

# sent_id = 2
1\tOui\toui\tINTJ\t_\t_\t_\t_\t_\t_
# newdoc id = b

1\tNon\tnon\tINTJ\t_\t_\t_\t_\t_\t_
"""


def documents(path: Path, **settings: Any) -> list[list[str]]:  # noqa: ANN401 - those of read_corpus
    """Words of each document."""
    corpus = read_corpus(path, tokenizer="whitespace", **settings)
    count = len(corpus.documents) - 1
    return [[word for line in corpus.document(number) for word in line] for number in range(count)]


def test_conllu_has_the_words_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU.replace("# newdoc id = b\n\n", "\n# newdoc id = b\n"), encoding="utf-8")
    assert documents(path) == [["du", "pain", "Oui"], ["Non"]]
    assert documents(path, field="lemma") == [["de", "le", "pain", "oui"], ["non"]]


def test_conllu_without_documents_has_sentences(tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    text = "".join(line for line in CONLLU.splitlines(keepends=True) if "newdoc" not in line)
    path.write_text(text.replace("\n", "\r\n"), encoding="utf-8")
    assert documents(path) == [["du", "pain"], ["Oui"], ["Non"]]


@pytest.mark.parametrize("line", ["the cat", "x\tthe\tthe", "1", "1-\tx\ty"])
def test_other_lines_are_no_conllu(line: str, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(f"# text\n{line}\n")
    with pytest.raises(CorpusError, match=r"line 2: is no line of CoNLL-U"):
        read_corpus(tmp_path / "a.conllu")
    with pytest.raises(CorpusError, match="has form and lemma"):
        read_corpus(tmp_path / "a.conllu", field="upos")


def record(content: bytes, kind: str = "conversion", **fields: str) -> bytes:
    lines = {"WARC-Type": kind, "Content-Type": "text/plain", "Content-Length": str(len(content)), **fields}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return b"WARC/1.0\r\n" + head.encode() + b"\r\n" + content + b"\r\n\r\n"


words = st.lists(st.from_regex(r"[a-zà-ü]{1,6}", fullmatch=True), min_size=1, max_size=8)


@given(texts=st.lists(words, min_size=1, max_size=5), packed=st.booleans())
def test_web_archives(texts: list[list[str]], tmp_path_factory: pytest.TempPathFactory, *, packed: bool) -> None:
    path = tmp_path_factory.mktemp("web") / "crawl.warc.wet.gz"
    records = [record(b"software: x", "warcinfo"), *(record("\n".join(text).encode()) for text in texts)]
    # as Common Crawl has them: each record gzipped by itself
    path.write_bytes(b"".join(map(gzip.compress, records)) if packed else b"".join(records))
    assert documents(path) == texts


def test_records_are_read_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasgauge.text.readers.documents.READ_BYTES", 7)
    path = tmp_path / "a.wet"
    path.write_bytes(record(b"one two") + record("drei vier fünf".encode()) + b"\r\n")
    assert documents(path) == [["one", "two"], ["drei", "vier", "fünf"]]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "no records"),
        (b"plain text", "no end of its header"),
        (b"plain text\r\n\r\n", "WARC/1.0"),
        (record(b"<html>", "response"), "1 web pages and no text; give the WET file"),
        (record(b"text", **{"Content-Length": "x"}), "Content-Length"),
        (record(b"text", **{"Content-Length": "-4"}), "Content-Length"),
        (record(b"text", **{"Content-Length": "100"}), "cut short"),
        (record(b"text", **{"Content-Length": "99999999999"}), "at most"),
    ],
)
def test_other_archives_are_refused(content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(content)
    with pytest.raises(CorpusError, match=sentence):
        read_corpus(tmp_path / "a.warc")


def test_texts_of_r(tmp_path: Path) -> None:
    vector = tmp_path / "corpus.rds"
    vector.write_bytes(gzip.compress(rds(strings(["the cat", None, "die Katze"]))))
    assert documents(vector) == [["the", "cat"], ["die", "Katze"]]
    frame = tmp_path / "speeches.rds"
    kind = pairs(names=strings(["year", "text"]), **{"class": strings(["data.frame"])})
    frame.write_bytes(rds(generic(reals([1990, 1991]), strings(["a b", "c"]), flags=0x200) + kind))
    assert documents(frame, field="text") == [["a", "b"], ["c"]]
    with pytest.raises(CorpusError, match=r"has no column 'body', .* found 'year', 'text'"):
        read_corpus(frame, field="body")
    with pytest.raises(CorpusError, match="name the column"):
        read_corpus(frame)
    frame.write_bytes(b"")
    with pytest.raises(CorpusError, match="empty"):
        read_corpus(frame)
    frame.write_bytes(rds(number(16, 2**29)))
    with pytest.raises(CorpusError, match="more than the file holds"):
        read_corpus(frame)


@pytest.mark.parametrize("compressed", [False, True])
def test_texts_of_parquet(tmp_path: Path, *, compressed: bool) -> None:
    """Three thousand rows, which are more than a batch, in several groups."""
    texts = [f"w{row} cat" if row % 7 else None for row in range(3000)]
    path = tmp_path / "posts.parquet"
    pq.write_table(pa.table({"year": range(3000), "text": texts}), path, row_group_size=700)
    if compressed:
        packed = gzip.compress(path.read_bytes())
        path = tmp_path / "posts.parquet.gz"
        path.write_bytes(packed)
    assert documents(path, field="text") == [[f"w{row}", "cat"] for row in range(3000) if row % 7]


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        (None, r"name the column of the text \(field=…, --field\); its columns: 'year', 'text'"),
        ("body", "has no column 'body'; its columns: 'year', 'text'"),
        ("year", r"holds no text in the column 'year' \(row 1\)"),
    ],
)
def test_columns_of_parquet_are_named(field: str | None, sentence: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({"year": [1], "text": ["a"]}), tmp_path / "a.parquet")
    with pytest.raises(CorpusError, match=sentence):
        read_corpus(tmp_path / "a.parquet", field=field)


def test_parquet_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    """A thousand equal texts of a megabyte are a gigabyte in memory, and some kilobytes on the disk."""
    path = tmp_path / "bomb.parquet"
    with pq.ParquetWriter(path, pa.schema([("text", pa.string())]), use_dictionary=False, compression="zstd") as file:
        for _ in range(8):
            file.write_table(pa.table({"text": ["a " * 2**19] * 50}))
    assert path.stat().st_size < 2**20
    with pytest.raises(CorpusError, match="unpacks to more than 256"):
        read_corpus(path, field="text")


def test_corpora_of_quanteda_have_their_variables(tmp_path: Path) -> None:
    kind = pairs(names=strings(["party", "year"]), **{"class": strings(["data.frame"])})
    variables = generic(strings(["R", None, "D"]), reals([1990, 1991, 1992]), flags=0x200) + kind
    marks = pairs(**{"class": strings(["corpus", "character"])}, docvars=variables)
    path = tmp_path / "corpus.rds"
    path.write_bytes(rds(strings(["a b", "c", "d"], flags=0x200) + marks))
    table = read_documents(path, ["party", "year"])
    assert [[*table.corpus.document(row)] for row in range(3)] == [[["a", "b"]], [["c"]], [["d"]]]
    assert table.covariates["year"].tolist() == [1990, 1991, 1992]
    assert table.covariates["party"].tolist()[::2] == ["R", "D"]
    assert table.covariates["party"].isna().tolist() == [False, True, False]
    with pytest.raises(CorpusError, match="has no column 'gender'; its columns: 'party', 'year', 'text'"):
        read_documents(path, ["gender"])


def test_data_frames_of_r_have_covariates(tmp_path: Path) -> None:
    names = pairs(names=strings(["body", "year", "votes"]), **{"class": strings(["data.frame"])})
    columns = (strings(["a", "b"]), reals([1990.5, float("nan")]), number(13, 2, 7, -(2**31)))
    path = tmp_path / "speeches.rds"
    path.write_bytes(rds(generic(*columns, flags=0x200) + names))
    table = read_documents(path, ["year", "votes"], text="body")
    assert table.covariates["year"].isna().tolist() == [False, True]
    assert table.covariates["votes"].isna().tolist() == [False, True]
    assert table.covariates["votes"][0] == 7
    ragged = generic(strings(["a", "b"]), reals([1.0]), reals([1.0, 2.0]), flags=0x200) + names
    path.write_bytes(rds(ragged))
    with pytest.raises(CorpusError, match="has 1 cells in the column 'year' and 2 in 'body'"):
        read_documents(path, ["year"], text="body")
    path.write_bytes(rds(reals([1.0])))
    with pytest.raises(CorpusError, match="holds 0 data frames or corpora"):
        read_documents(path, ["year"])


def test_parquet_with_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"text": ["abcdefgh"]}), path, use_dictionary=False, compression="none", write_statistics=False
    )
    content = path.read_bytes()
    assert content.count(b"abcdefgh") == 1
    path.write_bytes(content.replace(b"abcdefgh", b"abc\xffefgh"))
    with pytest.raises(CorpusError, match="is not a Parquet file that can be read"):
        read_corpus(path, field="text")
