"""`check_influence`: retraining without documents, to test the influence that counts predict."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from biasgauge.analyses.calibrate.influence_documents import Influence
from biasgauge.analyses.corpus_bias import QueryCounts
from biasgauge.core import Estimate, Floats, Integers, JsonMapping, Record, check_number, check_whole, cosines
from biasgauge.errors import ParameterError
from biasgauge.results import AltairChart, Chart, Column, RecordTable, Result, altair
from biasgauge.stats import correlation_estimate, mean_estimate
from biasgauge.text import TokenCorpus
from biasgauge.vectors import Embedding


@dataclass(frozen=True)
class RemovalCheck(Record):
    """One set of documents taken out.

    Attributes:
        kind: "random", or "top": the most influential ones.
        documents: number of documents.
        predicted: change of the log odds, counted exactly.
        actual: change of the score in vectors, mean over random seeds; None where a word has no vector left.
        sd: over random seeds.
    """

    kind: str
    documents: int
    predicted: float
    actual: float | None
    sd: float | None


@dataclass(frozen=True, eq=False, repr=False)
class InfluenceCheck(Result):
    """Change of vectors against the change that counts predict when documents are taken out.

    The score of a word is its mean cosine with A less that with B, averaged over words as the log odds are.

    Attributes:
        removals: each set of documents that was taken out.
        r: Pearson's correlation of predicted with actual change over random removals, with Fisher's interval.
        score: of the vectors with all documents, mean over random seeds.
        top: change of that score without the most influential documents, with Student's interval over random seeds.
        number: name of the estimate.
        settings: everything that decides the result.
    """

    tables: ClassVar[tuple[str, ...]] = ("removals",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("removals", "", (
            Column("documents taken out", source="kind"), Column("how many", "count", source="documents"),
            Column("predicted, log odds", "number", 3, source="predicted"),
            Column("actual, score", "number", 4, source="actual"), Column("sd over seeds", "number", 4, source="sd"),
        )),
    )  # fmt: skip

    removals: tuple[RemovalCheck, ...]
    r: Estimate
    score: Estimate
    top: Estimate
    number: str
    settings: JsonMapping

    def _title(self) -> str:
        return "Influence of documents on vectors"

    def _headline(self) -> str:
        text = self.r.reason if self.r.value is None else str(self.r)
        return f"{self.number}: predicted with actual change over random removals: {text}"

    def _sentences(self) -> tuple[str, ...]:
        change = f"without those that carry the most it changes by {self.top}"
        return (f"Score with all documents {self.score}; {change}.",)

    def _charts(self) -> tuple[Chart, ...]:
        def draw() -> AltairChart:
            import pandas as pd

            alt = altair()
            frame = pd.DataFrame([row.to_dict() for row in self.removals if row.actual is not None])
            x = alt.X("predicted:Q", title="predicted change of log odds")
            y = alt.Y("actual:Q", title="actual change of score")
            return alt.Chart(frame).mark_circle(size=60).encode(x=x, y=y, color=alt.Color("kind:N", title=None))

        return (Chart("check", "Predicted against actual change", "Each dot is a set of documents taken out.", draw),)


def check_influence(
    result: Influence,
    corpus: TokenCorpus,
    *,
    removals: int = 12,
    share: float = 0.5,
    seeds: int = 2,
    algorithm: str = "sgns",
    level: float = 0.95,
    out: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,  # noqa: ANN401 - of `train`
) -> InfluenceCheck:
    """Take documents out, train again, and compare the change of the vectors with that of the counts.

    Random removals draw from the documents in which a target word stands near either group, some of them more from
    those that carry the association, some more from those that oppose it, so that predicted changes differ. One more
    removal takes out as many of the most influential ones.

    Args:
        result: of `influence`, on this corpus.
        corpus: the corpus itself.
        removals: number of random sets of documents that are taken out.
        share: of those documents that each set has.
        seeds: random seeds; each set is trained with each, and compared with the model of the same seed on all text.
        algorithm: as in `train`.
        level: nominal coverage of the intervals.
        out: folder for the models, kept; None: a temporary one.
        n_jobs: models at a time.
        random_state: seed of the removals, and first seed of the models.
        progress: called with (done, total) models.
        settings: further settings of `train`: dim, epochs, window, min_count, …

    Raises:
        ParameterError: an argument cannot be used.
    """
    from biasgauge.text.training import train

    check_whole(3, removals=removals)
    check_whole(1, seeds=seeds)
    check_number(0, 1, ends=False, share=share)
    if result.counted is None or result.settings["corpus"] != corpus.checksum:
        raise ParameterError("check_influence needs the result of influence on this very corpus.")
    counted = result.counted
    carriers = counted.counts.pool([row for rows in counted.rows(result.sides) for row in rows]).documents
    size = max(1, round(share * len(carriers)))
    if len(carriers) < 4:
        raise ParameterError(f"Only {len(carriers)} documents have the words near a group: too few to take some out.")
    sign = 1.0 if (result.value.value or 0.0) >= 0 else -1.0
    top = carriers[np.lexsort((carriers, sign * result.changes[carriers]))][:size]
    removed = [*_random_sets(result.changes[carriers], carriers, size, removals, random_state), top]
    texts = [corpus, *(without_documents(corpus, documents) for documents in removed)]
    scores = np.empty((len(texts), seeds))
    with ExitStack() as stack:
        folder = Path(out) if out is not None else Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for number, text in enumerate(texts):
            models = train(
                text, out=folder, algorithm=algorithm, seeds=seeds, random_state=random_state, n_jobs=n_jobs, **settings
            )
            scores[number] = [_score(model, result, counted) for model in models.load()]
            if progress is not None:
                progress(number + 1, len(texts))
    changes = scores[1:] - scores[0]
    predicted = np.array([result.change_without(documents.tolist()) for documents in removed])
    kinds = [*["random"] * removals, "top"]
    rows = []
    for kind, expected, by_seed in zip(kinds, predicted.tolist(), changes, strict=True):
        defined = bool(np.isfinite(by_seed).all())
        sd = float(by_seed.std(ddof=1)) if defined and seeds > 1 else None
        rows.append(RemovalCheck(kind, size, expected, float(by_seed.mean()) if defined else None, sd))
    actual = changes[:-1].mean(axis=1)
    return InfluenceCheck(
        removals=tuple(rows),
        r=replace(correlation_estimate(predicted[:-1], actual, level=level, over="removals"), statistic="r"),
        score=mean_estimate(scores[0][np.isfinite(scores[0])], level=level, over="seeds"),
        top=mean_estimate(changes[-1][np.isfinite(changes[-1])], level=level, over="seeds"),
        number=result.number,
        settings={
            "removals": removals, "share": share, "seeds": seeds, "algorithm": algorithm, "random_state": random_state,
            **settings,
        },
    )  # fmt: skip


def without_documents(corpus: TokenCorpus, documents: Integers | Sequence[int]) -> TokenCorpus:
    """The same text without some documents, in memory."""
    keep = np.ones(len(corpus.documents) - 1, bool)
    keep[np.asarray(documents, np.int64)] = False
    if not keep.any():
        raise ParameterError("Without these documents no text is left.")
    lines_per_document, line_lengths = np.diff(corpus.documents), np.diff(corpus.lines)
    keep_line = np.repeat(keep, lines_per_document)
    tokens = np.asarray(corpus.tokens)[np.repeat(keep_line, line_lengths)]
    lines = np.concatenate([[0], np.cumsum(line_lengths[keep_line])]).astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum(lines_per_document[keep])]).astype(np.int64)
    counts = np.bincount(tokens, minlength=len(corpus.words)).astype(np.int64)
    checksum = hashlib.sha256(corpus.checksum.encode() + np.packbits(keep).tobytes()).hexdigest()
    return replace(corpus, counts=counts, tokens=tokens, lines=lines, documents=bounds, checksum=checksum)


def _random_sets(
    changes: Floats, carriers: Integers, size: int, removals: int, random_state: int
) -> Sequence[Integers]:
    """Sets of documents, drawn with probability ∝ exp(tilt · rank of the change), for tilts from −2 to 2."""
    random = np.random.default_rng([random_state, 7])
    ranks = np.argsort(np.argsort(changes, kind="stable"), kind="stable") / (len(changes) - 1) * 2 - 1  # −1 to 1
    sets = []
    for tilt in random.permutation(np.linspace(-2, 2, removals)):
        weights = np.exp(tilt * ranks)
        sets.append(np.sort(random.choice(carriers, size, replace=False, p=weights / weights.sum())))
    return sets


def _score(model: Embedding, result: Influence, counted: QueryCounts) -> float:
    """Mean cosine with A less that with B over the words, of a contrast X less Y; NaN where a word is lost."""
    fallback = counted.case_fallback
    vectors = np.asarray(model.vectors, np.float64)
    groups = [model.lookup(result.settings[group], case_fallback=fallback).rows for group in ("a", "b")]
    means = []
    for side in result.sides:
        words = model.lookup(list(side), case_fallback=fallback)
        if words.lost or not all(map(len, groups)):
            return float("nan")
        near_a, near_b = (cosines(vectors[words.rows], vectors[rows]).mean() for rows in groups)
        means.append(float(near_a - near_b))
    return means[0] - sum(means[1:])
