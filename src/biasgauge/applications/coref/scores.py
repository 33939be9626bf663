"""Scores of coreference: MUC, B³, CEAFφ4 and their mean, the CoNLL F1, with intervals over documents.

Sources: Vilain et al. 1995 (MUC), Bagga & Baldwin 1998 (B³), Luo 2005 (CEAF), with mentions that one side lacks treated
as in Pradhan et al. 2014 ("Scoring coreference partitions of predicted mentions"): they count in the denominators and
match nothing. Over several documents numerators and denominators are summed, then divided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.applications.coref.document import Clusters, Document, Span, each_span_once
from biasgauge.core import Floats, Integers, JsonObject, LabeledEstimate
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, counted
from biasgauge.stats import BootstrapMethod, bootstrap_settings, estimates_of_sums

if TYPE_CHECKING:
    from biasgauge.applications.coref.model import CorefModel

METRICS = ("muc", "b_cubed", "ceaf_e", "mentions")
"""Rows of a table of sums; "mentions" is the detection of mentions themselves."""
SUMS = ("recall_hits", "recall_of", "precision_hits", "precision_of")
"""Columns of a table of sums: numerators and denominators."""
RATES = ("precision", "recall", "f1")
CONLL = "conll"
"""The mean of MUC, B³ and CEAFφ4."""
_UNDEFINED = {
    "precision": "no mention was found in any document",
    "recall": "no document has a mention to find",
    "f1": "no document has a mention, and none was found",
}


@dataclass(frozen=True, kw_only=True)
class CorefScore(LabeledEstimate):
    """One rate over all documents, from 0 (nothing correct) to 1 (everything), with its interval over documents.

    Attributes:
        metric: "muc", "b_cubed", "ceaf_e", "mentions" (detection of mentions), or "conll", the mean of the first three.
        rate: "precision", "recall" or "f1".
    """

    metric: str
    rate: str


@dataclass(frozen=True, repr=False)
class CorefScores(Result):
    """Agreement of predicted clusters with those of a corpus.

    Attributes:
        scores: one for each metric and rate.
        documents: how many were compared.
        clusters, found_clusters: number of gold and of predicted clusters.
        settings: arguments of `score_coref`.
    """

    tables: ClassVar[tuple[str, ...]] = ("scores",)

    scores: tuple[CorefScore, ...]
    documents: int
    clusters: int
    found_clusters: int
    settings: JsonObject

    def score(self, metric: str = CONLL, rate: str = "f1") -> CorefScore:
        """Find one score.

        Raises:
            ParameterError: there is none of that name.
        """
        score = next((score for score in self.scores if (score.metric, score.rate) == (metric, rate)), None)
        if score is None:
            raise ParameterError(
                f"A score of coreference is one of {', '.join((*METRICS, CONLL))} and one of {', '.join(RATES)}. "
                f"Got {metric!r} and {rate!r}."
            )
        return score

    @property
    def conll_f1(self) -> float | None:
        """Mean of the F1 of MUC, B³ and CEAFφ4; None when undefined."""
        return self.score().value

    def summary(self) -> Summary:
        """CoNLL F1, and every rate."""
        score = self.score()
        value = f"undefined: {score.reason}" if score.value is None else f"{score.value:.3f}"
        rows = [(metric, *(self.score(metric, rate) for rate in RATES)) for metric in (*METRICS, CONLL)]
        columns = ["metric", *(Column(rate, "estimate", 3) for rate in RATES)]
        return Summary(
            title="Coreference",
            headline=f"CoNLL F1 on {counted(self.documents, 'document')}: {value}.",
            tables=(Table.of("scores", "Rates, with intervals over documents", columns, rows),),
        )


def evaluate_coref(model: CorefModel, documents: Iterable[Document], **settings: Any) -> CorefScores:  # noqa: ANN401 - as below
    """Score the clusters that a model predicts for some documents. Other arguments as in `score_coref`."""
    texts = list(documents)
    return score_coref(texts, model.predict(texts), **settings)


def score_coref(
    documents: Sequence[Document],
    found: Sequence[Document],
    *,
    singletons: bool = False,
    interval: BootstrapMethod = "percentile",
    level: float = 0.95,
    resamples: int = 2_000,
    random_state: int = 0,
) -> CorefScores:
    """Agreement of the clusters of `found` with those of `documents`, the same texts.

    Args:
        documents: with gold clusters.
        found: with predicted clusters.
        singletons: count entities mentioned once, on either side; OntoNotes has none, and no model of `train_coref`
            predicts any.
        interval: "percentile" or "bca", documents drawn again.
        level: nominal coverage of intervals.
        resamples: bootstrap samples.
        random_state: seed.

    Raises:
        ParameterError: there is no document, or the texts differ.
    """
    resampling = bootstrap_settings(
        "score_coref", method=interval, level=level, resamples=resamples, random_state=random_state
    )
    if not documents or [document.words for document in documents] != [document.words for document in found]:
        raise ParameterError(
            f"Documents and what was found in them must be the same texts in the same order, at least one. Got "
            f"{len(documents)} and {len(found)}."
        )
    gold, predicted = (
        [(document if singletons else document.without_singletons()).clusters for document in side]
        for side in (documents, found)
    )
    names = [(metric, rate) for metric in (*METRICS, CONLL) for rate in RATES]
    reasons = [_UNDEFINED[rate] for _, rate in names]
    estimates = estimates_of_sums(all_sums(gold, predicted), _all_rates, resampling, "documents", reasons)
    scores = tuple(
        CorefScore.of_estimate(estimate, metric=metric, rate=rate, n=len(documents))
        for (metric, rate), estimate in zip(names, estimates, strict=True)
    )
    settings = {"singletons": singletons, **resampling.to_settings()}
    return CorefScores(scores, len(documents), sum(map(len, gold)), sum(map(len, predicted)), settings)


def _all_rates(sums: Floats) -> Floats:
    """Rates of each metric, then of their mean (last axis)."""
    return np.concatenate([rates(sums).reshape(*sums.shape[:-2], -1), conll_rates(sums)], axis=-1)


def shared_mentions(gold: Clusters, predicted: Clusters) -> tuple[Integers, Integers, Integers]:
    """(gold × predicted) numbers of spans in both; sizes of gold clusters; sizes of predicted clusters."""
    gold_row: dict[Span, int] = {span: row for row, cluster in enumerate(gold) for span in cluster}
    pairs = [(gold_row[span], column) for column, spans in enumerate(predicted) for span in spans if span in gold_row]
    rows, columns = np.array(pairs, np.int64).reshape(-1, 2).T
    shared = np.bincount(rows * len(predicted) + columns, minlength=len(gold) * len(predicted))
    sizes = [np.fromiter(map(len, clusters), np.int64, len(clusters)) for clusters in (gold, predicted)]
    return shared.reshape(len(gold), len(predicted)), sizes[0], sizes[1]


def document_sums(gold: Iterable[Iterable[Span]], predicted: Iterable[Iterable[Span]]) -> Floats:
    """Sums that one document adds: METRICS × SUMS. A repeated span counts where it comes first."""
    from scipy.optimize import linear_sum_assignment

    key, response = (each_span_once(clusters)[0] for clusters in (gold, predicted))
    shared, sizes, predicted_sizes = shared_mentions(key, response)
    total = float(shared.sum())
    # CEAF: largest total of φ4 = 2 |common| / (|gold| + |predicted|) when each cluster has at most one partner
    phi = 2 * shared / (sizes[:, None] + predicted_sizes[None, :])
    similarity = float(phi[linear_sum_assignment(phi, maximize=True)].sum())
    return np.array(
        [
            [*_muc(shared, sizes), *_muc(shared.T, predicted_sizes)],
            [*_b_cubed(shared, sizes), *_b_cubed(shared.T, predicted_sizes)],
            [similarity, len(sizes), similarity, len(predicted_sizes)],
            [total, sizes.sum(), total, predicted_sizes.sum()],
        ],
        np.float64,
    )


def _muc(shared: Integers, sizes: Integers) -> tuple[float, float]:
    """Σ (|S| − |p(S)|) and Σ (|S| − 1): |p(S)| is the number of pieces into which the other side cuts a cluster S."""
    pieces = np.count_nonzero(shared, axis=1) + sizes - shared.sum(axis=1)
    return float((sizes - pieces).sum()), float((sizes - 1).sum())


def _b_cubed(shared: Integers, sizes: Integers) -> tuple[float, float]:
    """Σ over pairs of clusters of |common|² / |S|, and the number of mentions."""
    return float(((shared**2).sum(axis=1) / sizes).sum()), float(sizes.sum())


def rates(sums: Floats) -> Floats:
    """Precision, recall and F1 (last axis) from sums of the shape (…, metric, SUMS); NaN where undefined.

    Precision is undefined when nothing was predicted, recall when there is nothing to find, F1 when both are; when one
    is, nothing matches and F1 is 0.
    """
    recall_hits, recall_of, precision_hits, precision_of = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall = precision_hits / precision_of, recall_hits / recall_of
        f1 = np.where(precision + recall > 0, 2 * precision * recall / (precision + recall), 0.0)
    f1 = np.where((precision_of == 0) & (recall_of == 0), np.nan, f1)
    return np.stack([precision, recall, f1], axis=-1)


def conll_rates(sums: Floats) -> Floats:
    """Means of MUC, B³ and CEAFφ4 (last axis: precision, recall, F1) from sums of the shape (…, METRICS, SUMS)."""
    means: Floats = rates(sums[..., :3, :]).mean(axis=-2)
    return means


def all_sums(gold: Sequence[Clusters], predicted: Sequence[Clusters]) -> Floats:
    """Sums by document: documents × METRICS × SUMS."""
    tables = [document_sums(*pair) for pair in zip(gold, predicted, strict=True)]
    return np.array(tables).reshape(-1, len(METRICS), len(SUMS))
