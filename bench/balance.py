"""Balancing a corpus: biasgauge against a loop over lines with set intersections, in one run.

    python bench/balance.py [--corpus FILE] [--megabytes 60] [--repeat 3]

Without a corpus the text is made up: words of the list google10k with the frequencies of Zipf's law, 40 a line, some
with capitals and punctuation. Both read the file twice and write it without the surplus of pro lines, keeping the
earliest, and must write the same bytes. Processor seconds, best of the repeats; the file is in the page cache.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import biasgauge as bg
from biasgauge.text.tokenizers import tokenizer_named

if TYPE_CHECKING:
    from collections.abc import Callable

LEXICON = "weat6b"
TOKENIZERS = ("words", "whitespace", "lower-whitespace", "ascii-words")
WORDS_A_LINE = 40


def write_text(path: Path, megabytes: int) -> None:
    """Write lines of words by Zipf's law."""
    random = np.random.default_rng(0)
    words = np.array([*bg.lexicon("google10k").words, *bg.lexicon(LEXICON).words], object)
    share = 1 / np.arange(3, len(words) + 3)
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < megabytes * 1_000_000:
            drawn = random.choice(words, p=share / share.sum(), size=(10_000, WORDS_A_LINE))
            drawn[:, 0] = [word.capitalize() for word in drawn[:, 0]]
            drawn[:, 20] += ","
            drawn[::3, 30] = "naïve"
            drawn[::5, 31] += "'s"
            file.writelines(" ".join(line) + ".\n" for line in drawn)


def loop(path: Path, out: Path, tokenizer: str) -> int:
    """What a user would write: count, then copy; the number of lines removed."""
    split = tokenizer_named(tokenizer).split
    x, y, a, b = ({token for word in words for token in split(word)} for words in bg.lexicon(LEXICON).sets.values())

    def kind(line: str) -> str:
        words = set(split(line))
        return "".join(name for name, one in (("x", x), ("y", y), ("a", a), ("b", b)) if not one.isdisjoint(words))

    counts: dict[str, int] = {}
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            held = kind(line)
            counts[held] = counts.get(held, 0) + 1
    stay = {"xa": counts.get("ya", 0), "yb": counts.get("xb", 0)}
    removed = 0
    with path.open(encoding="utf-8", newline="\n") as lines, out.open("w", encoding="utf-8", newline="\n") as kept:
        for line in lines:
            held = kind(line)
            if held in stay:
                stay[held] -= 1
                if stay[held] < 0:
                    removed += 1
                    continue
            kept.write(line)
    return removed


def ours(path: Path, out: Path, tokenizer: str) -> int:
    return bg.balance(path, LEXICON, out=out, tokenizer=tokenizer, keep="earliest", max_removed=1).removed


def best(function: Callable[[], int], repeat: int) -> tuple[float, int]:
    """Least processor seconds, and what the function gave."""
    times = []
    for _ in range(repeat):
        started = time.process_time()
        given = function()
        times.append(time.process_time() - started)
    return min(times), given


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--megabytes", type=int, default=60)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.corpus or Path(folder) / "text.txt"
        if arguments.corpus is None:
            write_text(path, arguments.megabytes)
        size = path.stat().st_size / 1e6
        print(f"{size:.0f} MB, {LEXICON}; best of {arguments.repeat}, the loop once")
        print(f"{'tokenizer':<18} {'loop MB/s':>10} {'ours MB/s':>10} {'ratio':>7} {'removed':>9}")
        for tokenizer in TOKENIZERS:
            out = Path(folder) / "out"

            seconds, removed = best(partial(ours, path, out, tokenizer), arguments.repeat)
            written = out.read_bytes()
            peer, expected = best(partial(loop, path, out, tokenizer), 1)
            if removed != expected or out.read_bytes() != written:
                sys.exit(f"{tokenizer}: the loop wrote other lines")
            print(f"{tokenizer:<18} {size / peer:10.1f} {size / seconds:10.1f} {peer / seconds:6.1f}× {removed:9,}")


if __name__ == "__main__":
    main()
