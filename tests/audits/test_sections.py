"""What the audit says of robustness, of seeds and of chance, and what where there is nothing to say."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.robustness import RobustnessResult
from biasgauge.audits.part import NotMeasured
from biasgauge.audits.parts.analyses import FREQUENT, measure_robustness
from biasgauge.core import WordPolicy
from biasgauge.lexicons import language_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from biasgauge.results import Summary


def context(model: bg.Embedding, language: str) -> Any:  # noqa: ANN401 - as much of a context as the part needs
    spoken, policy = language_of(language), WordPolicy(case="exact")
    return SimpleNamespace(whole_battery=True, models=(model,), language=spoken, policy=policy, random_state=0)


def section(result: bg.audits.AuditResult, name: str) -> Summary:
    return next(part for part in result.summary().parts if part.name == name)


@pytest.fixture
def audited(shipped_audit: Callable[..., bg.audits.AuditResult]) -> bg.audits.AuditResult:
    return shipped_audit()


def test_flips_are_those_of_the_room(audited: bg.audits.AuditResult) -> None:
    found = audited.robustness
    assert isinstance(found, RobustnessResult)
    assert found.flips is not None
    first = bg.vectors.load_default_replicates()[0]
    policy = WordPolicy(case="fallback")
    assert found.flips.headlines == bg.analyses.robustness.flips(first, pairs="zhang2020", policy=policy).headlines
    settings: dict[str, Any] = {"forms": ("plural",), "pair_forms": (), "frequent": FREQUENT, "resamples": 9}
    whole = bg.robustness(first, pairs="zhang2020", policy=policy, **settings)
    by_measure = {one.measure: one.kappa.value for one in whole.base_pairs if one.measure != "nbm"}
    assert {one.measure: one.kappa.value for one in found.base_pairs if one.measure != "nbm"} == by_measure
    shown = section(audited, "robustness")
    (flipped,) = [table for table in shown.all_tables() if table.name == "flips"]
    assert len(flipped.rows) == len(found.flips.rows)
    assert shown.sentences == found.flips.headlines
    holding = sum(flip.outcome == "holds" for flip in found.flips.rows)
    assert shown.headline == f"{holding} of {len(found.flips.rows)} conclusions hold when one choice changes."


def test_words_of_lists_and_of_queries_have_a_reliability_each(audited: bg.audits.AuditResult) -> None:
    assert isinstance(audited.reliability, bg.analyses.reliability.ReliabilityResult)
    rows = audited.reliability.to_frame().query("of == 'word' and reliability == 'test_retest' and measure == 'dbwa'")
    assert {"nurse", "algebra", "poetry"} <= set(rows["name"])


def test_robustness_says_why_it_is_not_known() -> None:
    random = np.random.default_rng(0)
    vectors = bg.Embedding(("hola", "mundo"), random.standard_normal((2, 4)), name="toy")
    other = measure_robustness(context(vectors, "tlh"))
    assert "'tlh' has no base pairs to put in each other's place" in other.summary().headline
    found = measure_robustness(context(vectors, "en"))
    assert isinstance(found, NotMeasured)
    sentence = "Unknown: The embedding has no pair of zhang2020 with both its ends; name other pairs."
    assert found.summary().headline == sentence
    assert found.to_dict()["flips"] == []


def test_seed_cards_cover_the_sets_that_were_asked_about(audited: bg.audits.AuditResult) -> None:
    assert audited.seeds is not None
    names = {(card.a, card.b) for card in audited.seeds}
    assert ("weat7:math", "weat7:arts") in names
    alone = bg.seeds(bg.vectors.load_default_replicates(), "weat7:x", "weat7:y", leave_one_out=2, shuffles=100)[0]
    card = next(card for card in audited.seeds if card.a == "weat7:math")
    assert card.coherence.value == pytest.approx(alone.coherence.value, rel=1e-12)
    shown = section(audited, "seeds")
    assert len(shown.parts or shown.tables[0].rows) == len(audited.seeds)
    assert json.loads(json.dumps(audited.to_dict(), allow_nan=False))["seeds"]["pairs"][0]["a"] == audited.seeds[0].a


def test_what_was_not_asked_for_is_not_measured(shipped_audit: Callable[..., bg.audits.AuditResult]) -> None:
    result = shipped_audit("weat7")
    assert isinstance(result.robustness, NotMeasured)
    assert isinstance(result.reliability, NotMeasured)
    shown = {part.name for part in result.summary().parts}
    assert not {"robustness", "reliability", "extrinsic", "explorer"} & shown


def test_error_rates_and_chance_have_their_sections(audited: bg.audits.AuditResult) -> None:
    shown = section(audited, "error-rates")
    assert [row[2] for row in shown.tables[0].rows] == [one.found for one in audited.error_rates]
    worst = max(one.rate for one in audited.error_rates)
    assert f"false-alarm rates is {100 * worst:.1f} % [" in shown.headline
    assert worst <= 0.05 + 3 * (0.05 * 0.95 / 200) ** 0.5
    random = section(audited, "chance")
    assert len(random.tables[0].rows) == len(audited.chance)
    outside = sum(abs(one.contrast) > one.band for one in audited.chance)
    assert random.headline.startswith(f"{outside} of {len(audited.chance)} contrasts")


def test_the_table_of_bias_shows_the_contrast(shipped_audit: Callable[..., bg.audits.AuditResult]) -> None:
    result = shipped_audit("weat7")
    rows = section(result, "bias").tables[0].rows
    assert len(rows) == 4
    for row, one in zip(rows, result.bias, strict=True):
        content = one.to_dict()
        assert (row[3].value, row[3].low) == (content["contrast"]["value"], content["contrast"]["low"])
        assert row[4].value == content["contrast"]["adjusted"]["value"]
        assert row[5:7] == (content["p_value"], content["effect_size"])
