"""The calibration study: how much text before a planted association can be seen, by which measure, in how many words?

    python scripts/study_calibration.py TEXT… --out FOLDER [--tokens 5,10,20,30] [--algorithms sgns,cbow,fasttext,glove]
        [--plantings 3] [--seeds 8] [--planting mentions,mixture] [--set device=cuda]

TEXT are text files or tokenized corpora. For every number of tokens (in millions; whole documents from the start of the
text), algorithm and way of planting one calibration is made; FOLDER keeps planted texts and models under their
addresses, so that an interrupted study goes on where it was. What stays are numbers: FOLDER/curves.csv, limits.csv,
rates.csv, frequency.csv, specificity.csv, each with the columns tokens, algorithm, planting; and one JSON file for each
calibration. `--set` hands further settings to `train`, such as a device.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.calibrate import Calibration
from biasgauge.audits.parts.calibration import verdict_rates
from biasgauge.results.result import records_frame
from biasgauge.text import TokenCorpus, edited_corpus, open_corpus, read_corpus
from biasgauge.text.token_corpus import is_corpus


def cut(corpus: TokenCorpus, millions: float, folder: Path, name: str = "corpus-{:g}M") -> TokenCorpus:
    """The first documents with so many million tokens, as a corpus of its own, in a folder of this name."""
    wanted = int(millions * 1e6)
    if len(corpus.tokens) <= wanted * 1.02:
        return corpus
    ends = corpus.lines[corpus.documents]
    documents = max(1, int(np.searchsorted(ends, wanted)))
    lines = int(corpus.documents[documents])
    tokens = int(corpus.lines[lines])
    part = replace(
        corpus, tokens=corpus.tokens[:tokens], lines=corpus.lines[: lines + 1],
        documents=corpus.documents[: documents + 1],
    )  # fmt: skip
    # An edit that changes nothing: words are numbered anew, since their counts are not those of the whole text.
    return edited_corpus(part, lambda _tokens: {"cut": documents}, folder / name.format(millions))


def cells(given: argparse.Namespace) -> Iterator[tuple[float, str, str]]:
    """Every calibration of the study, small texts first."""
    for millions in sorted(given.tokens):
        for algorithm in given.algorithms:
            for planting in given.planting:
                yield millions, algorithm, planting


def tables(result: Calibration) -> Mapping[str, pd.DataFrame]:
    """What stays of a calibration: numbers only."""
    curves = pd.DataFrame(
        [
            {
                "measure": curve.measure, "slope": curve.response.slope.value, "slope_low": curve.response.slope.low,
                "slope_high": curve.response.slope.high, "r": curve.response.r, "retest": curve.retest,
                "monotone": curve.response.monotone, "saturating": curve.response.saturating,
                "p_lack_of_fit": curve.response.p_lack_of_fit, "p_sides": curve.response.p_sides,
                **{f"share_{name}": share for name, share in curve.shares.items()},
            }
            for curve in result.curves
        ]
    )  # fmt: skip
    limits = pd.DataFrame(
        [
            {
                "of": limit.of, "name": limit.name, "words": limit.words, "side": limit.side, "blank": limit.blank,
                "detection": limit.detection.value, "low": limit.detection.low, "high": limit.detection.high,
                "beyond": limit.beyond, "reason": limit.detection.reason,
            }
            for limit in result.limits
        ]
    )  # fmt: skip
    rates = pd.DataFrame(
        [
            {
                "name": rate.name, "words": rate.words, "dose": rate.dose, "share": rate.share.value,
                "low": rate.share.low, "high": rate.share.high, "sets": rate.sets,
            }
            for rate in (*result.false_positives, *result.power)
        ]
    )  # fmt: skip
    return {
        "curves": curves, "limits": limits, "rates": rates, "frequency": _flat(result.frequency),
        "specificity": _flat(result.specificity),
    }  # fmt: skip


def _flat(rows: Sequence[Any]) -> pd.DataFrame:
    frame = records_frame(rows)
    spread = {}
    for column in frame.columns:
        if frame[column].map(lambda cell: isinstance(cell, dict)).any():
            for end in ("value", "low", "high"):
                spread[f"{column}_{end}" if end != "value" else column] = frame[column].map(
                    lambda cell, end=end: cell.get(end) if isinstance(cell, dict) else None
                )
        else:
            spread[column] = frame[column]
    return pd.DataFrame(spread)


def study(given: argparse.Namespace) -> None:
    """Run every calibration that has no file yet, then gather all tables."""
    given.out.mkdir(parents=True, exist_ok=True)
    whole = (
        open_corpus(given.text[0])
        if len(given.text) == 1 and is_corpus(given.text[0])
        else read_corpus(given.text, out=given.out / "corpus", documents=given.documents)
    )
    gathered: dict[str, list[pd.DataFrame]] = {}
    for millions, algorithm, planting in cells(given):
        name = f"{algorithm}-{millions:g}M-{planting}"
        target = given.out / f"{name}.json"
        if target.is_file():
            result = Calibration.from_dict(json.loads(target.read_text(encoding="utf-8")))
        else:
            print(name, flush=True)
            result = bg.calibrate(
                cut(whole, millions, given.out), {"algorithm": algorithm, **given.settings}, planting=planting,
                plantings=given.plantings, seeds=given.seeds, out=given.out / "work", per_dose=given.per_dose,
                blanks=given.blanks, n_jobs=given.n_jobs, verdicts=verdict_rates, tell=print,
            )  # fmt: skip
            result.save(target)
        for table, frame in tables(result).items():
            labels: dict[str, Any] = {"tokens": millions, "algorithm": algorithm, "planting": planting}
            gathered.setdefault(table, []).append(frame.assign(**labels))
    for table, frames in gathered.items():
        pd.concat(frames).to_csv(given.out / f"{table}.csv", index=False, float_format="%.6g")
        print(f"{given.out / table}.csv: {sum(map(len, frames)):,} rows")


def _setting(typed: str) -> tuple[str, Any]:
    name, _, value = typed.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("text", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--tokens", type=lambda typed: [float(part) for part in typed.split(",")], default=[5, 10, 20, 30]
    )
    parser.add_argument(
        "--algorithms", type=lambda typed: typed.split(","), default=["sgns", "cbow", "fasttext", "glove"]
    )
    parser.add_argument("--planting", type=lambda typed: typed.split(","), default=["mentions", "mixture"])
    parser.add_argument("--plantings", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--per-dose", type=int, default=25)
    parser.add_argument("--blanks", type=int, default=50)
    parser.add_argument("--documents", default="blank-line")
    parser.add_argument("--n-jobs", type=int, default=None)
    parser.add_argument("--set", dest="settings", action="append", type=_setting, default=[])
    options = parser.parse_args()
    options.settings = dict(options.settings)
    study(options)
