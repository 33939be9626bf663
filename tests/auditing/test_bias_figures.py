"""Figures of bias show every defined test with its interval, and what replicates say about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.auditing.figures import bias_charts
from biasgauge.lexicons import Lexicon, parse_lexicon

HOSTILE = "it's \"quoted\" \\ ['x'] . <b>"


def lexicon(name: str, first: str = "sums", lost: str = "x1") -> Lexicon:
    sets = {role: {"name": role, "words": [f"{role}1", f"{role}2"]} for role in "xyab"}
    sets["x"] = {"name": first, "words": [lost, "x2"]}
    return parse_lexicon({"name": name, "kind": "test", **sets}, path="own.toml")


def model(seed: int, name: str = "") -> bg.Embedding:
    words = tuple(f"{role}{number}" for role in "xyab" for number in (1, 2))
    vectors = np.random.default_rng(seed).standard_normal((len(words), 6))
    return bg.Embedding(words, vectors, name=name or f"seed {seed}")


def charts_of(result: bg.AuditResult) -> dict[str, Any]:
    return {chart.name: chart.drawn() for chart in bias_charts(result)}


def drawn(chart: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - a chart
    (rows,) = chart.to_dict()["datasets"].values()
    return list(rows)


def test_every_value_is_drawn_with_its_interval_and_p() -> None:
    result = bg.audit(model(1), lexicons=[lexicon("one"), lexicon("lost", lost="nowhere")])
    charts = charts_of(result)
    assert list(charts) == ["weat"]
    (row,) = drawn(charts["weat"])
    one = result.bias[0]
    assert one.interval is not None
    assert row["concept"] == "one: sums / y"
    assert (row["value"], row["low"], row["high"]) == (one.value, one.interval.low, one.interval.high)
    assert row["p"] == one.to_dict()["p_value"]
    assert "replicate_mean" not in row
    assert "replicates" not in str(charts["weat"].to_dict()["title"]["subtitle"])


def test_replicates_are_drawn_behind_the_values() -> None:
    result = bg.audit([model(seed) for seed in (1, 2, 3)], lexicons=[lexicon("one")])
    chart = charts_of(result)["weat"]
    rows = drawn(chart)
    assert [row["model"] for row in rows] == ["seed 1", "seed 2", "seed 3"]
    values = [row["value"] for row in rows]
    assert rows[0]["replicate_mean"] == pytest.approx(np.mean(values))
    assert (rows[0]["replicate_least"], rows[0]["replicate_most"]) == (min(values), max(values))
    assert chart.to_dict()["title"]["subtitle"][-1] == "Gray: range and mean over the 3 replicates"


def test_nothing_defined_gives_no_figure() -> None:
    result = bg.audit(model(1), lexicons=[lexicon("lost", lost="nowhere")])
    assert charts_of(result) == {}


def test_hostile_names_are_only_names() -> None:
    convert = pytest.importorskip("vl_convert")
    result = bg.audit([model(1, HOSTILE), model(2)], lexicons=[lexicon("one", first=HOSTILE)])
    image = convert.vegalite_to_svg(charts_of(result)["weat"].to_dict())
    assert "<b>" not in image
    assert "it's" in image


def test_stereotypes_have_a_figure_of_their_own() -> None:
    charts = charts_of(bg.audit(lexicons=["religion"]))
    assert list(charts) == ["mac"]
    assert drawn(charts["mac"])[0]["concept"] == "religion"
