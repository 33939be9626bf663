"""Intervals of draws, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from biasgauge.stats import Credible, estimate_of_posterior


def test_percentiles_leave_as_much_beyond_either_end_and_hpdi_is_the_narrowest() -> None:
    """Of 0, 1, 4, 9, …: the narrowest interval begins where draws are dense, the other leaves out both ends."""
    draws = np.arange(101.0) ** 2
    low, high = Credible("percentile", 0.9).ends(draws)
    assert (low, high) == pytest.approx((25.0, 9025.0), rel=1e-12)  # the squares of 5 and 95
    low, high = Credible("hpdi", 0.9).ends(draws)
    assert low == 0.0
    assert high == pytest.approx(90.0**2, abs=181)  # a draw more or less


def test_an_estimate_of_draws_has_their_mean_and_tells_how_its_ends_were_found() -> None:
    found = estimate_of_posterior(np.arange(101.0), Credible("percentile", 0.5))
    assert (found.value, found.low, found.high) == (50.0, 25.0, 75.0)
    assert (found.level, found.method, found.resamples) == (0.5, "percentile", 101)
