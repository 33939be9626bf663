"""Does a concept's bias survive another training run? The same test over all replicates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from biasgauge.core import JsonMapping, JsonObject, Record
from biasgauge.scores import Association
from biasgauge.stats import mean_estimate

LEVEL = 0.95
NO_BIAS = {"weat": 0.0, "mac": 1.0}


@dataclass(frozen=True)
class ReplicateSpread(Record):
    """One test over models that differ by seed or sample.

    Attributes:
        name, test: which test.
        models: on how many models it is defined.
        mean: mean of its values over models; None when fewer than two models have one.
        sd: their standard deviation (n - 1): what another seed does to the number.
        low, high: Student's t interval of the mean over models, 95 %.
        least, most: the smallest and the largest value.
        agree: how many models lie on the same side of "no bias" as the mean does.
        reason: why there is no mean.
    """

    name: str
    test: str
    models: int
    mean: float | None = None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    least: float | None = None
    most: float | None = None
    agree: int | None = None
    reason: str | None = None

    @classmethod
    def of(cls, name: str, test: str, found: Sequence[Association]) -> ReplicateSpread:
        """Gather one test's values over models."""
        values = np.array([row.value for row in found if row.value is not None])
        if len(values) < 2:
            why = next((row.reason for row in found if row.reason), None)
            return cls(name, test, len(values), reason=why or "fewer than two models have a value")
        around = mean_estimate(values, level=LEVEL)
        mean = float(values.mean())
        middle = NO_BIAS[test]
        return cls(
            name,
            test,
            len(values),
            mean=mean,
            sd=float(values.std(ddof=1)),
            low=around.low,
            high=around.high,
            least=float(values.min()),
            most=float(values.max()),
            agree=int((np.sign(values - middle) == np.sign(mean - middle)).sum()),
        )

    def to_dict(self) -> JsonObject:
        """As it stands in `--json`."""
        interval = {"low": self.low, "high": self.high, "level": LEVEL, "method": "t over models"}
        numbers = {name: getattr(self, name) for name in ("models", "mean", "sd", "least", "most", "agree")}
        why = {"reason": self.reason} if self.reason else {}
        return {"name": self.name, "test": self.test, **numbers, "interval": interval, **why}

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """From what `to_dict` gave."""
        return super().from_dict({**content, **{end: content["interval"][end] for end in ("low", "high")}})


def spread_of(found: Iterable[Association]) -> tuple[ReplicateSpread, ...]:
    """Gather the tests of several models, in the order in which they first occur."""
    tests: dict[tuple[str, str], list[Association]] = {}
    for row in found:
        tests.setdefault((row.name, row.test), []).append(row)
    return tuple(ReplicateSpread.of(name, test, values) for (name, test), values in tests.items())
