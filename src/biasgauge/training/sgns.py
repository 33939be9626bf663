"""Skip-gram with negative sampling: a word's context predicts it, one context word at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

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
from biasgauge.training.settings import NegativeSampling
from biasgauge.training.stream import fill_uniform, stream

if TYPE_CHECKING:
    from biasgauge.training.text import TrainingText


def prepare(text: TrainingText, settings: NegativeSampling, _folder: Path) -> Reading:
    """Tables that all replicates of one text look things up in."""
    return prepare_reading(text, settings)


def train(
    text: TrainingText,
    settings: NegativeSampling,
    *,
    seed: int,
    shared: Reading,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Train skip-gram vectors; the vectors are those of words as context ("input"), as in word2vec and gensim."""
    inputs, outputs = new_weights(len(text.vocabulary.words), settings.dim, seed)
    weights = (inputs, outputs)
    tally = run_epochs(_read_lines, weights, text, settings, read=shared, seed=seed, threads=threads, progress=progress)
    return Fit(vectors=np.ascontiguousarray(inputs[:, : settings.dim]), tokens=tally.tokens, losses=tally.losses)


def new_weights(size: int, dim: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Random vectors in ±1 / (2 dim) that the seed decides, and as many zero ones to predict with."""
    inputs = np.zeros((size, padded(dim)), dtype=np.float32)
    fill_uniform(inputs, dim, 1.0 / dim, stream("initial vectors", seed))
    return inputs, np.zeros_like(inputs)


@compiled
def _read_lines(  # noqa: C901 - one loop nest; every call inside is a step with a name
    read: Reading,
    first: int,
    last: int,
    knobs: Knobs,
    course: Course,
    inputs: NDArray[np.float32],
    outputs: NDArray[np.float32],
) -> None:
    kept = np.empty(LONGEST, np.int64)
    context = np.empty(2 * knobs.window, np.int64)
    drawn = np.empty(knobs.negative, np.int64)
    guesses = np.empty(knobs.negative + 1, np.int64)
    by_guess = np.empty((knobs.negative + 1, 2 * knobs.window), np.float32)
    by_context = np.empty((2 * knobs.window, knobs.negative + 1), np.float32)
    change = np.zeros((2 * knobs.window, inputs.shape[1]), np.float32)
    for line in read.order[first:last]:
        place = read.lines[line]
        end = read.lines[line + 1]
        while place < end:
            count, place = read_piece(read, place, end, kept, course)
            rate = learning_rate(knobs, course)
            if count > 1:
                draw_negatives(read, course, drawn, knobs.negative)
            for middle in range(count):
                guessed = against(kept[middle], drawn, guesses, 0)
                if middle + 1 < count:
                    # The next window's rows are asked for now, so that they are near when it is their turn.
                    draw_negatives(read, course, drawn, knobs.negative)
                    fetch_row(outputs, kept[middle + 1])
                    for word in drawn:
                        fetch_row(outputs, word)
                near = words_around(kept, count, middle, knobs, course, context)
                for guess in range(guessed):
                    dot_rows(outputs, guesses[guess], inputs, context, by_guess, guess, near)
                    for other in range(near):
                        step = rate * slope(by_guess[guess, other], guess == 0, course)
                        by_guess[guess, other] = step
                        by_context[other, guess] = step
                course.loss[1] += near * guessed
                for other in range(near):
                    change[other] = 0
                    add_rows(change, other, outputs, guesses, by_context, other, guessed)
                for guess in range(guessed):
                    add_rows(outputs, guesses[guess], inputs, context, by_guess, guess, near)
                for other in range(near):
                    row = context[other]
                    for column in range(inputs.shape[1]):
                        inputs[row, column] += change[other, column]
