"""GloVe: against a slow 64-bit reference, against derivatives, and against the official tool's own output."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from biasgauge.errors import ParameterError
from biasgauge.text.training.algorithms import GloveSettings, TrainedVectors
from biasgauge.text.training.cooccurrence import Cooccurrence
from biasgauge.text.training.glove import descend, first_weights, pass_over, shuffled, train_glove
from biasgauge.text.training.lanes import padded, product, step
from biasgauge.text.training.random_stream import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


def as_cells(table: NDArray[Any]) -> Cooccurrence:
    """The cells of a square table that are above 0."""
    rows, columns = np.nonzero(table > 0)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(table)))])
    return Cooccurrence(starts, columns.astype(np.int32), table[rows, columns].astype(np.float32))


def some_cells(seed: int = 0, size: int = 30) -> Cooccurrence:
    """Symmetric counts from 0.1 to 400, about half of them zero."""
    random = np.random.default_rng(seed)
    table = np.exp(random.normal(1, 1.8, (size, size))) * (random.random((size, size)) < 0.35)
    return as_cells(np.where(table > 0, np.clip(table, 0.1, 400), 0) + table.T)


def slowly(cells: Cooccurrence, dim: int, iterations: int, seed: int) -> tuple[NDArray[np.float64], list[float]]:
    """The official tool's loop in 64 bits, from the same first weights and in the same order."""
    weights = first_weights(2 * cells.size, dim, seed).astype(np.float64)
    vectors, biases = weights[:, :dim].copy(), weights[:, 2 * padded(dim)].copy()
    squares, bias_squares = np.ones_like(vectors), np.ones_like(biases)
    known = {(row, column): value for row, column, value in zip(cells.rows, cells.columns, cells.values, strict=True)}
    order = shuffled(cells, x_max=100.0, alpha=0.75, seed=seed, memory=2**20)
    costs = []
    for _ in range(iterations):
        cost = 0.0
        for row, column in zip(order["row"].tolist(), order["column"].tolist(), strict=True):
            value = float(known[row, column - cells.size])
            off = vectors[row] @ vectors[column] + biases[row] + biases[column] - np.log(value)
            slope = min(1.0, (value / 100) ** 0.75) * off
            cost += 0.5 * slope * off
            gradients = 0.05 * slope * vectors[column], 0.05 * slope * vectors[row]
            for word, gradient in zip((row, column), gradients, strict=True):
                vectors[word] -= gradient / np.sqrt(squares[word])
                squares[word] += gradient**2
                biases[word] -= slope / np.sqrt(bias_squares[word])
                bias_squares[word] += slope**2
        costs.append(cost / len(order))
    return vectors[: cells.size] + vectors[cells.size :], costs


@pytest.mark.parametrize("dim", [1, 3, 8, 13])
def test_against_a_slow_reference(dim: int) -> None:
    cells = some_cells()
    vectors, costs = slowly(cells, dim, iterations=20, seed=5)
    fit = train_glove(cells, GloveSettings(dim=dim, epochs=20), seed=5)
    np.testing.assert_allclose(fit.vectors, vectors, atol=1e-4 * np.abs(vectors).max())
    np.testing.assert_allclose(fit.losses, costs, rtol=1e-4)
    assert costs[-1] < 0.8 * costs[1]  # past the first pass, which is the biases' doing, vectors have learned


def cost_of(weights: NDArray[np.float64], value: float, dim: int) -> float:
    bias = 2 * padded(dim)
    off = weights[0, :dim] @ weights[1, :dim] + weights[0, bias] + weights[1, bias] - np.log(value)
    return float(0.5 * min(1.0, (value / 100) ** 0.75) * off**2)


@pytest.mark.parametrize("value", [0.3, 20.0, 5_000.0])
def test_a_step_follows_the_derivative_of_the_cost(value: float) -> None:
    """From sums of 0 a vector moves by eta, a bias by 1, times the slope of the cost: a numerical derivative."""
    dim, bias = 5, 2 * padded(5)
    cells = Cooccurrence(np.array([0, 1]), np.array([0], np.int32), np.array([value], np.float32))
    before = first_weights(2, dim, seed=1)
    before[:, :dim] *= 8
    after = before.copy()
    visits = shuffled(cells, x_max=100.0, alpha=0.75, seed=0, memory=2**20)
    cost = pass_over(after, padded(dim), visits, np.float32(0.05), 0, 1)
    assert cost == pytest.approx(cost_of(before.astype(np.float64), value, dim), rel=1e-5)
    for row, column in itertools.product((0, 1), (*range(dim), bias)):
        ends = []
        for nudge in (1e-6, -1e-6):
            moved = before.astype(np.float64)
            moved[row, column] += nudge
            ends.append(cost_of(moved, value, dim))
        slope = (ends[0] - ends[1]) / 2e-6
        moved_by = float(after[row, column]) - float(before[row, column])
        assert moved_by == pytest.approx(-slope * (1.0 if column == bias else 0.05), rel=2e-3, abs=1e-6)


@compiled
def one_step(weights: NDArray[np.float32], width: int, slope: np.float32, eta: np.float32, bound: np.float32) -> None:
    step(weights, 0, 2, width, slope, eta, bound)


@compiled
def one_product(weights: NDArray[np.float32], width: int) -> float:
    return product(weights, 0, 2, width)  # type: ignore[no-any-return]


@pytest.mark.parametrize("bound", [100.0, 0.4])
def test_lanes_compute_what_numpy_does_to_the_last_bit(bound: float) -> None:
    random = np.random.default_rng(3)
    weights = random.normal(0, 1, (3, 50)).astype(np.float32)
    weights[:, 24:48] = random.random((3, 24))
    slope, eta, limit = np.float32(0.7), np.float32(0.05), np.float32(bound)
    expected = weights.copy()
    for own, other in ((0, 2), (2, 0)):
        gradient = np.clip(slope * weights[other, :24], -limit, limit) * eta
        expected[own, :24] -= gradient / np.sqrt(np.float32(1) + weights[own, 24:48])
        expected[own, 24:48] += gradient * gradient
    sums = np.zeros(8, np.float32)
    for first in range(0, 24, 8):
        sums += weights[0, first : first + 8] * weights[2, first : first + 8]
    pairs = sums[:4] + sums[4:]
    pairs = pairs[:2] + pairs[2:]
    assert one_product(weights, 24) == pairs[0] + pairs[1]
    one_step(weights, 24, slope, eta, limit)
    np.testing.assert_array_equal(weights, expected)


def test_small_squares_are_not_lost() -> None:
    """Ten thousand steps whose squares are below the last place of 1: the sum must hold all of them."""
    weights = np.zeros((3, 18), np.float32)
    weights[:, :8] = 0.02
    for _ in range(10_000):
        weights[:, :8] = 0.02
        one_step(weights, 8, np.float32(0.1), np.float32(0.05), np.float32(100))
    np.testing.assert_allclose(weights[[0, 2], 8:16], 10_000 * (0.1 * 0.02 * 0.05) ** 2, rtol=1e-3)


def test_known_vectors_are_recovered() -> None:
    """Counts made from vectors: exp(w · w~ + b + b~). Enough dimensions, so nearly nothing is left of the cost."""
    random = np.random.default_rng(2)
    first, second = random.normal(0, 0.7, (2, 40, 4))
    biases = random.normal(0, 0.5, (2, 40))
    cells = as_cells(np.exp(first @ second.T + biases[0][:, None] + biases[1]))
    fit = train_glove(cells, GloveSettings(dim=12, epochs=400, x_max=2.0, eta=0.1), seed=0)
    assert fit.losses[0] > 0.05
    assert fit.losses[-1] < 1e-4
    too_few = train_glove(cells, GloveSettings(dim=2, epochs=400, x_max=2.0, eta=0.1), seed=0)
    assert too_few.losses[-1] > 100 * fit.losses[-1]


def test_cost_falls() -> None:
    costs = train_glove(some_cells(1), GloveSettings(dim=20, epochs=25), seed=0).losses
    assert np.all(np.diff(costs) < 0)
    assert costs[-1] < costs[0] / 2


def test_seeds_decide_vectors_and_order() -> None:
    cells = some_cells()
    firsts = [first_weights(2 * cells.size, 6, seed) for seed in (0, 1, 0)]
    np.testing.assert_array_equal(firsts[0], firsts[2])
    drawn = np.concatenate([first[:, :6].ravel() for first in firsts[:2]])
    assert len(np.unique(drawn)) > 0.99 * len(drawn)
    assert np.abs(drawn).max() <= 0.5 / 6
    assert stats.kstest(drawn, stats.uniform(-0.5 / 6, 1 / 6).cdf).pvalue > 1e-3
    orders = [shuffled(cells, x_max=100.0, alpha=0.75, seed=seed, memory=2**20) for seed in (0, 1, 0)]
    np.testing.assert_array_equal(orders[0], orders[2])
    assert np.mean(orders[0] == orders[1]) < 0.05
    fits = [train_glove(cells, GloveSettings(dim=6, epochs=2), seed=seed).vectors for seed in (0, 1, 0)]
    np.testing.assert_array_equal(fits[0], fits[2])
    assert not np.any(fits[0] == fits[1])


@pytest.mark.parametrize("pile", [2, 1 << 15])
def test_shuffled_cells_are_all_there(pile: int) -> None:
    cells = some_cells()
    found = shuffled(cells, x_max=50.0, alpha=0.6, seed=7, memory=2**20, pile=pile)
    found = np.sort(found, order=["row", "column"])
    np.testing.assert_array_equal(found["row"], cells.rows)
    np.testing.assert_array_equal(found["column"], cells.columns + cells.size)
    values = cells.values.astype(np.float64)
    np.testing.assert_allclose(found["log"], np.log(values), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found["weight"], np.minimum(1, (values / 50) ** 0.6), rtol=1e-6)
    assert np.any(values > 50)


@pytest.mark.parametrize("pile", [1, 3, 1 << 15])
def test_every_order_is_equally_likely(pile: int) -> None:
    cells = as_cells(np.array([[1.0, 2.0], [3.0, 4.0]]))
    logs = np.log([1.0, 2.0, 3.0, 4.0]).astype(np.float32)
    orders = [
        tuple(np.searchsorted(logs, shuffled(cells, x_max=1.0, alpha=1.0, seed=seed, memory=2**20, pile=pile)["log"]))
        for seed in range(2_400)
    ]
    counts = [orders.count(one) for one in itertools.permutations(range(4))]
    assert stats.chisquare(counts).pvalue > 1e-4


def test_memory_does_not_matter() -> None:
    cells = some_cells()
    ample, tight = (train_glove(cells, GloveSettings(dim=9, epochs=3), seed=1, memory=memory) for memory in (2**31, 1))
    np.testing.assert_array_equal(ample.vectors, tight.vectors)
    assert ample.losses == tight.losses
    assert isinstance(shuffled(cells, x_max=100.0, alpha=0.75, seed=1, memory=1), np.memmap)


def digest(fit: TrainedVectors) -> str:
    return hashlib.sha256(fit.vectors.tobytes() + repr(fit.losses).encode()).hexdigest()


ELSEWHERE = """
import sys, numpy as np
sys.path.insert(0, {folder!r})
from test_glove import GloveSettings, digest, some_cells, train_glove
print(digest(train_glove(some_cells(), GloveSettings(dim=37, epochs=4), seed=3)))
"""


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2", "NUMBA_CPU_NAME": "generic"}],
    ids=["same", "plain"],
)
def test_the_same_bytes_in_another_process(environment: dict[str, str], tmp_path: Path) -> None:
    """Also with a processor that has none of the wide instructions of this one."""
    here = digest(train_glove(some_cells(), GloveSettings(dim=37, epochs=4), seed=3))
    if "NUMBA_CPU_NAME" in environment:
        environment = {**environment, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    program = ELSEWHERE.format(folder=str(Path(__file__).parent))
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.stdout.strip() == here


def test_threads_reach_the_same_cost() -> None:
    """Without locks results vary from run to run, but not in kind."""
    cells = some_cells(4, size=120)
    one, three = (
        train_glove(cells, GloveSettings(dim=16, epochs=8), seed=0, threads=threads).losses for threads in (1, 3)
    )
    np.testing.assert_allclose(three, one, rtol=0.1)


def test_words_without_cells_are_named() -> None:
    table = np.zeros((5, 5))
    table[0, 2] = 3.0
    cells = as_cells(table)
    fit = train_glove(cells, GloveSettings(dim=4, epochs=2), seed=0, sum_vectors=False)
    assert fit.untrained == (1, 3, 4)
    first = first_weights(10, 4, 0)[:5, :4]
    np.testing.assert_array_equal(fit.vectors[1:], first[1:])
    assert np.all(fit.vectors[0] != first[0])


def test_sum_of_vectors_as_word_and_as_context() -> None:
    cells = some_cells()
    both = train_glove(cells, GloveSettings(dim=4, epochs=1), seed=0)
    word = train_glove(cells, GloveSettings(dim=4, epochs=1), seed=0, sum_vectors=False)
    weights = first_weights(2 * cells.size, 4, 0)
    visits = shuffled(cells, x_max=100.0, alpha=0.75, seed=0, memory=2**20)
    descend(weights, 4, visits, iterations=1, eta=0.05)
    np.testing.assert_array_equal(word.vectors, weights[: cells.size, :4])
    np.testing.assert_array_equal(both.vectors, weights[: cells.size, :4] + weights[cells.size :, :4])
    assert both.vectors.flags.c_contiguous
    assert both.vectors.dtype == word.vectors.dtype == np.float32


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_counts_every_visit(threads: int) -> None:
    cells, calls = some_cells(), []
    told = lambda done, total: calls.append((done, total))  # noqa: E731 - one call
    fit = train_glove(cells, GloveSettings(dim=4, epochs=3), seed=0, threads=threads, piece=50, progress=told)
    assert calls[-1] == (3 * len(cells), 3 * len(cells))
    assert len(calls) >= 3 * len(cells) / (50 * threads)
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})
    if threads == 1:
        whole = train_glove(cells, GloveSettings(dim=4, epochs=3), seed=0)
        np.testing.assert_array_equal(fit.vectors, whole.vectors)
        np.testing.assert_allclose(fit.losses, whole.losses, rtol=1e-12)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"dim": 0}, "The 'dim' parameter must be a whole number of at least 1. Got 0."),
        ({"dim": 5.0}, "The 'dim' parameter must be a whole number of at least 1. Got 5.0."),
        ({"epochs": 0}, "The 'epochs' parameter must be a whole number of at least 1. Got 0."),
        ({"threads": 0}, "The 'threads' parameter must be a whole number of at least 1. Got 0."),
        ({"memory": -1}, "The 'memory' parameter must be a whole number of at least 1. Got -1."),
        ({"seed": -1}, "The 'seed' parameter must be a whole number of at least 0. Got -1."),
        ({"seed": True}, "The 'seed' parameter must be a whole number of at least 0. Got True."),
        ({"x_max": 0.0}, "The 'x_max' parameter must be a number above 0. Got 0.0."),
        ({"alpha": float("nan")}, "The 'alpha' parameter must be a number above 0. Got nan."),
        ({"eta": float("inf")}, "The 'eta' parameter must be a number above 0. Got inf."),
        (
            {"eta": 1e38},
            "The 'eta' of train_glove must be lower for these cells: "  # noqa: ISC004 - one sentence
            "with 1e+38 the cost is no longer finite in iteration 1.",
        ),
    ],
)
def test_impossible_settings(changes: dict[str, Any], sentence: str) -> None:
    given = {"dim": 4, "epochs": 2, "seed": 0, **changes}
    how = {name: given.pop(name) for name in ("seed", "threads", "memory") if name in given}
    with pytest.raises(ParameterError) as refusal:
        train_glove(some_cells(), GloveSettings(**given), **how)
    assert str(refusal.value) == sentence


def test_no_cells() -> None:
    with pytest.raises(ParameterError, match="'cells'"):
        train_glove(as_cells(np.zeros((3, 3))), GloveSettings(), seed=0)
