"""Where the bias is known because it was planted, trained vectors must find its order again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.text import planted_corpus
from biasgauge.text.training.algorithms import ALGORITHMS

if TYPE_CHECKING:
    from pathlib import Path

STRENGTHS = {f"target{letter}": strength for letter, strength in zip("abcdefg", np.linspace(-0.9, 0.9, 7), strict=True)}


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_scores_rise_with_the_planted_strength(algorithm: str, tmp_path: Path) -> None:
    lines = 20_000 if algorithm == "glove" else 10_000  # GloVe needs more text for the same order
    planted = planted_corpus(STRENGTHS, lines=lines, random_state=4)
    corpus = bg.text.read_corpus(planted.documents(), out=tmp_path / "corpus")
    # The text has few words, so that all of them are frequent: none may be skipped for that.
    skipping: dict[str, Any] = {} if algorithm == "glove" else {"subsample": 0}
    trained = bg.train(corpus, out=tmp_path, algorithm=algorithm, seeds=2, dim=32, epochs=8, **skipping)
    scores = bg.score(trained.load(), pairs=list(planted.pairs), words=list(STRENGTHS), measures=["dbwa"])
    found = scores.to_numpy()[0].mean(axis=(0, 2))
    assert (np.diff(found) > 0).all(), found
    assert found[0] < 0 < found[-1]


def test_nothing_planted_nothing_found(tmp_path: Path) -> None:
    strong = planted_corpus(STRENGTHS, lines=10_000, random_state=5)
    null = planted_corpus(dict.fromkeys(STRENGTHS, 0.0), lines=10_000, random_state=5)
    spreads = []
    for place, planted in enumerate((strong, null)):
        corpus = bg.text.read_corpus(planted.documents(), out=tmp_path / f"{place}" / "corpus")
        trained = bg.train(corpus, out=tmp_path / f"{place}", seeds=2, dim=32, epochs=8)
        scores = bg.score(trained.load(), pairs=list(planted.pairs), words=list(STRENGTHS), measures=["dbwa"])
        spreads.append(float(np.ptp(scores.to_numpy()[0].mean(axis=(0, 2)))))
    assert spreads[1] < spreads[0] / 5
