"""Properties of words in replicates, for the regression of Du et al. 2021, with NumPy alone.

As `biasgauge.analyses.reliability.word_features`, which needs the whole package: tests/training/test_du2021.py.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

MODELS = 4
"""Replicates that properties are means of: six pairs of them for stability."""
_ROWS = 2048


def features(models: list[np.ndarray], device: str = "cpu") -> dict[str, np.ndarray]:
    """Of every word: length of its vector, cosine with the nearest other word, and stability over replicates."""
    norms = [np.linalg.norm(model.astype(np.float64), axis=1) for model in models]
    found = {
        "norm": np.mean(norms, axis=0),
        "nn_similarity": np.mean([nearest_similarity(model, device) for model in models], axis=0),
        "stability": np.mean([stability(one, other) for one, other in combinations(models, 2)], axis=0),
    }
    return {name: values.astype(np.float32) for name, values in found.items()}


def nearest_similarity(model: np.ndarray, device: str = "cpu") -> np.ndarray:
    """Cosine of every word with its nearest other word; on a GPU by PyTorch."""
    unit = model / np.maximum(np.linalg.norm(model, axis=1, keepdims=True), 1e-30)
    if device != "cpu":
        return _nearest_on(device, unit)
    best = np.empty(len(unit))
    for start in range(0, len(unit), _ROWS):
        cosines = unit[start : start + _ROWS] @ unit.T
        own = np.arange(len(cosines))
        cosines[own, start + own] = -np.inf
        best[start : start + _ROWS] = cosines.max(axis=1)
    return best


def _nearest_on(device: str, unit: np.ndarray) -> np.ndarray:
    import torch

    rows = torch.from_numpy(unit).to(device)
    best = []
    for start in range(0, len(rows), _ROWS):
        cosines = rows[start : start + _ROWS] @ rows.T
        own = torch.arange(len(cosines), device=device)
        cosines[own, start + own] = -torch.inf
        best.append(cosines.max(dim=1).values)
    return np.asarray(torch.cat(best).cpu().numpy(), float)


def stability(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Cosine of every word with itself after one model was turned to the other (orthogonal Procrustes)."""
    first, second = one.astype(np.float64), other.astype(np.float64)
    left, _, right = np.linalg.svd(first.T @ second)
    turned = first @ (left @ right)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return np.asarray(np.einsum("ij,ij->i", turned, second) / np.maximum(lengths, 1e-300))
