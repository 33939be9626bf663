"""Pictures of the page of an audit, and of a workbench, as readers meet them.

First screen, an open question, before and after, phone, print; the lists of docs/howto/words.md.

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
from urllib.parse import urlencode

import biasgauge as bg
from biasgauge.results import Summary

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
READY = "html[data-ready]"
OWN_WORDS = {
    "name_x": "caring occupations",
    "x": "nurse,midwife,orderly,paramedic,hygienist,therapist,dietitian,pharmacist",
    "name_y": "technical occupations",
    "y": "engineer,mechanic,technician,programmer,architect,machinist,surveyor,electrician",
    "name_a": "female terms",
    "a": "female,woman,girl,sister,she,her,hers,daughter",
    "name_b": "male terms",
    "b": "male,man,boy,brother,he,him,his,son",
}
"""Lists of docs/howto/words.md, as the address of a workbench has them."""


def main(folder: Path) -> None:
    """Audit the shipped vectors, and those after hard debiasing, and take the pictures."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        sys.exit(f"None of {', '.join(BROWSERS)} is installed: a browser takes the pictures.")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        audited = bg.audit(workbench=True)
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
        words = bg.workbench().save(Path(place) / "words.html")
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{words.as_uri()}#{urlencode(OWN_WORDS)}")
        page.wait_for_selector(READY, state="attached")
        page.screenshot(path=folder / "workbench.png")
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
