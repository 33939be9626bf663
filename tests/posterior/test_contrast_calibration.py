"""Simulation-based calibration of the model of a contrast, and coverage of its interval at fixed sizes of effects.

Parameters come from the prior and tables from the model; the rank of each true value among the draws is then uniform
(Talts et al. 2018). Ranks become normal scores, whose mean and mean square each give a p-value (Cook, Gelman & Rubin
2006). Faults that are planted on purpose must be found by the same test.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm

from biasgauge.analyses.posterior import (
    ContrastPriors,
    DistanceTable,
    HalfNormal,
    Normal,
    bayes,
    distance_table,
    fit_contrast,
    posterior,
)
from biasgauge.analyses.posterior.contrast_model import ContrastModel
from biasgauge.core import Floats
from biasgauge.stats import Credible

pytestmark = pytest.mark.calibration

PRIORS = ContrastPriors(Normal(0.0, 0.1), HalfNormal(0.1), HalfNormal(0.1), HalfNormal(0.05))
WEAT = np.array([[1.0, -1.0], [-1.0, 1.0]])
GROUPS = np.repeat([0, 1], 9)
SOUND, FAULTY = 0.01, 1e-6
KEPT = 100


def table_of(
    random: np.random.Generator, sds: dict[str, float], prefix: str, frequency: list[Floats]
) -> tuple[Floats, Floats]:
    """Coefficients K and one table of effects, straight from the statement of the model."""
    designs = [np.column_stack([np.eye(2)[GROUPS], *([] if f is None else polynomial(f))]) for f in frequency]
    kinds = ["", "", *[" by frequency"] * (designs[0].shape[1] - 2)]
    size = np.full((len(kinds), len(kinds)), sds["replicate contrast by frequency"] if prefix and kinds[2:] else 0.0)
    size[:2, :2] = sds["replicate contrast"] if prefix else 0.0
    coefficients = random.normal(0, size if prefix else PRIORS.cell.sd, size.shape)
    leans, pairings = (
        np.stack([random.normal(0, sds[f"{prefix}{name}{kind}"], len(GROUPS)) for kind in kinds], 1)
        for name in ("lean", "pairing")
    )
    table = designs[0] @ coefficients @ designs[1].T + leans @ designs[1].T + designs[0] @ pairings.T
    return coefficients, table + random.normal(0, sds[f"{prefix}residual"], table.shape)


def polynomial(values: Floats) -> list[Floats]:
    first = (values - values.mean()) / values.std()
    square = first**2 - np.polyval(np.polyfit(first, first**2, 1), first)
    return [first, square / square.std()]


def ranks_in(world: int, models: int, frequencies: bool) -> Floats:  # noqa: FBT001 - a case
    """Share of draws below the truth: the contrast, then each standard deviation."""
    random = np.random.default_rng([5, world])
    frequency: list[Any] = [random.normal(4, 0.5, len(GROUPS)) - 0.4 * GROUPS if frequencies else None for _ in "ra"]
    names = ["residual", "lean", "pairing"] + ["lean by frequency", "pairing by frequency"] * frequencies
    names += (
        ["replicate contrast"]
        + ["replicate contrast by frequency"] * frequencies
        + [f"replicate {name}" for name in names]
    ) * (models > 1)
    sds = {
        name: abs(random.normal(0, (PRIORS.replicates if name.startswith("replicate") else PRIORS.effects).scale))  # type: ignore[union-attr]
        for name in names
    }
    coefficients, shared = table_of(random, sds, "", frequency)
    tables = [shared + (table_of(random, sds, "replicate ", frequency)[1] if models > 1 else 0) for _ in range(models)]
    mains = random.standard_normal((models, len(GROUPS), 1)) + random.standard_normal((models, 1, len(GROUPS)))
    fit = fit_contrast(
        np.stack(tables) + mains, GROUPS, GROUPS, WEAT, priors=PRIORS, draws=1_200, random=random,
        log_frequencies=(frequency[0], frequency[1]) if frequencies else None,
    )  # fmt: skip
    truth = [float((WEAT * coefficients[:2, :2]).sum()), *(sds[name] for name in fit.names)]
    drawn = np.column_stack([fit.contrast, fit.sds])
    kept = drawn[:: max(1, len(drawn) // KEPT)][:KEPT]
    return np.asarray(((kept < truth).sum(axis=0) + 0.5) / (len(kept) + 1))


def worst_p(worlds: int, models: int = 1, *, frequencies: bool = False) -> float:
    """Smallest p-value over all quantities, corrected for their number."""
    ranks = np.stack([ranks_in(world, models, frequencies) for world in range(worlds)])
    scores = np.vectorize(NormalDist().inv_cdf)(ranks)
    bias = 2 * norm.sf(np.abs(scores.sum(axis=0)) / worlds**0.5)
    spread = chi2.cdf((scores**2).sum(axis=0), worlds)
    found = np.concatenate([bias, 2 * np.minimum(spread, 1 - spread)])
    return float(min(1.0, found.min() * len(found)))


@pytest.mark.parametrize(("models", "frequencies"), [(1, False), (1, True), (3, False), (3, True)])
def test_ranks_are_uniform(models: int, frequencies: bool) -> None:  # noqa: FBT001 - a case
    assert worst_p(80, models, frequencies=frequencies) > SOUND


@pytest.mark.parametrize(("effect", "factor"), [(2, 0.0), (1, 0.5)])
def test_a_wrong_variance_of_an_effect_is_found(effect: int, factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairings dropped; the variance of leans halved."""
    original = ContrastModel._covariances  # noqa: SLF001 - the fault is planted here

    def faulty(self: ContrastModel, variances: Floats) -> tuple[Floats, Floats]:
        factors = np.ones(variances.shape[1])
        factors[effect] = factor
        return original(self, variances * factors)

    monkeypatch.setattr(ContrastModel, "_covariances", faulty)
    assert worst_p(80) < FAULTY


def test_half_the_variance_of_the_contrast_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    original = ContrastModel.contrast_given

    def faulty(self: ContrastModel, sds: Floats) -> tuple[Floats, Floats]:
        center, sd = original(self, sds)
        return center, sd * 0.5**0.5

    monkeypatch.setattr(ContrastModel, "contrast_given", faulty)
    assert worst_p(200) < FAULTY


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.02, 0.05, 0.1])
def test_the_interval_covers_at_fixed_sizes_of_effects(sd: float) -> None:
    """200 worlds of 12 words a list: nominal .89 ± 3 Monte Carlo errors."""
    covered = 0
    for world in range(200):
        random = np.random.default_rng([9, world])
        groups = np.repeat([0, 1], 12)
        table = random.normal(0, 0.08, (24, 24)) + 0.0125 * np.outer(1 - 2 * groups, 1 - 2 * groups)
        table += random.normal(0, sd, (24, 2))[:, groups] + random.normal(0, sd, (24, 2)).T[groups]
        fit = fit_contrast(table[None], groups, groups, WEAT, draws=1_000, random=random)
        low, high = Credible().ends(fit.contrast)
        covered += bool(low <= 0.05 <= high)
    assert covered / 200 == pytest.approx(0.89, abs=3 * 0.0222)


def simulated(random: np.random.Generator, pairing: float, words: int = 7, terms: int = 8) -> DistanceTable:
    """Distances of two groups with known effects; associated and different have the same mean."""
    rows = []
    attributes = {(of, term): random.normal(0, 0.06) for of in range(2) for term in range(terms)}
    together = {(*key, group): random.normal(0, pairing) for key in attributes for group in range(2)}
    for group in range(2):
        for word in range(words):
            effects = random.normal(0, 0.04, 2)
            for (of, term), effect in attributes.items():
                value = 0.9 + effects[int(of != group)] + effect + together[of, term, group] + random.normal(0, 0.08)
                kind = "associated" if of == group else "different"
                rows.append((f"word {group} {word}", f"attribute {of} {term}", f"list {of}", kind, value))
    return distance_table("simulated", rows)


@pytest.mark.slow
def test_it_covers_where_the_published_crossed_variant_does_not() -> None:
    """METHODS 7.4: with effects of attribute × group of .10 the crossed interval covers .47 of the time; 60 worlds."""
    random = np.random.default_rng(7)
    covered, crossed = 0, 0
    for world in range(60):
        table = simulated(random, 0.1)
        contrast = posterior(table, draws=800, random_state=world).contrast
        covered += float(contrast.low or 0) <= 0 <= float(contrast.high or 0)
        other = bayes(table, variant="crossed", draws=800, random_state=world).contrasts[0]
        crossed += float(other.low or 0) <= 0 <= float(other.high or 0)
    assert covered / 60 > 0.89 - 3 * 0.0404
    assert crossed < covered - 9
