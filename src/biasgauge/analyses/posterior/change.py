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
from biasgauge.analyses.posterior.draws import Draws, Sampler, fit
from biasgauge.analyses.posterior.estimates import Change, means_frame, posterior_means
from biasgauge.analyses.posterior.figures import change_charts
from biasgauge.analyses.posterior.priors import VARIANTS, Normal, Priors, ScalePrior, Variant, priors_of
from biasgauge.analyses.posterior.sources import table_of
from biasgauge.analyses.posterior.table import DistancesLike, DistanceTable
from biasgauge.core import JsonMapping, LexiconLike, check_choice
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, level_text
from biasgauge.stats import Credible, IntervalKind
from biasgauge.vectors import SEPARATE, load, separately_trained

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.core import VectorsLike

ChangeMethod = Literal["paired", "independent"]

UNMOVED = "no distance changed"


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
        """One row a change."""
        return means_frame(self.changes, self.caution)

    def summary(self) -> Summary:
        """Change of the mean distance of each connection and each word."""
        kind = self.before.credible
        mean = Column(f"change [{level_text(kind.prob)} {kind.kind}]", "estimate", 3)
        chance = Column("p(direction)", "number", 3)
        groups = [(row.connection, row, row.p_direction) for row in self.groups]
        words = [(row.connection, row.word, row, row.p_direction) for row in self.words]
        name = f"{self.before.name} → {self.after.name}"
        return Summary(
            title=f"Change of distances, {name}",
            headline=f"{name}: change of the mean distance; positive means less association",
            tables=(
                Table.of("groups", "By connection", ["connection", mean, chance], groups),
                Table.of("words", "Protected words", ["connection", "word", mean, chance], words, most=12),
            ),
            charts=change_charts(self),
            warnings=self.warnings,
        )


def bayes_change(
    before: DistancesLike,
    after: DistancesLike,
    lexicon: LexiconLike | None = None,
    *,
    method: ChangeMethod = "paired",
    variant: Variant = "per-connection",
    priors: Priors | Mapping[str, str | Normal | ScalePrior] | None = None,
    interval: IntervalKind = "hpdi",
    prob: float = 0.89,
    draws: int = 4_000,
    rope: float | None = None,
    sampler: Sampler = "auto",
    random_state: int = 0,
    **asked: Any,  # noqa: ANN401 - those of `distances`, which says what is wrong with them
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
        asked: `duplicates`, `human`, `neutral`, `min_coverage`, `case_fallback`, as in `bayes`.
    """
    check_choice(VARIANTS, variant=variant)
    check_choice(get_args(ChangeMethod), method=method)
    unknown = set(asked) - {"duplicates", "human", "neutral", "min_coverage", "case_fallback"}
    if unknown:
        raise ParameterError(f"There is no parameter {min(unknown)!r} of bayes_change.")
    settings = {"draws": draws, "sampler": sampler, "random_state": random_state, "variant": variant, **asked}
    sides: list[DistancesLike] = [before, after]
    separate = False
    if lexicon is not None and not any(isinstance(side, DistanceTable) or hasattr(side, "iloc") for side in sides):
        models = [load(cast("VectorsLike", side)) for side in sides]
        sides, separate = [*models], separately_trained(*models)
    tables = [table_of(side, lexicon, **asked) for side in sides]
    (first, second), left_out = matched(*tables)
    own = priors_of(variant, priors)
    credible = Credible(interval, prob)
    fits = [
        posterior_of(table, variant, own, credible, rope, settings, stream=stream)
        for stream, table in ((1, first), (2, second))
    ]
    problems: tuple[str, ...] = ()
    if method == "independent":
        moved, undefined = _subtracted(fits[0].draws, fits[1].draws), {**fits[0].undefined, **fits[1].undefined}
    else:
        shifted = replace(own, group=Normal(0.0, own.group.sd), baseline=Normal(0.0, own.baseline.sd))
        difference = replace(first, distance=second.distance - first.distance)
        found = fit(difference, variant, shifted, draws=draws, sampler=sampler, random_state=random_state, stream=3)
        still = {name: UNMOVED for name in found.undefined if not difference.distance[difference.rows_of([name])].any()}
        moved, undefined = found.draws, {**found.undefined, **still}
        problems = found.diagnostics.problems if moved.connections else ()
    numbers = posterior_means(np.concatenate([moved.group, moved.word], axis=1), credible, fits[0].rope)
    labels = zip(moved.labels(first.words), numbers, strict=True)
    changes = [Change(connection=name, word=word, **own) for (name, word), own in labels]
    changes += [Change(connection=name, value=None, reason=reason) for name, reason in undefined.items()]
    return ChangeResult(fits[0], fits[1], tuple(changes), method, left_out, problems, separate)


def matched(before: DistanceTable, after: DistanceTable) -> tuple[tuple[DistanceTable, DistanceTable], dict[str, int]]:
    """The rows that both have, in the same order, under the same labels."""
    keys = [_keys(table) for table in (before, after)]
    if any(len(set(key)) < len(key) for key in keys):
        raise ParameterError(
            'Before and after are compared row by row: repeated rows must be dropped (duplicates="drop").'
        )
    both = set(keys[0]) & set(keys[1])
    if not both:
        raise ParameterError("Before and after have no pair of words in common.")
    tables = zip((before, after), keys, strict=True)
    parts = [table.select(np.array([key in both for key in own])) for table, own in tables]
    left_out = {"before": len(before) - len(parts[0]), "after": len(after) - len(parts[1])}
    undefined = {**before.undefined, **after.undefined}
    first = replace(parts[0], undefined=undefined)
    second = replace(first, name=after.name, distance=parts[1].distance, lost=after.lost, coverage=after.coverage)
    return (first, second), left_out


def _keys(table: DistanceTable) -> list[tuple[str, ...]]:
    """Connection, word and attribute of each row; rows are sorted by them."""
    columns = table.columns()
    return list(zip(*(columns[name] for name in ("connection", "protected_word", "word_to_compare")), strict=True))


def _subtracted(before: Draws, after: Draws) -> Draws:
    """Differences of independent draws, of the connections that both have."""
    shared = [name for name in before.connections if name in after.connections]
    first, second = _only(before, shared), _only(after, shared)
    return replace(second, group=second.group - first.group, word=second.word - first.word)


def _only(draws: Draws, connections: list[str]) -> Draws:
    """Groups and words of some of the connections."""
    places = [draws.connections.index(name) for name in connections]
    cells = np.isin(draws.cell_connection, places)
    return replace(
        draws,
        connections=tuple(connections),
        group=draws.group[:, places],
        cell_connection=np.searchsorted(places, draws.cell_connection[cells]),
        cell_word=draws.cell_word[cells],
        word=draws.word[:, cells],
    )
