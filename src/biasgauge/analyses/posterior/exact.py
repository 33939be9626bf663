"""Independent draws from the Normal models: everything but the standard deviations integrates out.

Given sigma and tau, word means and group mean are Gaussian, so the density of the distances with both integrated out is
known in closed form, and depends on the data through the sufficient statistics of `cells_of` alone. The standard
deviations are drawn from it; then the group mean given them, then the word means given the group mean.

The density has one or two shared coordinates (log sigma, and perhaps a baseline) and further ones (log tau of each
connection) that are independent of each other given the shared ones. A lattice is laid over the region that holds the
mass; in each of its cells the density is bounded by its corners, a cell is drawn by its bound, a point is drawn in it
evenly and accepted with probability density / bound. Accepted points follow the density itself, whatever the step of
the lattice; only mass beyond its edges (e^-20 of the peak) is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from biasgauge.analyses.posterior.priors import Normal, Priors, ScalePrior
from biasgauge.analyses.posterior.table import Cells
from biasgauge.core import Floats, Places
from biasgauge.errors import InternalError

Box = tuple[float, float]
Shared = Callable[[Floats, Floats], Floats]
Block = Callable[[Floats, Floats, Floats], Floats]

_TINIEST, _LARGEST = 1e-10, 60.0
_CUT = 20.0
"""Log density below the peak at which the lattice ends."""
_SEARCH_POINTS, _SEARCH_STEPS = 24, 12
_SMALL = 0.8
"""The search ends when no side of the box shrinks to less than this share."""
_SLACK = 0.02
"""Added to the logarithm of each bound, for peaks between corners; grows when a point is found above its bound."""
_MOST_ROUNDS = 200


class ConnectionDraws(NamedTuple):
    """Draws of one connection: mean distance of group and words (draws × words), tau, sigma."""

    group: Floats
    words: Floats
    between: Floats
    residual: Floats


class ExactDraws(NamedTuple):
    """Draws of several connections that were sampled together; `acceptance` and `edge` as in `LatticeDraws`."""

    connections: list[ConnectionDraws]
    baseline: Floats | None
    acceptance: float
    edge: float


def sample_cells(
    cells: Sequence[Cells], priors: Priors, size: int, random: np.random.Generator, *, baseline: bool = False
) -> ExactDraws:
    """Draw from the model in which these connections share sigma and, with `baseline`, a baseline.

    One connection at a time is the model with a separate sigma for each connection.
    """
    prior, width = priors.baseline, _LARGEST * priors.baseline.sd
    boxes = [
        _sd_box(cells, priors.residual),
        (prior.mean - width, prior.mean + width) if baseline else (0.0, 0.0),
        *(_sd_box([cell], priors.between) for cell in cells),
    ]
    target = Target(_shared(cells, priors, baseline=baseline), [_between(cell, priors) for cell in cells], boxes)
    lattice = draw_from_lattice(target, size, random, points=32 if baseline else 64)
    residual, shift = np.exp(lattice.shared[:, 0]), lattice.shared[:, 1]
    drawn = [
        _means(cell, priors.group, residual, np.exp(lattice.blocks[:, index]), shift, random)
        for index, cell in enumerate(cells)
    ]
    return ExactDraws(drawn, shift if baseline else None, lattice.acceptance, lattice.edge)


def _shared(cells: Sequence[Cells], priors: Priors, *, baseline: bool) -> Shared:
    """Log density of log sigma and the baseline b from their priors and the sum of squares within words, S.

    log p(sigma) + (1 − f) log sigma − S / (2 sigma²) − (b − mean)² / (2 sd²), f being the degrees of freedom of S; the
    1 is the Jacobian of the logarithm.
    """
    freedom, within = sum(cell.df_within for cell in cells), sum(cell.within for cell in cells)

    def density(log_sd: Floats, shift: Floats) -> Floats:
        sd = np.exp(log_sd)
        log_density = priors.residual.log_density(sd) + (1 - freedom) * log_sd - 0.5 * within / sd**2
        if baseline:
            log_density = log_density - 0.5 * ((shift - priors.baseline.mean) / priors.baseline.sd) ** 2
        return log_density

    return density


def _between(cells: Cells, priors: Priors) -> Block:
    """Log density of one connection's word means and log tau, given log sigma and the baseline.

    A word mean over n distances is normal around the group mean with variance tau² + sigma² / n, and the group mean,
    which is integrated out, is normal around the baseline. Words with the same n are summed beforehand.
    """
    counts, kind = np.unique(cells.count, return_inverse=True)
    number = np.bincount(kind).astype(np.float64)
    center = np.bincount(kind, cells.mean) / number
    scatter = np.bincount(kind, (cells.mean - center[kind]) ** 2)

    def density(log_sd: Floats, shift: Floats, log_between: Floats) -> Floats:
        noise, between = np.exp(2 * log_sd), np.exp(log_between)
        variances = [between**2 + noise / count for count in counts]
        weights = [n / variance for n, variance in zip(number, variances, strict=True)]
        total = sum(weights)  # precision of the group mean given the words
        middle = sum(weight * mean for weight, mean in zip(weights, center, strict=True)) / total
        # log_between is the Jacobian; the squares split into those around the mean of their kind, those of these means
        # around the weighted mean, and that of the weighted mean around its prior.
        log_density = priors.between.log_density(between) + log_between - 0.5 * np.log(total)
        for n, variance, weight, mean, squares in zip(number, variances, weights, center, scatter, strict=True):
            log_density = log_density - 0.5 * (
                n * np.log(variance) + squares / variance + weight * (mean - middle) ** 2
            )
        spread = priors.group.sd**2 + 1 / total
        result: Floats = log_density - 0.5 * (np.log(spread) + (middle - shift - priors.group.mean) ** 2 / spread)
        return result

    return density


def _means(
    cells: Cells, prior: Normal, residual: Floats, between: Floats, shift: Floats, random: np.random.Generator
) -> ConnectionDraws:
    """Draw the group mean given the standard deviations, then word means given the group mean (all normal)."""
    noise, spread = residual[:, None] ** 2 / cells.count, between[:, None] ** 2
    weights = 1 / (spread + noise)
    precision = weights.sum(axis=1) + 1 / prior.sd**2
    mean = (weights @ cells.mean + (prior.mean + shift) / prior.sd**2) / precision
    group = mean + random.standard_normal(len(mean)) / np.sqrt(precision)
    # A word mean given its data: shrunken towards the group mean by 1 − tau² / (tau² + sigma² / n).
    reliability = spread / (spread + noise)
    middle = group[:, None] + reliability * (cells.mean - group[:, None])
    words = middle + np.sqrt(reliability * noise) * random.standard_normal(middle.shape)
    return ConnectionDraws(group, words, between, residual)


def _sd_box(cells: Sequence[Cells], prior: ScalePrior) -> Box:
    """Range of the log of a standard deviation, far beyond what data and prior allow."""
    spread = max(cell.spread for cell in cells)
    low = min(prior.mean, max(spread, _TINIEST))
    return float(np.log(_TINIEST * low)), float(np.log(_LARGEST * (prior.mean + spread)))


class LatticeDraws(NamedTuple):
    """Draws × coordinates; `edge` is the density at the edge of the first box: where it is large, mass was cut off."""

    shared: Floats
    blocks: Floats
    acceptance: float
    edge: float


class Target(NamedTuple):
    """A density: `shared(a, b)` plus the sum of `block(a, b, c)` over the blocks, all logarithms, all broadcasting.

    `boxes` hold the two shared coordinates, then one for each block; a coordinate whose box has no width is fixed.
    """

    shared: Shared
    blocks: Sequence[Block]
    boxes: Sequence[Box]

    def tables(self, axes: Sequence[Floats]) -> tuple[Floats, list[Floats]]:
        """Log densities on a lattice: a × b, and for each block a × b × c."""
        a, b = axes[0][:, None, None], axes[1][None, :, None]
        size = (len(axes[0]), len(axes[1]))
        base = np.broadcast_to(self.shared(a, b), (*size, 1))[..., 0]
        tables = [
            np.broadcast_to(block(a, b, axis[None, None, :]), (*size, len(axis)))
            for block, axis in zip(self.blocks, axes[2:], strict=True)
        ]
        return base, tables

    def at(self, shared: Floats, blocks: Floats) -> tuple[Floats, list[Floats]]:
        """Log densities at points: the shared one, and each block's."""
        a, b = shared[:, 0], shared[:, 1]
        return self.shared(a, b), [block(a, b, blocks[:, index]) for index, block in enumerate(self.blocks)]


def draw_from_lattice(target: Target, size: int, random: np.random.Generator, *, points: int = 64) -> LatticeDraws:
    """Draw `size` independent points of the target by rejection from a piecewise constant density.

    It is constant in the cells of a lattice with `points` points on a side. Where a point lies above the bound of its
    cell, the bounds are raised.
    """
    boxes, edge = _region(target)
    axes = [_axis(box, points) for box in boxes]
    slack = np.full(1 + len(target.blocks), _SLACK)
    for _ in range(_MOST_ROUNDS):
        outcome = _draw(target, axes, size, random, slack)
        if isinstance(outcome, LatticeDraws):
            return outcome._replace(edge=edge)
        slack = slack + 1.5 * outcome
    raise InternalError("no bound was found for the density of the standard deviations")


def _axis(box: Box, points: int) -> Floats:
    return np.array([box[0]]) if box[0] == box[1] else np.linspace(box[0], box[1], points)


def _region(target: Target) -> tuple[list[Box], float]:
    """Shrink the boxes to where the density is within e^-20 of its peak."""
    boxes = list(target.boxes)
    edge = -np.inf
    for step in range(_SEARCH_STEPS):
        axes = [_axis(box, _SEARCH_POINTS) for box in boxes]
        marginals = _marginals(*target.tables(axes))
        if step == 0:
            ends = [marginal[end] - marginal.max() for marginal in marginals if len(marginal) > 1 for end in (0, -1)]
            edge = max(ends, default=-np.inf)
        smaller = [_shrunk(axis, marginal) for axis, marginal in zip(axes, marginals, strict=True)]
        sides = zip(smaller, boxes, strict=True)
        shares = [(new[1] - new[0]) / (old[1] - old[0]) for new, old in sides if old[1] > old[0]]
        boxes = smaller
        if min(shares, default=1.0) > _SMALL:
            break
    return boxes, float(np.exp(edge))


def _shrunk(axis: Floats, marginal: Floats) -> Box:
    inside = np.flatnonzero(marginal > marginal.max() - _CUT)
    return float(axis[max(inside[0] - 1, 0)]), float(axis[min(inside[-1] + 1, len(axis) - 1)])


def _marginals(base: Floats, tables: Sequence[Floats]) -> list[Floats]:
    """Log marginal density along each coordinate, up to a constant."""
    sums = [log_sum(table, axis=2) for table in tables]
    joint = base + sum(sums)
    along = [log_sum(joint, axis=1), log_sum(joint, axis=0)]
    for table, total in zip(tables, sums, strict=True):
        without = joint - total  # density of the shared coordinates and of all other blocks
        along.append(log_sum((table + without[..., None]).reshape(-1, table.shape[2]), axis=0))
    return along


def log_sum(values: Floats, axis: int) -> Floats:
    """Logarithm of the sum of exponentials along an axis."""
    peak = values.max(axis=axis, keepdims=True)
    total: Floats = np.log(np.exp(values - peak).sum(axis=axis)) + np.squeeze(peak, axis)
    return total


def _highest_corner(values: Floats) -> Floats:
    """The largest corner of each cell; an axis with a single point has one cell."""
    for axis, length in enumerate(values.shape):
        if length > 1:
            low, high = (np.take(values, range(start, length - 1 + start), axis) for start in (0, 1))
            values = np.maximum(low, high)
    return values


def _draw(
    target: Target, axes: Sequence[Floats], size: int, random: np.random.Generator, slack: Floats
) -> LatticeDraws | Floats:
    """Draw; when a point lies above a bound, return by how much for the shared density and for each block.

    A cell of the shared coordinates is drawn with the product of its bounds, then a cell of each block given it, then a
    point within these cells; it is accepted with density / bound.
    """
    base, tables = target.tables(axes)
    base_bound = _highest_corner(base) + slack[0]
    bounds = [_highest_corner(table) + margin for table, margin in zip(tables, slack[1:], strict=True)]
    cells = base_bound.size
    joint = base_bound.ravel() + sum(log_sum(bound, axis=2).ravel() for bound in bounds)
    first = _cumulative(joint[None])[0]
    rows = [_cumulative(bound.reshape(cells, -1)) for bound in bounds]
    accepted_shared, accepted_blocks, accepted, proposed = [], [], 0, 0
    while accepted < size:
        count = int(1.3 * (size - accepted) * max(proposed, 1) / max(accepted, 0.1 * proposed, 1)) + 100
        cell = np.searchsorted(first, random.random(count))
        block_cells = [
            np.minimum((row[cell] < random.random((count, 1))).sum(axis=1), row.shape[1] - 1) for row in rows
        ]
        in_a, in_b = np.divmod(cell, base_bound.shape[1])
        shared = np.stack([_inside(axes[0], in_a, random), _inside(axes[1], in_b, random)], axis=1)
        blocks = np.stack(
            [_inside(axis, index, random) for axis, index in zip(axes[2:], block_cells, strict=True)], axis=1
        )
        density, densities = target.at(shared, blocks)
        over_blocks = [
            log_density - bound.reshape(cells, -1)[cell, index]
            for log_density, bound, index in zip(densities, bounds, block_cells, strict=True)
        ]
        above = np.stack([density - base_bound.ravel()[cell], *over_blocks])
        worst = above.max(axis=1)
        if (worst > 0).any():
            over: Floats = np.maximum(worst, 0)
            return over
        good = np.log(random.random(count)) < above.sum(axis=0)
        proposed, accepted = proposed + count, accepted + int(good.sum())
        accepted_shared.append(shared[good])
        accepted_blocks.append(blocks[good])
    return LatticeDraws(
        np.concatenate(accepted_shared)[:size], np.concatenate(accepted_blocks)[:size], accepted / proposed, 0.0
    )


def _cumulative(logs: Floats) -> Floats:
    """Cumulative shares of each row."""
    sums = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
    shares: Floats = sums / sums[:, -1:]
    return shares


def _inside(axis: Floats, cell: Places, random: np.random.Generator) -> Floats:
    """A point spread evenly over each cell."""
    if len(axis) == 1:
        return np.full(len(cell), axis[0])
    inside: Floats = axis[cell] + random.random(len(cell)) * (axis[cell + 1] - axis[cell])
    return inside
