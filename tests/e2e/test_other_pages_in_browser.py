"""Pages of studies and of reproduced papers in a real browser: no error, no request; they fit, sort and draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import biasgauge as bg

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.e2e

STUDY = """
[study]
name = "small"
title = "<b>Bold</b> </script> title"

[vectors.shipped]
default = "replicates"

[analyses.science]
kind = "weat"
of = ["shipped"]
settings = { test = "weat7", interval = { resamples = 200 } }

[report]
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("study")
    (folder / "small.toml").write_text(STUDY, encoding="utf-8")
    assert bg.run_study(folder / "small.toml", workers=0).failed == 0
    return folder / "small-study" / "results" / "report" / "page.html"


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory: pytest.TempPathFactory, reproduced: Callable[..., bg.papers.Reproduction]) -> Path:
    return reproduced("du2021").save(tmp_path_factory.mktemp("paper") / "page.html")


@pytest.fixture(params=["study", "reproduction"])
def path(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(request.param)
    return found


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_nothing_is_wider_than_the_screen(open_page: Callable[..., Any], path: Path, width: int, scheme: str) -> None:
    page = open_page(path, width=width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.title().startswith("biasgauge: ")


def test_tables_sort_and_charts_are_drawn(open_page: Callable[..., Any], path: Path) -> None:
    page = open_page(path)
    for figure in page.locator("figure[data-chart]").all():
        figure.scroll_into_view_if_needed()
        figure.locator("svg").first.wait_for()
    table = page.locator("table:visible", has=page.locator("tbody tr:nth-child(4)")).first
    button = table.locator("thead button").first
    orders = []
    for _ in range(2):
        button.click()
        orders.append(table.locator("tbody tr > :first-child").all_text_contents())
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])


def test_an_awkward_title_is_text(open_page: Callable[..., Any], study: Path) -> None:
    page = open_page(study)
    assert page.locator("h1").text_content() == "<b>Bold</b> </script> title"
    assert page.locator("h1 b").count() == 0


def test_axe_finds_nothing_serious(
    open_page: Callable[..., Any], path: Path, serious_findings: Callable[..., list[str]]
) -> None:
    assert serious_findings(open_page(path)) == []
