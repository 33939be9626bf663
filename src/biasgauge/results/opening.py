"""Open the page of a result."""

from __future__ import annotations

from pathlib import Path

from biasgauge.results.result import Result


def show(result: Result, *, browser: bool = True) -> Path:
    """Write the page of a result into a folder for temporary files and open it in the browser.

    Nothing is sent anywhere: the page is one file that loads nothing. It stays there until the machine clears its
    temporary files; `result.save("page.html")` keeps it.

    Args:
        result: of any function of this package.
        browser: whether to open it; where there is no browser, the path is all there is.

    Returns:
        The path of the page.
    """
    import tempfile
    import webbrowser

    folder = Path(tempfile.mkdtemp(prefix="biasgauge-"))
    page = result.save(folder / "page.html")
    if browser:
        webbrowser.open(page.as_uri())
    return page
