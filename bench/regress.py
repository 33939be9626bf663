"""Embedding regression of a long text after tokenization, against a bare pass of the same arithmetic, in one run.

    python bench/regress.py [--tokens 20000000] [--targets 100] [--dim 300]

The text is made up: 20,000 words with the frequencies of Zipf's law, 25 a line, 20 lines a document; vectors are random
numbers. Targets are words of ranks 500 to 600, regressed as a sample of words on four covariates (two factors, two
numbers), with clusters of ten documents, an axis and counts of lists of eight words. The bare pass is what no embedding
of occurrences can do without: gather the vectors around each occurrence, and one matrix product. Seconds of the clock
and of the processor, on one core.

Where R is installed, one target is also regressed in base R (`regress.R`): least squares, HC1 and permutations over
its single occurrences, which are embedded before the clock starts, against `regress` from the text on. conText itself
needs quanteda, which Debian does not have.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.regress import ContextReader
from biasgauge.core import VectorsLike
from biasgauge.text import TokenCorpus, read_corpus

TYPES, WORDS_A_LINE, LINES_A_DOCUMENT, WINDOW = 20_000, 25, 20, 6
FIRST_TARGET = 500


def made_up(tokens: int) -> TokenCorpus:
    """A text of words by Zipf's law."""
    random = np.random.default_rng(0)
    words = np.array([f"w{number}" for number in range(TYPES)], object)
    share = 1 / np.arange(3, TYPES + 3)
    size = WORDS_A_LINE * LINES_A_DOCUMENT
    drawn = (random.choice(words, p=share / share.sum(), size=size).tolist() for _ in range(tokens // size))
    lines = ("\n".join(" ".join(text[at : at + WORDS_A_LINE]) for at in range(0, size, WORDS_A_LINE)) for text in drawn)
    return read_corpus(lines, tokenizer="whitespace")


def bare_pass(reader: ContextReader, matrix: np.ndarray, targets: list[str]) -> int:
    """Gather vectors around occurrences and multiply; return how many occurrences there are."""
    index = {word: number for number, word in enumerate(reader.corpus.words)}
    ids = [index[word] for word in targets]
    rows = np.full(len(index), 0)
    rows[[index[word] for word in reader.embedding.words]] = np.arange(len(reader.embedding))
    tokens = np.asarray(reader.corpus.tokens)
    places = np.flatnonzero(np.isin(tokens, ids))
    places = places[(places >= WINDOW) & (places < len(tokens) - WINDOW)]
    around = np.array([shift for shift in range(-WINDOW, WINDOW + 1) if shift])
    for first in range(0, len(places), 4096):
        block = reader.matrix[rows[tokens[places[first : first + 4096, None] + around]]]
        block.mean(axis=1) @ matrix.T
    return len(places)


def against_r(
    reader: ContextReader, matrix: np.ndarray, covariates: pd.DataFrame, target: str, vectors: VectorsLike,
    arguments: argparse.Namespace,
) -> None:  # fmt: skip
    """Regress one target by `regress` from the text on, and by R from its embedded occurrences on."""
    right = "party + chamber + year + age"
    started, used = time.perf_counter(), time.process_time()
    fit = bg.regress(
        reader.corpus, f"{target} ~ {right}", metadata=covariates, permutations=arguments.permutations,
        vectors=vectors, transform=matrix, window=WINDOW,
    )  # fmt: skip
    seconds, processor = time.perf_counter() - started, time.process_time() - used
    blocks = list(reader.occurrences([target]))
    outcomes = np.vstack([block.means for block in blocks]) @ matrix.T
    rows = covariates.iloc[np.concatenate([block.documents for block in blocks])]
    design = np.column_stack([np.ones(len(rows)), rows["party"] == "R", rows["chamber"] == "S", rows[["year", "age"]]])
    with tempfile.TemporaryDirectory() as folder:
        for name, values in (("design.bin", design), ("outcomes.bin", outcomes)):
            content = np.array(values.shape, np.int32).tobytes() + np.ascontiguousarray(values, np.float64).tobytes()
            (Path(folder) / name).write_bytes(content)
        command = ["Rscript", "--vanilla", str(Path(__file__).with_name("regress.R")), folder]
        printed = subprocess.run(
            [*command, str(arguments.permutations)], capture_output=True, text=True, check=True
        ).stdout.splitlines()
    elapsed, r_processor = printed[0].split()
    norms, bias = (np.array(line.split(), float)[1:] for line in printed[1:])
    np.testing.assert_allclose([term.norm2 for term in fit.terms], norms, rtol=1e-6)
    ours = np.array([term.norm2_bias for term in fit.terms], float)
    print(f"one target, {len(rows):,} occurrences, {arguments.permutations} permutations: regress from the text on "
          f"{seconds:.1f} s (processor {processor:.1f}), base R once they are embedded {elapsed} s (processor "
          f"{r_processor}); "
          f"norms agree, biases too: {np.allclose(ours, bias, rtol=1e-6)}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=20_000_000)
    parser.add_argument("--targets", type=int, default=100)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--permutations", type=int, default=999)
    arguments = parser.parse_args()
    random = np.random.default_rng(1)
    started = time.perf_counter()
    corpus = made_up(arguments.tokens)
    print(f"{len(corpus.tokens):,} tokens, made up and tokenized in {time.perf_counter() - started:.1f} s")
    vectors = ([f"w{number}" for number in range(TYPES)], random.standard_normal((TYPES, arguments.dim), np.float32))
    matrix = random.standard_normal((arguments.dim, arguments.dim)) / arguments.dim**0.5
    n = len(corpus.documents) - 1
    covariates = pd.DataFrame({
        "party": random.choice(["D", "R"], n), "chamber": random.choice(["H", "S"], n),
        "year": random.integers(1990, 2020, n), "age": random.normal(50, 10, n), "speaker": np.arange(n) // 10,
    })  # fmt: skip
    targets = [corpus.words[row] for row in range(FIRST_TARGET, FIRST_TARGET + arguments.targets)]
    a, b = list(corpus.words[1000:1008]), list(corpus.words[1010:1018])
    small = read_corpus(iter(["w0 w1", "w1 w0"] * 4), tokenizer="whitespace")
    bg.regress(  # compiles
        small, "w0 ~ x", metadata=pd.DataFrame({"x": np.arange(8.0)}), vectors=vectors, transform=matrix, permutations=1
    )
    reader = ContextReader(corpus, vectors, window=WINDOW)
    started, used = time.perf_counter(), time.process_time()
    occurrences = bare_pass(reader, matrix, targets)
    bare, bare_used = time.perf_counter() - started, time.process_time() - used
    started, used = time.perf_counter(), time.process_time()
    fit = bg.regress(
        corpus, "targets ~ party + chamber + year + age", metadata=covariates, targets={"targets": targets},
        vectors=vectors, transform=matrix, window=WINDOW, cluster="speaker", permutations=arguments.permutations,
        a=a, b=b,
    )  # fmt: skip
    whole, whole_used = time.perf_counter() - started, time.process_time() - used
    started = time.perf_counter()
    reader.word_contexts()
    contexts = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{occurrences:,} occurrences of {len(fit.targets)} targets in {fit.settings['clusters']:,} clusters")
    print(f"bare pass {bare:.1f} s (processor {bare_used:.1f}); regress {whole:.1f} s (processor {whole_used:.1f})")
    print(f"processor seconds: {whole_used / bare_used:.2f} times those of the bare pass; peak {peak:.1f} GiB")
    print(f"sums of contexts of all words, for a transformation of one's own: {contexts:.1f} s")
    if shutil.which("Rscript"):
        against_r(reader, matrix, covariates, targets[0], vectors, arguments)


if __name__ == "__main__":
    main()
