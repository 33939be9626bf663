"""Which words are learned, against a plain count of the words of the documents."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.errors import ParameterError
from biasgauge.text import PAPER_RULES, TokenCorpus, Vocabulary, bootstrap_documents, read_corpus, vocabulary
from biasgauge.text import vocabulary as vocabulary_function

TEXTS = ("a a a b b c", "a b\nc d", "<unk> e <unk>", "f")


@pytest.fixture
def corpus() -> TokenCorpus:
    return read_corpus(iter(TEXTS), tokenizer="whitespace")


def slow(
    texts: list[list[str]],
    *,
    min_count: int,
    unknown: str | None,
    remove: tuple[str, ...],
    documents: list[int],
    max_size: int | None,
) -> tuple[dict[str, int], dict[str, str | None]]:
    """Words with their counts in order, and for each type the word that stands for it."""
    counts = Counter(word for number in documents for word in texts[number])
    kept = sorted(
        (word for word in counts if counts[word] >= min_count and word not in remove and word != unknown),
        key=lambda word: (-counts[word], word),
    )[:max_size]
    stands: dict[str, str | None] = dict.fromkeys({word for text in texts for word in text})
    for word in counts:
        stands[word] = word if word in kept else None if word in remove else unknown
    total = Counter[str]()
    for word, count in counts.items():
        if (stand := stands[word]) is not None:
            total[stand] += count
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0]))), stands


def assert_same(found: Vocabulary, corpus: TokenCorpus, expected: tuple[dict[str, int], dict[str, str | None]]) -> None:
    counts, stands = expected
    assert dict(zip(found.words, found.counts.tolist(), strict=True)) == counts
    assert list(found.words) == list(counts)
    place = {word: number for number, word in enumerate(counts)}
    assert found.places.tolist() == [-1 if stands[word] is None else place[str(stands[word])] for word in corpus.words]
    assert found.places.dtype == np.int32
    assert found.counts.dtype == np.int64


word = st.sampled_from([*"abcdefgh", "<unk>", "é", "\U00010428"])


@settings(deadline=None, max_examples=150)
@given(data=st.data(), texts=st.lists(st.lists(word, min_size=1, max_size=12), min_size=1, max_size=6))
def test_against_a_plain_count(data: st.DataObject, texts: list[list[str]]) -> None:
    corpus = read_corpus((" ".join(text) for text in texts), tokenizer="whitespace")
    number = st.integers(0, len(texts) - 1)
    documents = data.draw(st.lists(number, min_size=1, max_size=12) | st.none())
    options: dict[str, Any] = {
        "min_count": data.draw(st.integers(0, 4)),
        "unknown": data.draw(st.sampled_from([None, "<unk>", "zz"])),
        "remove": data.draw(st.sampled_from([(), ("a",), ("b", "absent")])),
        "max_size": data.draw(st.none() | st.integers(1, 4)),
    }
    counted = list(range(len(texts))) if documents is None else documents
    expected = slow(texts, documents=counted, **options)
    if set(expected[0]) <= {options["unknown"]}:
        with pytest.raises(ParameterError, match="'min_count'"):
            vocabulary(corpus, documents=documents, **options)
    else:
        assert_same(vocabulary(corpus, documents=documents, **options), corpus, expected)


def test_by_hand(corpus: TokenCorpus) -> None:
    found = vocabulary(corpus, min_count=2)
    assert found.words == ("a", "b", "<unk>", "c")
    assert found.counts.tolist() == [4, 3, 2, 2]
    assert [corpus.words[token] for token in np.flatnonzero(found.places == -1)] == ["d", "e", "f"]
    known = vocabulary(corpus, min_count=2, unknown="<unk>")
    assert known.words == ("<unk>", "a", "b", "c")
    assert known.counts.tolist() == [5, 4, 3, 2]
    assert vocabulary(corpus, min_count=2, remove=["<unk>"]).words == ("a", "b", "c")
    assert vocabulary(corpus, min_count=2, remove="<unk>").words == ("a", "b", "c")
    assert vocabulary(corpus, min_count=1, max_size=2, unknown="rest").words == ("rest", "a", "b")


def test_a_document_drawn_three_times_counts_three_times(corpus: TokenCorpus) -> None:
    found = vocabulary(corpus, min_count=1, documents=np.array([3, 0, 3, 3]))
    assert dict(zip(found.words, found.counts.tolist(), strict=True)) == {"a": 3, "f": 3, "b": 2, "c": 1}


@pytest.mark.parametrize("block", [1, 2, 3, 5, 1_000])
def test_blocks_do_not_show(block: int, corpus: TokenCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(vocabulary_function.__globals__, "_BLOCK", block)
    found = vocabulary(corpus, min_count=1, documents=[1, 1, 2])
    assert dict(zip(found.words, found.counts.tolist(), strict=True)) == {
        "<unk>": 2, "a": 2, "b": 2, "c": 2, "d": 2, "e": 1,
    }  # fmt: skip


def test_every_document_once_is_the_corpus_itself(corpus: TokenCorpus) -> None:
    whole, sample = vocabulary(corpus, min_count=0), vocabulary(corpus, min_count=0, documents=[2, 0, 3, 1])
    assert whole.words == sample.words == corpus.words
    assert whole.counts.tolist() == sample.counts.tolist() == corpus.counts.tolist()
    assert whole.places.tolist() == list(range(len(corpus.words)))


def test_nothing_left_says_what_to_do(corpus: TokenCorpus) -> None:
    with pytest.raises(ParameterError, match="min_count"):
        vocabulary(corpus)
    with pytest.raises(ParameterError, match="largest"):
        vocabulary(corpus, min_count=2, documents=[3])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"min_count": -1}, r"'min_count' parameter must be a whole number of at least 0\. Got -1"),
        ({"min_count": 1.5}, r"'min_count' parameter .* Got 1\.5"),
        ({"max_size": 0}, r"'max_size' parameter .* at least 1\. Got 0"),
        ({"unknown": ""}, r"'unknown' parameter .* Got ''"),
        ({"unknown": "x", "remove": ["x"]}, r"'unknown' parameter .* not removed\. Got 'x'"),
        ({"documents": [4]}, r"'documents' parameter of vocabulary must hold numbers from 0 to 3\. Got 4 to 4"),
        ({"documents": [-1, 2]}, r"Got -1 to 2"),
        ({"documents": []}, r"must be a list of document numbers"),
        ({"documents": [0.5]}, r"must be a list of document numbers"),
    ],
)
def test_impossible_settings(options: dict[str, Any], sentence: str, corpus: TokenCorpus) -> None:
    with pytest.raises(ParameterError, match=sentence):
        vocabulary(corpus, **options)


@pytest.mark.parametrize(
    ("paper", "rare", "kept"),
    [
        ("du2021", 4, 5),  # section 3.3: minimum word count of 5
        ("badder_seeds2022", 9, 10),  # figure 4: minimum frequency 10
        ("goldfarb_tarrant2021_wiki", 10, 11),  # its code: counts of 10 and less are replaced
        ("goldfarb_tarrant2021_twitter", 9, 10),  # its code: counts above 9 are kept
    ],
)
def test_rules_of_the_papers(paper: str, rare: int, kept: int) -> None:
    corpus = read_corpus(iter(["rare " * rare + "kept " * kept + "<unk> " * 20]), tokenizer="whitespace")
    found = vocabulary(corpus, **PAPER_RULES[paper].to_dict())
    assert "kept" in found.words
    assert "rare" not in found.words
    if paper.startswith("goldfarb"):
        assert found.counts[found.words.index("<UNK>")] == rare
    else:
        assert found.places[corpus.words.index("rare")] == -1
        assert "<unk>" in found.words


def test_samples_of_a_larger_corpus() -> None:
    random = np.random.default_rng(0)
    texts = [
        [f"w{number}" for number in random.zipf(1.5, size) if number < 500] for size in random.integers(2, 60, 400)
    ]
    corpus = read_corpus((" ".join(text) for text in texts if text), tokenizer="whitespace")
    texts = [text for text in texts if text]
    for sample in range(3):
        drawn = bootstrap_documents(corpus, sample, 7)
        expected = slow(texts, min_count=5, unknown=None, remove=(), documents=drawn.tolist(), max_size=None)
        assert_same(vocabulary(corpus, documents=drawn), corpus, expected)
