"""Checks of parameters: what passes, what does not, and what the sentence says."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from biasgauge.core.inputs import check_choice, check_number, check_whole
from biasgauge.errors import ParameterError


@pytest.mark.parametrize("value", [2, 3, np.int64(2), 10**20])
def test_whole_numbers_from_the_least_on_pass(value: int) -> None:
    check_whole(2, draws=value)


@pytest.mark.parametrize("value", [1, -5, 2.0, "2", None, True, float("nan")])
def test_what_is_no_whole_number_or_too_small_is_named(value: object) -> None:
    sentence = f"The 'draws' parameter must be a whole number of at least 2. Got {value!r}."
    with pytest.raises(ParameterError, match=re.escape(sentence)):
        check_whole(2, fine=2, draws=value)


def test_a_choice_is_one_of_the_values() -> None:
    check_choice(("mean", "any", None), to="mean", other=None)
    with pytest.raises(ParameterError, match="'all'"):
        check_choice(("mean", "any"), to="all")


@pytest.mark.parametrize(
    ("limits", "ends", "good", "bad", "words"),
    [
        ((0, 1), True, [0, 1, 0.5, np.float32(0.25)], [-0.1, 1.1, float("nan"), "x", None, True], "from 0 to 1"),
        ((0, 1), False, [0.5], [0, 1], "strictly between 0 and 1"),
        ((0,), False, [1e-300, 7], [0, -1, float("inf")], "above 0"),
        ((0,), True, [0, 7], [-1e-9], "of at least 0"),
        ((), True, [-7, 7.5], [float("-inf"), [1]], "a finite number"),
    ],
)
def test_numbers_lie_where_they_should(
    limits: tuple[float, ...], *, ends: bool, good: list[Any], bad: list[Any], words: str
) -> None:
    for value in good:
        check_number(*limits, ends=ends, share=value)
    for value in bad:
        with pytest.raises(ParameterError, match=re.escape(words) + ".*" + re.escape(f"Got {value!r}.")):
            check_number(*limits, ends=ends, share=value)
