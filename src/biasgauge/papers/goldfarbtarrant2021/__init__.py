"""Goldfarb-Tarrant et al. 2021: does WEAT say anything about an application?

The paper prints scatter plots and words; the points for English hate speech were released, so the words can be held
against them. What "moderate" stands for is our reading: an absolute r from .3 to .7 (Ratner 2009).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from biasgauge.analyses.correlate import CorrelationGroup, CorrelationResult, Points, correlate, read_points
from biasgauge.errors import CorpusError, InputError, ParameterError
from biasgauge.io import ByteSource
from biasgauge.lexicons import AssociationTest, lexicon
from biasgauge.mitigation import cross_pairs, lexicon_pairs
from biasgauge.papers.paper import Data, Number, Progress, Recomputations, Recomputed
from biasgauge.text import whole_lines

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
_EACH = "the paper says significant for each algorithm, the released points just miss it; "
_DIFFERS = {
    "hsd_en.recall.postprocess.word2vec.p": _EACH,
    "hsd_en.recall.preprocess.word2vec.p": _EACH,
    "hsd_en.precision.postprocess.fasttext.p": "the paper says that precision shows none; ",
}
"""Why the released points do not bear out what the paper says of them."""
_SPANISH_SAID = {
    "spanish.es2.recall.fasttext.r": "; said of preprocessing, as these points are; the same section says that no "
    "condition shows a positive correlation"
}
"""What the paper says beside it."""
_LARGEST = (
    "“in any experimental conditions”; the same section finds one, of migrant WEAT and recall gap for fastText with "
    "preprocessing: the two cannot both hold. Preliminary points: held to nothing"
)
_COUNTED_LINES = "counted as lines and as runs of characters between spaces, which need not be the paper's way"
_LAYOUT = "the last field of each line is taken for the tweet: the files have not been seen here"
_FEW = 20
"""Resamples where no interval is asked for."""
_PRELIMINARY = "preliminary points, not those of the paper: held to nothing"


def lists(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Words of the tests and of debiasing, and the pairs that they make; corrected: each once."""
    sets = {name: list(words) for name, words in lexicon("goldfarb2021_expansion").sets.items()}
    listed = {f"expansion.{name}": words for name, words in sets.items()}
    for name in ("weat6b", "weat7", "weat8", "weat_es_gender", "weat_es_migrant"):
        listed |= {f"{name}.{role}": list(words) for role, words in lexicon(name).sets.items()}
    rows = {f"lists.{name}": Recomputed(len(words), len(set(words))) for name, words in listed.items()}
    expanded = {name: words + sets[f"{name}_expansion"] for name, words in sets.items() if f"{name}_expansion" in sets}
    targets = expanded["career"] + expanded["math_sci"], expanded["family"] + expanded["art"]
    terms = expanded["male"], expanded["female"]
    together = cross_pairs([(targets[0], terms[1]), (targets[1], terms[0])])
    apart = cross_pairs([(targets[0], terms[0]), (targets[1], terms[1])])
    return rows | {
        "lists.expansion.all": Recomputed.both(sum(len(set(words)) for words in (*targets, *terms))),
        "lists.pairs.attract": Recomputed(len(together), len(set(together) - set(apart))),
        "lists.pairs.repel": Recomputed(len(apart), len(set(apart))),
        "lists.pairs.weat7": Recomputed.both(len(lexicon_pairs("weat7", "debias")[0])),
    }


def corpora(data: Data, _seed: int, progress: Progress | None) -> Recomputations:
    """Count tweets and their words, and tweets of the labeled test set, in the files that are there."""
    rows: Recomputations = {}
    needs = ("tweets_en", "tweets_es", "founta")
    for number, need in enumerate(needs, 1):
        if data.find(need) is None:
            continue
        lines = words = 0
        for path in data.find_all(need):
            with ByteSource(path, error=CorpusError) as source:
                for _, line in whole_lines(source):
                    text = line.rstrip().rpartition("\t")[2]
                    lines, words = lines + bool(text), words + len(text.split())
        if need == "founta":
            rows["corpus.hate_speech_test"] = Recomputed.of(lines, note=_LAYOUT, differs=_COUNTED_LINES)
        else:
            language = need.removeprefix("tweets_")
            rows[f"corpus.twitter_{language}.tweets"] = Recomputed.of(lines, note=_LAYOUT, differs=_COUNTED_LINES)
            rows[f"corpus.twitter_{language}.words"] = Recomputed.of(words, note=_LAYOUT, differs=_COUNTED_LINES)
        if progress is not None:
            progress(number, len(needs))
    return rows


def spanish_lists(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Remainder of the Spanish lists when the longer of two sets is cut from its end."""
    gender, migrant = lexicon("weat_es_gender"), lexicon("weat_es_migrant")
    assert isinstance(gender, AssociationTest)  # noqa: S101 - for type checkers: they ship so
    assert isinstance(migrant, AssociationTest)  # noqa: S101 - as above
    science, art = len(gender.x), len(gender.y)
    feminine = gender.y.words[art // 2 :]
    truncated = gender.y.words[: min(science, art)]
    left = sum(word in truncated for word in feminine)
    return {
        "spanish_lists.art": Recomputed(len(truncated), art),
        "spanish_lists.art.feminine": Recomputed(left, len(feminine)),
        "spanish_lists.art.masculine": Recomputed(len(truncated) - left, art - len(feminine)),
        "spanish_lists.migrant.names": Recomputed(min(len(migrant.x), len(migrant.y)), len(migrant.y)),
        "spanish_lists.migrant.unpleasant": Recomputed(min(len(migrant.a), len(migrant.b)), len(migrant.b)),
    }


def _table(data: Data, need: str) -> Points:
    """The points; a sentence that names the line or the column where the table is not as released."""
    points = read_points(data.path(need))
    absent = [column for column in _COLUMNS[need] if column not in points.columns]
    if absent:
        raise InputError(f"{points.name}: has no column {absent[0]!r}; its columns are {', '.join(points.columns)}")
    for column in _AXES:
        points.numbers(column)  # those of rows that are left out, too
    return points


def _as_published(points: Points, by: Sequence[str], seed: int, drop: Sequence[str] = ()) -> CorrelationResult:
    """Each row a point."""
    return correlate(points, *_AXES, list(by), drop=list(drop), resamples=_FEW, random_state=seed)


def _stratum(result: CorrelationResult, file: str, by: dict[str, str]) -> CorrelationGroup:
    """A stratum, all points where none is named; where there is none, a sentence that names the file."""
    try:
        return result.group(**by) if by else result.pooled
    except ParameterError as problem:
        cell = ", ".join(f"{name} {value}" for name, value in by.items())
        raise InputError(f"{file}: has no points of {cell}; is it the whole of the released table?") from problem


class _Correlations:
    """Correlations as published, and corrected: a repeated row once, and embeddings drawn and shuffled whole.

    `same_data` is False for preliminary points: what the paper says is about others.
    """

    def __init__(
        self,
        theirs: Points,
        ours: Points,
        by: Sequence[str],
        seed: int,
        drop: tuple[Sequence[str], Sequence[str]],
        *,
        same_data: bool = True,
    ) -> None:
        self.file, self.same_data = theirs.name, same_data
        self.theirs = _as_published(theirs, by, seed, drop[0])
        self.ours = correlate(
            ours, *_AXES, list(by), drop=list(drop[1]), duplicates="drop", unit="Name", random_state=seed
        )

    def r(self, note: str = "", **by: str) -> Recomputed:
        """Pearson's r of a stratum, with the interval of the corrected one."""
        theirs, ours = (_stratum(result, self.file, by) for result in (self.theirs, self.ours))
        estimate = ours.estimate
        counts = f"{theirs.n} points; corrected: {ours.n} points of {ours.units} embeddings{note}"
        method = f"{estimate.method} interval over embeddings" if estimate.low is not None else None
        interval = method or f"no interval: {estimate.reason}"
        return Recomputed(theirs.r, ours.r, estimate.low, estimate.high, f"{counts}; {interval}", self.same_data)

    def p(self, note: str = "", why: str = "", **by: str) -> Recomputed:
        """Its p; `why` it differs stands first."""
        theirs, ours = (_stratum(result, self.file, by) for result in (self.theirs, self.ours))
        shuffled = f"{why}{theirs.n} points; corrected: gaps shuffled over {ours.units} embeddings{note}"
        return Recomputed(theirs.p, ours.p, note=shuffled, same_data=self.same_data)


def baselines(data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
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


def hate_speech(data: Data, seed: int, progress: Progress | None) -> Recomputations:
    """The paper's claims, in the authors' selection of embeddings; corrected: all of them, by file name."""
    points, named = _both_labels(data)

    def by(*columns: str) -> _Correlations:
        return _Correlations(points, named, columns, seed, (_FILTER, _WITHOUT_9))

    rows: Recomputations = {}
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
        rows[f"{start}.p"] = correlations.p(_ORIGINALS, _DIFFERS.get(f"{start}.p", ""), **cell)
    rows["hsd_en.precision.r"] = by("Metric").r(Metric="Precision")
    rows["hsd_en.recall.variance"] = _narrower(points.without(_FILTER[0]).without(_FILTER[1]), named)
    for method in ("postprocess", "preprocess"):
        first, second = (rows[f"hsd_en.recall.{method}.{embedding}.r"] for embedding in ("fasttext", "word2vec"))
        rows[f"hsd_en.recall.{method}.stronger"] = Recomputed(
            _more(first.as_published, second.as_published), _more(first.corrected, second.corrected)
        )
    if progress is not None:
        progress(2, 2)
    return rows


def _narrower(theirs: Points, ours: Points) -> Recomputed:
    """Variance of the recall gap over embeddings, in that of the precision gap: 1 is no narrower."""
    shares = []
    for points in (theirs, ours.without(_WITHOUT_9[0])):
        cells = zip(*(points.texts(name) for name in ("Metric", "Name")), strict=True)
        gaps = dict(zip(cells, points.numbers("Performance Gap").tolist(), strict=True))
        by_metric = {name: [gap for (metric, _), gap in gaps.items() if metric == name] for name in METRICS}
        shares.append(float(np.nanvar(by_metric["Recall"], ddof=1) / np.nanvar(by_metric["Precision"], ddof=1)))
    return Recomputed(shares[0], shares[1], note="each embedding once; corrected: all embeddings")


def _more(first: Number, second: Number) -> float | None:
    """Difference of the absolute values; None where either is undefined."""
    if isinstance(first, int | float) and isinstance(second, int | float):
        return abs(first) - abs(second)
    return None


def unfiltered(data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """Every released point, as labeled; corrected: by file name."""
    points, named = _both_labels(data)
    by_metric, by_method = (
        _Correlations(points, named, by, seed, (_WITHOUT_9, _WITHOUT_9)) for by in (["Metric"], ["Metric", "Method"])
    )
    return {
        "unfiltered.all.r": by_metric.r(),
        **{f"unfiltered.{metric.lower()}.r": by_metric.r(Metric=metric) for metric in METRICS},
        **{
            f"unfiltered.{metric}.{method}.r".lower(): by_method.r(_ORIGINALS, Metric=metric, Method=method)
            for metric, method in product(METRICS, METHODS)
        },
    }


def plots(data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """One correlation for each test, metric and embedding."""
    points = _table(data, "hsd_en")
    by = ["Test", "Metric", "Embedding"]
    correlations = _Correlations(points, points, by, seed, (_WITHOUT_9, _WITHOUT_9))
    return {
        f"figure3.weat{test}.{metric}.{embedding}.p".lower(): correlations.p(
            Test=test, Metric=metric, Embedding=embedding
        )
        for test, metric, embedding in product("678", METRICS, EMBEDDINGS)
    }


def _named(points: Points) -> Points:
    """Points with a name for each embedding: where a cell is empty, its place within metric, test and embedding."""
    names = points.texts("Name")
    if all(name.strip() for name in names):
        return points
    cells = list(zip(*(points.texts(name) for name in ("Metric", "Embedding", "Test")), strict=True))
    seen: Counter[tuple[str, ...]] = Counter()
    gaps: dict[tuple[str, str, int], float] = {}
    at, rows = points.at("Name"), []
    numbers = points.numbers("Performance Gap").tolist()
    for row, cell, gap, line in zip(points.rows, cells, numbers, points.lines, strict=True):
        seen[cell] += 1
        metric, embedding, _ = cell
        if gaps.setdefault((metric, embedding, seen[cell]), gap) != gap:
            raise InputError(
                f"{points.name}, line {line}: embeddings without a Name are told apart by their order within metric, "
                "test and embedding, but this one has another gap than in an earlier test; is it the released table?"
            )
        rows.append((*row[:at], f"{embedding} {seen[cell]}", *row[at + 1 :]))
    return replace(points, rows=tuple(rows))


def coref(data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """The preliminary points; corrected: without the test whose values were pasted, embeddings told apart by order."""
    points = _named(_table(data, "coref"))
    correlations = _Correlations(points, points, ["Metric", "Embedding"], seed, ((), ["Test=8"]), same_data=False)
    without = f", without test 8, whose word2vec values are fastText's; {_PRELIMINARY}"
    rows = {"coref.all.r": correlations.r(without)}
    for metric, embedding in product(METRICS, EMBEDDINGS):
        start = f"coref.{metric}.{embedding}".lower()
        rows[f"{start}.r"] = correlations.r(without, Metric=metric, Embedding=embedding)
        rows[f"{start}.p"] = correlations.p(f", without test 8; {_PRELIMINARY}", Metric=metric, Embedding=embedding)
    return rows


def coref_by_method(data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """Figure 4a, as far as points were released: those of postprocessing, preliminary."""
    points = _named(_table(data, "coref"))
    correlations = _Correlations(points, points, ["Metric"], seed, ((), ["Test=8"]), same_data=False)
    return {
        f"figure4a.{metric.lower()}.postprocess.r": correlations.r(f", without test 8; {_PRELIMINARY}", Metric=metric)
        for metric in METRICS
    }


def _spanish_r(data: Data, seed: int, more: str = "", **cell: str) -> Recomputed:
    """The r of a stratum of the preliminary Spanish points."""
    points = _table(data, "spanish")
    correlations = data.once(("spanish", *cell), lambda: _as_published(points, list(cell), seed))
    group = _stratum(correlations, points.name, cell)
    few = f"{group.n} {_PRELIMINARY}; with so few no correlation can be told from chance{more}"
    return Recomputed(group.r, note=few, same_data=False)


def spanish(data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """The preliminary points, four for each correlation."""
    rows = {}
    for test, metric, embedding in product(("es1", "es2"), METRICS, EMBEDDINGS):
        name = f"spanish.{test}.{metric}.{embedding}.r".lower()
        claim = _SPANISH_SAID.get(name, "")
        rows[name] = _spanish_r(data, seed, claim, Test=test, Metric=metric, Embedding=embedding)
    values = [row.as_published for row in rows.values() if isinstance(row.as_published, float)]
    largest = {"spanish.largest.r": Recomputed(max(values), note=_LARGEST, same_data=False)} if values else {}
    return rows | largest | {f"spanish.{test}.all.r": _spanish_r(data, seed, Test=test) for test in ("es1", "es2")}


def spanish_by_method(data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """Figure 4c, as far as points were released: those of preprocessing, preliminary."""
    return {
        f"figure4c.{metric.lower()}.preprocess.r": _spanish_r(data, seed, Test="es1", Metric=metric)
        for metric in METRICS
    }
