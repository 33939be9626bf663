"""Nangia et al. 2020 (CrowS-Pairs), as far as no model is needed: its data, and limits of its printed shares."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.stats import binom

from biasgauge.errors import CorpusError
from biasgauge.io import read_records
from biasgauge.papers.paper import Data, Progress, Recomputations, Recomputed
from biasgauge.papers.published import printed_numbers
from biasgauge.stats import wilson

PRINTED = printed_numbers(__name__)
MODELS = ("bert",)
"""Those whose printed shares a public run of the released code confirms."""
DIRECTIONS = ("stereo", "antistereo")
_COUNTS = {name.removeprefix("data."): int(PRINTED[name]) for name in PRINTED if name.startswith("data.")}
"""Printed numbers of pairs."""
KINDS = tuple(name for name in _COUNTS if name not in {"all", *DIRECTIONS})
_COLUMNS = {"sent_more", "sent_less", "stereo_antistereo", "bias_type", "annotations", "anon_writer"}


def data(files: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Count the released pairs. Nothing of them is shown."""
    path = files.find("crows_pairs")
    if path is None:
        return {}
    rows = read_records(path, needed=sorted(_COLUMNS), error=CorpusError)
    counts = Counter(row["bias_type"] for row in rows) + Counter(row["stereo_antistereo"] for row in rows)
    pairs = Counter((row["sent_more"], row["sent_less"]) for row in rows)
    writers = Counter(row["anon_writer"] for row in rows)
    recomputed = {f"data.{name}": Recomputed.both(counts[name]) for name in (*DIRECTIONS, *KINDS)}
    agreed = [_agreed(row, path) for row in rows]
    return recomputed | {
        "data.all": Recomputed.both(len(rows)),
        "data.writers": Recomputed(len(writers)),
        "data.most_by_one": Recomputed(
            max(writers.values()), note="pairs by one writer are not independent of each other: intervals over writers"
        ),
        "data.equal": Recomputed(sum(row["sent_more"] == row["sent_less"] for row in rows)),
        "data.doubles": Recomputed(sum(count - 1 for count in pairs.values())),
        "data.agreement": Recomputed(float(np.mean(agreed))),
    }


def _agreed(row: dict[str, str], path: Path) -> float:
    """Share of the annotators who name the pair's own kind of bias."""
    try:
        named = list(ast.literal_eval(row["annotations"]))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as problem:
        raise CorpusError("has annotations that are no list", path=path) from problem
    return float(np.mean([row["bias_type"] in kinds for kinds in named])) if named else 0.0


def table(_files: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """The nearest share of whole pairs to each printed one, and the interval that belongs to it."""
    rows = {}
    for name in (row for row in PRINTED if row.startswith("table2.")):
        size, count = _COUNTS[name.split(".", 2)[2]], _nearest_count(name)
        ours = wilson(count / size, size, 0.95, over="pairs")
        note = f"{count} of {size:,} pairs; the interval takes pairs for independent"
        rows[name] = Recomputed.of(count / size, ours, note).times(100)
    return rows


def _nearest_count(name: str) -> int:
    """The whole number of pairs whose share is nearest to what is printed."""
    return round(PRINTED[name] / 100 * _COUNTS[name.split(".", 2)[2]])


def claim(_files: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """“In every category”: p of every printed share against a half."""
    rows = {}
    for model in MODELS:
        for kind in KINDS:
            size, count = _COUNTS[kind], _nearest_count(f"table2.{model}.{kind}")
            note = f"{count} of {size:,} pairs, as if pairs were independent and this were the only test"
            rows[f"claim.{model}.{kind}"] = Recomputed(float(binom.sf(count - 1, size, 0.5)), note=note)
    return rows


def sums(_files: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """The score over all pairs from the scores of its parts."""
    return {
        f"sums.{model}.{name}": Recomputed(
            sum(_COUNTS[group] * PRINTED[f"table2.{model}.{group}"] for group in parts) / _COUNTS["all"]
        )
        for model in MODELS
        for name, parts in (("kinds", KINDS), ("directions", DIRECTIONS))
    }
