"""Pictures of the page of an audit, as readers meet it: first screen, an open question, before and after, phone, print.

    python scripts/make_screens.py [docs/screens]

Needs a browser of this machine (Chromium) and Playwright; nothing is downloaded. Look at each before you commit it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import biasgauge as bg

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
READY = "html[data-ready]"


def main(folder: Path) -> None:
    """Audit the shipped vectors, and those after hard debiasing, and take the pictures."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        sys.exit(f"None of {', '.join(BROWSERS)} is installed: a browser takes the pictures.")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        audit = bg.audit().save(Path(place) / "report.html")
        before = bg.embeddings.load_default()
        after = bg.mitigate(before, "hard")
        lexicons = ["weat6", "weat7", "weat8", "gender"]
        changed = bg.audit(after, before=before, lexicons=lexicons, case_fallback=True)
        change = changed.save(Path(place) / "change.html")
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])

        def opened(file: Path, width: int, height: int) -> Any:  # noqa: ANN401 - a page of the browser
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(file.as_uri())
            page.wait_for_selector(READY, state="attached")
            return page

        page = opened(audit, 1280, 900)
        page.screenshot(path=folder / "first_screen.png")
        row = page.locator("details", has_text="Male names are more associated").first
        row.locator("summary").first.click()
        row.scroll_into_view_if_needed()
        row.screenshot(path=folder / "open_question.png")
        opened(change, 1280, 900).screenshot(path=folder / "before_after.png")
        opened(audit, 390, 844).screenshot(path=folder / "phone.png")
        page = opened(audit, 1280, 900)
        page.pdf(path=folder / "print.pdf", format="A4", print_background=True)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/screens"))
