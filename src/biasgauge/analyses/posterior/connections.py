"""Posterior means of connections and their differences: of the groups, and of each protected word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from biasgauge.analyses.posterior.estimates import PosteriorMean, posterior_means
from biasgauge.core import JsonMapping, JsonObject
from biasgauge.results import Column
from biasgauge.stats import Credible, Equivalence, decide_equivalence

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.analyses.posterior.draws import Draws

GROUP = "*"
"""Stands in the column of words where a row is about the whole group."""
MEAN = Column("mean [{level} {method}]", "estimate", 3, source=".")
P_DIRECTION = Column("p(direction)", "number", 3, source="p_direction")


@dataclass(frozen=True, kw_only=True)
class MeanDistance(PosteriorMean):
    """Posterior of one mean cosine distance; 1 means unrelated, less means closer.

    Attributes:
        connection: of which connection.
    """

    connection: str

    def to_dict(self) -> JsonObject:
        """Return the JSON object of `--json`; the word only where there is one."""
        return {name: value for name, value in super().to_dict().items() if name != "word" or value is not None}


@dataclass(frozen=True, kw_only=True)
class ConnectionContrast(PosteriorMean):
    """Posterior of the difference between two connections: a less b; negative when words of connection a are closer.

    Attributes:
        a: the first connection.
        b: the second.
        p_direction: probability that the difference has the sign of its median, in [.5, 1]; .5 says nothing.
        p_equivalent: probability that the difference is no larger than `rope` either way.
        rope: half-width of the region of practical equivalence.
    """

    a: str
    b: str
    p_direction: float | None = None
    p_equivalent: float | None = None
    rope: float

    @property
    def decision(self) -> Equivalence | None:
        """Decision by the interval and the region of practical equivalence; None when undefined."""
        return decide_equivalence(self.low, self.high, self.rope)

    def derived(self) -> JsonMapping:
        """The decision."""
        return {"decision": self.decision}


@dataclass(frozen=True, kw_only=True)
class Change(PosteriorMean):
    """Posterior of the change of one mean distance, after less before; positive when distances grew.

    Attributes:
        connection: of which connection.
        p_direction: probability that the change has the sign of its median, in [.5, 1].
        p_equivalent: probability that it is no larger than the region of practical equivalence either way.
    """

    connection: str
    p_direction: float | None = None
    p_equivalent: float | None = None


_Labeled = TypeVar("_Labeled", MeanDistance, Change)


def contrasts(draws: Draws, words: Sequence[str], credible: Credible, rope: float) -> tuple[ConnectionContrast, ...]:
    """Every pair of connections: of the groups, then of each word that both have."""
    column = {label: at for at, label in enumerate(draws.labels(words))}
    means = np.concatenate([draws.group, draws.word], axis=1)
    labels = [
        (a, b, word)
        for word_or_group in ((None,), words)
        for a, b in combinations(draws.connections, 2)
        for word in word_or_group
        if (a, word) in column and (b, word) in column
    ]
    if not labels:
        return ()
    differences = [means[:, column[a, word]] - means[:, column[b, word]] for a, b, word in labels]
    rows = zip(labels, posterior_means(np.stack(differences, 1), credible, rope), strict=True)
    return tuple(ConnectionContrast(a=a, b=b, word=word, rope=rope, **numbers) for (a, b, word), numbers in rows)


def labeled_means(
    kind: type[_Labeled],
    draws: Draws,
    words: Sequence[str],
    credible: Credible,
    undefined: Mapping[str, str],
    rope: float | None = None,
) -> list[_Labeled]:
    """Posterior means of the groups, then of the words, then connections that have none with the reason."""
    numbers = posterior_means(np.concatenate([draws.group, draws.word], axis=1), credible, rope)
    labels = zip(draws.labels(words), numbers, strict=True)
    rows = [kind(connection=name, word=word, **estimate) for (name, word), estimate in labels]
    interval: Any = {"level": credible.prob, "method": credible.kind}
    return rows + [kind(connection=name, value=None, reason=why, **interval) for name, why in undefined.items()]


def means_frame(rows: Sequence[PosteriorMean], caution: str = "") -> pd.DataFrame:
    """Posterior means, a row each; the column of cautions only where there is one."""
    import pandas as pd

    frame = pd.DataFrame([{**PosteriorMean.to_dict(row), "word": row.word or GROUP} for row in rows])
    return frame.assign(caution=caution) if caution else frame
