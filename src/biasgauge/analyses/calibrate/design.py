"""Design of a calibration: doses, carriers, planted texts, random seeds and samples; and its cost."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log
from typing import Any

import numpy as np

from biasgauge.core import Floats, Record, check_choice, check_number, check_whole
from biasgauge.errors import ParameterError
from biasgauge.results import counted

DOSES = (-log(10), -log(4), -log(2), 0.0, log(2), log(4), log(10))
"""Default doses of mentions: odds ratios of 2, 4 and 10 to either side, and none."""
SHARES = (-0.3, -0.15, -0.05, 0.0, 0.05, 0.15, 0.3)
"""Default doses of mixtures: shares of a carrier's tokens."""
GENDERED = ("gender_specific", "gender_specific_seed", "equalize", "gender")
"""Lexicons of words with a gender of their own: a dose would not be the only association of such a word."""
SENTIMENT = (
    ("good", "bad"), ("best", "worst"), ("better", "worse"), ("success", "failure"), ("successful", "unsuccessful"),
    ("win", "lose"), ("won", "lost"), ("victory", "defeat"), ("love", "hate"), ("life", "death"), ("peace", "war"),
    ("friend", "enemy"), ("friends", "enemies"), ("happy", "sad"), ("positive", "negative"), ("strong", "weak"),
    ("rich", "poor"), ("right", "wrong"), ("safe", "dangerous"), ("healthy", "sick"), ("easy", "difficult"),
    ("gain", "loss"), ("gained", "lost"), ("support", "oppose"), ("supported", "opposed"), ("healthy", "ill"),
)  # fmt: skip
"""Pairs (pleasant, unpleasant) of about equal frequency: another attribute to plant, which a measure must not see."""
_TOKENS_PER_SECOND = 830_000
"""Skip-gram of 100 dimensions on one core, tokens of one reading; bench/training.py measures it."""
_PLANTED_PER_SECOND = 3_000_000
"""Tokens in which two kinds of doses are planted, counted and written on one core; bench/calibration.py measures it."""
_SCORING_SECONDS, _ANALYSIS_SECONDS = 3.0, 30.0
"""For the scores of a model, and for the analysis."""


@dataclass(frozen=True)
class CalibrationDesign(Record):
    """Amounts planted and trained.

    Attributes:
        planting: "mentions" (the first order: doses are log odds ratios), or "mixture" (both orders: doses are shares).
        doses: doses to plant; 0 must be among them: those carriers are the blanks.
        per_dose: carriers that get each dose but 0.
        blanks: carriers that get dose 0.
        others: carriers of a dose of another attribute (the largest and the smallest), for specificity.
        plantings: number of planted texts, in each of which doses are assigned to carriers anew.
        seeds: random seeds that each text is trained with.
        bootstrap: samples of documents that each text is trained on, in the place of the text itself; 0 for none.
        shuffled: texts with their words in random order, for the effect of frequency alone.
    """

    planting: str = "mentions"
    doses: tuple[float, ...] = DOSES
    per_dose: int = 25
    blanks: int = 50
    others: int = 40
    plantings: int = 3
    seeds: int = 2
    bootstrap: int = 0
    shuffled: int = 1

    def __post_init__(self) -> None:
        check_choice(("mentions", "mixture"), planting=self.planting)
        check_whole(1, plantings=self.plantings, seeds=self.seeds)
        check_whole(2, per_dose=self.per_dose)
        check_whole(10, blanks=self.blanks)
        check_whole(0, others=self.others, bootstrap=self.bootstrap, shuffled=self.shuffled)
        reach = 1.0 if self.planting == "mixture" else 10.0
        for dose in self.doses:
            check_number(-reach, reach, doses=dose)
        if 0.0 not in self.doses or len(set(self.doses)) < 3:
            raise ParameterError(
                "The 'doses' parameter must hold 0 (the blanks) and at least two other doses, each once. "
                f"Got {', '.join(f'{dose:g}' for dose in self.doses) or 'none'}."
            )

    @property
    def levels(self) -> Floats:
        """One dose for each carrier."""
        doses = sorted(set(self.doses))
        return np.repeat(np.array(doses), [self.blanks if dose == 0 else self.per_dose for dose in doses])

    @property
    def models(self) -> int:
        """Number of models to train."""
        return self.seeds * max(1, self.bootstrap) * self.plantings + self.shuffled

    def seconds(self, tokens: int, *, effort: float, epochs: int, dim: int, n_jobs: int | None = None) -> float:
        """Estimated time on `n_jobs` cores, all of them by default: texts, models, scores, analysis."""
        cores = n_jobs or os.cpu_count() or 1
        per_model = tokens * epochs * effort * (0.4 + 0.6 * dim / 100) / _TOKENS_PER_SECOND
        planted = (self.plantings + self.shuffled) * tokens / _PLANTED_PER_SECOND
        return planted + per_model * ceil(self.models / cores) + self.models * _SCORING_SECONDS + _ANALYSIS_SECONDS

    def describe(self, **cost: Any) -> str:  # noqa: ANN401 - of `seconds`
        """Design and estimated time in one sentence."""
        seconds = self.seconds(**cost)
        time = f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{max(1, round(seconds))} seconds"
        samples = f" × {counted(self.bootstrap, 'sample')}" if self.bootstrap else ""
        texts, seeds = counted(self.plantings, "planted text"), counted(self.seeds, "random seed")
        return (
            f"{counted(self.models, 'model')}: {texts} × {seeds}{samples}, {self.shuffled} shuffled; "
            f"{len(self.levels)} carriers at {len(set(self.doses))} doses; about {time}"
        )


def design_from(
    *, planting: str = "mentions", doses: Sequence[float] | None = None, **counts: int
) -> CalibrationDesign:
    """Build the design with these doses, by default those of the kind of planting.

    Raises:
        ParameterError: it is impossible.
    """
    default = SHARES if planting == "mixture" else DOSES
    return CalibrationDesign(planting, tuple(map(float, default if doses is None else doses)), **counts)
