"""Questions of one audit are corrected together: Holm within families, by hand, and the interval that goes with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from biasgauge.audits.verdict_rule import corrected
from biasgauge.metrics import contrast_test
from biasgauge.stats import contrast_estimate, holm

ALPHA = 0.05


def test_holm_by_hand() -> None:
    """Two families of three and one: gender has 3/4 of the error, sanity 1/4."""
    found = corrected(
        {"a": ("gender", 0.001), "b": ("gender", 0.02), "c": ("gender", 0.03), "d": ("sanity", 0.01)}, ALPHA
    )
    assert {name: one.k for name, one in found.items()} == pytest.approx(
        {"a": 4, "b": 4 / 3 * 2, "c": 4 / 3 * 2, "d": 4}  # Holm stops at b: c is held to no less than b
    )
    assert {name: one.p for name, one in found.items()} == pytest.approx(
        {"a": 0.004, "b": 0.02 * 8 / 3, "c": 0.02 * 8 / 3, "d": 0.04}
    )
    assert [(one.family, one.of, one.questions) for one in found.values()] == [("gender", 3, 4)] * 3 + [
        ("sanity", 1, 4)
    ]


def test_one_family_is_holm() -> None:
    p_values = np.random.default_rng(0).random(9) ** 3
    found = corrected({place: ("race", float(p)) for place, p in enumerate(p_values)}, ALPHA)
    assert [found[place].p for place in range(9)] == pytest.approx(holm(p_values.tolist()))


@given(
    st.lists(st.tuples(st.sampled_from("gsr"), st.one_of(st.none(), st.floats(0, 1))), min_size=1, max_size=12),
    st.sampled_from([0.01, 0.05, 0.2]),
)
def test_passing_is_the_same_as_p_times_k(asked: list[tuple[str, float | None]], alpha: float) -> None:
    """The multiplier decides by itself: `p_adjusted` ≤ alpha exactly where p ≤ alpha / k."""
    found = corrected(dict(enumerate(asked)), alpha)
    assert set(found) == {place for place, (_, p) in enumerate(asked) if p is not None}
    for place, one in found.items():
        p = asked[place][1]
        assert p is not None
        if abs(one.k * p - alpha) > 1e-12:
            assert (one.p <= alpha) == (one.k * p <= alpha)
        assert 1 <= one.k <= len(asked)
        assert one.p >= p
    for family in "gsr":
        members = sorted((asked[place][1] or 0.0, one.p) for place, one in found.items() if one.family == family)
        assert [adjusted for _, adjusted in members] == sorted(adjusted for _, adjusted in members)


@given(st.integers(0, 2_000))
def test_the_interval_of_level_one_less_alpha_by_k_is_dual(seed: int) -> None:
    random = np.random.default_rng(seed)
    groups = np.repeat([0, 1], 5)
    tests = {}
    for place in range(4):
        table = random.normal(0, 0.1, (10, 10)) + random.choice([0, 0.15]) * np.outer(1 - 2 * groups, 1 - 2 * groups)
        tests[place] = contrast_test(table, groups, groups)
    found = corrected({place: ("gs"[place % 2], test.p) for place, test in tests.items()}, 0.2)
    for place, one in found.items():
        low, high = tests[place].interval(1 - 0.2 / one.k)
        assert low is not None
        assert high is not None
        assert (one.p <= 0.2) == (low > 0 or high < 0)


def test_words_that_are_missing_change_no_other_correction() -> None:
    """A question without p still counts, as if its p were 1."""
    asked: dict[str, tuple[str, float | None]] = {
        "a": ("gender", 0.001),
        "b": ("gender", 0.9),
        "c": ("gender", 0.004),
        "d": ("race", 0.95),
    }
    whole = corrected(asked, ALPHA)
    lost = corrected({**asked, "b": ("gender", None), "d": ("race", None)}, ALPHA)
    assert set(lost) == {"a", "c"}
    assert (lost["a"], lost["c"]) == (whole["a"], whole["c"])


@pytest.mark.calibration
def test_the_error_of_all_questions_together_is_alpha() -> None:
    """Uniform p of 3 + 1 questions: some question passes in at most alpha of all audits."""
    random, families = np.random.default_rng(1), ("gender", "gender", "gender", "sanity")
    draws = 4_000
    hits = sum(
        any(
            one.p <= ALPHA
            for one in corrected(dict(enumerate(zip(families, random.random(4).tolist(), strict=True))), ALPHA).values()
        )
        for _ in range(draws)
    )
    expected = 1 - (1 - ALPHA / 4) ** 4
    assert hits / draws == pytest.approx(expected, abs=4 * (expected * (1 - expected) / draws) ** 0.5)


def test_k_in_a_contrast_is_bonferronis_interval() -> None:
    """Alone in its family, beside three others: the interval is Student's at 1 − .05 / 4."""
    table = np.random.default_rng(3).normal(0.1, 0.2, (8, 8))
    groups = np.repeat([0, 1], 4)
    found = contrast_estimate(table, groups, groups)
    k = corrected({0: ("a", found.p), 1: ("b", 0.5), 2: ("b", 0.5), 3: ("b", 0.5)}, ALPHA)[0].k
    assert k == 4
    ends = found.at(1 - ALPHA / k)
    assert found.df is not None
    assert found.se is not None
    assert found.value is not None
    assert ends.high == pytest.approx(found.value + stats.t.ppf(1 - 0.05 / 8, found.df) * found.se)
