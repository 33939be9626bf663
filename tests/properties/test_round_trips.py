"""What is saved is what is read: every writable format, against gensim, NumPy and safetensors as other witnesses."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from biasgauge.errors import ParameterError
from biasgauge.vectors import Embedding, load, save

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Matrix = NDArray[np.floating[Any]]

quick = settings(deadline=None, max_examples=40)

BLANKS = " \t\n\r\v\f\0"
any_word = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
word = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=BLANKS), min_size=1, max_size=8)
odd_word = st.sampled_from(
    [
        "1",
        "-2.5",
        "nan",
        "inf",
        "1e5",
        "1_000",
        "\u00a0",
        "\u3000",
        "\u200b",
        "\ufeff",
        "\x85",
        "\x1c",
        "\x01",
        "\\xe9",
        '"',
        "#",
    ]
)


def _matrix(rows: int, width: int, dtype: type[np.floating[Any]]) -> st.SearchStrategy[Matrix]:
    """Finite numbers of every size, subnormal and signed zero among them."""
    bits = 8 * np.dtype(dtype).itemsize
    numbers = st.floats(width=bits, allow_nan=False, allow_infinity=False)  # type: ignore[arg-type]
    limits = np.finfo(dtype)
    extremes = st.sampled_from(
        [0.0, -0.0, float(limits.max), float(limits.min), float(limits.tiny), float(limits.smallest_subnormal)]
    )
    return arrays.arrays(dtype, (rows, width), elements=st.one_of(numbers, extremes))


@st.composite
def embeddings(
    draw: st.DrawFn, words: st.SearchStrategy[str], dtypes: tuple[type[np.floating[Any]], ...] = (np.float32,)
) -> Embedding:
    chosen = draw(st.lists(st.one_of(words, odd_word), min_size=1, max_size=6, unique=True))
    vectors = draw(_matrix(len(chosen), draw(st.integers(1, 6)), draw(st.sampled_from(dtypes))))
    return Embedding(tuple(chosen), vectors)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("round-trips")


def _assert_bits(found: Matrix, expected: Matrix) -> None:
    """Equal to the last bit, so that -0.0 is not 0.0."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(expected).tobytes()


@quick
@pytest.mark.parametrize("ending", [".safetensors", ".safetensors.gz"])
@given(embedding=embeddings(any_word, (np.float16, np.float32, np.float64)))
def test_safetensors_keeps_words_and_precision(ending: str, embedding: Embedding, folder: Path) -> None:
    found = load(save(embedding, folder / f"any{ending}"))
    assert found.words == embedding.words
    assert found.format == "safetensors"
    _assert_bits(found.vectors, embedding.vectors)
    assert found.checksum == embedding.checksum


@quick
@pytest.mark.parametrize("ending", [".bin", ".bin.gz", ".txt", ".txt.gz", ".vec", ".vec.gz"])
@given(embedding=embeddings(word, (np.float16, np.float32)))
def test_word2vec_keeps_words_and_32_bit_numbers(ending: str, embedding: Embedding, folder: Path) -> None:
    found = load(save(embedding, folder / f"any{ending}"))
    assert found.format == ("word2vec-binary" if ".bin" in ending else "word2vec-text")
    assert found.words == embedding.words
    _assert_bits(found.vectors, embedding.vectors.astype(np.float32))
    assert {notice.code for notice in found.notices} <= {"zero"}


@quick
@pytest.mark.parametrize("ending", [".bin", ".txt"])
@given(embedding=embeddings(word, (np.float64,)))
def test_word2vec_rounds_double_precision_or_refuses(ending: str, embedding: Embedding, folder: Path) -> None:
    with np.errstate(over="ignore"):
        expected = embedding.vectors.astype(np.float32)
    if np.isinf(expected).any():
        with pytest.raises(ParameterError, match="32-bit"):
            save(embedding, folder / f"any{ending}")
    else:
        _assert_bits(load(save(embedding, folder / f"any{ending}")).vectors, expected)


@quick
@given(embedding=embeddings(word))
def test_one_checksum_whatever_the_format(embedding: Embedding, folder: Path) -> None:
    endings = [".safetensors", ".bin", ".txt", ".bin.gz"]
    assert {load(save(embedding, folder / f"same{ending}")).checksum for ending in endings} == {embedding.checksum}


@quick
@given(embedding=embeddings(word), place=st.integers(0, 5), change=st.sampled_from(["word", "number", "order"]))
def test_another_content_has_another_checksum(embedding: Embedding, place: int, change: str) -> None:
    row = place % len(embedding)
    words, vectors = list(embedding.words), embedding.vectors.copy()
    if change == "word":
        words[row] += "x"
    elif change == "number":
        vectors[row, 0] = 1.0 if vectors[row, 0] != 1.0 else 2.0
    else:
        words, vectors = [*words, "last"], np.vstack([vectors, vectors[:1] * 0 + 3])
        words, vectors = words[::-1], vectors[::-1]
    assert Embedding(tuple(words), vectors).checksum != embedding.checksum


@quick
@pytest.mark.parametrize("ending", [".safetensors", ".bin", ".txt", ".safetensors.gz", ".bin.gz", ".txt.gz"])
@given(embedding=embeddings(word))
def test_same_vectors_same_bytes(ending: str, embedding: Embedding, folder: Path) -> None:
    first = save(embedding, folder / f"first{ending}").read_bytes()
    assert save(embedding, folder / f"second{ending}").read_bytes() == first


@settings(deadline=None, max_examples=10)
@pytest.mark.parametrize("blank", list(BLANKS))
@pytest.mark.parametrize("ending", [".bin", ".txt", ".vec.gz"])
@given(start=word, end=st.one_of(st.just(""), word))
def test_word2vec_refuses_blanks_and_writes_nothing(
    ending: str, blank: str, start: str, end: str, folder: Path
) -> None:
    path = folder / f"refused{ending}"
    with pytest.raises(ParameterError, match="cannot hold the word"):
        save(Embedding((start + blank + end,), np.ones((1, 2), np.float32)), path)
    assert not path.exists()


@dataclass(frozen=True)
class Writer:
    """A way to put words and vectors into a file that we read."""

    ending: str
    write: Callable[[Path, Embedding], object]


def _write_glove(path: Path, embedding: Embedding) -> None:
    lines = (
        f"{name} {' '.join(repr(float(number)) for number in row)}\n"
        for name, row in zip(embedding.words, embedding.vectors, strict=True)
    )
    path.write_bytes("".join(lines).encode())


def _write_npy(path: Path, embedding: Embedding) -> None:
    np.save(path, embedding.vectors)
    path.with_suffix(".vocab").write_bytes("".join(f"{name}\n" for name in embedding.words).encode())


def _write_npz(path: Path, embedding: Embedding) -> None:
    np.savez(path, words=np.array(embedding.words), vectors=embedding.vectors)


def _write_npz_by_columns(path: Path, embedding: Embedding) -> None:
    np.savez_compressed(path, words=np.array(embedding.words), vectors=np.asfortranarray(embedding.vectors))


def _write_gzipped(write: Callable[[Path, Embedding], object], ending: str) -> Callable[[Path, Embedding], None]:
    def written(path: Path, embedding: Embedding) -> None:
        plain = path.with_name(f"plain{ending}")
        write(plain, embedding)
        path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))

    return written


WRITERS = {
    "safetensors": Writer(".safetensors", lambda path, embedding: save(embedding, path)),
    "word2vec binary": Writer(".bin", lambda path, embedding: save(embedding, path)),
    "word2vec text": Writer(".txt", lambda path, embedding: save(embedding, path)),
    "GloVe": Writer(".glove", _write_glove),
    "npy": Writer(".npy", _write_npy),
    "npz": Writer(".npz", _write_npz),
    "npz by columns": Writer(".npz", _write_npz_by_columns),
    "gzipped npz": Writer(".npz.gz", _write_gzipped(_write_npz, ".npz")),
    "gzipped GloVe": Writer(".glove.gz", _write_gzipped(_write_glove, ".glove")),
    "gzipped binary": Writer(".bin.gz", lambda path, embedding: save(embedding, path)),
}
plain_word = st.text("abcdé1\u00a0", min_size=1, max_size=4)
shapes = st.tuples(st.integers(2, 6), st.integers(2, 5))


@st.composite
def plain_embeddings(draw: st.DrawFn) -> Embedding:
    """Words that every format can hold and that GloVe's rows cannot be taken for a header with."""
    rows, width = draw(shapes)
    words = draw(st.lists(plain_word, min_size=rows, max_size=rows, unique=True))
    return Embedding(tuple(words), draw(_matrix(rows, width, np.float32)))


@quick
@pytest.mark.parametrize("name", WRITERS)
@given(embedding=plain_embeddings(), chosen=st.sets(st.integers(0, 5)), limit=st.integers(1, 7))
def test_parts_of_a_file_are_parts_of_the_whole(
    name: str, embedding: Embedding, chosen: set[int], limit: int, folder: Path
) -> None:
    writer = WRITERS[name]
    path = folder / f"parts{writer.ending}"
    writer.write(path, embedding)
    whole = load(path)
    assert whole.words == embedding.words
    _assert_bits(whole.vectors, embedding.vectors)

    asked = [embedding.words[row] for row in sorted(chosen) if row < len(embedding)]
    picked = load(path, words=[*asked, "nowhere"])
    subset = whole.subset(asked)
    assert picked.words == subset.words == tuple(asked)
    _assert_bits(picked.vectors, subset.vectors)

    first = load(path, limit=limit)
    assert first.words == embedding.words[:limit]
    _assert_bits(first.vectors, embedding.vectors[:limit])

    both = load(path, words=asked, limit=limit)
    assert both.words == tuple(name for name in asked if name in embedding.words[:limit])


@pytest.mark.parametrize("name", ["word2vec text", "GloVe", "word2vec binary", "npz", "gzipped GloVe", "npy"])
def test_large_file_is_read_as_a_small_one(name: str, folder: Path) -> None:
    """Enough numbers for several blocks, so that the fast way of reading them must agree with the truth."""
    rng = np.random.default_rng(7)
    bits = rng.integers(0, 2**32, (6_000, 50), dtype=np.uint32).view(np.float32)
    vectors = np.where(np.isfinite(bits), bits, np.float32(1.5))
    embedding = Embedding(tuple(f"w{row}" for row in range(len(vectors))), vectors)
    path = folder / f"large{WRITERS[name].ending}"
    WRITERS[name].write(path, embedding)
    whole = load(path)
    assert whole.words == embedding.words
    _assert_bits(whole.vectors, vectors)
    asked = [f"w{row}" for row in rng.choice(len(vectors), 40, replace=False)]
    _assert_bits(load(path, words=asked).vectors, embedding.subset(asked).vectors)
    _assert_bits(load(path, limit=4_321).vectors, vectors[:4_321])


def test_binary_files_are_never_taken_for_text(folder: Path) -> None:
    """Two thousand files of ordinary numbers; one in two thousand or so has a digit before its first line feed."""
    rng = np.random.default_rng(3)
    for _ in range(2_000):
        embedding = Embedding(("</s>", "the"), rng.normal(0, 0.1, (2, 50)).astype(np.float32))
        found = load(save(embedding, folder / "ordinary.bin"))
        assert found.format == "word2vec-binary"
        _assert_bits(found.vectors, embedding.vectors)


def _keyed_vectors(embedding: Embedding) -> Any:  # noqa: ANN401 - gensim has no types
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(embedding.dim)
    keyed.add_vectors(list(embedding.words), embedding.vectors)
    return keyed


@settings(deadline=None, max_examples=40)
@pytest.mark.parametrize("binary", [True, False], ids=["binary", "text"])
@given(embedding=embeddings(word))
def test_gensim_writes_we_read(embedding: Embedding, folder: Path, *, binary: bool) -> None:
    path = folder / "by-gensim"
    _keyed_vectors(embedding).save_word2vec_format(path, binary=binary)
    found = load(path)
    assert found.words == embedding.words
    assert found.format == ("word2vec-binary" if binary else "word2vec-text")
    _assert_bits(found.vectors, embedding.vectors)


@settings(deadline=None, max_examples=40)
@pytest.mark.parametrize("ending", [".bin", ".txt", ".bin.gz", ".txt.gz"])
@given(embedding=embeddings(word))
def test_we_write_gensim_reads(ending: str, embedding: Embedding, folder: Path) -> None:
    from gensim.models import KeyedVectors

    path = save(embedding, folder / f"by-us{ending}")
    found = KeyedVectors.load_word2vec_format(path, binary=".bin" in ending)
    assert tuple(found.index_to_key) == embedding.words
    _assert_bits(found.vectors, embedding.vectors)


@quick
@given(embedding=embeddings(any_word, (np.float16, np.float32, np.float64)))
def test_the_safetensors_library_reads_what_we_write(embedding: Embedding, folder: Path) -> None:
    from safetensors.numpy import load_file

    tensors = load_file(save(embedding, folder / "witness.safetensors"))
    _assert_bits(tensors["vectors"], embedding.vectors)
    text = tensors["words"].tobytes()
    ends = tensors["word_ends"].tolist()
    assert tuple(text[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)) == embedding.words


@quick
@given(embedding=plain_embeddings(), dtype=st.sampled_from([np.float16, np.float32, np.float64, ">f4", ">f8"]))
def test_numpy_writes_we_read(embedding: Embedding, dtype: Any, folder: Path) -> None:  # noqa: ANN401 - any type
    with np.errstate(over="ignore"):
        vectors = embedding.vectors.astype(dtype)
    vectors[~np.isfinite(vectors)] = 1
    expected = vectors.astype(vectors.dtype.newbyteorder("="))
    changed = Embedding(embedding.words, vectors)
    for writer in ("npy", "npz", "npz by columns"):
        path = folder / f"typed{WRITERS[writer].ending}"
        WRITERS[writer].write(path, changed)
        found = load(path)
        assert found.words == embedding.words
        _assert_bits(found.vectors, expected)
