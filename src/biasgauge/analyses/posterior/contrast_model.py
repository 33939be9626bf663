"""Model of a contrast between groups of targets and groups of attributes, in one table or in several replicates of it.

    cosine[m, w, a] = main effects of w and of a + Σ (K + K*[m])[i, j] · R[w, i] · C[a, j]
                      + Σ (lean + lean*[m])[w, j] · C[a, j] + Σ (pairing + pairing*[m])[a, i] · R[w, i] + residuals

Columns of R are the groups of the targets and, where frequencies are known, f and f² of their log frequency; those of C
are the same for attributes. The contrast is Σ weight × K over the pairs of groups: with frequencies in, it is that at
equal frequency. All effects are Normal around 0, one standard deviation a kind; those with * belong to one replicate.

A main effect that cancels in the contrast (that of a target where the weights of its row sum to 0, of an attribute by
columns) is not modeled: the table is centered instead, as in an analysis of fixed effects, so that nothing is assumed
of it. Otherwise it has a standard deviation of its own.

All effects integrate out. M_w ⊗ I and I ⊗ M_a commute, so that the likelihood of a table splits into four independent
parts, after rotation to the spans of R and C and what is orthogonal to them: the core (span × span), the rows, the
columns, and residuals. Replicates split again into √m × their mean and m − 1 deviations. What a chain over the standard
deviations needs is a sum of squares, two small matrices of cross products and the core, whatever the size of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from biasgauge.analyses.posterior.estimates import Diagnostics, diagnose
from biasgauge.analyses.posterior.integrated import CHAINS, Effects, sample_integrated
from biasgauge.analyses.posterior.priors import DEFAULT_CONTRAST_PRIORS, ContrastPriors, ScalePrior
from biasgauge.core import Floats, Integers, Places, SimilarityTable
from biasgauge.metrics import table_sides

MAIN, GROUP, FREQUENCY = range(3)
"""Kinds of columns of a design."""
_ROW_EFFECTS = ("target", "lean", "lean by frequency")
_COLUMN_EFFECTS = ("attribute", "pairing", "pairing by frequency")
ADJUSTED_STREAM = 1
"""Second seed of draws of a contrast at equal frequency."""
_BATCH_NUMBERS = 2**18
"""Numbers held at a time for a batch of standard deviations; results do not depend on it."""
_RANK = 1e-9
_NO_SPREAD = 1e-10
"""Standard deviations below this are rounding."""
_WIDEST, _NARROWEST = 1e3, 1e-5
"""Bounds of standard deviations: absolute, and of residuals in units of their resolution."""


@dataclass(frozen=True, eq=False)
class TableDesign:
    """Design of one side of a table.

    Attributes:
        basis: words × rank, orthonormal columns that span the design.
        columns: rank × columns, the columns of the design in that basis.
        kinds: kind of each column: the main effect, a group, or a power of log frequency.
        centered: True where means over this side are taken out first, since its constant cancels in the contrast.
    """

    basis: Floats
    columns: Floats
    kinds: Integers
    centered: bool

    @classmethod
    def build(cls, groups: Integers, log_frequency: Floats | None, *, centered: bool) -> TableDesign:
        """Build the design of words in these groups; with frequencies, of f and f², standardized and orthogonal."""
        indicators = np.eye(groups.max() + 1)[groups]
        columns, kinds = [*indicators.T], [GROUP] * indicators.shape[1]
        if not centered and len(columns) > 1:
            columns, kinds = [np.ones(len(groups)), *columns], [MAIN, *kinds]
        polynomial = np.ones((len(groups), 1))
        frequency = np.zeros(len(groups)) if log_frequency is None else log_frequency
        for power in (1, 2):
            values = (frequency - frequency.mean()) ** power
            rest = values - polynomial @ np.linalg.lstsq(polynomial, values, rcond=None)[0]
            if rest.std() > _RANK * max(1.0, float(np.abs(values).max())):
                polynomial = np.column_stack([polynomial, rest / rest.std()])
        columns += [*polynomial.T[1:]]
        kinds += [FREQUENCY] * (polynomial.shape[1] - 1)
        matrix = np.stack(columns, axis=1)
        if centered:
            matrix = matrix - matrix.mean(axis=0)
        left, sizes, _ = np.linalg.svd(matrix, full_matrices=False)
        basis = left[:, sizes > _RANK * max(1.0, sizes[0])]
        return cls(basis, basis.T @ matrix, np.array(kinds), centered)

    @property
    def rank(self) -> int:
        """Number of dimensions of the design."""
        return int(self.basis.shape[1])

    @property
    def freedom(self) -> int:
        """Number of dimensions of the words beyond the design."""
        return len(self.basis) - self.rank - self.centered

    def products(self, kind: int) -> Floats:
        """Σ column · columnᵀ of one kind, in the basis."""
        members = self.columns[:, self.kinds == kind]
        return np.asarray(members @ members.T)

    @property
    def present(self) -> tuple[int, ...]:
        """Kinds that the design has and that centering leaves something of."""
        return tuple(kind for kind in (MAIN, GROUP, FREQUENCY) if self.products(kind).any())


class Statistics(NamedTuple):
    """Sufficient statistics of some independent tables with one covariance.

    Attributes:
        tables: their number.
        core: tables × (span of targets, span of attributes), targets major.
        core_root: F of F Fᵀ, the sum of squares and products of the core; likewise of the rest.
        row_root: of rows beyond the core.
        column_root: of columns beyond the core.
        residual: sum of squares beyond rows and columns.
    """

    tables: int
    core: Floats
    core_root: Floats
    row_root: Floats
    column_root: Floats
    residual: float


class ContrastModel:
    """Posterior density of the standard deviations, and draws of the contrast given them.

    Attributes:
        names: of the standard deviations, in the order of their columns; those of replicates begin with "replicate".
        dimensions: number of standard deviations.
        spread: standard deviation of the centered tables.
        resolutions: smallest standard deviations that the tables can tell from 0, roughly.
    """

    def __init__(
        self, tables: Floats, targets: TableDesign, attributes: TableDesign, weights: Floats, priors: ContrastPriors
    ) -> None:
        self.priors, self._targets, self._attributes = priors, targets, attributes
        models = len(tables)
        centered = tables
        for axis, design in ((1, targets), (2, attributes)):
            if design.centered:
                centered = centered - centered.mean(axis=axis, keepdims=True)
        mean = centered.mean(axis=0)
        self._mean = _statistics(np.sqrt(models) * mean[None], targets, attributes)
        self._deviations = None
        if models > 1:
            self._deviations = _statistics(centered - mean, targets, attributes)._replace(tables=models - 1)
        rows, columns = attributes.present, targets.present
        effects = ("residual", *(_ROW_EFFECTS[kind] for kind in rows), *(_COLUMN_EFFECTS[kind] for kind in columns))
        self._rows = np.stack([attributes.products(kind) for kind in rows])
        self._columns = np.stack([targets.products(kind) for kind in columns])
        # The prior of K is the same for every pair of columns but main effects. Pairs of groups come first, then all
        # pairs with a frequency: replicates may differ in one and not in the other.
        used = [design.columns[:, design.kinds != MAIN] for design in (targets, attributes)]
        groups = [design.columns[:, design.kinds == GROUP] for design in (targets, attributes)]
        every, within = (np.kron(*(columns @ columns.T for columns in sides)) for sides in (used, groups))
        pairs = {"contrast": within, "contrast by frequency": every - within}
        pairs = {name: products for name, products in pairs.items() if np.abs(products).max() > _RANK}
        self._coefficients = np.stack(list(pairs.values()))
        replicate = tuple(f"replicate {name}" for name in (*pairs, *effects)) if models > 1 else ()
        self.names = (*effects, *replicate)
        self.dimensions = len(self.names)
        center = np.outer(*(columns.sum(axis=1) for columns in groups)).ravel()
        self._root = float(np.sqrt(models))
        self._core = self._mean.core[0] - self._root * priors.cell.mean * center
        self._loading = (groups[0] @ weights @ groups[1].T).ravel()
        self._weights = weights
        # An effect that stands in n cells each is seen with a standard deviation of 1 / √n of theirs.
        n, m = len(targets.basis), len(attributes.basis)
        cells = np.array([100.0, *[m / weights.shape[1]] * len(rows), *[n / weights.shape[0]] * len(columns)])
        self.spread = float(mean.std())
        self.resolutions = self.spread * cells**-0.5
        if models > 1:
            between = float((centered - mean).std()) * np.array([*[n * m / weights.size] * len(pairs), *cells]) ** -0.5
            self.resolutions = np.concatenate([self.resolutions, between])

    def prior(self, name: str) -> ScalePrior:
        """Return the prior of a standard deviation."""
        if name.startswith("replicate"):
            return self.priors.replicates
        return self.priors.residual if name == "residual" else self.priors.effects

    def log_density(self, sds: Floats) -> Floats:
        """Log posterior density of each row of standard deviations, effects integrated out, up to a constant."""
        density = np.full(len(sds), -np.inf)
        usable = (sds >= 0).all(axis=1) & (sds < _WIDEST).all(axis=1)
        for name in ("residual", "replicate residual"):
            if name in self.names:
                column = self.names.index(name)
                usable &= sds[:, column] > _NARROWEST * self.resolutions[column]
        places = np.flatnonzero(usable)
        for batch in self._batches(places):
            variances, replicate, core = self._variances(sds[batch])
            total = _normal_terms(core, self._core[:, None], 1)
            total += self._side_terms(self._mean, variances)
            if self._deviations is not None:
                between, tables = self._replicate_contrasts(sds[batch]) + self._core_noise(replicate), self._deviations
                total += _normal_terms(between, tables.core_root, tables.tables)
                total += self._side_terms(tables, replicate)
            density[batch] = -0.5 * total
        for column, name in enumerate(self.names):
            density[places] += self.prior(name).log_density(sds[places, column])
        return density

    def contrast_given(self, sds: Floats) -> tuple[Floats, Floats]:
        """Posterior mean and standard deviation of the contrast, given each row of standard deviations."""
        prior = self.priors.cell
        center, sd = np.empty(len(sds)), np.empty(len(sds))
        loading = prior.sd**2 * self._root * self._loading
        for batch in self._batches(np.arange(len(sds))):
            gain = np.linalg.solve(self._variances(sds[batch])[2], loading[:, None])[..., 0]
            center[batch] = prior.mean * self._weights.sum() + gain @ self._core
            sd[batch] = np.sqrt(prior.sd**2 * (self._weights**2).sum() - gain @ loading)
        return center, sd

    def draw_effects(self, sds: Floats, random: np.random.Generator) -> Effects:
        """Draw the contrast given standard deviations, as the one column of means."""
        center, sd = self.contrast_given(sds)
        nothing = np.empty((len(sds), 0))
        return Effects((center + sd * random.standard_normal(len(sds)))[:, None], nothing, nothing)

    def _batches(self, places: Places) -> Iterator[Places]:
        size = max(1, _BATCH_NUMBERS // self._coefficients[0].size)
        return (places[start : start + size] for start in range(0, len(places), size))

    def _variances(self, sds: Floats) -> tuple[Floats, Floats, Floats]:
        """Variances of the effects in √m × the mean of the tables, those in deviations, and the covariance of the core.

        The mean holds what replicates share m times, and the effects of one replicate once.
        """
        count = 1 + len(self._rows) + len(self._columns)
        variances = self._root**2 * sds[:, :count] ** 2
        replicate = sds[:, count + len(self._coefficients) :] ** 2
        core = self._root**2 * self.priors.cell.sd**2 * self._coefficients.sum(axis=0)
        if self._deviations is not None:
            variances = variances + replicate
            core = core + self._replicate_contrasts(sds)
        return variances, replicate, core + self._core_noise(variances)

    def _replicate_contrasts(self, sds: Floats) -> Floats:
        """Covariance of the core from what each replicate adds to K."""
        count = 1 + len(self._rows) + len(self._columns)
        return np.tensordot(sds[:, count : count + len(self._coefficients)] ** 2, self._coefficients, 1)

    def _core_noise(self, variances: Floats) -> Floats:
        """Covariance of the core, targets major, from leans, pairings and residuals."""
        rows, columns = self._covariances(variances)
        ranks = self._targets.rank, self._attributes.rank
        noise = np.zeros((len(variances), *ranks, *ranks))
        for target in range(ranks[0]):  # leans and residuals: identity of targets ⊗ covariance of rows
            noise[:, target, :, target, :] = rows
        columns = columns - variances[:, :1, None] * np.eye(ranks[0])  # residuals are in both
        for attribute in range(ranks[1]):  # pairings: covariance of columns ⊗ identity of attributes
            noise[:, :, attribute, :, attribute] += columns
        size = ranks[0] * ranks[1]
        return noise.reshape(-1, size, size)

    def _covariances(self, variances: Floats) -> tuple[Floats, Floats]:
        """Covariance of the rows of a target beyond the design, and of the columns of an attribute."""
        split = 1 + len(self._rows)
        residual = variances[:, :1, None]
        rows = np.tensordot(variances[:, 1:split], self._rows, 1) + residual * np.eye(self._attributes.rank)
        columns = np.tensordot(variances[:, split:], self._columns, 1) + residual * np.eye(self._targets.rank)
        return rows, columns

    def _side_terms(self, statistics: Statistics, variances: Floats) -> Floats:
        """−2 log likelihood of rows, columns and residuals: Σ df · log |V| + tr(V⁻¹ · cross products)."""
        beyond = self._targets.freedom, self._attributes.freedom
        residual = variances[:, 0]
        total: Floats = statistics.tables * beyond[0] * beyond[1] * np.log(residual) + statistics.residual / residual
        roots = statistics.row_root, statistics.column_root
        for covariance, root, freedom in zip(self._covariances(variances), roots, beyond, strict=True):
            total = total + _normal_terms(covariance, root, statistics.tables * freedom)
        return total


def _normal_terms(covariance: Floats, root: Floats, vectors: int) -> Floats:
    """−2 log likelihood of Normal vectors: vectors · log |V| + tr(V⁻¹ F Fᵀ), with F Fᵀ the sum of their squares.

    V = L D Lᵀ is eliminated one dimension after another, for all draws at once; what F becomes is L⁻¹ F. Matrices are
    so small that a call of LAPACK for each would take ten times as long.
    """
    rest = np.ascontiguousarray(np.moveaxis(covariance, 0, -1))
    solved = np.repeat(root[:, :, None], len(covariance), axis=2)
    pivots, squares = np.empty((len(root), len(covariance))), np.zeros(len(covariance))
    for place, pivot in enumerate(pivots):
        pivot[:] = rest[0, 0]
        if not (pivot > 0).all():  # far out in the tails one standard deviation is lost in the rounding of another
            squares = (root * np.linalg.solve(covariance, root)).sum(axis=(1, 2))
            return np.asarray(vectors * np.linalg.slogdet(covariance)[1] + squares)
        squares += (solved[place] ** 2).sum(axis=0) / pivot
        ratios = rest[1:, 0] / pivot
        solved[place + 1 :] -= ratios[:, None] * solved[place]
        rest = rest[1:, 1:] - ratios[:, None] * rest[0, 1:]
    return np.asarray(vectors * np.log(pivots).sum(axis=0) + squares)


def _statistics(tables: Floats, targets: TableDesign, attributes: TableDesign) -> Statistics:
    """Sums over tables of squares and products: core, rows and columns beyond the core, residuals beyond both."""
    by_target, by_attribute = tables @ attributes.basis, np.swapaxes(tables, 1, 2) @ targets.basis
    core = targets.basis.T @ by_target
    rows = by_target - targets.basis @ core
    columns = by_attribute - attributes.basis @ np.swapaxes(core, 1, 2)
    residuals = tables - targets.basis @ np.swapaxes(by_attribute, 1, 2) - rows @ attributes.basis.T
    vectors = core.reshape(len(tables), -1)
    return Statistics(
        tables=len(tables),
        core=vectors,
        core_root=_root_of_squares(vectors),
        row_root=_root_of_squares(rows.reshape(-1, rows.shape[-1])),
        column_root=_root_of_squares(columns.reshape(-1, columns.shape[-1])),
        residual=float((residuals**2).sum()),
    )


def _root_of_squares(vectors: Floats) -> Floats:
    """F with F Fᵀ = Σ vector · vectorᵀ and as few columns as there are dimensions in the vectors."""
    _, sizes, right = np.linalg.svd(vectors, full_matrices=False)
    used = sizes > _RANK * sizes.max(initial=0.0)
    return np.asarray(right[used].T * sizes[used])


def average_families(
    tables: Floats, axis: int, groups: Integers, families: Integers, log_frequency: Floats | None
) -> tuple[Floats, Integers, Floats | None]:
    """Average the words of one family and group, which are one observation: tables, groups and log frequencies.

    `axis` is that of the words; families keep the order of their first words.
    """
    labels = np.stack([groups, families], axis=1)
    _, first, family = np.unique(labels, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))[family.reshape(-1)]
    share = np.eye(len(first))[order]
    share /= share.sum(axis=0)
    averaged = np.moveaxis(np.moveaxis(tables, axis, -1) @ share, -1, axis)
    return averaged, groups[np.sort(first)], None if log_frequency is None else log_frequency @ share


def frequencies_held_constant(table: SimilarityTable) -> tuple[Floats, Floats] | None:
    """Log frequencies of targets and of attributes that a verdict holds constant; None where they are not known.

    They are 0 on a side whose lists are not set against each other: it has nothing to adjust to.
    """
    if table.centered is None:
        return None
    targets, attributes = (
        np.zeros(len(side.groups)) if side.covariates is None else side.covariates[:, 0] for side in table_sides(table)
    )
    return targets, attributes


def why_undefined(values: Floats, names: Sequence[Sequence[str]], sizes: Sequence[Sequence[int]]) -> str | None:
    """Say why there is no posterior: a list of one word, a gap, or nothing varies; None where there is one.

    `names` and `sizes` are those of the lists of targets and of the lists of attributes.
    """
    for listed, counts in zip(names, sizes, strict=True):
        for name, size in zip(listed, counts, strict=True):
            if size < 2:
                return f"{name!r} has a single word, so that nothing is known of others like it"
    if np.isnan(values).any():
        return "not every word has a similarity with every attribute"
    centered = values - values.mean(axis=1, keepdims=True)
    centered = centered - centered.mean(axis=2, keepdims=True)
    return "similarities do not vary beyond the means of words" if centered.std() < _NO_SPREAD else None


class ContrastFit(NamedTuple):
    """Draws of a contrast and of the standard deviations, one chain after the other.

    Attributes:
        contrast: draws.
        sds: draws × standard deviations.
        names: of the standard deviations.
        diagnostics: of the sampler.
    """

    contrast: Floats
    sds: Floats
    names: tuple[str, ...]
    diagnostics: Diagnostics


def fit_contrast(
    tables: Floats,
    target_groups: Integers,
    attribute_groups: Integers,
    weights: Floats,
    *,
    log_frequencies: tuple[Floats, Floats] | None = None,
    families: tuple[Integers, Integers] | None = None,
    priors: ContrastPriors = DEFAULT_CONTRAST_PRIORS,
    draws: int = 4_000,
    random: np.random.Generator,
) -> ContrastFit:
    """Draw from the posterior of Σ weights[i, j] × mean of target group i with attribute group j.

    Args:
        tables: models × targets × attributes.
        target_groups: group of each target.
        attribute_groups: group of each attribute.
        weights: groups of targets × groups of attributes.
        log_frequencies: of targets and of attributes, all finite; the contrast is then that at equal frequency.
        families: labels of targets and of attributes; words with one label are averaged to one observation.
        priors: of all parameters.
        draws: number of draws, rounded up to a multiple of the four chains.
        random: source of the draws.
    """
    if (tables.std(axis=0) < _RANK).all():  # copies of one model say nothing of other models
        tables = tables[:1]
    groups = [target_groups, attribute_groups]
    frequencies: list[Floats | None] = [None, None] if log_frequencies is None else [*log_frequencies]
    for side, labels in enumerate(families or ()):
        tables, groups[side], frequencies[side] = average_families(
            tables, 1 + side, groups[side], labels, frequencies[side]
        )
    # A main effect cancels where the weights of all groups that share it sum to 0.
    cancels = [bool((np.abs(weights.sum(axis=side)) < _RANK).all()) for side in (0, 1)]
    targets, attributes = (
        TableDesign.build(labels, frequency, centered=flag)
        for labels, frequency, flag in zip(groups, frequencies, cancels, strict=True)
    )
    model = ContrastModel(tables, targets, attributes, weights, priors)
    drawn = sample_integrated(model, CHAINS, -(-draws // CHAINS), random)
    contrast = drawn.effects.means
    by_chain = {
        name: values.reshape(CHAINS, -1, values.shape[1])
        for name, values in (("contrast", contrast), ("sds", drawn.sds))
    }
    return ContrastFit(contrast[:, 0], drawn.sds, model.names, diagnose(by_chain, acceptance=drawn.acceptance))


def fit_similarities(
    table: SimilarityTable, values: Floats, *, draws: int = 4_000, random_state: int = 0
) -> ContrastFit:
    """Draw from the posterior of the contrast of a query, at equal frequency where frequencies are known.

    It is the contrast that a verdict rests on; without frequencies, that of `values`, models × targets × attributes.
    """
    seeds = [random_state] if table.centered is None else [random_state, ADJUSTED_STREAM]
    return fit_contrast(
        values if table.centered is None else table.centered,
        table.target_groups,
        table.attribute_groups,
        np.asarray(table.weights, np.float64),
        log_frequencies=frequencies_held_constant(table),
        draws=draws,
        random=np.random.default_rng(seeds),
    )
