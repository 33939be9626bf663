"""Effects of attribute × group: the density against the plain multivariate normal, coverage by simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from biasgauge.analyses.posterior import (
    Exponential,
    HalfNormal,
    Normal,
    Priors,
    bayes,
    bayes_by_group,
    distance_table,
    read_distances,
)
from biasgauge.analyses.posterior.crossed import CrossedModel
from biasgauge.analyses.posterior.crossed_contrasts import protected_groups
from biasgauge.analyses.posterior.table import DistanceTable
from biasgauge.errors import ParameterError

PRIORS = Priors(group=Normal(0.9, 0.2), between=Exponential(3.0), residual=HalfNormal(0.3), attribute=Exponential(5.0))
SIGMA, TAU, OMEGA, GROUP = 0.08, 0.04, 0.06, 0.9


def simulated(
    random: np.random.Generator, pairing: float, groups: int = 2, words: int = 7, terms: int = 8
) -> DistanceTable:
    """Distances with known effects; associated and different have the same mean."""
    rows = []
    attributes = {(of, term): random.normal(0, OMEGA) for of in range(groups) for term in range(terms)}
    together = {(*one, own): random.normal(0, pairing) for one in attributes for own in range(groups)}
    for own in range(groups):
        for word in range(words):
            effects = random.normal(0, TAU, 2)
            for (of, term), effect in attributes.items():
                value = GROUP + effects[int(of != own)] + effect + together[of, term, own] + random.normal(0, SIGMA)
                kind = "associated" if of == own else "different"
                rows.append((f"word {own} {word}", f"attribute {of} {term}", f"list {of}", kind, value))
    return distance_table("simulated", rows)


def uneven(table: DistanceTable) -> DistanceTable:
    places = np.arange(len(table))
    return table.select(np.sort(np.concatenate([places[places % 7 != 3], places[places % 5 == 0]])))


@pytest.mark.parametrize("holes", [False, True])
def test_density_is_that_of_the_multivariate_normal(holes: bool) -> None:  # noqa: FBT001 - a case
    table = simulated(np.random.default_rng(0), 0.05, groups=3, words=3, terms=2)
    table = uneven(table) if holes else table
    names = ("associated", "different")
    groups = protected_groups(table)
    block = CrossedModel(table, names, PRIORS, groups)
    frame = table.to_frame()
    place = (frame["connection"] == "different").to_numpy().astype(int)
    word, term = frame["protected_word"].to_numpy(), frame["word_to_compare"].to_numpy()
    own = np.array([name.split()[1] for name in word])
    sds = np.exp(np.random.default_rng(1).normal(-2.5, 0.8, (25, block.dimensions)))
    expected = []
    for sigma, tau, omega, kappa in ((one[:2], one[2:4], one[4], one[5]) for one in sds):
        same = place[:, None] == place[None, :]
        total = np.diag(sigma[place] ** 2) + tau[place] ** 2 * (same & (word[:, None] == word[None, :]))
        total += omega**2 * (term[:, None] == term[None, :]) + PRIORS.group.sd**2 * same
        total += kappa**2 * ((term[:, None] == term[None, :]) & (own[:, None] == own[None, :]))
        prior = PRIORS.residual.log_density(sigma).sum() + PRIORS.between.log_density(tau).sum()
        prior += PRIORS.attribute.log_density(np.array([omega, kappa])).sum()
        values = frame["cosine_distance"].to_numpy()
        expected.append(multivariate_normal.logpdf(values, np.full(len(values), PRIORS.group.mean), total) + prior)
    found = block.log_density(sds)
    np.testing.assert_allclose(found - found[0], np.array(expected) - expected[0], rtol=1e-9, atol=1e-7)
    # group means given the standard deviations, from the same normal
    drawn = block.draw_effects(np.tile(sds[-1], (20_000, 1)), np.random.default_rng(2)).means
    solved = np.linalg.inv(total)
    for at in (0, 1):
        cross = PRIORS.group.sd**2 * (place == at)
        mean = PRIORS.group.mean + cross @ solved @ (values - PRIORS.group.mean)
        sd = np.sqrt(PRIORS.group.sd**2 - cross @ solved @ cross)
        assert drawn[:, at].mean() == pytest.approx(mean, abs=5 * sd / 20_000**0.5)
        assert drawn[:, at].std() == pytest.approx(sd, rel=0.03)


def test_without_pairings_it_is_the_crossed_block() -> None:
    table = simulated(np.random.default_rng(3), 0.0)
    names = ("associated", "different")
    sds = np.exp(np.random.default_rng(1).normal(-2.5, 0.5, (20, 5)))
    tiny = np.full((20, 1), 1e-6)
    nested = CrossedModel(table, names, PRIORS, protected_groups(table)).log_density(
        np.concatenate([sds, tiny], axis=1)
    )
    crossed = CrossedModel(table, names, PRIORS).log_density(sds)
    np.testing.assert_allclose(nested - nested[0], crossed - crossed[0], rtol=1e-6, atol=1e-4)


def test_groups_are_told_by_the_lists_of_associated_attributes() -> None:
    table = simulated(np.random.default_rng(3), 0.0, groups=3, words=2, terms=2)
    groups = protected_groups(table)
    assert [table.words[at].split()[1] for at in np.argsort(groups, kind="stable")] == list("001122")
    alone = table.select(table.rows_of(["different"]))
    with pytest.raises(ParameterError, match="associated"):
        bayes_by_group(alone)


@pytest.mark.slow
@pytest.mark.parametrize("pairing", [0.0, 0.1])
def test_the_contrast_covers_where_the_crossed_one_does_not(pairing: float) -> None:
    """METHODS 7.4: at .10 the crossed interval covers .47 of the time; nominal .89, here 60 worlds."""
    random = np.random.default_rng(7)
    held, crossed = 0, 0
    for world in range(60):
        table = simulated(random, pairing)
        contrast = bayes_by_group(table, draws=800, random_state=world).contrasts[0]
        held += float(contrast.low or 0) <= 0 <= float(contrast.high or 0)
        if pairing:
            other = bayes(table, variant="crossed", draws=800, random_state=world).contrasts[0]
            crossed += float(other.low or 0) <= 0 <= float(other.high or 0)
    assert held / 60 > 0.89 - 3 * 0.0404
    if pairing:
        assert crossed < held - 9


def test_summary_has_contrasts_groups_and_spreads() -> None:
    found = bayes_by_group(simulated(np.random.default_rng(5), 0.1))
    contrast = found.contrast("associated", "different")
    means = {one.connection: one.mean for one in found.groups}
    assert contrast.mean == pytest.approx(float(means["associated"] or 0) - float(means["different"] or 0), abs=1e-9)
    assert [table.name for table in found.summary().tables] == ["contrasts", "groups", "spreads"]
    assert found.pairing_sd["associated+different"] == pytest.approx(0.1, abs=0.05)
    assert found.warnings == ()
    again = type(found).from_dict(found.to_dict())
    assert again.to_dict() == found.to_dict()


@pytest.mark.shared
def test_letting_pairings_in_keeps_the_direction_of_gender_in_glove(shared_data: object) -> None:
    table = read_distances(f"{shared_data}/bayes_distances/gender_group_glove_dataset.csv.gz")
    some = replace(table).select(table.rows_of(["associated", "different"]))
    nested = bayes_by_group(some).contrast("associated", "different")
    plain = bayes(some, variant="crossed").contrasts[0]
    assert nested.mean == pytest.approx(plain.mean, abs=0.005)
    assert nested.sd is not None
    assert nested.sd > (plain.sd or 1)
    assert float(nested.high or 0) < 0
