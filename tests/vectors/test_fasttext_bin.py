"""fastText's own files: vectors of fastText itself and of gensim are the oracles."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import FastText
from gensim.models.fasttext import load_facebook_vectors, save_facebook_model
from hypothesis import given
from hypothesis import strategies as st

from biasgauge.errors import EmbeddingFormatError
from biasgauge.vectors import HashedSubwords, load, load_subwords
from biasgauge.vectors.hashed_ngrams import ngram_buckets

FASTTEXT = Path(__file__).with_name("fasttext")
UNSEEN = ["unseen", "日", "", "é"]
NAMES = ["skipgram", "cbow", "plain", "supervised"]
ORDER = ("the", "</s>", "cat", "naïve", "sat", "on", "日本", "mat", "a", "dog")


@pytest.mark.parametrize("name", NAMES)
def test_vectors_are_those_of_fasttext(name: str) -> None:
    found = load(FASTTEXT / f"{name}.bin")
    assert (found.format, found.name) == ("fasttext", name)
    assert set(found.words) <= set(ORDER)
    assert name == "supervised" or found.words == ORDER
    np.testing.assert_allclose(found.vectors, np.load(FASTTEXT / f"{name}.npy"), rtol=1e-6, atol=1e-8)
    assert found.vectors.flags.aligned
    assert found.frequencies is not None
    assert found.frequencies.values[list(found.words).index("the")] == (30 if name == "supervised" else 90)


@pytest.mark.parametrize("name", ["skipgram", "cbow"])
def test_unseen_words_are_those_of_fasttext(name: str) -> None:
    subwords = load_subwords(FASTTEXT / f"{name}.bin")
    assert isinstance(subwords, HashedSubwords)
    for word, expected in zip(UNSEEN, np.load(FASTTEXT / f"{name}-oov.npy"), strict=True):
        if expected.any():
            np.testing.assert_allclose(subwords.vector(word), expected, rtol=1e-6, atol=1e-8)
        else:  # fastText gives zeros where there is no n-gram
            with pytest.raises(KeyError, match="no character n-grams"):
                subwords.vector(word)
    model = load(FASTTEXT / f"{name}.bin")
    longer = subwords.extend(model, ["cat", "unseen", ""] if name == "skipgram" else ["cat", "unseen"])
    assert longer.words == (*model.words, "unseen")
    assert set(longer.dropped) == ({""} if name == "skipgram" else set())
    np.testing.assert_array_equal(longer["unseen"], subwords.vector("unseen"))
    assert [notice.code for notice in longer.notices][-1] == "composed"


def test_some_words_and_the_first_rows() -> None:
    whole = load(FASTTEXT / "skipgram.bin")
    some = load(FASTTEXT / "skipgram.bin", words=["日本", "cat", "unseen"])
    assert some.words == ("cat", "日本")
    np.testing.assert_array_equal(some["日本"], whole["日本"])
    assert some.frequencies is not None
    assert some.frequencies.values.tolist() == [60, 30]
    assert load(FASTTEXT / "skipgram.bin", limit=3).words == whole.words[:3]


def test_gzipped(tmp_path: Path) -> None:
    (tmp_path / "m.bin").write_bytes(gzip.compress((FASTTEXT / "skipgram.bin").read_bytes()))
    np.testing.assert_array_equal(load(tmp_path / "m.bin").vectors, load(FASTTEXT / "skipgram.bin").vectors)


def plain_buckets(word: str, min_n: int, max_n: int, buckets: int) -> list[int]:
    """The loop of fastText's `computeSubwords`, over characters."""
    text = f"<{word}>"
    found = []
    for start in range(len(text)):
        for stop in range(start + 1, min(start + max_n, len(text)) + 1):
            size = stop - start
            if size >= min_n and not (size == 1 and (start == 0 or stop == len(text))):
                value = 2166136261
                for byte in text[start:stop].encode():
                    value = ((value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) & 0xFFFFFFFF
                found.append(value % buckets)
    return found


words = st.lists(st.text(st.characters(codec="utf-8"), max_size=8), min_size=1, max_size=6)
word_texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)


@given(words=words, min_n=st.integers(1, 4), more=st.integers(0, 3), buckets=st.integers(1, 2**31))
def test_buckets_are_those_of_the_plain_loop(words: list[str], min_n: int, more: int, buckets: int) -> None:
    words = [word for word in words if word != "</s>"]
    chosen, counts = ngram_buckets([word.encode() for word in words], min_n, min_n + more, buckets)
    expected = [plain_buckets(word, min_n, min_n + more, buckets) for word in words]
    assert counts.tolist() == [len(places) for places in expected]
    ends = np.cumsum(counts)
    for places, start, end in zip(expected, ends - counts, ends, strict=True):
        assert sorted(chosen[start:end].tolist()) == sorted(places)


@given(
    vocabulary=st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), min_size=1, max_size=5, unique=True
    ),
    lengths=st.sampled_from([(0, 0), (1, 2), (3, 6)]),
    seed=st.integers(0, 99),
)
def test_what_gensim_writes_is_read_as_gensim_does(
    vocabulary: list[str], lengths: tuple[int, int], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("facebook")
    min_n, max_n = lengths
    model: Any = FastText(vector_size=3, min_count=1, min_n=min_n, max_n=max_n, bucket=11, seed=seed, workers=1)
    model.build_vocab([vocabulary])
    save_facebook_model(model, str(folder / "m.bin"))
    found = load(folder / "m.bin")
    expected = load_facebook_vectors(folder / "m.bin")
    assert found.words == tuple(expected.index_to_key)
    # gensim gives the end of a sentence n-grams, which fastText does not
    rows = [row for row, word in enumerate(found.words) if word != "</s>"]
    np.testing.assert_allclose(found.vectors[rows], expected.vectors[rows], rtol=1e-6, atol=1e-7)
    model.save(str(folder / "m.model"))
    kept = load(folder / "m.model")
    np.testing.assert_allclose(kept.vectors[rows], model.wv.vectors[rows], rtol=1e-6, atol=1e-7)
    if max_n:
        subwords = load_subwords(folder / "m.model")
        np.testing.assert_allclose(subwords.vector("unseen"), model.wv["unseen"], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("gathered", [1, 40, 100])
def test_small_buffers_give_the_same_sums(gathered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load(FASTTEXT / "skipgram.bin").vectors
    monkeypatch.setattr("biasgauge.vectors.hashed_ngrams._GATHERED", gathered)
    monkeypatch.setattr("biasgauge.vectors.hashed_ngrams._HASHED", gathered)
    np.testing.assert_allclose(load(FASTTEXT / "skipgram.bin").vectors, expected, rtol=1e-6)


def test_a_model_without_ngrams_has_none(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingFormatError, match="maxn is 0"):
        load_subwords(FASTTEXT / "plain.bin")
    model: Any = FastText([["a"]], vector_size=2, min_count=1, workers=1)
    model.wv.compatible_hash = False
    model.save(str(tmp_path / "old.model"))
    with pytest.raises(EmbeddingFormatError, match="hashed n-grams otherwise"):
        load(tmp_path / "old.model")


def test_quantized_models_are_refused() -> None:
    with pytest.raises(EmbeddingFormatError, match="quantized fastText model"):
        load(FASTTEXT / "quantized.ftz")


@pytest.mark.parametrize(
    ("place", "value", "sentence"),
    [
        (4, struct.pack("<i", 13), "version 13"),
        (8, struct.pack("<i", 0), "promises 0 dimensions"),
        (8, struct.pack("<i", -4), "dimensions"),
        (8, struct.pack("<i", 5), "5 dimensions, the matrix has"),
        (48, struct.pack("<i", 2**31 - 1), "characters"),
        (64, struct.pack("<i", 2**31 - 1), "in 2,147,483,647 entries"),
        (68, struct.pack("<i", -1), "promises -1 words"),
        (72, struct.pack("<i", 7), "7 labels"),
    ],
)
def test_headers_that_promise_too_much(place: int, value: bytes, sentence: str, tmp_path: Path) -> None:
    content = bytearray((FASTTEXT / "skipgram.bin").read_bytes())
    content[place : place + len(value)] = value
    (tmp_path / "m.bin").write_bytes(content)
    with pytest.raises(EmbeddingFormatError, match=sentence):
        load(tmp_path / "m.bin")


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    content = (FASTTEXT / "skipgram.bin").read_bytes()
    path = tmp_path / "m.bin"
    needed = len(content) - (10 * 16 + 17)  # the output layer is not read
    for length in range(4, needed):
        path.write_bytes(content[:length])
        with pytest.raises(EmbeddingFormatError):
            load(path)
    path.write_bytes(content[:needed])
    assert len(load(path)) == 10
