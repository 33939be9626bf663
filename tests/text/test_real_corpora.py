"""Real text: the counts that were published with it."""

from __future__ import annotations

import lzma
import re
from typing import TYPE_CHECKING

import pytest

from biasgauge.text import read_corpus, statistics, vocabulary

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.shared
def test_wikipedia_sample_has_the_counts_of_the_glove_reference(shared_data: Path) -> None:
    """data/glove_reference/SOURCE.txt: 93,557 lines, 5,009,476 tokens, 38,249 words of at least 5."""
    path = shared_data / "enwiki_sample" / "enwiki_long_articles_5M.txt.xz"
    corpus = read_corpus(path, tokenizer="ascii-words", documents="blank-line")
    assert (len(corpus.lines) - 1, len(corpus.tokens)) == (93_557, 5_009_476)
    assert len(vocabulary(corpus, min_count=5).words) == 38_249
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as file:
        articles = re.split(r"\n\s*\n", file.read().strip())
    assert statistics(corpus).rows[0].documents == len(articles)


@pytest.mark.shared
@pytest.mark.slow
def test_reviews_are_documents(shared_data: Path) -> None:
    """data/README.md: 25,000 reviews, 5.8 million tokens; a field by number, since there is no header."""
    corpus = read_corpus(shared_data / "imdb_reviews_train25k" / "imdb_train25k.tsv.xz", layout="tsv", field=2)
    row = statistics(corpus).rows[0]
    assert row.documents + corpus.settings["empty_documents"] == 25_000
    assert row.words == pytest.approx(5.8e6, rel=0.02)
