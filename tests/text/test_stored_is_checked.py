"""A corpus on disk is what its checksum says, or is refused; what is read is what is recorded."""

from __future__ import annotations

import gzip
import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.analyses.calibrate import Mentions, Shuffle, Swap, plant
from biasgauge.errors import CorpusError
from biasgauge.io.json_file import manifest_text
from biasgauge.text import TokenCorpus, open_corpus, read_corpus
from biasgauge.text.corpus_reader import Layout
from biasgauge.text.read import corpus_of
from biasgauge.text.training import train

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from biasgauge.analyses.calibrate import Edit
    from biasgauge.io.source import ByteSource

TEXT = "the cat sat on the mat\nthe dog sat on the log and the cat ran\n" * 50


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["tokens.npy", "counts.npy", "lines.npy", "documents.npy", "words.json"])
def test_every_altered_file_is_found_when_it_is_opened(name: str, text: Path, tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    read_corpus(text, out=out)
    open_corpus(out)
    path = out / name
    sound = path.read_bytes()
    for place in (len(sound) - 8, len(sound) - 4, len(sound) // 2):
        path.write_bytes(sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :])
        uses: tuple[Callable[[], object], ...] = (
            lambda: open_corpus(out),
            lambda: read_corpus(text, out=out),
            lambda: corpus_of(out),
        )
        for use in uses:
            with pytest.raises(CorpusError, match="remove"):
                use()
    path.write_bytes(sound)
    open_corpus(out)


@pytest.mark.parametrize("key", ["words", "tokens", "lines", "documents"])
@pytest.mark.parametrize("value", ["Infinity", "1e999", "null", "-1", "[]", '"many"'])
def test_sizes_that_are_no_sizes(key: str, value: str, text: Path, tmp_path: Path) -> None:
    out = tmp_path / "corpus"
    read_corpus(text, out=out)
    manifest = json.loads((out / "corpus.json").read_text())
    manifest["sizes"][key] = "HERE"
    del manifest["own_sha256"]
    (out / "corpus.json").write_text(json.dumps(manifest).replace('"HERE"', value))
    with pytest.raises(CorpusError, match="make the corpus again"):
        open_corpus(out)


def damaged(corpus: TokenCorpus, how: str) -> TokenCorpus:
    tokens, lines, documents = np.array(corpus.tokens), np.array(corpus.lines), np.array(corpus.documents)
    if how == "token":
        tokens[7] = 2**31
    elif how == "line":
        lines[3] = 2**40
    elif how == "line below":
        lines[3] = -(2**40)
    else:
        documents[2] = 2**40
    return replace(corpus, tokens=tokens, lines=lines, documents=documents)


@pytest.mark.parametrize("how", ["token", "line", "line below", "document"])
@pytest.mark.parametrize("algorithm", ["sgns", "cbow", "fasttext", "glove"])
def test_numbers_out_of_range_never_reach_compiled_loops(algorithm: str, how: str, text: Path, tmp_path: Path) -> None:
    """They crashed the process."""
    corpus = damaged(read_corpus(text, out=tmp_path / "corpus"), how)
    with pytest.raises(CorpusError, match="is damaged"):
        train(corpus, out=tmp_path / "models", algorithm=algorithm, dim=8, epochs=1, seeds=1, min_count=1)


@pytest.mark.parametrize("how", ["token", "line", "line below", "document"])
@pytest.mark.parametrize(
    "edit", [Swap((("cat", "dog"),)), Shuffle(), Mentions({"sat": 1.0}, (("cat", "dog"),))], ids=lambda edit: edit.name
)
def test_numbers_out_of_range_never_reach_the_loops_of_edits(edit: Edit, how: str, text: Path, tmp_path: Path) -> None:
    """A line that ends beyond the text let `Swap` write there; of a token too large, memory for a table was asked."""
    corpus = damaged(read_corpus(text, out=tmp_path / "corpus"), how)
    with pytest.raises(CorpusError, match="is damaged"):
        plant(corpus, edit, out=tmp_path / "planted")


@pytest.mark.parametrize("damage", ["another corpus", "other edits", "doses", "remarks"])
def test_a_planted_text_that_is_not_the_one_that_belongs_there(damage: str, text: Path, tmp_path: Path) -> None:
    """It was taken by its name: any corpus in its place was the text with the known answer."""
    corpus = read_corpus(text, out=tmp_path / "corpus")
    asked: dict[str, Any] = {"edits": Swap((("cat", "dog"),)), "out": tmp_path / "planted"}
    planted = plant(corpus, **asked)
    assert plant(corpus, **asked).to_dict() == planted.to_dict()
    place = planted.corpus.path / "corpus.json"
    manifest = json.loads(place.read_text())
    if damage == "another corpus":
        shutil.rmtree(place.parent)
        shutil.copytree(corpus.path, place.parent)
    else:
        kept = manifest["settings"]["planted"]
        kept |= {"other edits": {"random_state": 7}, "doses": {"doses": [[]]}, "remarks": {"remarks": 1}}[damage]
        place.write_text(manifest_text(manifest))
    with pytest.raises(CorpusError, match="planted"):
        plant(corpus, **asked)


def test_numbers_out_of_range_with_a_right_checksum(text: Path, tmp_path: Path) -> None:
    """Whoever writes the checksum themselves gets no further."""
    out = tmp_path / "corpus"
    corpus = damaged(read_corpus(text, out=out), "token")
    np.save(out / "tokens.npy", corpus.tokens)
    manifest = json.loads((out / "corpus.json").read_text())
    del manifest["own_sha256"]
    (out / "corpus.json").write_text(json.dumps({**manifest, "checksum": corpus.content_checksum()}))
    with pytest.raises(CorpusError, match="a token has the number"):
        open_corpus(out)


@pytest.mark.parametrize("packed", [False, True])
def test_a_text_that_changes_while_it_is_read(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, packed: bool
) -> None:
    """Its checksum was taken before; the words of another text must not be kept under it."""
    if packed:
        text = text.with_suffix(".txt.gz")
        text.write_bytes(gzip.compress(TEXT.encode()))
    read = Layout.read

    def changing(self: Layout, source: ByteSource, kind: str, sink: object) -> None:
        other = TEXT.replace("cat", "cow").encode()
        text.write_bytes(gzip.compress(other) if packed else other)
        read(self, source, kind, sink)  # type: ignore[arg-type]

    monkeypatch.setattr(Layout, "read", changing)
    with pytest.raises(CorpusError, match="changed"):
        read_corpus(text, out=tmp_path / "corpus")
    assert not (tmp_path / "corpus").exists()
