"""Random parts of one text differ in nothing: how often does `compare` say that they do?

`scripts/compare_error_rates.py` does the same on real text; docs/text/compare.md has its rates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.lexicons import AssociationTest, WordSet
from biasgauge.text import corpus_of_documents, planted_corpus, read_corpus

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.core.arrays import Floats

pytestmark = [pytest.mark.calibration, pytest.mark.slow]
SPLITS, QUESTIONS, LINES = 10, 8, 9_000


def questions(words: list[str], random: np.random.Generator) -> list[AssociationTest]:
    """Tests of four words a list."""
    tests = []
    for number in range(QUESTIONS):
        lists = random.permutation(words)[:16].reshape(4, 4)
        sets: dict[str, Any] = {
            role: WordSet(role.upper(), tuple(members.tolist())) for role, members in zip("xyab", lists, strict=True)
        }
        tests.append(AssociationTest(name=f"test{number}", title=f"test {number}", **sets))
    return tests


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_halves_and_quarters_of_one_text_seldom_differ(share: float, tmp_path: Path) -> None:
    strengths: Floats = np.linspace(-0.8, 0.8, 40)
    text = read_corpus(planted_corpus(strengths.tolist(), lines=LINES).documents(), out=tmp_path / "text")
    words = [word for word in text.words if word.isalpha()][:120]
    rejected, reported = [], []
    for split in range(SPLITS):
        random = np.random.default_rng([split, int(10 * share)])
        order, half = random.permutation(LINES), LINES // 2
        parts = {"one": order[:half], "two": order[half : half + round(share * half)]}
        corpora = {
            name: corpus_of_documents(text, numbers, tmp_path / f"{split}-{name}") for name, numbers in parts.items()
        }
        settings = {"dim": 16, "epochs": 2, "min_count": 1, "n_jobs": 1, "random_state": split}
        found = bg.compare(corpora, questions(words, random), training=settings, smallest=0.01)
        rejected += [row.p is not None and row.p < 0.05 for row in found.differences]
        reported += [verdict.decision.startswith("report") for verdict in found.verdicts]
    count = SPLITS * QUESTIONS
    assert len(rejected) == count
    assert np.mean(rejected) <= 0.05 + 2 * (0.05 * 0.95 / count) ** 0.5
    assert np.mean(reported) <= 0.05
