"""Texts of the calibration study, packed and read without Numba, are those that the package trains on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import biasgauge as bg
from biasgauge.analyses.calibrate import SHARES, CalibrationDesign, PlantingPlan
from biasgauge.text import edited_corpus, vocabulary
from biasgauge_studies import calibration_texts as texts
from biasgauge_studies.calibration import cut

if TYPE_CHECKING:
    from pathlib import Path

PAIRS = (("he", "she"), ("man", "woman"))


def test_packed_texts_are_the_planted_ones(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    words = [f"w{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(300)]
    chances = 1.0 / np.arange(3, 303)
    drawn = random.choice(words, (3_000, 8), p=chances / chances.sum())
    ends = [word for pair in PAIRS for word in pair]
    lines = [f"{' '.join(row)} {ends[number % 4]} seldom{number // 3}" for number, row in enumerate(drawn)]
    whole = bg.text.read_corpus(iter(lines), out=tmp_path / "whole")
    corpora = {"small": cut(whole, 0.015, tmp_path), "large": edited_corpus(whole, lambda _: {}, tmp_path / "large")}
    carriers = tuple(words[20:50])
    plans = {
        planting: PlantingPlan(
            CalibrationDesign(planting, doses, per_dose=2, blanks=10, others=0, plantings=2),
            PAIRS,
            carriers[:22],
            (),
            (),
            5,
            0,
        )
        for planting, doses in (("mentions", CalibrationDesign().doses), ("mixture", SHARES))
    }
    source = texts.Source("one", corpora, plans, tuple(words[60:80]))
    (tmp_path / "carry").mkdir()
    texts.pack(source, tmp_path / "planted", tmp_path / "carry", subwords=("small",))
    read = texts.PackedTexts("one", sorted((tmp_path / "carry").glob("one.*.npz")))
    assert sorted(read.planted) == sorted(
        f"{size}.{kind}.{draw}" for size in corpora for kind in plans for draw in (0, 1)
    )
    for name in read.planted:
        size, kind, draw = name.split(".")
        planted = plans[kind].plant(corpora[size], tmp_path / "planted")[int(draw)].corpus
        known = vocabulary(planted, min_count=5)
        numbered = known.places[planted.tokens]
        made = read.text(name)
        np.testing.assert_array_equal(made.tokens, numbered[numbered >= 0])
        np.testing.assert_array_equal(made.lines, np.concatenate([[0], np.cumsum(numbered >= 0)])[planted.lines])
        np.testing.assert_array_equal(made.counts, known.counts)
        kept = [word for word in source.kept() if word in known.words]
        assert [known.words[place] for place in made.more["kept"] if place >= 0] == kept
    shuffled = read.text("small.shuffled.0")
    np.testing.assert_array_equal(np.bincount(shuffled.tokens), read.text("small.mentions.0").counts)
