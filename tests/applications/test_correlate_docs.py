"""The page about gaps and correlation: its table is true."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from biasgauge.analyses.correlate import correlate

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "applications" / "correlate.md").read_text()


def number(text: str) -> float:
    return float(text.strip().replace("−", "-"))


@pytest.mark.shared
def test_the_table_of_the_authors_points_is_true(page: str, shared_data: Path) -> None:
    frame = pd.read_csv(shared_data / "goldfarb_tarrant_results" / "hsd_en.csv")
    by_name = frame.copy()
    by_name.loc[frame["Name"].str.contains(r"_twitter_en_(?:debias|overbias)_[678]"), "Method"] = "Preprocess"
    settings = [
        (frame, ["Test=9", "Name=[6-9]|all_tweets"]),
        (frame, ["Test=9"]),
        (by_name, ["Test=9"]),
    ]
    rows = re.findall(r"^\| (post|pre), .*?[^\\] \| (\d+) \| (.*) \|$", page, re.MULTILINE)
    assert [row[0] for row in rows] == ["post", "pre"] * 3
    for (method, n, cells), (points, drop) in zip(rows, [one for one in settings for _ in range(2)], strict=True):
        r, p, units, ends, unit_p = cells.split(" | ")
        asked = {"by": ["Metric", "Method"], "drop": drop}
        plain = correlate(points, "WEAT", "Performance Gap", **asked, resamples=20)  # type: ignore[arg-type]
        over = correlate(points, "WEAT", "Performance Gap", **asked, unit="Name")  # type: ignore[arg-type]
        one, other = (some.group(Metric="Recall", Method=f"{method.title()}process") for some in (plain, over))
        assert (one.n, other.units) == (int(n), int(units))
        assert (one.r, one.p) == pytest.approx((number(r), number(p)), abs=5.1e-5)
        low, high = (number(end) for end in ends.strip("[]").split(","))
        assert (other.estimate.low, other.estimate.high) == pytest.approx((low, high), abs=0.011)
        assert other.p == pytest.approx(number(unit_p), abs=0.006)
