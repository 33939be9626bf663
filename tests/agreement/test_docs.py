"""The page on reliability: its code runs, and it names every estimator."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from biasgauge import stats
from biasgauge.agreement import SOURCES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "reliability.md").read_text()


def test_the_code_runs(page: str) -> None:
    programs = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert programs
    for program in programs:
        exec(compile(program, "docs/reliability.md", "exec"), {})  # noqa: S102 - the page is ours


def test_every_estimator_is_named(page: str) -> None:
    for name in ("icc", "cronbach_alpha", "omega", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha"):
        assert name in dir(stats)
        assert f"`bg.stats.{name}(" in page


def test_bands_are_those_of_the_code(page: str) -> None:
    for source in SOURCES.values():
        author_and_year = source.split(":")[0]
        assert author_and_year in page
