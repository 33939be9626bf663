"""Figures in a real browser: on the grid, without overlap on a phone, named, and each can be taken away as a file."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

import pytest

import biasgauge as bg
from biasgauge.papers import Reproduction, Row
from biasgauge.results.drawing import WIDTHS
from biasgauge.vectors import load_default

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.e2e

OVERLAPS = """figure => {
  const shown = [...figure.querySelectorAll("svg text")].filter(text => text.getAttribute("opacity") !== "0");
  const boxes = shown.map(text => [text.textContent, text.getBoundingClientRect()])
    .filter(([text, box]) => text.trim() && box.width > 0 && getComputedStyle(figure).display !== "none");
  const clash = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
  return boxes.flatMap(([text, box], at) => boxes.slice(at + 1).filter(([, other]) => clash(box, other))
    .map(([other]) => `${text} / ${other}`)).filter(pair => /[0-9]/.test(pair));
}"""
"""Words of a figure that stand on each other where one has a digit; rotated labels of an axis have wide boxes."""


MARKS = {"line": "path", "text": "text", "rule": "line"}


def published() -> Reproduction:
    """A paper that does not exist: numbers near and far, large and small, and one that looks like a formula."""
    rows = [
        Row(f"a.{at}", f"number {at}", "T", 0.1 * at, 0.1 * at + 0.02, 0.1 * at + 0.1, tolerance=0.005,
            low=0.1 * at, high=0.1 * at + 0.2, part="a")
        for at in range(-3, 9)
    ]  # fmt: skip
    rows += [Row("=1+1", "no formula", "T", 7_000, 7_100, tolerance=1, part="a")]
    rows += [Row("a.length", "a length", "T", 8, 8, tolerance=0, part="a", kind="identity")]
    return Reproduction("p", "A paper", "Nobody 1900", "", {"a": "part"}, tuple(rows), (), {"files": {}})


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published().save(tmp_path_factory.mktemp("paper") / "page.html")


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    before = load_default()
    result = bg.audit(bg.mitigate(before, "hard"), before=before, lexicons=["weat7", "weat6", "religion"])
    return result.save(tmp_path_factory.mktemp("audit") / "report.html")


@pytest.fixture(scope="module", params=["paper", "changed"])
def path(request: pytest.FixtureRequest) -> Path:
    found: Path = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="module")
def shown(open_shared: Callable[..., Any], path: Path) -> Any:  # noqa: ANN401 - a page of the browser
    """A page that is opened once for all tests that only look at it."""
    return open_shared(path)


def outer_widths(page: Any) -> dict[str, float]:  # noqa: ANN401 - a page of the browser
    found: dict[str, float] = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('figure[data-chart]')].map(one => "
        "[`${one.dataset.width} ${one.id}`, Number(one.querySelector('svg').getAttribute('width'))]))"
    )
    return found


def test_figures_have_one_of_two_widths(shown: Any) -> None:  # noqa: ANN401
    widths = outer_widths(shown)
    assert widths
    for name, width in widths.items():
        assert width == pytest.approx(WIDTHS[name.split(maxsplit=1)[0]], abs=1.5), name  # type: ignore[index]


def test_on_a_phone_figures_fit_and_digits_do_not_overlap(open_page: Callable[..., Any], path: Path) -> None:
    page = open_page(path, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for name, width in outer_widths(page).items():
        assert width <= 360, name
    for figure in page.locator("figure[data-chart]").all():
        assert figure.evaluate(OVERLAPS) == [], figure.get_attribute("id")


def test_every_picture_has_a_name(shown: Any) -> None:  # noqa: ANN401
    marks = shown.locator("svg [role='img'], svg [role='graphics-symbol'], svg[role]")
    unnamed = marks.evaluate_all("all => all.filter(one => !(one.getAttribute('aria-label') ?? '').trim()).length")
    assert marks.count() > 0
    assert unnamed == 0
    names = shown.locator(".takeaways button").evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    assert len(names) == 3 * shown.locator("figure[data-chart], .drawing, .forest[id]").count()
    assert len(set(names)) > 3


def downloaded(page: Any, figure: str, kind: str) -> bytes:  # noqa: ANN401 - a page of the browser
    with page.expect_download() as waiting:
        page.locator(f"#{figure} > .takeaways button", has_text=kind.upper()).click()
    assert waiting.value.suggested_filename == f"{figure}.{kind}"
    content: bytes = waiting.value.path().read_bytes()
    return content


def test_every_figure_can_be_taken_away(open_page: Callable[..., Any], paper: Path) -> None:
    page = open_page(paper, accept_downloads=True, color_scheme="dark")
    svg = downloaded(page, "figure-summary-differences", "svg").decode()
    assert re.search(r'<svg[^>]*? width="(699|70[01])', svg)
    assert "var(" not in svg  # a file knows no variables of a page
    assert "a.8" in svg
    png = downloaded(page, "figure-summary-differences", "png")
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20]) == pytest.approx(3 * WIDTHS["full"], abs=5)
    rows = list(csv.DictReader(downloaded(page, "figure-summary-differences", "csv").decode().splitlines()))
    drawn = {(row["number"], row["step"]): float(row["value"]) for row in rows if row["value"]}
    assert drawn["a.8", "published"] == pytest.approx(0.8)
    assert drawn["a.8", "corrected"] == pytest.approx(0.9)
    assert drawn["'=1+1", "published"] == 7_000  # no spreadsheet takes it for a formula
    assert drawn["a.-3", "published"] == pytest.approx(-0.3)


def test_the_forest_plot_and_the_drawings_of_a_panel_can_be_taken_away(
    open_page: Callable[..., Any], changed: Path
) -> None:
    """From disk, on a phone, from a dark page: the file is as wide as any other, and dark on white."""
    page = open_page(changed, width=390, accept_downloads=True, color_scheme="dark")
    page.locator("#verdicts-weat7").evaluate("row => row.open = true")
    for figure, wide in (("verdicts-forest", 1224), ("verdicts-weat7-pairs", 544), ("verdicts-weat7-words", 984)):
        svg = downloaded(page, figure, "svg").decode()
        assert re.search(rf'<svg[^>]*? width="{wide}"', svg), figure
        assert "var(" not in svg
        assert "currentColor" not in svg
        png = downloaded(page, figure, "png")
        assert int.from_bytes(png[16:20]) == 3 * wide
        assert 'fill="rgb(28, 30, 33)"' in svg  # ink of a light page
    rows = list(csv.DictReader(downloaded(page, "verdicts-forest", "csv").decode().splitlines()))
    assert {row["group"] for row in rows} >= {"Gender", "Religion"}
    parts = list(csv.DictReader(downloaded(page, "verdicts-weat7-words", "csv").decode().splitlines()))
    shares = {True: 0.0, False: 0.0}  # of targets and of attributes: both add up to the contrast as it is
    for row in parts:
        shares[row["list"] in {"math words", "arts words"}] += float(row["contribution to the contrast"])
    assert shares[True] == pytest.approx(shares[False], abs=1e-4)
    assert shares[True] != 0
    bins = list(csv.DictReader(downloaded(page, "verdicts-weat7-chance", "csv").decode().splitlines()))
    assert sum(int(row["count"]) for row in bins) > 100
    assert page.locator(".stage").count() == 0  # nothing is left behind
    assert page.evaluate("document.documentElement.dataset.theme") is None


def test_a_link_leads_to_its_figure(open_page: Callable[..., Any], paper: Path) -> None:
    page = open_page(paper)
    page.locator("#figure-part-a-values .takeaways a").click()
    assert page.evaluate("location.hash") == "#figure-part-a-values"
    assert page.locator("#figure-part-a-values").evaluate("one => one.getBoundingClientRect().top") < 900


def test_conclusion_and_figure_of_a_paper_come_before_its_tables(open_page: Callable[..., Any], paper: Path) -> None:
    page = open_page(paper)
    assert "0 of 13 published values" in page.locator("header").inner_text()
    later = "document.querySelector('figure').compareDocumentPosition(document.querySelector('main .scroll')) & 4"
    assert page.evaluate(later) == 4  # the first table follows the first figure


def test_did_it_work_stands_first(open_page: Callable[..., Any], changed: Path) -> None:
    page = open_page(changed)
    first = page.locator("main > section").first
    assert first.locator("h2").inner_text() == "Effect of the change"
    tiles = first.locator(".answers > li")
    assert [tile.locator("span").first.inner_text() for tile in tiles.all()] == [
        "Bias measured", "Bias recoverable", "Damage",
    ]  # fmt: skip
    assert all(tile.locator(".decision").inner_text() for tile in tiles.all())
    assert tiles.last.bounding_box()["y"] < 900
    slopes = page.locator("figure[data-chart='did-it-work-slopes']")
    marks = [slopes.locator(f".mark-{mark}.role-mark").locator(tag).count() for mark, tag in MARKS.items()]
    assert marks == [3, 3, 1]  # the line at 0 is the rule
