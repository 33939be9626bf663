"""A corpus that is kept: opened again when it is the same, never mixed up, damage told in one sentence."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.errors import CorpusError, ParameterError
from biasgauge.text import open_corpus, read_corpus, writer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from biasgauge.text import TokenCorpus

TEXT = "The cat sat.\n\nA cat, the cat!\n* * *\nDogs don't bark\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_kept_corpus_is_opened_again_without_tokenizing(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = read_corpus(text, out=tmp_path / "kept")
    assert {path.name for path in tmp_path.iterdir()} == {"text.txt", "kept"}
    assert {path.name for path in first.path.iterdir()} == {
        "corpus.json", "words.json", "counts.npy", "tokens.npy", "lines.npy", "documents.npy",
    }  # fmt: skip
    monkeypatch.setattr(writer.CorpusWriter, "line", lambda *_: pytest.fail("tokenized again"))
    again = read_corpus(text, out=tmp_path / "kept")
    assert again.checksum == first.checksum
    assert again.path == first.path == tmp_path / "kept"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"tokenizer": "whitespace"}, "tokenizer"),
        ({"documents": "file"}, "documents"),
        ({"layout": "lines"}, "layout"),
    ],
)
def test_another_corpus_in_the_place_is_an_error(change: dict[str, str], what: str, text: Path, tmp_path: Path) -> None:
    first = read_corpus(text, out=tmp_path / "kept").checksum
    with pytest.raises(CorpusError, match=f"kept: holds a corpus with other {what}; name another folder"):
        read_corpus(text, out=tmp_path / "kept", **change)  # type: ignore[arg-type]  # one of them
    assert open_corpus(tmp_path / "kept").checksum == first


def test_other_bytes_under_the_same_name_are_noticed(text: Path, tmp_path: Path) -> None:
    read_corpus(text, out=tmp_path / "kept")
    text.write_text(TEXT.replace("cat", "dog"), encoding="utf-8")
    with pytest.raises(CorpusError, match="corpus"):
        read_corpus(text, out=tmp_path / "kept")


def test_documents_given_as_strings_are_compared_by_what_they_say(tmp_path: Path) -> None:
    first = read_corpus(iter(["a b", "c"]), out=tmp_path / "kept")
    assert read_corpus(iter(["a b", "c"]), out=tmp_path / "kept").checksum == first.checksum
    with pytest.raises(CorpusError, match="corpus"):
        read_corpus(iter(["a b", "d"]), out=tmp_path / "kept")
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_function_of_the_same_name_is_compared_by_what_it_gives(text: Path, tmp_path: Path) -> None:
    def made_with(change: Callable[[str], str]) -> TokenCorpus:
        def split(line: str) -> list[str]:
            return change(line).split()

        return read_corpus(text, out=tmp_path / "kept", tokenizer=split)

    made_with(str.lower)
    assert made_with(str.lower).settings["tokenizer"]["name"].endswith("made_with.<locals>.split")
    with pytest.raises(CorpusError, match="corpus"):
        made_with(str.upper)


def test_folder_with_something_else_is_left_alone(text: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it", encoding="utf-8")
    with pytest.raises(CorpusError, match="mine: exists and is not a corpus"):
        read_corpus(text, out=tmp_path / "mine")
    with pytest.raises(CorpusError, match=rf"{text.name}: exists and is not a corpus"):
        read_corpus(text, out=text)
    assert (tmp_path / "mine" / "thesis.txt").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "text.txt"}


def test_empty_folder_and_missing_parents_are_fine(text: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert read_corpus(text, out=tmp_path / "empty").path == tmp_path / "empty"
    assert read_corpus(text, out=tmp_path / "new" / "deep" / "corpus").path.is_dir()


def test_corpus_is_not_put_among_the_texts_it_is_made_of(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a").write_text("a b", encoding="utf-8")
    with pytest.raises(ParameterError, match="'out'"):
        read_corpus(tmp_path / "texts", out=tmp_path / "texts" / "corpus")


def test_nothing_stays_behind_when_reading_fails(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"good\n\xff\n")
    with pytest.raises(CorpusError):
        read_corpus(tmp_path / "bad", out=tmp_path / "kept")
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


def _damage_words(folder: Path) -> None:
    (folder / "words.json").write_text('["a"]', encoding="utf-8")


def _cut_tokens(folder: Path) -> None:
    content = (folder / "tokens.npy").read_bytes()
    (folder / "tokens.npy").write_bytes(content[:-4])


def _other_lines(folder: Path) -> None:
    np.save(folder / "lines.npy", np.array([0, 3, 7, 9]))


def _other_type(folder: Path) -> None:
    np.save(folder / "counts.npy", np.ones(7))


def _no_json(folder: Path) -> None:
    (folder / "corpus.json").write_text("{", encoding="utf-8")


def _other_format(folder: Path) -> None:
    (folder / "corpus.json").write_text('{"format": "biasgauge corpus 9"}', encoding="utf-8")


def _no_sizes(folder: Path) -> None:
    (folder / "corpus.json").write_text('{"format": "biasgauge corpus 1"}', encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_damage_words, r"words\.json: does not hold 7 words"),
        (_cut_tokens, r"tokens\.npy: holds 36 bytes of numbers, expected 40"),
        (_other_lines, r"its boundaries do not fit its tokens"),
        (_other_type, r"counts\.npy: holds float64"),
        (_no_json, r"corpus\.json: is damaged"),
        (_no_sizes, r"is damaged \('sizes'\)"),
        (_other_format, r"is of the format 'biasgauge corpus 9', this version reads"),
        (lambda folder: (folder / "documents.npy").unlink(), r"documents\.npy: cannot be read"),
        (lambda folder: (folder / "words.json").unlink(), r"words\.json: cannot be read \(No such file"),
        (lambda folder: (folder / "corpus.json").unlink(), r"is not a corpus \(No such file"),
    ],
)
def test_damaged_corpus_is_one_clear_error(
    damage: Callable[[Path], object], sentence: str, text: Path, tmp_path: Path
) -> None:
    read_corpus(text, out=tmp_path / "kept")
    damage(tmp_path / "kept")
    with pytest.raises(CorpusError, match=sentence):
        open_corpus(tmp_path / "kept")


def test_flipped_bit_is_found_by_the_check(text: Path, tmp_path: Path) -> None:
    for name in ("tokens.npy", "lines.npy", "counts.npy"):
        kept = read_corpus(text, out=tmp_path / name).path
        numbers = np.load(kept / name)
        numbers[1], numbers[2] = numbers[2], numbers[1]
        np.save(kept / name, numbers)
        with pytest.raises(CorpusError, match=r"its checksum differs|its boundaries do not fit"):
            open_corpus(kept, check=False).check()


def test_bytes_reach_the_disk_before_the_name_does(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut after the move must not find half a corpus under the new name."""
    kept = tmp_path / "kept"
    flushed: list[tuple[int, bool]] = []
    fsync = os.fsync

    def watch(handle: int) -> None:
        flushed.append((os.fstat(handle).st_ino, kept.exists()))
        fsync(handle)

    monkeypatch.setattr(os, "fsync", watch)
    read_corpus(text, out=kept)
    before = {number for number, there in flushed if not there}
    assert before == {path.stat().st_ino for path in (kept, *kept.iterdir())}
    assert flushed[-1] == (tmp_path.stat().st_ino, True)
