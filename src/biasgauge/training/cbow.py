"""Continuous bag of words with negative sampling: the mean of a word's context predicts it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from biasgauge.training.algorithms import Fit
from biasgauge.training.compiled import compiled
from biasgauge.training.lanes import add_rows, dot_rows, fetch_row
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
from biasgauge.training.sgns import new_weights

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
    """Train CBOW vectors, with the mean of the context and the whole error added to each of its words, as gensim."""
    inputs, outputs = new_weights(len(text.vocabulary.words), settings.dim, seed)
    weights = (inputs, outputs)
    tally = run_epochs(_read_lines, weights, text, settings, read=shared, seed=seed, threads=threads, progress=progress)
    return Fit(vectors=np.ascontiguousarray(inputs[:, : settings.dim]), tokens=tally.tokens, losses=tally.losses)


@compiled
def _read_lines(
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
    steps = np.empty((1, knobs.negative + 1), np.float32)
    shares = np.empty((1, 2 * knobs.window), np.float32)
    step = np.empty((1, 1), np.float32)
    only = np.zeros(1, np.int64)
    mean = np.zeros((1, inputs.shape[1]), np.float32)
    change = np.zeros((1, inputs.shape[1]), np.float32)
    for line in read.order[first:last]:
        place = read.lines[line]
        end = read.lines[line + 1]
        while place < end:
            count, place = read_piece(read, place, end, kept, course)
            rate = learning_rate(knobs, course)
            for middle in range(count):
                draw_negatives(read, course, drawn, knobs.negative)
                for word in drawn:
                    fetch_row(outputs, word)
                guessed = against(kept[middle], drawn, guesses, 0)
                near = words_around(kept, count, middle, knobs, course, context)
                if near == 0:
                    continue
                mean[0] = 0
                shares[0] = np.float32(1) / np.float32(near)
                add_rows(mean, 0, inputs, context, shares, 0, near)
                dot_rows(mean, 0, outputs, guesses, steps, 0, guessed)
                for guess in range(guessed):
                    steps[0, guess] = rate * slope(steps[0, guess], guess == 0, course)
                course.loss[1] += guessed
                change[0] = 0
                add_rows(change, 0, outputs, guesses, steps, 0, guessed)
                for guess in range(guessed):
                    step[0, 0] = steps[0, guess]
                    add_rows(outputs, guesses[guess], mean, only, step, 0, 1)
                step[0, 0] = np.float32(1)
                for other in range(near):
                    add_rows(inputs, context[other], change, only, step, 0, 1)
