"""Before and after: what a change of the vectors (debiasing, say) did to distances, on the same words.

The published comparison had other control words before than after; here only pairs of words that both sides have are
compared, and what was left out is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, get_args

import numpy as np

from biasgauge.analyses.posterior.bayesian import Posterior, posterior_of
from biasgauge.analyses.posterior.connections import P_DIRECTION, Change, labeled_means, means_frame
from biasgauge.analyses.posterior.draws import Draws, Sampler, fit
from biasgauge.analyses.posterior.figures import change_charts
from biasgauge.analyses.posterior.priors import VARIANTS, Normal, PriorsLike, Variant, priors_of
from biasgauge.analyses.posterior.sources import table_of
from biasgauge.analyses.posterior.table import DistancesLike, DistanceTable
from biasgauge.core import JsonMapping, JsonObject, LexiconLike, check_choice
from biasgauge.errors import ParameterError
from biasgauge.results import Chart, Column, RecordTable, Result
from biasgauge.stats import Credible, IntervalKind
from biasgauge.vectors import SEPARATE, load, separately_trained

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.core import VectorsLike

ChangeMethod = Literal["paired", "independent"]

UNMOVED = "no distance changed"
LOOKUP = ("duplicates", "human", "neutral", "policy")
"""Settings of `distances` that `bayes_change` hands on."""
_CHANGE = Column("change [{level} {method}]", "estimate", 3, source=".")


@dataclass(frozen=True, eq=False, repr=False)
class ChangeResult(Result):
    """Changes of mean distances, after less before.

    Attributes:
        before: posterior of the distances before.
        after: posterior of the distances after.
        changes: of the groups, then of each word.
        method: "paired": the model is fitted to the change of each pair of words; "independent": the difference of
            two posteriors, which ignores that both are about the same words and so is wider.
        left_out: rows of either side that the other one lacks.
        problems: what speaks against the draws of the changes; empty when nothing does.
        separately_trained: neither of the two was made from the other, so that a new training run would change both.
    """

    renamed: ClassVar[Mapping[str, str]] = {"changes": "change"}
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("groups", "By connection", ("connection", _CHANGE, P_DIRECTION)),
        RecordTable("words", "Protected words", ("connection", "word", _CHANGE, P_DIRECTION), most=12),
    )

    before: Posterior
    after: Posterior
    changes: tuple[Change, ...]
    method: str
    left_out: Mapping[str, int]
    problems: tuple[str, ...] = ()
    separately_trained: bool = False

    @property
    def groups(self) -> tuple[Change, ...]:
        """Changes of the groups."""
        return tuple(row for row in self.changes if row.word is None)

    @property
    def words(self) -> tuple[Change, ...]:
        """Changes of the words."""
        return tuple(row for row in self.changes if row.word is not None)

    @property
    def caution(self) -> str:
        """Caution that every table and figure carries; empty when all draws can be trusted."""
        own = f"the diagnostics of the change failed: {'; '.join(self.problems)}" if self.problems else ""
        return "; ".join(part for part in (own, self.before.caution, self.after.caution) if part)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Caution, separate training, rows left out."""
        counts = [(side, count) for side, count in self.left_out.items() if count]
        rows = [f"{count:,} rows are only in {side} and are left out" for side, count in counts]
        separate = [SEPARATE] if self.separately_trained else []
        return (*([self.caution] if self.caution else []), *separate, *rows)

    def derived(self) -> JsonMapping:
        """Caution and all warnings."""
        return {"caution": self.caution, "warnings": self.warnings}

    def to_frame(self) -> pd.DataFrame:
        """One row per change."""
        return means_frame(self.changes, self.caution)

    def _title(self) -> str:
        return f"Change of distances, {self.before.name} → {self.after.name}"

    def _headline(self) -> str:
        names = f"{self.before.name} → {self.after.name}"
        return f"{names}: change of the mean distance; positive means less association"

    def _charts(self) -> tuple[Chart, ...]:
        return change_charts(self)


def bayes_change(
    before: DistancesLike,
    after: DistancesLike,
    lexicon: LexiconLike | None = None,
    *,
    method: ChangeMethod = "paired",
    variant: Variant = "per-connection",
    priors: PriorsLike = None,
    interval: IntervalKind = "hpdi",
    prob: float = 0.89,
    draws: int = 4_000,
    rope: float | None = None,
    sampler: Sampler = "auto",
    random_state: int = 0,
    **lookup: Any,  # noqa: ANN401 - those of `distances`, which says what is wrong with them
) -> ChangeResult:
    """Posterior of the change of each group and each word between two sets of distances on the same words.

    Args:
        before: vectors with a lexicon, or distances, as in `bayes`.
        after: the same after the change.
        lexicon: which words to compare; only with vectors.
        method: "paired" fits the model to the change of each pair of words; "independent" subtracts two posteriors.
        variant: the model; with "crossed", attributes may move on their own too.
        priors: of the distances; the mean change has the same sd around 0.
        interval: "hpdi" or "percentile".
        prob: probability inside the intervals.
        draws: how many draws.
        rope: half-width of the region of practical equivalence; a tenth of the residual sd before by default.
        sampler: as in `bayes`.
        random_state: seed.
        lookup: `duplicates`, `human`, `neutral`, `policy`, as in `bayes`.
    """
    check_choice(VARIANTS, variant=variant)
    check_choice(get_args(ChangeMethod), method=method)
    if unknown := set(lookup) - set(LOOKUP):
        raise ParameterError(f"There is no parameter {min(unknown)!r} of bayes_change.")
    sampling: JsonObject = {"draws": draws, "sampler": sampler, "random_state": random_state}
    sides: list[DistancesLike] = [before, after]
    separate = False
    if lexicon is not None and not any(isinstance(side, DistanceTable) or hasattr(side, "iloc") for side in sides):
        models = [load(cast("VectorsLike", side)) for side in sides]
        sides, separate = [*models], separately_trained(*models)
    (first, second), left_out = matched(*(table_of(side, lexicon, **lookup) for side in sides))
    settings = {**sampling, "variant": variant, **lookup, **first.lookup}
    settings.pop("policy", None)
    prior, credible = priors_of(variant, priors), Credible(interval, prob)
    fits = [
        posterior_of(table, variant, prior, credible, rope, settings, stream=stream)
        for stream, table in ((1, first), (2, second))
    ]
    problems: tuple[str, ...] = ()
    if method == "independent":
        draws_of_change = _subtracted(fits[0].draws, fits[1].draws)
        undefined = {**fits[0].undefined, **fits[1].undefined}
    else:
        shifted = replace(prior, group=Normal(0.0, prior.group.sd), baseline=Normal(0.0, prior.baseline.sd))
        difference = replace(first, distance=second.distance - first.distance)
        paired = fit(difference, variant, shifted, **sampling, stream=3)
        still = [name for name in paired.undefined if not difference.distance[difference.rows_of([name])].any()]
        draws_of_change, undefined = paired.draws, {**paired.undefined, **dict.fromkeys(still, UNMOVED)}
        problems = paired.diagnostics.problems if paired.draws.connections else ()
    changes = labeled_means(Change, draws_of_change, first.words, credible, undefined, fits[0].rope)
    return ChangeResult(fits[0], fits[1], tuple(changes), method, left_out, problems, separate)


def matched(before: DistanceTable, after: DistanceTable) -> tuple[tuple[DistanceTable, DistanceTable], dict[str, int]]:
    """The rows that both have, in the same order, under the same labels."""
    names = ("connection", "protected_word", "word_to_compare")  # rows are sorted by them
    columns = [table.columns() for table in (before, after)]
    keys = [list(zip(*(values[name] for name in names), strict=True)) for values in columns]
    if any(len(set(key)) < len(key) for key in keys):
        raise ParameterError(
            'Before and after are compared row by row: repeated rows must be dropped (duplicates="drop").'
        )
    both = set(keys[0]) & set(keys[1])
    if not both:
        raise ParameterError("Before and after have no pair of words in common.")
    shared = [np.array([key in both for key in table_keys]) for table_keys in keys]
    first = replace(before.select(shared[0]), undefined={**before.undefined, **after.undefined})
    distance = after.distance[shared[1]]
    second = replace(first, name=after.name, distance=distance, lost=after.lost, coverage=after.coverage)
    return (first, second), {"before": len(before) - len(first), "after": len(after) - len(second)}


def _subtracted(before: Draws, after: Draws) -> Draws:
    """Differences of independent draws, of the connections that both have."""
    shared = [name for name in before.connections if name in after.connections]
    first, second = before.only(shared), after.only(shared)
    return replace(second, group=second.group - first.group, word=second.word - first.word)
