"""The page on reliability: it names every estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from biasgauge import stats
from biasgauge.analyses.reliability import SOURCES
from biasgauge.stats.intraclass import FEW_RATERS, FEWEST, SIGNIFICANT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "reliability" / "reliability.md").read_text()


def test_the_page_on_intervals_states_the_rule_of_the_code(repository: Path) -> None:
    page = (repository / "docs" / "reliability" / "reliability_intervals.md").read_text()
    assert f"one-sided p < {SIGNIFICANT}".replace("0.", ".") in page
    assert f"at least {FEWEST} subjects" in page
    assert FEW_RATERS == 5
    assert "fewer than five raters" in page


def test_every_estimator_is_named(page: str) -> None:
    for name in ("icc", "cronbach_alpha", "omega", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha"):
        assert name in dir(stats)
        assert f"`bg.stats.{name}(" in page


def test_bands_are_those_of_the_code(page: str) -> None:
    for source in SOURCES.values():
        author_and_year = source.split(":")[0]
        assert author_and_year in page
