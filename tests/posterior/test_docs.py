"""The page about posteriors: its tables are true."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from biasgauge.analyses.posterior import VARIANTS, bayes, read_distances

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "reliability" / "bayes.md").read_text()


def test_every_variant_has_its_row(page: str) -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| .* \| (\w+) \|$", page, re.MULTILINE)
    assert {name for name, _ in rows} - {"variant"} == set(VARIANTS)


@pytest.mark.shared
def test_the_table_of_standard_deviations_is_true(page: str, shared_data: Path) -> None:
    table = read_distances(shared_data / "bayes_distances" / "religion_group_reddit_dataset.csv.gz")
    rows = re.findall(r"^\| religion, Reddit: `([\w-]+)` \| (.*) \|$", page, re.MULTILINE)
    assert [name for name, _ in rows] == ["per-connection", "crossed"]
    for variant, cells in rows:
        found = bayes(table, variant=variant)
        stated = [float(cell) for cell in cells.split(" | ")]
        assert [one.sd for one in found.groups] == pytest.approx(stated, abs=0.002)
