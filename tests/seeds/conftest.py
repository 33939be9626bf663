"""Models with known subspaces."""

from __future__ import annotations

import numpy as np
import pytest

import biasgauge as bg

MEN = ("he", "man", "his", "boy", "father", "son")
WOMEN = ("she", "woman", "her", "girl", "mother", "daughter")


def planted(number: int, *, words: int = 400, dim: int = 12, noise: float = 0.3) -> bg.Embedding:
    """Two sets apart along one axis, in a vocabulary of noise, in axes of its own; pairs share the rest."""
    truth = np.random.default_rng(5)
    seeds = [word for pair in zip(MEN, WOMEN, strict=True) for word in pair]
    vocabulary = (*seeds, *(f"w{row}" for row in range(words)))
    vectors = truth.normal(size=(len(vocabulary), dim))
    own = truth.normal(size=(len(MEN), dim))
    own[:, 0] = 0
    own = np.repeat(own, 2, axis=0)
    own[::2, 0], own[1::2, 0] = 2.5, -2.5
    vectors[: len(own)] = own
    random = np.random.default_rng(100 + number)
    turn = np.linalg.qr(random.normal(size=(dim, dim)))[0]
    return bg.Embedding(vocabulary, (vectors + noise * random.normal(size=vectors.shape)) @ turn, name=f"run {number}")


@pytest.fixture(scope="session")
def model() -> bg.Embedding:
    return planted(0)


@pytest.fixture(scope="session")
def replicates() -> list[bg.Embedding]:
    return [planted(number) for number in range(4)]


@pytest.fixture(scope="session")
def truth() -> bg.Embedding:
    """What the replicates are noisy and turned views of."""
    return planted(9, noise=0)
