"""Rates behind the estimates of `study plan` (src/biasgauge/study/costs.py): CPU seconds of one core, by unit of work.

    python bench/study_costs.py [--tokens 2000000]

A text of made-up words in Zipf's proportions is tokenized, balanced, trained on and scored. The last column is what
costs.py has; where a machine is twice as fast or slow, so are its studies, and a store that holds finished cells of a
study corrects the estimates of the others.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import biasgauge as bg
from biasgauge.study.costs import RATES

if TYPE_CHECKING:
    from collections.abc import Callable

LETTERS = str.maketrans("0123456789", "ghijklmnop")


def seconds(work: Callable[[], object]) -> float:
    """CPU time, so that other programs on the machine do not count."""
    started = time.process_time()
    work()
    return time.process_time() - started


def text(path: Path, tokens: int) -> None:
    random = np.random.default_rng(0)
    shares = 1 / np.arange(1, 200_001)
    ranks = random.choice(len(shares), tokens, p=shares / shares.sum()).tolist()
    names = dict(enumerate(("he", "she", "man", "woman", "his", "her", "math", "poetry", "art", "son", "daughter")))
    words = [names.setdefault(rank, f"{rank:x}".translate(LETTERS)) for rank in ranks]
    path.write_text("\n".join(" ".join(words[at : at + 20]) for at in range(0, tokens, 20)) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=2_000_000)
    tokens = parser.parse_args().tokens
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "text.txt"
        text(source, tokens)
        found["corpus, a byte"] = (
            seconds(lambda: bg.text.read_corpus(source, out=folder / "corpus")) / source.stat().st_size
        )
        found["balance, a byte"] = (
            seconds(lambda: bg.balance(source, "weat7", out=folder / "even.txt")) / source.stat().st_size
        )
        corpus = bg.text.open_corpus(folder / "corpus")
        short = bg.text.read_corpus(iter(["a b a b"] * 50), out=folder / "short")
        for algorithm in ("sgns", "cbow", "fasttext", "glove"):
            bg.train(short, out=folder / "warm", algorithm=algorithm, dim=100, epochs=1)  # compiles
            for dim in (100, 300):
                taken = seconds(
                    lambda: bg.train(corpus, out=folder / "models", algorithm=algorithm, dim=dim, epochs=1, n_jobs=1)  # noqa: B023 - called at once
                )
                found[f"{algorithm} of {dim}, a token and epoch"] = taken / tokens
        models = sorted((folder / "models").glob("sgns-100d*.safetensors"))
        model = bg.load(models[0])
        found["load, a word and dimension"] = seconds(lambda: bg.load(models[0])) / model.vectors.size
        pairs = [("he", "she"), ("man", "woman"), ("his", "her")]
        for measure, unit in (("dbwa", len(pairs)), ("nbm", len(model))):
            taken = seconds(lambda: bg.score(model, pairs=pairs, words="full", measures=[measure], n_jobs=1))  # noqa: B023 - called at once
            found[f"{measure}, a word, dimension and {'pair' if measure == 'dbwa' else 'neighbor'}"] = (
                taken / model.vectors.size / unit
            )
    print(f"{tokens:,} tokens, {len(model):,} words")
    print(f"{'what':40}  {'measured':>10}  {'costs.py':>10}")
    for what, rate in found.items():
        print(f"{what:40}  {rate:10.2e}  {RATES.get(what, float('nan')):10.2e}")


if __name__ == "__main__":
    main()
