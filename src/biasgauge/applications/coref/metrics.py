"""MUC, B³ and CEAFφ4 of coreference, whose mean F1 is the CoNLL F1; all from one table of shared mentions.

Sources: Vilain et al. 1995 (MUC), Bagga & Baldwin 1998 (B³), Luo 2005 (CEAF), with mentions that one side lacks treated
as Pradhan et al. 2014 settled it ("Scoring coreference partitions of predicted mentions"): they count in the
denominators and match nothing. Over several documents numerators and denominators are summed, then divided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from biasgauge.applications.coref.document import Clusters, Span, each_span_once
from biasgauge.core import Floats, Integers

METRICS = ("muc", "b_cubed", "ceaf_e", "mentions")
"""Rows of a table of sums; "mentions" is how well mentions themselves are found."""
SUMS = ("recall_hits", "recall_of", "precision_hits", "precision_of")
"""Columns of a table of sums."""
RATES = ("precision", "recall", "f1")


def shared_mentions(gold: Clusters, found: Clusters) -> tuple[Integers, Integers, Integers]:
    """(gold × found) numbers of spans in both; sizes of gold clusters; sizes of found clusters."""
    place: dict[Span, int] = {span: row for row, cluster in enumerate(gold) for span in cluster}
    pairs = [(place[span], column) for column, cluster in enumerate(found) for span in cluster if span in place]
    rows, columns = np.array(pairs, np.int64).reshape(-1, 2).T
    shared = np.bincount(rows * len(found) + columns, minlength=len(gold) * len(found))
    sizes = [np.fromiter(map(len, clusters), np.int64, len(clusters)) for clusters in (gold, found)]
    return shared.reshape(len(gold), len(found)), sizes[0], sizes[1]


def document_sums(gold: Iterable[Iterable[Span]], found: Iterable[Iterable[Span]]) -> Floats:
    """What one document adds: METRICS × SUMS. A span that comes twice counts where it comes first."""
    key, response = (each_span_once(clusters)[0] for clusters in (gold, found))
    shared, sizes, found_sizes = shared_mentions(key, response)
    total = float(shared.sum())
    similarity = _similarity(shared, sizes, found_sizes)
    return np.array(
        [
            [*_muc(shared, sizes), *_muc(shared.T, found_sizes)],
            [*_b_cubed(shared, sizes), *_b_cubed(shared.T, found_sizes)],
            [similarity, len(sizes), similarity, len(found_sizes)],
            [total, sizes.sum(), total, found_sizes.sum()],
        ],
        np.float64,
    )


def _muc(shared: Integers, sizes: Integers) -> tuple[float, float]:
    """Links kept, and links: a cluster of n needs n − 1; each piece into which the other side cuts it loses one."""
    pieces = np.count_nonzero(shared, axis=1) + sizes - shared.sum(axis=1)
    return float((sizes - pieces).sum()), float((sizes - 1).sum())


def _b_cubed(shared: Integers, sizes: Integers) -> tuple[float, float]:
    """Sum over mentions of the share of their cluster that is with them on the other side, and mentions."""
    return float(((shared**2).sum(axis=1) / sizes).sum()), float(sizes.sum())


def _similarity(shared: Integers, sizes: Integers, found_sizes: Integers) -> float:
    """The best total of φ4 = 2 |common| / (|gold| + |found|) when each cluster has at most one partner."""
    from scipy.optimize import linear_sum_assignment

    similar = 2 * shared / (sizes[:, None] + found_sizes[None, :])
    return float(similar[linear_sum_assignment(similar, maximize=True)].sum())


def rates(sums: Floats) -> Floats:
    """Precision, recall and F1 (last axis) from sums of the shape (…, metric, SUMS); NaN where undefined.

    Precision is undefined when nothing was found, recall when there is nothing to find, F1 when both are; when one is,
    nothing matches and F1 is 0.
    """
    recall_hits, recall_of, precision_hits, precision_of = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall = precision_hits / precision_of, recall_hits / recall_of
        f1 = np.where(precision + recall > 0, 2 * precision * recall / (precision + recall), 0.0)
    f1 = np.where((precision_of == 0) & (recall_of == 0), np.nan, f1)
    return np.stack([precision, recall, f1], axis=-1)


def conll_rates(sums: Floats) -> Floats:
    """Means of MUC, B³ and CEAFφ4 (last axis: precision, recall, F1) from sums of the shape (…, METRICS, SUMS)."""
    found: Floats = rates(sums[..., :3, :]).mean(axis=-2)
    return found


def all_sums(gold: Sequence[Clusters], found: Sequence[Clusters]) -> Floats:
    """Sums by document: documents × METRICS × SUMS."""
    return np.array([document_sums(*both) for both in zip(gold, found, strict=True)]).reshape(
        -1, len(METRICS), len(SUMS)
    )
