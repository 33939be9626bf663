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
from biasgauge.vectors import Embedding, Frequencies

SETS: dict[str, Any] = {role: [f"{role}{number}" for number in range(6)] for role in "xyab"}
WORDS = tuple(word for words in SETS.values() for word in words)


def views(
    leans: list[float], noise: float = 0.5, seed: int = 0, dim: int = 10, *, counted: bool = True
) -> list[Embedding]:
    """One view for each lean of X to A and of Y to B; words are the same in all of them, but for a little noise."""
    random = np.random.default_rng(seed)
    words, axis = random.normal(size=(24, dim)) * noise, np.eye(dim)[0]
    counts = Frequencies(np.random.default_rng(7).integers(100, 10_000, 24)) if counted else None
    signs = np.repeat([1.0, -1.0, 1.0, -1.0], 6)
    made = []
    for layer, lean in enumerate(leans):
        strength = np.where(np.arange(24) < 12, lean, 1.0)
        vectors = words + 0.1 * random.normal(size=words.shape) + (signs * strength)[:, None] * axis
        facets: dict[str, str | int] = {
            "checkpoint": "m", "layer": layer // 2, "pooling": ("mean", "cls")[layer % 2], "template": "{}",
            "context": 0,
        }  # fmt: skip
        made.append(Embedding(WORDS, vectors, name=f"view {layer}", facets=facets, frequencies=counts))
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
    ("leans", "smallest", "decision"),
    [
        ([1.0] * 8, 0.03, "report"),
        ([1.0] * 8, 5.0, "no-association-shown"),  # clearly not 0, and smaller than anything that matters
        ([1.0] * 5 + [-1.0] * 3, 5.0, "do-not-report"),
        ([0.0] * 8, None, "inconclusive"),
        ([0.0] * 8, 0.03, "inconclusive"),
        ([0.0] * 8, 2.0, "no-association-shown"),
    ],
)
def test_the_verdict_follows_the_analyses(leans: list[float], smallest: float | None, decision: str) -> None:
    found = specification_curve(views(leans), **SETS, smallest=smallest)
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


def test_without_frequencies_a_finding_is_reported_with_care_alone() -> None:
    found = specification_curve(views([1.0] * 8, counted=False), **SETS)
    assert found.decision == "report-with-care"
    assert found.adjusted is None
    assert "unknown whether word frequency explains it" in found.sentence()


def test_the_curve_at_equal_frequency_is_that_of_associations_less_what_frequency_predicts() -> None:
    given = views([0.6, 0.3, -0.2, 0.4])
    found = specification_curve(given, **SETS)
    log = np.log10(given[0].frequencies.values)  # type: ignore[union-attr]
    effects = []
    for view in given:  # the definition, one word side after the other: least squares on lists, f and f²
        units = view.vectors / np.linalg.norm(view.vectors, axis=1, keepdims=True)
        table = units[:12] @ units[12:].T
        designs = []
        for side in (log[:12], log[12:]):
            f = (side - side.mean()) / side.std()
            covariates = np.stack([f, f**2], axis=1)
            designs.append(np.hstack([np.eye(2)[np.repeat([0, 1], 6)], covariates - covariates.mean(axis=0)]))
        slopes = np.linalg.lstsq(designs[1], table.T, rcond=None)[0]
        scores = slopes[0] - slopes[1]
        fitted = np.linalg.lstsq(designs[0], scores, rcond=None)[0]
        scores = scores - designs[0][:, 2:] @ fitted[2:]
        effects.append((scores[:6].mean() - scores[6:].mean()) / scores.std())
    assert found.adjusted is not None
    assert found.adjusted.median == pytest.approx(np.median(effects))
    assert found.adjusted.positive == sum(effect > 0 for effect in effects)


def test_a_curve_of_frequency_alone_is_explained_by_it() -> None:
    random, ranks = np.random.default_rng(3), np.arange(1, 2_001)
    words = [f"w{number}" for number in range(2_000)]
    words[10:970:80], words[300:1_980:140] = (
        [f"{side}{n}" for side in sides for n in range(6)] for sides in ("xa", "yb")
    )
    given = []
    for layer in range(6):
        vectors = random.normal(size=(2_000, 30))
        vectors[:, 0] += np.linspace(6, -6, 2_000)
        given.append(Embedding(tuple(words), vectors, name=f"{layer}", frequencies=Frequencies(ranks, "ranks")))
    found = specification_curve(given, **SETS, smallest=0.01)
    assert found.p_median is not None
    assert found.adjusted is not None
    assert found.p_median <= 0.05 < (found.adjusted.p_median or 0)
    assert found.adjusted.frequency == "explains"
    assert found.decision == "inconclusive"
    assert "explained by word frequency" in found.sentence()


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
