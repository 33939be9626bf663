"""Formulas: what they mean, and what may not stand in one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from biasgauge.analyses.regress.formulas import Design, build_design, parse_formula
from biasgauge.errors import ParameterError

FRAME = pd.DataFrame({"party": list("RDRDR"), "year": [1.0, 2, 3, 4, 8], "home town": list("aabba")})
WEIGHTS = np.array([1.0, 2, 3, 4, 5])


def design_of(text: str) -> Design:
    formula = parse_formula(text)
    return build_design(formula, FRAME, WEIGHTS)


def test_left_and_right_are_split() -> None:
    formula = parse_formula("immigrant + immigrants ~ party * center(year) + `home town`")
    assert formula.words == ("immigrant", "immigrants")
    assert formula.variables == ("party", "year", "home town")
    assert parse_formula("'isn't' ~ party").words == ("isn't",)


@pytest.mark.parametrize(
    ("right", "variables"),
    [
        ("`birth-year` + party", ("birth-year", "party")),
        ("birth.year * party", ("birth.year", "party")),
        ("log(1 + `birth-year`) + I(`birth.year`**2)", ("birth-year", "birth.year")),
        ("I(party * .5) + I(year**-1)", ("party", "year")),
        ("`__import__('os')`", ("__import__('os')",)),
    ],
)
def test_names_of_covariates_may_hold_any_character(right: str, variables: tuple[str, ...]) -> None:
    formula = parse_formula(f"x ~ {right}")
    assert formula.variables == variables
    numbers = np.random.default_rng(0).uniform(1, 9, size=(8, len(variables)))
    design = build_design(formula, pd.DataFrame(numbers, columns=list(variables)), np.ones(8))
    if right.startswith("log"):
        np.testing.assert_allclose(
            design.matrix[:, 1:], np.column_stack([np.log(1 + numbers[:, 0]), numbers[:, 1] ** 2])
        )


@pytest.mark.parametrize(
    ("right", "columns"),
    [
        ("party + year", ["Intercept", "party_R", "year"]),
        ("party * year", ["Intercept", "party_R", "year", "party_R:year"]),
        ("C(party, contr.treatment(base='R'))", ["Intercept", "party_D"]),
        ("poly(year, 2)", ["Intercept", "poly(year, 2)_1", "poly(year, 2)_2"]),
    ],
)
def test_columns_have_plain_names(right: str, columns: list[str]) -> None:
    assert list(design_of(f"x ~ {right}").columns) == columns


def test_the_design_is_treatment_coded_with_the_first_level_as_reference() -> None:
    matrix = design_of("x ~ party * year").matrix
    is_r = np.array([1.0, 0, 1, 0, 1])
    np.testing.assert_array_equal(matrix, np.column_stack([np.ones(5), is_r, FRAME["year"], is_r * FRAME["year"]]))


def test_rows_at_chosen_values_are_means_over_the_occurrences_of_the_rest() -> None:
    design = design_of("x ~ party * center(year) + `home town`")
    mean_year = FRAME["year"].mean()
    row = design.row({"party": "R", "year": 5, "home town": "b"})
    np.testing.assert_allclose(row, [1, 1, 5 - mean_year, 1, 5 - mean_year])
    year = WEIGHTS @ (FRAME["year"] - mean_year) / WEIGHTS.sum()
    town = WEIGHTS @ (FRAME["home town"] == "b") / WEIGHTS.sum()
    np.testing.assert_allclose(design.row({"party": "R"}), [1, 1, year, town, year])
    np.testing.assert_allclose(design.slope("year", {"party": "R"}), [0, 0, 1, 0, 1])
    quadratic = design_of("x ~ poly(year, 2)")
    np.testing.assert_allclose(quadratic.slope("year", {}) * 7, quadratic.row({"year": 8}) - quadratic.row({"year": 1}))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("immigration", "one ~ between"),
        ("a ~ b ~ c", "one ~ between"),
        ("a b ~ party", "joined by"),
        ("~ party", "joined by"),
        ("a ~", "holds covariates"),
        ("a ~ b | c", "holds covariates"),
        ("a ~ 1", "has no covariate"),
        ("a ~ party +* year", "cannot be read"),
        ("a ~ __import__('os')", "may hold covariates, arithmetic"),
        ("a ~ np.log(year)", "may hold covariates, arithmetic"),
        ("a ~ I(year.__class__)", "may hold covariates, arithmetic"),
        ("a ~ log(open('x'))", "may hold covariates, arithmetic"),
        ("a ~ {[y for y in year]}", "may hold covariates, arithmetic"),
        ("a ~ I((lambda: year)())", "may hold covariates, arithmetic"),
        ("a ~ I(`year`.__class__)", "may hold covariates, arithmetic"),
        ("a ~ I(`year`(open('x')))", "may hold covariates, arithmetic"),
        ("a ~ I(year + 9**9**9**9)", "may raise covariates to numbers"),
        ("a ~ I(year**9**9**9)", "may raise covariates to numbers"),
        ("a ~ .", "name the covariates"),
        ("a ~ party + .", "name the covariates"),
    ],
)
def test_what_is_no_formula_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        parse_formula(text)


def test_values_that_are_not_in_the_data_are_refused() -> None:
    design = design_of("x ~ party + year")
    with pytest.raises(ParameterError, match="'party' has no value 'X' in the data: D, R"):
        design.row({"party": "X"})
    with pytest.raises(ParameterError, match="no covariate 'yaer'; did you mean 'year'"):
        design.row({"yaer": 3})
    with pytest.raises(ParameterError, match="'year' is a number"):
        design.row({"year": "late"})
    for right, value, sentence in (
        ("C(year)", 5, "knows nothing of year = 5"),
        ("bs(year, df=3)", 9, "knows nothing of year = 9"),
        ("log(year)", -1, "cannot be applied at these values|not finite at these values"),
        ("year", float("inf"), "is a number. Got inf"),
        ("year", float("nan"), "is a number. Got nan"),
        ("exp(year)", 1000, "not finite at these values"),
    ):
        with pytest.raises(ParameterError, match=sentence):
            design_of(f"x ~ {right}").row({"year": value})
    with pytest.raises(ParameterError, match="that is a number"):
        design.slope("party", {})
    with pytest.raises(ParameterError, match="There is no term 'partyR'; did you mean 'party_R'"):
        design.index("partyR")
    twice = FRAME.assign(double=FRAME["year"] * 2 - 1, side=FRAME["party"].map({"R": "right", "D": "left"}))
    for right, sentence in (
        (
            "year + double",
            "'double' of the formula 'x ~ year . double' is a linear combination of year in the documents",
        ),
        ("year + party + side", "'side_right' of the formula .* is a linear combination of party_R in"),
    ):
        with pytest.raises(ParameterError, match=sentence.replace("+", ".")):
            build_design(parse_formula(f"x ~ {right}"), twice, np.ones(5))
    with pytest.raises(ParameterError, match="'text' has another value in each of the 5 documents"):
        build_design(parse_formula("x ~ text"), FRAME.assign(text=list("abcde")), np.ones(5))
    formula = parse_formula("x ~ party")
    with pytest.raises(ParameterError, match="is 'R' in every document"):
        build_design(formula, FRAME[FRAME["party"] == "R"], np.ones(3))
    with pytest.raises(ParameterError, match="needs an intercept"):
        design_of("x ~ 0 + party")
    with pytest.raises(ParameterError, match="not finite in every document"), np.errstate(divide="ignore"):
        build_design(parse_formula("x ~ log(year)"), pd.DataFrame({"year": [0.0, 1.0]}), np.ones(2))
