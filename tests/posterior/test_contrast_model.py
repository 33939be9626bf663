"""The model of a contrast against the plain multivariate normal of all similarities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from biasgauge.analyses.posterior.contrast_model import (
    ContrastModel,
    TableDesign,
    _normal_terms,
    average_families,
    fit_contrast,
)
from biasgauge.analyses.posterior.integrated import sample_integrated
from biasgauge.analyses.posterior.priors import ContrastPriors, Exponential, HalfNormal, Normal

if TYPE_CHECKING:
    from biasgauge.core import Floats, Integers

PRIORS = ContrastPriors(Normal(0.1, 0.25), Exponential(8.0), HalfNormal(0.2), HalfNormal(0.04))
STEPS = 30_000
WEAT = [[1.0, -1.0], [-1.0, 1.0]]
OWN = (np.eye(3) / 3 - (1 - np.eye(3)) / 6).tolist()
CASES: list[dict[str, Any]] = [
    {"rows": [0, 0, 0, 1, 1, 1, 1], "columns": [0, 0, 1, 1, 1, 0], "weights": WEAT},
    {"rows": [0, 1, 2, 2, 1, 0, 0], "columns": [0, 0, 1, 2, 2, 1], "weights": OWN},
    {"rows": [0, 0, 0, 0, 0], "columns": [0, 0, 1, 1, 1, 1], "weights": [[1.0, -1.0]]},
    {"rows": [0, 0, 0, 1, 1, 1], "columns": [0, 0, 0, 0, 0], "weights": [[1.0], [-1.0]]},
    {"rows": [0, 0, 0, 1, 1, 1], "columns": [0, 0, 1, 1, 2, 2], "weights": [[0.5, 0.0, -0.5], [0.0, 0.5, -0.5]]},
]


def columns_of(groups: Integers, frequency: Floats | None, *, centered: bool) -> tuple[Floats, list[str]]:
    """Columns of the design and their kinds, straight from the statement of the model."""
    columns = np.eye(groups.max() + 1)[groups]
    kinds = ["group"] * columns.shape[1]
    if not centered and len(kinds) > 1:
        columns, kinds = np.column_stack([np.ones(len(groups)), columns]), ["main", *kinds]
    if frequency is not None:
        first = (frequency - frequency.mean()) / frequency.std()
        square = first**2 - np.polyval(np.polyfit(first, first**2, 1), first)
        columns = np.column_stack([columns, first, square / square.std()])
        kinds = [*kinds, "frequency", "frequency"]
    return columns, kinds


class Dense:
    """Covariance of all similarities, models major, and of the contrast with them."""

    def __init__(self, case: dict[str, Any], models: int, frequency: tuple[Any, Any]) -> None:
        self.rows, self.columns = np.array(case["rows"]), np.array(case["columns"])
        self.weights, self.models = np.array(case["weights"]), models
        self.frequency = frequency
        self.centered = not self.weights.sum(axis=0).any(), not self.weights.sum(axis=1).any()
        (self.r, self.kinds_r), (self.c, self.kinds_c) = (
            columns_of(groups, values, centered=flag)
            for groups, values, flag in zip((self.rows, self.columns), frequency, self.centered, strict=True)
        )
        self.model_free = [np.eye(size) - flag / size for size, flag in zip(self.shape[1:], self.centered, strict=True)]

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.models, len(self.rows), len(self.columns)

    def design(self, side: int) -> TableDesign:
        return TableDesign.build((self.rows, self.columns)[side], self.frequency[side], centered=self.centered[side])

    def effects(self, sd: dict[str, float], prefix: str) -> Floats:
        """Covariance of words × attributes from leans, pairings and residuals."""
        names = {"main": ("target", "attribute"), "group": ("lean", "pairing"),
                 "frequency": ("lean by frequency", "pairing by frequency")}  # fmt: skip
        n, m = self.shape[1:]
        total = sd[f"{prefix}residual"] ** 2 * np.eye(n * m)
        for kind, column in zip(self.kinds_c, self.c.T, strict=True):
            total += sd[prefix + names[kind][0]] ** 2 * np.kron(np.eye(n), np.outer(column, column))
        for kind, column in zip(self.kinds_r, self.r.T, strict=True):
            total += sd[prefix + names[kind][1]] ** 2 * np.kron(np.outer(column, column), np.eye(m))
        return np.asarray(total)

    def coefficients(self, kinds_in: tuple[str, ...] = ("group", "frequency")) -> Floats:
        used = [
            np.stack([column for kind, column in zip(kinds, columns.T, strict=True) if kind in kinds_in], 1)
            for kinds, columns in ((self.kinds_r, self.r), (self.kinds_c, self.c))
        ]
        return np.asarray(np.kron(*(columns @ columns.T for columns in used)))

    def covariance(self, sd: dict[str, float]) -> Floats:
        ones = np.ones((self.models, self.models))
        total = np.kron(ones, PRIORS.cell.sd**2 * self.coefficients() + self.effects(sd, ""))
        if self.models > 1:
            groups = self.coefficients(("group",))
            one = sd["replicate contrast"] ** 2 * groups + self.effects(sd, "replicate ")
            one += sd.get("replicate contrast by frequency", 0.0) ** 2 * (self.coefficients() - groups)
            total += np.kron(np.eye(self.models), one)
        return np.asarray(total)

    def mean(self) -> Floats:
        groups = [
            np.stack([column for kind, column in zip(kinds, columns.T, strict=True) if kind == "group"], 1).sum(1)
            for kinds, columns in ((self.kinds_r, self.r), (self.kinds_c, self.c))
        ]
        return np.tile(PRIORS.cell.mean * np.kron(*groups), self.models)

    def cross(self) -> Floats:
        """Covariance of the contrast with each similarity."""
        groups = [
            np.stack([column for kind, column in zip(kinds, columns.T, strict=True) if kind == "group"], 1)
            for kinds, columns in ((self.kinds_r, self.r), (self.kinds_c, self.c))
        ]
        return np.tile(PRIORS.cell.sd**2 * (groups[0] @ self.weights @ groups[1].T).ravel(), self.models)

    def basis(self) -> Floats:
        """Orthonormal basis of what centering leaves."""
        bases = [np.linalg.svd(free)[0][:, : round(np.trace(free))] for free in self.model_free]
        return np.asarray(np.kron(np.eye(self.models), np.kron(*bases)))


@pytest.mark.parametrize("frequencies", [False, True])
@pytest.mark.parametrize("models", [1, 3])
@pytest.mark.parametrize("case", CASES)
def test_density_and_contrast_are_those_of_the_multivariate_normal(
    case: dict[str, Any],
    models: int,
    frequencies: bool,  # noqa: FBT001 - a case
) -> None:
    random = np.random.default_rng(3)
    drawn = [random.normal(3.0, 0.6, len(case[side])) + 0.3 * np.array(case[side]) for side in ("rows", "columns")]
    dense = Dense(case, models, (drawn[0], drawn[1]) if frequencies else (None, None))
    values = 0.2 + 0.1 * random.standard_normal(dense.shape)
    values += 3.0 * random.standard_normal((models, len(dense.rows), 1)) * dense.centered[1]  # main effects that cancel
    values += 3.0 * random.standard_normal((models, 1, len(dense.columns))) * dense.centered[0]
    model = ContrastModel(values, dense.design(0), dense.design(1), dense.weights, PRIORS)
    sds = np.exp(random.normal(np.log(0.06), 0.6, (12, model.dimensions)))
    basis = dense.basis()
    left = basis.T @ values.ravel()
    expected, centers, errors = [], [], []
    for numbers in sds:
        sd = dict(zip(model.names, numbers, strict=True))
        total, cross = basis.T @ dense.covariance(sd) @ basis, basis.T @ dense.cross()
        prior = sum(float(model.prior(name).log_density(np.array(value))) for name, value in sd.items())
        expected.append(multivariate_normal.logpdf(left, basis.T @ dense.mean(), total) + prior)
        gain = np.linalg.solve(total, cross)
        weights = dense.weights
        centers.append(PRIORS.cell.mean * weights.sum() + gain @ (left - basis.T @ dense.mean()))
        errors.append((PRIORS.cell.sd**2 * (weights**2).sum() - gain @ cross) ** 0.5)
    found = model.log_density(sds)
    np.testing.assert_allclose(found - found[0], np.array(expected) - expected[0], rtol=1e-8, atol=1e-6)
    center, error = model.contrast_given(sds)
    np.testing.assert_allclose(center, centers, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(error, errors, rtol=1e-6)


def test_a_covariance_that_rounding_makes_singular_spoils_no_other() -> None:
    """The Cholesky decomposition of a stack fails as a whole; scipy has the density of the sound one."""
    random = np.random.default_rng(2)
    square = random.standard_normal((4, 4))
    sound, lost = square @ square.T + np.eye(4), 1e12 * np.outer(square[0], square[0]) + 1e-12 * np.eye(4)
    root = random.standard_normal((4, 3))
    alone = _normal_terms(sound[None], root, 3)
    stack = np.stack([sound, lost])
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(stack)
    both = _normal_terms(stack, root, 3)
    expected = -2 * multivariate_normal(np.zeros(4), sound).logpdf(root.T).sum() - 3 * 4 * np.log(2 * np.pi)
    assert both[0] == pytest.approx(expected)
    assert alone[0] == pytest.approx(expected)


def test_families_are_averaged_within_their_group() -> None:
    random = np.random.default_rng(0)
    tables = random.standard_normal((2, 6, 3))
    groups, families = np.array([0, 0, 0, 1, 1, 1]), np.array([7, 2, 7, 2, 5, 5])
    frequency = np.arange(6.0)
    averaged, labels, means = average_families(tables, 1, groups, families, frequency)
    members = [[0, 2], [1], [3], [4, 5]]  # family 2 is in both groups: two observations
    np.testing.assert_allclose(averaged, np.stack([tables[:, rows].mean(axis=1) for rows in members], axis=1))
    assert labels.tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(means, [1.0, 1.0, 3.0, 4.5])  # type: ignore[arg-type]
    flipped, *_ = average_families(np.swapaxes(tables, 1, 2), 2, groups, families, None)
    np.testing.assert_allclose(np.swapaxes(flipped, 1, 2), averaged)


def test_copies_of_one_model_are_one_model() -> None:
    table = np.random.default_rng(0).standard_normal((8, 8))
    groups = np.repeat([0, 1], 4)
    fits = [
        fit_contrast(np.stack([table] * models), groups, groups, np.array(WEAT), random=np.random.default_rng(1))
        for models in (1, 3)
    ]
    np.testing.assert_array_equal(fits[0].contrast, fits[1].contrast)
    assert fits[1].names == ("residual", "lean", "pairing")


@pytest.mark.slow
@pytest.mark.parametrize("models", [1, 3])
def test_draws_agree_with_a_random_walk_over_the_dense_normal(models: int) -> None:
    """A long plain Metropolis chain over the covariance of the whole table: nothing is shared with the sampler."""
    case = {"rows": [0, 0, 0, 1, 1, 1], "columns": [0, 0, 0, 1, 1, 1], "weights": WEAT}
    dense = Dense(case, models, (None, None))
    random = np.random.default_rng(11)
    values = 0.08 * random.standard_normal(dense.shape) + 0.1 * random.standard_normal(dense.shape[1:])
    values += 0.1 * np.outer([1, 1, 1, -1, -1, -1], [1, 1, 1, -1, -1, -1])
    model = ContrastModel(values, dense.design(0), dense.design(1), dense.weights, PRIORS)
    drawn = sample_integrated(model, 4, 4_000, np.random.default_rng(2)).effects.means[:, 0]
    basis = dense.basis()
    left, cross = basis.T @ (values.ravel() - dense.mean()), basis.T @ dense.cross()

    def evaluate(point: Floats) -> tuple[float, float, float]:
        sd = dict(zip(model.names, np.exp(point), strict=True))
        factor = np.linalg.cholesky(basis.T @ dense.covariance(sd) @ basis)
        solved, loaded = np.linalg.solve(factor, left), np.linalg.solve(factor, cross)
        prior = sum(float(model.prior(name).log_density(np.array(value))) for name, value in sd.items())
        density = prior + point.sum() - np.log(np.diag(factor)).sum() - 0.5 * solved @ solved
        return float(density), float(loaded @ solved), float(PRIORS.cell.sd**2 * 4 - loaded @ loaded)

    point = np.log(np.full(model.dimensions, 0.05))
    density, center, variance = evaluate(point)
    centers, variances = [], []
    for step in range(STEPS):
        proposed = point + random.standard_normal(model.dimensions) * (0.9 if models == 1 else 0.5)
        found = evaluate(proposed)
        if np.log(random.random()) < found[0] - density:
            point, (density, center, variance) = proposed, found
        if step >= STEPS // 10:
            centers.append(center)
            variances.append(variance)
    mean, sd = np.mean(centers), np.sqrt(np.var(centers) + np.mean(variances))
    assert drawn.mean() == pytest.approx(mean, abs=0.06 * sd)
    assert drawn.std() == pytest.approx(sd, rel=0.06)


def test_frequency_that_explains_the_contrast_is_taken_out() -> None:
    """Cosines follow frequencies of both words; X and A are frequent, and there is no association."""
    random = np.random.default_rng(4)
    groups = np.repeat([0, 1], 30)
    frequency = [4 + random.normal(0, 0.4, 60) - 0.6 * groups for _ in range(2)]
    table = 0.05 * random.standard_normal((1, 60, 60)) + 0.1 * np.outer(frequency[0] - 4, frequency[1] - 4)
    settings: dict[str, Any] = {"weights": np.array(WEAT), "random": random}
    plain = fit_contrast(table, groups, groups, **settings).contrast
    adjusted = fit_contrast(table, groups, groups, log_frequencies=(frequency[0], frequency[1]), **settings).contrast
    assert plain.mean() == pytest.approx(0.036, abs=0.015)  # 0.1 × 0.6²
    assert plain.mean() > 3 * plain.std()
    assert abs(adjusted.mean()) < 2.5 * adjusted.std() < 0.03
