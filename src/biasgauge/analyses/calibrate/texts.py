"""The texts of a calibration: each planted anew, and the models trained on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

from biasgauge.analyses.calibrate.carriers import assign_doses
from biasgauge.analyses.calibrate.design import Design
from biasgauge.analyses.calibrate.edit import Edit
from biasgauge.analyses.calibrate.mentions import Mentions
from biasgauge.analyses.calibrate.mixture import Mixture
from biasgauge.analyses.calibrate.planting import Planted, plant
from biasgauge.analyses.calibrate.swaps import Shuffle
from biasgauge.core import JsonMapping, Record, VectorsLike
from biasgauge.text import TokenCorpus
from biasgauge.text.training import train

Progress = Callable[[int, int], None]
Pairs = tuple[tuple[str, str], ...]
Models = list[VectorsLike]
"""Those of one text: files, or the models themselves."""


class Trainer(Protocol):
    """What trains: texts in, for each of them the vector files of its models, or the models themselves, out."""

    def __call__(self, texts: Sequence[TokenCorpus], folder: Path, progress: Progress | None) -> list[Models]:
        """Train each text with the same seeds and samples; what is in `folder` already is not trained again."""


@dataclass(frozen=True)
class PlantingPlan(Record):
    """What is planted in each text.

    Attributes:
        design: how much.
        pairs: what is planted.
        carriers: on which words.
        others: words that get a dose of something else.
        other_pairs: of what.
        window: tokens on each side.
        random_state: seed.
    """

    design: Design
    pairs: Pairs
    carriers: tuple[str, ...]
    others: tuple[str, ...]
    other_pairs: Pairs
    window: int
    random_state: int

    def edits(self, draw: int) -> list[Edit]:
        """What is done to the text of one draw.

        Carriers start from the odds of the whole text, also where they are mixed: a blank has nothing to find.
        """
        doses = assign_doses(self.carriers, self.design.levels, self.random_state, draw)
        mixed = self.design.planting == "mixture"
        first = {word: 0.0 if mixed else dose for word, dose in doses.items()} | dict.fromkeys(self.others, 0.0)
        edits: list[Edit] = []
        if self.others:
            ends = (min(self.design.doses), max(self.design.doses)) if not mixed else (-2.3, 2.3)
            other = {word: ends[number % 2] for number, word in enumerate(self.others)}
            edits.append(Mentions(other, self.other_pairs, self.window))
        edits.append(Mentions(first, self.pairs, self.window))
        if mixed:
            edits.append(Mixture(doses, self.pairs))
        return edits

    def seed(self, draw: int) -> int:
        """Random seed of the text of one draw."""
        return self.random_state * 1000 + draw

    def plant(self, corpus: TokenCorpus, folder: Path) -> list[Planted]:
        """All planted texts, kept in `folder` under their addresses."""
        return [
            plant(corpus, self.edits(draw), out=folder, window=self.window, random_state=self.seed(draw))
            for draw in range(self.design.plantings)
        ]

    def shuffled(self, corpus: TokenCorpus, folder: Path) -> list[TokenCorpus]:
        """The texts without order."""
        return [
            plant(corpus, Shuffle(), out=folder, random_state=self.seed(draw)).corpus
            for draw in range(self.design.shuffled)
        ]


@dataclass(frozen=True)
class SweepTrainer:
    """Trains with `train`: on this machine, or wherever its settings say; models are found again by their recipe."""

    settings: JsonMapping
    seeds: int
    bootstrap: int = 0
    random_state: int = 0
    n_jobs: int | None = None

    def __call__(self, texts: Sequence[TokenCorpus], folder: Path, progress: Progress | None) -> list[Models]:
        """Train every text; as many models at a time as there are cores."""
        cores = self.n_jobs or os.cpu_count() or 1
        models = self.seeds * max(1, self.bootstrap)
        together = max(1, min(len(texts), -(-cores // models)))
        done, lock = [0.0] * len(texts), Lock()

        def models_of(number: int) -> Models:
            def report(part: int, whole: int) -> None:
                with lock:
                    done[number] = part / max(1, whole)
                    if progress is not None:
                        progress(int(1000 * sum(done)), 1000 * len(texts))

            trained = train(
                texts[number], out=folder / f"models-{texts[number].checksum[:12]}", seeds=self.seeds,
                bootstrap=self.bootstrap, random_state=self.random_state, n_jobs=max(1, cores // together),
                progress=report, **self.settings,
            )  # fmt: skip
            return list(trained.paths)

        with ThreadPoolExecutor(together) as pool:
            return list(pool.map(models_of, range(len(texts))))
