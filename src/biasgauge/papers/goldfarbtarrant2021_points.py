"""Correlations of Goldfarb-Tarrant et al. 2021, from the points that were released."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.extrinsic import correlate, read_points
from biasgauge.papers.goldfarbtarrant2021_rows import ALL, CELLS, DIFFERS, EMBEDDINGS, METRICS, TESTS
from biasgauge.papers.row import Found

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.extrinsic import CorrelationGroup, CorrelationResult
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress
    from biasgauge.papers.row import Number

_SHARED = ("WEAT", "Performance Gap", "Metric", "Test", "Embedding")
_COLUMNS = {"hsd_en": (*_SHARED, "Name", "Method"), "coref": (*_SHARED, "Name"), "spanish": _SHARED}
"""Columns that are used of each table."""
_WITHOUT_9 = "Test=9"
_FILTER = "Name=[6-9]|all_tweets"
_MISLABELLED = r"_twitter_en_(?:debias|overbias)_[678]"
"""Embeddings of balanced text, so of preprocessing, that the released table calls postprocessed."""
_FEW = 20
"""Resamples where no interval is asked for."""


def _table(data: Data, need: str) -> pd.DataFrame:
    """The points; a sentence that names the line or the column where the table is not as released."""
    import pandas as pd  # noqa: PLC0415 - only those with the table pay for it

    read = read_points(data.path(need))
    for column in _COLUMNS[need]:
        read.at(column)
    return pd.read_csv(data.path(need))


def _of(points: pd.DataFrame, by: list[str], *, drop: list[str], seed: int, units: bool = False) -> CorrelationResult:
    """As the paper: each row a point. With `units`: a repeated row once, and embeddings drawn and shuffled whole."""
    if not units:
        return correlate(points, "WEAT", "Performance Gap", by, drop=drop, resamples=_FEW, random_state=seed)
    return correlate(
        points, "WEAT", "Performance Gap", by, drop=drop, duplicates="drop", unit="Name", random_state=seed
    )


def _r(ours: CorrelationGroup, right: CorrelationGroup, note: str = "") -> Found:
    told = f"{ours.n} points; corrected: {right.n} points of {right.units} embeddings{note}"
    around = right.interval
    if around is None or around.low is None:
        reason = right.reason if around is None else around.reason
        return Found(ours.r, right.r, note=f"{told}; no interval: {reason}")
    return Found(ours.r, right.r, around.low, around.high, f"{told}; {around.method} interval over embeddings")


def _p(ours: CorrelationGroup, right: CorrelationGroup, note: str = "") -> Found:
    told = f"{ours.n} points; corrected: gaps shuffled over {right.units} embeddings{note}"
    return Found(ours.p, right.p, note=told)


def _group(found: CorrelationResult, metric: str, method: str, embedding: str) -> CorrelationGroup:
    by = {"Metric": metric, "Method": method, "Embedding": embedding}
    return found.group(**{name: by[name] for name in found.by})


def baselines(data: Data, _seed: int, _progress: Progress | None) -> dict[str, Found]:
    """Gaps with unmodified embeddings."""
    points = _table(data, "hsd_en")
    base = points[points["Name"].str.contains("all_tweets")].drop_duplicates(["Embedding", "Metric"])
    gap = base.set_index(["Embedding", "Metric"])["Performance Gap"].to_dict()
    return {
        f"baseline.{embedding}.{metric.lower()}": Found(float(gap[embedding, metric]))
        for embedding in EMBEDDINGS
        for metric in METRICS
    }


def _both_labels(data: Data) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The points as they are labelled, and with the method that the file's name tells."""
    points = _table(data, "hsd_en")
    named = points.copy()
    named.loc[named["Name"].str.contains(_MISLABELLED), "Method"] = "Preprocess"
    return points, named


def hate_speech(data: Data, seed: int, progress: Progress | None) -> dict[str, Found]:
    """The paper's claims, in the authors' selection of embeddings; corrected: all of them, by file name."""
    points, named = _both_labels(data)
    found: dict[str, Found] = {}
    for place, by in enumerate((["Metric", "Method"], ["Metric", "Method", "Embedding"])):
        ours = _of(points, by, drop=[_WITHOUT_9, _FILTER], seed=seed)
        right = _of(named, by, drop=[_WITHOUT_9], seed=seed, units=True)
        for metric, method, embedding in CELLS:
            if (embedding != ALL) == ("Embedding" in by):
                both = _group(ours, metric, method, embedding), _group(right, metric, method, embedding)
                start = f"hsd_en.{metric}.{method}.{embedding}".lower()
                found |= {f"{start}.r": _r(*both), f"{start}.p": _p(*both, DIFFERS.get(f"{start}.p", ""))}
        if progress is not None:
            progress(place + 1, 2)
    for method in ("Postprocess", "Preprocess"):
        first, second = (found[f"hsd_en.recall.{method}.{one}.r".lower()] for one in ("fastText", "word2vec"))
        found[f"hsd_en.recall.{method}.stronger".lower()] = Found(
            _more(first.as_published, second.as_published), _more(first.corrected, second.corrected)
        )
    return found


def _more(first: Number, second: Number) -> float | None:
    """How much larger the first is, whatever the sign; None where either is undefined."""
    if isinstance(first, int | float) and isinstance(second, int | float):
        return abs(first) - abs(second)
    return None


def unfiltered(data: Data, seed: int, _progress: Progress | None) -> dict[str, Found]:
    """Every released point, as labelled; corrected: by file name."""
    points, named = _both_labels(data)
    plain = _of(points, ["Metric"], drop=[_WITHOUT_9], seed=seed)
    right = _of(named, ["Metric"], drop=[_WITHOUT_9], seed=seed, units=True)
    found = {"unfiltered.all.r": _r(plain.pooled, right.pooled)}
    for metric in METRICS:
        found[f"unfiltered.{metric.lower()}.r"] = _r(plain.group(Metric=metric), right.group(Metric=metric))
    by = ["Metric", "Method"]
    labelled = _of(points, by, drop=[_WITHOUT_9], seed=seed)
    by_name = _of(named, by, drop=[_WITHOUT_9], seed=seed, units=True)
    for metric in METRICS:
        for method in ("Postprocess", "Preprocess"):
            cell = {"Metric": metric, "Method": method}
            found[f"unfiltered.{metric}.{method}.r".lower()] = _r(labelled.group(**cell), by_name.group(**cell))
    return found


def plots(data: Data, seed: int, _progress: Progress | None) -> dict[str, Found]:
    """One correlation for each test, metric and embedding."""
    points = _table(data, "hsd_en")
    by = ["Test", "Metric", "Embedding"]
    ours = _of(points, by, drop=[_WITHOUT_9], seed=seed)
    right = _of(points, by, drop=[_WITHOUT_9], seed=seed, units=True)
    return {
        f"figure3.weat{test}.{metric}.{embedding}.p".lower(): _p(ours.group(**cell), right.group(**cell))
        for test in TESTS
        for metric in METRICS
        for embedding in EMBEDDINGS
        for cell in [{"Test": test, "Metric": metric, "Embedding": embedding}]
    }


def coref(data: Data, seed: int, _progress: Progress | None) -> dict[str, Found]:
    """The preliminary points; corrected: without the test whose values were pasted."""
    points = _table(data, "coref")
    by = ["Metric", "Embedding"]
    ours = _of(points, by, drop=[], seed=seed)
    right = _of(points, by, drop=["Test=8"], seed=seed, units=True)
    found: dict[str, Found] = {}
    for metric in METRICS:
        for embedding in EMBEDDINGS:
            both = [one.group(Metric=metric, Embedding=embedding) for one in (ours, right)]
            start = f"coref.{metric}.{embedding}".lower()
            found |= {
                f"{start}.r": _r(both[0], both[1], ", without test 8, whose word2vec values are fastText's"),
                f"{start}.p": _p(both[0], both[1], ", without test 8"),
            }
    return found


def spanish(data: Data, seed: int, _progress: Progress | None) -> dict[str, Found]:
    """The preliminary points, four for each correlation."""
    points = _table(data, "spanish")
    found = _of(points, ["Test", "Metric", "Embedding"], drop=[], seed=seed)
    return {
        f"spanish.{test}.{metric}.{embedding}.r".lower(): Found(
            one.r, note=f"{one.n} preliminary points: no correlation can be told from chance with so few"
        )
        for test in ("es1", "es2")
        for metric in METRICS
        for embedding in EMBEDDINGS
        for one in [found.group(Test=test, Metric=metric, Embedding=embedding)]
    }
