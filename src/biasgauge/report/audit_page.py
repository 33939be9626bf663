"""The page of an audit: one HTML file that needs nothing else, with JSON and CSV beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.report.page.document import save_page, template, whole_page
from biasgauge.report.page.sections import sections_of

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from biasgauge.audit import AuditResult


def audit_page(result: AuditResult) -> str:
    """The whole page as HTML: verdicts first, then what they rest on."""
    known = result.explorer
    words = {} if known is None or known.scores is None else {"explorer-data": known.packed()}
    scripts = ("explorer.js",) if words else ()
    return whole_page("audit.html", result, sections_of(result), data=words, scripts=scripts)


def audit_table(result: AuditResult) -> str:
    """Verdicts, then what can be measured, for a notebook."""
    return template("notebook.html").render(result=result)


def save_audit(result: AuditResult, path: str | os.PathLike[str]) -> Path:
    """Write page, JSON and CSV: three files with one stem, each whole or not at all."""
    return save_page(path, audit_page(result), result.to_dict(), result.to_frame())
