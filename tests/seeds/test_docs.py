"""The page about seeds: its claims are true."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import ndtr

from biasgauge.analyses.seeds import seeds

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "measures" / "seeds.md").read_text()


def test_every_number_of_the_table_is_in_the_json(page: str) -> None:
    words = [f"w{row}" for row in range(40)]
    found = seeds((words, np.random.default_rng(0).normal(size=(40, 9))), words[:4], words[4:8]).to_dict()["pairs"][0]
    every = {*found, *found["pairing"], *(f"balance.{name}" for name in found["balance"])}
    for cell in re.findall(r"^\| (`.*?) \|", page, re.MULTILINE):
        for name in re.findall(r"`([\w.]+)`", cell):
            assert name in every


def test_random_sets_look_coherent_until_they_are_held_out() -> None:
    """As the page says: ten words a set, 100 dimensions.

    A seed has the cosine (1/2n)^½ with the difference of the means, plus noise of variance 1/d as any word has, so that
    it stands above a share Φ((d/2n)^½ / 2^½) of the vocabulary: coherence is twice that less 1.
    """
    random = np.random.default_rng(0)
    words = [f"w{row}" for row in range(3000)]
    held: list[float] = []
    whole: list[float] = []
    for _ in range(10):
        chosen = [words[row] for row in random.choice(3000, 20, replace=False)]
        card = seeds((words, random.normal(size=(3000, 100))), chosen[:10], chosen[10:], shuffles=0)[0]
        assert card.coherence.value is not None
        assert card.held_out.value is not None
        whole.append(card.coherence.value)
        held.append(card.held_out.value)
    assert np.mean(whole) == pytest.approx(2 * ndtr((100 / 20 / 2) ** 0.5) - 1, abs=0.02)  # .886
    assert abs(np.mean(held)) < 0.1
