"""Pictures of the page of an audit, as readers meet it: first screen, an open question, before and after, phone, print.

    python scripts/make_screens.py [docs/screens]

The first screen is `docs/page.png`, beside that folder. What it says is kept as `first_screen.txt`: a test compares it
with what the present version says, so that no picture goes stale unseen. Needs a browser of this machine (Chromium) and
Playwright; nothing is downloaded. Look at each before you commit it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import biasgauge as bg
from biasgauge.results import Summary

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
        audited = bg.audit()
        audit = audited.save(Path(place) / "report.html")
        (folder / "first_screen.txt").write_text(first_screen(audited.summary()), encoding="utf-8")
        before = bg.vectors.load_default()
        after = bg.mitigate(before, "hard")
        lexicons = ["weat6", "weat7", "weat8", "gender"]
        changed = bg.audit(after, before=before, lexicons=lexicons, policy=bg.core.WordPolicy(case="fallback"))
        change = changed.save(Path(place) / "change.html")
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])

        def opened(file: Path, width: int, height: int) -> Any:  # noqa: ANN401 - a page of the browser
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(file.as_uri())
            page.wait_for_selector(READY, state="attached")
            return page

        page = opened(audit, 1280, 900)
        page.screenshot(path=folder.parent / "page.png")
        row = page.locator("details", has_text="Male names are more associated").first
        row.locator("summary").first.click()
        row.scroll_into_view_if_needed()
        row.screenshot(path=folder / "open_question.png")
        opened(change, 1280, 900).screenshot(path=folder / "before_after.png")
        opened(audit, 390, 844).screenshot(path=folder / "phone.png")
        page = opened(audit, 1280, 900)
        page.pdf(path=folder / "print.pdf", format="A4", print_background=True)
        browser.close()


def first_screen(summary: Summary) -> str:
    """What the first screen of a page says: headline, tiles, and the rows of its forest plot."""
    plots = [part.forest for part in (summary, *summary.parts) if part.forest is not None]
    rows = [row for plot in plots for row in plot.rows]
    tiles = [f"{tile.value} {tile.label}" for tile in summary.tiles]
    lines = [summary.title, summary.headline, *tiles, *(f"{row.claim}: {row.mark}" for row in rows)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/screens"))
