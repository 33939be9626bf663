"""Make the reference frequencies that ship with the package: how often a word occurs in text of several kinds.

    python scripts/make_reference_frequencies.py

They tell whether a file of vectors lists its words by frequency, and stand in for the counts of models that have none.
Each kind of text has the same weight, whatever its size: English from Wikipedia, film reviews and novels, Spanish from
dialogue of films and novels. Kept are words of letters, with apostrophes and hyphens inside, that occur at least five
times. Numbers are occurrences in a hundred million tokens. The same texts give the same bytes.
"""

from __future__ import annotations

import gzip
import lzma
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from biasgauge.vectors.frequencies import reference_path

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("BIASGAUGE_SHARED", ROOT.parent / "shared" / "data"))
TEXTS = {
    "en": ("enwiki_sample/*.txt.xz", "imdb_reviews_train25k/*.tsv.xz", "english_novels_30/*.txt.xz"),
    "es": ("spanish_dialogue_activ_es/*.txt.xz", "spanish_novels_conha19/*.txt.xz"),
}
TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
FEWEST, MOST_WORDS, TOTAL = 5, 60_000, 10**8


def tokens_of(pattern: str) -> Iterator[str]:
    """Yield the lower-case words of the texts of one kind."""
    for path in sorted(SHARED.glob(pattern)):
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield from TOKEN.findall(line.lower().replace("’", "'").replace("<br /><br />", " "))


def make(language: str) -> int:
    """Write the list of one language; return its number of words."""
    counts = [Counter(tokens_of(pattern)) for pattern in TEXTS[language]]
    totals = [sum(count.values()) for count in counts]
    words = {word for count in counts for word in count if sum(kind[word] for kind in counts) >= FEWEST}
    shares = {
        word: sum(count[word] / total for count, total in zip(counts, totals, strict=True)) / len(counts)
        for word in words
    }
    kept = sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:MOST_WORDS]
    lines = [f"{word},{max(1, round(share * TOTAL))}\n" for word, share in kept]
    path = reference_path(language)
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write("".join(lines).encode())
    return len(kept)


if __name__ == "__main__":
    for language in TEXTS:
        print(f"{language}: {make(language):,} words, {reference_path(language).stat().st_size:,} bytes")
