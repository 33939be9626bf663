"""A real browser for pages that are opened from disk."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
READY = "html[data-ready]"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser of this machine; nothing is downloaded."""
    api = pytest.importorskip(
        "playwright.sync_api", reason="NO PLAYWRIGHT: pip install playwright to look at the page in a browser"
    )
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"NO BROWSER: none of {', '.join(BROWSERS)} is installed; the page was not looked at")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()


AXE = Path(__file__).parent / "axe" / "axe.min.js"
"""axe-core, which looks for what readers with disabilities cannot use; vendored, so that tests need neither npm nor a
network, and every machine finds the same. Its license (MPL-2.0) lies beside it; nothing of it ships."""


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:  # noqa: ANN401 - a browser
    """Opens a page; at the end nothing may have been printed to the console or asked from anywhere."""
    yield from _pages(browser)


@pytest.fixture(scope="module")
def open_shared(browser: Any) -> Iterator[Callable[..., Any]]:  # noqa: ANN401 - a browser
    """The same for a page that all tests of a file look at."""
    yield from _pages(browser)


def _pages(browser: Any) -> Iterator[Callable[..., Any]]:  # noqa: ANN401 - a browser
    contexts: list[Any] = []
    complaints: list[str] = []

    def opened(file: Path, width: int = 1280, **settings: Any) -> Any:  # noqa: ANN401 - a page of the browser
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        context.set_default_timeout(120_000)  # a busy machine takes a while; only a hang takes ten minutes
        contexts.append(context)
        address = file.as_uri()
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on(
            "request", lambda asked: None if asked.url.partition("#")[0] == address else complaints.append(asked.url)
        )
        page.goto(address)
        if settings.get("java_script_enabled", True):
            page.wait_for_selector(READY, state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def serious_findings() -> Callable[..., list[str]]:
    """What axe-core calls serious or critical about a page, with the first place of each; or one rule alone."""

    def found(page: Any, rule: str = "") -> list[str]:  # noqa: ANN401 - a page of the browser
        page.evaluate(AXE.read_text(encoding="utf-8"))
        only = f", runOnly: ['{rule}']" if rule else ""
        violations = page.evaluate(f"async () => (await axe.run({{resultTypes: ['violations']{only}}})).violations")
        return [
            f"{one['id']} × {len(one['nodes'])}: {one['nodes'][0]['html'][:160]} {one['nodes'][0]['failureSummary']}"
            for one in violations
            if one["impact"] in {"serious", "critical"}
        ]

    return found
