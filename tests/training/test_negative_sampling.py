"""The compiled loops against the same algorithms written out slowly in 64 bits, fed by the same random numbers."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.text import read_corpus
from biasgauge.text.training import negative_sampling
from biasgauge.text.training.algorithms import FastTextSettings, NegativeSampling, algorithm
from biasgauge.text.training.negative_sampling import Course, Knobs, learning_rate, prepare_reading, slope
from biasgauge.text.training.random_stream import below, draw, next_number, stream
from biasgauge.text.training.sweep import training_text
from biasgauge.text.training.word2vec import word_parts

if TYPE_CHECKING:
    from biasgauge.text.training.algorithms import TrainedVectors
    from biasgauge.text.training.sweep import TrainingText

SMALL = {"dim": 12, "window": 3, "epochs": 2, "negative": 4, "alpha": 0.2, "subsample": 0.01}
HIT, MISS = True, False
ALL = ["sgns", "cbow", "fasttext"]


@pytest.fixture(scope="module")
def text() -> TrainingText:
    rng = np.random.default_rng(5)
    words = [f"{one}{other}" for one in "abcde" for other in ("rn", "st", "lk", "ng")]
    chances = 1 / np.arange(1, len(words) + 1)
    # Short lines first: places in the text are then as small as counts within a window, and cannot be mixed up unseen.
    lines = [
        " ".join(rng.choice(words, size=3 if place < 10 else rng.integers(1, 15), p=chances / chances.sum()))
        for place in range(60)
    ]
    return training_text(read_corpus(iter(lines)), min_count=2)


def _train(name: str, text: TrainingText, seed: int = 3, **given: float) -> TrainedVectors:
    one = algorithm(name)
    settings = one.settings_from({**SMALL, **given})
    shared = one.trainer.prepare(text, settings, Path())
    trained: TrainedVectors = one.trainer.train(text, settings, seed=seed, shared=shared, threads=1, progress=None)
    return trained


class _Slow:
    """The three algorithms as their docstrings describe them, in 64 bits, one number at a time."""

    def __init__(self, name: str, text: TrainingText, settings: NegativeSampling, seed: int) -> None:
        self.name, self.text, self.settings = name, text, settings
        self.state = stream("epochs of thread 0", seed)
        self.read = prepare_reading(text, settings)
        words = text.vocabulary.words
        self.parts = [[place] for place in range(len(words))]
        rows = len(words)
        if isinstance(settings, FastTextSettings):
            grams, starts, parts = word_parts(words, settings.min_n, settings.max_n)
            self.parts = [parts[first:last].tolist() for first, last in pairwise(starts)]
            rows += len(grams)
        first = stream("initial vectors", seed)
        shares = [int(next_number(first) >> np.uint64(11)) / 2**53 for _ in range(rows * settings.dim)]
        self.inputs = ((np.array(shares) - 0.5) / settings.dim).reshape(rows, settings.dim)
        self.outputs = np.zeros((len(words), settings.dim))
        self.done = 0

    def negatives(self) -> list[int]:
        return [
            draw(self.state, self.read.negative_keep, self.read.negative_other) for _ in range(self.settings.negative)
        ]

    def near(self, kept: list[int], middle: int) -> list[int]:
        width = 1 + below(self.state, self.settings.window)
        return [kept[at] for at in range(max(0, middle - width), min(len(kept), middle + width + 1)) if at != middle]

    def run(self) -> np.ndarray:
        total = self.settings.epochs * self.text.tokens
        for _ in range(self.settings.epochs):
            for line in self.text.order:
                kept = []
                for token in self.text.corpus.tokens[self.text.corpus.lines[line] : self.text.corpus.lines[line + 1]]:
                    place = int(self.text.vocabulary.places[token])
                    if place >= 0:
                        self.done += 1
                        if int(next_number(self.state) >> np.uint64(32)) < int(self.read.keep[place]):
                            kept.append(place)
                fallen = (self.settings.alpha - self.settings.min_alpha) * self.done / total
                getattr(self, self.name)(kept, self.settings.alpha - fallen)
        return np.array([self.inputs[parts].mean(axis=0) for parts in self.parts])

    def steps(self, hidden: np.ndarray, guesses: list[int], true: list[bool], rate: float) -> np.ndarray:
        chance = 1 / (1 + np.exp(-self.outputs[guesses] @ hidden))
        steps: np.ndarray = rate * (np.array(true, dtype=float) - chance)
        return steps

    def sgns(self, kept: list[int], rate: float) -> None:
        drawn = self.negatives() if len(kept) > 1 else []
        for middle, word in enumerate(kept):
            guesses = [word, *(one for one in drawn if one != word)]
            if middle + 1 < len(kept):
                drawn = self.negatives()
            context = self.near(kept, middle)
            true = [True] + [False] * (len(guesses) - 1)
            steps = [self.steps(self.inputs[other], guesses, true, rate) for other in context]
            inputs, outputs = self.inputs.copy(), self.outputs.copy()
            for other, step in zip(context, steps, strict=True):
                self.inputs[other] += step @ outputs[guesses]
                for guess, weight in zip(guesses, step, strict=True):
                    self.outputs[guess] += weight * inputs[other]

    def cbow(self, kept: list[int], rate: float) -> None:
        for middle, word in enumerate(kept):
            guesses = [word, *(one for one in self.negatives() if one != word)]
            context = self.near(kept, middle)
            if not context:
                continue
            hidden = self.inputs[context].mean(axis=0)
            step = self.steps(hidden, guesses, [True] + [False] * (len(guesses) - 1), rate)
            change = step @ self.outputs[guesses]
            for guess, weight in zip(guesses, step, strict=True):
                self.outputs[guess] += weight * hidden
            for other in context:
                self.inputs[other] += change

    def fasttext(self, kept: list[int], rate: float) -> None:
        for middle, word in enumerate(kept):
            guesses: list[int] = []
            true: list[bool] = []
            for other in self.near(kept, middle):
                drawn = [one for one in self.negatives() if one != other]
                guesses += [other, *drawn]
                true += [True] + [False] * len(drawn)
            if not guesses:
                continue
            hidden = self.inputs[self.parts[word]].mean(axis=0)
            step = self.steps(hidden, guesses, true, rate)
            change = step @ self.outputs[guesses]
            for guess, weight in zip(guesses, step, strict=True):
                self.outputs[guess] += weight * hidden
            self.inputs[self.parts[word]] += change


@pytest.mark.parametrize("name", ALL)
def test_the_compiled_loop_does_what_the_slow_one_does(name: str, text: TrainingText) -> None:
    settings = algorithm(name).settings_from(SMALL)
    slow = _Slow(name, text, settings, seed=3)  # type: ignore[arg-type]
    expected = slow.run()
    fit = _train(name, text)
    assert fit.tokens == slow.done == 2 * text.tokens
    moved = np.abs(expected - _Slow(name, text, settings, seed=3).inputs[: len(expected)]).max()  # type: ignore[arg-type]
    assert moved > 0.05  # the comparison means something only where training moved the vectors
    np.testing.assert_allclose(fit.vectors, expected, atol=0.002 * moved)


@pytest.mark.parametrize("name", ALL)
def test_a_seed_decides_everything(name: str, text: TrainingText) -> None:
    np.testing.assert_array_equal(_train(name, text, 1).vectors, _train(name, text, 1).vectors)
    assert np.abs(_train(name, text, 1).vectors - _train(name, text, 2).vectors).min() < np.inf
    # With a learning rate of nothing the vectors stay what they were at the start, and those differ by seed already.
    still = {seed: _train(name, text, seed, alpha=0.0, min_alpha=0.0).vectors for seed in (1, 2)}
    assert np.corrcoef(still[1].ravel(), still[2].ravel())[0, 1] == pytest.approx(0, abs=0.25)
    assert 0 < np.abs(still[1]).max() <= 0.5 / SMALL["dim"]


@pytest.mark.parametrize("name", ALL)
def test_blocks_do_not_change_the_vectors(name: str, text: TrainingText, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _train(name, text)
    monkeypatch.setattr(negative_sampling, "BLOCK", 17)
    pieces = _train(name, text)
    np.testing.assert_array_equal(whole.vectors, pieces.vectors)
    assert whole.losses == pieces.losses


@pytest.mark.parametrize("name", ALL)
def test_the_loss_falls(name: str, text: TrainingText) -> None:
    # Before anything is learned every product is 0, and a guess is a coin's.
    assert _train(name, text, alpha=0.0, min_alpha=0.0).losses == pytest.approx([np.log(2)] * 2, abs=0.005)
    losses = _train(name, text, epochs=30).losses
    assert losses[-1] < losses[0] - 0.02 < np.log(2)


def test_subsampling_keeps_what_the_formula_of_word2vec_says(text: TrainingText) -> None:
    read = prepare_reading(text, NegativeSampling(subsample=0.01))
    shares = text.vocabulary.counts / text.tokens
    expected = np.minimum(1, np.sqrt(0.01 / shares) + 0.01 / shares)
    np.testing.assert_allclose(read.keep / 2**32, expected, atol=1e-9)
    assert (prepare_reading(text, NegativeSampling(subsample=0)).keep == 2**32).all()


@pytest.mark.parametrize("product", [-20.0, -7.5, -1.0, 0.0, 0.3, 5.0, 20.0])
def test_slope_and_loss_come_from_the_sigmoid(product: float) -> None:
    course = Course(stream("test", 0), np.zeros(1, np.int64), np.zeros(2))
    assert slope(np.float32(product), HIT, course) == pytest.approx(1 / (1 + np.exp(product)), abs=0.002)
    assert course.loss[0] == pytest.approx(np.log1p(np.exp(-max(product, -8))), abs=0.005)
    course.loss[0] = 0
    assert slope(np.float32(product), MISS, course) == pytest.approx(-1 / (1 + np.exp(-product)), abs=0.002)
    assert course.loss[0] == pytest.approx(np.log1p(np.exp(min(product, 8))), abs=0.005)


def test_the_learning_rate_falls_in_a_straight_line() -> None:
    knobs = Knobs(window=5, negative=5, alpha=0.03, min_alpha=0.01, total=200.0)
    for done, rate in [(0, 0.03), (50, 0.025), (100, 0.02), (200, 0.01), (300, 0.01)]:
        course = Course(stream("test", 0), np.array([done]), np.zeros(2))
        assert learning_rate(knobs, course) == pytest.approx(rate)


def test_a_line_longer_than_the_longest_is_read_to_its_end() -> None:
    line = "alpha beta gamma delta " * 6000
    text = training_text(read_corpus(iter([line])), min_count=1)
    fit = _train("sgns", text, epochs=1, subsample=0)
    assert fit.tokens == 24_000


def test_several_threads_read_everything_and_learn_as_much(text: TrainingText) -> None:
    one = algorithm("sgns")
    settings = one.settings_from({**SMALL, "epochs": 30})
    shared = one.trainer.prepare(text, settings, Path())
    fits = [
        one.trainer.train(text, settings, seed=1, shared=shared, threads=threads, progress=None) for threads in (1, 3)
    ]
    assert fits[0].tokens == fits[1].tokens == 30 * text.tokens
    assert fits[1].losses[-1] == pytest.approx(fits[0].losses[-1], abs=0.1)


def test_progress_ends_at_the_whole(text: TrainingText) -> None:
    seen: list[tuple[int, int]] = []
    one = algorithm("cbow")
    settings = one.settings_from(SMALL)
    shared = one.trainer.prepare(text, settings, Path())
    one.trainer.train(
        text, settings, seed=1, shared=shared, threads=1, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (2 * text.tokens, 2 * text.tokens)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
