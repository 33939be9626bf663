"""Which conclusions about gender flip when a reasonable choice changes: base pair, measure, form of the words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasgauge.errors import InputError
from biasgauge.lexicons import pairs_of
from biasgauge.robustness import flips, neutral, robustness

if TYPE_CHECKING:
    from biasgauge.embeddings import Embedding
    from biasgauge.robustness import Flips, RobustnessResult

PAIRS = "zhang2020"
FREQUENT = 10_000
"""Frequent words whose scores give the standard deviation that makes a change relevant; more of them take seconds."""
FORMS = ("plural",)


@dataclass(frozen=True, eq=False)
class AuditRobustness:
    """What survives other choices, or why that is not known.

    Attributes:
        model: name of the model.
        found: agreement over base pairs, forms and measures.
        flips: which conclusions change with one choice.
        reason: why nothing was measured.
    """

    model: str
    found: RobustnessResult | None = None
    flips: Flips | None = None
    reason: str | None = None

    @property
    def headlines(self) -> tuple[str, ...]:
        """What it comes to, in sentences."""
        if self.flips is None:
            return (f"Not known: {self.reason}.",)
        return self.flips.headlines

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        if self.found is None or self.flips is None:
            empty: dict[str, Any] = {"base_pairs": [], "word_forms": [], "correspondence": [], "between_measures": []}
            return {"model": self.model, **empty, "flips": [], "reason": self.reason}
        return {"model": self.model, **self.found.to_dict(), **self.flips.to_dict()}


def measure_robustness(model: Embedding, *, language: str, random_state: int) -> AuditRobustness:
    """Change pair, measure and form for the gender pairs of Zhang et al. 2020; they are English."""
    if language != "en":
        return AuditRobustness(
            model.name, reason=f"the shipped pairs of {PAIRS} are English; use biasgauge robustness with your own"
        )
    try:
        pool = neutral(model, pairs_of(PAIRS).pairs) or None
        turned = flips(model, pairs=PAIRS, pool=pool)
        found = robustness(
            model, pairs=PAIRS, pool=pool, forms=FORMS, pair_forms=(), frequent=FREQUENT, random_state=random_state
        )
    except InputError as problem:
        return AuditRobustness(model.name, reason=str(problem).rstrip("."))
    return AuditRobustness(model.name, found, turned)
