"""A real browser for pages that are opened from disk."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

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


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:  # noqa: ANN401 - a browser
    """Opens a page; at the end nothing may have been printed to the console or asked from anywhere."""
    contexts: list[Any] = []
    complaints: list[str] = []

    def opened(file: Path, width: int = 1280, **settings: Any) -> Any:  # noqa: ANN401 - a page of the browser
        context = browser.new_context(viewport={"width": width, "height": 900}, **settings)
        context.set_default_timeout(600_000)  # a busy machine takes a while; only a hang takes ten minutes
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("request", lambda asked: None if asked.url == file.as_uri() else complaints.append(asked.url))
        page.goto(file.as_uri())
        if settings.get("java_script_enabled", True):
            page.wait_for_selector(READY, state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
