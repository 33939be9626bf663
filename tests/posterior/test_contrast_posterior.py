"""The contrast as one crossed model: against the plain multivariate normal of all similarities."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import biasgauge as bg
from biasgauge.analyses.posterior import ContrastPosterior, Exponential, Normal, Priors, posterior
from biasgauge.analyses.posterior.crossed_contrasts import CompleteTable
from biasgauge.core import Query, SimilarityTable, WordPolicy, resolve

if TYPE_CHECKING:
    from biasgauge.core import Floats, Integers
    from biasgauge.vectors import Embedding

PRIORS = Priors(group=Normal(0.0, 0.3), between=Exponential(5.0), residual=Exponential(5.0), attribute=Exponential(5.0))


def covariance(sds: Floats, rows: Integers, columns: Integers) -> Floats:
    """Of all similarities, straight from the statement of the model; sds: residual, lean, attribute, pairing, word."""
    word, attribute = (index.ravel() for index in np.indices((len(rows), len(columns))))

    def same(*labels: Integers) -> Floats:
        return np.asarray(np.all([one[:, None] == one[None, :] for one in labels], axis=0), float)

    residual, lean, omega, kappa, shared = sds**2
    total = residual * np.eye(len(word)) + PRIORS.group.sd**2 * same(rows[word], columns[attribute])
    total += shared * same(word) + lean * same(word, columns[attribute])
    return np.asarray(total + omega * same(attribute) + kappa * same(attribute, rows[word]))


GROUPS = [([0, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1]), ([0, 1, 2, 2, 1, 0, 0], [0, 0, 1, 2, 2])]


@pytest.mark.parametrize("groups", GROUPS)
def test_density_and_means_are_those_of_the_multivariate_normal(groups: tuple[list[int], list[int]]) -> None:
    rows, columns = (np.array(labels) for labels in groups)
    random = np.random.default_rng(0)
    true = np.array([0.05, 0.04, 0.06, 0.03, 0.1])
    total = covariance(true, rows, columns)
    values = 0.1 + np.linalg.cholesky(total) @ random.standard_normal(len(total))
    model = CompleteTable(values.reshape(len(rows), len(columns)), rows, columns, PRIORS)
    sds = np.exp(random.normal(np.log(0.06), 0.6, (30, 5)))
    expected = [
        multivariate_normal.logpdf(values, np.zeros(len(values)), covariance(one, rows, columns)) - 5.0 * one.sum()
        for one in sds
    ]
    found = model.log_density(sds)
    np.testing.assert_allclose(found - found[0], np.array(expected) - expected[0], rtol=1e-9, atol=1e-7)
    # means of cells given standard deviations, from the same normal
    solved = np.linalg.inv(total)
    drawn = model.draw_effects(np.tile(true, (20_000, 1)), np.random.default_rng(2)).means
    word, attribute = (index.ravel() for index in np.indices((len(rows), len(columns))))
    cell = rows[word] * (columns.max() + 1) + columns[attribute]
    for index in range(drawn.shape[1]):
        cross = PRIORS.group.sd**2 * (cell == index)
        mean, sd = cross @ solved @ values, np.sqrt(PRIORS.group.sd**2 - cross @ solved @ cross)
        assert drawn[:, index].mean() == pytest.approx(mean, abs=5 * sd / 20_000**0.5)
        assert drawn[:, index].std() == pytest.approx(sd, rel=0.03)


@pytest.fixture(scope="module")
def vectors() -> Embedding:
    return bg.vectors.load_default()


@pytest.mark.slow
def test_the_posterior_agrees_with_importance_sampling(vectors: Embedding) -> None:
    """The same similarities, weighed by the multivariate normal of all of them: nothing is shared with the sampler."""
    found = posterior(vectors, "weat7", draws=8_000, priors=PRIORS)
    assert found.diagnostics.ok
    table = SimilarityTable(resolve(Query.from_lexicon("weat7"), vectors))
    rows, columns, values = table.target_groups, table.attribute_groups, table.values[0].ravel()
    random = np.random.default_rng(1)
    center, spread = np.log(list(found.sds.values())), np.array([0.15, 0.9, 0.35, 0.35, 0.35])
    points = random.normal(center, spread, (300, 5))
    cross = PRIORS.group.sd**2 * np.array([[1.0, -1.0], [-1.0, 1.0]])[rows][:, columns].ravel()
    logs, means, squares = [], [], []
    for point in points:
        total = covariance(np.exp(point), rows, columns)
        solved = np.linalg.solve(total, np.stack([values, cross], axis=1))
        logs.append(-0.5 * (np.linalg.slogdet(total)[1] + values @ solved[:, 0]))
        means.append(cross @ solved[:, 0])
        squares.append(4 * PRIORS.group.sd**2 - cross @ solved[:, 1] + means[-1] ** 2)
    weight = np.array(logs) - 5 * np.exp(points).sum(axis=1) + points.sum(axis=1)
    weight += 0.5 * (((points - center) / spread) ** 2).sum(axis=1)
    weights = np.exp(weight - weight.max())
    weights /= weights.sum()
    mean = weights @ means
    assert found.contrast.value == pytest.approx(mean, abs=0.15 * (found.contrast.sd or 0))
    assert found.contrast.sd == pytest.approx(np.sqrt(weights @ squares - mean**2), rel=0.15)


def test_it_says_what_the_contrast_of_weat_says(vectors: Embedding) -> None:
    found, contrast = posterior(vectors, "weat1"), bg.weat(vectors, "weat1").contrast
    assert contrast is not None
    assert found.contrast.value == pytest.approx(contrast.value, abs=0.005)
    assert found.contrast.p_direction == pytest.approx(1.0, abs=0.01)
    assert (found.cells[0].targets, found.cells[0].attributes) == ("flowers", "pleasant")


def test_json_there_and_back_and_too_few_words(vectors: Embedding) -> None:
    found = posterior(vectors, "weat7", draws=400)
    again = ContrastPosterior.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    assert again.to_dict() == found.to_dict()
    assert len(found.to_frame()) == 4
    few = posterior({"math": [1.0, 2.0], "poetry": [2.0, 1.0]}, "weat7", policy=WordPolicy(min_coverage=1.0))
    assert few.contrast.value is None
    assert "undefined" in few.summary().headline
    assert few.warnings
