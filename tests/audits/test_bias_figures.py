"""Figures of bias show every defined test with its interval, and what random words give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.audits.parts.associations import bias_charts
from biasgauge.lexicons import Lexicon, parse_lexicon
from biasgauge.results import Histogram
from biasgauge.scores import Weat

HOSTILE = "it's \"quoted\" \\ ['x'] . <b>"


def lexicon(name: str, first: str = "sums", lost: str = "x1") -> Lexicon:
    sets = {role: {"name": role, "words": [f"{role}1", f"{role}2"]} for role in "xyab"}
    sets["x"] = {"name": first, "words": [lost, "x2"]}
    return parse_lexicon({"name": name, "kind": "test", **sets}, path="own.toml")


def model(seed: int, name: str = "") -> bg.Embedding:
    words = tuple(f"{role}{number}" for role in "xyab" for number in (1, 2))
    vectors = np.random.default_rng(seed).standard_normal((len(words), 6))
    return bg.Embedding(words, vectors, name=name or f"seed {seed}")


def charts_of(result: bg.audits.AuditResult) -> dict[str, Any]:
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
    assert isinstance(one, Weat)
    assert one.contrast is not None
    assert row["concept"] == "one: sums / y"
    assert (row["value"], row["low"], row["high"]) == (one.contrast.value, one.contrast.low, one.contrast.high)
    assert row["WEAT p"] == one.to_dict()["p_value"]


def test_every_model_has_its_own_interval() -> None:
    result = bg.audit([model(seed) for seed in (1, 2, 3)], lexicons=[lexicon("one")])
    chart = charts_of(result)["weat"]
    rows = drawn(chart)
    assert [row["model"] for row in rows] == ["seed 1", "seed 2", "seed 3"]
    for row, one in zip(rows, result.bias, strict=True):
        assert isinstance(one, Weat)
        assert one.contrast is not None
        assert (row["value"], row["low"], row["high"]) == (one.contrast.value, one.contrast.low, one.contrast.high)


def test_chance_is_drawn_beside_what_was_measured(small_replicates: list[bg.Embedding]) -> None:
    result = bg.audit(small_replicates[0], lexicons=["weat1", "weat8"])
    panels = {part.about: part for part in result.summary().parts[0].parts}
    for verdict in result.verdicts:
        (drawn,) = [one for one in panels[verdict.question].drawings if isinstance(one, Histogram)]
        assert drawn.at == verdict.observed("association").get("adjusted", verdict.observed("association")["contrast"])
        assert sum(drawn.counts) == 500
        assert len(drawn.edges) == len(drawn.counts) + 1


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
    charts = charts_of(bg.audit(bg.vectors.load_default(), lexicons=["religion"]))
    assert list(charts) == ["mac"]
    assert drawn(charts["mac"])[0]["concept"] == "religion"
