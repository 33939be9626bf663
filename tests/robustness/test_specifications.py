"""Specification curves: the verdict follows the analyses, and every one of them is a WEAT."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from biasgauge.analyses.robustness import specification_curve
from biasgauge.errors import ParameterError
from biasgauge.results import Summary
from biasgauge.results.terminal import print_summary
from biasgauge.scores import weat
from biasgauge.vectors import Embedding

SETS: dict[str, Any] = {role: [f"{role}{number}" for number in range(6)] for role in "xyab"}
WORDS = tuple(word for words in SETS.values() for word in words)


def views(leans: list[float], noise: float = 0.5, seed: int = 0, dim: int = 10) -> list[Embedding]:
    """One view for each lean of X to A and of Y to B; words are the same in all of them, but for a little noise."""
    random = np.random.default_rng(seed)
    words, axis = random.normal(size=(24, dim)) * noise, np.eye(dim)[0]
    signs = np.repeat([1.0, -1.0, 1.0, -1.0], 6)
    made = []
    for layer, lean in enumerate(leans):
        strength = np.where(np.arange(24) < 12, lean, 1.0)
        vectors = words + 0.1 * random.normal(size=words.shape) + (signs * strength)[:, None] * axis
        facets: dict[str, str | int] = {
            "checkpoint": "m", "layer": layer // 2, "pooling": ("mean", "cls")[layer % 2], "template": "{}",
            "context": 0,
        }  # fmt: skip
        made.append(Embedding(WORDS, vectors, name=f"view {layer}", facets=facets))
    return made


def test_every_analysis_is_a_weat() -> None:
    given = views([1.0, 0.3, -0.5, 0.0])
    found = specification_curve(given, **SETS)
    for view, row in zip(given, found.specifications, strict=True):
        alone = weat(view, **SETS, alternative="two-sided", interval=None)
        assert row.effect_size == pytest.approx(alone.effect_size)
        assert row.contrast.value == pytest.approx(alone.contrast.value)
        assert (row.contrast.low, row.contrast.high) == pytest.approx((alone.contrast.low, alone.contrast.high))
        assert row.p == pytest.approx(max(alone.p_value, alone.p_attributes))
        assert row.p is not None
        assert row.p_adjusted is not None
        assert row.p_adjusted >= row.p
    assert found.facets[0].facet == "layer"
    assert [row.level for row in found.facets if row.facet == "pooling"] == ["mean", "cls"]


@pytest.mark.parametrize(
    ("leans", "decision"),
    [
        ([1.0] * 8, "report"),
        ([1.0] * 5 + [-1.0] * 3, "do-not-report"),
        ([0.0] * 8, "no-association-shown"),
    ],
)
def test_the_verdict_follows_the_analyses(leans: list[float], decision: str) -> None:
    found = specification_curve(views(leans), **SETS)
    assert found.decision == decision
    summary = found.summary()
    assert summary.mark == decision
    screen = Console(width=100, record=True)
    print_summary(screen, Summary("around it", "", parts=(summary,)))
    assert decision in screen.export_text()
    assert summary.charts[0].drawn().to_dict()
    again = type(found).from_dict(found.to_dict())
    assert again.decision == decision
    assert again.sentence() == found.sentence()


def test_views_without_differences_are_undefined_and_near_ones_are_named() -> None:
    given = views([1.0, 0.8])
    same = Embedding(WORDS, np.ones((24, 10)), name="same", facets=given[0].facets)
    near = Embedding(WORDS, 1 + 1e-4 * given[0].vectors, name="near", facets=given[0].facets)
    found = specification_curve([*given, same, near], **SETS)
    assert found.defined == 3
    assert found.specifications[2].effect_size is None
    assert "1 of 4 analyses are undefined" in found.warnings[0]
    assert "in 1 analyses all cosines lie within 1e-05" in found.warnings[1]
    assert "near" in found.warnings[1]


def test_words_that_a_view_lacks_are_left_out_of_all_and_too_few_are_not_measurable() -> None:
    given = views([1.0, 0.8])
    less = given[0].subset([word for word in WORDS if word != "x0"])
    found = specification_curve([less, given[1]], **SETS)
    assert found.words == {"x": 5, "y": 6, "a": 6, "b": 6}
    fewer = given[0].subset([word for word in WORDS if word not in ("x0", "x1", "x2")])
    found = specification_curve([fewer, given[1]], **SETS)
    assert found.decision == "not-measurable"
    assert "x 3 of 6" in found.sentence()
    with pytest.raises(ParameterError, match="in both target sets"):
        specification_curve(given, x=["x0"], y=["x0"], a=["a0"], b=["b0"])


@pytest.mark.calibration
@pytest.mark.parametrize("null", ["words lean alone", "two topics of targets", "two topics of attributes"])
def test_a_null_is_reported_in_no_more_than_its_share_of_draws(
    repository: Path, monkeypatch: pytest.MonkeyPatch, null: str
) -> None:
    """At .05, over 120 draws: at most 11 (of a binomial with .05, more than that in 2 % of such tests)."""
    monkeypatch.syspath_prepend(str(repository / "bench"))
    bench = importlib.import_module("specification_curve")
    found = bench.rates(null, draws=120, size=4, views=6)
    assert found["report"] <= 11 / 120
    assert found["report"] + found["do-not-report"] <= 15 / 120
