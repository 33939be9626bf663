"""Time the workbench in a browser: four lists of 100 words to a verdict, in milliseconds; and the page itself.

    python bench/workbench.py [BROWSER]

"cold" has splits and neighbors that were never drawn, as after a change of the sizes of all lists; "warm" has them, as
after a word was replaced by another. Times of lists are those of the processor, so that a busy machine gives the same;
the smallest of some runs counts.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import biasgauge as bg

ROUNDS = 5


def page_ms(session: Any) -> float:  # noqa: ANN401 - a session with the browser
    """Return the milliseconds of the processor that the page has taken."""
    metrics = {row["name"]: row["value"] for row in session.send("Performance.getMetrics")["metrics"]}
    return float(1_000 * metrics["TaskDuration"])


def measure(page: Any, session: Any, lists: dict[str, list[str]], times: list[float]) -> None:  # noqa: ANN401
    """Add the time of one verdict."""
    before = page_ms(session)
    page.evaluate("(lists) => new Promise((done) => setTimeout(() => done(workbench.evaluate(lists).decision)))", lists)
    times.append(page_ms(session) - before)


def main(browser: str) -> None:
    """Print one JSON object."""
    from playwright.sync_api import sync_playwright

    workbench = bg.workbench()
    page_path = workbench.save(Path(tempfile.mkdtemp()) / "words.html")
    words = np.array([word for word in workbench.embedding.words if word.isalpha()])
    pairs = bg.lexicon("equalize").sets
    known = set(words.tolist())
    ends = {role: [word for word in pairs[end] if word in known] for role, end in (("a", "female"), ("b", "male"))}
    times: dict[str, list[float]] = {}
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for number in range(ROUNDS):
            page = chromium.new_page()
            page.goto(page_path.as_uri())
            page.wait_for_selector("html[data-ready]", state="attached")
            session = page.context.new_cdp_session(page)
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            navigation = page.evaluate(
                "performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart"
            )
            times.setdefault("page parsed", []).append(navigation)
            paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null")
            times.setdefault("first paint", []).append(paint or float("nan"))
            random = np.random.default_rng(number)
            lists = random.choice(words, (4, 100), replace=False).tolist()
            other = random.choice(words, (4, 100), replace=False).tolist()
            for name, chosen in (("cold 4 × 100", lists), ("warm 4 × 100", other)):
                measure(page, session, dict(zip("xyab", chosen, strict=True)), times.setdefault(name, []))
            gendered = {"x": lists[0], "y": lists[1], **ends}
            measure(page, session, gendered, times.setdefault("2 × 100 words, 44 + 43 of base pairs", []))
            page.close()
        chromium.close()
    print(
        json.dumps(
            {"bytes": page_path.stat().st_size, "ms": {name: round(min(row), 1) for name, row in times.items()}},
            indent=1,
        )
    )


if __name__ == "__main__":
    found = sys.argv[1] if len(sys.argv) > 1 else shutil.which("chromium") or shutil.which("google-chrome")
    if not found:
        raise SystemExit("name a Chromium: python bench/workbench.py BROWSER")
    main(found)
