"""Hold the limits of calibrations against text that was not used to make them.

    python scripts/limits_across_texts.py [FOLDER] [--plantings 4] [--seeds 2]
    python scripts/limits_across_texts.py [FOLDER] --anew "film reviews"

Takes the texts, recipe and folder of scripts/make_default_calibration.py, and trains what is not there yet. Limits
are made twice and asked of sets of 8 and 25 words that they did not see: those of one text from all plantings but one,
asked of words of the other planting (of such that were no blanks before, where there are as many as a set takes); those
of a new text from all texts but one, asked of the other. Writes docs/studies/calibration/new_texts.csv. With --anew the
limits of detection that one text states are planted in it, on other words, and the shares printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from make_default_calibration import SHIPPED, TEXTS, calibrate_text  # beside this file

from biasgauge.stats import Side, TextLine, dose_response, limit_bounds, text_line
from biasgauge.stats.text_limits import SIDES

if TYPE_CHECKING:
    from biasgauge.analyses.calibrate import Readings
    from biasgauge.core import Floats

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "docs" / "studies" / "calibration" / "new_texts.csv"
SIZES, SETS = (8, 25), 400


def readings_of(name: str, folder: Path, **settings: Any) -> Readings:  # noqa: ANN401 - of calibrate
    """Scores of the planted words of one text."""
    kept: list[Readings] = []

    def keep(readings: Readings, _models: object) -> tuple[()]:
        kept.append(readings)
        return ()

    calibrate_text(name, folder, tests=[], verdicts=keep, **settings)
    return kept[0]


def measured_line(readings: Readings, measure: int, plantings: Sequence[int]) -> TextLine:
    """Line of a measure over some plantings of a text."""
    excess, levels = (np.asarray(table)[:, list(plantings)] for table in (readings.excess, readings.levels))
    scores = readings.of_carriers[measure][:, list(plantings)]
    return text_line(scores, excess, levels, dose_response(scores, excess, levels, shape=False), one_slope=True)


def checked(
    lines: Sequence[TextLine], readings: Readings, measure: int, plantings: Sequence[int], random: np.random.Generator
) -> Iterator[dict[str, Any]]:
    """Shares of sets of a text beyond limits that were made from others, at dose 0 and at the limit of detection."""
    scores, levels = readings.of_carriers[measure], readings.levels
    unseen = ~(np.delete(levels, list(plantings), axis=1) == 0).any(axis=1)
    own = [measured_line(readings, measure, [planting]).lines[0] for planting in plantings]
    for words in SIZES:
        for side in SIDES:
            bounds = limit_bounds(lines, side, words=words)
            limit, dose = float(bounds.blank[0]), float(bounds.detection[0])
            blanks, detected = [], []
            for place, planting in enumerate(plantings):
                blank = np.flatnonzero((levels[:, planting] == 0) & unseen)
                if len(blank) < words:  # some were blanks in another planting
                    blank = np.flatnonzero(levels[:, planting] == 0)
                dosed = np.flatnonzero(levels[:, planting] != 0)
                for run, line in enumerate(own[place]):
                    values = scores[:, planting, run]
                    blanks += _beyond(values[blank], words, limit, side, random)
                    if np.isfinite(dose):
                        # Words with a dose are moved along the line of their own text to the limit of detection.
                        slope = line[2]
                        sign = 1.0 if side == "first" else -1.0
                        moved = values - slope * np.asarray(readings.excess)[:, planting] + sign * slope * dose
                        detected += _beyond(moved[dosed], words, limit, side, random)
            yield {
                "words": words, "side": side, "blank": limit, "excess": dose if np.isfinite(dose) else None,
                "blanks_beyond": np.mean(blanks) if blanks else None,
                "detected": np.mean(detected) if detected else None,
            }  # fmt: skip


def _beyond(values: Floats, words: int, limit: float, side: Side, random: np.random.Generator) -> list[bool]:
    """Decisions about random sets of these words; none where they are fewer than a set takes."""
    if len(values) < words:
        return []
    means = np.array([random.choice(values, words, replace=False).mean() for _ in range(SETS)])
    return [bool(beyond) for beyond in ((means > limit) if side == "first" else (means < limit))]


def table(texts: dict[str, Readings]) -> pd.DataFrame:
    """All checks: for each measure, each text as the one that is left out, and each planting."""
    random, rows = np.random.default_rng(35), []
    measures = next(iter(texts.values())).measures
    for measure in measures:
        lines = {
            name: measured_line(readings, readings.measures.index(measure), range(readings.levels.shape[1]))
            for name, readings in texts.items()
        }
        for name, readings in texts.items():
            place, plantings = readings.measures.index(measure), range(readings.levels.shape[1])
            others = {other: line for other, line in lines.items() if other != name}
            english = [other for other in others if other == SHIPPED or TEXTS[other].language == "en"]
            for kind, used in (("new text", list(others)), ("new text, English", english)):
                if len(used) > 1:
                    found = checked([others[one] for one in used], readings, place, plantings, random)
                    rows += [
                        {"measure": measure, "kind": kind, "text": name, "made_on": len(used), **row} for row in found
                    ]
            for planting in plantings:
                rest = [one for one in plantings if one != planting]
                found = checked([measured_line(readings, place, rest)], readings, place, [planting], random)
                rows += [
                    {"measure": measure, "kind": "new planting", "text": name, "made_on": len(rest), **row}
                    for row in found
                ]
    return pd.DataFrame(rows)


def planted_anew(name: str, folder: Path, measure: str = "dbwa", **settings: Any) -> pd.DataFrame:  # noqa: ANN401 - of calibrate
    """Plant the stated limits of detection of one text in it, on other words and in other plantings, and ask again.

    Limits of detection above an odds ratio of 20 are left out: too few ends stand beside a word to plant them.
    """
    stated = calibrate_text(name, folder, tests=[], **settings)
    limits = {
        (words, side): limit
        for words in SIZES
        for side in SIDES
        if (limit := stated.limit(measure, words=words, side=side)) is not None
    }
    sign = {"first": 1.0, "second": -1.0}
    doses = {
        key: sign[key[1]] * limit.detection.value
        for key, limit in limits.items()
        if limit.detection.value is not None and limit.detection.value < np.log(20)
    }
    design = {"doses": [0.0, *doses.values()], "per_dose": 35, "blanks": 80, "others": 0, "random_state": 11}
    readings = readings_of(name, folder, measures=[measure], **{**settings, **design, "seeds": 1})
    scores, random, rows = readings.of_carriers[0], np.random.default_rng(35), []
    for (words, side), limit in limits.items():
        shares = {}
        for label, dose in (("blanks_beyond", 0.0), ("detected", doses.get((words, side), np.inf))):
            found: list[bool] = []
            for planting in range(scores.shape[1]):
                chosen = np.isclose(readings.levels[:, planting], dose)
                found += _beyond(scores[chosen, planting, 0], words, float(limit.blank or 0.0), side, random)
            shares[label] = np.mean(found) if found else None
        rows.append({"words": words, "side": side, "blank": limit.blank, "odds": limit.odds_ratio, **shares})
    return pd.DataFrame(rows)


def main() -> None:
    """Calibrate, check, write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("default-replicates"))
    parser.add_argument("--plantings", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--n-jobs", type=int, default=None)
    parser.add_argument("--anew", metavar="TEXT", choices=(SHIPPED, *TEXTS), help="plant the limits of this text alone")
    given = parser.parse_args()
    settings = {
        "plantings": given.plantings,
        "seeds": given.seeds,
        "shuffled": 0,
        "n_jobs": given.n_jobs,
        "tell": print,
    }
    if given.anew:
        print(planted_anew(given.anew, given.folder, **settings).round(3).to_string(index=False))
        return
    found = table({name: readings_of(name, given.folder, **settings) for name in (SHIPPED, *TEXTS)})
    found.round(4).to_csv(TABLE, index=False)
    mean = found.groupby(["measure", "kind", "words"])[["blanks_beyond", "detected"]].mean()
    print(mean.round(3).to_string())


if __name__ == "__main__":
    main()
