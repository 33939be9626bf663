"""`corpus_bias`: association of words with two groups in a text, from counts alone: log odds ratios."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, get_args

from biasgauge.analyses.corpus_bias.counting import Weighting
from biasgauge.analyses.corpus_bias.estimates import Interval, Uncertainty, estimate_sets, estimate_words
from biasgauge.analyses.corpus_bias.query import CorpusQuery, QueryCounts, corpus_query, count_query
from biasgauge.analyses.corpus_bias.result import CorpusBias
from biasgauge.core import (
    DEFAULT_POLICY,
    LexiconLike,
    PairsLike,
    WordPolicy,
    WordsLike,
    check_choice,
    check_level,
    check_whole,
)
from biasgauge.stats import odds_ratios
from biasgauge.text import TokenCorpus, corpus_of

CorpusLike = TokenCorpus | str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
VALENTINI = "valentini2023"


def corpus_bias(  # noqa: PLR0913 - settings are keyword arguments
    corpus: CorpusLike,
    words: WordsLike | None = None,
    *,
    a: WordsLike | None = None,
    b: WordsLike | None = None,
    pairs: PairsLike | None = None,
    test: LexiconLike | None = None,
    x: WordsLike | None = None,
    y: WordsLike | None = None,
    window: int = 5,
    weighting: Weighting = "flat",
    min_count: int = 1,
    interval: Interval = "documents",
    level: float = 0.95,
    resamples: int = 2_000,
    min_contexts: int = 0,
    policy: WordPolicy = DEFAULT_POLICY,
    as_published: str | None = None,
    layout: str = "auto",
    tokenizer: str | Callable[[str], Iterable[str]] = "words",
    field: str | int | None = None,
    documents: str = "line",
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> CorpusBias:
    """Log odds ratio of words near group A against near group B, from the text itself, before any embedding.

    For a word w it is log [n_wA · n_¬wB / (n_¬wA · n_wB)], where n_wA counts tokens within ± `window` tokens of an A
    word, in the same line, that are w, and n_¬wA those that are not; for rare words it is PMI(w, A) − PMI(w, B).
    0: as likely near both. Where a count is 0, all four are raised in proportion to the contexts of the groups, ½ in
    the smaller. A set has the log odds ratio of its words' counts together, a test the difference of two. Undefined
    without contexts. Sources: Valentini et al. 2023; Sweeting et al. 2004; of the interval Korn & Graubard 1998.

    Args:
        corpus: a tokenized corpus, its folder, or what `read_corpus` reads.
        words: words to ask about: a list, a lexicon, one of its sets. A lexicon of several sets also gives an estimate
            for each set.
        a: words of the first group, such as ["he"].
        b: words of the second group, such as ["she"].
        pairs: base pairs instead of a and b: the first ends are A, the second ends B.
        test: a lexicon of kind "test": targets X and Y, attributes A and B. The contrast is the log odds ratio of X
            less that of Y.
        x: first targets, in the place of `words`.
        y: second targets.
        window: tokens on each side.
        weighting: "flat": every context counts 1. "word2vec": (window + 1 − distance) / window, as often as its
            shrinking window reaches it. "glove": 1 / distance.
        min_count: words rarer than this are skipped before distances are counted, as trainers do.
        interval: "documents": Clopper–Pearson, with the variance of leaving out each document, and each word of a set;
            "bootstrap": documents drawn again, and the words as they are; "closed-form": contexts taken as independent,
            which is too narrow where they are not.
        level: nominal coverage of the intervals.
        resamples: bootstrap samples of documents.
        min_contexts: contexts of both groups together, or sum of their weights, below which a word, or a set, is
            undefined. Without any context it always is, but as published; intervals cover at any number.
        policy: how words are looked up, and how many of each group and each set the text must have; `case="auto"`:
            other cases are tried where the text is all in lower case.
        as_published: "valentini2023": .5 goes into those of the four counts that are 0, as in the code they used
            (statsmodels' `Table2x2`).
        layout: of a text that is read: "lines", "paragraphs", "wikitext", "tsv", "csv", "jsonl", or "auto".
        tokenizer: of a text that is read.
        field: column or field of a table that is read.
        documents: what is a document in plain lines: "line", "blank-line" or "file".
        random_state: seed of the bootstrap.
        progress: called with (done, total).

    Raises:
        ParameterError: an argument cannot be used, or a word stands in both groups.
        CorpusError: the text cannot be read.
    """
    check_whole(1, window=window, min_count=min_count, resamples=resamples)
    check_choice(get_args(Weighting), weighting=weighting)
    check_choice(get_args(Interval), interval=interval)
    check_choice((None, VALENTINI), as_published=as_published)
    check_level(level)
    check_whole(0, min_contexts=min_contexts)
    query = corpus_query(words, a=a, b=b, pairs=pairs, test=test, x=x, y=y)
    text = corpus_of(corpus, layout=layout, tokenizer=tokenizer, field=field, documents=documents)
    counting: dict[str, Any] = {"window": window, "weighting": weighting, "min_count": min_count}
    counted = count_query(text, query, policy, progress, **counting)
    shift: odds_ratios.Shift = "margins" if as_published is None else "zeros"
    uncertainty = Uncertainty(interval, level, resamples, random_state, shift, min_contexts)
    return CorpusBias(
        words=estimate_words(counted, query, uncertainty, weighted=weighting != "flat"),
        sets=estimate_sets(counted, query, uncertainty, policy.min_coverage),
        a=counted.coverage.sets["a"].words,
        b=counted.coverage.sets["b"].words,
        names=query.names,
        coverage=counted.coverage.to_dict(),
        settings={
            "corpus": text.checksum, "tokens": len(text.tokens), "documents": len(text.documents) - 1, **counting,
            "interval": interval, "level": level, "resamples": resamples, "min_contexts": min_contexts,
            "min_coverage": policy.min_coverage, "case_fallback": counted.case_fallback, "as_published": as_published,
            "random_state": random_state,
        },
        warnings=tuple(_warnings(counted, query, text)),
    )  # fmt: skip


def _warnings(counted: QueryCounts, query: CorpusQuery, text: TokenCorpus) -> Iterator[str]:
    yield from (str(notice) for notice in text.settings.get("notices", ()))
    for name, words in counted.coverage.lost.items():
        yield f"not in the text, {name}: {', '.join(words)}"
    group_words = [word for word in query.words if word in {*query.a, *query.b}]
    if group_words:
        yield f"asked about, and themselves words of a group: {', '.join(group_words)}"
