"""Negative sampling, common to skip-gram, CBOW and fastText: reading a line, negatives, gradient, epochs.

Mikolov et al. 2013: predict a word from its context against `negative` words drawn in proportion to
count ** `exponent`. Frequent words are skipped at random (`subsample`), the window shrinks at random to 1 … `window`,
and the learning rate falls in a straight line from `alpha` to `min_alpha` over all epochs.

One departure from the original: all updates of one window are computed from the vectors as they were before it, and
in skip-gram the window's context words share their negatives (Ji et al. 2016). That turns dozens of scattered vector
operations into small matrix products that stay in the cache; docs/text/training.md has the quality that was measured.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Integers
from biasgauge.text.training.random_stream import alias_table, below, compiled, draw, next_number, stream

if TYPE_CHECKING:
    from biasgauge.text.training.algorithms import NegativeSampling
    from biasgauge.text.training.sweep import TrainingText

LONGEST = 10_000
"""Tokens of a line that windows may span; a longer line is cut into pieces of this length, and no token is lost."""
BLOCK = 200_000
"""Tokens that a compiled loop reads before it returns to report progress and to check whether it should stop."""
_STEPS = 128
_EDGE = 8
_CENTERS = (np.arange(2 * _EDGE * _STEPS) + 0.5) / _STEPS - _EDGE
_SIGMOID = (1 / (1 + np.exp(-_CENTERS))).astype(np.float32)
_LOSS = np.log1p(np.exp(-_CENTERS)).astype(np.float32)
TABLES = np.concatenate([_SIGMOID, _LOSS])
"""Sigmoids, then losses log(1 + e^−x), at the middle of each step: the same numbers for a GPU."""


class TextTables(NamedTuple):
    """Arrays that a compiled loop reads; `keep` and the alias table are thresholds of 32 random bits."""

    tokens: NDArray[np.uint32]
    lines: Integers
    order: Integers
    places: NDArray[np.int32]
    keep: NDArray[np.uint64]
    negative_keep: NDArray[np.uint64]
    negative_other: NDArray[np.uint32]


class Knobs(NamedTuple):
    """Settings of a compiled loop."""

    window: int
    negative: int
    alpha: float
    min_alpha: float
    total: float


class Course(NamedTuple):
    """State of a compiled loop: random state, tokens read so far, sum of losses and number of pairs."""

    state: NDArray[np.uint64]
    done: Integers
    loss: NDArray[np.float64]


def prepare_reading(text: TrainingText, settings: NegativeSampling) -> TextTables:
    """Prepare the lookup tables of the compiled loops; replicates share them."""
    counts = text.vocabulary.counts.astype(np.float64)
    if settings.subsample > 0:
        # word2vec's rule: keep a token with probability (√(f / s) + 1) s / f, f its share of the text, s = subsample.
        threshold = settings.subsample * counts.sum()
        shares = np.minimum(1.0, (np.sqrt(counts / threshold) + 1) * threshold / counts)
    else:
        shares = np.ones(len(counts))
    keep, corpus = np.floor(shares * 2**32).astype(np.uint64), text.corpus
    tables = (keep, *alias_table(counts**settings.exponent))
    return TextTables(corpus.tokens, corpus.lines, text.order, text.vocabulary.places, *tables)


@compiled
def read_piece(read: TextTables, start: int, end: int, sentence: Integers, course: Course) -> tuple[int, int]:
    """Read tokens from `start` on into `kept`, skipping frequent ones at random; return (count, end position)."""
    count = 0
    position = start
    while position < end and count < len(sentence):
        word = read.places[read.tokens[position]]
        position += 1
        if word < 0:
            continue
        course.done[0] += 1
        if (next_number(course.state) >> np.uint64(32)) < read.keep[word]:
            sentence[count] = word
            count += 1
    return count, position


@compiled
def draw_negatives(read: TextTables, course: Course, drawn: Integers, count: int) -> None:
    """Draw `count` negatives."""
    for index in range(count):
        drawn[index] = draw(course.state, read.negative_keep, read.negative_other)


@compiled
def add_negatives(word: int, drawn: Integers, guesses: Integers, start: int) -> int:
    """Put a true word and its negatives into `guesses` from `start` on; return their end. Draws of it are void."""
    guesses[start] = word
    end = start + 1
    for candidate in drawn:
        if candidate != word:
            guesses[end] = candidate
            end += 1
    return end


@compiled
def draw_context(sentence: Integers, count: int, middle: int, knobs: Knobs, course: Course, context: Integers) -> int:
    """Put the words within a window of random width into `context`; return their number."""
    width = 1 + below(course.state, knobs.window)
    near = 0
    for position in range(max(0, middle - width), min(count, middle + width + 1)):
        if position != middle:
            context[near] = sentence[position]
            near += 1
    return near


@compiled
def slope(product: np.float32, true: bool, course: Course) -> np.float32:  # noqa: FBT001 - compiled code has no keywords
    """Target (1 for a true pair, else 0) minus the sigmoid of `product`; adds the pair's loss to the course.

    A table of 2,048 steps from -8 to 8 stands for the sigmoid, as in word2vec (1,000 steps from -6 to 6).
    """
    bounded = min(max(product, np.float32(-7.999)), np.float32(7.999))
    step = np.int64((bounded + np.float32(_EDGE)) * np.float32(_STEPS))
    probability: np.float32 = _SIGMOID[step]
    if true:
        course.loss[0] += _LOSS[step]
        return np.float32(1) - probability
    course.loss[0] += _LOSS[len(_LOSS) - 1 - step]  # −log sigmoid(−x): the table read from its end
    return -probability


@compiled
def learning_rate(knobs: Knobs, course: Course) -> np.float32:
    """Learning rate now: a straight line from `alpha` to `min_alpha` over all tokens of all epochs."""
    done = min(1.0, course.done[0] / knobs.total)
    return np.float32(knobs.alpha - (knobs.alpha - knobs.min_alpha) * done)


def run_epochs(
    loop: Callable[..., None], weights: tuple[Any, ...], text: TrainingText, settings: NegativeSampling, *,
    read: TextTables, seed: int, threads: int, progress: Callable[[int, int], None] | None,
) -> tuple[int, tuple[float, ...]]:  # fmt: skip
    """Read the text `epochs` times with a compiled loop that changes `weights` in place; return (tokens, mean losses).

    With one thread the result is the same on every run. With more, each reads its own stretch and all write to the same
    vectors without locks (Recht et al. 2011): faster, but no two runs are alike.
    """
    total = settings.epochs * max(1, text.tokens)
    stretches = text.split(threads)
    knobs = Knobs(settings.window, settings.negative, settings.alpha, settings.min_alpha, total / threads)
    courses = [
        Course(stream(f"epochs of thread {number}", seed), np.zeros(1, np.int64), np.zeros(2))
        for number in range(threads)
    ]

    def report() -> None:
        if progress is not None:
            progress(int(sum(course.done[0] for course in courses)), total)

    def read_stretch(number: int) -> None:
        for first, last in text.blocks(*stretches[number], BLOCK):
            loop(read, first, last, knobs, courses[number], *weights)
            if number == 0:
                report()

    losses = []
    for _ in range(settings.epochs):
        helpers = [Thread(target=read_stretch, args=(number,)) for number in range(1, threads)]
        for helper in helpers:
            helper.start()
        try:
            read_stretch(0)
        finally:
            for helper in helpers:
                helper.join()
        loss, pairs = np.sum([course.loss for course in courses], axis=0)
        losses.append(float(loss / max(pairs, 1.0)))
        for course in courses:
            course.loss[:] = 0
    return int(sum(course.done[0] for course in courses)), tuple(losses)
