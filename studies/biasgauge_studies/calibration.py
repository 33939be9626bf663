"""The calibration study: how much text before a planted association can be seen, by which measure, in how many words?

Texts are planted and written as numbers, trained and scored on a GPU, and calibrated; every stage can also be run by
itself, as `python -m biasgauge_studies.calibration_gpu` and its sisters say. A calibration of one text on a CPU is the
kind `calibrate` of any study.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from biasgauge.analyses.calibrate import Calibration
from biasgauge.results import records_frame
from biasgauge.study import file_step
from biasgauge.text import TokenCorpus, edited_corpus
from biasgauge_studies.stages import run_module


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


def prepare_texts(out: Path, inputs: Mapping[str, Path], *, data: Path) -> None:
    """Tokenize the texts, plant every dose, and write the planted texts as numbers for a GPU."""
    run_module("calibration_gpu", "corpora", out, "--data", data)
    run_module("calibration_gpu", "make", out)


def train_and_score(out: Path, inputs: Mapping[str, Path], *, seconds: int = 1100) -> None:
    """Train all planted texts side by side on a GPU, and keep scores; needs CuPy and PyTorch."""
    run_module("calibration_gpu", "run", inputs["texts"] / "carry", "--out", out, "--seconds", seconds)


def calibrate_blocks(out: Path, inputs: Mapping[str, Path], *, sets: int = 3) -> None:
    """Estimate one calibration for each algorithm, size and way of planting."""
    with TemporaryDirectory() as work:
        folders = (inputs["texts"], inputs["scores"], "--work", work)
        run_module("calibration_scores", *folders, "--out", out, "--sets", sets)


def report(out: Path, inputs: Mapping[str, Path]) -> None:
    """Write tables and figures of all calibrations, and what verdicts and the Bayesian contrast decide."""
    with TemporaryDirectory() as work:
        folders = (inputs["texts"], inputs["scores"], "--work", work, "--out", out)
        run_module("calibration_report", inputs["calibrations"], *folders)
        run_module("calibration_decisions", *folders)


STEP = file_step(
    "calibration",
    "the calibration study",
    {
        "calibration-texts": prepare_texts,
        "calibration-scores": train_and_score,
        "calibration-blocks": calibrate_blocks,
        "calibration-report": report,
    },
)
