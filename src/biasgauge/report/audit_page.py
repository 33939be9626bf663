"""The page of an audit: one HTML file that needs nothing else, with JSON and CSV beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from biasgauge._io.atomic import write_text
from biasgauge._version import __version__
from biasgauge.report.tables import csv_text

if TYPE_CHECKING:
    import os

    from biasgauge.audit import AuditResult


def audit_page(result: AuditResult) -> str:
    """The whole page as HTML. Everything that comes from files is escaped."""
    return _template("audit.html").render(result=result, version=__version__)


def audit_table(result: AuditResult) -> str:
    """The table of verdicts alone, for a notebook."""
    return _template("verdicts.html").render(result=result)


def save_audit(result: AuditResult, path: str | os.PathLike[str]) -> Path:
    """Write page, JSON and CSV: three files with one stem, each whole or not at all."""
    page = Path(path)
    if page.suffix not in {".html", ".htm"}:
        page = page.with_name(page.name + ".html")
    write_text(page.with_suffix(".json"), json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False, indent=1))
    write_text(page.with_suffix(".csv"), csv_text(result.to_frame()))
    write_text(page, audit_page(result))
    return page


def _template(name: str) -> Template:
    loader = PackageLoader("biasgauge.report", "templates")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    return environment.get_template(name)
