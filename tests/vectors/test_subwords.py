"""Character n-grams: fastText's own algorithm on bytes, gensim's vectors, and files that lie."""

from __future__ import annotations

import gzip
import random as chance
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gensim.models import FastText
from gensim.models.fasttext_inner import compute_ngrams
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from biasgauge.errors import EmbeddingFormatError, ParameterError
from biasgauge.vectors import Embedding, Subwords, load, load_subwords, save, word_ngrams

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WORDS = ("naïve", "a", "日本語", "ab", "mississippi", "<b>", "😀 face", "")
SENTENCES = [["king", "queen", "kingdom", "man"], ["woman", "man", "queenly"], ["kings", "men", "woman", "walks"]] * 5


def fasttext_ngrams(word: str, least: int, most: int) -> list[str]:
    """Byte by byte, as `Dictionary::computeSubwords` of fastText goes through UTF-8."""
    raw = f"<{word}>".encode()
    found = []
    for begin in range(len(raw)):
        if raw[begin] & 0xC0 == 0x80:
            continue
        piece, place, count = b"", begin, 1
        while place < len(raw) and count <= most:
            piece += raw[place : place + 1]
            place += 1
            while place < len(raw) and raw[place] & 0xC0 == 0x80:
                piece += raw[place : place + 1]
                place += 1
            if count >= least and not (count == 1 and (begin == 0 or place == len(raw))):
                found.append(piece.decode())
            count += 1
    return found


@given(
    word=st.text(st.characters(exclude_categories=["Cs"]), max_size=12), least=st.integers(1, 5), more=st.integers(0, 4)
)
def test_ngrams_are_those_of_fasttext(word: str, least: int, more: int) -> None:
    assert list(word_ngrams(word, least, least + more)) == fasttext_ngrams(word, least, least + more)


@pytest.mark.parametrize("word", WORDS)
def test_ngrams_are_those_of_gensim(word: str) -> None:
    """From two characters on; gensim also has the ends alone."""
    assert sorted(word_ngrams(word, 2, 5)) == sorted(compute_ngrams(word, 2, 5))


def test_ngrams_by_hand() -> None:
    assert word_ngrams("ab", 1, 3) == ("<a", "<ab", "a", "ab", "ab>", "b", "b>")
    assert word_ngrams("a", 3, 6) == ("<a>",)
    assert word_ngrams("a", 4, 6) == ()
    assert word_ngrams("aaa", 2, 2) == ("<a", "aa", "aa", "a>")
    for least, most, name in ((0, 3, "min_n"), (3, 2, "max_n"), (1.0, 2, "min_n"), ("1", 2, "min_n")):
        with pytest.raises(ParameterError, match=f"'{name}' parameter must be a whole number"):
            word_ngrams("word", least, most)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def trained() -> FastText:
    return FastText(
        SENTENCES, vector_size=8, min_count=1, min_n=3, max_n=5, epochs=3, bucket=200_000, seed=1, workers=1
    )


@pytest.mark.parametrize("word", ["kingly", "womanking", "manman", "é-king"])
def test_vectors_are_those_of_gensim(trained: FastText, word: str) -> None:
    """Gensim's hashed n-grams, each looked up by itself, given to us as exact ones."""
    ngrams = tuple(dict.fromkeys(word_ngrams(word, 3, 5)))
    hashed = [trained.wv.vectors_ngrams[_bucket(one, trained.wv.bucket)] for one in ngrams]
    found = Subwords(ngrams, np.stack(hashed), 3, 5).vector(word)
    np.testing.assert_allclose(found, trained.wv.get_vector(word), rtol=1e-5, atol=1e-8)


def _bucket(ngram: str, buckets: int) -> int:
    """FNV-1a on signed bytes, as fastText hashes."""
    value = 2166136261
    for byte in ngram.encode():
        value = ((value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) & 0xFFFFFFFF
    return value % buckets


@pytest.fixture
def subwords() -> Subwords:
    return Subwords(("<ca", "cat", "at>", "日本"), np.array([[1, 0], [0, 2], [3, 3], [5, 7]], np.float32), 2, 3)


@pytest.fixture
def model() -> Embedding:
    return Embedding(("cat", "dog"), np.array([[9, 9], [1, -1]], np.float32), name="pets")


def test_vector_is_the_mean_of_what_is_known(subwords: Subwords) -> None:
    np.testing.assert_allclose(subwords.vector("cat"), [4 / 3, 5 / 3])
    np.testing.assert_allclose(subwords.vector("car"), [1, 0])
    np.testing.assert_allclose(subwords.vector("bat"), [3, 3])
    np.testing.assert_allclose(subwords.vector("catcat"), [(1 + 0 + 0 + 3) / 4, (0 + 2 + 2 + 3) / 4])
    assert subwords.vector("cat").dtype == np.float32
    with pytest.raises(KeyError, match="'dog'"):
        subwords.vector("dog")


def test_extend_adds_what_can_be_composed(subwords: Subwords, model: Embedding) -> None:
    before = model.vectors.copy()
    model = Embedding(model.words, model.vectors, name="pets", dropped={"bat": "its vector has NaN or infinity"})
    found = subwords.extend(model, ["bat", "cat", "xyz", "日本", "bat"])
    assert found.words == ("cat", "dog", "bat", "日本")
    np.testing.assert_array_equal(found.vectors, [[9, 9], [1, -1], [3, 3], [5, 7]])
    assert found.dropped == {"xyz": "not in the vocabulary, and none of its character n-grams is known"}
    assert found.lookup(["xyz"]).lost["xyz"] == found.dropped["xyz"]
    (notice,) = found.notices
    assert (notice.code, notice.count, notice.examples) == ("composed", 2, ("bat", "日本"))
    assert "'bat', '日本'" in notice.message
    np.testing.assert_array_equal(model.vectors, before)
    unchanged = subwords.extend(model, ["cat"])
    assert (unchanged.words, unchanged.notices) == (model.words, ())
    half = Embedding(("cat",), np.array([[0.1, 65504]], np.float16), name="half")
    wide = subwords.extend(half, ["bat"])
    assert wide.vectors.dtype == np.float32
    np.testing.assert_array_equal(wide.vectors[0], half.vectors[0].astype(np.float32))


def test_all_composed_words_are_recorded(subwords: Subwords, model: Embedding) -> None:
    words = [f"{number}at" for number in range(30)]
    (notice,) = subwords.extend(model, words).notices
    assert notice.examples == tuple(words)
    assert len(notice.message) < 200
    opposite = Subwords(("<ab", "ab>"), np.array([[1, 1], [-1, -1]], np.float32), 3, 3)
    composed, zero = opposite.extend(model, ["ab"]).notices
    assert (composed.code, zero.code, zero.examples) == ("composed", "zero", ("ab",))


def test_extend_refuses_what_does_not_fit(subwords: Subwords, model: Embedding) -> None:
    with pytest.raises(ParameterError, match="'wide'"):
        subwords.extend(Embedding(("a",), np.ones((1, 3)), name="wide"), ["b"])
    with pytest.raises(ParameterError, match="'words'"):
        subwords.extend(model, "bat")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"ngrams": ("abc",)}, "one row of vectors for each n-gram"),
        ({"ngrams": (), "vectors": np.empty((0, 2))}, "and at least one"),
        ({"vectors": np.ones(2)}, "vectors of shape"),
        ({"ngrams": ("abc", "abc")}, "must differ from each other"),
        ({"ngrams": ("abc", "abcde")}, "valid text of 3 to 4 characters. Got 'abcde'"),
        ({"ngrams": ("abc", "ab")}, "valid text of 3 to 4 characters. Got 'ab'"),
        ({"ngrams": ("abc", "ab\ud800")}, "valid text"),
        ({"ngrams": ("abc", 1234)}, "valid text"),
        ({"vectors": np.array([[1, 2], [np.nan, 0]])}, "the n-gram 'abcd' has NaN or infinity"),
        ({"vectors": np.array([[1, np.inf], [1, 0]])}, "the n-gram 'abc' has NaN or infinity"),
        ({"min_n": 0}, "'min_n' parameter must be a whole number of at least 1"),
        ({"max_n": 2}, "'max_n' parameter must be a whole number of at least 3"),
    ],
)
def test_what_cannot_be_subwords(change: Mapping[str, Any], expected: str) -> None:
    sound: dict[str, Any] = {"ngrams": ("abc", "abcd"), "vectors": np.eye(2, dtype=np.float32), "min_n": 3, "max_n": 4}
    assert len(Subwords(**sound)) == 2
    with pytest.raises(ParameterError, match=expected):
        Subwords(**{**sound, **change})


def test_vectors_cannot_be_written_to(subwords: Subwords) -> None:
    with pytest.raises(ValueError, match="read-only"):
        subwords.vectors[0] = 1
    assert repr(subwords) == "<Subwords: 4 n-grams of 2 to 3 characters × 2>"


# --- files --------------------------------------------------------------------------------------------------------


def read_listed(path: Path) -> Subwords:
    """Read n-grams that are listed one by one, as our own files have them."""
    subwords = load_subwords(path)
    assert isinstance(subwords, Subwords)
    return subwords


@pytest.mark.parametrize("ending", [".safetensors", ".safetensors.gz"])
def test_what_is_saved_is_read(ending: str, subwords: Subwords, model: Embedding, tmp_path: Path) -> None:
    path = save(model, tmp_path / f"model{ending}", subwords=subwords)
    found = read_listed(path)
    assert (found.ngrams, found.min_n, found.max_n) == (subwords.ngrams, 2, 3)
    np.testing.assert_array_equal(found.vectors, subwords.vectors)
    whole, plain = load(path), load(save(model, tmp_path / f"plain{ending}"))
    assert (whole.words, whole.checksum, whole.notices) == (plain.words, plain.checksum, ())
    assert path.read_bytes() == save(model, tmp_path / f"again{ending}", subwords=subwords).read_bytes()


def test_the_library_reads_our_file_and_we_read_its(subwords: Subwords, model: Embedding, tmp_path: Path) -> None:
    tensors = load_file(save(model, tmp_path / "ours.safetensors", subwords=subwords))
    np.testing.assert_array_equal(tensors["subword_vectors"], subwords.vectors)
    assert bytes(tensors["subwords"]) == "".join(subwords.ngrams).encode()
    assert tensors["subword_ends"].tolist() == [3, 6, 9, 15]
    assert tensors["subword_lengths"].tolist() == [2, 3]
    save_file(tensors, tmp_path / "theirs.safetensors")
    assert read_listed(tmp_path / "theirs.safetensors").ngrams == subwords.ngrams


def test_formats_that_cannot_hold_them(subwords: Subwords, model: Embedding, tmp_path: Path) -> None:
    for ending in (".bin", ".txt", ".vec.gz"):
        with pytest.raises(ParameterError, match="safetensors"):
            save(model, tmp_path / f"model{ending}", subwords=subwords)
    with pytest.raises(ParameterError, match="dimensions"):
        save(Embedding(("a",), np.ones((1, 3))), tmp_path / "model.safetensors", subwords=subwords)
    assert not list(tmp_path.iterdir())


def test_files_that_hold_none(model: Embedding, tmp_path: Path) -> None:
    with pytest.raises(EmbeddingFormatError, match="safetensors"):
        load_subwords(save(model, tmp_path / "plain.safetensors"))
    with pytest.raises(EmbeddingFormatError, match="safetensors"):
        load_subwords(save(model, tmp_path / "model.bin"))
    with pytest.raises(EmbeddingFormatError, match="there is no such file"):
        load_subwords(tmp_path / "nowhere")
    (tmp_path / "pickle").write_bytes(b"\x80\x04\x95\x10")
    with pytest.raises(EmbeddingFormatError, match="is pickle; character n-grams"):
        load_subwords(tmp_path / "pickle")


def _array(values: Any, dtype: str) -> Any:  # noqa: ANN401 - NumPy's own freedom
    return np.array(values, dtype)


HOSTILE: dict[str, tuple[dict[str, Any], str]] = {
    "ends that go back": ({"subword_ends": _array([3, 2, 9, 15], "i8")}, "does not cut subwords into pieces"),
    "ends below nought": ({"subword_ends": _array([-1, 6, 9, 15], "i8")}, "does not cut subwords into pieces"),
    "ends beyond the text": ({"subword_ends": _array([3, 6, 9, 2**62], "i8")}, "does not cut subwords into pieces"),
    "ends before the end": ({"subword_ends": _array([3, 6, 9, 12], "i8")}, "does not cut subwords into pieces"),
    "ends of another type": ({"subword_ends": _array([3, 6, 9, 15], "i4")}, "subword_ends as a list of I64"),
    "ends as a matrix": ({"subword_ends": _array([[3, 6], [9, 15]], "i8")}, "subword_ends as a list of I64"),
    "text of another type": ({"subwords": _array([97] * 15, "i1")}, "subwords as a list of U8"),
    "fewer n-grams than vectors": ({"subword_ends": _array([3, 6, 15], "i8")}, "3 n-grams for 4 vectors"),
    "no vectors": ({"subword_vectors": np.empty((0, 2), "f4")}, "matrix of F32"),
    "no dimensions": ({"subword_vectors": np.empty((4, 0), "f4")}, "matrix of F32"),
    "vectors in double precision": ({"subword_vectors": np.ones((4, 2))}, "matrix of F32"),
    "vectors in a row": ({"subword_vectors": np.ones(8, "f4")}, "matrix of F32"),
    "nan": ({"subword_vectors": _array([[1, 2], [np.nan, 1], [1, 1], [1, 1]], "f4")}, "'cat' has NaN or infinity"),
    "one length": ({"subword_lengths": _array([3], "i8")}, "subword_lengths as two I64"),
    "three lengths": ({"subword_lengths": _array([2, 3, 4], "i8")}, "subword_lengths as two I64"),
    "short lengths": ({"subword_lengths": _array([2, 3], "i4")}, "subword_lengths as two I64"),
    "lengths of nought": (
        {"subword_lengths": _array([0, 3], "i8")},
        "'min_n' parameter must be a whole number of at least 1",
    ),
    "lengths the wrong way": (
        {"subword_lengths": _array([3, 2], "i8")},
        "'max_n' parameter must be a whole number of at least 3",
    ),
    "lengths that do not hold": ({"subword_lengths": _array([3, 3], "i8")}, "of 3 to 3 characters. Got '日本'"),
    "an empty n-gram": ({"subword_ends": _array([0, 6, 9, 15], "i8")}, "of 2 to 3 characters. Got ''"),
    "a repeated n-gram": ({"subwords": np.frombuffer("<ca<caat>日本".encode(), "u1")}, "must differ"),
    "a cut character": ({"subword_ends": _array([3, 6, 10, 15], "i8")}, "an n-gram is not valid UTF-8"),
    "Latin-1": ({"subwords": np.frombuffer(b"caf\xe9" * 3 + b"abc", "u1")}, "an n-gram is not valid UTF-8"),
    "vectors missing": ({"subword_vectors": None}, "holds no character n-grams .no tensor subword_vectors"),
    "ends missing": ({"subword_ends": None}, "no tensor subword_ends"),
    "lengths missing": ({"subword_lengths": None}, "no tensor subword_lengths"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_ngrams(name: str, subwords: Subwords, model: Embedding, tmp_path: Path) -> None:
    change, expected = HOSTILE[name]
    path = tmp_path / "hostile.safetensors"
    tensors = {**load_file(save(model, path, subwords=subwords)), **change}
    save_file({key: value for key, value in tensors.items() if value is not None}, path)
    with pytest.raises(EmbeddingFormatError, match=expected) as caught:
        load_subwords(path)
    assert "hostile.safetensors" in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1_000
    assert load(path).words == model.words  # the words beside them are sound


def test_matrix_that_is_not_there(subwords: Subwords, model: Embedding, tmp_path: Path) -> None:
    """A header that promises more than the file holds takes no memory for it."""
    content = save(model, tmp_path / "m.safetensors", subwords=subwords).read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = content[8 : 8 + length].replace(b'"shape":[4,2]', b'"shape":[4000000000,2]')
    path = tmp_path / "hostile.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + content[8 + length :])
    with pytest.raises(EmbeddingFormatError, match="subword_vectors"):
        load_subwords(path)


@pytest.mark.parametrize("gzipped", [False, True])
def test_file_cut_at_every_byte(subwords: Subwords, model: Embedding, tmp_path: Path, *, gzipped: bool) -> None:
    content = save(model, tmp_path / "m.safetensors", subwords=subwords).read_bytes()
    content = gzip.compress(content, mtime=0) if gzipped else content
    path = tmp_path / "cut"
    for length in range(len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(EmbeddingFormatError):
            load_subwords(path)


def _attempt(path: Path) -> Subwords | str:
    try:
        return read_listed(path)
    except EmbeddingFormatError as problem:
        return str(problem)


def test_flipped_bits(subwords: Subwords, model: Embedding, tmp_path: Path) -> None:
    """Sound n-grams or one clear error, never anything else."""
    content = save(model, tmp_path / "m.safetensors", subwords=subwords).read_bytes()
    path = tmp_path / "flipped"
    refused = 0
    for seed in range(600):
        random = chance.Random(seed)  # noqa: S311 - repeatable, not secret
        changed = bytearray(content)
        for _ in range(random.choice([1, 1, 2, 5])):
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
        path.write_bytes(bytes(changed))
        outcome = _attempt(path)
        if isinstance(outcome, str):
            refused += 1
            assert "flipped" in outcome
            assert outcome.isprintable()
        else:
            assert len(set(outcome.ngrams)) == len(outcome.ngrams) == len(outcome.vectors)
            assert np.isfinite(outcome.vectors).all()
    assert 0 < refused < 600


@settings(max_examples=60, deadline=None)
@given(
    ngrams=st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4), min_size=1, max_size=8, unique=True
    ),
    width=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_any_ngrams_survive_the_disk(
    ngrams: list[str], width: int, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    vectors = np.random.default_rng(seed).normal(size=(len(ngrams), width)).astype(np.float32)
    path = tmp_path_factory.getbasetemp() / "any.safetensors"
    save(Embedding(("a",), np.ones((1, width))), path, subwords=Subwords(tuple(ngrams), vectors, 1, 4))
    found = read_listed(path)
    assert list(found.ngrams) == ngrams
    np.testing.assert_array_equal(found.vectors, vectors)
