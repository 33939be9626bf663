"""Train the replicates that ship with the package: skip-gram on a sample of English Wikipedia, four seeds.

    python scripts/make_default_replicates.py [FOLDER]

The text is `enwiki_sample` in the shared data folder: 30 million tokens, articles divided by blank lines. FOLDER keeps
the tokenized text and the whole models between runs; an interrupted run goes on where it was. Kept in the package are
every word of the shipped English lexicons and the most frequent words, `WORDS` in all, in half precision, with their
counts. The same text gives the same bytes. Takes about fifteen minutes on two idle cores.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from make_default_vectors import lexicon_words  # beside this file

import biasgauge as bg
from biasgauge.vectors.loading import REPLICATES, replicate_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WORDS = 25_000
ROOT = Path(__file__).resolve().parents[1]


def default_source() -> list[Path]:
    """The Wikipedia sample in the shared data folder."""
    shared = Path(os.environ.get("BIASGAUGE_SHARED", ROOT.parent / "shared" / "data"))
    return sorted((shared / "enwiki_sample").glob("*.txt.xz"))


def kept_words(vocabulary: tuple[str, ...]) -> list[str]:
    """Lexicon words that the text has, then frequent words, `WORDS` in all."""
    listed = lexicon_words()
    first = [word for word in vocabulary if word in listed]
    return [*first, *(word for word in vocabulary if word not in listed)][:WORDS]


def make(folder: Path, target: Path, seeds: Sequence[int] = range(REPLICATES)) -> None:
    """Train what is not in `folder` yet, and write the cut models to `target`."""
    corpus = bg.text.read_corpus(
        default_source(), out=folder / "corpus", documents="blank-line", progress=_say("reading")
    )
    trained = bg.train(
        corpus,
        out=folder,
        algorithm="sgns",
        seeds=seeds,
        min_count=5,
        dim=64,
        window=5,
        epochs=5,
        progress=_say("training"),
    )
    print()
    target.mkdir(parents=True, exist_ok=True)
    for model in trained.models:
        whole = model.load()
        chosen = whole.subset(kept_words(whole.words))
        path = target / replicate_path(model.recipe.seed).name
        half = chosen.vectors.astype(np.float16)
        bg.save(bg.Embedding(chosen.words, half, frequencies=chosen.frequencies), path)
        print(f"{path.name}: {len(chosen):,} words of {len(whole):,}, {path.stat().st_size:,} bytes")


def _say(what: str) -> Callable[[int, int], None]:
    def report(done: int, total: int) -> None:
        print(f"\r{what} {done / total:6.1%}", end="", flush=True)

    return report


if __name__ == "__main__":
    make(Path(sys.argv[1] if len(sys.argv) > 1 else "default-replicates"), replicate_path(0).parent)
