"""`ContrastTable`: similarities of a question, from vectors and a lexicon or from distances, and its weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from biasgauge.analyses.posterior.contrast_model import (
    ContrastFit,
    fit_contrast,
    frequencies_held_constant,
    why_undefined,
)
from biasgauge.analyses.posterior.priors import ContrastPriors
from biasgauge.analyses.posterior.sources import compared_words
from biasgauge.analyses.posterior.table import ASSOCIATED, DIFFERENT, DistanceTable
from biasgauge.core import (
    Floats,
    Integers,
    JsonMapping,
    LexiconLike,
    Places,
    Query,
    Record,
    SimilarityTable,
    WordPolicy,
    WordSet,
    resolve,
)
from biasgauge.errors import ParameterError
from biasgauge.vectors import Coverage, Embedding


@dataclass(frozen=True)
class CellMean(Record):
    """Mean similarity of one group of targets with one group of attributes, in these models and for these words.

    Attributes:
        targets: the group of targets.
        attributes: the group of attributes.
        mean: observed mean cosine.
        n: number of targets; forms of one lemma count once.
        k: number of attributes.
    """

    targets: str
    attributes: str
    mean: float
    n: int
    k: int


class ContrastTable(NamedTuple):
    """Similarities of a question and the contrast that answers it, or why there is none.

    Attributes:
        name: of the question and of the model.
        values: models × targets × attributes.
        centered: the same less what words of such frequencies have in common; None where frequencies are not known.
        groups: group of each target, and of each attribute.
        families: word family of each target, and of each attribute.
        names: of the groups of targets, and of those of attributes.
        weights: groups of targets × groups of attributes.
        log_frequencies: of targets and of attributes, as `frequencies_held_constant`; None where they are not known.
        coverage: words asked for and found.
        lookup: settings by which they were looked up.
        reason: why the question cannot be answered.
    """

    name: str
    values: Floats = np.empty((1, 0, 0))
    centered: Floats | None = None
    groups: tuple[Integers, Integers] = (np.empty(0, np.intp), np.empty(0, np.intp))
    families: tuple[Integers, Integers] = (np.empty(0, np.intp), np.empty(0, np.intp))
    names: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    weights: Floats = np.empty((0, 0))
    log_frequencies: tuple[Floats, Floats] | None = None
    coverage: JsonMapping | None = None
    lookup: JsonMapping = {}  # noqa: RUF012 - never changed
    reason: str | None = None

    def sizes(self) -> list[list[int]]:
        """Number of word families in each group of targets, and of attributes."""
        return [
            [len(np.unique(families[groups == group])) for group in range(len(names))]
            for groups, families, names in zip(self.groups, self.families, self.names, strict=True)
        ]

    def without_unused(self) -> ContrastTable:
        """Drop groups of attributes that have no weight in the contrast."""
        used = np.asarray(self.weights.any(axis=0))
        columns = used[self.groups[1]]
        frequencies = self.log_frequencies
        return self._replace(
            values=self.values[:, :, columns],
            centered=None if self.centered is None else self.centered[:, :, columns],
            groups=(self.groups[0], (np.cumsum(used) - 1)[self.groups[1][columns]]),
            families=(self.families[0], self.families[1][columns]),
            names=(self.names[0], tuple(name for name, flag in zip(self.names[1], used, strict=True) if flag)),
            weights=self.weights[:, used],
            log_frequencies=None if frequencies is None else (frequencies[0], frequencies[1][columns]),
        )

    def unusable(self) -> str | None:
        """Say why there is no posterior; None where there is one."""
        return why_undefined(self.values, self.names, self.sizes())

    def fit(self, priors: ContrastPriors, draws: int, seeds: list[int], *, adjusted: bool = False) -> ContrastFit:
        """Draw from the posterior of the contrast, at equal frequency where `adjusted`."""
        values = self.centered if adjusted and self.centered is not None else self.values
        return fit_contrast(
            values, *self.groups, self.weights, families=self.families, priors=priors, draws=draws,
            log_frequencies=self.log_frequencies if adjusted else None, random=np.random.default_rng(seeds),
        )  # fmt: skip

    def cells(self) -> tuple[CellMean, ...]:
        """Observed means of the cells, over models."""
        mean, sizes = self.values.mean(axis=0), self.sizes()
        return tuple(
            CellMean(target, attribute, float(mean[self.groups[0] == i][:, self.groups[1] == j].mean()), sizes[0][i],
                     sizes[1][j])
            for i, target in enumerate(self.names[0])
            for j, attribute in enumerate(self.names[1])
        )  # fmt: skip


def look_up_words(
    models: list[Embedding], lexicon: LexiconLike, between: tuple[str, str] | None, policy: WordPolicy
) -> ContrastTable:
    """Similarities of the words of a lexicon in some models."""
    query = Query.from_lexicon(lexicon)
    if between is not None:
        controls = compared_words(lexicon).controls
        if missing := [name for name in between if name not in {ASSOCIATED, DIFFERENT, *controls}]:
            raise ParameterError(f"The lexicon {query.name!r} has no control words {missing[0]!r}.")
        added = [name for name in between if name in controls]
        query = replace(
            query,
            attributes=(*query.attributes, *(WordSet(name, controls[name]) for name in added)),
            roles=(*query.target_keys, *query.attribute_keys, *added),
            weights=tuple(map(tuple, connection_weights(between, len(query.targets), added).tolist())),
        )
    resolved = resolve(query, models, policy)
    name = models[0].name if len(models) == 1 else f"{len(models)} models"
    coverage = Coverage.from_resolved(resolved.sets).to_dict()
    described = ContrastTable(f"{query.name}, {name}", coverage=coverage, lookup=policy.settings(models))
    if resolved.reason is not None:
        return described._replace(reason=resolved.reason)
    table = SimilarityTable(resolved)
    sides = table.targets, table.attributes
    return described._replace(
        values=table.values,
        centered=table.centered,
        groups=(table.target_groups, table.attribute_groups),
        families=(np.arange(len(sides[0].words)), np.arange(len(sides[1].words))),
        names=(tuple(group.name for group in query.targets), tuple(group.name for group in query.attributes)),
        weights=np.asarray(query.weights, np.float64),
        log_frequencies=frequencies_held_constant(table),
    ).without_unused()


def read_distance_table(table: DistanceTable, between: tuple[str, str]) -> ContrastTable:
    """Similarities of a table of distances; the groups of its words are told by the lists of associated attributes."""
    groups, lists = protected_groups(table)
    controls = [name for name in between if name not in {ASSOCIATED, DIFFERENT}]
    stereotypes = table.rows_of([ASSOCIATED, DIFFERENT])
    columns = [stereotypes & np.isin(table.source, sorted(sources)) for sources in lists]
    columns += [table.rows_of([control]) for control in controls]
    blocks = []
    for rows in columns:
        attributes, attribute = np.unique(table.attribute[rows], return_inverse=True)
        block = np.full((len(table.words), len(attributes)), np.nan)
        block[table.word[rows], attribute] = 1 - table.distance[rows]
        blocks.append(block)
    values = np.concatenate(blocks, axis=1)
    names = [" + ".join(table.lists[index] for index in sorted(sources)) for sources in lists]
    return ContrastTable(
        name=table.name,
        values=values[None],
        groups=(groups, np.repeat(np.arange(len(blocks)), [block.shape[1] for block in blocks])),
        families=(np.arange(values.shape[0]), np.arange(values.shape[1])),
        names=(tuple(names), (*names, *controls)),
        weights=connection_weights(between, len(lists), controls),
        coverage=None if table.coverage is None else table.coverage.to_dict(),
        lookup=table.lookup,
    ).without_unused()


def connection_weights(between: tuple[str, str], groups: int, controls: list[str]) -> Floats:
    """Weights of the first connection less the second: groups × (their own attributes, then lists of control words)."""
    own = np.eye(groups)
    means = {ASSOCIATED: own / groups, DIFFERENT: (1 - own) / max(1, groups * (groups - 1))}
    width = groups + len(controls)
    weights = []
    for connection in between:
        pattern = np.zeros((groups, width))
        if connection in means:
            pattern[:, :groups] = means[connection]
        else:
            pattern[:, groups + controls.index(connection)] = 1 / groups
        weights.append(pattern)
    return np.asarray(weights[0] - weights[1])


def protected_groups(table: DistanceTable) -> tuple[Places, list[frozenset[int]]]:
    """Group of each of the table's words, by the lists that its associated attributes come from, and those lists.

    Raises:
        ParameterError: a word has no associated attribute, so that its group is not known; or groups share a list.
    """
    sources_of: list[frozenset[int]] = []
    associated = table.rows_of([ASSOCIATED])
    for index, word in enumerate(table.words):
        sources_of.append(frozenset(table.source[associated & (table.word == index)].tolist()))
        if not sources_of[-1]:
            raise ParameterError(f"{word!r} has no associated attribute, so that its group is not known.")
    lists = list(dict.fromkeys(sources_of))
    for first, second in combinations(lists, 2):
        if shared := first & second:
            name = table.lists[min(shared)]
            raise ParameterError(f"The attributes of {name!r} are associated with several groups of protected words.")
    return np.array([lists.index(sources) for sources in sources_of], np.intp), lists
