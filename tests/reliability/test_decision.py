"""The decision study: published coefficients, identities with other reliabilities, and its own arithmetic."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.stats import norm

from biasgauge.analyses.reliability import decision_study, variance_components
from biasgauge.analyses.reliability.components import squared_means
from biasgauge.analyses.reliability.decision import Coefficient, GeneralizabilityModel
from biasgauge.errors import ParameterError
from biasgauge.scores import ScoreTensor
from biasgauge.stats import cronbach_alpha, icc
from biasgauge.stats.crossed import simulate, subsets_of

if TYPE_CHECKING:
    from biasgauge.core.arrays import Floats

# Brennan, Generalizability Theory (2001), synthetic data set 3 (10 persons × 4 items × 2 occasions): see
# test_components.py, where its components are held against the printed ones.
OCCASIONS = np.array(
    [
        [[2, 4, 5, 5, 4, 4, 2, 3, 0, 6], [6, 5, 5, 9, 3, 4, 6, 4, 5, 8],
         [7, 6, 4, 8, 5, 4, 6, 4, 4, 7], [5, 7, 6, 6, 6, 7, 5, 5, 5, 6]],
        [[2, 6, 5, 5, 4, 6, 2, 6, 5, 6], [5, 7, 4, 7, 5, 4, 7, 6, 5, 8],
         [5, 5, 5, 7, 6, 7, 7, 6, 5, 8], [5, 7, 5, 6, 4, 8, 5, 4, 3, 6]],
    ],
    float,
)  # fmt: skip


def tensor(values: Floats) -> ScoreTensor:
    measures, pairs, words, models = values.shape
    return ScoreTensor(
        values.astype(np.float32),
        np.zeros(values.shape, np.uint8),
        tuple(f"measure{place}" for place in range(measures)),
        tuple((f"he{place}", f"she{place}") for place in range(pairs)),
        tuple(f"word{place}" for place in range(words)),
        tuple(f"model{place}" for place in range(models)),
        {},
    )


BRENNAN = variance_components(tensor(OCCASIONS.transpose(1, 2, 0)[None]))
STEADY = variance_components(
    tensor(
        simulate(
            (8, 5, 60), subsets_of(3), np.array([0.1, 0.05, 1.0, 0.05, 1.0, 0.2, 0.5]), np.random.default_rng(9)
        ).transpose(0, 2, 1)[None]
    )
)
"""Enough words, pairs and models for most draws of its components to allow a plan."""


def test_the_published_coefficients_of_the_person_item_occasion_design() -> None:
    today = decision_study(BRENNAN).today
    assert today.levels == {"pair": 4, "model": 2}
    assert today.generalizability == pytest.approx(0.64, abs=0.005)
    assert today.dependability == pytest.approx(0.55, abs=0.005)


def test_the_published_coefficients_with_items_fixed() -> None:
    today = decision_study(BRENNAN, fixed=("pair",)).today
    assert today.generalizability == pytest.approx(0.81, abs=0.005)
    assert today.dependability == pytest.approx(0.79, abs=0.005)


def test_one_facet_gives_cronbachs_alpha_and_the_intraclass_correlations_of_means() -> None:
    """Generalizability of objects over items is alpha and ICC(3,k), dependability ICC(2,k): three routes each."""
    random = np.random.default_rng(0)
    table = random.normal(size=(14, 1)) + random.normal(0, 0.5, (1, 6)) + random.normal(size=(14, 6))
    for measured, values in (("word", table.T[None, :, :, None]), ("pair", table[None, :, :, None])):
        found = decision_study(variance_components(tensor(values)), object=measured).today  # type: ignore[arg-type]
        assert found.generalizability == pytest.approx(cronbach_alpha(table).value, abs=1e-6)
        assert found.generalizability == pytest.approx(icc(table, "3,k").value, abs=1e-6)
        assert found.dependability == pytest.approx(icc(table, "2,k").value, abs=1e-6)


def test_one_replicate_on_a_fixed_pair_is_the_test_retest_reliability_of_that_pair() -> None:
    """With one pair there is nothing but words × models: Φ of one replicate is ICC(2,1)."""
    random = np.random.default_rng(1)
    table = random.normal(size=(30, 1)) + random.normal(0, 0.7, (30, 5))
    found = decision_study(variance_components(tensor(table[None, None])))
    assert found.single.dependability == pytest.approx(icc(table, "2,1").value, abs=1e-6)


def test_coefficients_by_hand() -> None:
    part = {one.name: one.variance for one in BRENNAN.components}
    found = decision_study(BRENNAN, pairs=[7], replicates=[3]).designs[0]
    relative = part["word:pair"] / 7 + part["word:model"] / 3 + part["word:pair:model"] / 21
    absolute = relative + part["pair"] / 7 + part["model"] / 3 + part["pair:model"] / 21
    assert found.generalizability == pytest.approx(part["word"] / (part["word"] + relative))
    assert found.dependability == pytest.approx(part["word"] / (part["word"] + absolute))
    assert found.standard_error == pytest.approx(absolute**0.5)
    pair = decision_study(BRENNAN, object="pair", words=[9], replicates=[3]).designs[0]
    relative = part["word:pair"] / 9 + part["pair:model"] / 3 + part["word:pair:model"] / 27
    assert pair.generalizability == pytest.approx(part["pair"] / (part["pair"] + relative))


def test_a_query_is_compared_with_zero() -> None:
    part = {one.name: one.variance for one in BRENNAN.components}
    found = decision_study(BRENNAN, object="query", words=[8], pairs=[4], replicates=[2])
    sizes = {"word": 8, "pair": 4, "model": 2}
    error = sum(value / np.prod([sizes[name] for name in key.split(":")]) for key, value in part.items())
    here = sum(
        value / np.prod([{"word": 10, "pair": 4, "model": 2}[name] for name in key.split(":")])
        for key, value in part.items()
    )
    mean = OCCASIONS.mean() ** 2 - here
    assert found.designs[0].dependability == pytest.approx(mean / (mean + error), rel=1e-6)
    assert found.designs[0].generalizability is None
    assert found.designs[0].standard_error == pytest.approx(error**0.5)


@pytest.mark.parametrize("target", [0.5, 0.7, 0.8])
@pytest.mark.parametrize("coefficient", ["dependability", "generalizability"])
def test_the_number_needed_at_the_estimates_is_the_smallest_that_reaches_the_target(
    target: float, coefficient: Coefficient
) -> None:
    found = decision_study(BRENNAN, target=target, coefficient=coefficient, pairs=[2, 8, 15, 40])
    assert any(one.estimate is not None and one.estimate > 1 for one in found.needs)
    for need in found.needs:
        if need.estimate is None or need.estimate == 1:
            continue
        around = [need.estimate - 1, need.estimate]
        pairs = [int(need.levels["pair"])]
        less, enough = decision_study(
            BRENNAN, target=target, coefficient=coefficient, pairs=pairs, replicates=around
        ).designs
        assert not less.reaches
        assert enough.reaches


@pytest.mark.parametrize("assurance", [0.5, 0.8, 0.95])
def test_a_plan_is_the_smallest_number_that_is_enough_in_so_many_draws(assurance: float) -> None:
    """Counted draw by draw, with the error of a word's mean by hand."""
    found = decision_study(STEADY, target=0.8, assurance=assurance, replicates=[5])
    need = found.alone["pair"]
    assert need.number is not None
    assert need.estimate is not None
    assert need.assurance == found.assurance == assurance
    names = [one.name for one in STEADY.components]
    drawn = dict(zip(names, STEADY.drawn.T, strict=True))

    def enough(pairs: int) -> float:
        error = (drawn["pair"] + drawn["word:pair"]) / pairs + (drawn["model"] + drawn["word:model"]) / 5
        error = error + (drawn["pair:model"] + drawn["word:pair:model"]) / (5 * pairs)
        return float((drawn["word"] / (drawn["word"] + error) >= 0.8).mean())

    assert enough(need.number) >= assurance > enough(need.number - 1)
    design = decision_study(STEADY, pairs=[need.number], replicates=[5]).designs[0]
    assert design.assurance == pytest.approx(enough(need.number))
    said = " ".join(found.sentences())
    assert f"with an assurance of {100 * assurance:.0f} % requires" in said
    assert f"{need.number} pairs are enough (95 % interval of pairs needed: {need.low} to {need.high})" in said
    assert f'"assurance": {assurance}' in json.dumps(found.to_dict())


def test_a_plan_that_only_the_estimates_allow_is_not_recommended() -> None:
    need = decision_study(BRENNAN, target=0.7, assurance=0.95).alone["pair"]
    assert need.number is None
    assert need.estimate is not None
    assert need.reason == (
        f"no number of pairs reaches 0.7 in 95 % of the draws; at the estimates {need.estimate} would"
    )


def plan_falls_short(variances: dict[Any, float], shape: tuple[int, int, int], run: int, random: Any) -> bool:  # noqa: ANN401
    """Whether the recommended number of pairs is too small for the components that the scores were made from."""
    order = np.array([variances[one] for one in subsets_of(3)])
    values = simulate(shape, subsets_of(3), order, random).transpose(0, 2, 1)[None]
    components = variance_components(tensor(values), draws=600, random_state=run)
    number = decision_study(components, pairs=[1], replicates=[1]).alone["pair"].number
    if number is None:
        return False
    error = (variances[0,] + variances[0, 2]) / number + (variances[1,] + variances[1, 2]) / shape[1]
    error += (variances[0, 1] + variances[0, 1, 2]) / (number * shape[1])
    return 1 / (1 + error) < 0.8


SLOW = pytest.mark.slow
PLANNED = {
    "even": {(2,): 1.0, (0,): 0.2, (1,): 0.1, (0, 2): 0.8, (1, 2): 0.2, (0, 1): 0.05, (0, 1, 2): 0.5},
    "pairs": {(2,): 1.0, (0,): 0.1, (1,): 0.02, (0, 2): 2.0, (1, 2): 0.05, (0, 1): 0.02, (0, 1, 2): 0.5},
    "hard": {(2,): 1.0, (0,): 0.5, (1,): 0.3, (0, 2): 0.5, (1, 2): 0.1, (0, 1): 0.1, (0, 1, 2): 0.3},
}


def short_plans(name: str, shape: tuple[int, int, int], runs: int) -> float:
    random = np.random.default_rng(7)
    return float(np.mean([plan_falls_short(PLANNED[name], shape, run, random) for run in range(runs)]))


def test_a_plan_falls_short_in_at_most_a_fifth_of_cases() -> None:
    assert short_plans("pairs", (6, 4, 40), 60) <= 0.2 + 3 * (0.2 * 0.8 / 60) ** 0.5


@pytest.mark.calibration
@pytest.mark.parametrize(
    ("name", "shape", "runs"),
    [
        ("even", (6, 4, 40), 150),
        *(
            pytest.param(name, shape, 400, marks=SLOW)
            for name in PLANNED
            for shape in [(6, 4, 40), (10, 8, 30), (23, 3, 60)]
        ),
    ],
)
def test_plans_reach_their_target_as_often_as_they_say(name: str, shape: tuple[int, int, int], runs: int) -> None:
    assert short_plans(name, shape, runs) <= 0.2 + 3 * (0.2 * 0.8 / runs) ** 0.5


def test_squares_of_means_have_the_error_of_the_mean_taken_off() -> None:
    """Each draw solves P(|N(μ, s²)| ≤ |mean|) = tail (SciPy's normal), and is 0 where no μ does."""
    spread, tail = np.array([0.5, 0.5, 0.5, 2.0]), np.array([0.1, 0.8, 0.999, 0.6])
    squares = squared_means(0.8, spread, tail)
    for square, sd, probability in zip(squares, spread, tail, strict=True):
        mu = square**0.5
        reached = norm.cdf(0.8, mu, sd) - norm.cdf(-0.8, mu, sd)
        assert reached == pytest.approx(probability) if square > 0 else reached < probability
    assert squares[:2].all()
    assert not squares[2:].any()
    assert squared_means(0.8, np.zeros(1), np.array([0.4])) == pytest.approx([0.64])


def query_coverage(phi: float, runs: int) -> tuple[float, int]:
    """Share of intervals of a query's dependability that hold it, and how many do not hold their own estimate."""
    random, shape = np.random.default_rng(8), (6, 4, 40)
    variances = np.array([PLANNED["even"][one] for one in subsets_of(3)])
    error = sum(
        variance / np.prod([shape[axis] for axis in one])
        for one, variance in zip(subsets_of(3), variances, strict=True)
    )
    hits = outside = 0
    for run in range(runs):
        values = simulate(shape, subsets_of(3), variances, random) + (error * phi / (1 - phi)) ** 0.5
        components = variance_components(tensor(values.transpose(0, 2, 1)[None]), draws=600, random_state=run)
        study = decision_study(components, object="query", words=[40], pairs=[6], replicates=[4])
        ends, value = study.today.dependability_interval, study.today.dependability
        assert ends.low is not None
        assert ends.high is not None
        assert value is not None
        hits += ends.low <= phi + 1e-12 <= ends.high + 2e-12
        outside += not ends.low <= value <= ends.high
    return hits / runs, outside


def test_the_dependability_of_a_query_lies_inside_its_interval() -> None:
    assert query_coverage(0.0, 25)[1] == query_coverage(0.5, 25)[1] == 0


@pytest.mark.calibration
@pytest.mark.slow
@pytest.mark.parametrize("phi", [0.0, 0.5, 0.8])
def test_the_interval_of_the_dependability_of_a_query_covers(phi: float) -> None:
    """Conservative at 0, where only the lower end can miss: .975 at least."""
    runs = 500
    covered, outside = query_coverage(phi, runs)
    assert outside == 0
    assert covered >= 0.95 - 3 * (0.95 * 0.05 / runs) ** 0.5
    assert phi == 0 or covered <= 0.95 + 3 * (0.95 * 0.05 / runs) ** 0.5


@pytest.mark.parametrize(
    ("limit", "falling", "levels"),
    [
        (1.0, 0.0, 1.0),  # on the goal whatever the number of models: one is enough
        (1.0, 0.5, np.inf),  # on the goal only with infinitely many
        (1.0 + 2**-50, 0.0, np.inf),  # beyond it
        (0.5, 0.0, 1.0),
        (0.5, 0.25, 1.0),  # one is more than enough
        (0.5, 0.5, 1.0),  # just enough
        (0.5, 1.5, 3.0),
    ],
)
@pytest.mark.parametrize("relative", [True, False])
def test_levels_needed_at_the_boundary(limit: float, falling: float, levels: float, *, relative: bool) -> None:
    """Universe score 1 and goal .5 leave room for an error of exactly 1; with n models it is limit + falling / n."""
    facets = (("word",), ("word", "pair"), ("word", "model")) if relative else (("word",), ("pair",), ("model",))
    variances = np.array([[1.0, 2 * limit, falling]])
    model = GeneralizabilityModel(facets, variances, np.zeros(1), "word", frozenset(), target=0.5, relative=relative)
    assert model.solve_levels("model", {"pair": 2, "model": 4}).tolist() == [levels]
    design = model.design({"pair": 2, "model": levels})
    reached = design.generalizability if relative else design.dependability
    assert reached is not None
    assert (reached >= 0.5) == design.reaches == (limit <= 1)


def test_what_cannot_be_reached_says_why() -> None:
    found = decision_study(BRENNAN, target=0.8, pairs=[1, 4])
    assert not found.reachable
    assert found.needs[0].reason is not None
    assert found.needs[0].reason.startswith("no number of replicates reaches 0.8: with infinitely many it would be 0.3")
    limit = decision_study(BRENNAN, pairs=[1], replicates=[10**9]).designs[0].dependability
    assert f"{limit:.2f}" in found.needs[0].reason
    assert found.bottleneck == "pair"
    assert found.limits["model"].dependability == pytest.approx(
        decision_study(BRENNAN, pairs=[4], replicates=[10**9]).designs[0].dependability, abs=1e-6
    )
    said = " ".join(found.sentences())
    assert "more pairs would raise it most" in said
    assert (
        "with the 4 pairs at hand, no number of replicates reaches 0.8: with infinitely many it would be 0.685" in said
    )
    alone = found.alone["pair"].estimate
    assert alone is not None
    assert (
        f"with the 2 replicates at hand, no number of pairs reaches 0.8 in 80 % of the draws; at the estimates {alone}"
        in said
    )
    less, enough = decision_study(BRENNAN, pairs=[alone - 1, alone], replicates=[2]).designs
    assert (less.reaches, enough.reaches) == (False, True)
    assert "out of reach" in said


def test_the_bottleneck_is_the_model_where_models_disagree() -> None:
    random = np.random.default_rng(2)
    values = (
        random.normal(size=(1, 1, 40, 1)) + random.normal(0, 2, (1, 1, 40, 4)) + random.normal(0, 0.1, (1, 6, 40, 4))
    )
    found = decision_study(variance_components(tensor(values)))
    assert found.bottleneck == "model"


def test_smallest_designs_undercut_each_other_nowhere_and_come_with_the_cheapest_first() -> None:
    found = decision_study(STEADY, target=0.7)
    sizes = [(one.levels["pair"], one.number) for one in found.smallest]
    assert len(sizes) > 1
    for one in sizes:
        assert not any(other != one and other[0] <= one[0] and (other[1] or 0) <= (one[1] or 0) for other in sizes)
    products = [pairs * (models or 0) for pairs, models in sizes]
    assert products == sorted(products)


def test_numbers_that_are_tried_when_none_are_asked_for() -> None:
    """A finer grid with two facets than with three, and what is at hand."""
    two, three = (decision_study(BRENNAN, object=measured).designs for measured in ("word", "query"))
    assert {design.levels["pair"] for design in two} == {1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 100}
    assert {design.levels["pair"] for design in three} == {1, 2, 4, 5, 10, 20, 50, 100}  # four at hand


def test_more_of_anything_never_harms_and_dependability_is_the_smaller() -> None:
    frame = decision_study(BRENNAN).to_frame()
    table = frame.pivot_table(index="pairs", columns="replicates", values="dependability").to_numpy()
    assert (np.diff(table, axis=0) >= 0).all()
    assert (np.diff(table, axis=1) >= 0).all()
    assert (frame["dependability"] <= frame["generalizability"]).all()
    assert (frame["dependability_low"] <= frame["dependability"]).all()
    assert (frame["dependability"] <= frame["dependability_high"]).all()


@pytest.mark.calibration
def test_intervals_of_coefficients_and_needs_cover() -> None:
    random = np.random.default_rng(3)
    truth = {(2,): 1.0, (0,): 0.2, (1,): 0.1, (0, 2): 0.8, (1, 2): 0.2, (0, 1): 0.05, (0, 1, 2): 0.5}
    order = np.array([truth[one] for one in subsets_of(3)])
    error = (0.2 + 0.8) / 6 + (0.1 + 0.2) / 4 + (0.05 + 0.5) / 24
    depend = 1 / (1 + error)
    needed = (0.1 + 0.2 + 0.55 / 6) / (0.25 - 1 / 6)
    runs, hits, needs = 300, 0, 0
    for run in range(runs):
        values = simulate((6, 4, 40), subsets_of(3), order, random).transpose(0, 2, 1)[None]
        found = decision_study(
            variance_components(tensor(values), draws=600, random_state=run), pairs=[6], replicates=[4]
        )
        ends = found.today.dependability_interval
        assert ends.low is not None
        assert ends.high is not None
        hits += ends.low <= depend <= ends.high
        low, high = found.needs[0].low, found.needs[0].high
        needs += low is not None and low <= np.ceil(needed) and (high is None or np.ceil(needed) <= high)
    assert 0.91 <= hits / runs <= 0.99  # standard error 0.013
    assert 0.91 <= needs / runs <= 0.995


def test_measures_can_be_a_facet_or_fixed() -> None:
    random = np.random.default_rng(5)
    values = random.normal(size=(1, 1, 30, 1)) + random.normal(size=(3, 1, 30, 1)) + random.normal(size=(3, 6, 30, 4))
    components = variance_components(tensor(values))
    sampled, fixed = decision_study(components), decision_study(components, fixed=("measure",))
    assert set(sampled.facets) == {"pair", "model", "measure"}
    assert sampled.bottleneck == "measure"
    assert fixed.today.dependability is not None
    assert sampled.today.dependability is not None
    assert fixed.today.dependability > sampled.today.dependability + 0.1
    part = {one.name: one.variance for one in components.components}
    universe = part["word"] + part["word:measure"] / 3
    sizes = {"pair": 6, "model": 4, "measure": 3}
    error = sum(
        value / np.prod([sizes[name] for name in key.split(":") if name != "word"])
        for key, value in part.items()
        if set(key.split(":")) & {"pair", "model"}
    )
    assert fixed.today.dependability == pytest.approx(universe / (universe + error))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"assurance": 1.0}, "'assurance' parameter"),
        ({"target": 1.0}, "'target' parameter"),
        ({"object": "model"}, "word, pair, query"),
        ({"coefficient": "alpha"}, "dependability, generalizability"),
        ({"object": "query", "coefficient": "generalizability"}, "compared with 0"),
        ({"fixed": ("word",)}, "other than the object"),
        ({"fixed": ("pair", "model")}, "not fixed"),
        ({"pairs": [0, 3]}, "'pairs' parameter"),
        ({"replicates": []}, "'replicates' parameter"),
    ],
)
def test_bad_input_gets_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        decision_study(BRENNAN, **settings)


def test_an_object_that_is_no_facet_is_refused() -> None:
    alone = variance_components(tensor(np.random.default_rng(0).normal(size=(1, 1, 9, 4))))
    with pytest.raises(ParameterError, match="no facet 'pair'"):
        decision_study(alone, object="pair")


def test_results_are_ready_for_json_tables_and_notebooks() -> None:
    found = decision_study(BRENNAN, pairs=[1, 8], replicates=[1, 2])
    about = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert about["limits"]["replicates"]["replicates"] is None
    assert about["single"]["pairs"] == 1
    assert about["bottleneck"] == "pairs"
    assert found.to_frame().shape[0] == 4
    needs = found.needs_frame()
    assert str(needs["replicates"].dtype) == "Int64"
    assert needs["replicates"].isna().tolist() == [True, True]
    assert needs["estimate"].isna().tolist() == [True, False]
    assert "raise it most" in found._repr_html_()
