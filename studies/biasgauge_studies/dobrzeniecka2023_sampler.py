"""How far a chain of the authors' kind lies from the exact posterior: NUTS on the model as they wrote it.

Their model states word means as Normal(group mean, tau) with tau free ("centered"), which makes a funnel where tau may
be small: steps that suit the wide part are too long for the neck, and small tau is visited too seldom. This is the
no-U-turn sampler as Stan has it (multinomial, diagonal metric, dual averaging to .95, warm-up in windows), with their
two chains of 8,000 steps, 1,000 of them warm-up. Beside each run stand the exact posterior and the printed figure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from biasgauge.analyses.posterior import bayes, read_distances
from biasgauge.errors import InputError
from biasgauge.study import file_step
from biasgauge_studies.dobrzeniecka2023 import NUMBERS, Distances, coordinates

if TYPE_CHECKING:
    from biasgauge.analyses.posterior import DistanceTable
    from biasgauge.core.arrays import Floats

STEPS, WARM_UP, ACCEPTANCE, DEEPEST = 8_000, 1_000, 0.95, 10
FIRST_WINDOW, WINDOW, LAST_WINDOW = 75, 25, 50
SMALL = 0.03


class Point(NamedTuple):
    """Where a trajectory stands: place, momentum, gradient."""

    place: Floats
    momentum: Floats
    gradient: Floats


class Tree(NamedTuple):
    """A stretch of a trajectory: its ends, a draw from it with its log density and gradient, weight, momenta summed."""

    left: Point
    right: Point
    draw: tuple[Floats, float, Floats]
    weight: float
    momenta: Floats
    goes_on: bool


@dataclass
class Posterior:
    """One connection of the published model: word means, group mean, log tau, log sigma."""

    count: Floats
    total: Floats
    square: float

    @property
    def words(self) -> int:
        """How many there are."""
        return len(self.count)

    def __call__(self, place: Floats) -> tuple[float, Floats]:
        """Log density and its gradient."""
        words, (mean, log_tau, log_sigma) = place[: self.words], place[self.words :]
        tau, sigma, rows = math.exp(log_tau), math.exp(log_sigma), self.count.sum()
        left = self.square - 2 * words @ self.total + self.count @ words**2
        away = words - mean
        density = -rows * log_sigma - left / (2 * sigma**2) - self.words * log_tau - away @ away / (2 * tau**2)
        density += -((mean - 1) ** 2) / (2 * 0.3**2) - 2 * tau - 2 * sigma + log_tau + log_sigma
        gradient = np.empty_like(place)
        gradient[: self.words] = (self.total - self.count * words) / sigma**2 - away / tau**2
        gradient[self.words] = away.sum() / tau**2 - (mean - 1) / 0.3**2
        gradient[self.words + 1] = -self.words + away @ away / tau**2 - 2 * tau + 1
        gradient[self.words + 2] = -rows + left / sigma**2 - 2 * sigma + 1
        return float(density), gradient


class Chain:
    """A chain of the no-U-turn sampler."""

    def __init__(self, posterior: Posterior, random: np.random.Generator) -> None:
        self.posterior, self.random = posterior, random
        size = posterior.words + 3
        self.metric, self.step = np.ones(size), 0.1
        self.divergences = 0
        self._restart()

    def run(self) -> Floats:
        """Places after warm-up."""
        place = self.random.uniform(-2, 2, len(self.metric))
        current = (place, *self.posterior(place))
        ends, width = [FIRST_WINDOW], WINDOW
        while ends[-1] + 3 * width < WARM_UP - LAST_WINDOW:
            ends.append(ends[-1] + width)
            width *= 2
        ends = [*ends[1:], WARM_UP - LAST_WINDOW]
        window: list[Floats] = []
        kept: list[Floats] = []
        for step in range(STEPS):
            current, accepted = self._move(current)
            if step >= WARM_UP:
                kept.append(current[0])
                continue
            self._adapt_step(accepted)
            if FIRST_WINDOW <= step < WARM_UP - LAST_WINDOW:
                window.append(current[0])
            if step + 1 in ends:
                seen = len(window)
                self.metric = np.var(window, axis=0, ddof=1) * seen / (seen + 5) + 1e-3 * 5 / (seen + 5)
                window = []
                self._restart()
            if step == WARM_UP - 1:
                self.step = math.exp(self._mean_log_step)
                self.divergences = 0
        return np.array(kept)

    def _restart(self) -> None:
        """Dual averaging from the step at hand."""
        self._center, self._error, self._mean_log_step, self._seen = math.log(10 * self.step), 0.0, 0.0, 0

    def _adapt_step(self, accepted: float) -> None:
        self._seen += 1
        share = 1 / (self._seen + 10)
        self._error = (1 - share) * self._error + share * (ACCEPTANCE - accepted)
        log_step = self._center - math.sqrt(self._seen) / 0.05 * self._error
        weight = self._seen**-0.75
        self._mean_log_step = weight * log_step + (1 - weight) * self._mean_log_step
        self.step = math.exp(log_step)

    def _move(self, current: tuple[Floats, float, Floats]) -> tuple[tuple[Floats, float, Floats], float]:
        place, density, gradient = current
        momentum = self.random.standard_normal(len(place)) / np.sqrt(self.metric)
        self._energy = float(density - 0.5 * self.metric @ momentum**2)
        self._accepted, self._tried, self._diverged = 0.0, 0, False
        start = Point(place, momentum, gradient)
        whole = Tree(start, start, current, 0.0, momentum, goes_on=True)
        for depth in range(DEEPEST):
            forward = self.random.random() < 0.5
            more = self._grow(whole.right if forward else whole.left, depth, 1 if forward else -1)
            if not more.goes_on:
                break
            draw = more.draw if math.log(self.random.random()) < more.weight - whole.weight else whole.draw
            left, right = (whole.left, more.right) if forward else (more.right, whole.right)
            momenta = whole.momenta + more.momenta
            weight = float(np.logaddexp(whole.weight, more.weight))
            whole = Tree(left, right, draw, weight, momenta, self._straight(momenta, left, right))
            if not whole.goes_on:
                break
        self.divergences += self._diverged
        return whole.draw, self._accepted / max(self._tried, 1)

    def _straight(self, momenta: Floats, *ends: Point) -> bool:
        """Whether the trajectory has not turned back."""
        return all(float(momenta @ (self.metric * end.momentum)) > 0 for end in ends)

    def _grow(self, start: Point, depth: int, direction: int) -> Tree:
        """A stretch of 2^depth steps; `left` is where it begins, `right` where it ends, whichever the direction."""
        if not depth:
            return self._leap(start, direction * self.step)
        first = self._grow(start, depth - 1, direction)
        if not first.goes_on:
            return first
        second = self._grow(first.right, depth - 1, direction)
        if not second.goes_on:
            return second
        weight = float(np.logaddexp(first.weight, second.weight))
        draw = second.draw if math.log(self.random.random()) < second.weight - weight else first.draw
        momenta = first.momenta + second.momenta
        straight = (
            self._straight(momenta, first.left, second.right)
            and self._straight(first.momenta + second.left.momentum, first.left, second.left)
            and self._straight(second.momenta + first.right.momentum, first.right, second.right)
        )
        return Tree(first.left, second.right, draw, weight, momenta, straight)

    def _leap(self, start: Point, step: float) -> Tree:
        momentum = start.momentum + 0.5 * step * start.gradient
        place = start.place + step * self.metric * momentum
        density, gradient = self.posterior(place)
        momentum = momentum + 0.5 * step * gradient
        change = float(density - 0.5 * self.metric @ momentum**2 - self._energy)
        change = change if math.isfinite(change) else -math.inf
        self._diverged = self._diverged or change < -1_000
        self._accepted += math.exp(min(0.0, change))
        self._tried += 1
        end = Point(place, momentum, gradient)
        return Tree(end, end, (place, density, gradient), change, momentum, not self._diverged)


def posterior_of(table: DistanceTable, connection: str) -> tuple[Posterior, list[str]]:
    """The density of one connection, and its words."""
    rows = table.rows_of([connection])
    places, word = np.unique(table.word[rows], return_inverse=True)
    values = table.distance[rows]
    sums = np.bincount(word, values).astype(np.float64)
    statistics = Posterior(np.bincount(word).astype(np.float64), sums, float(values @ values))
    return statistics, [table.words[place] for place in places]


def runs(sets: Distances, dataset: str, connection: str, seeds: int) -> Iterator[dict[str, object]]:
    """Yield one row per run of two chains, after one for the exact posterior and one for the printed figure."""
    path = sets.path_of(dataset)
    if path is None:
        raise InputError(f"The distances of {dataset!r} are not in {', '.join(map(str, sets.folders))}.")
    table = read_distances(path, duplicates="keep")
    density, words = posterior_of(table, connection)
    printed = coordinates(sets)
    figure = np.array([printed.loc[(dataset, connection, word), list(NUMBERS)] for word in (*words, "*")], float)
    fit = bayes(table, interval="percentile", draws=100_000)
    own = {one.word or "*": one for one in (*fit.groups, *fit.words) if one.connection == connection}
    exact = np.array([[own[word].mean, own[word].low, own[word].high] for word in (*words, "*")], float)
    tau = fit.draws.between[:, fit.draws.connections.index(connection)]
    about = {"set": dataset, "connection": connection}
    yield {**about, "run": "exact", "small_tau": float((tau < SMALL).mean()), "least_tau": float(tau.min())}
    yield {**about, "run": "printed", **distance(figure, exact)}
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        chains = [Chain(density, random) for _ in range(2)]
        drawn = np.concatenate([chain.run() for chain in chains])
        means = drawn[:, : len(words) + 1]
        found = np.column_stack([means.mean(axis=0), *np.quantile(means, [0.055, 0.945], axis=0)])
        tau = np.exp(drawn[:, len(words) + 1])
        yield {
            **about, "run": f"NUTS, seed {seed}", **distance(found, exact), "small_tau": float((tau < SMALL).mean()),
            "least_tau": float(tau.min()), "divergences": sum(chain.divergences for chain in chains),
        }  # fmt: skip


def distance(found: Floats, exact: Floats) -> dict[str, float]:
    """From the exact posterior, over words and the group: the worst of mean and ends, on average and at most.

    `farther_out`: the share of words whose mean lies farther from the exact mean of the group than theirs should.
    """
    worst = np.abs(found - exact).max(axis=1)
    away, right = (np.abs(one[:-1, 0] - exact[-1, 0]) for one in (found, exact))
    return {"mean": float(worst.mean()), "largest": float(worst.max()), "farther_out": float((away > right).mean())}


def run_chains(
    out: Path,
    inputs: Mapping[str, Path],
    *,
    distances: Path,
    more_distances: Path,
    dataset: str,
    connection: str = "associated",
    seeds: int = 1,
) -> None:
    """Run chains of the authors' kind, some random seeds of two each."""
    rows = pd.DataFrame(runs(Distances(distances, more_distances), dataset, connection, seeds))
    rows.to_csv(out / "sampler.csv", index=False, float_format="%.4f")


STEP = file_step(
    "dobrzeniecka2023-chains",
    "chains of the authors' kind beside the exact posterior",
    {"dobrzeniecka2023-chains": run_chains},
)
