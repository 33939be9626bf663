"""fastText (Bojanowski et al. 2017): skip-gram in which a word is the mean of itself and its character n-grams.

The n-grams of the vocabulary are kept exactly, each with a vector of its own, where the original hashes them into a
fixed number of buckets: nothing collides, nothing is kept that no word has, and an unseen word is built from those of
its n-grams that were seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasgauge.embeddings.subwords import Subwords, word_ngrams
from biasgauge.training.algorithms import Fit
from biasgauge.training.compiled import compiled
from biasgauge.training.lanes import add_rows, dot_rows, fetch_row, padded
from biasgauge.training.negative_sampling import (
    LONGEST,
    Course,
    Knobs,
    Reading,
    against,
    draw_negatives,
    learning_rate,
    prepare_reading,
    read_piece,
    run_epochs,
    slope,
    words_around,
)
from biasgauge.training.settings import FastTextSettings
from biasgauge.training.stream import fill_uniform, stream

if TYPE_CHECKING:
    from biasgauge.training.text import TrainingText


class Shared(NamedTuple):
    """What replicates share: the tables, the n-grams, and which parts each word has (see `word_parts`)."""

    read: Reading
    grams: tuple[str, ...]
    starts: NDArray[np.int64]
    parts: NDArray[np.int64]


def prepare(text: TrainingText, settings: FastTextSettings, _folder: Path) -> Shared:
    """Tables and n-grams that all replicates of one text share."""
    return Shared(prepare_reading(text, settings), *word_parts(text.vocabulary.words, settings.min_n, settings.max_n))


def train(
    text: TrainingText,
    settings: FastTextSettings,
    *,
    seed: int,
    shared: Shared,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Train fastText vectors of the words and of their n-grams."""
    words = text.vocabulary.words
    read, grams, starts, parts = shared
    inputs = np.zeros((len(words) + len(grams), padded(settings.dim)), dtype=np.float32)
    fill_uniform(inputs, settings.dim, 1.0 / settings.dim, stream("initial vectors", seed))
    outputs = np.zeros((len(words), padded(settings.dim)), dtype=np.float32)
    weights = (inputs, outputs, starts, parts)
    tally = run_epochs(_read_lines, weights, text, settings, read=read, seed=seed, threads=threads, progress=progress)
    vectors = np.zeros_like(outputs)
    _compose(inputs, starts, parts, vectors)
    return Fit(
        vectors=np.ascontiguousarray(vectors[:, : settings.dim]),
        tokens=tally.tokens,
        losses=tally.losses,
        subwords=Subwords(
            ngrams=grams,
            vectors=np.ascontiguousarray(inputs[len(words) :, : settings.dim]),
            min_n=settings.min_n,
            max_n=settings.max_n,
        ),
    )


def word_parts(
    words: Sequence[str], min_n: int, max_n: int
) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]]:
    """Number the n-grams of a vocabulary, in the order in which they first occur.

    Returns:
        grams: the n-grams.
        starts: where each word's parts begin; one longer than `words`.
        parts: the parts of all words: a word's own number, then len(words) plus the number of each of its n-grams.
    """
    numbers: dict[str, int] = {}
    parts: list[int] = []
    starts = [0]
    for own, word in enumerate(words):
        parts.append(own)
        parts.extend(len(words) + numbers.setdefault(gram, len(numbers)) for gram in word_ngrams(word, min_n, max_n))
        starts.append(len(parts))
    return tuple(numbers), np.array(starts, dtype=np.int64), np.array(parts, dtype=np.int64)


@compiled
def _compose(
    inputs: NDArray[np.float32], starts: NDArray[np.int64], parts: NDArray[np.int64], vectors: NDArray[np.float32]
) -> None:
    shares = np.empty((1, np.max(np.diff(starts))), np.float32)
    for word in range(len(vectors)):
        _mean_of_parts(inputs, parts[starts[word] : starts[word + 1]], vectors, word, shares)


@compiled
def _mean_of_parts(
    inputs: NDArray[np.float32],
    parts: NDArray[np.int64],
    target: NDArray[np.float32],
    row: int,
    shares: NDArray[np.float32],
) -> None:
    shares[0, : len(parts)] = np.float32(1) / np.float32(len(parts))
    target[row] = 0
    add_rows(target, row, inputs, parts, shares, 0, len(parts))


@compiled
def _read_lines(
    read: Reading,
    first: int,
    last: int,
    knobs: Knobs,
    course: Course,
    inputs: NDArray[np.float32],
    outputs: NDArray[np.float32],
    starts: NDArray[np.int64],
    parts: NDArray[np.int64],
) -> None:
    most = 2 * knobs.window * (knobs.negative + 1)
    kept = np.empty(LONGEST, np.int64)
    context = np.empty(2 * knobs.window, np.int64)
    drawn = np.empty(knobs.negative, np.int64)
    guesses = np.empty(most, np.int64)
    true = np.empty(most, np.bool_)
    steps = np.empty((1, most), np.float32)
    step = np.empty((1, 1), np.float32)
    shares = np.empty((1, np.max(np.diff(starts))), np.float32)
    only = np.zeros(1, np.int64)
    word = np.zeros((1, inputs.shape[1]), np.float32)
    change = np.zeros((1, inputs.shape[1]), np.float32)
    for line in read.order[first:last]:
        place = read.lines[line]
        end = read.lines[line + 1]
        while place < end:
            count, place = read_piece(read, place, end, kept, course)
            rate = learning_rate(knobs, course)
            for middle in range(count):
                near = words_around(kept, count, middle, knobs, course, context)
                guessed = 0
                for other in context[:near]:
                    draw_negatives(read, course, drawn, knobs.negative)
                    for candidate in drawn:
                        fetch_row(outputs, candidate)
                    true[guessed] = True
                    edge = against(other, drawn, guesses, guessed)
                    true[guessed + 1 : edge] = False
                    guessed = edge
                if guessed == 0:
                    continue
                own = parts[starts[kept[middle]] : starts[kept[middle] + 1]]
                _mean_of_parts(inputs, own, word, 0, shares)
                dot_rows(word, 0, outputs, guesses, steps, 0, guessed)
                for guess in range(guessed):
                    steps[0, guess] = rate * slope(steps[0, guess], true[guess], course)
                course.loss[1] += guessed
                change[0] = 0
                add_rows(change, 0, outputs, guesses, steps, 0, guessed)
                for guess in range(guessed):
                    step[0, 0] = steps[0, guess]
                    add_rows(outputs, guesses[guess], word, only, step, 0, 1)
                step[0, 0] = np.float32(1)
                for part in own:
                    add_rows(inputs, part, change, only, step, 0, 1)
