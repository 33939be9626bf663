"""Training: words a second and core, and quality, beside gensim on the same text; and what a further replicate costs.

    python bench/training.py [--part speed|quality|replicates] [--tokens 5000000]

English Wikipedia from the shared data folder (BIASGAUGE_SHARED), 100 dimensions, window 5, 5 negatives, minimum count
5, one thread, processor time. Both sides are given the same lines; gensim reads them from a file, its fastest mode,
after its vocabulary was counted. Compilation is over before the clock starts. Quality is that of five epochs: the rank
correlation with human ratings of similarity and the share of Google's analogies that are solved, for two seeds. GloVe
has bench/glove.py.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import biasgauge as bg
from biasgauge.core import WordPolicy
from biasgauge.text.training.algorithms import algorithm
from biasgauge.text.training.sweep import TrainingText, training_text
from biasgauge.vectors import analogy_accuracy, similarity_benchmark

if TYPE_CHECKING:
    from biasgauge.text import TokenCorpus

SHARED = Path(os.environ.get("BIASGAUGE_SHARED", Path(__file__).parents[2] / "shared" / "data"))
BENCHMARKS = ("men", "wordsim353", "simlex999", "mturk771", "rw")
POLICY = WordPolicy(0.0, "fallback")
NAMES = ("sgns", "cbow", "fasttext")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--part", choices=["speed", "quality", "replicates"])
    options.add_argument("--tokens", type=int, default=5_000_000)
    options.add_argument("--algorithms", default=",".join(NAMES))
    chosen = options.parse_args()
    names = chosen.algorithms.split(",")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        corpus = sample(chosen.tokens, folder)
        text = training_text(corpus)
        print(f"{len(corpus.tokens):,} tokens, {len(text.vocabulary.words):,} words of the vocabulary\n")
        if chosen.part in (None, "speed"):
            speed(text, folder, names)
        if chosen.part in (None, "quality"):
            quality(text, folder, names)
        if chosen.part in (None, "replicates"):
            replicates(corpus, folder)


def sample(tokens: int, folder: Path) -> TokenCorpus:
    """Tokenize the text, and write the first so many tokens as the lines that both sides read."""
    whole = bg.text.read_corpus(SHARED / "enwiki_sample" / "enwiki_long_articles_5M.txt.xz", tokenizer="ascii-words")
    with (folder / "lines.txt").open("w", encoding="utf-8") as file:
        for line in range(len(whole.lines) - 1):
            if whole.lines[line] >= tokens:
                break
            words = (whole.words[token] for token in whole.tokens[whole.lines[line] : whole.lines[line + 1]])
            file.write(" ".join(words) + "\n")
    return bg.text.read_corpus(folder / "lines.txt", out=folder / "corpus", tokenizer="whitespace")


def ours(name: str, text: TrainingText, epochs: int, seed: int, folder: Path) -> tuple[float, Any]:
    one = algorithm(name)
    shared = one.trainer.prepare(text, one.settings_from({}), folder / "shared")
    started = time.process_time()
    fit = one.trainer.train(
        text, one.settings_from({"epochs": epochs}), seed=seed, shared=shared, threads=1, progress=None
    )
    return time.process_time() - started, bg.Embedding(text.vocabulary.words, fit.vectors, name=f"ours {seed}")


def gensims(name: str, epochs: int, seed: int, folder: Path) -> tuple[float, Any]:
    from gensim.models import FastText, Word2Vec

    maker = FastText if name == "fasttext" else Word2Vec
    model = maker(vector_size=100, window=5, min_count=5, sg=int(name != "cbow"), negative=5, workers=1, seed=seed)
    lines = str(folder / "lines.txt")
    model.build_vocab(corpus_file=lines)
    started = time.process_time()
    model.train(
        corpus_file=lines, total_words=model.corpus_total_words, total_examples=model.corpus_count, epochs=epochs
    )
    return time.process_time() - started, bg.load(model.wv, name=f"gensim {seed}")


def speed(text: TrainingText, folder: Path, names: list[str]) -> None:
    print("words a second and core, one epoch     ours      gensim   ratio")
    for name in names:
        ours(name, training_text(bg.text.read_corpus(iter(["a b c d e f"] * 20))), 1, 0, folder)  # compiles
        mine = min(ours(name, text, 1, 1, folder)[0] for _ in range(2))
        theirs = min(gensims(name, 1, 1, folder)[0] for _ in range(2))
        words = len(text.corpus.tokens)
        print(f"{name:32} {words / mine:12,.0f} {words / theirs:11,.0f} {theirs / mine:7.1f}", flush=True)
    print()


def quality(text: TrainingText, folder: Path, names: list[str]) -> None:
    print(f"five epochs                {' '.join(f'{name:>10}' for name in BENCHMARKS)}  analogies")
    for name in names:
        for seed in (1, 2):
            for vectors in (ours(name, text, 5, seed, folder)[1], gensims(name, 5, seed, folder)[1]):
                found = [similarity_benchmark(vectors, one).spearman.value for one in BENCHMARKS]
                share = analogy_accuracy(
                    vectors,
                    SHARED / "word_lists" / "word-test.v1.txt",
                    limit=30_000,
                    policy=POLICY,
                ).total
                numbers = " ".join(f"{value:10.3f}" for value in found)
                print(f"{name:12} {vectors.name:13} {numbers} {share.value:10.3f}", flush=True)
    print()


def replicates(corpus: TokenCorpus, folder: Path) -> None:
    """Wall time of N models side by side on all cores, from text to files."""
    print("from lines to N models of one epoch     seconds   of N times the first")
    for name in ("sgns", "glove"):
        first = 0.0
        for count in (1, 2, 4, 8):
            started = time.perf_counter()
            text = bg.text.read_corpus(
                folder / "lines.txt", out=folder / f"{name}{count}" / "corpus", tokenizer="whitespace"
            )
            bg.train(text, out=folder / f"{name}{count}", algorithm=name, seeds=count, epochs=1)
            taken = time.perf_counter() - started
            first = first or taken
            print(f"{name:20} {count:18} {taken:12.1f} {taken / (count * first):14.2f}", flush=True)
    assert len(corpus.tokens)  # noqa: S101 - the text outlives the measurement
    print()


if __name__ == "__main__":
    main()
