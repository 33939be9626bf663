"""`corpus_of_documents`: some documents of a corpus as a corpus of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.errors import CorpusError
from biasgauge.text import TokenCorpus, corpus_of_documents, read_corpus

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = ["a b c\nd d", "b b", "e f\ng\nh", "a a a a"]


@pytest.fixture
def corpus(tmp_path: Path) -> TokenCorpus:
    return read_corpus(iter(TEXTS), out=tmp_path / "whole", tokenizer="whitespace")


def test_it_is_the_corpus_of_these_texts(corpus: TokenCorpus, tmp_path: Path) -> None:
    order = [2, 0, 2]
    found = corpus_of_documents(corpus, np.array(order), tmp_path / "some", {"draw": 3})
    same = read_corpus(iter([TEXTS[number] for number in order]), tokenizer="whitespace")
    assert found.checksum == same.checksum
    assert found.check() == found.checksum
    assert [found.document(number) for number in range(3)] == [corpus.document(number) for number in order]
    assert found.settings["draw"] == 3
    assert found.settings["source"] == corpus.checksum


def test_one_that_is_there_is_opened_if_it_is_the_same(corpus: TokenCorpus, tmp_path: Path) -> None:
    first = corpus_of_documents(corpus, np.array([0, 1]), tmp_path / "some")
    assert corpus_of_documents(corpus, np.array([0, 1]), tmp_path / "some").checksum == first.checksum
    with pytest.raises(CorpusError, match="holds a corpus of other documents"):
        corpus_of_documents(corpus, np.array([1, 0]), tmp_path / "some")
