"""Calibrations of several texts: the unit in which texts are alike, and limits that hold for a new one."""

from __future__ import annotations

import json
from dataclasses import replace
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.calibrate.test_calibrating import PAIRS, calibrated, made_text

import biasgauge as bg
from biasgauge.analyses.calibrate import (
    CalibratedText,
    Calibration,
    Planted,
    ScoringPlan,
    collect_readings,
    join_calibrations,
    load_calibration,
    plant,
)
from biasgauge.analyses.calibrate.mentions import Mentions
from biasgauge.errors import ParameterError
from biasgauge.stats import new_text_limits

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def calibrations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Calibration]:
    """Three texts whose scores follow the log odds with slopes of their own."""
    made = {}
    for seed, slope in ((3, 0.08), (4, 0.07), (5, 0.1)):
        text = made_text(tmp_path_factory.mktemp(f"text{seed}"), seed)
        made[f"text {seed}"] = calibrated(text, slope=slope, plantings=3, tests=[])
    return made


def test_the_excess_of_ends_is_counted_in_the_text(tmp_path: Path) -> None:
    """A slow count: for every occurrence of the word the first ends within five tokens, less their expected share."""
    text = made_text(tmp_path, 6)
    words = [word for word, count in zip(text.words, text.counts, strict=True) if 300 < count < 900 and word[0] == "w"]
    doses = dict(zip(words[:12], [log(4)] * 6 + [0.0] * 6, strict=True))
    planted = plant(text, Mentions(doses, PAIRS, 5), out=tmp_path / "planted")
    plan = ScoringPlan(tuple(doses), (), (), PAIRS, ("dbwa",))
    readings = collect_readings([planted], np.zeros((1, 12, 1, 1)), np.zeros((1, 12, 0)), {}, plan)
    assert readings.excess is not None
    counts = {word: np.zeros(3) for word in doses}
    ends = {word: number for pair in PAIRS for number, word in enumerate(pair)}
    all_ends = np.zeros(2)
    for line in range(len(planted.corpus.lines) - 1):
        tokens = [planted.corpus.words[n] for n in planted.corpus.tokens[slice(*planted.corpus.lines[line : line + 2])]]
        for place, token in enumerate(tokens):
            near = [
                ends[word]
                for word in (*tokens[max(0, place - 5) : place], *tokens[place + 1 : place + 6])
                if word in ends
            ]
            if token in counts:
                counts[token] += (near.count(0), near.count(1), 1)
            if token in ends:
                all_ends[ends[token]] += len(tokens[max(0, place - 5) : place + 6]) - 1
    share = all_ends[0] / all_ends.sum()
    for row, (first, second, occurrences) in enumerate(counts[word] for word in readings.words):
        assert readings.excess[row, 0] == pytest.approx((first - share * (first + second)) / occurrences)
    assert readings.near[1] == pytest.approx(share)
    assert readings.near[0] == pytest.approx(np.median([sum(row[:2]) / row[2] for row in counts.values()]))


def test_a_dose_gives_the_excess_that_asks_for_it() -> None:
    text = CalibratedText("", 1, "", 1, 1, ends=0.4, first_share=0.7)
    for dose in (-2.0, -0.3, 0.5, 3.0):
        share = 1 / (1 + exp(-log(0.7 / 0.3) - dose))
        assert text.dose_of_excess(0.4 * (share - 0.7)) == pytest.approx(dose)
    assert text.dose_of_excess(0.4 * 0.31) is None
    assert text.dose_of_excess(-0.4 * 0.71) is None


def test_joined_limits_are_those_of_the_lines_of_all_texts(calibrations: dict[str, Calibration]) -> None:
    joined = join_calibrations(calibrations)
    lines = [line.line for each in calibrations.values() for line in each.lines]
    for limit in new_text_limits(lines, words=(1, 4, 8)):
        told = joined.limit("dbwa", words=limit.words, side=limit.side)
        assert told is not None
        assert (told.blank, told.excess, told.sources) == (limit.blank, limit.detection.value, limit.sources)
        assert told.texts == tuple(calibrations)
        if told.detection.value is not None:
            sign = 1 if limit.side == "first" else -1
            assert joined.texts[0].dose_of_excess(sign * limit.detection.value) == pytest.approx(  # type: ignore[operator]
                sign * told.detection.value
            )
    base = calibrations["text 3"]
    assert joined.curves == base.curves
    own = base.limit("dbwa", words=8)
    other = joined.limit("dbwa", words=8)
    assert own is not None
    assert other is not None
    assert other.blank > own.blank  # type: ignore[operator]
    assert (own.texts, own.excess) == ((), None)


def test_a_page_says_what_limits_hold_for(calibrations: dict[str, Calibration], tmp_path: Path) -> None:
    base, joined = calibrations["text 3"], join_calibrations(calibrations)
    assert (
        "Limits hold for new words in a new planting of this text only (3 plantings: 2 degrees" in base.generalization
    )
    assert "of a new text: they rest on 3 texts, text 3 (" in joined.generalization
    assert "with 2 degrees of freedom between texts" in joined.generalization
    assert joined.generalization.endswith("and 6 between plantings of a text.")
    assumed = joined.limits[0].sources[0].df is None
    assert ("so alike that a larger spread is assumed" in joined.generalization) == assumed
    for result in (base, joined):
        assert result.generalization in result.summary().sentences
        again = load_calibration(result.save(tmp_path / "calibration.json"))
        assert again.to_dict() == json.loads(json.dumps(result.to_dict()))
        assert again.generalization == result.generalization
    alone = replace(base, texts=(replace(base.texts[0], plantings=1),))
    assert "hold for this planting of this text only" in alone.generalization
    assert replace(base, texts=()).generalization == ""


def test_a_joined_calibration_can_be_joined_again(calibrations: dict[str, Calibration]) -> None:
    (first, one), (second, two), (third, three) = calibrations.items()
    twice = join_calibrations({"both": join_calibrations({first: one, second: two}), third: three})
    assert twice.limits == join_calibrations(calibrations).limits


def test_what_cannot_be_joined_is_refused(calibrations: dict[str, Calibration]) -> None:
    (first, one), (second, two), _ = calibrations.items()
    with pytest.raises(ParameterError, match="two texts or more"):
        join_calibrations({first: one})
    with pytest.raises(ParameterError, match="Each text counts once"):
        join_calibrations({first: one, second: one})
    with pytest.raises(ParameterError, match="trained alike"):
        join_calibrations({first: one, second: replace(two, settings={**two.settings, "recipe": {"dim": 3}})})
    with pytest.raises(ParameterError, match="no lines"):
        join_calibrations({first: one, second: replace(two, lines=())})
    assert isinstance(one, bg.analyses.calibrate.Calibration)
    assert not isinstance(one, Planted)
