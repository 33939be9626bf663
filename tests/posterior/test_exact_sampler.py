"""The exact sampler against numerical integration that knows nothing of its tricks, and against NUTS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import kstest

from biasgauge.analyses.posterior import Exponential, HalfNormal, Normal, Priors, bayes, distance_table
from biasgauge.analyses.posterior.exact import Target, draw_from_lattice, sample_cells
from biasgauge.analyses.posterior.table import COLUMNS, NO_SPREAD, cells_of

if TYPE_CHECKING:
    from biasgauge.analyses.posterior import DistanceTable
    from biasgauge.core.arrays import Floats


def rows_of(table: DistanceTable, connection: str) -> tuple[Floats, Floats]:
    frame = table.to_frame()
    frame = frame[frame["connection"] == connection]
    return frame["cosine_distance"].to_numpy(), frame["protected_word"].to_numpy()


def brute_force(values: Floats, words: Floats, priors: Priors, points: int = 130) -> dict[str, float]:
    """Posterior moments of one connection from the joint density of all rows, on a grid of the two sds.

    The rows are one multivariate normal: covariance sigma² I + tau² (same word) + s² (all), nothing integrated by hand.
    """
    prior, size = priors.group, len(values)
    same = (words[:, None] == words[None, :]).astype(float)
    # even steps in log sd; the ranges hold all of the mass for the data used here
    sigma, tau = (
        grid.ravel() for grid in np.meshgrid(np.exp(np.linspace(-6, 1, points)), np.exp(np.linspace(-11, 2, points)))
    )
    total = sigma[:, None, None] ** 2 * np.eye(size) + tau[:, None, None] ** 2 * same + prior.sd**2
    right = np.stack([values - prior.mean, np.ones(size)], axis=1)
    solved = np.linalg.solve(total, np.broadcast_to(right, (len(total), *right.shape)))
    weight = -0.5 * (np.linalg.slogdet(total)[1] + solved[:, :, 0] @ right[:, 0])
    weight += priors.residual.log_density(sigma) + priors.between.log_density(tau) + np.log(sigma) + np.log(tau)
    share = np.exp(weight - weight.max())
    share /= share.sum()
    group = prior.mean + prior.sd**2 * solved[:, :, 0].sum(axis=1)
    variance = prior.sd**2 - prior.sd**4 * solved[:, :, 1].sum(axis=1)
    mean = float(share @ group)
    return {
        "group": mean,
        "group_sd": float(np.sqrt(share @ (variance + group**2) - mean**2)),
        "residual": float(share @ sigma),
        "between": float(share @ tau),
        "between_square": float(share @ tau**2),
    }


@pytest.mark.parametrize(
    "priors",
    [Priors(), Priors(group=Normal(0.7, 0.05), between=HalfNormal(0.03), residual=HalfNormal(0.5))],
    ids=["published", "others"],
)
@pytest.mark.parametrize("connection", ["associated", "human"])
def test_moments_agree_with_numerical_integration(table: DistanceTable, connection: str, priors: Priors) -> None:
    expected = brute_force(*rows_of(table, connection), priors)
    cells = next(one for one in cells_of(table) if one.connection == connection)
    size = 40_000
    drawn = sample_cells([cells], priors, size, np.random.default_rng(1)).connections[0]
    error = 5 / size**0.5
    assert drawn.group.mean() == pytest.approx(expected["group"], abs=error * expected["group_sd"])
    assert drawn.group.std() == pytest.approx(expected["group_sd"], rel=2 * error)
    assert drawn.residual.mean() == pytest.approx(expected["residual"], abs=error * drawn.residual.std())
    assert drawn.between.mean() == pytest.approx(expected["between"], abs=error * drawn.between.std())
    square = drawn.between**2
    assert square.mean() == pytest.approx(expected["between_square"], abs=error * square.std())


def test_words_are_pulled_towards_the_group(table: DistanceTable) -> None:
    cells = cells_of(table)[0]
    drawn = sample_cells([cells], Priors(), 20_000, np.random.default_rng(0)).connections[0]
    for at, mean in enumerate(cells.mean):
        low, high = sorted([mean, drawn.group.mean()])
        assert low - 0.002 < drawn.words[:, at].mean() < high + 0.002


def test_one_connection_with_a_shared_sigma_is_the_same_model(table: DistanceTable) -> None:
    one = table.select(table.connection == 0)
    alone = bayes(one, variant="per-connection", draws=20_000)
    shared = bayes(one, variant="single-sigma", draws=20_000, random_state=5)
    assert alone.groups[0].mean == pytest.approx(shared.groups[0].mean, abs=0.002)
    assert alone.groups[0].sd == pytest.approx(shared.groups[0].sd, rel=0.05)
    assert alone.draws.residual.mean() == pytest.approx(shared.draws.residual.mean(), rel=0.02)


def test_a_baseline_that_is_known_is_a_shift_of_the_prior(table: DistanceTable) -> None:
    """With next to no uncertainty about the baseline, the variant "intercept" is "single-sigma" around another mean."""
    known = Priors(group=Normal(-0.1, 0.3), baseline=Normal(1.1, 1e-6))
    with_baseline = bayes(table, variant="intercept", priors=known, draws=20_000)
    without = bayes(table, variant="single-sigma", priors=Priors(group=Normal(1.0, 0.3)), draws=20_000)
    for one, other in zip(with_baseline.groups, without.groups, strict=True):
        assert one.mean == pytest.approx(other.mean, abs=0.002)
        assert one.sd == pytest.approx(other.sd, rel=0.05)


def test_few_rows_leave_the_prior_as_it_was() -> None:
    """One distance says nothing about either sd beyond what the prior says, but it says something about the mean."""
    table = distance_table("one row", [("imam", "dirty", "muslim", "associated", 1.0)])
    cells = cells_of(table)[0]
    size = 40_000
    drawn = sample_cells([cells], Priors(), size, np.random.default_rng(3)).connections[0]
    # given both sds, the density of the one distance is normal with variance sigma² + tau² + .3², at its center
    grid = np.linspace(0, 15, 3_001)
    sigma, tau = grid[:, None], grid[None, :]
    weight = np.exp(-2 * (sigma + tau)) / np.sqrt(sigma**2 + tau**2 + 0.09)
    expected = (weight * sigma).sum() / weight.sum()
    assert drawn.residual.mean() == pytest.approx(expected, rel=0.02)
    assert drawn.group.mean() == pytest.approx(1.0, abs=0.01)


def test_distances_without_spread_have_no_posterior() -> None:
    rows = [
        (word, attribute, "list", connection, 0.9 if connection == "human" else 0.8 + 0.01 * at)
        for word in ("imam", "quran")
        for connection in ("associated", "human")
        for at, attribute in enumerate(("a", "b", "c"))
    ]
    found = bayes(distance_table("flat", rows))
    assert found.undefined == {"human": NO_SPREAD}
    assert [(one.connection, one.mean is None) for one in found.groups] == [("associated", False), ("human", True)]
    assert found.to_dict()["groups"][1] == {
        "connection": "human", "mean": None, "low": None, "high": None, "sd": None, "reason": NO_SPREAD,
    }  # fmt: skip
    assert "human is undefined" in found.warnings[0]
    together = bayes(distance_table("flat", rows), variant="single-sigma")
    assert not together.undefined  # sigma is learned from the other connection


def test_nothing_that_can_be_fitted() -> None:
    rows = [(word, attribute, "list", "human", 0.9) for word in ("imam", "quran") for attribute in ("a", "b")]
    for variant in ("per-connection", "single-sigma", "crossed"):
        found = bayes(distance_table("flat", rows), variant=variant)
        assert not found.diagnostics.ok
        assert (found.words, found.contrasts, found.predictive) == ((), (), None)
        assert found.to_dict()["ppc"]["reason"] == "no connection could be fitted"
        assert "do not rely on these numbers" in found.caution


@pytest.mark.parametrize("variant", ["per-connection", "single-sigma", "intercept", "crossed"])
def test_the_same_seed_gives_the_same_draws(table: DistanceTable, variant: Any) -> None:  # noqa: ANN401
    one, other = (bayes(table, variant=variant, draws=400, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.draws.word, other.draws.word)
    assert one.to_dict() == other.to_dict()
    different = bayes(table, variant=variant, draws=400, random_state=4)
    assert not np.array_equal(one.draws.group, different.draws.group)


def test_the_order_of_rows_does_not_matter(table: DistanceTable) -> None:
    columns = table.columns()
    rows = list(zip(*(columns[name] for name in COLUMNS), strict=True))
    np.random.default_rng(0).shuffle(rows)
    again = distance_table(table.name, [(*row[:4], float(row[4])) for row in rows])
    assert bayes(again, draws=400).to_dict() == bayes(table, draws=400).to_dict()


def test_other_connections_do_not_change_a_connection(table: DistanceTable) -> None:
    part = table.select(table.connection >= 2)
    whole = {one.connection: one for one in bayes(table, draws=400).groups}
    for one in bayes(part, draws=400).groups:
        assert one == whole[one.connection]


def test_draws_of_the_lattice_follow_the_density() -> None:
    """A density with a known marginal and a known conditional: a ~ N(0, 1), c given a ~ N(a, .5²)."""

    def shared(a: Floats, b: Floats) -> Floats:
        return -0.5 * a**2 + 0 * b

    def block(a: Floats, b: Floats, c: Floats) -> Floats:
        return -2 * (c - a) ** 2 + 0 * b

    target = Target(shared, [block, block], [(-40.0, 40.0), (0.0, 0.0), (-50.0, 50.0), (-50.0, 50.0)])
    for points in (12, 64):
        found = draw_from_lattice(target, 20_000, np.random.default_rng(2), points=points)
        assert kstest(found.shared[:, 0], "norm").pvalue > 0.001
        for place in (0, 1):
            assert kstest((found.blocks[:, place] - found.shared[:, 0]) / 0.5, "norm").pvalue > 0.001
        rest = found.blocks - found.shared[:, :1]
        assert abs(float(np.mean(rest[:, 0] * rest[:, 1]))) < 0.03 * 0.25
        assert found.edge < 1e-6


def test_a_density_with_two_peaks_is_drawn_whole() -> None:
    def shared(a: Floats, b: Floats) -> Floats:
        peaks: Floats = np.logaddexp(-0.5 * ((a + 3) / 0.5) ** 2, np.log(2) - 0.5 * ((a - 3) / 0.5) ** 2) + 0 * b
        return peaks

    def block(a: Floats, b: Floats, c: Floats) -> Floats:
        return -0.5 * c**2 + 0 * (a + b)

    found = draw_from_lattice(
        Target(shared, [block], [(-40.0, 40.0), (0.0, 0.0), (-40.0, 40.0)]), 20_000, np.random.default_rng(0)
    )
    assert (found.shared[:, 0] > 0).mean() == pytest.approx(2 / 3, abs=0.02)


def test_mass_at_the_edge_of_the_search_is_told() -> None:
    def shared(a: Floats, b: Floats) -> Floats:
        return 0.1 * a + 0 * b

    def block(a: Floats, b: Floats, c: Floats) -> Floats:
        return -0.5 * c**2 + 0 * (a + b)

    found = draw_from_lattice(
        Target(shared, [block], [(-1.0, 1.0), (0.0, 0.0), (-40.0, 40.0)]), 100, np.random.default_rng(0)
    )
    assert found.edge > 0.5


def test_priors_of_the_wrong_kind_are_refused(table: DistanceTable) -> None:
    for wrong in (
        {"group": "exponential(2)"},
        {"between": "normal(1, 2)"},
        {"residual": "gamma(2)"},
        {"tau": "exponential(2)"},
    ):
        with pytest.raises(ValueError, match="prior"):
            bayes(table, priors=wrong)
    for bad in (lambda: Exponential(0), lambda: HalfNormal(-1), lambda: Normal(0, 0)):
        with pytest.raises(ValueError, match="must be a number above 0"):
            bad()
    with pytest.raises(ValueError, match="'mean'"):
        Normal(np.nan, 1)


def test_priors_may_be_typed(table: DistanceTable) -> None:
    typed = bayes(table, priors={"group": "normal(0.5, 0.01)", "between": "HalfNormal(0.2)"}, draws=400)
    assert typed.priors == Priors(group=Normal(0.5, 0.01), between=HalfNormal(0.2))
    loose = bayes(table, draws=400)
    assert typed.groups[0].mean < loose.groups[0].mean - 0.1  # type: ignore[operator]
