"""gensim's own files are read without gensim and without unpickling; gensim itself is the oracle."""

from __future__ import annotations

import pickle
import shutil
from pathlib import Path
from typing import Any

import gensim
import numpy as np
import pytest
from gensim.models import Doc2Vec, KeyedVectors, Word2Vec
from gensim.models.doc2vec import TaggedDocument
from hypothesis import given
from hypothesis import strategies as st

from biasgauge.analyses.compare import files_of
from biasgauge.errors import EmbeddingFormatError
from biasgauge.vectors import load

GENSIM_3 = Path(__file__).with_name("gensim3")
SENTENCES = [["a", "b", "c", "d"], ["a"], ["a", "ü"]] * 20


@pytest.fixture(scope="module")
def model() -> Any:  # noqa: ANN401 - gensim has no types
    return Word2Vec(SENTENCES, vector_size=4, min_count=1, workers=1, seed=1, epochs=1)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("separately", [True, False])
@pytest.mark.parametrize("whole", [True, False])
def test_files_of_gensim_4(model: Any, protocol: int, tmp_path: Path, *, separately: bool, whole: bool) -> None:  # noqa: ANN401
    path = tmp_path / "m.model"
    limit = 10 if separately else 10_000_000
    (model if whole else model.wv).save(str(path), sep_limit=limit, pickle_protocol=protocol)
    assert path.with_name(f"m.model{'.wv' if whole else ''}.vectors.npy").exists() == separately
    found = load(path)
    assert (found.format, found.name) == ("gensim", "m")
    assert found.words == tuple(model.wv.index_to_key)
    np.testing.assert_array_equal(found.vectors, model.wv.vectors)
    assert found.frequencies is not None
    assert found.frequencies.values.tolist() == [model.wv.get_vecattr(word, "count") for word in found.words]
    assert isinstance(found.vectors.base, np.memmap) or not separately
    some = load(path, words=["ü", "b"])
    assert set(some.words) == {"ü", "b"}
    assert some.frequencies is not None
    assert some.frequencies.values.tolist() == [20, 20]


@pytest.mark.parametrize(
    ("name", "vectors"), [("w.kv", "w.npy"), ("w.model", "w.npy"), ("s.model", "w.npy"), ("f.kv", "f.npy")]
)
def test_files_of_gensim_3(name: str, vectors: str) -> None:
    """Files that gensim 3.8.3 wrote, which gensim 4 reads too."""
    found = load(GENSIM_3 / name)
    assert found.words == ("a", "b", "c", "d", "ü")
    np.testing.assert_array_equal(found.vectors, np.load(GENSIM_3 / vectors))
    assert found.frequencies is not None
    assert found.frequencies.values.tolist() == [60, 20, 20, 20, 20]


def python_2_model() -> bytes:
    """A model as gensim 0.12 pickled it with Python 2: `syn0` and `vocab` in the model itself, words as bytes."""
    raw = np.array([[0.5, 1], [-2, 255]], "<f4").tobytes()
    return (
        b"\x80\x02cgensim.models.word2vec\nWord2Vec\n)\x81}("
        b"U\x05vocab}("
        b"U\x01acgensim.models.word2vec\nVocab\n)\x81}(U\x05countK\x07U\x05indexK\x01ub"
        b"U\x05caf\xc3\xa9cgensim.models.word2vec\nVocab\n)\x81}(U\x05countK\x09U\x05indexK\x00ub"
        b"u"
        b"U\x04syn0cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85U\x01btR"
        b"(K\x01K\x02K\x02\x86cnumpy\ndtype\n(U\x02f4K\x00K\x01tR(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"\x89U" + bytes([len(raw)]) + raw + b"tb"
        b"ub."
    )


def test_files_of_python_2(tmp_path: Path) -> None:
    path = tmp_path / "old.model"
    path.write_bytes(python_2_model())
    found = load(path)
    assert found.words == ("café", "a")
    assert found.vectors.tolist() == [[0.5, 1], [-2, 255]]
    assert found.frequencies is not None
    assert found.frequencies.values.tolist() == [9, 7]


texts = st.text(min_size=1).filter(lambda text: "\0" not in text)


@given(words=st.lists(texts, min_size=1, max_size=6, unique=True), dim=st.integers(1, 4), seed=st.integers(0, 99))
def test_there_and_back(words: list[str], dim: int, seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("keyed") / "v.kv"
    vectors = np.random.default_rng(seed).standard_normal((len(words), dim)).astype(np.float32)
    keyed = KeyedVectors(dim)
    keyed.add_vectors(words, vectors)
    keyed.save(str(path))
    found = load(path)
    assert found.words == tuple(words)
    np.testing.assert_array_equal(found.vectors, vectors)
    assert found.frequencies is None


def test_made_up_counts_are_not_frequencies(tmp_path: Path) -> None:
    """Gensim numbers the words of a word2vec file down to 1, as if these were counts."""
    (tmp_path / "v.txt").write_text("3 2\na 1 2\nb 3 4\nc 5 6\n")
    keyed = KeyedVectors.load_word2vec_format(tmp_path / "v.txt")
    assert keyed.get_vecattr("a", "count") == 3
    keyed.save(str(tmp_path / "v.kv"))
    assert load(tmp_path / "v.kv").frequencies is None


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", ["<f2", "<f4", ">f4", "<f8", "<i4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_in_plain_pickles(protocol: int, dtype: str, order: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a letter
    matrix = np.array([[1, -2], [3, 400], [0, 7]], dtype, order=order)
    path = tmp_path / "v.pkl"
    for value in ((["a", "ü", "c"], matrix), dict(zip(["a", "ü", "c"], matrix, strict=True))):
        path.write_bytes(pickle.dumps(value, protocol))
        found = load(path)
        assert found.words == ("a", "ü", "c")
        np.testing.assert_array_equal(found.vectors, matrix)


def test_missing_vectors_are_named(model: Any, tmp_path: Path) -> None:  # noqa: ANN401 - gensim has no types
    model.wv.save(str(tmp_path / "m.kv"), separately=["vectors"])
    shutil.move(tmp_path / "m.kv.vectors.npy", tmp_path / "elsewhere.npy")
    with pytest.raises(EmbeddingFormatError, match=r"in m\.kv\.vectors\.npy, which is not there"):
        load(tmp_path / "m.kv")
    (tmp_path / "m.kv.vectors.npy").write_bytes(b"\x93NUMPY\x01\x00")
    with pytest.raises(EmbeddingFormatError, match=r"m\.kv\.vectors\.npy: .*damaged header"):
        load(tmp_path / "m.kv")
    np.save(tmp_path / "m.kv.vectors.npy", np.ones((2, 4)))
    with pytest.raises(EmbeddingFormatError, match="5 words for 2 vectors"):
        load(tmp_path / "m.kv")


def test_arrays_beside_a_model_are_no_models(model: Any, tmp_path: Path) -> None:  # noqa: ANN401 - gensim has no types
    model.save(str(tmp_path / "m.model"), sep_limit=10)
    assert len(list(tmp_path.iterdir())) > 2
    assert files_of(str(tmp_path)) == [tmp_path / "m.model"]


@pytest.mark.parametrize("separately", [["vectors"], None])
def test_compressed_saves(model: Any, separately: list[str] | None, tmp_path: Path) -> None:  # noqa: ANN401 - gensim
    model.wv.save(str(tmp_path / "m.kv.gz"), separately=separately)
    assert (tmp_path / "m.kv.gz.vectors.npz").exists() == (separately is not None)
    np.testing.assert_array_equal(load(tmp_path / "m.kv.gz").vectors, model.wv.vectors)
    if separately:
        np.savez(tmp_path / "m.kv.gz.vectors.npz", other=np.ones(2))
        with pytest.raises(EmbeddingFormatError, match="holds no array val"):
            load(tmp_path / "m.kv.gz")


def test_other_models_are_refused_with_the_way_to_convert_them(tmp_path: Path) -> None:
    documents = [TaggedDocument(words, [number]) for number, words in enumerate(SENTENCES)]
    model = Doc2Vec(documents, vector_size=2, min_count=1, workers=1, epochs=1)
    model.save(str(tmp_path / "d.model"))
    with pytest.raises(EmbeddingFormatError, match=r"opcode STACK_GLOBAL for 'gensim\.models\.d") as problem:
        load(tmp_path / "d.model")
    remedy = str(problem.value).partition("where you trust it: ")[2]
    names = {"gensim": gensim, "path": str(tmp_path / "d.model"), "target": tmp_path / "v"}
    exec(remedy.replace("'v.bin'", "target"), names)  # noqa: S102 - what a user would type
    found = load(tmp_path / "v")
    assert found.words == tuple(model.wv.index_to_key)
    np.testing.assert_array_equal(found.vectors, model.wv.vectors)


@pytest.mark.parametrize("name", ["w.kv", "f.kv"])
def test_files_cut_short_or_changed(name: str, tmp_path: Path) -> None:
    """A file that is cut is refused; one with a changed byte gives a table or one error."""
    content = (GENSIM_3 / name).read_bytes()
    path = tmp_path / "cut.kv"
    for length in range(2, len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(EmbeddingFormatError):
            load(path)
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])
        try:
            assert len(load(path)) > 0
        except EmbeddingFormatError as problem:
            assert str(path) in str(problem)  # noqa: PT017 - either outcome is one
