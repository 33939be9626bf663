"""The documentation builds without a warning, leaves no page out, and can be read by everybody."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import biasgauge as bg

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.e2e

HERE = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(scope="module")
def plain_site(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site without outputs: prose, links and the reference."""
    return built(repository, tmp_path_factory.mktemp("plain") / "site", outputs="off")


def built(repository: Path, site: Path, outputs: str) -> Path:
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site)]
    own = {"SITE_OUTPUTS": outputs, "PYTHONPATH": str(repository / "src")}
    done = subprocess.run(words, cwd=repository, env=os.environ | own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return site


def test_the_site_builds_and_refers_to_nothing_outside(plain_site: Path) -> None:
    names = {page.relative_to(plain_site).as_posix() for page in plain_site.rglob("*.html")} - {"404.html"}
    pages = {page.relative_to(HERE).with_suffix(".html").as_posix() for page in HERE.rglob("*.md")}
    assert {page.replace("README", "index") for page in pages} == names
    text = (plain_site / "index.html").read_text()
    assert not re.search(r"<(script|link)[^>]+https?://", text)
    assert "<math" in (plain_site / "measures" / "association.html").read_text()


PAGES = (
    "index",
    "tutorial",
    "howto/gallery",
    "measures/verdicts",
    "applications/balancing",
    "applications/correlate",
    "reference/numbers",
    "reference/uncertainty",
)
LOOKS = [(width, colors) for width in (1280, 390) for colors in ("light", "dark")]


def looked_at(browser: Any, page: Path, width: int, colors: str) -> Any:  # noqa: ANN401 - pages of a browser
    """A page of the site, which may ask for files of the site and for nothing else."""
    site = next(folder for folder in page.parents if (folder / "search").is_dir())
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=colors)
    opened = context.new_page()
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("pageerror", lambda error: asked.append(f"error: {error}"))
    opened.goto(page.as_uri())
    opened.wait_for_selector("html[data-ready]", state="attached")
    assert [url for url in asked if not url.startswith(site.as_uri())] == []
    return opened


@pytest.mark.parametrize(("width", "colors"), [(1280, "light"), (390, "dark")])
def test_everybody_can_read_a_page(
    plain_site: Path,
    browser: Any,  # noqa: ANN401 - a browser
    serious_findings: Callable[..., list[str]],
    width: int,
    colors: str,
) -> None:
    page = looked_at(browser, plain_site / "measures" / "association.html", width, colors)
    assert serious_findings(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width  # wide tables scroll in themselves


def test_menu_colors_and_search_work_from_a_disk(plain_site: Path, browser: Any) -> None:  # noqa: ANN401
    page = looked_at(browser, plain_site / "howto" / "corpus.html", 390, "light")
    assert not page.locator(".contents").is_visible()
    page.click(".menu")
    assert page.locator(".contents [aria-current]").is_visible()
    page.click(".theme")
    page.click(".theme")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.fill(".search input", "limit of blank")
    page.wait_for_selector("#found a")
    assert "limit of blank" in page.inner_text("#found").lower()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "howto/corpus" not in url, timeout=120_000)
    assert "limit of blank" in page.inner_text("main").lower()


@pytest.mark.slow
def test_the_site_builds_with_all_outputs(
    repository: Path,
    tmp_path: Path,
    browser: Any,  # noqa: ANN401 - a browser
    serious_findings: Callable[..., list[str]],
) -> None:
    """Every program of every page runs; minutes, unless nothing has changed since the last time."""
    site = built(repository, tmp_path / "site", outputs="on")
    tutorial = (site / "tutorial.html").read_text()
    assert "effect 1.32, p 0.005 (exact)" in tutorial
    assert re.search(r"report-with-care: WEAT 1", tutorial)
    assert re.search(r"inconclusive: WEAT 7", tutorial)
    assert (site / "howto" / "gallery.html").read_text().count("<svg") >= 20
    found: dict[str, list[str]] = {}
    for name in PAGES:
        for width, colors in LOOKS:
            page = looked_at(browser, site / f"{name}.html", width, colors)
            wide = page.evaluate("document.documentElement.scrollWidth") > width
            found[f"{name} {width} {colors}"] = [*serious_findings(page), *(["wider than the screen"] if wide else [])]
            page.context.close()
    assert {name: complaints for name, complaints in found.items() if complaints} == {}


def test_the_contents_name_every_page(repository: Path) -> None:
    contents = (repository / "mkdocs.yml").read_text().split("\nnav:\n")[1]
    named = set(re.findall(r": ([\w/]+\.md)$", contents, re.MULTILINE))
    assert named == {page.relative_to(HERE).as_posix() for page in HERE.rglob("*.md")}


def test_the_reference_has_every_public_name_once_and_the_overview_every_page(repository: Path) -> None:
    folder = repository / "docs" / "reference"
    pages = {path.stem: path.read_text() for path in folder.glob("*.md")}
    overview = pages.pop("index")
    told = [name for text in pages.values() for name in re.findall(r"^::: (\S+)$", text, re.MULTILINE)]
    assert len(told) == len(set(told))
    assert set(re.findall(r"\(\w+\.md#(\S+)\)", overview)) == set(told)
    namespaces = {"registry", "stats", "__version__"}
    public: Any = bg
    assert set(public.__all__) - namespaces <= {name.rpartition(".")[2] for name in told}
