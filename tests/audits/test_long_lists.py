"""Lists longer than an audit measures: random words of them, which the verdict says."""

from __future__ import annotations

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.audits.answers import answer
from biasgauge.audits.context import build_context
from biasgauge.audits.measurement import LONGEST, Measured, measure
from biasgauge.audits.subjects import Subject
from biasgauge.core import DEFAULT_POLICY, Query
from biasgauge.lexicons import parse_lexicon

WORDS = tuple(f"w{number}" for number in range(LONGEST + 700))
SETS = {"x": WORDS[: LONGEST + 500], "y": WORDS[-200:-150], "a": WORDS[-150:-100], "b": WORDS[-100:]}


@pytest.fixture(scope="module")
def vectors() -> bg.Embedding:
    matrix = np.random.default_rng(0).standard_normal((len(WORDS), 10))
    matrix[: LONGEST + 500, 0] += 1
    matrix[-150:-100, 0] += 1
    return bg.Embedding(WORDS, matrix, name="random")


def lists(sets: dict[str, tuple[str, ...]]) -> dict[str, dict[str, object]]:
    return {role: {"name": role.upper(), "words": list(words)} for role, words in sets.items()}


def measured(vectors: bg.Embedding, sets: dict[str, tuple[str, ...]], seed: int = 0) -> Measured:
    outcome = measure(Query.from_sets(sets), Subject("random", (vectors,)), DEFAULT_POLICY, seed)
    assert isinstance(outcome, Measured)
    return outcome


def test_random_words_of_a_long_list_are_measured_and_the_verdict_says_so(vectors: bg.Embedding) -> None:
    long = measured(vectors, SETS)
    assert long.test.contrast.words == ((LONGEST, 50), (50, 100))
    assert long.share == 1.0  # no word is lost
    assert long.remark == (
        f"Lists are long: {LONGEST:,} random words of each were measured in place of {LONGEST + 500:,} of X."
    )
    assert long.value == measured(vectors, SETS).value
    drawn = [measured(vectors, SETS, seed).value for seed in range(2)]
    assert len(set(drawn)) == 2
    context = build_context([vectors], lexicons=[parse_lexicon({"name": "long", "kind": "test", **lists(SETS)})])
    (verdict,) = answer(context)
    assert long.remark in verdict.beware
    units = vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    x, y, a, b = (units[[WORDS.index(word) for word in SETS[role]]].mean(axis=0) for role in "xyab")
    assert long.test.contrast.value == pytest.approx(float((x - y) @ (a - b)), abs=3 * (long.test.contrast.se or 0))


def test_lists_that_are_not_long_are_measured_whole(vectors: bg.Embedding) -> None:
    whole = measured(vectors, {**SETS, "x": WORDS[:LONGEST]})
    assert whole.test.contrast.words == ((LONGEST, 50), (50, 100))
    assert whole.remark == ""
