"""What skip-gram, CBOW and fastText share: reading a line, drawing negatives, the slope of the loss, the epochs.

Mikolov et al. 2013: predict a word from its context by telling it from `negative` words drawn in proportion to
count ** `exponent`. Frequent words are skipped at random (`subsample`), the window shrinks at random to 1 … `window`,
and the learning rate falls in a straight line from `alpha` to `min_alpha` over all epochs.

One departure from the original: all updates of one window are computed from the vectors as they were before it, and
in skip-gram the window's context words share their negatives (Ji et al. 2016). That turns dozens of scattered vector
operations into small matrix products that stay in the cache; docs/training.md has the quality that was measured.
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
    from biasgauge.text.training.text import TrainingText

LONGEST = 10_000
"""Tokens kept of a line that windows may span; a longer line is cut into pieces of this length, nothing is lost."""

BLOCK = 200_000
"""Tokens that a compiled loop reads before it comes up to report and to look whether it should stop."""

_STEPS = 128
_EDGE = 8
_CENTERS = (np.arange(2 * _EDGE * _STEPS) + 0.5) / _STEPS - _EDGE
_SIGMOID = (1 / (1 + np.exp(-_CENTERS))).astype(np.float32)
_LOSS = np.log1p(np.exp(-_CENTERS)).astype(np.float32)
TABLES = np.concatenate([_SIGMOID, _LOSS])
"""Sigmoids, then losses, at the middle of each step: the same numbers for a GPU."""


class Reading(NamedTuple):
    """What a compiled loop reads."""

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
    """Where a compiled loop stands: its random state, the tokens behind it, its loss since it was last asked."""

    state: NDArray[np.uint64]
    done: Integers
    loss: NDArray[np.float64]


def prepare_reading(text: TrainingText, settings: NegativeSampling) -> Reading:
    """Prepare the tables that the compiled loops look things up in; replicates share them."""
    counts = text.vocabulary.counts.astype(np.float64)
    if settings.subsample > 0:
        threshold = settings.subsample * counts.sum()
        shares = np.minimum(1.0, (np.sqrt(counts / threshold) + 1) * threshold / counts)
    else:
        shares = np.ones(len(counts))
    keep, corpus = np.floor(shares * 2**32).astype(np.uint64), text.corpus
    tables = (keep, *alias_table(counts**settings.exponent))
    return Reading(corpus.tokens, corpus.lines, text.order, text.vocabulary.places, *tables)


@compiled
def read_piece(read: Reading, start: int, end: int, kept: Integers, course: Course) -> tuple[int, int]:
    """Read tokens from `start` on into `kept`, skipping frequent ones at random; return (count, where it stopped)."""
    count = 0
    place = start
    while place < end and count < len(kept):
        word = read.places[read.tokens[place]]
        place += 1
        if word < 0:
            continue
        course.done[0] += 1
        if (next_number(course.state) >> np.uint64(32)) < read.keep[word]:
            kept[count] = word
            count += 1
    return count, place


@compiled
def draw_negatives(read: Reading, course: Course, drawn: Integers, count: int) -> None:
    """Draw `count` words to tell the true one from."""
    for place in range(count):
        drawn[place] = draw(course.state, read.negative_keep, read.negative_other)


@compiled
def against(word: int, drawn: Integers, guesses: Integers, start: int) -> int:
    """Put a true word and those drawn against it into `guesses` from `start` on; return where they end.

    A draw of the true word itself is void.
    """
    guesses[start] = word
    end = start + 1
    for one in drawn:
        if one != word:
            guesses[end] = one
            end += 1
    return end


@compiled
def words_around(kept: Integers, count: int, middle: int, knobs: Knobs, course: Course, context: Integers) -> int:
    """Put the words within a window of random width into `context`; return how many they are."""
    width = 1 + below(course.state, knobs.window)
    near = 0
    for place in range(max(0, middle - width), min(count, middle + width + 1)):
        if place != middle:
            context[near] = kept[place]
            near += 1
    return near


@compiled
def slope(product: np.float32, true: bool, course: Course) -> np.float32:  # noqa: FBT001 - compiled code has no keywords
    """How far the sigmoid of `product` is from its goal; adds the pair's loss to the course.

    A table of 2,048 steps from -8 to 8 stands for the sigmoid, as in word2vec (1,000 steps from -6 to 6).
    """
    bounded = min(max(product, np.float32(-7.999)), np.float32(7.999))
    step = np.int64((bounded + np.float32(_EDGE)) * np.float32(_STEPS))
    chance: np.float32 = _SIGMOID[step]
    if true:
        course.loss[0] += _LOSS[step]
        return np.float32(1) - chance
    course.loss[0] += _LOSS[len(_LOSS) - 1 - step]
    return -chance


@compiled
def learning_rate(knobs: Knobs, course: Course) -> np.float32:
    """Fall in a straight line over all tokens of all epochs."""
    done = min(1.0, course.done[0] / knobs.total)
    return np.float32(knobs.alpha - (knobs.alpha - knobs.min_alpha) * done)


def run_epochs(
    loop: Callable[..., None], weights: tuple[Any, ...], text: TrainingText, settings: NegativeSampling, *,
    read: Reading, seed: int, threads: int, progress: Callable[[int, int], None] | None,
) -> tuple[int, tuple[float, ...]]:  # fmt: skip
    """Read the text `epochs` times with a compiled loop that changes `weights` in place; give (tokens, mean losses).

    With one thread the result is the same on every run. With more, each reads its own stretch and all write to the same
    vectors without waiting for each other (Recht et al. 2011): faster, but no two runs are alike.
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
        others = [Thread(target=read_stretch, args=(number,)) for number in range(1, threads)]
        for other in others:
            other.start()
        try:
            read_stretch(0)
        finally:
            for other in others:
                other.join()
        loss, pairs = np.sum([course.loss for course in courses], axis=0)
        losses.append(float(loss / max(pairs, 1.0)))
        for course in courses:
            course.loss[:] = 0
    return int(sum(course.done[0] for course in courses)), tuple(losses)
