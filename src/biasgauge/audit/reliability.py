"""How far the scores of replicates agree with themselves, on the word lists of Du et al. 2021."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biasgauge.errors import InputError
from biasgauge.lexicons import lexicon
from biasgauge.reliability import decision_study, reliability, variance_components
from biasgauge.scores import score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.embeddings import Embedding
    from biasgauge.reliability import DecisionStudy, ReliabilityResult, VarianceComponents

PAIRS = "du2021"
LISTS = ("occ16", "occ18", "adj", "du2021_queries")
MEASURES = ("dbwa", "ripa", "nbm")
FEWEST = 2


@dataclass(frozen=True, eq=False)
class AuditReliability:
    """The reliability of scores on replicates, or why there is none.

    Attributes:
        found: the three reliabilities.
        components: what scores vary with, all measures together.
        design: how many replicates and pairs would be enough.
        reason: why nothing was measured.
    """

    found: ReliabilityResult | None = None
    components: VarianceComponents | None = None
    design: DecisionStudy | None = None
    reason: str | None = None

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What it comes to, in sentences."""
        return () if self.found is None else self.found.verdicts

    @property
    def headlines(self) -> tuple[str, ...]:
        """What matters most: what would be enough, whether scores hold, and whether measures agree."""
        if self.found is None:
            return (f"Not known: {self.reason}.",)
        aside = ("Over the pairs", "Singular pairs")
        others = [one.name for one in self.found.lists[1:]]
        kept = [
            one for one in self.verdicts if not one.startswith(aside) and not any(f" {name}" in one for name in others)
        ]
        return (*(self.design.sentences() if self.design else ()), *kept)

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        if self.found is None:
            return {"test_retest": [], "inter_rater": [], "internal": [], "reason": self.reason}
        content = self.found.to_dict()
        content["components"] = None if self.components is None else self.components.to_dict()
        content["design"] = None if self.design is None else self.design.to_dict()
        return {**content, **({"reason": self.reason} if self.reason else {})}


def measure_reliability(models: Sequence[Embedding], *, language: str, random_state: int) -> AuditReliability:
    """Score the lists of Du et al. 2021 on all models, and see whether the scores hold.

    The pairs and lists are English; for another language there is a reason instead.
    """
    if len(models) < FEWEST:
        return AuditReliability(
            reason="one model cannot say whether its numbers hold: train replicates (biasgauge train --seeds 8)"
        )
    if language != "en":
        return AuditReliability(reason=f"the shipped pairs of {PAIRS} are English; use biasgauge reliability")
    words = list(dict.fromkeys(word for name in LISTS for word in lexicon(name).words))
    try:
        scores = score(list(models), pairs=PAIRS, words=words, measures=list(MEASURES))
        found = reliability(scores, random_state=random_state)
    except InputError as problem:
        return AuditReliability(reason=str(problem))
    try:
        components = variance_components(scores, random_state=random_state)
        return AuditReliability(found, components, decision_study(components))
    except InputError as problem:  # too few words for components; the reliabilities stand
        return AuditReliability(found, reason=str(problem))
