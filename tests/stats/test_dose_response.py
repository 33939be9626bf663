"""What of the variance of scores is the dose's, where it is known."""

from __future__ import annotations

import numpy as np
import pytest

from biasgauge.stats import dose_response


def test_the_variance_along_the_line_is_that_of_the_doses_times_its_slope_squared() -> None:
    """Scores of three times the dose, offsets of words that add up to nothing at each dose, and hardly any noise."""
    levels = np.repeat([-2.0, 0.0, 2.0], 8)
    offsets = np.tile([0.5, -0.5], 12)
    doses = np.stack([levels, levels[::-1]], axis=1)  # variance 8/3
    noise = 0.001 * np.random.default_rng(2).standard_normal((24, 2, 2))
    found = dose_response((3 * doses + offsets[:, None])[:, :, None] + noise, doses, doses)
    assert found.slope.value == pytest.approx(3.0, rel=1e-3)
    assert found.variances.dose == pytest.approx(9 * 8 / 3, rel=1e-3)
    assert found.variances.run == pytest.approx(1e-6, rel=0.5)
