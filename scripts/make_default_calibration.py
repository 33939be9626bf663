"""Calibrate the replicates that ship with the package: doses planted in their text, trained with their recipe.

    python scripts/make_default_calibration.py [FOLDER] [--plantings 4] [--seeds 2] [--shuffled 1]

The text is that of scripts/make_default_replicates.py; FOLDER keeps it, the planted texts and the models between runs,
and an interrupted run goes on where it was. The numbers alone are written into the package. Each planted text takes
about three minutes of one core for each random seed.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from make_default_replicates import default_source  # beside this file

import biasgauge as bg
from biasgauge.analyses.calibrate import DEFAULT_CALIBRATION
from biasgauge.audits.calibrated import verdict_rates

if TYPE_CHECKING:
    from biasgauge.analyses.calibrate import Calibration

RECIPE = {"algorithm": "sgns", "min_count": 5, "dim": 64, "window": 5, "epochs": 5}


def make(folder: Path, target: Path, *, plantings: int, seeds: int, shuffled: int, n_jobs: int | None) -> Calibration:
    """Calibrate, and write the numbers to `target`."""
    corpus = bg.text.read_corpus(default_source(), out=folder / "corpus", documents="blank-line")
    result = bg.calibrate(
        corpus, RECIPE, out=folder, plantings=plantings, seeds=seeds, shuffled=shuffled, n_jobs=n_jobs,
        verdicts=verdict_rates, tell=print,
    )  # fmt: skip
    write(result, target)
    return result


def write(result: Calibration, target: Path) -> None:
    """Keep what an audit needs: everything but the counts of single carriers and the curves of tests."""
    target.parent.mkdir(exist_ok=True)
    content = replace(result, corpus_bias=(), test_curves=()).to_dict()
    target.write_text(json.dumps(_rounded(content), ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{target}: {target.stat().st_size:,} bytes")


def _rounded(value: object) -> object:
    """Seven digits are more than any of these numbers has."""
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


def main() -> None:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("default-replicates"))
    parser.add_argument("--plantings", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--shuffled", type=int, default=1)
    parser.add_argument("--n-jobs", type=int, default=None)
    given = parser.parse_args()
    make(
        given.folder,
        DEFAULT_CALIBRATION,
        plantings=given.plantings,
        seeds=given.seeds,
        shuffled=given.shuffled,
        n_jobs=given.n_jobs,
    )


if __name__ == "__main__":
    main()
