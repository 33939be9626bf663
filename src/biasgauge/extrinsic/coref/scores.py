"""`evaluate_coref` and `score_coref`: how well clusters agree with those of a corpus, with intervals over documents."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.errors import ParameterError
from biasgauge.extrinsic.coref.metrics import METRICS, RATES, all_sums, conll_rates, rates
from biasgauge.extrinsic.coref.resampling import bootstrap_sums, interval_of
from biasgauge.extrinsic.draws import Method, bootstrap_settings
from biasgauge.extrinsic.frames import rows_to_frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from biasgauge.extrinsic.coref.document import Document
    from biasgauge.extrinsic.coref.metrics import Floats
    from biasgauge.extrinsic.coref.model import CorefModel
    from biasgauge.scores import Interval

CONLL = "conll"
"""The mean of MUC, B³ and CEAFφ4."""
_UNDEFINED = {
    "precision": "no mention was found in any document",
    "recall": "no document has a mention to find",
    "f1": "no document has a mention, and none was found",
}


@dataclass(frozen=True)
class CorefScore:
    """One rate over all documents.

    Attributes:
        metric: "muc", "b_cubed", "ceaf_e", "mentions" (are the mentions themselves found?), or "conll", the mean of the
            first three.
        rate: "precision", "recall" or "f1".
        value: from 0 (nothing right) to 1 (everything); None when undefined.
        interval: how far it would move with other documents of the same kind.
        reason: why it is undefined.
    """

    metric: str
    rate: str
    value: float | None
    interval: Interval | None
    reason: str | None = None


@dataclass(frozen=True)
class CorefScores:
    """How well clusters agree with those of a corpus.

    Attributes:
        scores: one for each metric and rate.
        documents: how many were compared.
        clusters, found_clusters: how many there are, and how many were found.
        settings: what was asked for.
    """

    scores: tuple[CorefScore, ...]
    documents: int
    clusters: int
    found_clusters: int
    settings: dict[str, Any]

    def score(self, metric: str = CONLL, rate: str = "f1") -> CorefScore:
        """Find one score.

        Raises:
            ParameterError: there is none of that name.
        """
        found = next((one for one in self.scores if (one.metric, one.rate) == (metric, rate)), None)
        if found is None:
            raise ParameterError(
                f"A score of coreference is one of {', '.join((*METRICS, CONLL))} and one of {', '.join(RATES)}. "
                f"Got {metric!r} and {rate!r}."
            )
        return found

    @property
    def conll_f1(self) -> float | None:
        """Mean of the F1 of MUC, B³ and CEAFφ4; None when undefined."""
        return self.score().value

    def to_frame(self) -> pd.DataFrame:
        """One row a score."""
        return rows_to_frame(self.scores)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; undefined numbers are None beside their reason."""
        return asdict(self)

    def _repr_html_(self) -> str:
        return f"<p>{self.documents:,} documents</p>{self.to_frame().to_html(index=False)}"


def evaluate_coref(
    model: CorefModel,
    documents: Iterable[Document],
    *,
    singletons: bool = False,
    **how: Any,  # noqa: ANN401 - as below
) -> CorefScores:
    """How well a model finds the clusters of some documents. Other arguments as in `score_coref`."""
    given = list(documents)
    return score_coref(given, model.predict(given), singletons=singletons, **how)


def score_coref(
    documents: Sequence[Document],
    found: Sequence[Document],
    *,
    singletons: bool = False,
    interval: Method = "percentile",
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
    if not documents or [one.words for one in documents] != [one.words for one in found]:
        raise ParameterError(
            f"Documents and what was found in them must be the same texts in the same order, at least one. Got "
            f"{len(documents)} and {len(found)}."
        )
    key, response = (
        [one.clusters if singletons else one.without_singletons().clusters for one in side]
        for side in (documents, found)
    )
    sums = all_sums(key, response)
    drawn = _values(bootstrap_sums(sums, how))
    totals = sums.sum(axis=0)
    values = _values(totals)
    without = _values(totals - sums)
    scores = []
    for place, metric in enumerate((*METRICS, CONLL)):
        for at, rate in enumerate(RATES):
            value = float(values[place, at])
            if np.isnan(value):
                scores.append(CorefScore(metric, rate, None, None, _UNDEFINED[rate]))
                continue
            around = interval_of(value, drawn[:, place, at], without[:, place, at], how, "documents")
            scores.append(CorefScore(metric, rate, value, around))
    settings = {"singletons": singletons, "interval": interval, "level": level}
    settings |= {"resamples": resamples, "random_state": random_state}
    return CorefScores(tuple(scores), len(documents), sum(map(len, key)), sum(map(len, response)), settings)


def _values(sums: Floats) -> Floats:
    """Rates of each metric and of their mean, (…, METRICS + CONLL, RATES)."""
    found: Floats = np.concatenate([rates(sums), conll_rates(sums)[..., None, :]], axis=-2)
    return found
