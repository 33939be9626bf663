"""The linear map of soft debiasing: keep all products of words, lose those of neutral words with the bias.

Bolukbasi et al. 2016, Appendix (soft debiasing): minimize ‖(WT)(WT)ᵀ − WWᵀ‖² + λ‖(NT)(BT)ᵀ‖² over maps T, rows being
words, N the neutral ones and B the bias. It is a convex problem in M = TTᵀ, which must be positive semidefinite. With
WᵀW = U S² Uᵀ and X = S UᵀMU S the first norm is the plain distance of X from S², so the problem is well conditioned,
and accelerated projected gradients reach its one solution.
"""

from __future__ import annotations

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.errors import ParameterError

_STEPS = 20_000
_PRECISION = 1e-9
_RANK = 1e-10


def soft_map(words: Floats, neutral: Floats, basis: Floats, weight: float) -> Floats:
    """The symmetric map T that minimizes ‖W(TT − I)Wᵀ‖² + weight · ‖N TT Bᵀ‖².

    Args:
        words: WᵀW, dimensions × dimensions.
        neutral: NᵀN.
        basis: B, components × dimensions.
        weight: λ; 0 gives the identity.

    Raises:
        ParameterError: the weight is so large that the solution is out of reach.
    """
    squares, axes = np.linalg.eigh(words)
    spanned = squares > _RANK * squares[-1]
    axes, target = axes[:, spanned], squares[spanned]
    back = axes / np.sqrt(target)
    found = _solved(target, back.T @ neutral @ back, back.T @ basis.T @ basis @ back, weight)
    middle = back @ found @ back.T
    outside = np.eye(len(words)) - axes @ axes.T
    mapped: Floats = root(middle) + outside
    return mapped


def root(matrix: Floats) -> Floats:
    """Symmetric square root of a positive semidefinite matrix."""
    values, axes = np.linalg.eigh((matrix + matrix.T) / 2)
    found: Floats = (axes * np.sqrt(np.maximum(values, 0))) @ axes.T
    return found


def _solved(target: Floats, p: Floats, q: Floats, weight: float) -> Floats:
    """Minimize ‖X − S²‖² + weight · tr(P X Q X): Nesterov's method, projected on positive semidefinite matrices."""
    steepest = 2 + 2 * weight * float(np.linalg.norm(p, 2) * np.linalg.norm(q, 2))
    momentum = (steepest**0.5 - 2**0.5) / (steepest**0.5 + 2**0.5)
    wanted = np.diag(target)
    x = ahead = wanted
    near = _PRECISION * float(np.linalg.norm(target))
    for _ in range(_STEPS):
        slope = 2 * (ahead - wanted) + weight * (p @ ahead @ q + q @ ahead @ p)
        new = _semidefinite(ahead - slope / steepest)
        if float(np.linalg.norm(new - ahead)) * steepest / 2 <= near:
            return new
        ahead = new + momentum * (new - x)
        x = new
    raise ParameterError(f"Soft debiasing did not converge within {_STEPS:,} steps: choose a smaller weight.")


def _semidefinite(matrix: Floats) -> Floats:
    values, axes = np.linalg.eigh(matrix)
    if values[0] >= 0:
        return matrix
    found: Floats = (axes * np.maximum(values, 0)) @ axes.T
    return found


def published_map(words: Floats, neutral: Floats, basis: Floats, weight: float, start: Floats) -> Floats:
    """Ten steps of plain descent of 1e-6 from `start` on the sum of the two norms, not squared, as released.

    `basis` is dimensions × components as the released code lays it out; its map is applied to column vectors.
    """
    found = start.copy()
    inside = basis @ basis.T
    for _ in range(_PUBLISHED_STEPS):
        middle = found.T @ found
        change = middle - np.eye(len(found))
        first = words @ change @ words
        second = neutral @ middle @ inside
        slope = 2 * found @ first / np.sqrt(np.sum(first * change))
        slope += weight * found @ (second + second.T) / np.sqrt(np.trace(middle @ second))
        found -= _PUBLISHED_RATE * slope
    return found


_PUBLISHED_STEPS = 10
_PUBLISHED_RATE = 1e-6
