"""Contrasts from the crossed model in which an attribute may lie nearer to one group of words than to another.

In the plain crossed model attributes differ, but by the same amount for all protected words. Where each attribute also
has an effect of its own with each group, a contrast of associated and different attributes rests on few such pairings,
and the crossed interval is too narrow: it covers in .86 of cases at the size of such effects in GloVe, and in .73 and
.47 where their standard deviation is .05 and .10 (nominal .89).

`bayes_by_group` models the distances of any lexicon of stereotypes, `posterior` the contrast of an association test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biasgauge.analyses.posterior.bayesian import default_rope
from biasgauge.analyses.posterior.diagnostics import Diagnostics
from biasgauge.analyses.posterior.draws import CHAINS, crossed_draws
from biasgauge.analyses.posterior.estimates import ConnectionContrast, MeanDistance, contrasts, posterior_means
from biasgauge.analyses.posterior.priors import Normal, Priors, ScalePrior, priors_of
from biasgauge.analyses.posterior.sources import table_of
from biasgauge.analyses.posterior.table import ASSOCIATED, DistancesLike, DistanceTable
from biasgauge.core import JsonMapping, Places, check_number, check_whole
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, level_text
from biasgauge.stats import Credible, IntervalKind


@dataclass(frozen=True, eq=False, repr=False)
class ByGroup(Result):
    """Posterior of the crossed model with effects of attribute × group.

    Attributes:
        name: what tables call it.
        groups: mean distance of each connection.
        contrasts: differences between connections.
        attribute_sd: standard deviation of attributes, by the connections that share them.
        pairing_sd: that of attribute × group, beyond the attribute.
        diagnostics: of the sampler.
        credible: kind and probability of the intervals.
        settings: everything that decides the result.
    """

    renamed: ClassVar[Mapping[str, str]] = {"credible": "interval"}
    tables: ClassVar[tuple[str, ...]] = ("groups", "contrasts")

    name: str
    groups: tuple[MeanDistance, ...]
    contrasts: tuple[ConnectionContrast, ...]
    attribute_sd: Mapping[str, float]
    pairing_sd: Mapping[str, float]
    diagnostics: Diagnostics
    credible: Credible
    settings: JsonMapping

    @property
    def warnings(self) -> tuple[str, ...]:
        """Problems of the sampler."""
        return tuple(self.diagnostics.problems)

    def contrast(self, a: str, b: str) -> ConnectionContrast:
        """Difference of two connections, a less b, in the order of `contrasts`."""
        return next(contrast for contrast in self.contrasts if (contrast.a, contrast.b) == (a, b))

    def summary(self) -> Summary:
        """Contrasts, group means, and standard deviations of the effects of attributes and pairings."""
        kind = self.credible
        mean = Column(f"mean [{level_text(kind.prob)} {kind.kind}]", "estimate", 3)
        p_direction = Column("p(direction)", "number", 3)
        groups = [(group.connection, group) for group in self.groups]
        differences = [(contrast.a, contrast.b, contrast, contrast.p_direction) for contrast in self.contrasts]
        sds = Column("attribute", "number", 3), Column("attribute × group", "number", 3)
        spreads = [(name, self.attribute_sd[name], self.pairing_sd[name]) for name in self.attribute_sd]
        return Summary(
            title=f"Contrasts with effects of attribute × group, {self.name}",
            headline=f"{self.name}: attributes may lie nearer to one group of protected words than to another",
            tables=(
                Table.of("contrasts", "Differences of mean distance", ["a", "b", mean, p_direction], differences),
                Table.of("groups", "Mean distance", ["connection", mean], groups),
                Table.of("spreads", "Standard deviations", ["connections", *sds], spreads),
            ),
            warnings=self.warnings,
        )


def bayes_by_group(
    distances: DistancesLike,
    *,
    priors: Priors | Mapping[str, str | Normal | ScalePrior] | None = None,
    interval: IntervalKind = "hpdi",
    prob: float = 0.89,
    draws: int = 4_000,
    rope: float | None = None,
    random_state: int = 0,
) -> ByGroup:
    """Contrasts between connections when attributes may have an effect with each group of protected words.

    Args:
        distances: a `DistanceTable`, or a data frame with the columns of the authors' files.
        priors: as in `bayes`; the effects of attribute × group have the prior of `attribute`.
        interval: "hpdi" or "percentile".
        prob: probability inside the intervals.
        draws: number of draws.
        rope: half-width of the region of practical equivalence; a tenth of the residual standard deviation by default.
        random_state: seed; the same seed gives the same draws.

    Raises:
        ParameterError: an argument cannot be used, or a protected word has no associated attribute.
    """
    check_whole(1, draws=draws)
    check_whole(0, random_state=random_state)
    if rope is not None:
        check_number(0, rope=rope)
    table = table_of(distances, None)
    credible = Credible(interval, prob)
    groups = protected_groups(table)
    sample, parts = crossed_draws(table, priors_of("crossed", priors), -(-draws // CHAINS), [random_state], groups)
    width = default_rope(table) if rope is None else float(rope)
    labels = zip(sample.connections, posterior_means(sample.group, credible), strict=True)
    blocks = ["+".join(part.model.connections) for part in parts]
    return ByGroup(
        name=table.name,
        groups=tuple(MeanDistance(connection=name, **estimate) for name, estimate in labels),
        contrasts=contrasts(sample, (), credible, width),
        attribute_sd={name: float(part.sds[:, -2].mean()) for name, part in zip(blocks, parts, strict=True)},
        pairing_sd={name: float(part.sds[:, -1].mean()) for name, part in zip(blocks, parts, strict=True)},
        diagnostics=sample.diagnose(acceptance=min(part.acceptance for part in parts)),
        credible=credible,
        settings={
            "interval": interval, "prob": prob, "draws": draws, "rope": width, "random_state": random_state,
        },
    )  # fmt: skip


def protected_groups(table: DistanceTable) -> Places:
    """Group of each of the table's words: words whose associated attributes come from the same lists.

    Raises:
        ParameterError: a word has no associated attribute, so that its group is not known.
    """
    lists: list[frozenset[int]] = []
    associated = table.rows_of([ASSOCIATED])
    for index, word in enumerate(table.words):
        sources = frozenset(table.source[associated & (table.word == index)].tolist())
        if not sources:
            raise ParameterError(f"{word!r} has no associated attribute, so that its group is not known.")
        lists.append(sources)
    order = {sources: group for group, sources in enumerate(dict.fromkeys(lists))}
    return np.array([order[sources] for sources in lists], np.intp)
