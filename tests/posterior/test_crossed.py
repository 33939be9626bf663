"""The crossed model: its density and its effects against the plain multivariate normal of all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from biasgauge.analyses.posterior import Exponential, HalfNormal, Normal, Priors, bayes, distance_table
from biasgauge.analyses.posterior.crossed import CrossedModel
from biasgauge.analyses.posterior.integrated import sample_integrated

if TYPE_CHECKING:
    from biasgauge.analyses.posterior import DistanceTable
    from biasgauge.core.arrays import Floats


PRIORS = Priors(group=Normal(0.9, 0.2), between=Exponential(3.0), residual=HalfNormal(0.3), attribute=Exponential(5.0))


def uneven(table: DistanceTable) -> DistanceTable:
    """Some rows gone and some twice: nothing is balanced."""
    places = np.arange(len(table))
    return table.select(np.sort(np.concatenate([places[places % 7 != 3], places[places % 5 == 0]])))


def covariance(table: DistanceTable, connections: tuple[str, ...], sds: Floats) -> tuple[Floats, Floats, Any]:
    """Distances, their covariance and their labels, straight from the statement of the model."""
    frame = table.to_frame()
    frame = frame[frame["connection"].isin(connections)]
    place = frame["connection"].map({name: at for at, name in enumerate(connections)}).to_numpy()
    size = len(connections)
    sigma, tau, omega = sds[:size], sds[size:-1], sds[-1]
    word, attribute = frame["protected_word"].to_numpy(), frame["word_to_compare"].to_numpy()
    same_connection = place[:, None] == place[None, :]
    total = np.diag(sigma[place] ** 2)
    total += tau[place] ** 2 * (same_connection & (word[:, None] == word[None, :]))
    total += omega**2 * (attribute[:, None] == attribute[None, :])
    total += PRIORS.group.sd**2 * same_connection
    return frame["cosine_distance"].to_numpy(), total, (place, word, attribute)


CASES = [
    (("associated", "different"), False),
    (("human",), False),
    (("neutral",), False),
    (("associated", "different"), True),
    (("neutral",), True),
]


@pytest.mark.parametrize(("connections", "holes"), CASES)
def test_density_is_that_of_the_multivariate_normal(
    table: DistanceTable,
    connections: tuple[str, ...],
    holes: bool,  # noqa: FBT001 - a case
) -> None:
    data = uneven(table) if holes else table
    block = CrossedModel(data, connections, PRIORS)
    random = np.random.default_rng(0)
    sds = np.exp(random.normal(-2.5, 1.0, (30, block.dimensions)))
    sds[-3:, -1] = 1e-5  # attributes that all agree
    expected = []
    for one in sds:
        values, total, _ = covariance(data, connections, one)
        log_prior = sum(
            float(prior.log_density(sd))
            for prior, sd in zip(
                [PRIORS.residual] * len(connections) + [PRIORS.between] * len(connections) + [PRIORS.attribute],
                one,
                strict=True,
            )
        )
        expected.append(multivariate_normal.logpdf(values, np.full(len(values), PRIORS.group.mean), total) + log_prior)
    found = block.log_density(sds)
    np.testing.assert_allclose(found - found[0], np.array(expected) - expected[0], rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize(("connections", "holes"), CASES)
def test_effects_have_their_conditional_mean_and_variance(
    table: DistanceTable,
    connections: tuple[str, ...],
    holes: bool,  # noqa: FBT001 - a case
) -> None:
    data = uneven(table) if holes else table
    block = CrossedModel(data, connections, PRIORS)
    sds = np.exp(np.random.default_rng(1).normal(-2.2, 0.4, block.dimensions))
    values, total, (place, word, attribute) = covariance(data, connections, sds)
    size = 20_000
    drawn = block.draw_effects(np.tile(sds, (size, 1)), np.random.default_rng(2))
    solved = np.linalg.inv(total)
    away = values - PRIORS.group.mean
    sigma_g, tau, omega = PRIORS.group.sd, sds[len(connections) : -1], sds[-1]

    def expect(cross: Floats, own: float, center: float) -> tuple[float, float]:
        return center + float(cross @ solved @ away), float(np.sqrt(own - cross @ solved @ cross))

    checks = []
    for at in range(len(connections)):
        here = (place == at).astype(float)
        checks.append((drawn.means[:, at], expect(sigma_g**2 * here, sigma_g**2, PRIORS.group.mean)))
        words = drawn.words[:, block.cells[:, 0] == at]
        for column, name in enumerate(sorted(set(word[place == at]))):
            cross = sigma_g**2 * here + tau[at] ** 2 * here * (word == name)
            checks.append((words[:, column], expect(cross, sigma_g**2 + tau[at] ** 2, PRIORS.group.mean)))
    for column, name in enumerate(sorted(set(attribute))):
        checks.append((drawn.attributes[:, column], expect(omega**2 * (attribute == name), omega**2, 0.0)))
    for draws, (mean, sd) in checks:
        assert draws.mean() == pytest.approx(mean, abs=5 * sd / size**0.5)
        assert draws.std() == pytest.approx(sd, rel=0.03)


def test_a_chain_visits_the_whole_density(table: DistanceTable) -> None:
    """Means of the sds against weighted draws from a broad proposal of the test's own."""
    block = CrossedModel(table, ("human",), PRIORS)
    drawn = sample_integrated(block, 4, 5_000, np.random.default_rng(0))
    random = np.random.default_rng(9)
    points = random.normal(np.log(0.08), 1.2, (400_000, block.dimensions))
    logs = block.log_density(np.exp(points)) + points.sum(axis=1)
    logs += 0.5 * (((points - np.log(0.08)) / 1.2) ** 2).sum(axis=1)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    assert 1 / (weights**2).sum() > 2_000
    expected = weights @ np.exp(points)
    np.testing.assert_allclose(drawn.sds.mean(axis=0), expected, rtol=0.05)
    square = weights @ np.exp(2 * points)
    np.testing.assert_allclose((drawn.sds**2).mean(axis=0), square, rtol=0.12)


def test_shared_attributes_widen_the_groups(table: DistanceTable) -> None:
    """The plain model takes rows for independent that are not: its intervals are too narrow."""
    plain = {one.connection: one for one in bayes(table).groups}
    crossed = {one.connection: one for one in bayes(table, variant="crossed").groups}
    assert crossed["neutral"].sd > 1.2 * plain["neutral"].sd  # type: ignore[operator]
    assert bayes(table, variant="crossed").sampler == "integrated"


def test_without_attribute_effects_it_is_the_plain_model() -> None:
    random = np.random.default_rng(4)
    rows = [
        (f"word {word:02}", f"attribute {at:02}", "list", "human", float(0.9 + 0.02 * word + random.normal(0, 0.1)))
        for word in range(8)
        for at in range(30)
    ]
    table = distance_table("no effect of attributes", rows)
    tight = Priors(attribute=HalfNormal(1e-4))
    one, other = bayes(table, draws=20_000), bayes(table, variant="crossed", priors=tight, draws=20_000)
    assert one.groups[0].mean == pytest.approx(other.groups[0].mean, abs=0.002)
    assert one.groups[0].sd == pytest.approx(other.groups[0].sd, rel=0.06)
    for first, second in zip(one.words, other.words, strict=True):
        assert first.mean == pytest.approx(second.mean, abs=0.002)


def test_distances_that_are_explained_completely_have_no_posterior() -> None:
    rows = [
        (f"word {word}", f"attribute {at}", "list", "human", 0.9 + 0.01 * word + 0.03 * at)
        for word in range(3)
        for at in range(4)
    ]
    found = bayes(distance_table("additive", rows), variant="crossed")
    assert list(found.undefined) == ["human"]
    assert bayes(distance_table("additive", rows)).undefined == {}


def test_a_single_row(table: DistanceTable) -> None:
    found = bayes(table.select(np.arange(1)), variant="crossed")
    assert found.groups[0].mean == pytest.approx(1 - (1 - table.distance[0]) * 0.09 / 0.5, abs=0.25)
