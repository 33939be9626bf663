"""Correlations of Goldfarb-Tarrant et al. 2021, from the points that were released."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from biasgauge.applications import correlate, read_points
from biasgauge.errors import InputError, ParameterError
from biasgauge.papers.row import Recomputed

if TYPE_CHECKING:
    from biasgauge.applications import CorrelationGroup, CorrelationResult
    from biasgauge.applications.correlation.points import Points
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress
    from biasgauge.papers.row import Number

METRICS = ("Precision", "Recall")
EMBEDDINGS = ("word2vec", "fastText")
METHODS = ("Postprocess", "Preprocess")
_AXES = ("WEAT", "Performance Gap")
_SHARED = (*_AXES, "Metric", "Test", "Embedding")
_COLUMNS = {"hsd_en": (*_SHARED, "Name", "Method"), "coref": (*_SHARED, "Name"), "spanish": _SHARED}
"""Columns that are used of each table."""
_WITHOUT_9 = ("Test=9",)
_FILTER = (*_WITHOUT_9, "Name=[6-9]|all_tweets")
_MISLABELED = re.compile(r"_twitter_en_(?:debias|overbias)_[678]")
"""Embeddings of balanced text, so of preprocessing, that the released table calls postprocessed."""
_UNMODIFIED = "all_tweets"
_ORIGINALS = (
    ", by file name: the unmodified fastText stands under preprocessing and under postprocessing, the unmodified "
    "word2vec under preprocessing only"
)
_EACH = "; the paper says significant for each algorithm, the released points just miss it"
_DIFFERS = {
    "hsd_en.recall.postprocess.word2vec.p": _EACH,
    "hsd_en.recall.preprocess.word2vec.p": _EACH,
    "hsd_en.precision.postprocess.fasttext.p": "; the paper says that precision shows none",
}
"""Why the released points do not bear out what the paper says of them."""
_SPANISH_SAID = {
    "spanish.es2.recall.fasttext.r": "; said of preprocessing, as these points are; the same section says that no "
    "condition shows a positive correlation"
}
"""What the paper says beside it."""
_FEW = 20
"""Resamples where no interval is asked for."""


def _table(data: Data, need: str) -> Points:
    """The points; a sentence that names the line or the column where the table is not as released."""
    points = read_points(data.path(need))
    absent = [column for column in _COLUMNS[need] if column not in points.columns]
    if absent:
        raise InputError(f"{points.name}: has no column {absent[0]!r}; its columns are {', '.join(points.columns)}")
    for column in _AXES:
        points.numbers(column)  # those of rows that are left out, too
    return points


def _as_published(points: Points, by: list[str], seed: int, drop: Sequence[str] = ()) -> CorrelationResult:
    """Each row a point."""
    return correlate(points, *_AXES, by, drop=list(drop), resamples=_FEW, random_state=seed)


def _corrected(points: Points, by: list[str], seed: int, drop: Sequence[str] = ()) -> CorrelationResult:
    """A repeated row once, and embeddings drawn and shuffled whole."""
    return correlate(points, *_AXES, by, drop=list(drop), duplicates="drop", unit="Name", random_state=seed)


def _stratum(result: CorrelationResult, file: str, by: dict[str, str]) -> CorrelationGroup:
    """A stratum, all points where none is named; where there is none, a sentence that names the file."""
    try:
        return result.group(**by) if by else result.pooled
    except ParameterError as problem:
        cell = ", ".join(f"{name} {value}" for name, value in by.items())
        raise InputError(f"{file}: has no points of {cell}; is it the whole of the released table?") from problem


@dataclass(frozen=True)
class _Correlations:
    """Correlations as published and corrected, and the file that the points are from."""

    theirs: CorrelationResult
    ours: CorrelationResult
    file: str

    def r(self, note: str = "", **by: str) -> Recomputed:
        """Pearson's r of a stratum, with the interval of the corrected one."""
        theirs, ours = (_stratum(result, self.file, by) for result in (self.theirs, self.ours))
        around = ours.estimate
        counts = f"{theirs.n} points; corrected: {ours.n} points of {ours.units} embeddings{note}"
        known = f"{around.method} interval over embeddings" if around.low is not None else None
        interval = known or f"no interval: {around.reason}"
        return Recomputed(theirs.r, ours.r, around.low, around.high, f"{counts}; {interval}")

    def p(self, note: str = "", **by: str) -> Recomputed:
        """Its p."""
        theirs, ours = (_stratum(result, self.file, by) for result in (self.theirs, self.ours))
        shuffled = f"{theirs.n} points; corrected: gaps shuffled over {ours.units} embeddings{note}"
        return Recomputed(theirs.p, ours.p, note=shuffled)


def baselines(data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Gaps with unmodified embeddings."""
    points = _table(data, "hsd_en")
    cells = zip(*(points.texts(name) for name in ("Name", "Embedding", "Metric")), strict=True)
    gaps: dict[tuple[str, str], float] = {}
    for (name, embedding, metric), gap in zip(cells, points.numbers("Performance Gap").tolist(), strict=True):
        if _UNMODIFIED in name:
            gaps.setdefault((embedding, metric), gap)
    rows = {}
    for embedding, metric in product(EMBEDDINGS, METRICS):
        gap = gaps.get((embedding, metric), math.nan)
        if math.isnan(gap):
            raise InputError(f"{points.name}: has no {metric} gap of the unmodified {embedding}, named {_UNMODIFIED!r}")
        rows[f"baseline.{embedding}.{metric.lower()}"] = Recomputed(gap)
    return rows


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

    def by(*columns: str) -> _Correlations:
        theirs = _as_published(points, list(columns), seed, _FILTER)
        return _Correlations(theirs, _corrected(named, list(columns), seed, _WITHOUT_9), points.name)

    rows: dict[str, Recomputed] = {}
    both_embeddings, each_embedding = by("Metric", "Method"), by("Metric", "Method", "Embedding")
    if progress is not None:
        progress(1, 2)
    for metric, method, embedding in product(METRICS, METHODS, ("both", *EMBEDDINGS)):
        cell = {"Metric": metric, "Method": method}
        correlations = both_embeddings
        if embedding != "both":
            cell, correlations = cell | {"Embedding": embedding}, each_embedding
        start = f"hsd_en.{metric}.{method}.{embedding}".lower()
        rows[f"{start}.r"] = correlations.r(_ORIGINALS, **cell)
        rows[f"{start}.p"] = correlations.p(f"{_ORIGINALS}{_DIFFERS.get(f'{start}.p', '')}", **cell)
    rows["hsd_en.precision.r"] = by("Metric").r(Metric="Precision")
    for method in ("postprocess", "preprocess"):
        first, second = (rows[f"hsd_en.recall.{method}.{embedding}.r"] for embedding in ("fasttext", "word2vec"))
        rows[f"hsd_en.recall.{method}.stronger"] = Recomputed(
            _more(first.as_published, second.as_published), _more(first.corrected, second.corrected)
        )
    if progress is not None:
        progress(2, 2)
    return rows


def _more(first: Number, second: Number) -> float | None:
    """How much larger the first is, whatever the sign; None where either is undefined."""
    if isinstance(first, int | float) and isinstance(second, int | float):
        return abs(first) - abs(second)
    return None


def unfiltered(data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Every released point, as labeled; corrected: by file name."""
    points, named = _both_labels(data)
    by_metric, by_method = (
        _Correlations(_as_published(points, by, seed, _WITHOUT_9), _corrected(named, by, seed, _WITHOUT_9), points.name)
        for by in (["Metric"], ["Metric", "Method"])
    )
    return {
        "unfiltered.all.r": by_metric.r(),
        **{f"unfiltered.{metric.lower()}.r": by_metric.r(Metric=metric) for metric in METRICS},
        **{
            f"unfiltered.{metric}.{method}.r".lower(): by_method.r(_ORIGINALS, Metric=metric, Method=method)
            for metric, method in product(METRICS, METHODS)
        },
    }


def plots(data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """One correlation for each test, metric and embedding."""
    points = _table(data, "hsd_en")
    by = ["Test", "Metric", "Embedding"]
    theirs, ours = (rule(points, by, seed, _WITHOUT_9) for rule in (_as_published, _corrected))
    correlations = _Correlations(theirs, ours, points.name)
    return {
        f"figure3.weat{test}.{metric}.{embedding}.p".lower(): correlations.p(
            Test=test, Metric=metric, Embedding=embedding
        )
        for test, metric, embedding in product("678", METRICS, EMBEDDINGS)
    }


def coref(data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """The preliminary points; corrected: without the test whose values were pasted."""
    points = _table(data, "coref")
    by = ["Metric", "Embedding"]
    theirs, ours = _as_published(points, by, seed), _corrected(points, by, seed, ["Test=8"])
    correlations = _Correlations(theirs, ours, points.name)
    without = ", without test 8, whose word2vec values are fastText's"
    rows = {"coref.all.r": correlations.r(without)}
    for metric, embedding in product(METRICS, EMBEDDINGS):
        start = f"coref.{metric}.{embedding}".lower()
        rows[f"{start}.r"] = correlations.r(without, Metric=metric, Embedding=embedding)
        rows[f"{start}.p"] = correlations.p(", without test 8", Metric=metric, Embedding=embedding)
    return rows


def spanish(data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """The preliminary points, four for each correlation."""
    points = _table(data, "spanish")
    correlations = _as_published(points, ["Test", "Metric", "Embedding"], seed)
    rows = {}
    for test, metric, embedding in product(("es1", "es2"), METRICS, EMBEDDINGS):
        group = _stratum(correlations, points.name, {"Test": test, "Metric": metric, "Embedding": embedding})
        name = f"spanish.{test}.{metric}.{embedding}.r".lower()
        few = f"{group.n} preliminary points: no correlation can be told from chance with so few"
        rows[name] = Recomputed(group.r, note=few + _SPANISH_SAID.get(name, ""))
    values = [row.as_published for row in rows.values() if isinstance(row.as_published, float)]
    return rows | ({"spanish.largest.r": Recomputed(max(values))} if values else {})
