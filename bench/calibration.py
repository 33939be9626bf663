"""Calibration: tokens a second that are planted, beside reading them once, and what a default calibration takes.

    python bench/calibration.py [--part planting|design] [--tokens 10000000] [--n-jobs 2]

English Wikipedia from the shared data folder (BIASGAUGE_SHARED), one thread for planting, processor time, compilation
over before the clock starts. A planted text takes four turns through it, each of three readings, and a last reading for
the counts. The baseline is one reading of the tokens by NumPy: counting each word once.
"""

from __future__ import annotations

import argparse
import lzma
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import biasgauge as bg
from biasgauge.analyses.calibrate import (
    CalibrationDesign,
    Edit,
    EditableText,
    Mentions,
    Mixture,
    Shuffle,
    Swap,
    assign_doses,
    choose_carriers,
    plant,
)

if TYPE_CHECKING:
    from biasgauge.text import TokenCorpus

SHARED = Path(os.environ.get("BIASGAUGE_SHARED", Path(__file__).parents[2] / "shared" / "data"))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--part", choices=["planting", "design"])
    options.add_argument("--tokens", type=int, default=10_000_000)
    options.add_argument("--n-jobs", type=int, help="models at a time; all cores by default")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        files = sorted((SHARED / "enwiki_sample").glob("*5M*.txt.xz"))[: max(1, round(chosen.tokens / 5e6))]
        given: Any = files
        if chosen.tokens < 5e6:
            with lzma.open(files[0], "rt", encoding="utf-8") as file:
                whole = file.read()
            given = folder / "part.txt"
            given.write_text(whole[: int(len(whole) * chosen.tokens / 5e6)], encoding="utf-8")
        corpus = bg.text.read_corpus(given, out=folder / "corpus", documents="blank-line")
        print(f"{len(corpus.tokens):,} tokens, {len(corpus.words):,} words\n")
        if chosen.part in (None, "planting"):
            planting(corpus, folder)
        if chosen.part in (None, "design"):
            design(corpus, folder, chosen.n_jobs)


def planting(corpus: TokenCorpus, folder: Path) -> None:
    """Tokens a second of every edit, without and with writing the corpus."""
    pairs = bg.lexicons.pairs_of("du2021").pairs
    plan = CalibrationDesign()
    carriers = choose_carriers(corpus, pairs, len(plan.levels))
    doses = assign_doses(carriers, plan.levels, 0, 0)
    shares = {word: 0.05 * dose for word, dose in doses.items()}
    edits: list[Edit] = [Mentions(doses, pairs), Mixture(shares, pairs), Swap(pairs), Shuffle()]
    started = time.process_time()
    np.bincount(corpus.tokens, minlength=len(corpus.words))
    once = time.process_time() - started
    print(f"one reading: {len(corpus.tokens) / once / 1e6:.1f} M tokens/s")
    for edit in edits:
        edit.apply(EditableText(corpus, corpus.tokens.copy()), 0)  # compiled
        tokens = corpus.tokens.copy()
        started = time.process_time()
        edit.apply(EditableText(corpus, tokens), 1)
        alone = time.process_time() - started
        started = time.process_time()
        plant(corpus, edit, out=folder / edit.name)
        whole = time.process_time() - started
        speeds = [len(corpus.tokens) / seconds / 1e6 for seconds in (alone, whole)]
        print(
            f"{edit.name:10} edit {speeds[0]:7.1f} M tokens/s ({alone / once:5.1f} readings), "
            f"with counts, checksum and files {speeds[1]:6.1f} M tokens/s"
        )


def design(corpus: TokenCorpus, folder: Path, n_jobs: int | None) -> None:
    """The default calibration with an audit's verdicts: what was estimated, and what it took, part by part.

    It is asked three times in one folder: whole; again, when texts and models are there; and without verdicts.
    """
    from biasgauge.audits.calibrated import verdict_rates

    def took(**more: Any) -> tuple[float, float]:  # noqa: ANN401 - of calibrate
        started, used = time.monotonic(), time.process_time()
        bg.calibrate(corpus, out=folder / "calibration", n_jobs=n_jobs, **more)
        return time.monotonic() - started, time.process_time() - used

    whole = took(tell=print, verdicts=verdict_rates)
    again, rest = took(verdicts=verdict_rates), took()
    print(f"the default design took {whole[0] / 60:.1f} minutes ({n_jobs or os.cpu_count()} models at a time)")
    for name, seconds in (
        ("planting and training", whole[1] - again[1]),
        ("verdicts", again[1] - rest[1]),
        ("scores, tests, limits", rest[1]),
    ):
        print(f"{name:22} {seconds:7.1f} s of a processor")


if __name__ == "__main__":
    main()
