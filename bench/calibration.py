"""Calibration: tokens a second that are planted, beside reading them once, and what a default calibration takes.

    python bench/calibration.py [--part planting|design] [--tokens 10000000]

English Wikipedia from the shared data folder (BIASGAUGE_SHARED), one thread for planting, processor time, compilation
over before the clock starts. A planted text takes four turns through it, each of three readings, and a last reading for
the counts. The baseline is one reading of the tokens by NumPy: counting each word once.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import biasgauge as bg
from biasgauge.calibration import Mentions, Mixture, Shuffle, Swap, plant
from biasgauge.calibration.carriers import assign_doses, choose_carriers
from biasgauge.calibration.design import Design
from biasgauge.calibration.edit import Edit, Text

if TYPE_CHECKING:
    from biasgauge.corpora import TokenCorpus

SHARED = Path(os.environ.get("BIASGAUGE_SHARED", Path(__file__).parents[2] / "shared" / "data"))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--part", choices=["planting", "design"])
    options.add_argument("--tokens", type=int, default=10_000_000)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        files = sorted((SHARED / "enwiki_sample").glob("*5M*.txt.xz"))[: max(1, round(chosen.tokens / 5e6))]
        corpus = bg.corpora.read_corpus(files, out=folder / "corpus", documents="blank-line")
        print(f"{len(corpus.tokens):,} tokens, {len(corpus.words):,} words\n")
        if chosen.part in (None, "planting"):
            planting(corpus, folder)
        if chosen.part in (None, "design"):
            design(corpus, folder)


def planting(corpus: TokenCorpus, folder: Path) -> None:
    """Tokens a second of every edit, without and with writing the corpus."""
    pairs = bg.lexicons.pairs_of("du2021").pairs
    plan = Design()
    carriers = choose_carriers(corpus, pairs, len(plan.levels))
    doses = assign_doses(carriers, plan.levels, 0, 0)
    shares = {word: 0.05 * dose for word, dose in doses.items()}
    edits: list[Edit] = [Mentions(doses, pairs), Mixture(shares, pairs), Swap(pairs), Shuffle()]
    started = time.process_time()
    np.bincount(corpus.tokens, minlength=len(corpus.words))
    once = time.process_time() - started
    print(f"one reading: {len(corpus.tokens) / once / 1e6:.1f} M tokens/s")
    for edit in edits:
        edit.apply(Text(corpus, corpus.tokens.copy()), 0)  # compiled
        tokens = corpus.tokens.copy()
        started = time.process_time()
        edit.apply(Text(corpus, tokens), 1)
        alone = time.process_time() - started
        started = time.process_time()
        plant(corpus, edit, out=folder / edit.name)
        whole = time.process_time() - started
        speeds = [len(corpus.tokens) / seconds / 1e6 for seconds in (alone, whole)]
        print(
            f"{edit.name:10} edit {speeds[0]:7.1f} M tokens/s ({alone / once:5.1f} readings), "
            f"with counts, checksum and files {speeds[1]:6.1f} M tokens/s"
        )


def design(corpus: TokenCorpus, folder: Path) -> None:
    """The default calibration: what was estimated, and what it took."""
    started = time.monotonic()
    bg.calibrate(corpus, out=folder / "calibration", tell=print)
    print(f"the default design took {(time.monotonic() - started) / 60:.1f} minutes on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
