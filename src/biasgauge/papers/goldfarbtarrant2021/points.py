"""Correlations of Goldfarb-Tarrant et al. 2021, from the points that were released."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from biasgauge.applications import correlate, read_points
from biasgauge.errors import InputError, ParameterError
from biasgauge.papers.goldfarbtarrant2021.rows import ALL, CELLS, DIFFERS, EMBEDDINGS, METRICS, SPANISH_SAID, TESTS
from biasgauge.papers.row import Recomputed

if TYPE_CHECKING:
    from biasgauge.applications import CorrelationGroup, CorrelationResult
    from biasgauge.applications.correlation.points import Points
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress
    from biasgauge.papers.row import Number

_SHARED = ("WEAT", "Performance Gap", "Metric", "Test", "Embedding")
_COLUMNS = {"hsd_en": (*_SHARED, "Name", "Method"), "coref": (*_SHARED, "Name"), "spanish": _SHARED}
"""Columns that are used of each table."""
_WITHOUT_9 = "Test=9"
_FILTER = "Name=[6-9]|all_tweets"
_MISLABELED = re.compile(r"_twitter_en_(?:debias|overbias)_[678]")
"""Embeddings of balanced text, so of preprocessing, that the released table calls postprocessed."""
_UNMODIFIED = "all_tweets"
_ORIGINALS = (
    ", by file name: the unmodified fastText stands under preprocessing and under postprocessing, the unmodified "
    "word2vec under preprocessing only"
)
_FEW = 20
"""Resamples where no interval is asked for."""


def _table(data: Data, need: str) -> Points:
    """The points; a sentence that names the line or the column where the table is not as released."""
    points = read_points(data.path(need))
    absent = [column for column in _COLUMNS[need] if column not in points.columns]
    if absent:
        raise InputError(f"{points.name}: has no column {absent[0]!r}; its columns are {', '.join(points.columns)}")
    if not len(points):
        raise InputError(f"{points.name}: has a header and no points")
    for column in ("WEAT", "Performance Gap"):
        points.numbers(column)  # those of rows that are left out, too
    return points


def _of(points: Points, by: list[str], *, drop: list[str], seed: int, units: bool = False) -> CorrelationResult:
    """As the paper: each row a point. With `units`: a repeated row once, and embeddings drawn and shuffled whole."""
    if not units:
        return correlate(points, "WEAT", "Performance Gap", by, drop=drop, resamples=_FEW, random_state=seed)
    return correlate(
        points, "WEAT", "Performance Gap", by, drop=drop, duplicates="drop", unit="Name", random_state=seed
    )


def _r(ours: CorrelationGroup, right: CorrelationGroup, note: str = "") -> Recomputed:
    told = f"{ours.n} points; corrected: {right.n} points of {right.units} embeddings{note}"
    around = right.estimate
    if around.low is None:
        return Recomputed(ours.r, right.r, note=f"{told}; no interval: {around.reason}")
    return Recomputed(ours.r, right.r, around.low, around.high, f"{told}; {around.method} interval over embeddings")


def _p(ours: CorrelationGroup, right: CorrelationGroup, note: str = "") -> Recomputed:
    told = f"{ours.n} points; corrected: gaps shuffled over {right.units} embeddings{note}"
    return Recomputed(ours.p, right.p, note=told)


def _group(found: CorrelationResult, points: Points, **by: str) -> CorrelationGroup:
    """A stratum; where there is none, a sentence that names the file."""
    try:
        return found.group(**by)
    except ParameterError as problem:
        told = ", ".join(f"{name} {value}" for name, value in by.items())
        raise InputError(f"{points.name}: has no points of {told}; is it the whole of the released table?") from problem


def baselines(data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Gaps with unmodified embeddings."""
    points = _table(data, "hsd_en")
    cells = zip(*(points.texts(name) for name in ("Name", "Embedding", "Metric")), strict=True)
    gaps: dict[tuple[str, str], float] = {}
    for (name, embedding, metric), gap in zip(cells, points.numbers("Performance Gap").tolist(), strict=True):
        if _UNMODIFIED in name:
            gaps.setdefault((embedding, metric), gap)
    found = {}
    for embedding in EMBEDDINGS:
        for metric in METRICS:
            gap = gaps.get((embedding, metric), math.nan)
            if math.isnan(gap):
                raise InputError(
                    f"{points.name}: has no {metric} gap of the unmodified {embedding}, named {_UNMODIFIED!r}"
                )
            found[f"baseline.{embedding}.{metric.lower()}"] = Recomputed(gap)
    return found


def _both_labels(data: Data) -> tuple[Points, Points]:
    """The points as they are labeled, and with the method that the file's name tells."""
    points = _table(data, "hsd_en")
    at = points.at("Method")
    rows = tuple(
        (*row[:at], "Preprocess", *row[at + 1 :]) if _MISLABELED.search(name) else row
        for name, row in zip(points.texts("Name"), points.rows, strict=True)
    )
    return points, replace(points, rows=rows)


def hate_speech(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """The paper's claims, in the authors' selection of embeddings; corrected: all of them, by file name."""
    points, named = _both_labels(data)
    found: dict[str, Recomputed] = {}
    for place, by in enumerate((["Metric", "Method"], ["Metric", "Method", "Embedding"])):
        ours = _of(points, by, drop=[_WITHOUT_9, _FILTER], seed=seed)
        right = _of(named, by, drop=[_WITHOUT_9], seed=seed, units=True)
        for metric, method, embedding in CELLS:
            if (embedding != ALL) == ("Embedding" in by):
                cell = {"Metric": metric, "Method": method, "Embedding": embedding}
                cell = {name: cell[name] for name in by}
                both = _group(ours, points, **cell), _group(right, points, **cell)
                start = f"hsd_en.{metric}.{method}.{embedding}".lower()
                found[f"{start}.r"] = _r(*both, _ORIGINALS)
                found[f"{start}.p"] = _p(*both, f"{_ORIGINALS}{DIFFERS.get(f'{start}.p', '')}")
        if progress is not None:
            progress(place + 1, 2)
    pooled = _of(points, ["Metric"], drop=[_WITHOUT_9, _FILTER], seed=seed)
    right = _of(named, ["Metric"], drop=[_WITHOUT_9], seed=seed, units=True)
    found["hsd_en.precision.r"] = _r(
        _group(pooled, points, Metric="Precision"), _group(right, points, Metric="Precision")
    )
    for method in ("Postprocess", "Preprocess"):
        first, second = (found[f"hsd_en.recall.{method}.{one}.r".lower()] for one in ("fastText", "word2vec"))
        found[f"hsd_en.recall.{method}.stronger".lower()] = Recomputed(
            _more(first.as_published, second.as_published), _more(first.corrected, second.corrected)
        )
    return found


def _more(first: Number, second: Number) -> float | None:
    """How much larger the first is, whatever the sign; None where either is undefined."""
    if isinstance(first, int | float) and isinstance(second, int | float):
        return abs(first) - abs(second)
    return None


def unfiltered(data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Every released point, as labeled; corrected: by file name."""
    points, named = _both_labels(data)
    plain = _of(points, ["Metric"], drop=[_WITHOUT_9], seed=seed)
    right = _of(named, ["Metric"], drop=[_WITHOUT_9], seed=seed, units=True)
    found = {"unfiltered.all.r": _r(plain.pooled, right.pooled)}
    for metric in METRICS:
        found[f"unfiltered.{metric.lower()}.r"] = _r(
            _group(plain, points, Metric=metric), _group(right, points, Metric=metric)
        )
    by = ["Metric", "Method"]
    labeled = _of(points, by, drop=[_WITHOUT_9], seed=seed)
    by_name = _of(named, by, drop=[_WITHOUT_9], seed=seed, units=True)
    for metric in METRICS:
        for method in ("Postprocess", "Preprocess"):
            both = [_group(one, points, Metric=metric, Method=method) for one in (labeled, by_name)]
            found[f"unfiltered.{metric}.{method}.r".lower()] = _r(both[0], both[1], _ORIGINALS)
    return found


def plots(data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """One correlation for each test, metric and embedding."""
    points = _table(data, "hsd_en")
    by = ["Test", "Metric", "Embedding"]
    ours = _of(points, by, drop=[_WITHOUT_9], seed=seed)
    right = _of(points, by, drop=[_WITHOUT_9], seed=seed, units=True)
    return {
        f"figure3.weat{test}.{metric}.{embedding}.p".lower(): _p(
            _group(ours, points, **cell), _group(right, points, **cell)
        )
        for test in TESTS
        for metric in METRICS
        for embedding in EMBEDDINGS
        for cell in [{"Test": test, "Metric": metric, "Embedding": embedding}]
    }


def coref(data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """The preliminary points; corrected: without the test whose values were pasted."""
    points = _table(data, "coref")
    by = ["Metric", "Embedding"]
    ours = _of(points, by, drop=[], seed=seed)
    right = _of(points, by, drop=["Test=8"], seed=seed, units=True)
    without = ", without test 8, whose word2vec values are fastText's"
    found = {"coref.all.r": _r(ours.pooled, right.pooled, without)}
    for metric in METRICS:
        for embedding in EMBEDDINGS:
            both = [_group(one, points, Metric=metric, Embedding=embedding) for one in (ours, right)]
            start = f"coref.{metric}.{embedding}".lower()
            found |= {
                f"{start}.r": _r(both[0], both[1], without),
                f"{start}.p": _p(both[0], both[1], ", without test 8"),
            }
    return found


def spanish(data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """The preliminary points, four for each correlation."""
    points = _table(data, "spanish")
    by_cell = _of(points, ["Test", "Metric", "Embedding"], drop=[], seed=seed)
    found = {}
    for test in ("es1", "es2"):
        for metric in METRICS:
            for embedding in EMBEDDINGS:
                one = _group(by_cell, points, Test=test, Metric=metric, Embedding=embedding)
                name = f"spanish.{test}.{metric}.{embedding}.r".lower()
                few = f"{one.n} preliminary points: no correlation can be told from chance with so few"
                found[name] = Recomputed(one.r, note=few + SPANISH_SAID.get(name, ""))
    values = [one.as_published for one in found.values() if isinstance(one.as_published, float)]
    if values:
        found["spanish.largest.r"] = Recomputed(max(values))
    return found
