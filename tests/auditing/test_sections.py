"""What the audit says of robustness, of seeds and of chance, and what where there is nothing to say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.auditing.not_measured import NotMeasured
from biasgauge.auditing.nulls import SIMULATIONS, measure_nulls
from biasgauge.auditing.robustness import FREQUENT, PAIRS, measure_robustness
from biasgauge.sensitivity import RobustnessResult

if TYPE_CHECKING:
    from biasgauge.results import Summary

SETTINGS = {"min_coverage": 0.8, "case_fallback": False, "random_state": 0}


def section(result: bg.AuditResult, name: str) -> Summary:
    return next(part for part in result.summary().parts if part.name == name)


@pytest.fixture(scope="module")
def audited() -> bg.AuditResult:
    return bg.audit(lexicons=["weat1", "weat7", "zhang2020"])


def test_flips_are_those_of_the_room(audited: bg.AuditResult) -> None:
    found = audited.robustness
    assert isinstance(found, RobustnessResult)
    assert found.flips is not None
    assert found.flips.headlines == bg.sensitivity.flips(bg.embeddings.load_default(), pairs=PAIRS).headlines
    whole = bg.robustness(
        bg.embeddings.load_default(), pairs=PAIRS, forms=("plural",), pair_forms=(), frequent=FREQUENT, resamples=9
    )
    by_measure = {one.measure: one.kappa.value for one in whole.base_pairs if one.measure != "nbm"}
    assert {one.measure: one.kappa.value for one in found.base_pairs if one.measure != "nbm"} == by_measure
    shown = section(audited, "robustness")
    (flipped,) = [table for table in shown.all_tables() if table.name == "flips"]
    assert len(flipped.rows) == len(found.flips.rows)
    assert (shown.headline, *shown.sentences) == found.flips.headlines


def test_robustness_says_why_it_is_not_known() -> None:
    random = np.random.default_rng(0)
    vectors = bg.Embedding(("hola", "mundo"), random.standard_normal((2, 4)), name="toy")
    other = measure_robustness(vectors, language="es", **SETTINGS)  # type: ignore[arg-type]
    assert "are English" in other.summary().headline
    found = measure_robustness(vectors, language="en", **SETTINGS)  # type: ignore[arg-type]
    assert isinstance(found, NotMeasured)
    sentence = "Unknown: The embedding has no pair of zhang2020 with both its ends; name other pairs."
    assert found.summary().headline == sentence
    assert found.to_dict()["flips"] == []


def test_seed_cards_cover_the_sets_that_were_asked_about(audited: bg.AuditResult) -> None:
    assert audited.seeds is not None
    names = {(card.a, card.b) for card in audited.seeds}
    assert ("weat7:math", "weat7:arts") in names
    alone = bg.seeds(bg.embeddings.load_default(), "weat7:x", "weat7:y", leave_one_out=2, shuffles=100)[0]
    card = next(card for card in audited.seeds if card.a == "weat7:math")
    assert card.coherence.value == pytest.approx(alone.coherence.value, rel=1e-12)
    shown = section(audited, "seeds")
    assert len(shown.parts or shown.tables[0].rows) == len(audited.seeds)
    assert json.loads(json.dumps(audited.to_dict(), allow_nan=False))["seeds"]["pairs"][0]["a"] == audited.seeds[0].a


def test_chance_is_that_of_a_simulation_of_the_same_sizes(audited: bg.AuditResult) -> None:
    found = {one.name: one for one in audited.nulls}
    assert found["weat7"].sizes == (8, 8, 8, 8)
    assert found["weat1"].sizes == (24, 25, 25, 25)  # one flower is not in the vocabulary
    for one in audited.nulls:
        assert sum(one.counts) == SIMULATIONS
        # Without bias the effect is √n times a correlation of a fixed split, whose square is Beta(1/2, (n − 2)/2).
        assert one.low < 0 < one.high
        words = one.sizes[0] + one.sizes[1]
        assert one.high == pytest.approx(2 * 1.96 / (words + 1) ** 0.5, rel=0.08)
        assert one.share_low <= one.share <= one.share_high  # type: ignore[operator]
    assert found["weat7"].share < 0.02
    again = measure_nulls(audited.bias, random_state=0)
    assert again == audited.nulls
