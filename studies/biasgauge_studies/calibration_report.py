"""Tables and figures of the calibration study, from the calibrations of calibration_scores.py.

    python -m biasgauge_studies.calibration_report CALIBRATIONS FOLDER SCORES... --out docs/studies/calibration

CALIBRATIONS has one JSON file for each algorithm, size and way of planting; FOLDER and SCORES are those of
calibration_scores.py. Writes curves.csv, limits.csv, rates.csv, frequency.csv, specificity.csv, contexts.csv
(limits by how often words of pairs stand beside a word), runs.csv (limits of means over eight random seeds, and of a
change of one word) and the figures.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from math import exp, log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import biasgauge as bg
from biasgauge.analyses.calibrate import Calibration
from biasgauge.results import save_figures
from biasgauge.results.drawing import altair
from biasgauge.results.wording import counted
from biasgauge.stats import Z, detection_limits, dose_response
from biasgauge.stats.detection import Limit
from biasgauge_studies.calibration import tables
from biasgauge_studies.calibration_gpu import sources
from biasgauge_studies.calibration_scores import Blocks, read_cell

NAMES = {"sgns": "skip-gram", "cbow": "CBOW", "glove": "GloVe", "fasttext": "fastText"}
MEASURES = {"dbwa": "DB/WA", "ripa": "RIPA", "nbm": "NBM"}
ODDS = (2, 4, 10)
MOST = 1000
ORDER = [f"{name}, {size} M" for name in NAMES.values() for size in (5, 10, 20, 30)]
"""Of the parts of a figure."""


def labels(stem: str) -> dict[str, Any]:
    """Algorithm, millions of tokens and planting, from the name of a file."""
    algorithm, size, planting = stem.split("-")
    return {"algorithm": algorithm, "tokens": int(size[:-1]), "planting": planting}


def gather(folder: Path, out: Path) -> dict[str, pd.DataFrame]:
    """All tables of all calibrations."""
    parts: dict[str, list[pd.DataFrame]] = {}
    for path in sorted(folder.glob("*-*M-*.json")):
        result = Calibration.from_dict(json.loads(path.read_text(encoding="utf-8")))
        for name, frame in tables(result).items():
            parts.setdefault(name, []).append(frame.assign(**labels(path.stem)))
    frames = {name: pd.concat(some, ignore_index=True) for name, some in parts.items()}
    limits = frames["limits"]
    limits["odds_ratio"] = np.exp(limits["detection"].clip(upper=50))
    for name, frame in frames.items():
        frame.to_csv(out / f"{name}.csv", index=False, float_format="%.4g")
    return frames


def more(folder: Path, scores: list[Path], out: Path, work: Path) -> None:
    """Limits by contexts of a word, of means over runs, and of changes; of planted mentions."""
    by_contexts: list[dict[str, Any]] = []
    by_runs: list[dict[str, Any]] = []
    blocks = Blocks(scores)
    source = next(iter(sources(folder, ["english"])))
    for size, corpus in source.corpora.items():
        counted = source.plans["mentions"].plant(corpus, work)
        beside = {row.word: row.n_wa + row.n_wb for row in counted[0].doses if row.edit == 1}
        for algorithm in NAMES:
            readings = read_cell(source, blocks, f"{algorithm}-{size}", size, "mentions", work)
            if readings is None:
                continue
            contexts = np.array([beside[word] for word in readings.words[: readings.carriers]])
            for place, measure in enumerate(readings.measures):
                own = {"algorithm": algorithm, "tokens": int(size[:-1]), "measure": measure}
                given = (readings.of_carriers[place], readings.doses, readings.levels)
                by_contexts += [{**own, **row} for row in _by_contexts(contexts, *given)]
                by_runs += [{**own, **row} for row in _by_runs(*given)]
    for name, rows in (("contexts", by_contexts), ("runs", by_runs)):
        pd.DataFrame(rows).to_csv(out / f"{name}.csv", index=False, float_format="%.4g")


def _by_contexts(contexts: Any, scores: Any, doses: Any, levels: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - arrays
    """Limits of the third of words with the fewest base-pair words beside them, and of the other thirds."""
    for rows in np.array_split(np.argsort(contexts, kind="stable"), 3):
        fit = dose_response(scores[rows], doses[rows], levels[rows])
        beside = contexts[rows]
        for limit in detection_limits(scores[rows], doses[rows], levels[rows], fit, words=(1, 8)):
            yield {
                "contexts_low": beside.min(), "contexts": np.median(beside), "contexts_high": beside.max(), "r": fit.r,
                **_plain(limit),
            }  # fmt: skip


def _by_runs(scores: Any, doses: Any, levels: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - arrays
    """Limits of means over one and eight runs, and of the change of one word between two texts."""
    fit = dose_response(scores, doses, levels)
    parts, slope = fit.variances, fit.slope.value or np.nan
    for runs in (1, 8):
        for limit in detection_limits(scores, doses, levels, fit, words=(1, 8, 25), runs=runs):
            yield {"runs": runs, **_plain(limit)}
        change = 2 * Z * sqrt(2 * ((parts.planting or 0) + (parts.run or 0) / runs)) / slope
        yield {"runs": runs, "words": 1, "side": "change", "detection": change}


def _plain(limit: Limit) -> dict[str, Any]:
    found = limit.detection
    return {
        "words": limit.words, "side": limit.side, "detection": found.value, "low": found.low, "high": found.high
    }  # fmt: skip


def _titled(frame: pd.DataFrame) -> pd.DataFrame:
    titles = [f"{NAMES[name]}, {size} M" for name, size in zip(frame["algorithm"], frame["tokens"], strict=True)]
    known = frame.assign(text=titles)
    if "measure" in known:
        known["measure"] = known["measure"].map(lambda name: MEASURES.get(name, name))
    return known


def _limit_axis(field: str, **scale: bool) -> Any:  # noqa: ANN401 - of Altair
    """Limits of detection as odds ratios."""
    alt = altair()
    return alt.Y(
        field,
        scale=alt.Scale(type="log", domain=[1.5, MOST], nice=False, **scale),
        axis=alt.Axis(values=[2, 4, 10, 30, 100, 300, MOST]),
        title="limit of detection, odds ratio",
    )


def _planted_odds() -> Any:  # noqa: ANN401 - of Altair
    """Dashed lines at the odds ratios that were planted."""
    alt = altair()
    rows = alt.Data(values=[{"odds": odds} for odds in ODDS])
    return alt.Chart(rows).mark_rule(color="#b9bdb6", strokeDash=[3, 3]).encode(y="odds:Q")


def draw_limits(limits: pd.DataFrame) -> Any:  # noqa: ANN401 - of Altair
    """Limit of detection by number of words; the worse of the two sides."""
    alt = altair()
    some = limits[(limits["of"] == "measure") & (limits["planting"] == "mentions") & limits["name"].isin(MEASURES)]
    larger = some.groupby(["algorithm", "tokens", "name", "words"])["detection"].max().reset_index()
    worse = _titled(larger.rename(columns={"name": "measure"}))
    worse["odds"] = np.exp(worse["detection"].clip(upper=log(MOST)))
    base = alt.Chart().encode(
        x=alt.X("words:O", title="words in the mean"),
        y=_limit_axis("odds:Q"),
        color=alt.Color("measure:N", title=None),
    )
    layers = [base.mark_line(), base.mark_point(filled=True, size=40), _planted_odds()]
    return (
        alt.layer(*layers, data=alt.Data(values=worse.to_dict("records")))
        .properties(width=150, height=150)
        .facet(facet=alt.Facet("text:N", title=None, sort=ORDER), columns=4)
    )


def draw_text(limits: pd.DataFrame) -> Any:  # noqa: ANN401 - of Altair
    """Limit of detection of DB/WA by amount of text; the worse of the two sides, with its interval."""
    alt = altair()
    some = limits[(limits["planting"] == "mentions") & (limits["name"] == "dbwa") & limits["words"].isin((1, 8, 25))]
    worse = some.loc[some.groupby(["algorithm", "tokens", "words"])["detection"].idxmax()]
    shown = pd.DataFrame({
        "algorithm": worse["algorithm"].map(NAMES), "tokens": worse["tokens"],
        "words": worse["words"].map(lambda count: counted(count, "word")),
        **{end: np.exp(worse[end].clip(upper=log(MOST))) for end in ("detection", "low", "high")},
    })  # fmt: skip
    y = _limit_axis("detection:Q", clamp=True)
    base = alt.Chart().encode(
        x=alt.X(
            "tokens:Q",
            scale=alt.Scale(type="log", domain=[4.5, 33], nice=False),
            axis=alt.Axis(values=[5, 10, 20, 30]),
            title="million tokens",
        ),
        color=alt.Color("algorithm:N", title=None, sort=list(NAMES.values())),
    )
    layers = [
        base.mark_line().encode(y=y), base.mark_point(filled=True, size=45, opacity=1).encode(y=y),
        base.mark_rule(opacity=0.5).encode(y=alt.Y("low:Q", title=""), y2="high:Q"), _planted_odds(),
    ]  # fmt: skip
    return (
        alt.layer(*layers, data=alt.Data(values=shown.to_dict("records")))
        .properties(width=190, height=220)
        .facet(column=alt.Column("words:N", title=None, sort=["1 word", "8 words", "25 words"]))
    )


def validity_table(curves: pd.DataFrame) -> pd.DataFrame:
    """Correlation of reliability with recovery of the dose: over all points, and with an algorithm or measure left out.

    The interval is over combinations of algorithm and text, whose three measures share their models.
    """
    rows = []
    known = curves[curves["measure"].isin(MEASURES)]
    known = known.assign(cell=known["algorithm"] + " " + known["tokens"].astype(str))
    for planting, points in known.groupby("planting"):
        subsets = {"all": points}
        for column in ("algorithm", "measure"):
            values = points[column].drop_duplicates()
            subsets |= {f"without {value}": points[points[column] != value] for value in values}
        others = points[points["measure"] != "nbm"]
        algorithms = points["algorithm"].drop_duplicates()
        subsets |= {f"without nbm and {value}": others[others["algorithm"] != value] for value in algorithms}
        subsets |= {f"{value} alone": points[points["algorithm"] == value] for value in points["algorithm"].unique()}
        for name, subset in subsets.items():
            pooled = bg.correlate(subset, "retest", "r", unit="cell").groups[0]
            ends = {"low": pooled.estimate.low, "high": pooled.estimate.high}
            cells = subset["cell"].nunique()
            rows.append({"planting": planting, "points": name, "r": pooled.r, **ends, "n": len(subset), "cells": cells})
    return pd.DataFrame(rows).round(4)


def draw_validity(curves: pd.DataFrame) -> Any:  # noqa: ANN401 - of Altair
    """Correlation of two runs against that with the dose."""
    alt = altair()
    known = _titled(curves[curves["measure"].isin(MEASURES)])
    known["algorithm"] = known["algorithm"].map(NAMES)
    return (
        alt.Chart(alt.Data(values=known.to_dict("records")))
        .mark_point(filled=True, opacity=0.85)
        .encode(
            x=alt.X("retest:Q", scale=alt.Scale(domain=[0.85, 1.0]), title="reliability: correlation of two runs"),
            y=alt.Y("r:Q", scale=alt.Scale(domain=[0, 0.8]), title="recovery: correlation with the planted dose"),
            color=alt.Color("measure:N", title=None),
            shape=alt.Shape("algorithm:N", title=None, sort=list(NAMES.values())),
            size=alt.Size("tokens:O", title="million tokens", scale=alt.Scale(range=[25, 60, 110, 170])),
        )
        .properties(width=260, height=240)
        .facet(column=alt.Column("planting:N", title=None))
    )


def draw_curves(folder: Path) -> Any:  # noqa: ANN401 - of Altair
    """Mean DB/WA at each dose, in standard deviations of a word at a dose."""
    alt = altair()
    rows = []
    for path in sorted(folder.glob("*-mentions.json")):
        result = Calibration.from_dict(json.loads(path.read_text(encoding="utf-8")))
        own = labels(path.stem)
        for curve in result.curves:
            if curve.measure not in MEASURES:
                continue
            unit = sqrt(curve.response.variances.word)
            for point in curve.points:
                shown = {
                    end: (getattr(point.mean, end) - curve.response.intercept) / unit
                    for end in ("value", "low", "high")
                }
                rows.append({
                    "text": f"{NAMES[own['algorithm']]}, {own['tokens']} M", "measure": MEASURES[curve.measure],
                    "odds": exp(point.dose), **shown,
                })  # fmt: skip
    base = alt.Chart().encode(
        x=alt.X(
            "odds:Q",
            scale=alt.Scale(type="log", domain=[0.08, 12.5], nice=False),
            title="planted odds ratio",
            axis=alt.Axis(values=[0.1, 0.25, 0.5, 1, 2, 4, 10]),
        ),
        color=alt.Color("measure:N", title=None),
    )
    y = alt.Y("value:Q", title="mean score, sd of a word")
    layers = [
        base.mark_line().encode(y=y), base.mark_point(filled=True, size=35).encode(y=y),
        base.mark_rule().encode(y=alt.Y("low:Q", title="mean score, sd of a word"), y2="high:Q"),
    ]  # fmt: skip
    return (
        alt.layer(*layers, data=alt.Data(values=rows))
        .properties(width=150, height=130)
        .facet(facet=alt.Facet("text:N", title=None, sort=ORDER), columns=4)
    )


def main() -> None:
    """Tables, then figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calibrations", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("scores", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, help="where texts are planted again; FOLDER/planted by default")
    parser.add_argument("--figures-only", action="store_true")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    frames = gather(chosen.calibrations, chosen.out)
    validity_table(frames["curves"]).to_csv(chosen.out / "validity.csv", index=False)
    charts = {
        "limits": draw_limits(frames["limits"]), "text": draw_text(frames["limits"]),
        "validity": draw_validity(frames["curves"]), "curves": draw_curves(chosen.calibrations),
    }  # fmt: skip
    save_figures(charts, chosen.out, ("svg",))
    if not chosen.figures_only:
        more(chosen.folder, chosen.scores, chosen.out, chosen.work or chosen.folder / "planted")


if __name__ == "__main__":
    main()
