"""How large would each effect be if there were nothing to find? Null simulations of the sizes that were measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from biasgauge.scores import Weat
from biasgauge.uncertainty import simulate_null

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.scores import Association
    from biasgauge.uncertainty.null_result import Share, Spread

SIMULATIONS = 5_000
RANGE = ("0.025", "0.975")
BINS = 60


@dataclass(frozen=True)
class AuditNull:
    """One measured effect beside the effects of data sets without bias and of the same sizes.

    Attributes:
        name: the test.
        model: the vectors.
        sizes: words found in X, Y, A and B.
        observed: the effect size measured.
        low: 2.5 % of the simulated effects are below this.
        high: 2.5 % are above this.
        share: share of the simulated effects at least as far from 0.
        share_low: lower end of its exact 95 % interval.
        share_high: upper end.
        edges: edges of the bins of a histogram of the simulated effects.
        counts: how many lie in each.
    """

    name: str
    model: str
    sizes: tuple[int, int, int, int]
    observed: float
    low: float
    high: float
    share: float
    share_low: float | None
    share_high: float | None
    edges: tuple[float, ...]
    counts: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return {**vars(self), "sizes": list(self.sizes), "edges": list(self.edges), "counts": list(self.counts)}


def measure_nulls(bias: Sequence[Association], *, random_state: int) -> tuple[AuditNull, ...]:
    """Simulate independent similarities for every WEAT that has a value."""
    return tuple(_null(one, random_state) for one in bias if isinstance(one, Weat) and one.effect_size is not None)


def _null(one: Weat, random_state: int) -> AuditNull:
    observed = one.effect_size or 0.0
    x, y, a, b = (len(one.coverage.sets[role].words) for role in "xyab")
    found = simulate_null(
        n_x=x,
        n_y=y,
        n_a=a,
        n_b=b,
        observed=observed,
        simulations=SIMULATIONS,
        permutations=0,
        random_state=random_state,
    )
    effects = cast("Spread", found.corrected)  # of WEAT there is one
    share = cast("Share", next(part.two_sided for part in found.comparisons if part.of == "effect size"))
    counts, edges = effects.histogram(BINS)
    low, high = (cast("float", effects.quantiles[level]) for level in RANGE)
    return AuditNull(
        name=one.name,
        model=one.model,
        sizes=(x, y, a, b),
        observed=observed,
        low=low,
        high=high,
        share=share.value,
        share_low=share.interval.low,
        share_high=share.interval.high,
        edges=tuple(edges.tolist()),
        counts=tuple(int(number) for number in counts),
    )
