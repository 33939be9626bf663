"""Questions of one audit are corrected together: the rules against other implementations, and intervals that agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from biasgauge.audits.verdict_rule import corrected, corrected_equivalences
from biasgauge.audits.verdicts import CORRECTIONS
from biasgauge.metrics import contrast_test
from biasgauge.stats import contrast_estimate, holm

if TYPE_CHECKING:
    from biasgauge.audits.verdicts import Correction
    from biasgauge.core import Floats

ALPHA = 0.05
ASKED = st.lists(st.tuples(st.sampled_from("gsr"), st.one_of(st.none(), st.floats(0, 1))), min_size=1, max_size=12)
Asked = list[tuple[str, float | None]]


def test_holm_by_hand() -> None:
    """Two families of three and one: gender has 3/4 of the error, sanity 1/4."""
    found = corrected(
        {"a": ("gender", 0.001), "b": ("gender", 0.02), "c": ("gender", 0.03), "d": ("sanity", 0.01)},
        ALPHA,
        "familywise",
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
    found = corrected({place: ("race", float(p)) for place, p in enumerate(p_values)}, ALPHA, "familywise")
    assert [found[place].p for place in range(9)] == pytest.approx(holm(p_values.tolist()))


def test_benjamini_and_hochberg_by_hand() -> None:
    """Of four about people two are found, as .02 ≤ 2/5 × .05: k is 5/2. The check counts in the five, by itself."""
    found = corrected(
        {"a": ("g", 0.001), "b": ("r", 0.02), "c": ("g", 0.9), "d": ("g", 0.04), "e": ("sanity", 1e-9)}, ALPHA
    )
    assert {name: one.k for name, one in found.items()} == {"a": 2.5, "b": 2.5, "c": 2.5, "d": 2.5, "e": 5}
    assert {name: one.p for name, one in found.items()} == pytest.approx(
        {"a": 0.005, "b": 0.05, "c": 0.9 * 5 / 4, "d": 0.04 * 5 / 3, "e": 5e-9} | {"c": 1.0}
    )
    assert [(one.of, one.questions, one.found) for one in found.values()] == [(4, 5, 2)] * 4 + [(1, 5, 1)]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.sampled_from([0.01, 0.05, 0.2]))
def test_each_rule_is_that_of_statsmodels(p_values: list[float], alpha: float) -> None:
    multipletests = pytest.importorskip("statsmodels.stats.multitest").multipletests
    for rule, name in (("fdr", "fdr_bh"), ("familywise", "holm")):
        rejected, adjusted = multipletests(p_values, alpha, name)[:2]
        found = corrected({place: ("race", p) for place, p in enumerate(p_values)}, alpha, rule)  # type: ignore[arg-type]
        assert [one.p for one in found.values()] == pytest.approx(adjusted)
        if np.abs(np.array([one.p for one in found.values()]) - alpha).min() > 1e-12:
            assert [one.p <= alpha for one in found.values()] == rejected.tolist()


@pytest.mark.parametrize("rule", CORRECTIONS)
@given(ASKED, st.sampled_from([0.01, 0.05, 0.2]))
def test_passing_is_the_same_as_p_times_k(rule: Correction, asked: Asked, alpha: float) -> None:
    """The divisor decides by itself: `p_adjusted` ≤ alpha exactly where p ≤ alpha / k."""
    found = corrected(dict(enumerate(asked)), alpha, rule)
    assert set(found) == {place for place, (_, p) in enumerate(asked) if p is not None}
    for place, one in found.items():
        p = asked[place][1]
        assert p is not None
        if abs(one.k * p - alpha) > 1e-12:
            assert (one.p <= alpha) == (one.k * p <= alpha)
        assert 1 - 1e-12 <= one.k <= len(asked) + 1e-12
        assert one.p >= p * (1 - 1e-12)
    for family in "gsr":
        members = sorted((asked[place][1] or 0.0, one.p) for place, one in found.items() if one.family == family)
        assert [adjusted for _, adjusted in members] == sorted(adjusted for _, adjusted in members)


@given(ASKED, st.data())
def test_equivalence_is_never_held_to_a_wider_interval_than_the_association(asked: Asked, data: st.DataObject) -> None:
    """Levels 1 − 2 alpha / k and 1 − alpha / k: whatever lies within the margin is then also shown to do so."""
    small = data.draw(st.lists(st.floats(0, 1), min_size=len(asked), max_size=len(asked)))
    associations = corrected(dict(enumerate(asked)), ALPHA)
    p_values = {place: (family, None if p is None else small[place]) for place, (family, p) in enumerate(asked)}
    found = corrected_equivalences(p_values, associations, ALPHA)
    assert set(found) == set(associations)
    for place, one in found.items():
        assert one.k <= associations[place].k
        assert one.k >= 1
        assert (one.p <= ALPHA) == (min(1.0, one.k * small[place]) <= ALPHA)


def test_claims_of_both_kinds_are_counted_together() -> None:
    """One association of four questions; .03 ≤ 3/4 × .05 but not .04 ≤ 4/4 × .05 for a fourth: k is 4/3."""
    asked = {name: ("g", p) for name, p in {"a": 0.001, "b": 0.5, "c": 0.5, "d": 0.5}.items()}
    small = {name: ("g", p) for name, p in {"a": 1.0, "b": 0.03, "c": 0.037, "d": 0.06}.items()}
    associations = corrected(asked, ALPHA)
    found = corrected_equivalences(small, associations, ALPHA)
    assert {name: one.k for name, one in found.items()} == pytest.approx(dict.fromkeys("abcd", 4 / 3))
    assert [name for name, one in found.items() if one.p <= ALPHA] == ["b", "c"]
    alone = corrected_equivalences(small, corrected(dict.fromkeys(asked, ("g", 0.5)), ALPHA), ALPHA)
    assert [one.p <= ALPHA for one in alone.values()] == [False] * 4  # .03 > 2/4 × .05


@pytest.mark.parametrize("rule", CORRECTIONS)
@given(st.integers(0, 2_000))
def test_the_interval_of_level_one_less_alpha_by_k_is_dual(rule: Correction, seed: int) -> None:
    random = np.random.default_rng(seed)
    groups = np.repeat([0, 1], 5)
    tests = {}
    for place in range(4):
        table = random.normal(0, 0.1, (10, 10)) + random.choice([0, 0.15]) * np.outer(1 - 2 * groups, 1 - 2 * groups)
        tests[place] = contrast_test(table, groups, groups)
    found = corrected({place: ("gs"[place % 2], test.p) for place, test in tests.items()}, 0.2, rule)
    for place, one in found.items():
        low, high = tests[place].interval(1 - 0.2 / one.k)
        assert low is not None
        assert high is not None
        assert (one.p <= 0.2) == (low > 0 or high < 0)


@pytest.mark.parametrize("rule", CORRECTIONS)
def test_words_that_are_missing_change_no_other_correction(rule: Correction) -> None:
    """A question without p still counts, as if its p were 1."""
    asked: dict[str, tuple[str, float | None]] = {
        "a": ("gender", 0.001),
        "b": ("gender", 0.9),
        "c": ("gender", 0.004),
        "d": ("race", 0.95),
    }
    whole = corrected(asked, ALPHA, rule)
    lost = corrected({**asked, "b": ("gender", None), "d": ("race", None)}, ALPHA, rule)
    assert set(lost) == {"a", "c"}
    assert (lost["a"], lost["c"]) == (whole["a"], whole["c"])


@pytest.mark.calibration
@pytest.mark.parametrize("rule", CORRECTIONS)
def test_the_error_of_all_questions_together_is_alpha(rule: Correction) -> None:
    """Uniform p of 3 + 1 questions: some question passes in at most alpha of all audits."""
    random, families = np.random.default_rng(1), ("gender", "gender", "gender", "sanity")
    draws = 4_000
    hits = sum(
        any(
            one.p <= ALPHA
            for one in corrected(
                dict(enumerate(zip(families, random.random(4).tolist(), strict=True))), ALPHA, rule
            ).values()
        )
        for _ in range(draws)
    )
    # Simes' test holds at alpha for three; Holm's first step is Bonferroni's.
    expected = 1 - (1 - ALPHA / 4) * (1 - 0.75 * ALPHA) if rule == "fdr" else 1 - (1 - ALPHA / 4) ** 4
    assert hits / draws == pytest.approx(expected, abs=4 * (expected * (1 - expected) / draws) ** 0.5)


def simulated(random: np.random.Generator, truth: Floats, audits: int) -> tuple[Floats, Floats, Floats]:
    """Estimates of the contrasts of audits × questions with standard error 1; p of 0, and p of beyond ± 1.5."""
    value = truth + random.standard_normal((audits, len(truth)))
    return value, 2 * stats.norm.sf(np.abs(value)), stats.norm.cdf(np.abs(value) - 1.5)


@pytest.mark.calibration
def test_intervals_of_what_is_claimed_cover_and_few_claims_are_false() -> None:
    """Brute force: of the claims of an audit at most alpha are false, and miss their contrast, on average."""
    truth = np.array([0.0] * 6 + [1.5] * 2 + [3.0] * 6)
    random, audits = np.random.default_rng(7), 3_000
    missed, false = [], []
    for value, p, p_small in zip(*simulated(random, truth, audits), strict=True):
        associations = corrected({place: ("g", one) for place, one in enumerate(p.tolist())}, ALPHA)
        small = {place: ("g", one) for place, one in enumerate(p_small.tolist())}
        equivalences = corrected_equivalences(small, associations, ALPHA)
        misses, errors = [], []
        for place, contrast in enumerate(truth.tolist()):
            found, within = (one[place].p <= ALPHA for one in (associations, equivalences))
            k, level = (equivalences[place].k, 1 - 2 * ALPHA / equivalences[place].k) if within else (0.0, 0.0)
            if found and not within:
                k = associations[place].k
                level = 1 - ALPHA / k
            if k:
                misses.append(abs(value[place] - contrast) > stats.norm.ppf((1 + level) / 2))
                errors.append(contrast >= 1.5 if within else contrast == 0)
        missed.append(np.mean(misses) if misses else 0.0)
        false.append(np.mean(errors) if errors else 0.0)
    assert np.mean(false) <= ALPHA + 3 * np.std(false) / audits**0.5
    assert np.mean(missed) <= ALPHA + 3 * np.std(missed) / audits**0.5


@pytest.mark.calibration
def test_with_no_association_at_all_any_is_found_in_alpha_of_audits() -> None:
    """Ten contrasts of 0, which is what Simes' test is about."""
    random, audits = np.random.default_rng(8), 3_000
    _, p, _ = simulated(random, np.zeros(10), audits)
    hits = sum(
        any(one.p <= ALPHA for one in corrected({n: ("g", value) for n, value in enumerate(row)}, ALPHA).values())
        for row in p.tolist()
    )
    assert hits / audits == pytest.approx(ALPHA, abs=4 * (ALPHA * (1 - ALPHA) / audits) ** 0.5)


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
