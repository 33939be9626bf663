"""Contexts and the transformation matrix, against loops in plain Python and a matrix that made the data."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.vectors.test_r_files import ATTRIBUTES, number, pairs, rds, reals, strings

from biasgauge.analyses.regress import ContextReader, embed_occurrences, estimate_transform, load_transform
from biasgauge.analyses.regress import contexts as contexts_module
from biasgauge.errors import InputError, ParameterError
from biasgauge.text import read_corpus, read_documents

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from biasgauge.core import Floats
    from biasgauge.text import TokenCorpus

DIM = 4


def random_corpus(seed: int, *, documents: int = 30, types: int = 20, padding: bool = False) -> TokenCorpus:
    rng = np.random.default_rng(seed)
    words = ["" if padding and number == 0 else f"w{number}" for number in range(types)]
    drawn = [[words[token] for token in rng.integers(0, types, rng.integers(1, 40))] for _ in range(documents)]
    drawn[0][:] = ["w1"]  # an occurrence without any context
    return read_documents([{"text": tokens} for tokens in drawn], []).corpus


def random_vectors(seed: int, types: int = 20) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    return {f"w{number}": rng.normal(size=DIM) for number in range(types) if number % 5 != 4}


def slow_contexts(
    corpus: TokenCorpus, vectors: dict[str, Floats], window: int, remove: tuple[str, ...], min_count: int
) -> list[tuple[int, str, list[str]]]:
    """Document, word and context words with a vector of every token, by slicing lists."""
    counts = dict(zip(corpus.words, corpus.counts.tolist(), strict=True))
    rows = []
    for document in range(len(corpus.documents) - 1):
        for line in corpus.document(document):
            words = [word for word in line if word not in remove]
            for center, word in enumerate(words):
                around = words[max(0, center - window) : center] + words[center + 1 : center + window + 1]
                rows.append((document, word, [w for w in around if w in vectors and counts[w] >= min_count]))
    return rows


@pytest.mark.parametrize(("remove", "min_count"), [((), 1), (("w2", "w3"), 1), (("w5",), 22)])
@pytest.mark.parametrize("window", [1, 3, 50])
def test_occurrences_and_contexts_are_those_of_a_loop_in_plain_python(
    window: int, remove: tuple[str, ...], min_count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts_module, "BLOCK", 7)  # occurrences of one line fall into several blocks
    monkeypatch.setattr(contexts_module, "LINES_PER_REPORT", 4)
    corpus, vectors = random_corpus(1, padding=True), random_vectors(2)
    reader = ContextReader(corpus, vectors, window=window, remove=remove, min_count=min_count)
    targets = [word for word in ("w1", "w7", "w9") if reader.count(word)]
    slow = slow_contexts(corpus, vectors, window, remove, min_count)
    matrix = np.random.default_rng(3).normal(size=(DIM, DIM))
    cells: dict[tuple[int, int], list[Floats]] = {}
    for document, word, around in slow:
        if word in targets and around:
            mean = matrix @ np.mean([vectors[w] for w in around], axis=0)
            cells.setdefault((document, targets.index(word)), []).append(mean)
    found = embed_occurrences(reader, matrix, targets)
    assert list(zip(found.documents.tolist(), found.words.tolist(), strict=True)) == sorted(cells)
    for cell, key in enumerate(sorted(cells)):
        assert found.counts[cell] == len(cells[key])
        np.testing.assert_allclose(found.sums[cell], np.sum(cells[key], axis=0), atol=1e-12)
        np.testing.assert_allclose(found.squares[cell], np.sum(np.square(cells[key])), atol=1e-12)
    lost = [sum(word == target and not around for _, word, around in slow) for target in targets]
    assert found.without_vectors.tolist() == lost
    joined = found.join_words()
    assert joined.total == found.total
    np.testing.assert_allclose(joined.sums.sum(axis=0), found.sums.sum(axis=0))

    sums, counts, occurrences = reader.word_contexts()
    for row, word in enumerate(reader.embedding.words):
        around = [w for _, center, context in slow if center == word for w in context]
        if reader.count(word):
            assert (counts[row], occurrences[row]) == (len(around), reader.count(word))
            expected = np.sum([vectors[w] for w in around], axis=0) if around else np.zeros(DIM)
            np.testing.assert_allclose(sums[row], expected, atol=1e-9)
        else:
            assert counts[row] == occurrences[row] == 0


def test_the_transformation_is_the_weighted_least_squares_fit() -> None:
    corpus, vectors = random_corpus(5, documents=200), random_vectors(6)
    words = sorted(vectors)
    slow = slow_contexts(corpus, vectors, 3, (), 1)
    pooled = {word: [w for _, center, around in slow if center == word for w in around] for word in words}
    means = np.array([np.mean([vectors[w] for w in pooled[word]], axis=0) for word in words])
    known = np.array([vectors[word] for word in words])
    counts = np.array([corpus.counts[corpus.words.index(word)] for word in words])
    for weighting, weights in (("count", counts), ("log", np.log(counts)), ("equal", np.ones(len(words)))):
        root = np.sqrt(weights)[:, None]
        expected = np.linalg.lstsq(root * means, root * known, rcond=None)[0].T
        transform = estimate_transform(corpus, vectors, window=3, weighting=weighting)  # type: ignore[arg-type]
        np.testing.assert_allclose(transform.matrix, expected, rtol=1e-7)
        assert transform.recovery is not None
        assert transform.recovery.words == len(words)


def test_recovery_tells_a_text_with_the_structure_of_the_vectors_from_one_without() -> None:
    """Words of a topic stand together and have near vectors: contexts then recover a vector that was held out."""
    rng = np.random.default_rng(0)
    topics = np.repeat(np.arange(DIM), 12)
    vectors = {f"w{word}": np.eye(DIM)[topic] * 3 + rng.normal(size=DIM) * 0.3 for word, topic in enumerate(topics)}
    by_topic = [np.flatnonzero(topics == topic) for topic in range(DIM)]
    lines = [[f"w{word}" for word in rng.choice(by_topic[number % DIM], 10)] for number in range(400)]
    shuffled = [[f"w{word}" for word in rng.choice(len(topics), 10)] for _ in range(400)]
    with_topics, without = (
        estimate_transform(read_documents([{"text": line} for line in text], []).corpus, vectors).recovery
        for text in (lines, shuffled)
    )
    assert with_topics is not None
    assert without is not None
    assert with_topics.cosine > 0.95
    assert without.cosine < 0.5
    assert with_topics.low <= with_topics.cosine


def test_a_transformation_is_saved_and_read_back_and_checked(tmp_path: Path) -> None:
    corpus, vectors = random_corpus(5, documents=200), random_vectors(6)
    transform = estimate_transform(corpus, vectors, window=3)
    path = transform.save(tmp_path / "a.npy")
    again = load_transform(path, DIM)
    np.testing.assert_array_equal(again.matrix, transform.matrix)
    assert again.to_dict() == transform.to_dict()
    np.save(path, transform.matrix + 1)
    with pytest.raises(InputError, match=r"a\.npy: is not the matrix that a\.npy\.json describes"):
        load_transform(path, DIM)
    with pytest.raises(ParameterError, match="has 4 dimensions and the vectors have 5"):
        load_transform(transform, 5)
    np.savez(tmp_path / "published.npz", transform=transform.matrix)
    np.testing.assert_array_equal(load_transform(tmp_path / "published.npz", DIM).matrix, transform.matrix)
    np.testing.assert_array_equal(load_transform(transform.matrix, DIM).matrix, transform.matrix)
    np.save(tmp_path / "by_column.npy", np.asfortranarray(transform.matrix))  # as arrays that came from R are
    np.testing.assert_array_equal(load_transform(tmp_path / "by_column.npy", DIM).matrix, transform.matrix)
    np.save(tmp_path / "whole.npy", np.eye(DIM, dtype=int))
    np.testing.assert_array_equal(load_transform(tmp_path / "whole.npy", DIM).matrix, np.eye(DIM))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_matrix_that_r_saved_is_read(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """`saveRDS(cr_transform, "A.rds")`: R stores columns one after the other."""
    matrix = np.arange(9.0).reshape(3, 3)
    (tmp_path / "A.rds").write_bytes(pack(rds(reals(matrix, ATTRIBUTES) + pairs(dim=number(13, 2, 3, 3)))))
    np.testing.assert_array_equal(load_transform(tmp_path / "A.rds", 3).matrix, matrix)
    (tmp_path / "B.rds").write_bytes(pack(rds(strings(["a", "b"]))))
    with pytest.raises(InputError, match=r"B\.rds: holds no matrix of numbers"):
        load_transform(tmp_path / "B.rds", 3)
    (tmp_path / "C.rds").write_bytes(pack(rds(reals(matrix, ATTRIBUTES)))[:30])
    with pytest.raises(InputError, match=r"C\.rds"):
        load_transform(tmp_path / "C.rds", 3)


def test_bad_transformations_are_one_sentence(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", other=np.eye(2))
    (tmp_path / "b.npy").write_bytes(b"nothing")
    np.save(tmp_path / "c.npy", np.arange(3))
    for name, sentence in (("a.npz", "no array 'transform'"), ("b.npy", "header"), ("c.npy", "expected a matrix")):
        with pytest.raises(InputError, match=sentence):
            load_transform(tmp_path / name, 2)
    with pytest.raises(InputError, match="cannot be read"):
        load_transform(tmp_path / "no.npy", 2)
    with pytest.raises(ParameterError, match="Got NaN or infinity"):
        load_transform(np.full((4, 4), np.nan), 4)
    with pytest.raises(ParameterError, match="zero everywhere"):
        load_transform(np.zeros((4, 4)), 4)
    with pytest.raises(ParameterError, match="square matrix"):
        load_transform(np.ones((2, 3)), 2)
    with pytest.raises(ParameterError, match="must be a matrix"):
        load_transform(object(), 2)
    with pytest.raises(ParameterError, match="needs 8 words with at least 10 occurrences and a vector; the text has"):
        estimate_transform(read_corpus(iter(["w1 w2 w3", "w1 w2"]), tokenizer="whitespace"), random_vectors(1))
    with pytest.raises(ParameterError, match="No word of the text has a vector"):
        estimate_transform(read_corpus(iter(["a b", "c"])), random_vectors(1))
