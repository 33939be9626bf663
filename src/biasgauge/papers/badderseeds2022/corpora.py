"""Table A.1 of Badder Seeds: sizes of the corpora, counted as published and plainly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from pydantic import BaseModel

from biasgauge.errors import CorpusError
from biasgauge.io import ByteSource, parse_json
from biasgauge.papers.badderseeds2022.published import CORPORA, PACKAGE, REVIEWS
from biasgauge.papers.paper import Data, Progress, published_rows
from biasgauge.papers.row import Recomputed
from biasgauge.text import PUBLISHED, read_corpus, statistics, whole_lines

TOKENIZER = "spacy:en"
_LEAST_LETTERS = 20
_NO_SPACY = 'spaCy, which split the words, is not installed; install it with: pip install "biasgauge[spacy]"'
_NOT_SEEDED = "; which reviews were drawn is not known: no seed was set"
_MIXED = (
    "as published: words are those left with at least 10 occurrences when signs are deleted, but the vocabulary is "
    "that of all tokens, signs and numbers too; corrected: all tokens for all four"
)


def fill(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Count the corpora that are there."""
    available = [corpus for corpus in CORPORA if data.find(corpus) is not None]
    if find_spec("spacy") is None:
        rows = [row for row in published_rows(PACKAGE) if row.part == "tableA1" and row.needs in available]
        return {row.id: Recomputed(note=_NO_SPACY) for row in rows}
    recomputed: dict[str, Recomputed] = {}
    for number, corpus in enumerate(available):
        recomputed |= _sizes(corpus, data.path(corpus), seed)
        if progress is not None:
            progress(number + 1, len(available))
    return recomputed


def _sizes(corpus: str, path: Path, seed: int) -> dict[str, Recomputed]:
    if corpus == "wikitext":
        tokens = read_corpus(path, layout="wikitext", tokenizer=TOKENIZER)
    else:
        tokens = read_corpus(iter(articles(path) if corpus == "nyt" else reviews(path, seed)), tokenizer=TOKENIZER)
    (theirs,), (ours,) = statistics(tokens, as_published=PUBLISHED).rows, statistics(tokens).rows
    drawn = _NOT_SEEDED if corpus in {"romance", "history"} else ""
    sizes = {
        f"tableA1.{corpus}.{size}": Recomputed(
            getattr(theirs, size),
            getattr(ours, size),
            note=_MIXED + drawn if size != "documents" else "",
            same_data=not drawn or size == "documents",
        )
        for size in ("documents", "words", "vocabulary", "mean_length")
    }
    paragraphs = Recomputed.both(ours.lines, "lines that have a word; the paper does not say what it counts")
    return {**sizes, "tableA1.nyt.paragraphs": paragraphs} if corpus == "nyt" else sizes


def articles(path: Path) -> Iterator[str]:
    """Articles of the file of New York Times articles, a paragraph a line: each begins with a line "URL: …"."""
    lines: list[str] = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.startswith("URL"):
                if lines:
                    yield "\n".join(lines)
                lines = []
            elif line.strip():
                lines.append(line.strip())
    if lines:
        yield "\n".join(lines)


def reviews(path: Path, seed: int) -> Iterator[str]:
    """500 reviews, drawn at random, of every book that has as many of more than 20 characters."""
    counts = Counter(book for book, _ in _long_reviews(path))
    random = np.random.default_rng(seed)
    drawn = {
        book: frozenset(random.choice(count, REVIEWS, replace=False).tolist())
        for book, count in sorted(counts.items())
        if count >= REVIEWS
    }
    seen: Counter[str] = Counter()
    for book, text in _long_reviews(path):
        if book in drawn and seen[book] in drawn[book]:
            yield text.replace("\n", "")
        seen[book] += 1


class _Review(BaseModel, coerce_numbers_to_str=True):
    book_id: str
    review_text: str


def _long_reviews(path: Path) -> Iterable[tuple[str, str]]:
    with ByteSource(path, error=CorpusError) as source:
        for number, line in whole_lines(source):
            try:
                review = _Review.model_validate(parse_json(line))
            except ValueError as problem:  # no JSON, or another object
                raise CorpusError(
                    "is no review; expected a JSON object with book_id and review_text", path=path, line=number
                ) from problem
            if len(review.review_text) > _LEAST_LETTERS:
                yield review.book_id, review.review_text
