"""A text becomes the same numbers whatever it is packed in, wherever it lies and however it is cut."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zstandard
from hypothesis import given as holds_for
from hypothesis import settings
from hypothesis import strategies as st

from biasgauge.errors import CorpusError
from biasgauge.text import TokenCorpus, open_corpus, read_corpus, writer
from biasgauge.text.corpus_reader import LONGEST_PIECE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    Matches = Callable[[TokenCorpus, Sequence[Sequence[Sequence[str]]]], None]

TEXT = "The cat sat.\n\nA cat, the cat!\n* * *\nDogs don't bark\n"
WORDS = [[["the", "cat", "sat"]], [["a", "cat", "the", "cat"]], [["dogs", "don't", "bark"]]]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_lines_by_hand(text: Path) -> None:
    corpus = read_corpus(text)
    assert corpus.words == ("cat", "the", "a", "bark", "dogs", "don't", "sat")
    assert corpus.counts.tolist() == [3, 2, 1, 1, 1, 1, 1]
    assert corpus.tokens.tolist() == [1, 0, 6, 2, 0, 1, 0, 4, 5, 3]
    assert corpus.lines.tolist() == [0, 3, 7, 10]
    assert corpus.documents.tolist() == [0, 1, 2, 3]
    assert corpus.tokens.dtype == np.uint32
    assert corpus.lines.dtype == corpus.documents.dtype == corpus.counts.dtype == np.int64
    assert corpus.settings["empty_lines"] == 2
    assert corpus.settings["empty_documents"] == 0
    assert corpus.document(1) == [["a", "cat", "the", "cat"]]
    assert "documents=3" in repr(corpus)
    assert not corpus.tokens.flags.writeable


def test_settings_say_how_it_was_made(text: Path) -> None:
    corpus = read_corpus(text, documents="file")
    (file,) = corpus.settings["files"]
    assert file == {"name": "text.txt", "bytes": len(TEXT), "sha256": _sha256(text), "layout": "lines"}
    assert corpus.settings["tokenizer"]["name"] == "words"
    assert (corpus.settings["layout"], corpus.settings["documents"]) == ("auto", "file")
    assert json.loads(json.dumps(corpus.to_dict()))["documents"] == 1


def _sha256(path: Path) -> str:
    return subprocess.run(["sha256sum", str(path)], capture_output=True, text=True, check=True).stdout.split()[0]  # noqa: S607 - the system's own tool as the witness


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gz": lambda data: gzip.compress(data, mtime=0),
    "xz": lzma.compress,
    "zst": lambda data: zstandard.ZstdCompressor().compress(data),
}


@pytest.mark.parametrize("packed", PACKERS)
def test_every_packing_gives_the_same_corpus(packed: str, text: Path, tmp_path: Path, matches: Matches) -> None:
    path = tmp_path / "any name at all"
    path.write_bytes(PACKERS[packed](TEXT.encode()))
    corpus = read_corpus(path)
    matches(corpus, WORDS)
    assert corpus.checksum == read_corpus(text).checksum == read_corpus(iter(TEXT.splitlines())).checksum


def test_byte_order_mark_and_line_ends_change_nothing(text: Path, tmp_path: Path) -> None:
    for name, content in {
        "bom": b"\xef\xbb\xbf" + TEXT.encode(),
        "crlf": TEXT.replace("\n", "\r\n").encode(),
        "no end": TEXT.rstrip("\n").encode(),
    }.items():
        (tmp_path / name).write_bytes(content)
        assert read_corpus(tmp_path / name).checksum == read_corpus(text).checksum, name


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        ("line", WORDS),
        ("blank-line", [[WORDS[0][0]], [WORDS[1][0], WORDS[2][0]]]),
        ("file", [[WORDS[0][0], WORDS[1][0], WORDS[2][0]]]),
    ],
)
def test_what_is_a_document(documents: str, expected: Any, text: Path, matches: Matches) -> None:  # noqa: ANN401 - nested lists
    matches(read_corpus(text, documents=documents), expected)


def test_a_document_never_reaches_into_the_next_file(tmp_path: Path, matches: Matches) -> None:
    (tmp_path / "a").write_text("one\ntwo", encoding="utf-8")
    (tmp_path / "b").write_text("three\n\n\nfour\n", encoding="utf-8")
    expected = [[["one"], ["two"]], [["three"]], [["four"]]]
    matches(read_corpus(tmp_path, documents="blank-line"), expected)


def test_folders_are_read_in_the_order_of_their_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "texts"
    for name in ("b.txt", "a/z.txt", "a.txt", "c/d/e.txt", ".hidden.txt", ".git/config", "Z.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(re.sub(r"\W", "", name), encoding="utf-8")
    corpus = read_corpus(folder)
    names = [file["name"] for file in corpus.settings["files"]]
    assert names == ["Z.txt", "a.txt", "a/z.txt", "b.txt", "c/d/e.txt"]
    assert [corpus.document(number) for number in range(5)] == [
        [["ztxt"]],
        [["atxt"]],
        [["aztxt"]],
        [["btxt"]],
        [["cdetxt"]],
    ]

    walk = os.walk

    def backwards(*arguments: Any, **options: Any) -> Iterator[tuple[str, list[str], list[str]]]:  # noqa: ANN401 - any
        for here, folders, names in walk(*arguments, **options):
            folders.reverse()
            yield here, folders, names[::-1]

    monkeypatch.setattr(os, "walk", backwards)
    assert read_corpus(folder).checksum == corpus.checksum


def test_a_list_keeps_its_order(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).write_text(name * 3, encoding="utf-8")
    corpus = read_corpus([tmp_path / "b", str(tmp_path / "a")])
    assert [corpus.document(0), corpus.document(1)] == [[["bbb"]], [["aaa"]]]


def test_same_text_elsewhere_has_the_same_checksum(text: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(text, other / "another name.log")
    assert read_corpus(text).checksum == read_corpus(other).checksum


def test_checksum_tells_words_tokens_lines_and_documents_apart() -> None:
    given_texts = [
        ["a b", "c"],
        ["a", "b c"],
        ["a b c"],
        ["a b\nc"],
        ["a c", "b"],
        ["a b", "d"],
        ["ab", "c"],
        ["a b", "c c"],
    ]
    checksums = {read_corpus(iter(texts)).checksum for texts in given_texts}
    assert len(checksums) == len(given_texts)


line = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6), max_size=6)


@settings(deadline=None, max_examples=80)
@holds_for(texts=st.lists(st.lists(line, max_size=4), min_size=1, max_size=6))
def test_documents_come_back_as_they_were(texts: list[list[list[str]]], matches: Matches) -> None:
    clean = [[["".join(word.split()) or "x" for word in row] for row in document] for document in texts]
    if not any(row for document in clean for row in document):
        clean[0] = [["x"]]
    corpus = read_corpus(("\n".join(" ".join(row) for row in document) for document in clean), tokenizer="whitespace")
    matches(corpus, clean)


@settings(deadline=None, max_examples=60)
@holds_for(
    text=st.text(st.sampled_from("ab’'é\n \tÉ٣中\U00010428\u0301"), max_size=60),
    block=st.sampled_from([1, 2, 3, 7, 64]),
)
def test_blocks_do_not_show(text: str, block: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """However the bytes are cut into blocks, also inside a letter or a line, the corpus is the same."""
    path = tmp_path_factory.mktemp("blocks") / "text"
    path.write_text(text + "\nend", encoding="utf-8")
    for documents in ("line", "blank-line"):
        whole = read_corpus(path, documents=documents)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("biasgauge.text.corpus_reader.READ_BYTES", block)
            patch.setattr(writer, "SPILL_NUMBERS", block)
            assert read_corpus(path, documents=documents).checksum == whole.checksum


def test_a_line_of_any_length_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasgauge.text.corpus_reader.READ_BYTES", 50)
    monkeypatch.setattr("biasgauge.text.corpus_reader.LONGEST_PIECE", 64)
    words = [f"w{chr(97 + number % 26)}é" for number in range(3_000)]
    path = tmp_path / "long"
    path.write_text("first\n" + " ".join(words) + "\nlast\n" + " ".join(words), encoding="utf-8")
    corpus = read_corpus(path)
    assert corpus.lines.tolist() == [0, 1, 3_001, 3_002, 6_002]
    assert len(corpus.documents) == 5
    assert corpus.document(1) == corpus.document(3) == [words]


def test_megabytes_without_a_blank_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "dna").write_bytes(b"title\n" + b"acgt" * (LONGEST_PIECE // 4 + 2**19))
    with pytest.raises(CorpusError, match=r"line 2.*without"):
        read_corpus(tmp_path / "dna")


def test_one_line_is_a_corpus_with_a_notice() -> None:
    corpus = read_corpus(iter(["only this"]))
    assert corpus.settings["notices"] == [
        "the corpus is a single document, so every bootstrap sample of it is the same"
    ]
    assert read_corpus(iter(["a", "b"])).settings["notices"] == []


def test_temporary_folder_lives_as_long_as_the_corpus(text: Path) -> None:
    corpus = read_corpus(text)
    folder = corpus.path
    tokens = corpus.tokens
    assert open_corpus(folder).checksum == corpus.checksum
    del corpus
    assert not folder.exists()
    assert tokens[0] == 1


def test_progress_counts_the_bytes_of_all_files(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text("some words\n" * 1_000, encoding="utf-8")
    told: list[tuple[int, int]] = []
    read_corpus(tmp_path, progress=lambda *numbers: told.append(numbers))
    assert told == sorted(told)
    assert told[-1] == (33_000, 33_000)
    assert len(told) >= 3


def test_same_bytes_whatever_the_hash_seed(text: Path, tmp_path: Path) -> None:
    contents = []
    for seed in ("0", "1", "12345"):
        out = tmp_path / seed
        code = "import sys; from biasgauge.text import read_corpus; read_corpus(sys.argv[1], out=sys.argv[2])"
        subprocess.run(
            [sys.executable, "-c", code, str(text), str(out)], check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        )
        contents.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert contents[0] == contents[1] == contents[2]
