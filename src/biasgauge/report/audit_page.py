"""The page of an audit: one HTML file that needs nothing else, with JSON and CSV beside it."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from biasgauge._io.atomic import write_text
from biasgauge._version import __version__
from biasgauge.report.page.colours import style_sheet
from biasgauge.report.page.sections import sections_of
from biasgauge.report.tables import csv_text

if TYPE_CHECKING:
    import os

    from biasgauge.audit import AuditResult

_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}


def audit_page(result: AuditResult) -> str:
    """The whole page as HTML. Everything that comes from files is escaped; only the page's own scripts may run."""
    sections = sections_of(result)
    charts = {chart.key: chart.spec for section in sections.values() for chart in section.charts}
    data = {"charts-data": charts} if charts else {}
    if result.explorer is not None and result.explorer.scores is not None:
        data["explorer-data"] = result.explorer.packed()
    blocks = {name: Markup(_json(content)) for name, content in data.items()}  # noqa: S704 - escaped by _json
    scripts = [_own(name) for name in (*(("vega.js", "explorer.js") if data else ()), "page.js")]
    style = style_sheet("".join(blocks.values())) + _own("page.css")
    return _template("audit.html").render(
        result=result,
        sections=sections,
        version=__version__,
        policy=_policy(scripts),
        style=Markup(style),  # noqa: S704 - the package's own
        data=blocks,
        scripts=[Markup(one) for one in scripts],  # noqa: S704 - the package's own
    )


def audit_table(result: AuditResult) -> str:
    """Verdicts, then what can be measured, for a notebook."""
    return _template("notebook.html").render(result=result)


def save_audit(result: AuditResult, path: str | os.PathLike[str]) -> Path:
    """Write page, JSON and CSV: three files with one stem, each whole or not at all."""
    page = Path(path)
    if page.suffix not in {".html", ".htm"}:
        page = page.with_name(page.name + ".html")
    write_text(page.with_suffix(".json"), json.dumps(result.to_dict(), ensure_ascii=False, allow_nan=False, indent=1))
    write_text(page.with_suffix(".csv"), csv_text(result.to_frame()))
    write_text(page, audit_page(result))
    return page


def _policy(scripts: list[str]) -> str:
    """What the page may do: show itself, and run exactly these scripts; load nothing, send nothing."""
    hashes = (base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in scripts)
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}; base-uri 'none'; form-action 'none'"


def _json(content: object) -> str:
    """JSON for a script element: ASCII, without any sign that could end the element."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)


def _own(name: str) -> str:
    return (files("biasgauge.report.page") / name).read_text(encoding="utf-8")


def _template(name: str) -> Template:
    loader = PackageLoader("biasgauge.report", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(name)
