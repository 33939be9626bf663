"""The example package has one thing of each group, and the page on extending names each group and its object."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from biasgauge import registry
from biasgauge.core.groups import GROUPS
from biasgauge.testing import check_association_test, check_measure

PACKAGE = Path(__file__).parents[2] / "examples" / "bias-extras"


def test_the_package_adds_to_every_group() -> None:
    entry_points = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["entry-points"]
    assert set(entry_points) == {f"biasgauge.{group}" for group in registry.groups()}


def test_the_page_has_a_row_for_every_group(repository: Path) -> None:
    page = (repository / "docs" / "howto" / "extending.md").read_text()
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    assert rows.keys() == {*registry.groups()}
    for name, group in GROUPS.items():
        assert f"`{group.attribute}`" in rows[name]


def test_the_example_declares_what_is_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PACKAGE / "src"))
    check_measure(import_module("bias_extras.measure").MEASURE)
    check_association_test(import_module("bias_extras.association_test").TEST)
