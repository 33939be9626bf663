"""Texts before the classifier: splits, cleaning, groups by words, vectors."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.applications.classification.texts import (
    MAX_TOKENS,
    SHARES,
    TextData,
    Texts,
    Tokenized,
    group_words,
    groups_by_words,
    split_up,
    stratified,
    task_vectors,
    tokenize,
)
from biasgauge.errors import InputError, ParameterError
from biasgauge.lexicons import lexicon
from biasgauge.vectors import Embedding, Subwords, save

if TYPE_CHECKING:
    from pathlib import Path


def texts(*written: str, labels: str | None = None) -> Texts:
    given = labels or ("ab" * len(written))[: len(written)]
    return Texts(written, tuple(given), (None,) * len(written), "texts.csv")


def data(part: Texts) -> TextData:
    return TextData("planted", dict.fromkeys(SHARES, part), positive="a")


def test_splits_spread_labels_alike_and_hold_every_text_once() -> None:
    labels = ["a"] * 70 + ["b"] * 25 + ["c"] * 5
    parts = stratified(labels, (0.8, 0.1, 0.1), random_state=0)
    assert sorted(chain.from_iterable(parts)) == list(range(100))
    assert [Counter(labels[at] for at in part) for part in parts] == [
        {"a": 56, "b": 21, "c": 5},
        {"a": 7, "b": 2},
        {"a": 7, "b": 2},
    ]
    assert stratified(labels, (0.8, 0.1, 0.1), random_state=0) == parts
    assert stratified(labels, (0.8, 0.1, 0.1), random_state=1) != parts


def test_parts_keep_each_text_with_its_label() -> None:
    whole = texts(*[f"text {at}" for at in range(40)])
    parts = split_up(whole, 0)
    assert list(parts) == ["train", "dev", "test"]
    for part in parts.values():
        for text, label in zip(part.texts, part.labels, strict=True):
            assert label == whole.labels[int(text.split()[1])]


def test_data_that_nothing_can_be_learned_from() -> None:
    with pytest.raises(InputError, match="training"):
        data(texts("x", "y", "z", labels="aaa")).checked()
    empty = TextData("planted", {**data(texts("x", "y")).parts, "dev": texts()}, positive="a")
    with pytest.raises(InputError, match="planted"):
        empty.checked()
    with pytest.raises(InputError, match="labeled"):
        TextData("planted", data(texts("x", "y")).parts, positive="q").checked()


def test_tweets_are_cleaned_by_the_rules_of_the_paper() -> None:
    parts, notes = tokenize(data(texts("#Hello @someone: SEE https://t.co/x", "plain words")))
    assert parts["test"].tokens[0] == ("<HASH>", "hello", "<MENTION>", "see", "<URL>")
    assert notes == []


def test_retweets_are_dropped_with_their_labels_or_kept_without_rt() -> None:
    given = texts("RT @someone: first", "second", " RT @other third", "I RT @this", labels="abaa")
    parts, notes = tokenize(data(given))
    assert parts["train"].labels == ("b", "a")
    assert parts["train"].tokens == (("second",), ("i", "rt", "<MENTION>"))
    assert notes[0] == "2 of 4 texts for train are retweets and were dropped"
    kept, notes = tokenize(data(given), retweets="keep")
    assert kept["train"].tokens[0] == ("<MENTION>", "first")
    assert (kept["train"].labels, notes) == (tuple("abaa"), [])
    with pytest.raises(ParameterError, match="'retweets'"):
        tokenize(data(given), retweets="burn")  # type: ignore[arg-type]


def test_data_that_is_all_retweets() -> None:
    with pytest.raises(InputError, match="planted"):
        tokenize(data(texts("RT @a b", "RT @c d")))
    assert len(tokenize(data(texts("RT @a b", "RT @c d")), retweets="keep")[0]["train"]) == 2


def test_another_tokenizer_leaves_retweets_alone() -> None:
    parts, _ = tokenize(data(texts("RT @x Hello", "b")), tokenizer="whitespace")
    assert parts["train"].tokens[0] == ("RT", "@x", "Hello")


def test_empty_and_endless_texts_are_counted() -> None:
    parts, notes = tokenize(data(texts("", "word " * (MAX_TOKENS + 5))))
    assert [len(one) for one in parts["dev"].tokens] == [0, MAX_TOKENS]
    assert "1 texts for dev have no words" in notes
    assert f"1 texts for dev were cut after {MAX_TOKENS:,} tokens" in notes


def test_groups_by_the_words_that_a_text_mentions() -> None:
    words = group_words({"male": ["He", "father"], "female": ["she", "mother"]})
    tokens = [("he", "ran"), ("SHE",), ("he", "and", "she"), ("nobody",), ("father", "he"), ("them",)]
    assert groups_by_words(tokens, words) == ("male", "female", None, None, "male", None)


def test_groups_from_a_lexicon() -> None:
    pairs = lexicon("bolukbasi2016")
    assert group_words("bolukbasi2016") == {
        end: frozenset(word.lower() for word in words) for end, words in pairs.sets.items()
    }
    some = group_words("goldfarb2021_expansion:male,female")
    assert list(some) == ["male", "female"]
    assert "she" in some["female"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"male": ["he"]}, "two groups at least, each with a word. Got male"),
        ({"male": ["he"], "female": []}, "each with a word"),
        ({"male": ["he", "they"], "female": ["They"]}, "'male' and 'female' both have 1 such words"),
        ("goldfarb2021_expansion:male,nobody", "has no set 'nobody'; its sets are"),
    ],
)
def test_words_of_groups_that_cannot_be_used(given: Any, sentence: str) -> None:  # noqa: ANN401 - wrong on purpose
    with pytest.raises(ParameterError, match=sentence):
        group_words(given)


PART = Tokenized((("b", "a", "lost"), ("a", "a")), ("x", "y"), (None, None))


def test_vectors_are_those_of_the_words_whatever_their_order_in_the_file() -> None:
    matrix = np.arange(8, dtype=np.float32).reshape(4, 2) + 1
    one = task_vectors(Embedding(("z", "b", "q", "a"), matrix), [PART], "planted")
    assert one.numbers == {"a": 1, "b": 2}
    np.testing.assert_array_equal(one.table, [[0, 0], matrix[3], matrix[1], [0, 0]])
    assert one.coverage == {"asked": 3, "found": 2, "asked_tokens": 5, "found_tokens": 4}
    assert one.warnings == ()
    other = task_vectors((["a", "b"], matrix[[3, 1]]), [PART], "planted")
    assert other.checksum == one.checksum
    changed = task_vectors((["a", "b"], matrix[[1, 3]]), [PART], "planted")
    assert changed.checksum != one.checksum


def test_no_word_in_common_is_said_and_few_are_noted() -> None:
    with pytest.raises(ParameterError, match="planted"):
        task_vectors((["A", "B"], np.eye(2)), [PART], "planted")
    assert "only 20 % of the running words" in task_vectors((["b"], np.eye(1)), [PART], "planted").warnings[0]


def test_unknown_words_get_the_vectors_of_their_subwords(tmp_path: Path) -> None:
    embedding = Embedding(("a",), np.array([[1, 2]], np.float32))
    ngrams = Subwords(("los", "ost"), np.array([[2, 4], [4, 8]], np.float32), 3, 3)
    path = save(embedding, tmp_path / "v.safetensors", subwords=ngrams)
    composed = task_vectors(path, [PART], "planted", "subwords")
    assert composed.numbers == {"a": 1, "lost": 2}
    np.testing.assert_array_equal(composed.table[2], [3, 6])
    assert task_vectors(path, [PART], "planted").coverage["found"] == 1
    with pytest.raises(ParameterError, match="vectors"):
        task_vectors(embedding, [PART], "planted", "subwords")
    with pytest.raises(ParameterError, match="'unknown'"):
        task_vectors(embedding, [PART], "planted", "guess")  # type: ignore[arg-type]
