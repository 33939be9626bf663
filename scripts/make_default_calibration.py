"""Calibrate the replicates that ship with the package: doses planted in their text, trained with their recipe.

    python scripts/make_default_calibration.py [FOLDER] [--plantings 4] [--seeds 2] [--shuffled 1]

The text is that of scripts/make_default_replicates.py. Limits of measures are to hold for text that was not used: they
rest on further texts of the shared data folder (`TEXTS`), calibrated alike. FOLDER keeps the texts, the planted texts
and the models between runs, and an interrupted run goes on where it was. Numbers alone are written into the package.
Each planted text takes about three minutes of one core for each random seed, the further ones a fifth of that.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from make_default_replicates import default_source  # beside this file

import biasgauge as bg
from biasgauge.analyses.calibrate import DEFAULT_CALIBRATION, join_calibrations
from biasgauge.audits.calibrated import verdict_rates

if TYPE_CHECKING:
    from biasgauge.analyses.calibrate import Calibration

ROOT = Path(__file__).resolve().parents[1]
RECIPE = {"algorithm": "sgns", "min_count": 5, "dim": 64, "window": 5, "epochs": 5}
SHIPPED = "Wikipedia"
"""Name of the text of the shipped replicates."""


@dataclass(frozen=True)
class Source:
    """A text: its file in the shared data folder, how it is read, and its language."""

    file: str
    reading: dict[str, Any] = field(default_factory=dict)
    language: str = "en"


TEXTS = {
    "film reviews": Source("imdb_reviews_train25k/imdb_train25k.tsv.xz", {"layout": "tsv", "field": 2}),
    "English novels": Source("english_novels_30/english_novels_30.txt.xz", {"layout": "paragraphs"}),
    "Spanish film dialogues": Source("spanish_dialogue_activ_es/activ_es_v02_plain.txt.xz", language="es"),
}
"""Further texts, each of a kind of its own; limits that ship rest on the English ones."""


def calibrate_text(name: str, folder: Path, **settings: Any) -> Calibration:  # noqa: ANN401 - of calibrate
    """Calibrate one of the texts: the shipped one in the folder itself, others in folders of their own there."""
    if name == SHIPPED:
        corpus = bg.text.read_corpus(default_source(), out=folder / "corpus", documents="blank-line")
        return bg.calibrate(corpus, RECIPE, out=folder, **settings)
    text, place = TEXTS[name], folder / name.replace(" ", "-").lower()
    shared = Path(os.environ.get("BIASGAUGE_SHARED", ROOT.parent / "shared" / "data"))
    corpus = bg.text.read_corpus(shared / text.file, out=place / "corpus", **text.reading)
    return bg.calibrate(corpus, RECIPE, out=place, language=text.language, **settings)


def make(folder: Path, target: Path, *, plantings: int, seeds: int, shuffled: int, n_jobs: int | None) -> Calibration:
    """Calibrate, and write the numbers to `target`."""
    alike: dict[str, Any] = {"plantings": plantings, "seeds": seeds, "n_jobs": n_jobs, "tell": print}
    shipped = calibrate_text(SHIPPED, folder, shuffled=shuffled, verdicts=verdict_rates, **alike)
    others = {
        name: calibrate_text(name, folder, shuffled=0, tests=[], **alike)
        for name, text in TEXTS.items()
        if text.language == "en"
    }
    result = join_calibrations({SHIPPED: shipped, **others})
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
