"""Random words of real text: sets of rare, frequent and mixed words do not differ more often than the level allows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from biasgauge.analyses.corpus_bias import ContextCounts, count_contexts
from biasgauge.core import Integers
from biasgauge.stats import clustered_estimate
from biasgauge.text import TokenCorpus, read_corpus

MALE = ["he", "his", "him", "man", "boy", "father", "son", "brother", "male"]
FEMALE = ["she", "her", "hers", "woman", "girl", "mother", "daughter", "sister", "female"]
GROUPS = {"even": (MALE, FEMALE), "29 to 1": (["he"], ["aunt", "sister"])}
BANDS = {"rare": (5, 30), "frequent": (2_000, 10**9), "mixed": (5, 10**9)}
"""Occurrences in the text."""
SIZE, DRAWS = 10, 150


@pytest.fixture(scope="module")
def reviews(shared_data: Path) -> TokenCorpus:
    return read_corpus(shared_data / "imdb_reviews_train25k" / "imdb_train25k.tsv.xz", layout="tsv", field=2)


@pytest.fixture(scope="module")
def articles(shared_data: Path) -> TokenCorpus:
    return read_corpus(shared_data / "enwiki_sample" / "enwiki_short_articles_10M.txt.xz", documents="blank-line")


def count_random_words(
    corpus: TokenCorpus, groups: tuple[list[str], list[str]], random: np.random.Generator
) -> tuple[ContextCounts, dict[str, Integers]]:
    """Counts of random words, and the rows of those of each band."""
    numbers = {word: number for number, word in enumerate(corpus.words)}
    a, b = ([numbers[word] for word in group if word in numbers] for group in groups)
    plain = np.array([word.isalpha() and len(word) > 2 for word in corpus.words])
    plain[[*a, *b]] = False
    drawn = []
    for least, most in BANDS.values():
        band = np.flatnonzero(plain & (corpus.counts >= least) & (corpus.counts <= most))
        drawn.append(random.choice(band, min(600, len(band)), replace=False))
    words = np.unique(np.concatenate(drawn))
    rows = {name: np.flatnonzero(np.isin(words, band)) for name, band in zip(BANDS, drawn, strict=True)}
    return count_contexts(corpus, words.tolist(), a, b), rows


@pytest.mark.slow
@pytest.mark.calibration
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("text", ["reviews", "articles"])
def test_random_words_of_real_text_do_not_differ(text: str, groups: str, request: pytest.FixtureRequest) -> None:
    """Random words lean, each a little, and the interval of a set speaks of other words like these."""
    random = np.random.default_rng(23)
    counts, rows = count_random_words(request.getfixturevalue(text), GROUPS[groups], random)
    for first, second in [("rare", "rare"), ("rare", "frequent"), ("frequent", "frequent"), ("mixed", "mixed")]:
        excluded = defined = 0
        for _ in range(DRAWS):
            x = random.choice(rows[first], SIZE, replace=False)
            y = random.choice(np.setdiff1d(rows[second], x), SIZE, replace=False)
            sides = [counts.clustered(words.tolist()) for words in (x, y)]
            if all(side.contexts for side in sides):
                defined += 1
                excluded += clustered_estimate(*sides, level=0.95).excludes(0) or 0
        assert defined > 0.8 * DRAWS
        assert excluded <= 0.05 * defined + 2 * (0.05 * 0.95 * defined) ** 0.5, (first, second, excluded, defined)


@pytest.mark.slow
@pytest.mark.calibration
def test_associations_of_real_text_are_found(articles: TokenCorpus) -> None:
    """Work of men and of women, near pronouns."""
    import biasgauge as bg

    x = ["footballer", "engineer", "general", "captain", "coach", "soldier", "king", "bishop"]
    y = ["actress", "nurse", "queen", "singer", "mother", "pregnant", "ballet", "nun"]
    contrast = bg.corpus_bias(articles, x=x, y=y, a=["he", "his", "him"], b=["she", "her", "hers"]).contrast
    assert contrast is not None
    assert (contrast.low or 0) > 0
