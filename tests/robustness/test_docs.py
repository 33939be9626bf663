"""The page on robustness: it names every part of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from biasgauge.analyses.robustness.forms import FORMS
from biasgauge.analyses.robustness.result import PARTS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "reliability" / "robustness.md").read_text()


def test_every_part_and_form_is_named(page: str) -> None:
    for name in ("base_pairs", *PARTS, "means", "similarity", "reference", *FORMS):
        assert f"`{name}`" in page
