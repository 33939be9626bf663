"""What of likelihood measures is stable over random seeds: components by seed, template and item.

Small language models are trained on a GPU, ten seeds of each kind side by side (train_language_models.py), scored
(score_language_models.py), and taken apart here: numbers alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import biasgauge as bg
from biasgauge.analyses.likelihood import ScoredPairs, SentencePair, preferences, read_pairs
from biasgauge.analyses.reliability import variance_components
from biasgauge.scores import ScoreTensor
from biasgauge.study import file_step
from biasgauge_studies.stages import run_module

Arrays = dict[str, np.ndarray]


TEXTS = (
    "imdb_reviews_train25k/imdb_train25k.tsv.xz",
    "enwiki_sample/enwiki_long_articles_5M.txt.xz",
    "enwiki_sample/enwiki_short_articles_10M.txt.xz",
)


def train_models(out: Path, inputs: Mapping[str, Path], *, data: Path, seeds: int = 10, steps: int = 6000) -> None:
    """Train masked and causal models on film reviews and Wikipedia; on a GPU where there is one."""
    run_module("train_language_models", "prepare", *(data / name for name in TEXTS), "--out", out / "prepared")
    for kind in ("masked", "causal"):
        run_module(
            "train_language_models", "train", out / "prepared", "--out", out / "models", "--kind", kind, "--seeds",
            seeds, "--steps", steps,
        )  # fmt: skip


def score_models(out: Path, inputs: Mapping[str, Path], *, data: Path) -> None:
    """Score every model on CrowS-Pairs, StereoSet, templates and WEAT by layer."""
    run_module("score_language_models", inputs["models"] / "models", data, out)
    arrays: dict[str, Any] = {}
    for path in sorted(out.glob("*.npz")):
        with np.load(path) as content:
            arrays |= dict(content)
        path.unlink()
    np.savez_compressed(out / "scores.npz", **arrays)


def tabulate(out: Path, inputs: Mapping[str, Path], *, data: Path) -> None:
    """Split every number by seed, template and item."""
    scores = inputs["scores"]
    about = json.loads((scores / "about.json").read_text())
    by_kind = read(scores / "scores.npz")
    pairs = read_pairs(data / "crows_pairs" / "crows_pairs_anonymized.csv")
    result: dict[str, Any] = {"crows": [], "stereoset": [], "templates": [], "weat": []}
    for kind, arrays in by_kind.items():
        for name, values in arrays.items():
            what, _, measure = name.partition(" ")
            if what == "crows":
                result["crows"].append({"kind": kind, "measure": measure, **crows(pairs, values)})
            elif what == "stereoset":
                files = data / "stereoset" / "dev.json.xz"
                result["stereoset"].append({"kind": kind, "measure": measure, **stereoset(files, about, values)})
            elif what == "templates":
                result["templates"].append(
                    {"kind": kind, **components(values, about["templates"], about["occupations"])}
                )
            else:
                result["weat"] += weat(kind, values, about)
    (out / "replicates.json").write_text(json.dumps(result, indent=1) + "\n")


def read(path: Path) -> dict[str, Arrays]:
    """Kind → what was scored → seeds first."""
    found: dict[str, Any] = {}
    with np.load(path) as content:
        names = sorted(content.files, key=lambda name: int(name.partition("seed")[2].partition("|")[0]))
        for name in names:
            model, _, what = name.partition("|")
            found.setdefault(model.partition("-")[0], {}).setdefault(what, []).append(content[name])
    return {kind: {what: np.stack(rows) for what, rows in own.items()} for kind, own in found.items()}


def crows(pairs: list[SentencePair], table: np.ndarray) -> dict[str, Any]:
    """Percent preferred: seed by seed, and with an interval over writers and seeds; what single pairs do."""
    settings = {"ties": "undefined", "min_coverage": 0.5, "level": 0.95, "unit": "writers"}

    def row(rows: np.ndarray) -> Any:  # noqa: ANN401 - a row of a result
        scored = ScoredPairs({"m": rows.astype(float)}, {"m": [{}] * len(rows)}, tuple(map(str, range(len(rows)))))
        return preferences("CrowS-Pairs", pairs, scored, settings).measures[0].preferred

    each = [row(table[at : at + 1]) for at in range(len(table))]
    both = row(table)
    gaps = (table[..., 0] - table[..., 1]).astype(float)
    whole = np.isfinite(gaps).all(axis=0)
    same = (gaps[:, whole] > 0).mean(axis=0)
    spread = gaps[:, whole]
    seeds, items = spread.shape
    item = spread.mean(axis=0).var(ddof=1)
    rest = spread - spread.mean(axis=0) - spread.mean(axis=1, keepdims=True) + spread.mean()
    residual = float((rest**2).sum() / ((seeds - 1) * (items - 1)))
    main = max(item - residual / seeds, 0.0)
    seed = max(spread.mean(axis=1).var(ddof=1) - residual / items, 0.0)
    total = main + residual + seed
    return {
        "seeds": [round(estimate.value, 1) for estimate in each],
        "excludes_50": sum(bool(estimate.excludes(50.0)) for estimate in each),
        "preferred": ends(both),
        "unanimous": round(100 * float(((same == 0) | (same == 1)).mean()), 1),
        "shares": {name: round(part / total, 3) for name, part in
                   (("item", main), ("seed", seed), ("item × seed", residual))},
        "pairs": int(whole.sum()),
    }  # fmt: skip


def stereoset(path: Path, about: dict[str, Any], table: np.ndarray) -> dict[str, Any]:
    """The three numbers by split, over targets and seeds, and the range over seeds."""
    runs = [dict(zip(about["sentences"], row.astype(float).tolist(), strict=True)) for row in table]
    both = bg.analyses.likelihood.stereoset(path, runs)
    each = [bg.analyses.likelihood.stereoset(path, run) for run in runs]
    told: dict[str, Any] = {}
    for split in ("intrasentence", "intersentence"):
        numbers = {name: ends(getattr(getattr(both, split), name)) for name in ("lms", "ss", "icat")}
        own = [getattr(one, split).ss for one in each]
        told[split] = {
            **numbers,
            "ss_by_seed": [round(estimate.value or 0, 1) for estimate in own],
            "excludes_50": sum(bool(estimate.excludes(50.0)) for estimate in own),
        }
    return told


def components(values: np.ndarray, templates: list[str], words: list[str]) -> dict[str, Any]:
    """Shares of the variance of seeds × templates × words."""
    table = np.ascontiguousarray(values.transpose(1, 2, 0)[None], np.float32)
    tensor = ScoreTensor(
        table, np.zeros(table.shape, np.uint8),
        ("score",), tuple((template, "") for template in templates), tuple(words),
        tuple(f"seed {at}" for at in range(len(values))), {},
    )  # fmt: skip
    split = variance_components(tensor, measure="score")
    names = {"word": "word", "pair": "template", "model": "seed"}
    shares = {}
    for component in split.components:
        name = " × ".join(names[facet] for facet in component.facets)
        around = component.share_interval
        shares[name] = [round(component.share, 3), round(around.low or 0, 3), round(around.high or 0, 3)]
    signs = np.sign(values.mean(axis=(0, 1)))
    agree = (np.sign(values) == signs).mean(axis=(0, 1))
    return {"mean": round(float(values.mean()), 3), "shares": shares, "words_same_sign": round(float(agree.mean()), 3),
            "unanimous_words": int((agree == 1).sum()), "words": len(words)}  # fmt: skip


def weat(kind: str, values: np.ndarray, about: dict[str, Any]) -> list[dict[str, Any]]:
    """Effect sizes by seed, context and layer: components, and how often the sign is the majority's."""
    rows = []
    for at, test in enumerate(about["weat"]):
        own = values[:, at]  # seeds × contexts × layers
        layers = [f"layer {layer}" for layer in range(own.shape[2])]
        told = components(own, about["contexts"], layers)
        shares = {name.replace("word", "layer"): share for name, share in told["shares"].items()}
        positive = float((own > 0).mean())
        rows.append({"kind": kind, "test": test, "mean": told["mean"], "low": round(float(own.min()), 2),
                     "high": round(float(own.max()), 2), "positive": round(positive, 3), "shares": shares})  # fmt: skip
    return rows


def ends(estimate: bg.Estimate) -> list[float | None]:
    """Value and ends, to one decimal."""
    return [None if number is None else round(number, 1) for number in (estimate.value, estimate.low, estimate.high)]


STEP = file_step(
    "contextual-replicates",
    "small language models over random seeds",
    {"contextual-models": train_models, "contextual-scores": score_models, "contextual-replicates": tabulate},
)
