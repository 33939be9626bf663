"""The Google analogy set in one blocked pass, against a loop over questions as in gensim's `evaluate_word_analogies`.

    python bench/analogies.py [--words 50000] [--dimensions 300] [--sample 200]

Both on the same random vectors of 32 bits, under the words of the Google set and made-up ones; in one run. gensim asks
`KeyedVectors.most_similar` once a question: a sample of the questions is timed and scaled up to all 19,544; the first
call, which computes the lengths of the vectors, is not counted. The bare product is what no loop over questions can
avoid: one matrix times one vector for each. Answers of the sample must be the same words. Once with one thread and once
with as many as BLAS takes by itself; ours multiplies little, so it gains little from threads. Also timed: five answers
a question, and the pairs that differ as "he" and "she" do, out of all pairs of 20,000 words.
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext

import numpy as np
from gensim.models import KeyedVectors
from threadpoolctl import threadpool_info, threadpool_limits
from timing import best

from biasgauge.analyses.robustness.pair_generator import generate_pairs
from biasgauge.vectors import Embedding, solve_analogies
from biasgauge.vectors.benchmarks import google_analogies


def model(words: int, dimensions: int) -> Embedding:
    """Random vectors of unequal lengths, with strong and weak directions as in language."""
    random = np.random.default_rng(0)
    known = sorted({word for one in google_analogies() for word in one[1:]})
    vectors = random.standard_normal((words, dimensions), np.float32)
    vectors *= np.geomspace(2, 0.2, dimensions, dtype=np.float32)
    vectors *= random.uniform(0.5, 2, (words, 1)).astype(np.float32)
    return Embedding((*known, *(f"word-{row}" for row in range(words - len(known)))), vectors)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--words", type=int, default=50_000)
    arguments.add_argument("--dimensions", type=int, default=300)
    arguments.add_argument("--sample", type=int, default=200)
    given = arguments.parse_args()
    vectors = model(given.words, given.dimensions)
    asked = google_analogies()
    rows = np.array([[vectors.index[word] for word in one[1:4]] for one in asked]).T
    peer = KeyedVectors(vectors.dim)
    peer.add_vectors(list(vectors.words), vectors.vectors)
    some = np.linspace(0, len(asked) - 1, given.sample).astype(int)
    peer.most_similar(positive=["man"], topn=1)

    def loop() -> list[str]:
        return [peer.most_similar(positive=[asked[n].b, asked[n].c], negative=[asked[n].a], topn=5)[0][0] for n in some]

    expected = loop()
    found = solve_analogies(vectors, *rows)
    same = sum(vectors.words[found.rows[n]] == word for n, word in zip(some, expected, strict=True))
    print(
        f"{len(asked):,} questions against {given.words:,} × {given.dimensions}; gensim scaled up from {given.sample}"
    )
    print(f"answers of the sample that agree: {same} of {given.sample}")
    default = max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
    print("threads | gensim s | bare product s | ours s | gensim / ours | 3CosMul s | five answers s")
    goal = vectors.vectors[0].copy()
    for threads in dict.fromkeys((1, default)):
        with threadpool_limits(1, "blas") if threads == 1 else nullcontext():
            theirs = best(loop, 2) / given.sample * len(asked)
            bare = best(lambda: [vectors.vectors @ goal for _ in range(50)]) / 50 * len(asked)
            ours = best(lambda: solve_analogies(vectors, *rows))
            products = best(lambda: solve_analogies(vectors, *rows, method="3cosmul"), 1)
            five = best(lambda: solve_analogies(vectors, *rows, top=5), 1)
        print(
            f"{threads} | {theirs:.1f} | {bare:.1f} | {ours:.2f} | {theirs / ours:.0f} | {products:.2f} | {five:.2f}",
            flush=True,
        )
    with threadpool_limits(1, "blas"):
        pairs = best(lambda: generate_pairs(vectors, restrict=20_000), 1)
    print(f"pairs out of {20_000 * 19_999 // 2:,}, one thread: {pairs:.1f} s")


if __name__ == "__main__":
    main()
