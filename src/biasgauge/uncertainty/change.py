"""Before and after: what a change of the vectors (debiasing, say) did to distances, on the same words.

The published comparison had other control words before than after; here only pairs of words that both sides have are
compared, and what was left out is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from biasgauge.errors import ParameterError
from biasgauge.inputs import LexiconLike
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.stats.credible import Credible, IntervalKind
from biasgauge.uncertainty.bayesian import posterior_of, table_of
from biasgauge.uncertainty.draws import Draws
from biasgauge.uncertainty.estimates import differences
from biasgauge.uncertainty.figures import change_charts
from biasgauge.uncertainty.fit import Sampler, fit
from biasgauge.uncertainty.model import Normal, Priors, ScalePrior, Variant, check_variant, priors_of
from biasgauge.uncertainty.posterior import GROUP, Posterior, interval_of
from biasgauge.uncertainty.table import CONNECTIONS, DistancesLike, DistanceTable

if TYPE_CHECKING:
    import pandas as pd

ChangeMethod = Literal["paired", "independent"]

UNMOVED = "no distance changed"


@dataclass(frozen=True)
class Change:
    """Posterior of the change of one mean distance: after less before.

    Attributes:
        connection: of which connection.
        word: of which protected word; None for the group.
        mean: posterior mean; positive when distances grew (less association). None when undefined.
        low: lower end of the interval.
        high: upper end.
        sd: posterior standard deviation.
        p_direction: probability that the change has the sign of its median, in [.5, 1].
        p_equivalent: probability that it is no larger than the region of practical equivalence either way.
        reason: why it is undefined; None when it is not.
    """

    connection: str
    word: str | None
    mean: float | None
    low: float | None
    high: float | None
    sd: float | None
    p_direction: float | None
    p_equivalent: float | None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        shape = {key: value for key, value in vars(self).items() if key != "reason"}
        return shape if self.reason is None else {**shape, "reason": self.reason}


@dataclass(frozen=True, eq=False, repr=False)
class ChangeResult(Result):
    """What changed.

    Attributes:
        before: posterior of the distances before.
        after: posterior of the distances after.
        changes: of the groups, then of each word.
        method: "paired": the model is fitted to the change of each pair of words; "independent": the difference of
            two posteriors, which ignores that both are about the same words and so is wider.
        left_out: rows of either side that the other one lacks.
        problems: what speaks against the draws of the changes; empty when nothing does.
    """

    before: Posterior
    after: Posterior
    changes: tuple[Change, ...]
    method: str
    left_out: Mapping[str, int]
    problems: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[Change, ...]:
        """Changes of the groups."""
        return tuple(one for one in self.changes if one.word is None)

    @property
    def words(self) -> tuple[Change, ...]:
        """Changes of the words."""
        return tuple(one for one in self.changes if one.word is not None)

    @property
    def caution(self) -> str:
        """What every table and figure must say; empty when all draws can be trusted."""
        own = f"the diagnostics of the change failed: {'; '.join(self.problems)}" if self.problems else ""
        return "; ".join(part for part in (own, self.before.caution, self.after.caution) if part)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know first."""
        found = [self.caution] if self.caution else []
        found += [
            f"{count:,} rows are only in {side} and are left out" for side, count in self.left_out.items() if count
        ]
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {
            "change": [one.to_dict() for one in self.changes],
            "method": self.method,
            "left_out": dict(self.left_out),
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "caution": self.caution,
        }

    def to_frame(self) -> pd.DataFrame:
        """One row a change."""
        import pandas as pd

        frame = pd.DataFrame([{**vars(one), "word": one.word or GROUP} for one in self.changes])
        return frame.assign(caution=self.caution) if self.caution else frame

    def summary(self) -> Summary:
        """Change of the mean distance of each connection and each word."""
        kind = self.before.credible
        mean = Column(f"change [{kind.prob:.0%} {kind.kind}]", "estimate", 3)
        chance = Column("p(direction)", "number", 3)
        groups = [(one.connection, interval_of(one), one.p_direction) for one in self.groups]
        words = [(one.connection, one.word, interval_of(one), one.p_direction) for one in self.words]
        name = f"{self.before.table.name} → {self.after.table.name}"
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
    check_variant(variant)
    if method not in get_args(ChangeMethod):
        raise ParameterError(f"The 'method' parameter must be 'paired' or 'independent'. Got {method!r}.")
    unknown = set(asked) - {"duplicates", "human", "neutral", "min_coverage", "case_fallback"}
    if unknown:
        raise ParameterError(f"There is no parameter {min(unknown)!r} of bayes_change.")
    settings = {"draws": draws, "sampler": sampler, "random_state": random_state, "variant": variant, **asked}
    asked = {"duplicates": "drop", **asked}
    tables = [table_of(side, lexicon, **asked) for side in (before, after)]
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
        still = {name: UNMOVED for name in found.undefined if not _moved(difference, name)}
        moved, undefined = found.draws, {**found.undefined, **still}
        problems = found.diagnostics.problems if moved.connections else ()
    width = fits[0].rope
    changes = _changes(moved, first.words, credible, width) + tuple(
        Change(name, None, None, None, None, None, None, None, reason) for name, reason in undefined.items()
    )
    return ChangeResult(fits[0], fits[1], changes, method, left_out, problems)


def matched(before: DistanceTable, after: DistanceTable) -> tuple[tuple[DistanceTable, DistanceTable], dict[str, int]]:
    """The rows that both have, in the same order, under the same labels."""
    keys = [_keys(table) for table in (before, after)]
    if any(len(set(one)) < len(one) for one in keys):
        raise ParameterError(
            'Before and after are compared row by row: repeated rows must be dropped (duplicates="drop").'
        )
    both = set(keys[0]) & set(keys[1])
    if not both:
        raise ParameterError("Before and after have no pair of words in common.")
    parts = [
        table.select(np.array([key in both for key in one])) for table, one in zip((before, after), keys, strict=True)
    ]
    left_out = {"before": len(before) - len(parts[0]), "after": len(after) - len(parts[1])}
    undefined = {**before.undefined, **after.undefined}
    first = replace(parts[0], undefined=undefined)
    second = replace(first, name=after.name, distance=parts[1].distance, lost=after.lost, coverage=after.coverage)
    return (first, second), left_out


def _moved(difference: DistanceTable, connection: str) -> bool:
    rows = difference.connection == CONNECTIONS.index(connection)
    return bool(rows.any() and difference.distance[rows].any())


def _keys(table: DistanceTable) -> list[tuple[str, str, str]]:
    """What a row is about; rows are sorted by it."""
    return [
        (CONNECTIONS[connection], table.words[word], table.attributes[attribute])
        for connection, word, attribute in zip(table.connection, table.word, table.attribute, strict=True)
    ]


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


def _changes(moved: Draws, words: tuple[str, ...], credible: Credible, rope: float) -> tuple[Change, ...]:
    if not moved.connections:
        return ()
    labels: list[tuple[str, str | None]] = [(name, None) for name in moved.connections]
    labels += [
        (moved.connections[connection], words[word])
        for connection, word in zip(moved.cell_connection, moved.cell_word, strict=True)
    ]
    numbers = differences(np.concatenate([moved.group, moved.word], axis=1), credible, rope)
    return tuple(
        Change(connection, word, **one)  # type: ignore[arg-type]  # numbers hold no label
        for (connection, word), one in zip(labels, numbers, strict=True)
    )
