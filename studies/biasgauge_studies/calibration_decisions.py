"""What the audit's verdicts and the Bayesian contrast decide about planted sets of words: verdicts.csv and bayes.csv.

    python -m biasgauge_studies.calibration_decisions FOLDER SCORES... --out docs/studies/calibration

FOLDER and SCORES are those of calibration_scores.py. Three random sets of each planted text, size and dose are
judged with its eight models as replicates; the Bayesian contrast is asked of single models (skip-gram, 10 million).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.calibrate import Readings, carrier_sets
from biasgauge.audits import calibrated
from biasgauge.lexicons import AssociationTest, WordSet
from biasgauge_studies.calibration_gpu import sources
from biasgauge_studies.calibration_scores import Blocks, read_cell

CELLS = (
    ("sgns", "5M"), ("sgns", "10M"), ("sgns", "30M"), ("cbow", "10M"), ("cbow", "30M"), ("fasttext", "10M"),
    ("glove", "10M"), ("glove", "30M"),
)  # fmt: skip
DOSES = (0.0, -log(4), log(4), -log(10), log(10))
NOT_ASKED = 99.0
BAYESIAN = (-log(4), 0.0, log(4))
SIZES = (8, 25)
FEWER = 3
"""Models of a text that are asked at doses other than 0."""


def verdicts(readings: Readings) -> Iterator[dict[str, Any]]:
    """How many sets the audit would report, or report with care."""
    calibrated.SETS = 3
    levels = readings.levels
    asked = np.isclose(levels[:, :, None], np.array(DOSES)).any(axis=2)
    levels[~asked] = NOT_ASKED
    texts = sorted({draw for draw, _, _ in readings.runs()})
    models = [[model for of, _, model in readings.runs() if of == draw] for draw in texts]
    for rate in calibrated.verdict_rates(readings, models):
        if rate.dose != NOT_ASKED:
            yield {
                "decision": rate.name, "words": rate.words, "dose": rate.dose,
                "found": round((rate.share.value or 0) * rate.sets), "sets": rate.sets,
            }  # fmt: skip


def bayesian(readings: Readings) -> Iterator[dict[str, Any]]:
    """Whether the interval of the contrast of associated and different distances holds 0."""
    random = np.random.default_rng(5)
    for size in SIZES:
        for dose in BAYESIAN:
            level = float(readings.levels[np.isclose(readings.levels, dose)][0])
            for draw, run, model in readings.runs():
                words = carrier_sets(readings, size, level, draw, random) if dose == 0 or run < FEWER else None
                if words is None:
                    continue
                ends = [tuple(word for word in some if word in model) for some in readings.ends]
                test = AssociationTest(
                    name="planted", x=WordSet("carriers", tuple(words[0])), y=WordSet("blanks", tuple(words[1])),
                    a=WordSet("first ends", ends[0]), b=WordSet("second ends", ends[1]),
                )  # fmt: skip
                for variant in ("per-connection", "crossed"):
                    contrast = bg.bayes(model, test, variant=variant, human=None, neutral=None).contrasts[0]
                    excluded = (contrast.low or 0.0) > 0 or (contrast.high or 0.0) < 0
                    yield {"variant": variant, "words": size, "dose": dose, "found": int(excluded), "sets": 1}


def main() -> None:
    """Both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("scores", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, help="where texts are planted again; FOLDER/planted by default")
    chosen = parser.parse_args()
    blocks, source = Blocks(chosen.scores), next(iter(sources(chosen.folder, ["english"])))
    decided: list[dict[str, Any]] = []
    for algorithm, size in CELLS:
        readings = read_cell(
            source, blocks, f"{algorithm}-{size}", size, "mentions", chosen.work or chosen.folder / "planted"
        )
        if readings is None:
            continue
        own = {"algorithm": algorithm, "tokens": int(size[:-1])}
        if (algorithm, size) == ("sgns", "10M"):
            rows = pd.DataFrame(bayesian(readings)).groupby(["variant", "words", "dose"], as_index=False).sum()
            rows.to_csv(chosen.out / "bayes.csv", index=False, float_format="%.4g")
        decided += [{**own, **row} for row in verdicts(readings)]
        pd.DataFrame(decided).to_csv(chosen.out / "verdicts.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
