"""ICCs against the textbook, psych (R), pingouin, exact fractions; degenerate matrices; gaps; stacks."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from biasgauge.errors import ParameterError
from biasgauge.stats import FORMS, Icc, Iccs, icc, icc_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from biasgauge.stats import Form

GOLDENS = Path(__file__).parent / "goldens"
PSYCH = {"ICC1": "1,1", "ICC2": "2,1", "ICC3": "3,1", "ICC1k": "1,k", "ICC2k": "2,k", "ICC3k": "3,k"}
PINGOUIN = {
    "1,1": "ICC(1,1)",
    "2,1": "ICC(A,1)",
    "3,1": "ICC(C,1)",
    "1,k": "ICC(1,k)",
    "2,k": "ICC(A,k)",
    "3,k": "ICC(C,k)",
}


def single(matrix: Any, form: Any = "2,1", **settings: Any) -> Icc:  # noqa: ANN401 - whatever a test tries
    found = icc(matrix, form, **settings)
    assert isinstance(found, Icc)
    return found


def stacked(matrices: Any, form: Any = "2,1", **settings: Any) -> Iccs:  # noqa: ANN401 - as above
    found = icc(matrices, form, **settings)
    assert isinstance(found, Iccs)
    return found


def near(one: float | None, other: float | None, tolerance: float) -> bool:
    """Both undefined, or as good as equal; far below 0, where values grow without bound, by their share."""
    if one is None or other is None:
        return one is other
    return abs(one - other) <= tolerance * max(1, abs(other) ** 2)


@pytest.mark.parametrize(
    ("form", "printed", "precise"),
    [
        ("1,1", 0.17, 0.16574),
        ("2,1", 0.29, 0.28976),
        ("3,1", 0.71, 0.71484),
        ("1,k", 0.44, 0.44280),
        ("2,k", 0.62, 0.62005),
        ("3,k", 0.91, 0.90932),
    ],
)
def test_shrout_and_fleiss(shrout_fleiss: NDArray[np.float64], form: str, printed: float, precise: float) -> None:
    """Their Table 4, and to more places psych's example of it."""
    found = single(shrout_fleiss, form)
    assert found.value is not None
    assert round(found.value, 2) == printed
    assert found.value == pytest.approx(precise, abs=5e-6)
    assert (found.n, found.k, found.reason) == (6, 4, None)


def test_mean_squares_of_shrout_and_fleiss(shrout_fleiss: NDArray[np.float64]) -> None:
    squares = stacked(shrout_fleiss[None]).squares
    assert squares is not None
    assert squares.ms_rows[0] == pytest.approx(11.2417, abs=5e-5)
    assert squares.ms_columns[0] == pytest.approx(32.4861, abs=5e-5)
    assert squares.ms_error[0] == pytest.approx(1.01944, abs=5e-6)
    assert squares.ms_within[0] == pytest.approx(6.26389, abs=5e-6)


def test_f_tests_of_shrout_and_fleiss(shrout_fleiss: NDArray[np.float64]) -> None:
    """As psych prints them: F(5, 18) = 1.79, p = .165; F(5, 15) = 11.03, p = .000135."""
    one, three = single(shrout_fleiss, "1,1"), single(shrout_fleiss, "3,k")
    assert (one.df1, one.df2, three.df1, three.df2) == (5, 18, 5, 15)
    assert [one.f, one.p_value] == pytest.approx([1.794678, 0.1647688], abs=1e-6)
    assert [three.f, three.p_value] == pytest.approx([11.027248, 0.00013456652], abs=1e-6)
    assert three.p_value == pytest.approx(0.00013456652, abs=1e-11)


def psych_rows() -> list[dict[str, str]]:
    with (GOLDENS / "psych_icc.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", psych_rows(), ids=lambda row: f"{row['table']} {row['type']}")
def test_against_psych(golden: Callable[[str], NDArray[np.float64]], row: dict[str, str]) -> None:
    """Values, intervals and F tests, also of a table whose raters agree less than by chance."""
    found = single(golden(row["table"]), PSYCH[row["type"]])
    for name, key in (("value", "value"), ("low", "low"), ("high", "high"), ("f", "f"), ("p_value", "p")):
        assert getattr(found, name) == pytest.approx(float(row[key]), rel=1e-9, abs=1e-12), name
    assert (found.df1, found.df2) == (int(row["df1"]), int(row["df2"]))


MATRICES = st.tuples(st.integers(3, 9), st.integers(2, 6)).flatmap(
    lambda size: arrays(np.float64, size, elements=st.integers(-200, 200).map(lambda number: number / 16))
)


def satterthwaite(found: Icc, matrix: NDArray[np.float64]) -> float:
    """Degrees of freedom of ICC(2,1) by Shrout & Fleiss's formula, with F_J = MS_C / MS_E."""
    squares = stacked(matrix[None]).squares
    assert squares is not None
    assert found.value is not None
    n, k, rho = found.n, found.k, found.value
    ratio = squares.ms_columns[0] / squares.ms_error[0]
    inner = n * (1 + (k - 1) * rho) - k * rho
    return float((k - 1) * (n - 1) * (k * rho * ratio + inner) ** 2 / ((n - 1) * (k * rho * ratio) ** 2 + inner**2))


@settings(max_examples=25, deadline=None)
@given(matrix=MATRICES)
def test_against_pingouin(matrix: NDArray[np.float64]) -> None:
    """Its intervals are rounded to two places; matrices on which it divides by zero are tested by hand below."""
    import pingouin  # imported here: it takes a second, in every process of a run

    squares = stacked(matrix[None]).squares
    assert squares is not None
    if squares.equal[0] or squares.error[0] == 0 or squares.rows[0] == 0:
        return
    long = pd.DataFrame(matrix).reset_index().melt(id_vars="index")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of pingouin are its own
        theirs = pingouin.intraclass_corr(long, targets="index", raters="variable", ratings="value").set_index("Type")
    for form in FORMS:
        row, ours = theirs.loc[PINGOUIN[form]], single(matrix, form)
        if ours.value is None:  # the mean over raters has no spread, and the formula is past its pole
            assert form == "2,k"
            continue
        assert ours.value == pytest.approx(row["ICC"], rel=1e-8, abs=1e-10)
        assert ours.p_value == pytest.approx(row["pval"], rel=1e-6, abs=1e-12)
        if form[0] == "2" and satterthwaite(single(matrix, "2,1"), matrix) < 1:
            continue  # ours uses at least one degree of freedom
        if ours.low is not None and (form[2] == "1" or ours.low > -1):  # rounded ends far below −1 tell nothing
            assert [ours.low, ours.high] == pytest.approx(list(row["CI95"]), abs=0.00501)


@settings(max_examples=60, deadline=None)
@given(matrix=MATRICES)
def test_values_and_mean_squares_against_exact_fractions(matrix: NDArray[np.float64], slow: Any) -> None:  # noqa: ANN401
    squares = stacked(matrix[None]).squares
    assert squares is not None
    rows, columns, error = (float(one) for one in slow.mean_squares(matrix.tolist()))
    size = float((matrix**2).sum()) + 1e-300
    assert squares.ms_rows[0] == pytest.approx(rows, rel=1e-11, abs=1e-13 * size)
    assert squares.ms_columns[0] == pytest.approx(columns, rel=1e-11, abs=1e-13 * size)
    assert squares.ms_error[0] == pytest.approx(error, rel=1e-11, abs=1e-13 * size)


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_offsets_do_not_eat_the_digits(slow: Any, offset: float, dtype: Any) -> None:  # noqa: ANN401
    """Against exact arithmetic on the very numbers that are stored."""
    random = np.random.default_rng(3)
    signal, shift = random.normal(size=(50, 23, 1)), random.normal(size=(50, 1, 8))
    stack = (signal + 0.3 * shift + 0.2 * random.normal(size=(50, 23, 8)) + offset).astype(dtype)
    found = stacked(stack, "3,1")
    for place in range(0, 50, 10):
        assert found.value[place] == pytest.approx(slow.icc(stack[place].tolist(), "3,1"), rel=1e-9)


def test_single_precision_sums_would_fail_that_test(slow: Any) -> None:  # noqa: ANN401
    """The planted fault: the same formulas with sums in single precision."""
    random = np.random.default_rng(3)
    matrix = (random.normal(size=(23, 1)) + 0.2 * random.normal(size=(23, 8)) + 1e3).astype(np.float32)
    n, k = np.float32(23), np.float32(8)
    total = (matrix**2).sum() - matrix.sum() ** 2 / (n * k)
    rows = (matrix.sum(axis=1) ** 2).sum() / k - matrix.sum() ** 2 / (n * k)
    assert abs(float(rows / total) - 1) > 1e-3 or not np.isfinite(rows / total)
    assert single(matrix, "3,1").value == pytest.approx(slow.icc(matrix.tolist(), "3,1"), rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(
    matrix=MATRICES,
    scale=st.sampled_from([2.0**-300, 0.5, 4.0, 2.0**300]),
    shift=st.integers(-8, 8),
    form=st.sampled_from(FORMS),
)
def test_affine_invariance(matrix: NDArray[np.float64], scale: float, shift: int, form: Form) -> None:
    """Scores may be scaled and shifted, even by factors whose squares overflow or vanish."""
    plain, moved = single(matrix, form), single((matrix + shift) * scale, form)
    assert plain.reason == moved.reason
    for name in ("value", "low", "high"):
        assert near(getattr(moved, name), getattr(plain, name), 1e-7), name


@settings(max_examples=40, deadline=None)
@given(matrix=MATRICES, seed=st.integers(0, 99))
def test_model_three_ignores_the_level_of_raters_and_all_ignore_order(matrix: NDArray[np.float64], seed: int) -> None:
    random = np.random.default_rng(seed)
    levels = random.integers(-50, 50, matrix.shape[1]) / 4
    shuffled = matrix[random.permutation(len(matrix))][:, random.permutation(matrix.shape[1])]
    for form in FORMS:
        plain = single(matrix, form)
        assert near(single(shuffled, form).value, plain.value, 1e-9)
        if form[0] == "3" and not stacked(matrix[None]).squares.equal[0]:  # type: ignore[union-attr]  # always there
            assert near(single(matrix + levels, form).value, plain.value, 1e-7)


@settings(max_examples=40, deadline=None)
@given(matrix=MATRICES)
def test_intervals_hold_the_value_and_widen_with_the_level(matrix: NDArray[np.float64]) -> None:
    for form in FORMS:
        narrow, wide = single(matrix, form, level=0.8), single(matrix, form, level=0.99)
        if narrow.value is None or narrow.low is None or wide.low is None:
            continue
        assert narrow.high is not None
        assert wide.high is not None
        assert wide.low - 1e-9 <= narrow.low <= narrow.value + 1e-9
        assert narrow.value - 1e-9 <= narrow.high <= wide.high + 1e-9 <= 1 + 2e-9


class TestDegenerate:
    """Every outcome is a number with a meaning, or None with a reason."""

    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("score", [0.0, 0.1, -7e8, 1e-200])
    def test_no_variance(self, form: Form, score: float) -> None:
        found = single(np.full((5, 3), score), form)
        assert (found.value, found.low, found.high, found.reason) == (None, None, None, "all scores are equal")
        assert (found.n, found.k, found.p_value) == (5, 3, None)

    @pytest.mark.parametrize("form", FORMS)
    def test_perfect_agreement(self, form: Form) -> None:
        found = single(np.repeat([[0.1], [0.7], [2.3]], 4, axis=1), form)
        assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)

    def test_perfect_consistency_without_agreement(self) -> None:
        """Raters differ by constants alone: model 3 is perfect, model 2 is not."""
        matrix = np.array([[0.1], [0.7], [2.3]]) + np.array([0.0, 0.3, 5.0])
        three, two = single(matrix, "3,1"), single(matrix, "2,1")
        assert (three.value, three.low, three.high) == (1.0, 1.0, 1.0)
        rows, columns = 3 * np.var([0.1, 0.7, 2.3], ddof=1), 3 * np.var([0.0, 0.3, 5.0], ddof=1)
        assert two.value == pytest.approx(rows / (rows + columns))
        assert two.low is not None
        assert two.high is not None
        assert two.low < two.value < two.high < 1  # type: ignore[operator]  # checked above

    @pytest.mark.parametrize("form", ["1,1", "3,1", "2,1"])
    def test_subjects_with_equal_means_have_the_least_value(self, form: Form) -> None:
        """MS_R = 0: −1/(k−1) for models 1 and 3."""
        matrix = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [-1.0, 0.0, 1.0]])
        found = single(matrix, form)
        assert found.value is not None
        assert found.value < 0
        if form != "2,1":
            assert found.value == pytest.approx(-1 / 2)

    @pytest.mark.parametrize("form", ["1,k", "2,k", "3,k"])
    def test_the_mean_of_raters_of_such_subjects_is_undefined(self, form: Form) -> None:
        matrix = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [-1.0, 0.0, 1.0]])
        found = single(matrix, form)
        assert (found.value, found.low, found.high) == (None, None, None)
        assert found.reason == "the subjects do not differ on average, so that there is nothing to agree about"

    def test_raters_differ_and_subjects_do_not(self) -> None:
        matrix = np.tile([1.0, 2.0, 4.0], (5, 1))
        assert single(matrix, "2,1").value == 0
        assert single(matrix, "3,1").value is None
        assert single(matrix, "1,1").value == pytest.approx(-1 / 2)

    def test_two_by_two_without_any_difference_of_means(self) -> None:
        """The denominator of ICC(2,1) is zero here."""
        found = single([[1.0, 0.0], [0.0, 1.0]], "2,1")
        assert found.value is None
        assert "do not differ" in str(found.reason)

    @pytest.mark.parametrize(
        ("shape", "reason"),
        [
            ((1, 4), "too few subjects have a score from each of the raters"),
            ((0, 4), "too few subjects have a score from each of the raters"),
            ((4, 1), "fewer than two raters have scores"),
            ((4, 0), "fewer than two raters have scores"),
        ],
    )
    def test_too_small(self, shape: tuple[int, int], reason: str) -> None:
        found = single(np.random.default_rng(0).normal(size=shape))
        assert (found.value, found.low, found.reason) == (None, None, reason)
        assert (found.n, found.k) == shape

    def test_an_interval_of_the_mean_may_have_no_lower_end(self) -> None:
        """ICC(2,k): the lower end of ICC(2,1) can lie past the pole of the Spearman–Brown formula."""
        random = np.random.default_rng(0)
        found = stacked(random.normal(size=(2000, 4, 3)), "2,k")
        open_ended = np.flatnonzero(np.isnan(found.low) & ~np.isnan(found.value))
        assert len(open_ended)
        one = found[int(open_ended[0])]
        assert (one.low, one.reason) == (None, "the interval has no lower end")
        assert one.high is not None

    def test_negative_estimates_stay_negative(self) -> None:
        found = stacked(np.random.default_rng(1).normal(size=(500, 6, 3)))
        assert 0.3 < (found.value < 0).mean() < 0.8
        assert (found.low < 0).mean() > 0.9


class TestBadInput:
    @pytest.mark.parametrize(
        ("scores", "message"),
        [
            ([1, 2, 3], "subjects in rows"),
            ([[1, 2], [3]], "rows of the same length"),
            ([["a", "b"], ["c", "d"]], "matrix of numbers"),
            (None, "matrix"),
        ],
    )
    def test_no_matrix(self, scores: Any, message: str) -> None:  # noqa: ANN401
        with pytest.raises(ParameterError, match=message):
            icc(scores)

    def test_form_and_level(self) -> None:
        with pytest.raises(ParameterError, match="'form' parameter"):
            icc(np.eye(3), "4,1")  # type: ignore[arg-type]  # the test
        for level in (0, 1, 95, -0.1):
            with pytest.raises(ParameterError, match="'level'"):
                icc(np.eye(3), level=level)

    def test_numbers_of_any_kind(self, shrout_fleiss: NDArray[np.float64]) -> None:
        expected = single(shrout_fleiss).value
        for version in (shrout_fleiss.astype(int), shrout_fleiss.astype(np.float16), shrout_fleiss.tolist()):
            assert single(version).value == pytest.approx(expected)
        assert single(pd.DataFrame(shrout_fleiss)).value == expected


def test_what_users_see(shrout_fleiss: NDArray[np.float64]) -> None:
    found = single(shrout_fleiss)
    assert str(found) == "ICC(2,1) = 0.290 [0.019, 0.761]"
    assert str(single(np.ones((3, 3)))) == "ICC(2,1) undefined: all scores are equal"
    assert list(icc_table(shrout_fleiss)["statistic"]) == [f"ICC({form})" for form in FORMS]
    assert found.to_dict()["n"] == 6
    assert "3 × ICC(2,1), 3 undefined" in stacked(np.ones((3, 3, 3)))._repr_html_()
