"""How values are written: the cases that once came out differently in different places."""

from __future__ import annotations

import pytest

from biasgauge.core.estimate import Estimate
from biasgauge.results.wording import (
    count_of,
    counted,
    estimate_text,
    interval_text,
    level_text,
    number_text,
    p_phrase,
    p_text,
    setting_text,
    share_text,
    signed_text,
    unbroken,
    words_text,
)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (2.024e-188, "< .001"), (1e-5, "< .001"), (0.000999, "< .001"), (0.001, ".001"), (0.0344, ".034"),
        (0.5, ".500"), (0.9994, ".999"), (0.9996, "> .999"), (1.0, "1"),
    ],
)  # fmt: skip
def test_a_p_value_is_written_one_way(p: float, text: str) -> None:
    assert p_text(p) == text


def test_a_p_value_in_a_sentence() -> None:
    assert [p_phrase(p) for p in (0.0344, 1e-9, 0.99999, 1.0, None)] == [
        "p = .034", "p < .001", "p > .999", "p = 1", "p unknown",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (-0.0312, 3, "−0.031"), (0.0, 2, "0.00"), (-0.0, 2, "0.00"), (0.0004, 2, "4.0e−04"), (-0.0004, 2, "−4.0e−04"),
        (1234.5, 1, "1,234.5"), (float("nan"), 2, "–"), (None, 2, "–"),
    ],
)  # fmt: skip
def test_numbers_have_a_true_minus_and_never_a_negative_zero(value: float | None, digits: int, text: str) -> None:
    assert number_text(value, digits) == text


def test_signs_are_shown_where_they_matter() -> None:
    assert [signed_text(value) for value in (0.0841, -0.0311, 0.0, None)] == ["+0.084", "−0.031", "0.000", "–"]


def test_shares_and_levels_are_percent() -> None:
    assert [share_text(0.893), share_text(0.0286, 1), share_text(-0.05), share_text(None)] == [
        "89 %",
        "2.9 %",
        "−5 %",
        "–",
    ]
    assert [level_text(level) for level in (0.95, 0.999, 0.89, 1 - 0.05 / 3)] == ["95 %", "99.9 %", "89 %", "98.33 %"]


def test_an_interval_stands_behind_its_number() -> None:
    whole = Estimate(value=0.084, low=-0.01, high=0.117, level=0.95)
    assert estimate_text(whole, 3) == "0.084 [−0.010, 0.117]"
    assert estimate_text(whole, 3, signed=True) == "+0.084 [−0.010, +0.117]"
    assert interval_text(None, 0.5) == "[–, 0.50]"
    assert interval_text(None, None) == ""
    assert estimate_text(Estimate(value=0.5)) == "0.50"
    assert estimate_text(Estimate(value=None, reason="no words")) == "undefined: no words"


def test_no_line_ends_within_a_share_or_a_p_value() -> None:
    assert (
        unbroken("89 % of words, p = .034 (p < .001); 3 %")
        == "89\u00a0% of words, p\u00a0=\u00a0.034 (p\u00a0<\u00a0.001); 3\u00a0%"
    )
    assert unbroken("a % b, sp = 4 and p of") == "a % b, sp = 4 and p of"


def test_counts_words_and_settings() -> None:
    assert [count_of(23, 23), count_of(19, 23), count_of(1500, 2000)] == ["all 23", "19 of 23", "1,500 of 2,000"]
    assert words_text({"x": ["a", "b"], "y": ["c"]}, 2) == "a, b … and 1 more"
    assert setting_text({"a": [1, None], "b": {"c": (2, 3)}}) == "a 1, none, b c 2, 3"


def test_a_noun_agrees_with_its_number() -> None:
    assert [counted(number, "cell") for number in (0, 1, 1200)] == ["0 cells", "1 cell", "1,200 cells"]
    assert [counted(things, "analysis is", "analyses are") for things in ("a", "ab")] == [
        "1 analysis is",
        "2 analyses are",
    ]
