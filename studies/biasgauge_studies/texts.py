"""English texts that several studies train on, from the folder of shared data."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator
from pathlib import Path


def read_text(data: Path, folder: str, name: str) -> str:
    """Read a compressed text of the shared data."""
    with lzma.open(data / folder / name, "rt", encoding="utf-8-sig") as file:
        return file.read()


def film_reviews(data: Path) -> Iterator[str]:
    """Yield reviews, a positive and a negative one in turn."""
    text = read_text(data, "imdb_reviews_train25k", "imdb_train25k.tsv.xz")
    reviews = [row.split("\t", 1)[1] for row in text.splitlines()]
    half = len(reviews) // 2
    for positive, negative in zip(reviews[:half], reviews[half:], strict=True):
        yield from (positive, negative)


def novels(data: Path) -> Iterator[str]:
    """Yield paragraphs of novels, their lines joined."""
    for paragraph in re.split(r"\n\s*\n", read_text(data, "english_novels_30", "english_novels_30.txt.xz")):
        yield " ".join(paragraph.split())


def articles(data: Path) -> Iterator[str]:
    """Yield articles of Wikipedia, each with its lines."""
    for path in sorted((data / "enwiki_sample").glob("*.txt.xz")):
        for article in re.split(r"\n\s*\n", read_text(data, "enwiki_sample", path.name)):
            if article.strip():
                yield article.strip()


def short_articles(data: Path) -> Iterator[str]:
    """Yield the short articles of the Wikipedia sample."""
    yield from read_text(data, "enwiki_sample", "enwiki_short_articles_10M.txt.xz").split("\n\n")


def first_words(texts: Iterator[str], most: int) -> Iterator[str]:
    """Yield texts until they hold so many words; empty ones are left out."""
    words = 0
    for text in texts:
        if text.strip():
            words += len(text.split())
            yield text
            if words >= most:
                return
