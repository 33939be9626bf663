"""Influence of documents: exact against counting the text again, and predicted against actual change of vectors."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.calibrate import check_influence
from biasgauge.analyses.calibrate.influence_retraining import without_documents
from biasgauge.errors import ParameterError
from biasgauge.text import TokenCorpus, planted_corpus, read_corpus

ASKED: dict[str, Any] = {"a": ["he"], "b": ["she"], "window": 3}


@pytest.fixture(scope="module")
def corpus() -> TokenCorpus:
    random = np.random.default_rng(0)
    words = ["he", "she", "nurse", "doctor", "of", "the", "and"]
    return read_corpus(
        iter("\n".join(" ".join(random.choice(words, 9)) for _ in range(random.integers(1, 5))) for _ in range(40))
    )


def test_without_documents_is_the_text_without_them(corpus: TokenCorpus) -> None:
    gone = [0, 7, 39]
    left = without_documents(corpus, gone)
    kept = [corpus.document(number) for number in range(40) if number not in gone]
    assert [left.document(number) for number in range(37)] == kept
    tokens = [token for document in kept for line in document for token in line]
    assert {word: int(count) for word, count in zip(left.words, left.counts, strict=True) if count} == {
        word: tokens.count(word) for word in set(tokens)
    }
    assert left.checksum != corpus.checksum


@pytest.mark.parametrize(
    "asked", [{"words": ["nurse"]}, {"words": ["nurse", "doctor"]}, {"x": ["nurse"], "y": ["doctor", "of"]}]
)
def test_every_change_is_that_of_counting_again(corpus: TokenCorpus, asked: dict[str, Any]) -> None:
    result = bg.influence(corpus, **asked, **ASKED)

    def number(text: TokenCorpus) -> float:
        found = bg.corpus_bias(text, **asked, **ASKED)
        value = found.sets[-1].value if found.sets else found.words[0].log_odds
        assert value is not None
        return value

    whole = number(corpus)
    assert result.value.value == pytest.approx(whole)
    for document in range(40):
        change = number(without_documents(corpus, [document])) - whole
        assert result.changes[document] == pytest.approx(change, abs=1e-10)
    assert result.change_without([3, 5, 8]) == pytest.approx(number(without_documents(corpus, [3, 5, 8])) - whole)


def test_the_documents_that_carry_it_come_first_and_no_text_is_told(corpus: TokenCorpus) -> None:
    result = bg.influence(corpus, words=["nurse"], top=4, **ASKED)
    sign = 1 if (result.value.value or 0) >= 0 else -1
    order = np.argsort(sign * result.changes, kind="stable")
    assert [row.document for row in result.documents[:4]] == order[:4].tolist()
    first = result.documents[0]
    assert first.tokens == sum(map(len, corpus.document(first.document)))
    content = json.loads(json.dumps(result.to_dict()))
    assert not {"changes", "counted"} & set(content)
    back = type(result).from_dict(content)
    assert back.to_dict() == content
    with pytest.raises(ParameterError, match="influence on the corpus"):
        back.change_without([0])
    with pytest.raises(ParameterError, match="numbered from 0 to 39"):
        result.change_without([40])


def test_removals_are_those_of_the_first_documents(corpus: TokenCorpus) -> None:
    result = bg.influence(corpus, words=["nurse"], **ASKED)
    sign = 1 if (result.value.value or 0) >= 0 else -1
    order = np.lexsort((np.arange(40), sign * result.changes))
    for step in result.removals:
        assert step.change == pytest.approx(result.change_without(order[: step.documents].tolist()))


@pytest.mark.calibration
def test_vectors_follow_the_counts_where_bias_is_planted() -> None:
    """Associations were planted sentence by sentence: removing sentences moves the vector as predicted."""
    planted = planted_corpus({"nurse": -0.6, "doctor": 0.5}, lines=6_000)
    text = read_corpus(planted.documents())
    result = bg.influence(text, words=["nurse"], pairs=planted.pairs)
    check = check_influence(result, text, removals=8, seeds=1, dim=16, epochs=4, n_jobs=1, subsample=0.0)
    assert check.r.value is not None
    assert check.r.value > 0.7
    top = check.removals[-1]
    assert top.kind == "top"
    assert top.predicted * (result.value.value or 0) < 0
    content = json.loads(json.dumps(check.to_dict()))
    assert type(check).from_dict(content).to_dict() == content


def test_another_corpus_is_refused(corpus: TokenCorpus) -> None:
    result = bg.influence(corpus, words=["nurse"], **ASKED)
    with pytest.raises(ParameterError, match="on this very corpus"):
        check_influence(result, without_documents(corpus, [0]))
