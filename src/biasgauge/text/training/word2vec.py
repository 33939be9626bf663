"""Skip-gram and CBOW (Mikolov et al. 2013) and fastText (Bojanowski et al. 2017), each a compiled loop over windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasgauge.core import Integers, Singles
from biasgauge.text.training.algorithms import FastTextSettings, NegativeSampling, TrainedVectors
from biasgauge.text.training.lanes import add_rows, dot_rows, fetch_row, padded
from biasgauge.text.training.negative_sampling import (
    LONGEST,
    Course,
    Knobs,
    TextTables,
    add_negatives,
    draw_context,
    draw_negatives,
    learning_rate,
    prepare_reading,
    read_piece,
    run_epochs,
    slope,
)
from biasgauge.text.training.random_stream import compiled, fill_uniform, stream
from biasgauge.vectors import Subwords, word_ngrams

if TYPE_CHECKING:
    from biasgauge.text.training.sweep import TrainingText

_NONE = np.zeros(0, np.int64)


class SharedTables(NamedTuple):
    """Data that replicates share: tables of the text; for fastText also n-grams and the parts of each word."""

    read: TextTables
    grams: tuple[str, ...] = ()
    starts: Integers = _NONE
    parts: Integers = _NONE


@dataclass(frozen=True)
class Word2Vec:
    """Trainer whose vectors are those of words as context ("input"), as in word2vec and gensim.

    In fastText a word is the mean of itself and its character n-grams. The n-grams of the vocabulary
    are kept exactly, each with a vector of its own, where the original hashes them into a fixed number of buckets: no
    two collide, none is stored that no word has, and an unseen word is built from those of its n-grams that were seen.
    """

    loop: Callable[..., None]

    def prepare(self, text: TrainingText, settings: NegativeSampling, _folder: Path) -> SharedTables:
        """Build the lookup tables and n-grams that all replicates of one text share."""
        read = prepare_reading(text, settings)
        if not isinstance(settings, FastTextSettings):
            return SharedTables(read)
        return SharedTables(read, *word_parts(text.vocabulary.words, settings.min_n, settings.max_n))

    def train(
        self, text: TrainingText, settings: NegativeSampling, *, seed: int, shared: SharedTables, threads: int = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> TrainedVectors:  # fmt: skip
        """Train one model."""
        weights = first_vectors(len(text.vocabulary.words), len(shared.grams), settings.dim, seed)
        tokens, losses = run_epochs(
            self.loop, (*weights, shared.starts, shared.parts), text, settings, read=shared.read, seed=seed,
            threads=threads, progress=progress,
        )  # fmt: skip
        return fit_from_inputs(weights[0], shared, settings, losses, tokens)


def first_vectors(words: int, grams: int, dim: int, seed: int) -> tuple[Singles, Singles]:
    """Random input vectors in ±1 / (2 dim) for words and n-grams, by the seed, and zeros as output vectors."""
    inputs = np.zeros((words + grams, padded(dim)), dtype=np.float32)
    fill_uniform(inputs, dim, 1.0 / dim, stream("initial vectors", seed))
    return inputs, np.zeros((words, padded(dim)), dtype=np.float32)


def fit_from_inputs(
    inputs: Singles, shared: SharedTables, settings: NegativeSampling, losses: tuple[float, ...], tokens: int
) -> TrainedVectors:
    """Take the vectors out of trained inputs; those of fastText's words are composed of their parts."""
    dim = settings.dim
    if not isinstance(settings, FastTextSettings):
        return TrainedVectors(np.ascontiguousarray(inputs[:, :dim]), losses, tokens)
    words = len(shared.starts) - 1
    vectors = np.zeros((words, inputs.shape[1]), np.float32)
    _compose(inputs, shared.starts, shared.parts, vectors)
    ngrams = Subwords(shared.grams, np.ascontiguousarray(inputs[words:, :dim]), settings.min_n, settings.max_n)
    return TrainedVectors(np.ascontiguousarray(vectors[:, :dim]), losses, tokens, subwords=ngrams)


def word_parts(words: Sequence[str], min_n: int, max_n: int) -> tuple[tuple[str, ...], Integers, Integers]:
    """Number the n-grams of a vocabulary, in the order in which they first occur.

    Returns:
        grams: the n-grams.
        starts: index of each word's first part; one longer than `words`.
        parts: rows of the parts of all words: the word's, then len(words) plus the number of each of its n-grams.
    """
    numbers: dict[str, int] = {}
    parts: list[int] = []
    starts = [0]
    for row, word in enumerate(words):
        parts.append(row)
        parts.extend(len(words) + numbers.setdefault(gram, len(numbers)) for gram in word_ngrams(word, min_n, max_n))
        starts.append(len(parts))
    return tuple(numbers), np.array(starts, dtype=np.int64), np.array(parts, dtype=np.int64)


@compiled
def _skip_gram(  # noqa: C901 - one loop nest; every call inside is a step with a name
    read: TextTables, first: int, last: int, knobs: Knobs, course: Course,
    inputs: Singles, outputs: Singles, _starts: Integers, _parts: Integers,
) -> None:  # fmt: skip
    """Predict each word from its context, one context word at a time.

    With h_j the input vector of context word j and u_g the output vector of guess g (the true word, then negatives),
    the gradient of the loss is (sigmoid(u_g · h_j) − t_g) u_g for h_j and the same times h_j for u_g; t is 1 for the
    true word. All of a window's updates are computed from the vectors before it.
    """
    sentence = np.empty(LONGEST, np.int64)
    context = np.empty(2 * knobs.window, np.int64)
    drawn = np.empty(knobs.negative, np.int64)
    guesses = np.empty(knobs.negative + 1, np.int64)
    by_guess = np.empty((knobs.negative + 1, 2 * knobs.window), np.float32)
    by_context = np.empty((2 * knobs.window, knobs.negative + 1), np.float32)
    change = np.zeros((2 * knobs.window, inputs.shape[1]), np.float32)
    for line in read.order[first:last]:
        position = read.lines[line]
        end = read.lines[line + 1]
        while position < end:
            count, position = read_piece(read, position, end, sentence, course)
            rate = learning_rate(knobs, course)
            if count > 1:
                draw_negatives(read, course, drawn, knobs.negative)
            for middle in range(count):
                guessed = add_negatives(sentence[middle], drawn, guesses, 0)
                if middle + 1 < count:
                    # Prefetch the rows of the next window while this one is computed.
                    draw_negatives(read, course, drawn, knobs.negative)
                    fetch_row(outputs, sentence[middle + 1])
                    for word in drawn:
                        fetch_row(outputs, word)
                near = draw_context(sentence, count, middle, knobs, course, context)
                # Products u_g · h_j of all guesses with all context words become steps rate · (t − sigmoid).
                for guess in range(guessed):
                    dot_rows(outputs, guesses[guess], inputs, context, by_guess, guess, near)
                    for neighbor in range(near):
                        step = rate * slope(by_guess[guess, neighbor], guess == 0, course)
                        by_guess[guess, neighbor] = step
                        by_context[neighbor, guess] = step
                course.loss[1] += near * guessed
                # Changes of the inputs first, into a buffer: outputs must still be those from before the window.
                for neighbor in range(near):
                    change[neighbor] = 0
                    add_rows(change, neighbor, outputs, guesses, by_context, neighbor, guessed)
                for guess in range(guessed):
                    add_rows(outputs, guesses[guess], inputs, context, by_guess, guess, near)
                for neighbor in range(near):
                    row = context[neighbor]
                    for column in range(inputs.shape[1]):
                        inputs[row, column] += change[neighbor, column]


@compiled
def _mean_of_rows(  # noqa: C901 - one loop nest; every call inside is a step with a name
    read: TextTables, first: int, last: int, knobs: Knobs, course: Course,
    inputs: Singles, outputs: Singles, starts: Integers, parts: Integers,
) -> None:  # fmt: skip
    """Predict words from the mean of input rows; each of these rows then gets the full error, as in the originals.

    Without `starts` this is CBOW: the context predicts the word. With them it is fastText: the parts of a word predict
    its context, and negatives are drawn anew for each context word.
    """
    most = 2 * knobs.window * (knobs.negative + 1)
    sentence = np.empty(LONGEST, np.int64)
    context = np.empty(2 * knobs.window, np.int64)
    drawn = np.empty(knobs.negative, np.int64)
    guesses = np.empty(most, np.int64)
    true = np.empty(most, np.bool_)
    steps = np.empty((1, most), np.float32)
    step = np.empty((1, 1), np.float32)
    shares = np.empty((1, np.max(np.diff(starts)) if len(starts) else 2 * knobs.window), np.float32)
    only = np.zeros(1, np.int64)
    mean = np.zeros((1, inputs.shape[1]), np.float32)
    change = np.zeros((1, inputs.shape[1]), np.float32)
    for line in read.order[first:last]:
        position = read.lines[line]
        end = read.lines[line + 1]
        while position < end:
            count, position = read_piece(read, position, end, sentence, course)
            rate = learning_rate(knobs, course)
            for middle in range(count):
                guessed = 0
                if len(starts):
                    near = draw_context(sentence, count, middle, knobs, course, context)
                    for neighbor in context[:near]:
                        draw_negatives(read, course, drawn, knobs.negative)
                        for candidate in drawn:
                            fetch_row(outputs, candidate)
                        true[guessed] = True
                        edge = add_negatives(neighbor, drawn, guesses, guessed)
                        true[guessed + 1 : edge] = False
                        guessed = edge
                    rows = parts[starts[sentence[middle]] : starts[sentence[middle] + 1]]
                else:
                    draw_negatives(read, course, drawn, knobs.negative)
                    for candidate in drawn:
                        fetch_row(outputs, candidate)
                    true[0] = True
                    guessed = add_negatives(sentence[middle], drawn, guesses, 0)
                    true[1:guessed] = False
                    near = draw_context(sentence, count, middle, knobs, course, context)
                    rows = context[:near]
                if near == 0:
                    continue
                # h = mean of the rows; the same gradients as in skip-gram, with one h for the window.
                _mean_row(inputs, rows, mean, 0, shares)
                dot_rows(mean, 0, outputs, guesses, steps, 0, guessed)
                for guess in range(guessed):
                    steps[0, guess] = rate * slope(steps[0, guess], true[guess], course)
                course.loss[1] += guessed
                change[0] = 0
                add_rows(change, 0, outputs, guesses, steps, 0, guessed)
                for guess in range(guessed):
                    step[0, 0] = steps[0, guess]
                    add_rows(outputs, guesses[guess], mean, only, step, 0, 1)
                step[0, 0] = np.float32(1)
                for row in rows:
                    add_rows(inputs, row, change, only, step, 0, 1)


@compiled
def _mean_row(inputs: Singles, rows: Integers, target: Singles, row: int, shares: Singles) -> None:
    """Set a row of `target` to the mean of some rows of `inputs`; `shares` is a buffer."""
    shares[0, : len(rows)] = np.float32(1) / np.float32(len(rows))
    target[row] = 0
    add_rows(target, row, inputs, rows, shares, 0, len(rows))


@compiled
def _compose(inputs: Singles, starts: Integers, parts: Integers, vectors: Singles) -> None:
    shares = np.empty((1, np.max(np.diff(starts))), np.float32)
    for word in range(len(vectors)):
        _mean_row(inputs, parts[starts[word] : starts[word + 1]], vectors, word, shares)


SGNS, MEAN_OF_ROWS = Word2Vec(_skip_gram), Word2Vec(_mean_of_rows)
