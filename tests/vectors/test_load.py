"""`load`: how much is read, where the vocabulary is found, mapping, progress, and arguments that cannot be used."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.errors import EmbeddingFormatError, ParameterError
from biasgauge.vectors import Embedding, load, save

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = tuple(f"w{row}" for row in range(2_000))
ROWS = (np.arange(2_000 * 64, dtype=np.float32).reshape(2_000, 64) % 977) / 8 + 0.125


def _write_npy(folder: Path) -> Path:
    np.save(folder / "all.npy", ROWS)
    (folder / "all.vocab").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    return folder / "all.npy"


def _write_npz(folder: Path) -> Path:
    np.savez(folder / "all.npz", words=np.array(WORDS), vectors=ROWS)
    return folder / "all.npz"


FILES: dict[str, Callable[[Path], Path]] = {
    ".bin": lambda folder: save(Embedding(WORDS, ROWS), folder / "all.bin"),
    ".txt": lambda folder: save(Embedding(WORDS, ROWS), folder / "all.txt"),
    ".txt.gz": lambda folder: save(Embedding(WORDS, ROWS), folder / "all.txt.gz"),
    ".safetensors": lambda folder: save(Embedding(WORDS, ROWS), folder / "all.safetensors"),
    ".npy": _write_npy,
    ".npz": _write_npz,
}


def _mapped(array: np.ndarray[Any, Any] | None) -> bool:
    while array is not None:
        if isinstance(array, np.memmap):
            return True
        array = array.base if isinstance(array.base, np.ndarray) else None
    return False


@pytest.mark.parametrize("ending", [".npy", ".safetensors"])
def test_matrix_stays_on_disk(ending: str, tmp_path: Path) -> None:
    path = FILES[ending](tmp_path)
    found = load(path)
    assert _mapped(found.vectors)
    for left in tmp_path.iterdir():
        left.unlink()
    np.testing.assert_array_equal(found.vectors, ROWS)


@pytest.mark.parametrize("ending", FILES)
def test_progress_rises_and_ends_at_the_total(ending: str, tmp_path: Path) -> None:
    path = FILES[ending](tmp_path)
    told: list[tuple[int, int]] = []
    load(path, progress=lambda done, total: told.append((done, total)))
    assert len({total for _, total in told}) == 1
    done = [number for number, _ in told]
    assert done == sorted(done)
    assert told[-1][0] == told[-1][1] > 0


@pytest.mark.parametrize(
    "content", ["a 1 2\nb 3 4\nc no number\n", "3 2\na 1 2\nb 3 4\nc 5\n"], ids=["glove", "header"]
)
def test_reading_stops_when_all_words_are_found(content: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    # What is wrong lies beyond the first block that is read.
    rows = "".join(f"x{row} 5 6\n" for row in range(400_000))
    first, last = content.rsplit("\n", 2)[:2]
    path.write_text(f"{first}\n{rows}{last}\n", encoding="utf-8")
    found = load(path, words=["b", "a"])
    assert found.words == ("a", "b")
    assert found.vectors.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(EmbeddingFormatError, match=r"line 40000\d: "):
        load(path, words=["b", "c"])


def test_binary_reading_stops_when_all_words_are_found(tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    row = struct.pack("<2f", 3, 4)
    path.write_bytes(
        b"600002 2\na " + struct.pack("<2f", 1, 2) + b"".join(b"x%d " % n + row for n in range(600_000)) + b"cut"
    )
    assert load(path, words=["a"]).vectors.tolist() == [[1, 2]]
    assert load(path, words=["a", "x7"], limit=600_001).words == ("a", "x7")
    with pytest.raises(EmbeddingFormatError, match=rf"byte {path.stat().st_size}: .*cut short"):
        load(path)


def test_rows_that_are_not_wanted_are_passed_over_unparsed(tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_bytes(b"a 1 2\nb x y\nnil 0 0\nbad nan 1\nnew york 7 8\na 9 9\nc 3 4\n")
    found = load(path, words=["a", "c"])
    assert found.vectors.tolist() == [[1, 2], [3, 4]]
    assert {notice.code for notice in found.notices} <= {"duplicate"}


@pytest.mark.parametrize(
    "field",
    [
        *(b"nan", b"-inf", b"Infinity", b"1e39", b"1e-50", b"+5.", b".5"),
        *(b"1_0", b"0x5", b"True", b'"5"', b"NA", b"null", b"#", b"1,5", b"1e", b"--5", b"5f", b"nan(1)", b"1d5"),
        *("५".encode(), b"\xff"),
    ],
)
def test_odd_number_means_the_same_in_a_large_file_as_in_a_small_one(field: bytes, tmp_path: Path) -> None:
    """Many numbers, 200,000 or more, are parsed in another way than few."""
    line = b"odd 1 " + field + b" 3" * 998 + b"\n"
    outcomes = []
    for rows in (10, 200):
        path = tmp_path / "rows.txt"
        path.write_bytes(b"".join(b"w%d%b\n" % (row, b" 0.1" * 1_000) for row in range(rows)) + line)
        try:
            found = load(path)
        except EmbeddingFormatError as refusal:
            outcomes.append(refusal.problem if refusal.line == rows + 1 else f"line {refusal.line}")
        else:
            vector = found["odd"].tolist() if "odd" in found else found.why_lost("odd")
            outcomes.append(f"{vector} {[notice.code for notice in found.notices]}")
    assert outcomes[0] == outcomes[1]
    try:
        with np.errstate(over="ignore"):
            value = np.float64(float(field)).astype(np.float32)
    except ValueError:
        assert "expected 1,000 numbers after the word" in outcomes[0]
    else:
        row = [1.0, float(value), *[3.0] * 998]
        expected = f"{row} []" if np.isfinite(value) else "its vector has NaN or infinity ['not-finite']"
        assert outcomes[0] == ("expected 1,000 numbers after the word, found '1_0'" if field == b"1_0" else expected)


def test_limit_counts_rows_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "odd.txt"
    path.write_bytes(b"5 2\na 1 2\n\na 3 4\nb nan 1\nc 5 6\nd 7 8\n")
    assert load(path, limit=3).words == ("a",)
    found = load(path, limit=4)
    assert found.words == ("a", "c")
    assert {notice.code for notice in found.notices} == {"blank-line", "duplicate", "not-finite"}


def test_spaced_word_is_found_by_its_whole_name_only(tmp_path: Path) -> None:
    path = tmp_path / "spaced.txt"
    path.write_bytes(b"a 1 2\nnew york 3 4\nnew 5 6\nb 7 8\n")
    assert load(path, words=["new york"]).vectors.tolist() == [[3, 4]]
    found = load(path, words=["new", "york"])
    assert found.words == ("new",)
    assert found.vectors.tolist() == [[5, 6]]
    assert not found.notices


@pytest.mark.parametrize("line", [b"a\t3 4", b"a \t 3\t4", b"a  3 4", b"\ta 3 4", b"a 3 4\t"])
def test_blanks_far_from_the_start_are_blanks_too(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "late.txt"
    path.write_bytes(b"".join(b"x%d 1 2\n" % row for row in range(200)) + line + b"\n")
    assert load(path)["a"].tolist() == [3, 4]
    assert load(path, words=["a"])["a"].tolist() == [3, 4]


@pytest.mark.parametrize("blanks", [b" ", b"  ", b"\t", b" \t "])
def test_blanks_inside_a_word_are_one_space(blanks: bytes, tmp_path: Path) -> None:
    path = tmp_path / "blanks.txt"
    path.write_bytes(b"".join(b"x%d 1 2\n" % row for row in range(200)) + b"new" + blanks + b"york 3 4\n")
    found = load(path)
    assert found["new york"].tolist() == [3, 4]
    assert [notice.code for notice in found.notices] == ["spaced-word"]
    assert load(path, words=["new york"])["new york"].tolist() == [3, 4]


def test_case_fallback_also_reads_other_spellings(tmp_path: Path) -> None:
    path = tmp_path / "case.txt"
    path.write_bytes(b"mary 1 2\nJohn 3 4\nPARIS 5 6\n")
    assert load(path, words=["Mary", "john", "Paris"]).words == ()
    found = load(path, words=["Mary", "john", "Paris"], case_fallback=True)
    assert found.words == ("mary", "John")
    assert dict(found.lookup(["Mary", "john"], case_fallback=True).respelled) == {"Mary": "mary", "john": "John"}


def test_word_in_broken_utf8_is_found_as_it_is_shown(tmp_path: Path) -> None:
    text, binary = tmp_path / "latin.txt", tmp_path / "latin.bin"
    text.write_bytes(b"a 1 2\ncaf\xe9 3 4\n")
    binary.write_bytes(b"2 1\na " + struct.pack("<f", 1) + b"caf\xe9 " + struct.pack("<f", 3))
    for path in (text, binary):
        assert load(path).words == ("a", "caf\\xe9")
        assert load(path, words=["caf\\xe9"]).words == ("caf\\xe9",)


@pytest.mark.parametrize("suffix", [".vocab", ".vocab.txt", ".words", ".words.txt", ".txt"])
@pytest.mark.parametrize("ending", [".npy", ".safetensors"])
def test_vocabulary_is_found_beside_a_bare_matrix(suffix: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"my.model{ending}"
    if ending == ".npy":
        np.save(path, ROWS[:2])
    else:
        from safetensors.numpy import save_file

        save_file({"weight": ROWS[:2]}, path)
    with pytest.raises(EmbeddingFormatError, match="holds vectors but no words"):
        load(path)
    (tmp_path / f"my.model{suffix}").write_text("a\nb\n", encoding="utf-8")
    assert load(path)["b"].tolist() == ROWS[1].tolist()
    (tmp_path / "other").write_text("c\nd\n", encoding="utf-8")
    assert load(path, vocabulary=tmp_path / "other").words == ("c", "d")


def test_missing_vocabulary_is_named(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", ROWS)
    with pytest.raises(EmbeddingFormatError, match="nowhere"):
        load(tmp_path / "m.npy", vocabulary=tmp_path / "nowhere.txt")


def test_name_does_not_decide_the_format(tmp_path: Path) -> None:
    path = save(Embedding(("a",), np.ones((1, 2), np.float32)), tmp_path / "x.safetensors")
    found = load(path.rename(tmp_path / "vectors.txt.gz"))
    assert (found.format, found.name, found.source) == (
        "safetensors",
        "vectors",
        str(tmp_path / "vectors.txt.gz"),
    )


def test_path_may_be_text(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(b"a 1 2\n")
    assert load(str(path), name="mine").name == "mine"


@pytest.mark.parametrize("limit", [0, -1, 2.0, "3", None.__class__])
def test_limit_must_be_a_whole_number(limit: Any, tmp_path: Path) -> None:  # noqa: ANN401 - of any type
    with pytest.raises(ParameterError, match="'limit'"):
        load(tmp_path / "any", limit=limit)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("weat7", "must be a collection of words. Got 'weat7'"),
        (5, "must be a collection of words. Got 5"),
        (["a", 5], "must hold text only. Got 5"),
        ([b"a"], "must hold text only. Got b'a'"),
    ],
)
def test_words_must_be_words(words: Any, sentence: str, tmp_path: Path) -> None:  # noqa: ANN401 - of any type
    with pytest.raises(ParameterError, match=sentence):
        load(tmp_path / "any", words=words)


def test_no_words_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(b"a 1 2\nb 3 4\n")
    found = load(path, words=[])
    assert found.words == ()
    assert found.vectors.shape == (0, 2)


def test_words_may_be_an_iterator_and_odd_ones_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(b"a 1 2\n\xed\xa0\x80 3 4\n")
    assert load(path, words=iter(["", " ", "\ud800", "\0", "a", "a\nb"])).words == ("a",)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingFormatError, match="nowhere"):
        load(tmp_path / "nowhere.bin")


@pytest.mark.parametrize("path", [".", os.devnull, "/dev/zero"])
def test_folder_and_device_are_refused_unread(path: str) -> None:
    with pytest.raises(EmbeddingFormatError, match="not a regular file"):
        load(Path(path))


def test_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(EmbeddingFormatError, match="not a regular file"):
        load(tmp_path / "pipe")


def test_link_that_leads_nowhere_or_round(tmp_path: Path) -> None:
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    (tmp_path / "round").symlink_to(tmp_path / "round")
    for name in ("gone", "round"):
        with pytest.raises(EmbeddingFormatError, match=name):
            load(tmp_path / name)


@pytest.mark.parametrize("path", ["nul\0byte", "x" * 1_000])
def test_path_that_cannot_be(path: str) -> None:
    with pytest.raises(EmbeddingFormatError, match=r"no such file|cannot be opened"):
        load(path)


def test_file_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.txt"
    path.write_bytes(b"a 1 2\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    # Whoever runs the tests may be allowed everything, so the refusal is played.
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(EmbeddingFormatError, match="Permission"):
        load(path)


def test_table_too_large_for_this_machine_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(b"".join(b"w%d 1 2 3 4\n" % row for row in range(1_000)))
    monkeypatch.setattr("biasgauge.vectors.rows.physical_memory", lambda: 8_000)
    with pytest.raises(EmbeddingFormatError, match=r"v\.txt: needs .+ KB of memory"):
        load(path)
    assert load(path, words=["w7"]).words == ("w7",)
