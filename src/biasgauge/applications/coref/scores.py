"""`evaluate_coref` and `score_coref`: how well clusters agree with those of a corpus, with intervals over documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from biasgauge.applications.coref.document import Document
from biasgauge.applications.coref.metrics import METRICS, RATES, all_sums, conll_rates, rates
from biasgauge.applications.coref.model import CorefModel
from biasgauge.core import Floats, JsonObject, LabeledEstimate
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, counted
from biasgauge.stats import BootstrapMethod, bootstrap_settings, estimates_of_sums

CONLL = "conll"
"""The mean of MUC, B³ and CEAFφ4."""
_UNDEFINED = {
    "precision": "no mention was found in any document",
    "recall": "no document has a mention to find",
    "f1": "no document has a mention, and none was found",
}


@dataclass(frozen=True, kw_only=True)
class CorefScore(LabeledEstimate):
    """One rate over all documents, from 0 (nothing right) to 1 (everything), with its interval over documents.

    Attributes:
        metric: "muc", "b_cubed", "ceaf_e", "mentions" (are the mentions themselves found?), or "conll", the mean of the
            first three.
        rate: "precision", "recall" or "f1".
    """

    metric: str
    rate: str


@dataclass(frozen=True, repr=False)
class CorefScores(Result):
    """How well clusters agree with those of a corpus.

    Attributes:
        scores: one for each metric and rate.
        documents: how many were compared.
        clusters, found_clusters: how many there are, and how many were found.
        settings: what was asked for.
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
        told = f"undefined: {score.reason}" if score.value is None else f"{score.value:.3f}"
        rows = [(metric, *(self.score(metric, rate) for rate in RATES)) for metric in (*METRICS, CONLL)]
        columns = ["metric", *(Column(rate, "estimate", 3) for rate in RATES)]
        return Summary(
            title="Coreference",
            headline=f"CoNLL F1 on {counted(self.documents, 'document')}: {told}.",
            tables=(Table.of("scores", "Rates, with intervals over documents", columns, rows),),
        )


def evaluate_coref(model: CorefModel, documents: Iterable[Document], **how: Any) -> CorefScores:  # noqa: ANN401 - as below
    """How well a model finds the clusters of some documents. Other arguments as in `score_coref`."""
    texts = list(documents)
    return score_coref(texts, model.predict(texts), **how)


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
    """How well the clusters of `found` agree with those of `documents`, the same texts.

    Args:
        documents: with the clusters that are right.
        found: with those that were found.
        singletons: whether things mentioned once count, on either side; they do not in OntoNotes, and no model of
            `train_coref` finds them.
        interval: "percentile" or "bca", documents drawn again.
        level: nominal coverage of intervals.
        resamples: how many times.
        random_state: seed.

    Raises:
        ParameterError: there is no document, or the texts differ.
    """
    how = bootstrap_settings(
        "score_coref", method=interval, level=level, resamples=resamples, random_state=random_state
    )
    if not documents or [document.words for document in documents] != [document.words for document in found]:
        raise ParameterError(
            f"Documents and what was found in them must be the same texts in the same order, at least one. Got "
            f"{len(documents)} and {len(found)}."
        )
    key, response = (
        [(document if singletons else document.without_singletons()).clusters for document in side]
        for side in (documents, found)
    )
    names = [(metric, rate) for metric in (*METRICS, CONLL) for rate in RATES]
    reasons = [_UNDEFINED[rate] for _, rate in names]
    estimates = estimates_of_sums(all_sums(key, response), _values, how, "documents", reasons)
    scores = tuple(
        CorefScore.of_estimate(estimate, metric=metric, rate=rate, n=len(documents))
        for (metric, rate), estimate in zip(names, estimates, strict=True)
    )
    settings = {"singletons": singletons, **how.to_settings()}
    return CorefScores(scores, len(documents), sum(map(len, key)), sum(map(len, response)), settings)


def _values(sums: Floats) -> Floats:
    """Rates of each metric, then of their mean (last axis)."""
    return np.concatenate([rates(sums).reshape(*sums.shape[:-2], -1), conll_rates(sums)], axis=-1)
