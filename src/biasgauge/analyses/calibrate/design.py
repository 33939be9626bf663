"""What a calibration plants and trains: doses, carriers, planting draws, random seeds, samples; and what that costs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from math import ceil, log
from typing import Any

import numpy as np

from biasgauge.core import Floats, Record, check_choice, check_number, check_whole
from biasgauge.errors import ParameterError

ODDS = (2.0, 4.0, 10.0)
DOSES = tuple(sorted([-log(odds) for odds in ODDS] + [0.0] + [log(odds) for odds in ODDS]))
"""Planted by default: odds ratios of 2, 4 and 10 to either side, and none."""
SHARES = (-0.3, -0.15, -0.05, 0.0, 0.05, 0.15, 0.3)
"""Mixed by default: shares of a carrier's places."""
GENDERED = ("gender_specific", "gender_specific_seed", "equalize", "gender")
"""Lexicons of words that are about gender by themselves: a dose on one of them would not be all that it carries."""
_TOKENS_PER_SECOND = 830_000
"""Skip-gram of 100 dimensions on one core, tokens of one reading; bench/training.py measures it."""
_PLANTED_PER_SECOND = 3_000_000
"""Tokens in which two kinds of doses are planted, counted and written on one core; bench/calibration.py measures it."""
_READ, _CONCLUDED = 3.0, 30.0
"""Seconds for the scores of a model, and for everything that follows."""


@dataclass(frozen=True)
class Design(Record):
    """How much is planted and trained.

    Attributes:
        planting: "mentions" (the first order: doses are log odds ratios), or "mixture" (both orders: doses are shares).
        doses: what is planted; 0 must be among them: those carriers are the blanks.
        per_dose: carriers that get each dose but 0.
        blanks: carriers that get dose 0.
        others: carriers of a dose of something else (the largest and the smallest), for specificity.
        plantings: how often doses are dealt to the carriers anew, each in a text of its own.
        seeds: random seeds that each text is trained with.
        bootstrap: samples of documents that each text is trained on, in the place of the text itself; 0 for none.
        shuffled: texts with their words in random order, for what frequency alone does.
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
        return np.repeat(
            np.array(sorted(set(self.doses)), np.float64),
            [self.blanks if dose == 0 else self.per_dose for dose in sorted(set(self.doses))],
        )

    @property
    def models(self) -> int:
        """How many models are trained."""
        return self.seeds * max(1, self.bootstrap) * self.plantings + self.shuffled

    def seconds(self, tokens: int, *, effort: float, epochs: int, dim: int, n_jobs: int | None = None) -> float:
        """About how long it takes on so many cores, all of them by default: texts, models, scores, what follows."""
        cores = n_jobs or os.cpu_count() or 1
        per_model = tokens * epochs * effort * (0.4 + 0.6 * dim / 100) / _TOKENS_PER_SECOND
        planted = (self.plantings + self.shuffled) * tokens / _PLANTED_PER_SECOND
        return planted + per_model * ceil(self.models / cores) + self.models * _READ + _CONCLUDED

    def told(self, **cost: Any) -> str:  # noqa: ANN401 - of `seconds`
        """The plan in one sentence."""
        seconds = self.seconds(**cost)
        time = f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{max(1, round(seconds))} seconds"
        samples = f" × {some(self.bootstrap, 'sample')}" if self.bootstrap else ""
        return (
            f"{some(self.models, 'model')}: {some(self.plantings, 'planted text')} × {some(self.seeds, 'random seed')}"
            f"{samples}, {self.shuffled} shuffled; {len(self.levels)} carriers at {len(set(self.doses))} doses; "
            f"about {time}"
        )


def some(count: int, name: str) -> str:
    """A number of things: "1 model", "7 models"."""
    return f"{count:,} {name}{'s' * (count != 1)}"
