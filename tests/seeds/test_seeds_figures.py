"""Figures of seed sets show the numbers of their results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.seeds import SeedsResult, bias_subspace, seed_choice, seeds


@pytest.fixture(scope="module")
def glove() -> bg.Embedding:
    return bg.vectors.load_default(8_000)


@pytest.fixture(scope="module")
def found(glove: bg.Embedding) -> SeedsResult:
    pairs = [
        (["he", "man", "boy"], ["she", "woman", "girl"]),
        (["good", "happy"], ["bad", "sad"]),
        (["war", "army"], ["peace", "love"]),
        (["red", "blue"], ["one", "two"]),
        (["nowhere1", "nowhere2"], ["one", "two"]),
    ]
    return seeds(glove, pairs=pairs, generated=6, shuffles=30)


@pytest.fixture(scope="module")
def charts(found: SeedsResult) -> dict[str, Any]:
    """Its charts, drawn once."""
    return dict(found.figures())


def drawn(chart: Any) -> list[list[dict[str, Any]]]:  # noqa: ANN401 - a chart
    return [list(rows) for rows in chart.to_dict()["datasets"].values()]


def test_explained_variance_as_it_stands_and_shuffled(found: SeedsResult, charts: dict[str, Any]) -> None:
    (rows,) = drawn(charts["explained_variance"])
    shown = {(row["pair"], row["pairs"], row["component"]): row["share"] for row in rows}
    assert shown["a1 / b1", "as paired", 1] == found[0].explained_variance[0]
    assert shown["a1 / b1", "shuffled", 3] == found[0].explained_variance_shuffled[2]
    assert not any("a5" in pair for pair, _, _ in shown)


def test_coherence_with_its_interval(found: SeedsResult, charts: dict[str, Any]) -> None:
    (rows,) = [rows for rows in drawn(charts["coherence"]) if any(rows)]
    by_pair = {row["a"]: row for row in rows if row["verdict"] != "held out"}
    assert set(by_pair) == {"a1", "a2", "a3", "a4"}
    interval = found[0].coherence
    row = by_pair["a1"]
    assert (row["low"], row["coherence"], row["high"]) == (interval.low, interval.value, interval.high)
    held_out = {row["a"]: row["coherence"] for row in rows if row["verdict"] == "held out"}
    assert held_out == {card.a: card.held_out.value for card in found if card.held_out.value is not None}


def test_gathered_sets_before_the_generated_cloud(found: SeedsResult, charts: dict[str, Any]) -> None:
    assert found.cloud is not None
    for name, values in (("coherence", found.cloud.coherence), ("first_share", found.cloud.first_share)):
        chart = charts[f"{name}_similarity"]
        cloud, gathered = drawn(chart)
        assert [row[name] for row in cloud] == pytest.approx(values.tolist())
        assert len(gathered) == 4
        assert "Gray: generated sets" in chart.to_dict()["title"]["subtitle"][0]


def test_titles_that_would_be_the_same_are_numbered(glove: bg.Embedding) -> None:
    twice = seeds(glove, pairs=[(["he", "man"], ["she", "girl"])] * 2, shuffles=5)
    rows = drawn(SeedsResult((twice[0], twice[0]), twice.models, twice.settings).figures()["explained_variance"])[0]
    assert {row["pair"] for row in rows} == {"a1 / b1", "a1 / b1 #2"}


def test_words_stand_beside_their_own_cosine(glove: bg.Embedding) -> None:
    space = bias_subspace(glove, ["he", "man", "boy"], ["she", "woman", "girl"])
    (rows,) = drawn(space.figures()["subspace"])
    assert len(rows) == 20
    for row in rows:
        vector = glove[row["word"]].astype(np.float64)
        assert row["cosine"] == pytest.approx(vector @ space.vector / np.linalg.norm(vector), abs=1e-6)


def test_every_list_of_a_category(glove: bg.Embedding) -> None:
    choice = seed_choice(glove, "female", ["war", "death"])
    (rows,) = drawn(choice.figures()["choice"])
    assert {row["what"]: row["value"] for row in rows} == {
        one.set: one.value for one in choice.lists if one.value is not None
    }
    none = seed_choice(glove, ["female_names_1-Caliskan_et_al_2017"], ["war"], policy=bg.core.WordPolicy(case="exact"))
    assert none.figures() == {}


def test_registered_for_users(charts: dict[str, Any]) -> None:
    assert set(charts) == {
        "explained_variance",
        "coherence",
        "coherence_similarity",
        "first_share_similarity",
    }
