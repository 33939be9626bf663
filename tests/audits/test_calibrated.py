"""A calibration in an audit: contrasts as planted odds ratios, and what verdicts say of planted sets."""

from __future__ import annotations

import json
from dataclasses import replace
from math import exp, sqrt
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.calibrate import Calibration, Curve, carrier_sets
from biasgauge.audits import calibrated
from biasgauge.audits.calibrated import in_planted_units, verdict_rates
from biasgauge.audits.shared_scores import SharedScores
from biasgauge.audits.subjects import Subject
from biasgauge.audits.verdicts import Evidence, Verdict
from biasgauge.core import REPORTED, Estimate
from biasgauge.lexicons import AssociationTest, WordSet
from biasgauge.stats import DoseResponse, Variances

PAIRS = [["he", "she"], ["man", "woman"]]
SLOPE, WORD = 0.05, 0.04**2


@pytest.fixture
def calibration() -> Calibration:
    slope = Estimate(value=SLOPE, low=0.04, high=0.06)
    response = DoseResponse(
        intercept=0.01, slope=slope, p=0.0, covariance=((1e-6, 0.0), (0.0, 1e-6)), df=100.0, r=0.5,
        variances=Variances(0.001, WORD, 0.0, 0.0, 1e-5), p_bend=None, p_sides=None, p_lack_of_fit=None,
        saturating=False, monotone=True, sides=(SLOPE, SLOPE),
    )  # fmt: skip
    shares = {"dose": 0.5, "carrier": 0.2, "planting": 0.1, "run": 0.1, "shift": 0.1}
    return Calibration((Curve("dbwa", (), response, shares),), (), (), (), (), (), (), {"pairs": PAIRS})


def question(a: tuple[str, ...], b: tuple[str, ...]) -> AssociationTest:
    x, y = WordSet("maths", tuple("abcdefgh")), WordSet("arts", tuple("ijklmnop"))
    return AssociationTest(name="mine", x=x, y=y, a=WordSet("a", a), b=WordSet("b", b))


def verdict(contrast: float | None) -> Verdict:
    observed = None if contrast is None else {"contrast": contrast}
    evidence = Evidence("association", observed, 0.05, passes=True, reason="it is seen")
    return Verdict("mine", "", "vectors", "contrast", "report", "maths lean to a", "maths lean to a", (evidence,))


def test_a_contrast_is_told_as_the_odds_ratio_that_would_give_it(calibration: Calibration) -> None:
    (told,) = in_planted_units([verdict(0.08)], [question(("he", "man"), ("she", "woman"))], calibration)
    piece = told.evidence[-1]
    assert isinstance(piece.observed, dict)
    assert piece.observed["odds_ratio"] == pytest.approx(exp(0.08 / SLOPE))
    assert piece.threshold == pytest.approx(exp(2 * 1.6448536 * sqrt(WORD / 4) / SLOPE))  # 1/8 + 1/8 = 1/4
    assert piece.passes
    assert "as a planted odds ratio of 5.0 : 1 [" in told.claim
    assert told.why.endswith(told.claim.partition(", ")[2])
    assert "calibration" in told.sentence or "planted odds ratio" in told.sentence


def test_the_sign_follows_the_ends(calibration: Calibration) -> None:
    (told,) = in_planted_units([verdict(0.03)], [question(("she", "woman"), ("he", "man"))], calibration)
    assert "as a planted odds ratio of 1 : 1.8 [" in told.why
    assert "below it" in told.why
    assert told.evidence[-1].passes is False
    assert told.decision == "report"  # a unit changes no decision


@pytest.mark.parametrize("contrast", [None, 0.1])
def test_what_is_not_about_the_calibrated_ends_stays(calibration: Calibration, contrast: float | None) -> None:
    ends = ("he", "man"), ("she", "woman")
    asked = question(*ends) if contrast is None else question(("love", "joy"), ("war", "hate"))
    before = verdict(contrast)
    assert in_planted_units([before], [asked], calibration) == (before,)
    assert in_planted_units([before], [asked], None) == (before,)


def planted_models(slope: float) -> tuple[Any, list[list[bg.Embedding]]]:
    random = np.random.default_rng(0)
    carriers = [f"c{number}" for number in range(80)]
    ends = [f"m{number}" for number in range(12)], [f"f{number}" for number in range(12)]
    others = [f"o{number}" for number in range(400)]
    words = (*carriers, *ends[0], *ends[1], *others)
    levels = np.repeat([0.0, 2.0], [50, 30])[:, None]
    models = []
    for _ in range(2):
        matrix = random.normal(0, 1, (len(words), 40))
        matrix[:80, 0] += slope * levels[:, 0]
        matrix[80:92, 0] += 8
        matrix[92:104, 0] -= 8
        models.append(bg.Embedding(words, matrix.astype(np.float32)))
    ends_of = tuple(map(tuple, ends))
    return SimpleNamespace(words=words, carriers=80, levels=levels, ends=ends_of), [models]


def test_verdicts_report_what_is_planted_and_little_of_what_is_not() -> None:
    rates = verdict_rates(*planted_models(3.0))
    share = {(rate.name, rate.words, rate.dose): rate.share.value for rate in rates}
    care = "verdict: report or report with care"
    assert share[care, 8, 0.0] == pytest.approx(0.0, abs=0.2)
    assert share[care, 8, 2.0] == pytest.approx(1.0, abs=0.35)
    assert share["verdict: report", 8, 2.0] <= share[care, 8, 2.0]  # type: ignore[operator]


def test_scores_that_are_shared_by_all_sets_of_a_text_decide_nothing_else() -> None:
    """Every set is judged as it would be with scores of its own words."""
    readings, models = planted_models(1.0)
    subject = Subject("text 0", tuple(models[0]))
    random = np.random.default_rng([23, 0])
    alone: dict[tuple[int, float], list[bool]] = {}
    for size in calibrated.SIZES:
        for level in (0.0, 2.0):
            for _ in range(calibrated.SETS):
                words = carrier_sets(readings, size, level, 0, random)
                assert words is not None
                question = calibrated.planted_question(subject, readings.ends, *words)
                own = SharedScores(subject.models, (question,), case_fallback=False)
                decision = calibrated.planted_decision(subject, own, question)
                alone.setdefault((size, level), []).append(decision in REPORTED)
    decided = calibrated.verdict_decisions(readings, 0, models[0])
    assert {
        (size, level): passes for (name, size, level), passes in decided.items() if name.endswith("with care")
    } == alone  # fmt: skip
    assert 0 < sum(map(sum, alone.values())) < sum(map(len, alone.values()))


def test_an_audit_takes_a_calibration_file(calibration: Calibration, tmp_path: Path) -> None:
    pairs = [list(pair) for pair in bg.lexicons.pairs_of("du2021").pairs]
    path = replace(calibration, settings={"pairs": pairs, "corpus": {"tokens": 5}}).save(tmp_path / "c.json")
    result = bg.audit(lexicons=["weat7"], calibration=path)
    told = result.to_dict()
    assert told["calibration"]["words"]
    assert {"word", "score", "dose", "detected", "odds_ratio", "sentence"} <= told["calibration"]["words"][0].keys()
    assert any(piece["rule"] == "calibration" for one in told["verdicts"] for piece in one["evidence"])
    again = bg.audits.AuditResult.from_dict(json.loads(json.dumps(told)))
    assert again.to_dict()["calibration"] == told["calibration"]
    assert any(part.name == "calibration" for part in result.summary().parts)
