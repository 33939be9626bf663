"""The table of corpus sizes, by hand and as it was published."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

from biasgauge.errors import ParameterError
from biasgauge.text import read_corpus, statistics


def test_by_hand() -> None:
    corpus = read_corpus(iter(["a b\na", "", "b c c c"]))
    (row,) = statistics(corpus).rows
    assert (row.documents, row.lines, row.words, row.vocabulary, row.mean_length) == (2, 3, 7, 3, 3.5)
    (row,) = statistics(corpus, min_count=3).rows
    assert (row.documents, row.lines, row.words, row.vocabulary, row.mean_length) == (2, 3, 3, 1, 1.5)


def published(documents: list[list[str]]) -> tuple[int, int, int, float]:
    """Table A.1 of Badder Seeds (METHODS.md, section 3.2), token by token."""
    stripped = Counter(re.sub(r"[^\w\s]", "", token) for document in documents for token in document)
    kept = {word for word, count in stripped.items() if word and count >= 10}
    lengths = [sum(re.sub(r"[^\w\s]", "", token) in kept for token in document) for document in documents]
    types = {token for document in documents for token in document}
    return len(documents), sum(stripped[word] for word in kept), len(types), float(np.mean(lengths))


def test_as_published() -> None:
    random = np.random.default_rng(1)
    tokens = ["the", "the.", "cat", "cat's", ".", "--", "3.5", "35", "rare", "Ünique", "a_b"]
    documents = [[tokens[number] for number in random.integers(0, len(tokens), size)] for size in (3, 40, 25, 7)]
    corpus = read_corpus((" ".join(document) for document in documents), tokenizer="whitespace")
    result = statistics({"ours": corpus}, as_published="badder_seeds2022")
    (row,) = result.rows
    assert (row.documents, row.words, row.vocabulary, row.mean_length) == published(documents)
    assert row.words < len(corpus.tokens)
    assert result.counting.startswith("as published (badder_seeds2022)")
    assert row.name == "ours"


def test_shapes() -> None:
    result = statistics({"one": read_corpus(iter(["a b"])), "two": read_corpus(iter(["c"]))})
    frame = result.to_frame()
    assert frame["name"].tolist() == ["one", "two"]
    assert list(frame.columns) == ["name", "documents", "lines", "words", "vocabulary", "mean_length"]
    assert result.counting == result.to_dict()["counting"] == "all words"
    assert result.to_dict()["rows"][1]["words"] == 1
    assert "<td>two</td>" in result._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        ("text", {}, "'corpora' parameter of statistics must be a corpus, or a dict of them. Got str"),
        ({"a": 1}, {}, "'corpora' parameter"),
        (None, {"min_count": 0}, "'min_count' parameter must be a whole number of at least 1. Got 0"),
        (None, {"as_published": "du2021"}, "'as_published' parameter must be one of None, badder_seeds2022"),
    ],
)
def test_impossible_settings(arguments: Any, options: dict[str, Any], sentence: str) -> None:  # noqa: ANN401 - on purpose
    with pytest.raises(ParameterError, match=re.escape(sentence)):
        statistics(read_corpus(iter(["a"])) if arguments is None else arguments, **options)
