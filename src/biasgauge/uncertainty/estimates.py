"""What is read off the draws: means with intervals, and differences between connections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.stats.credible import Credible
from biasgauge.stats.equivalence import Equivalence, decide_equivalence
from biasgauge.uncertainty.draws import Draws


@dataclass(frozen=True)
class Estimate:
    """Posterior of one mean distance.

    Attributes:
        connection: of which connection.
        word: of which protected word; None for the group.
        mean: posterior mean of the mean cosine distance; 1 means unrelated, less means closer. None when undefined.
        low: lower end of the interval.
        high: upper end.
        sd: posterior standard deviation.
        reason: why it is undefined; None when it is not.
    """

    connection: str
    word: str | None
    mean: float | None
    low: float | None
    high: float | None
    sd: float | None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`; the word only where there is one, the reason only where it is needed."""
        shape: dict[str, Any] = {"connection": self.connection}
        if self.word is not None:
            shape["word"] = self.word
        shape |= {"mean": self.mean, "low": self.low, "high": self.high, "sd": self.sd}
        return shape if self.reason is None else {**shape, "reason": self.reason}


@dataclass(frozen=True)
class Contrast:
    """Posterior of the difference between two connections: a less b.

    Attributes:
        a: the first connection.
        b: the second.
        word: of which protected word; None for the groups.
        mean: posterior mean of a − b; negative when words of connection a are closer. None when undefined.
        low: lower end of the interval.
        high: upper end.
        sd: posterior standard deviation.
        p_direction: probability that the difference has the sign of its median, in [.5, 1]; .5 says nothing.
        p_equivalent: probability that the difference is no larger than `rope` either way.
        rope: half-width of the region of practical equivalence.
        reason: why it is undefined; None when it is not.
    """

    a: str
    b: str
    word: str | None
    mean: float | None
    low: float | None
    high: float | None
    sd: float | None
    p_direction: float | None
    p_equivalent: float | None
    rope: float
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        shape = {key: value for key, value in vars(self).items() if key != "reason"}
        shape["decision"] = self.decision
        return shape if self.reason is None else {**shape, "reason": self.reason}

    @property
    def decision(self) -> Equivalence | None:
        """What the interval says of the region of practical equivalence; None when undefined."""
        return decide_equivalence(self.low, self.high, self.rope)


def estimates(draws: Floats, labels: Sequence[tuple[str, str | None]], credible: Credible) -> tuple[Estimate, ...]:
    """One estimate for each column of draws."""
    if not labels:
        return ()
    low, high = credible.ends(draws)
    mean, sd = draws.mean(axis=0), draws.std(axis=0, ddof=1)
    return tuple(
        Estimate(connection, word, float(mean[at]), float(low[at]), float(high[at]), float(sd[at]))
        for at, (connection, word) in enumerate(labels)
    )


def contrasts(draws: Draws, words: Sequence[str], credible: Credible, rope: float) -> tuple[Contrast, ...]:
    """Every pair of connections: of the groups, then of each word that both have."""
    labels: list[tuple[str, str, str | None]] = []
    columns: list[Floats] = []
    pairs = list(combinations(range(len(draws.connections)), 2))
    for first, second in pairs:
        labels.append((draws.connections[first], draws.connections[second], None))
        columns.append(draws.group[:, first] - draws.group[:, second])
    cells = {
        (int(connection), int(word)): at
        for at, (connection, word) in enumerate(zip(draws.cell_connection, draws.cell_word, strict=True))
    }
    for first, second in pairs:
        for place, word in enumerate(words):
            if (first, place) in cells and (second, place) in cells:
                labels.append((draws.connections[first], draws.connections[second], word))
                columns.append(draws.word[:, cells[first, place]] - draws.word[:, cells[second, place]])
    if not labels:
        return ()
    return tuple(
        Contrast(a=a, b=b, word=word, rope=rope, **numbers)  # type: ignore[arg-type]  # numbers hold no word
        for (a, b, word), numbers in zip(labels, differences(np.stack(columns, 1), credible, rope), strict=True)
    )


def differences(draws: Floats, credible: Credible, rope: float) -> list[dict[str, float]]:
    """Mean, interval and probabilities of each column of differences."""
    low, high = credible.ends(draws)
    above = (draws > 0).mean(axis=0)
    below = (draws < 0).mean(axis=0)
    near = (np.abs(draws) <= rope).mean(axis=0)
    parts = {
        "mean": draws.mean(axis=0),
        "low": low,
        "high": high,
        "sd": draws.std(axis=0, ddof=1),
        "p_direction": np.maximum(above, below),
        "p_equivalent": near,
    }
    return [{name: float(values[at]) for name, values in parts.items()} for at in range(draws.shape[1])]


def undefined_estimates(reasons: Mapping[str, str]) -> tuple[Estimate, ...]:
    """An estimate without numbers for each connection that has a reason."""
    return tuple(Estimate(name, None, None, None, None, None, reason) for name, reason in reasons.items())
