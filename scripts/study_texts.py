"""English texts of the shared data folder, which several studies train on."""

from __future__ import annotations

import lzma
import os
import re
from collections.abc import Iterator
from pathlib import Path

SHARED = Path(os.environ.get("BIASGAUGE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))


def text(*parts: str) -> str:
    """A compressed text of the shared data."""
    with lzma.open(SHARED.joinpath(*parts), "rt", encoding="utf-8-sig") as file:
        return file.read()


def films() -> Iterator[str]:
    """Reviews, a positive and a negative one in turn."""
    rows = [row.split("\t", 1)[1] for row in text("imdb_reviews_train25k", "imdb_train25k.tsv.xz").splitlines()]
    half = len(rows) // 2
    for one, other in zip(rows[:half], rows[half:], strict=True):
        yield from (one, other)


def novels() -> Iterator[str]:
    """Paragraphs, their lines joined."""
    for one in re.split(r"\n\s*\n", text("english_novels_30", "english_novels_30.txt.xz")):
        yield " ".join(one.split())


def articles() -> Iterator[str]:
    """Articles of Wikipedia, each with its lines."""
    for path in sorted(SHARED.joinpath("enwiki_sample").glob("*.txt.xz")):
        for one in re.split(r"\n\s*\n", text("enwiki_sample", path.name)):
            if one.strip():
                yield one.strip()


def first_words(texts: Iterator[str], most: int) -> Iterator[str]:
    """Texts until they hold so many words."""
    read = 0
    for one in texts:
        if one.strip():
            read += len(one.split())
            yield one
            if read >= most:
                return
