"""Simulation-based calibration: parameters from the prior, distances from the model, posterior from the sampler.

If sampler and model agree, the rank of the true value among the draws is uniform, for every parameter and for the log
likelihood (Talts et al. 2018; Modrák et al. 2023). Ranks become normal scores; their mean and their mean square each
give a p-value (Cook, Gelman & Rubin 2006). Faults that are planted on purpose must be found by the same test.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import chi2, norm

from biasgauge.analyses.posterior import Exponential, HalfNormal, Normal, Priors, exact
from biasgauge.analyses.posterior.draws import fit
from biasgauge.analyses.posterior.model_checks import log_likelihood
from biasgauge.analyses.posterior.priors import DEFAULT_PRIORS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from biasgauge.analyses.posterior.draws import Draws
    from biasgauge.core.arrays import Floats

pytestmark = pytest.mark.calibration


OWN = ("per-connection", "single-sigma", "intercept", "crossed")
KEPT = 100
"""Draws that a truth is ranked among: the chains, thinned."""
SOUND, FAULTY = 0.01, 1e-6
"""Smallest corrected p-value of a sound sampler, largest of one with a planted fault."""

Sampler = "Callable[[Any, Priors, int], Draws]"


def likelihood(draws: Draws, table: Any) -> Floats:  # noqa: ANN401 - a DistanceTable
    rows = draws.rows(table)
    found: Floats = log_likelihood(draws, rows, table.distance[rows.row], slice(None)).sum(axis=0)
    return found


def as_draws(world: Any, draws: Draws) -> Draws:  # noqa: ANN401 - a World
    """The truth in the shape of a single draw."""
    one = {name: value[None] for name, value in world.truth().items()}
    attributes = None
    if draws.attributes is not None:
        attributes = replace(draws.attributes, effect=one["attribute"], sd=one["attribute_sd"])
    return replace(
        draws,
        chains=1,
        group=one["group"],
        word=one["word"],
        between=one["between"],
        residual=one["residual"],
        freedom=one.get("freedom"),
        baseline=None if draws.baseline is None else one["baseline"][0],
        attributes=attributes,
    )


def ranks_of(world: Any, draws: Draws) -> dict[str, Floats]:  # noqa: ANN401
    """Share of the kept draws below the truth, for every scalar."""
    step = max(1, len(draws) // KEPT)
    found = {}
    for name, values in draws.parameters().items():
        kept = values.reshape(len(values), -1)[::step][:KEPT]
        found[name] = ((kept < world.truth()[name].ravel()).sum(axis=0) + 0.5) / (len(kept) + 1)
    true = likelihood(as_draws(world, draws), world.table)[0]
    kept = likelihood(draws, world.table)[::step][:KEPT]
    found["likelihood"] = np.array([((kept < true).sum() + 0.5) / (len(kept) + 1)])
    return found


def worst_p(ranks: Iterable[dict[str, Floats]]) -> tuple[float, str]:
    """Smallest p-value over all quantities, corrected for their number, and where it was found."""
    gathered = [
        {f"{name}[{at}]": value for name, values in one.items() for at, value in enumerate(values)} for one in ranks
    ]
    found = []
    for name in gathered[0]:
        scores = np.array([NormalDist().inv_cdf(one[name]) for one in gathered])
        size = len(scores)
        spread = chi2.cdf((scores**2).sum(), size)
        found += [
            (2 * norm.sf(abs(scores.sum()) / size**0.5), f"{name}: bias"),
            (2 * min(spread, 1 - spread), f"{name}: spread"),
        ]
    p, where = min(found)
    return float(min(1.0, p * len(found))), where


def calibration(
    worlds: Any,  # noqa: ANN401
    variant: str,
    priors: Priors,
    count: int,
    sample: Callable[[Any, int], Draws],
    start: int = 0,
) -> tuple[float, str]:
    ranks = []
    for number in range(start, start + count):
        world = worlds.draw(variant, priors, [7, number])
        ranks.append(ranks_of(world, sample(world.table, number)))
    return worst_p(ranks)


def own_sampler(variant: str, priors: Priors) -> Callable[[Any, int], Draws]:
    def sample(table: Any, number: int) -> Draws:  # noqa: ANN401
        size = 800 if variant == "crossed" else KEPT
        return fit(table, variant, priors, draws=size, random_state=number).draws

    return sample


@pytest.mark.parametrize("variant", OWN)
def test_ranks_are_uniform(worlds: Any, variant: str) -> None:  # noqa: ANN401
    priors = DEFAULT_PRIORS[variant]
    p, where = calibration(worlds, variant, priors, 50, own_sampler(variant, priors))
    assert p > SOUND, where


def test_ranks_are_uniform_under_other_priors(worlds: Any) -> None:  # noqa: ANN401
    priors = Priors(group=Normal(0.5, 0.1), between=HalfNormal(0.2), residual=HalfNormal(0.4))
    p, where = calibration(worlds, "per-connection", priors, 50, own_sampler("per-connection", priors))
    assert p > SOUND, where


@pytest.mark.slow
@pytest.mark.parametrize("variant", OWN)
def test_ranks_are_uniform_in_many_worlds(worlds: Any, variant: str) -> None:  # noqa: ANN401
    priors = DEFAULT_PRIORS[variant]
    p, where = calibration(worlds, variant, priors, 300, own_sampler(variant, priors), start=1_000)
    assert p > SOUND, where


def test_a_wrong_prior_scale_is_found(worlds: Any) -> None:  # noqa: ANN401
    told = DEFAULT_PRIORS["per-connection"]
    believed = replace(told, between=Exponential(20.0))
    p, where = calibration(worlds, "per-connection", told, 50, own_sampler("per-connection", believed))
    assert p < FAULTY, where


def test_a_dropped_word_effect_is_found(worlds: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    original = exact._means  # noqa: SLF001 - the fault is planted here

    def without_words(*arguments: Any) -> exact.ConnectionDraws:  # noqa: ANN401
        drawn = original(*arguments)
        return drawn._replace(words=np.repeat(drawn.group[:, None], drawn.words.shape[1], axis=1))

    monkeypatch.setattr(exact, "_means", without_words)
    priors = DEFAULT_PRIORS["per-connection"]
    p, where = calibration(worlds, "per-connection", priors, 50, own_sampler("per-connection", priors))
    assert p < FAULTY, where


@pytest.mark.parametrize("variant", ["per-connection", "crossed"])
def test_a_transposed_index_is_found(worlds: Any, variant: str) -> None:  # noqa: ANN401
    """Cells of words × connections read as connections × words."""
    priors = DEFAULT_PRIORS[variant]

    def transposed(table: Any, number: int) -> Draws:  # noqa: ANN401
        drawn = own_sampler(variant, priors)(table, number)
        order = np.arange(drawn.word.shape[1]).reshape(len(drawn.connections), -1).T.ravel()
        return replace(drawn, word=drawn.word[:, order])

    p, where = calibration(worlds, variant, priors, 50, transposed)
    assert p < FAULTY, where


@pytest.mark.slow
@pytest.mark.parametrize("variant", [*OWN, "student"])
def test_nuts_ranks_are_uniform(worlds: Any, variant: str) -> None:  # noqa: ANN401
    """The model is built once and given other distances, which spares the compiling."""
    pytest.importorskip("pymc")
    nutpie = pytest.importorskip("nutpie")
    from biasgauge.analyses.posterior import nuts

    priors = DEFAULT_PRIORS[variant]
    built = nuts.build_model(worlds.draw(variant, priors, [8, 0]).table, variant, priors)
    compiled = nutpie.compile_pymc_model(built)

    def sample(table: Any, number: int) -> Draws:  # noqa: ANN401
        trace = nutpie.sample(
            compiled.with_data(**nuts.model_data(table, variant)),
            chains=1,
            cores=1,
            draws=1_000,
            tune=800,
            seed=number,
            target_accept=0.99,
            save_warmup=False,
            progress_bar=False,
        )
        return nuts._collect(trace, table, variant, 1)  # noqa: SLF001 - what sample_nuts does with a trace

    p, where = calibration(worlds, variant, priors, 300, sample, start=2_000)
    assert p > SOUND, where
