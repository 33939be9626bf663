"""Contrasts from crossed models in which an attribute may lie nearer to one group of words than to another.

In the plain crossed model attributes differ, but by the same amount for all protected words. Where each attribute also
has an effect of its own with each group, a contrast of associated and different attributes rests on few such pairings,
and the crossed interval is too narrow: it covers in .86 of cases at the size of such effects in GloVe, and in .73 and
.47 where their standard deviation is .05 and .10 (nominal .89).

`bayes_by_group` models the distances of any lexicon of stereotypes, `posterior` the contrast of an association test, in
which every target meets every attribute. The likelihood of such a table splits into independent parts whose covariances
are as small as the number of groups: residuals centered by word and attribute, word means around their group, attribute
means around theirs, and the means of the cells (group of targets × group of attributes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from biasgauge.analyses.posterior.bayesian import default_rope
from biasgauge.analyses.posterior.crossed import Effects, sample_crossed
from biasgauge.analyses.posterior.draws import CHAINS, crossed_draws
from biasgauge.analyses.posterior.estimates import (
    MEAN,
    P_DIRECTION,
    ConnectionContrast,
    Diagnostics,
    MeanDistance,
    PosteriorMean,
    contrasts,
    diagnose,
    posterior_means,
)
from biasgauge.analyses.posterior.priors import Normal, Priors, PriorsLike, priors_of
from biasgauge.analyses.posterior.sources import table_of
from biasgauge.analyses.posterior.table import ASSOCIATED, DistancesLike, DistanceTable
from biasgauge.core import (
    DEFAULT_POLICY,
    Floats,
    Integers,
    JsonMapping,
    LexiconLike,
    Places,
    Query,
    SimilarityTable,
    VectorsLike,
    WordPolicy,
    check_number,
    check_whole,
    resolve,
)
from biasgauge.errors import ParameterError
from biasgauge.results import Column, RecordTable, Result, Summary, Table, estimate_text, level_text
from biasgauge.stats import Credible, IntervalKind
from biasgauge.vectors import Coverage, each_model, load

_MEAN = Column("mean [{level}]", "estimate", 3, source=".")
_SIMILARITY_PRIOR = Normal(0.0, 0.3)
"""Prior of a mean similarity."""
SDS = ("residual", "lean", "attribute", "pairing", "word")
"""Standard deviations, in the order of their columns."""


class CompleteTable:
    """Posterior density of the standard deviations of a complete table, and means of its cells given them.

        value(w, a) = mean[cell] + word[w] + lean[w, group of a] + attribute[a] + pairing[a, group of w] + residual

    Columns of standard deviations are those of `SDS`.
    """

    dimensions = len(SDS)

    def __init__(self, table: Floats, rows: Integers, columns: Integers, priors: Priors) -> None:
        self.priors = priors
        self._n, self._m = np.bincount(rows).astype(float), np.bincount(columns).astype(float)
        in_rows, in_columns = (np.eye(labels.max() + 1)[labels] for labels in (rows, columns))
        by_word = table @ in_columns / self._m  # words × groups of attributes
        by_attribute = (in_rows.T @ table).T / self._n  # attributes × groups of targets
        cells = in_rows.T @ by_word / self._n[:, None]
        around_words, around_attributes = by_word - cells[rows], by_attribute - cells.T[columns]
        residuals = table - by_word[:, columns] - by_attribute[:, rows].T + cells[rows][:, columns]
        self.spread = float(table.std())
        self._square, self._freedom = float((residuals**2).sum()), float(np.outer(self._n - 1, self._m - 1).sum())
        # cross products of word means within each group of targets, and of attribute means within each of attributes
        self._words = np.einsum("wi,wj,wk->ijk", in_rows, around_words, around_words)
        self._attributes = np.einsum("ai,aj,ak->ijk", in_columns, around_attributes, around_attributes)
        self._cells = cells.ravel() - priors.group.mean
        size = table.size
        units = (by_word.size, len(columns), by_attribute.size, len(rows))
        self.resolutions = self.spread * np.array([0.1, *((size / count) ** -0.5 for count in units)])

    def log_density(self, sds: Floats) -> Floats:
        """Log posterior density of each row of standard deviations, effects integrated out, up to a constant."""
        density = np.full(len(sds), -np.inf)
        usable = np.flatnonzero((sds > 1e-6 * self.spread).all(axis=1) & (sds < 1e3).all(axis=1))
        residual, lean, attribute, pairing, word = (sds[usable] ** 2).T
        total = self._freedom * np.log(residual) + self._square / residual
        # contrasts of word means: a word's own variance is shared by the groups of attributes, the rest is not
        own = lean[:, None] + residual[:, None] / self._m
        total = total + _normal_terms(_shared_plus_diagonal(word, own), self._words, self._n - 1)
        own = pairing[:, None] + residual[:, None] / self._n
        total = total + _normal_terms(_shared_plus_diagonal(attribute, own), self._attributes, self._m - 1)
        covariance = self._cell_covariance(sds[usable])
        total = total + _normal_terms(covariance, np.outer(self._cells, self._cells)[None], np.ones(1))
        priors = self.priors
        prior = priors.residual.log_density(sds[usable, 0]) + priors.between.log_density(sds[usable][:, [1, 4]]).sum(1)
        density[usable] = prior + priors.attribute.log_density(sds[usable, 2:4]).sum(axis=1) - 0.5 * total
        return density

    def draw_effects(self, sds: Floats, random: np.random.Generator) -> Effects:
        """Draw the means of the cells, targets major, given standard deviations."""
        variance = self.priors.group.sd**2
        gain = variance * np.linalg.inv(self._cell_covariance(sds))
        posterior = variance * (np.eye(len(self._cells)) - gain)
        noise = random.standard_normal((len(sds), len(self._cells), 1))
        drawn = gain @ self._cells + (np.linalg.cholesky(posterior) @ noise)[..., 0]
        nothing = np.empty((len(sds), 0))
        return Effects(drawn + self.priors.group.mean, nothing, nothing)

    def _cell_covariance(self, sds: Floats) -> Floats:
        """Covariance of the observed means of cells: prior of means, words, leans, attributes, pairings, residuals."""
        residual, lean, attribute, pairing, word = (sds**2).T[:, :, None, None]
        i, j = (index.ravel() for index in np.indices((len(self._n), len(self._m))))
        n, m, same = self._n[i], self._m[j], np.eye(len(i))
        covariance: Floats = (
            (self.priors.group.sd**2 + lean / n + pairing / m + residual / (n * m)) * same
            + word * (i[:, None] == i) / n
            + attribute * (j[:, None] == j) / m
        )
        return covariance


def _shared_plus_diagonal(shared: Floats, own: Floats) -> Floats:
    """Stack of matrices: shared · 11ᵀ + diag(own)."""
    matrices: Floats = shared[:, None, None] + own[:, :, None] * np.eye(own.shape[1])
    return matrices


def _normal_terms(covariance: Floats, products: Floats, freedom: Floats) -> Floats:
    """−2 log likelihood of independent groups with one covariance: Σ df · log |C| + tr(C⁻¹ · cross products)."""
    inverse = np.linalg.inv(covariance)
    terms: Floats = freedom.sum() * np.linalg.slogdet(covariance)[1] + np.einsum("mjk,ikj->m", inverse, products)
    return terms


@dataclass(frozen=True, kw_only=True)
class CellMean(PosteriorMean):
    """Posterior of the mean similarity of one group of targets with one group of attributes."""

    hidden: ClassVar[frozenset[str]] = PosteriorMean.hidden | {"word"}

    targets: str
    attributes: str


@dataclass(frozen=True, kw_only=True)
class ContrastMean(PosteriorMean):
    """Posterior of a contrast; `p_direction` is the probability of its median's sign, in [.5, 1]; .5 says nothing."""

    hidden: ClassVar[frozenset[str]] = PosteriorMean.hidden | {"word"}

    p_direction: float | None = None
    p_equivalent: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class ContrastPosterior(Result):
    """Posterior of the contrast of an association test, from one crossed hierarchical model of all similarities.

    Attributes:
        name: of the query and the model.
        contrast: in units of the cosine; positive as the query claims, 0 no association. For WEAT in [-4, 4].
        cells: mean similarity of each group of targets with each group of attributes.
        sds: standard deviations: "residual", "lean" (word × group of attributes), "attribute", "pairing" (attribute ×
            group of targets), "word".
        diagnostics: of the sampler.
        credible: kind and probability of the intervals.
        coverage: words asked for and found.
        settings: everything that decides the result.
    """

    renamed: ClassVar[Mapping[str, str]] = {"credible": "interval"}
    tables: ClassVar[tuple[str, ...]] = ("cells",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("cells", "Mean similarity", ("targets", "attributes", _MEAN)),
    )

    name: str
    contrast: ContrastMean
    cells: tuple[CellMean, ...]
    sds: Mapping[str, float]
    diagnostics: Diagnostics
    credible: Credible
    coverage: JsonMapping
    settings: JsonMapping

    @property
    def warnings(self) -> tuple[str, ...]:
        """Problems of the sampler; why there is no contrast."""
        return tuple(self.diagnostics.problems) if self.contrast.value is not None else (str(self.contrast.reason),)

    def _title(self) -> str:
        return f"Posterior of the contrast, {self.name}"

    def _headline(self) -> str:
        if self.contrast.value is None:
            return f"{self.name}: the contrast is undefined: {self.contrast.reason}"
        interval = f"{level_text(self.credible.prob)} {self.credible.kind}"
        return f"{self.name}: contrast {estimate_text(self.contrast, 3)} ({interval}), in units of the cosine"


@each_model
def posterior(
    vectors: VectorsLike,
    lexicon: LexiconLike,
    *,
    priors: PriorsLike = None,
    interval: IntervalKind = "hpdi",
    prob: float = 0.89,
    draws: int = 4_000,
    rope: float = 0.0,
    policy: WordPolicy = DEFAULT_POLICY,
    random_state: int = 0,
) -> ContrastPosterior:
    """Posterior of the contrast of an association test or of stereotypes, as one crossed hierarchical model.

        cosine(w, a) = mean[group of w, group of a] + word[w] + lean[w, group of a] + attribute[a]
                       + pairing[a, group of w] + residual
        contrast = sum over groups of weight × mean; for WEAT (XA − XB) − (YA − YB)

    All effects are Normal around 0 with one standard deviation each. What a word has with all attributes, or an
    attribute with all words, cancels in the contrast; leans and pairings do not. The interval generalizes over target
    words *and* attributes, as that of `weat(...).contrast` does.

    Args:
        vectors: an `Embedding` or anything `load` takes; a list of models gives a `ByModel`.
        lexicon: a lexicon that asks one question: an association test, or stereotypes.
        priors: as in `bayes`: `group` of a mean similarity (Normal(0, 0.3) by default), `between` of words and
            leans, `attribute` of attributes and pairings, `residual`.
        interval: "hpdi" or "percentile".
        prob: probability inside the intervals.
        draws: number of draws.
        rope: half-width of the region of practical equivalence for `p_equivalent`.
        policy: how words are looked up, and how many must be found.
        random_state: seed; the same seed gives the same draws.

    Raises:
        ParameterError: an argument cannot be used.
    """
    check_whole(1, draws=draws)
    check_whole(0, random_state=random_state)
    check_number(0, rope=rope)
    credible = Credible(interval, prob)
    query = Query.from_lexicon(lexicon)
    model = load(vectors)
    resolved = resolve(query, model, policy)
    believed = (
        priors if isinstance(priors, Priors) else priors_of("crossed", {"group": _SIMILARITY_PRIOR, **(priors or {})})
    )
    settings = {
        "interval": interval, "prob": prob, "draws": draws, "rope": rope, **policy.settings([model]),
        "random_state": random_state, "priors": believed.to_dict(),
    }  # fmt: skip
    reason, table = resolved.reason, None
    if reason is None:
        table = SimilarityTable(resolved)
        if shared := sorted(set(table.target_words) & set(table.attribute_words)):
            reason = f"{shared[0]!r} is both a target and an attribute, and no word is compared with itself"
    result = ContrastPosterior(
        name=f"{query.name}, {model.name}",
        contrast=ContrastMean(value=None, reason=reason),
        cells=(),
        sds={},
        diagnostics=Diagnostics(None, "", None, "", problems=("nothing was sampled",)),
        credible=credible,
        coverage=Coverage.from_resolved(resolved.sets).to_dict(),
        settings=settings,
    )
    if table is None or reason is not None:
        return result
    complete = CompleteTable(table.values[0], table.target_groups, table.attribute_groups, believed)
    drawn = sample_crossed(complete, CHAINS, -(-draws // CHAINS), np.random.default_rng([random_state]))
    cells = [(target.name, attribute.name) for target in query.targets for attribute in query.attributes]
    contrast = drawn.effects.means @ np.asarray(table.weights, float).ravel()
    sampled = {"mean": drawn.effects.means, "contrast": contrast[:, None], "sds": drawn.sds}
    by_chain = {name: values.reshape(CHAINS, -1, values.shape[1]) for name, values in sampled.items()}
    (estimate,) = posterior_means(contrast[:, None], credible, rope)
    means = zip(cells, posterior_means(drawn.effects.means, credible), strict=True)
    return replace(
        result,
        contrast=ContrastMean(**estimate),
        cells=tuple(CellMean(targets=x, attributes=a, **numbers) for (x, a), numbers in means),
        sds=dict(zip(SDS, drawn.sds.mean(axis=0).tolist(), strict=True)),
        diagnostics=diagnose(by_chain, acceptance=drawn.acceptance),
    )


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
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("contrasts", "Differences of mean distance", ("a", "b", MEAN, P_DIRECTION)),
        RecordTable("groups", "Mean distance", ("connection", MEAN)),
    )

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
        sds = Column("attribute", "number", 3), Column("attribute × group", "number", 3)
        rows = [(name, sd, self.pairing_sd[name]) for name, sd in self.attribute_sd.items()]
        spreads = Table.of("spreads", "Standard deviations", ["connections", *sds], rows)
        summary = super().summary()
        return replace(summary, tables=(*summary.tables, spreads))

    def _title(self) -> str:
        return f"Contrasts with effects of attribute × group, {self.name}"

    def _headline(self) -> str:
        return f"{self.name}: attributes may lie nearer to one group of protected words than to another"


def bayes_by_group(
    distances: DistancesLike,
    *,
    priors: PriorsLike = None,
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
    blocks = [] if sample.attributes is None else ["+".join(names) for names in sample.attributes.blocks]
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
