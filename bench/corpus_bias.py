"""Counting contexts: biasgauge against a plain loop, and against one bare pass over the tokens, in one run.

    python bench/corpus_bias.py [--corpus FOLDER] [--tokens 10000000] [--repeat 3]

Without a corpus the text is made up: words of the list google10k with the frequencies of Zipf's law, 20 a line, 10
lines a document. Asked are the occupations of bls2015 between the 23 pairs of du2021 (46 words of the two groups), then
one word between "he" and "she". The loop is written in Python over lists of token numbers, as a user would, on a part
of the text; all must count the same there. Processor seconds of one core, best of the repeats.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import biasgauge as bg
from biasgauge.analyses.corpus_bias import count_contexts
from biasgauge.core import WordPolicy
from biasgauge.text import open_corpus, read_corpus

if TYPE_CHECKING:
    from collections.abc import Callable

    from biasgauge.text import TokenCorpus

WORDS_A_LINE, LINES_A_DOCUMENT, WINDOW = 20, 10, 5
LOOPED = 200_000
"""Tokens that the plain loop counts."""


def best(work: Callable[[], object], repeat: int) -> float:
    """Least processor seconds."""
    times = []
    for _ in range(repeat):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def made_up(tokens: int) -> TokenCorpus:
    """A text of words by Zipf's law."""
    random = np.random.default_rng(0)
    pairs = bg.lexicon("du2021").words
    words = np.array(
        list(dict.fromkeys([*pairs, *bg.lexicon("google10k").words, *bg.lexicon("bls2015").words])), object
    )
    share = 1 / np.arange(3, len(words) + 3)
    size = WORDS_A_LINE * LINES_A_DOCUMENT
    drawn = (random.choice(words, p=share / share.sum(), size=size).tolist() for _ in range(tokens // size))
    lines = ("\n".join(" ".join(text[at : at + WORDS_A_LINE]) for at in range(0, size, WORDS_A_LINE)) for text in drawn)
    return read_corpus(lines, tokenizer="whitespace")


def loop(
    corpus: TokenCorpus, words: set[int], a: set[int], b: set[int], tokens: int
) -> tuple[int, dict[int, list[int]]]:
    """Contexts of the first so many tokens, by a plain loop; gives the tokens that it read."""
    counts = {word: [0, 0] for word in words}
    read = 0
    for start, end in zip(corpus.lines[:-1].tolist(), corpus.lines[1:].tolist(), strict=True):
        line = corpus.tokens[start:end].tolist()
        for center, token in enumerate(line):
            side = 0 if token in a else 1 if token in b else -1
            if side >= 0:
                for other in (*line[max(0, center - WINDOW) : center], *line[center + 1 : center + WINDOW + 1]):
                    if other in words:
                        counts[other][side] += 1
        read += len(line)
        if read >= tokens:
            break
    return read, counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus")
    parser.add_argument("--tokens", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    corpus = open_corpus(arguments.corpus) if arguments.corpus else made_up(arguments.tokens)
    place = {word: number for number, word in enumerate(corpus.words)}
    first, second = bg.lexicon("du2021").sets.values()
    size = len(corpus.tokens) / 1e6
    bare = best(lambda: np.bincount(corpus.tokens, minlength=len(corpus.words)), arguments.repeat)
    print(f"{size:.1f} M tokens; one bare pass over them: {size / bare:.0f} M tokens/s")
    print(f"{'asked':<34} {'loop':>9} {'ours':>9} {'ratio':>8} {'whole call':>12}   M tokens/s")
    for name, words, a, b in (
        ("185 occupations, 23 pairs", bg.lexicon("bls2015").words, first, second),
        ("one word, he and she", ["nurse"], ["he"], ["she"]),
    ):
        asked, group_a, group_b = (
            [place[word] for word in dict.fromkeys(some) if word in place] for some in (words, a, b)
        )
        counts = count_contexts(corpus, asked, group_a, group_b, window=WINDOW)
        seconds = best(partial(count_contexts, corpus, asked, group_a, group_b, window=WINDOW), arguments.repeat)
        call = partial(bg.corpus_bias, corpus, list(words), a=list(a), b=list(b), policy=WordPolicy(0.5))
        whole = best(call, arguments.repeat)
        started = time.process_time()
        read, plain = loop(corpus, set(asked), set(group_a), set(group_b), LOOPED)
        rate = read / 1e6 / (time.process_time() - started)
        documents = int(np.searchsorted(corpus.lines[corpus.documents], read, "right")) - 1
        if read == corpus.lines[corpus.documents[documents]]:
            for number, word in enumerate(asked):
                held, near = counts.cells(number)
                if near[held < documents].sum(axis=0).tolist() != plain[word]:
                    sys.exit(f"the loop counted {corpus.words[word]!r} otherwise")
        print(f"{name:<34} {rate:9.2f} {size / seconds:9.1f} {size / seconds / rate:7.0f}× {size / whole:12.1f}")


if __name__ == "__main__":
    main()
