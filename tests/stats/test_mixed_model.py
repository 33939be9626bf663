"""The mixed model: against lme4 and lmerTest, against the dense likelihood, and by simulation."""

from __future__ import annotations

import json
import runpy
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.errors import ParameterError
from biasgauge.stats import MixedFit, fit_mixed
from biasgauge.stats.mixed_models import fit_moments, moments, r2, solve
from biasgauge.stats.mixed_models import moment_sums as mixed_model_moments
from biasgauge.stats.mixed_models import reml as mixed_model_reml
from biasgauge.stats.mixed_models.reml import evaluate, problem

if TYPE_CHECKING:
    from biasgauge.core.arrays import Floats

GOLDENS = Path(__file__).parent / "goldens" / "lme4"


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    return runpy.run_path(str(GOLDENS / "make_data.py"))


@pytest.fixture(scope="module")
def goldens() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDENS / "goldens.json").read_text())
    return found


def fit_table(table: dict[str, list[Any]], columns: list[str], groups: str, *, reml: bool = True) -> MixedFit:
    x = np.column_stack([np.ones(len(table["y"])), *(table[name] for name in columns)])
    return fit_mixed(table["y"], x, {name: table[name] for name in groups}, ["(Intercept)", *columns], reml=reml)


CASES = {
    "crossed": ("crossed", ["x1", "x2", "x3"], "ab", True),
    "crossed_ml": ("crossed", ["x1", "x2", "x3"], "ab", False),
    "singular": ("singular", ["x1", "x2", "x3"], "ab", True),
    "three_groups": ("three_groups", ["x1"], "abc", True),
    "one_group": ("three_groups", ["x1"], "c", True),
}


@pytest.mark.parametrize("name", CASES)
def test_lme4_and_lmertest_give_the_same(name: str, data: dict[str, Any], goldens: dict[str, Any]) -> None:
    table, columns, groups, reml = CASES[name]
    fit = fit_table(data[table](), columns, groups, reml=reml)
    golden = goldens[name]
    assert fit.criterion == pytest.approx(golden["criterion"], abs=1e-8)
    assert [one.name for one in fit.fixed] == golden["names"]
    assert [one.estimate for one in fit.fixed] == pytest.approx(golden["estimate"], rel=1e-6)
    assert [one.se for one in fit.fixed] == pytest.approx(golden["se"], rel=2e-6)
    assert [one.df for one in fit.fixed] == pytest.approx(golden["df"], rel=2e-5)
    assert [one.t for one in fit.fixed] == pytest.approx(golden["t"], rel=5e-6)
    assert [one.p for one in fit.fixed] == pytest.approx(golden["p"], rel=1e-4)
    found = {"Residual" if one.name == "residual" else one.name: one.variance for one in fit.random}
    assert found == pytest.approx(golden["variances"], rel=3e-6)
    for group in fit.solution.sums.groups:
        effects = dict(zip(group.levels, fit.solution.effects[group.columns].tolist(), strict=True))
        assert effects == pytest.approx(golden["effects"][group.name], rel=1e-5, abs=1e-9)
    assert fit.converged
    assert fit.rows == golden["rows"]


def test_the_intercept_has_few_degrees_of_freedom_where_groups_are_few(
    data: dict[str, Any], goldens: dict[str, Any]
) -> None:
    fit = fit_table(data["crossed"](), ["x1", "x2", "x3"], "ab")
    golden = dict(zip(goldens["crossed"]["names"], goldens["crossed"]["df"], strict=True))
    assert fit.fixed[0].df == pytest.approx(golden["(Intercept)"], rel=1e-5)
    assert fit.fixed[0].df is not None
    assert fit.fixed[0].df < 8
    assert fit.fixed[1].df is not None
    assert fit.fixed[1].df > 400


def test_a_singular_fit_says_so(data: dict[str, Any]) -> None:
    fit = fit_table(data["singular"](), ["x1", "x2", "x3"], "ab")
    assert fit.singular == ("b",)
    assert fit.random[1].variance == 0
    assert fit.random[1].interval.low == 0
    assert any("b is estimated as 0" in one for one in fit.warnings)
    assert any("a has 3 levels" in one for one in fit.warnings)
    assert not fit_table(data["crossed"](), ["x1"], "ab").singular


def test_a_statsmodels_fit_is_the_same(data: dict[str, Any]) -> None:
    from statsmodels.regression.mixed_linear_model import MixedLM

    table = data["three_groups"]()
    x = np.column_stack([np.ones(400), table["x1"]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Its default methods end elsewhere, with a warning and a criterion that is larger by 0.34.
        peer = MixedLM(np.array(table["y"]), x, groups=np.array(table["c"])).fit(reml=True, method="cg")
    fit = fit_table(table, ["x1"], "c")
    assert [one.estimate for one in fit.fixed] == pytest.approx(peer.fe_params.tolist(), rel=1e-5)
    assert fit.random[0].variance == pytest.approx(float(peer.cov_re[0, 0]), rel=1e-5)
    assert fit.criterion == pytest.approx(-2 * peer.llf, abs=1e-9)


def small_problem(reml: bool = True) -> tuple[Any, Floats, Floats, list[Floats]]:  # noqa: FBT001, FBT002 - a switch
    random = np.random.default_rng(3)
    x = np.column_stack([np.ones(40), random.normal(size=(40, 2))])
    codes = [random.integers(0, 3, 40), random.integers(0, 4, 40)]
    y = random.normal(size=40) + random.normal(size=3)[codes[0]]
    sums = moments(y, x, {"a": codes[0], "b": codes[1]}, ["i", "u", "v"])
    return problem(sums, reml=reml), y, x, [np.eye(int(code.max()) + 1)[code] for code in codes]


@pytest.mark.parametrize("reml", [True, False])
@pytest.mark.parametrize("ratios", [(0.0, 0.0), (0.7, 0.0), (0.3, 2.0), (50.0, 1e-3)])
def test_the_criterion_is_that_of_the_dense_likelihood(ratios: tuple[float, float], reml: bool) -> None:  # noqa: FBT001
    one, y, x, groups = small_problem(reml)
    v = np.eye(len(y)) + sum(ratio * z @ z.T for ratio, z in zip(ratios, groups, strict=True))
    inverse = np.linalg.inv(v)
    information = x.T @ inverse @ x
    left = y - x @ np.linalg.solve(information, x.T @ inverse @ y)
    freedom = len(y) - (3 if reml else 0)
    sigma2 = left @ inverse @ left / freedom
    dense = freedom * np.log(2 * np.pi * sigma2) + np.linalg.slogdet(v)[1] + freedom
    dense += np.linalg.slogdet(information)[1] if reml else 0
    assert evaluate(one, np.array(ratios)).value == pytest.approx(dense, abs=1e-9)


@pytest.mark.parametrize("reml", [True, False])
def test_gradient_and_hessian_are_those_of_the_criterion(reml: bool) -> None:  # noqa: FBT001 - a switch
    one, *_ = small_problem(reml)
    ratios = np.array([0.4, 0.9])
    at = evaluate(one, ratios)
    step = 1e-5
    for place in range(2):
        away = np.eye(2)[place] * step
        up, down = evaluate(one, ratios + away), evaluate(one, ratios - away)
        assert at.gradient[place] == pytest.approx((up.value - down.value) / (2 * step), rel=1e-5, abs=1e-5)
        assert at.hessian[place] == pytest.approx((up.gradient - down.gradient) / (2 * step), rel=1e-4, abs=1e-4)


def test_no_other_place_has_a_smaller_criterion(data: dict[str, Any]) -> None:
    fit = fit_table(data["crossed"](), ["x1", "x2", "x3"], "ab")
    one = fit.solution.problem
    grid = np.concatenate([[0.0], np.logspace(-5, 2, 30)])
    assert min(evaluate(one, np.array([a, b])).value for a in grid for b in grid) >= fit.criterion


def test_a_column_far_from_zero_keeps_its_digits(data: dict[str, Any]) -> None:
    """Moving a column by 50,000 moves the intercept and nothing else; lme4 loses six digits of the criterion here."""
    table = data["crossed"]()
    far = {**table, "x2": [value + 50_000 for value in table["x2"]]}
    here, there = (fit_table(one, ["x1", "x2", "x3"], "ab") for one in (table, far))
    assert there.criterion == pytest.approx(here.criterion, abs=1e-7)
    for one, other in zip(here.fixed[1:], there.fixed[1:], strict=True):
        assert (other.estimate, other.se, other.df) == pytest.approx((one.estimate, one.se, one.df), rel=1e-6)
    slope, intercept = here.fixed[2].estimate, here.fixed[0].estimate
    assert slope is not None
    assert intercept is not None
    assert there.fixed[0].estimate == pytest.approx(intercept - 50_000 * slope, rel=1e-9)


def test_the_criterion_moves_with_units_as_it_should(data: dict[str, Any]) -> None:
    table = data["crossed"]()
    scaled = {**table, "x1": [10 * value for value in table["x1"]]}
    here, there = (fit_table(one, ["x1", "x2"], "ab") for one in (table, scaled))
    assert there.criterion == pytest.approx(here.criterion + 2 * np.log(10), abs=1e-9)  # log |X'X|


def test_neither_blocks_nor_the_order_of_rows_matter(data: dict[str, Any]) -> None:
    table = data["crossed"]()
    whole = fit_table(table, ["x1", "x2", "x3"], "ab")
    order = np.random.default_rng(0).permutation(480)
    shuffled = {name: [column[place] for place in order] for name, column in table.items()}
    names = ("(Intercept)", "x1", "x2", "x3")
    x = np.column_stack([np.ones(480), *(shuffled[name] for name in names[1:])])
    sums = mixed_model_moments.moments(shuffled["y"], x, {name: shuffled[name] for name in "ab"}, names, block=7)
    again = fit_moments(sums, names)
    assert again.criterion == pytest.approx(whole.criterion, abs=1e-9)
    assert [one.se for one in again.fixed] == pytest.approx([one.se for one in whole.fixed], rel=1e-9)


def test_threads_do_not_change_a_bit() -> None:
    from threadpoolctl import threadpool_limits

    random = np.random.default_rng(0)
    x = np.column_stack([np.ones(60_000), random.normal(size=(60_000, 19))])
    codes = random.integers(0, 3, 60_000)
    y = codes + random.normal(size=60_000)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            found.append(fit_mixed(y, x, {"g": codes}, [f"x{place}" for place in range(20)]).to_dict())
    assert found[0] == found[1]


def test_a_redundant_column_gets_a_reason_and_no_number(data: dict[str, Any]) -> None:
    table = data["crossed"]()
    table["sum"] = [a + b for a, b in zip(table["x1"], table["x2"], strict=True)]
    table["five"] = [5.0] * 480
    fit = fit_table(table, ["x1", "x2", "sum", "five", "x3"], "ab")
    assert [one.estimate is None for one in fit.fixed] == [False, False, False, True, True, False]
    assert fit.fixed[3].reason == "the column is constant or a combination of the ones before it"
    assert fit.fixed[3].interval.reason == fit.fixed[3].reason
    plain = fit_table(table, ["x1", "x2", "x3"], "ab")
    assert fit.criterion == pytest.approx(plain.criterion, abs=1e-9)
    assert fit.fixed[5].estimate == pytest.approx(plain.fixed[3].estimate, rel=1e-9)
    json.dumps(fit.to_dict(), allow_nan=False)
    assert fit.to_frame()["reason"].notna().sum() == 2


def test_a_model_without_intercept_is_fitted_and_has_no_r2(data: dict[str, Any]) -> None:
    table = data["crossed"]()
    x = np.column_stack([table["x1"], table["x2"]])
    fit = fit_mixed(table["y"], x, {"a": table["a"]}, ["x1", "x2"])
    z = np.eye(3)[[int(level[1]) for level in table["a"]]]
    v = np.eye(480) + fit.solution.ratios[0] * z @ z.T
    solved = np.linalg.solve(v, np.column_stack([x, table["y"]]))
    beta = np.linalg.solve(x.T @ solved[:, :2], x.T @ solved[:, 2])
    assert [one.estimate for one in fit.fixed] == pytest.approx(beta.tolist(), rel=1e-8)
    with pytest.raises(ParameterError, match="intercept"):
        r2(fit)


def test_a_search_that_is_cut_short_says_so(data: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixed_model_reml, "_STEPS", 1)
    fit = fit_table(data["three_groups"](), ["x1"], "abc")
    assert not fit.converged
    assert fit.warnings[0] == "the search for the variances did not converge: do not use these numbers"


def test_a_start_elsewhere_ends_at_the_same_place(data: dict[str, Any]) -> None:
    fit = fit_table(data["crossed"](), ["x1", "x2", "x3"], "ab")
    for start in ([1e-6, 10.0], [10.0, 1e-6], [0.0, 0.0], [1e4, 1e4]):
        again = solve(fit.solution.sums, start=np.array(start))
        assert again.ratios == pytest.approx(fit.solution.ratios, rel=1e-6)


def test_a_nested_group_is_fitted_and_what_cannot_be_known_has_a_reason() -> None:
    random = np.random.default_rng(0)
    classes = np.repeat(np.arange(12), 8)
    schools = classes // 3
    y = random.normal(size=12)[classes] + random.normal(size=4)[schools] + random.normal(size=96)
    fit = fit_mixed(y, np.ones((96, 1)), {"school": schools, "class": classes}, ["i"])
    means = y.reshape(12, 8).mean(axis=1).reshape(4, 3)
    squares = [24 * means.mean(axis=1).var(ddof=1), 8 * means.var(axis=1, ddof=1).mean(),
               y.reshape(12, 8).var(axis=1, ddof=1).mean()]  # fmt: skip
    assert squares[0] > squares[1] > squares[2]  # then REML gives the ANOVA estimates
    expected = [(squares[0] - squares[1]) / 24, (squares[1] - squares[2]) / 8, squares[2]]
    assert [one.variance for one in fit.random] == pytest.approx(expected, rel=1e-6)
    assert fit.random[0].interval.low is None
    assert "told apart" in str(fit.random[0].interval.reason)


GOOD = {"y": np.arange(6.0) ** 2, "x": np.ones((6, 1)), "groups": {"g": [0, 0, 1, 1, 2, 2]}, "names": ["i"]}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"y": np.array([1, 2, np.nan, 4, 5, 6])}, "Row 3 of the outcome"),
        ({"x": np.array([[1.0], [1], [1], [np.inf], [1], [1]])}, "Row 4 of column 1"),
        ({"y": np.arange(5.0)}, "one outcome for each row"),
        ({"names": ["i", "j"]}, "must name each of the 1 columns"),
        ({"groups": {"g": [0] * 6}}, "'g' needs at least two levels"),
        ({"groups": {"g": [0, 1]}}, "one label for each of the 6 rows"),
        ({"groups": {"g": [0, 1, None, 1, 0, 1]}}, "no label in row 3"),
        ({"groups": {}}, "at least one grouping factor"),
        ({"y": np.zeros(6)}, "no error left"),
        ({"y": np.array([1.0, 1, 2, 2, 3, 3])}, "no error left"),
        ({"level": 1.0}, "between 0 and 1"),
        ({"x": np.eye(6), "names": list("abcdef")}, "more rows than columns"),
        ({"y": np.zeros(1), "x": np.ones((1, 1)), "groups": {"g": [0]}}, "at least two rows"),
    ],
)
def test_bad_input_gets_one_sentence(change: dict[str, Any], sentence: str) -> None:
    arguments: dict[str, Any] = {**GOOD, **change}
    with pytest.raises(ParameterError, match=sentence):
        fit_mixed(arguments.pop("y"), arguments.pop("x"), arguments.pop("groups"), arguments.pop("names"), **arguments)


def test_too_many_levels_are_refused_before_any_work() -> None:
    rows = mixed_model_moments.MOST_LEVELS + 1
    with pytest.raises(ParameterError, match="6,000 levels together"):
        fit_mixed(np.zeros(rows), np.ones((rows, 1)), {"word": np.arange(rows)}, ["i"])


def test_inputs_are_left_as_they_were(data: dict[str, Any]) -> None:
    table = data["crossed"]()
    y, x = np.array(table["y"]), np.column_stack([np.ones(480), table["x1"]])
    copies = y.copy(), x.copy()
    fit_mixed(y, x, {"a": table["a"]}, ["i", "x1"])
    assert np.array_equal(y, copies[0])
    assert np.array_equal(x, copies[1])
    narrow = fit_mixed(y.astype(np.float32), x.astype(np.float32), {"a": table["a"]}, ["i", "x1"])
    assert narrow.criterion == pytest.approx(fit_mixed(y, x, {"a": table["a"]}, ["i", "x1"]).criterion, abs=1e-2)
