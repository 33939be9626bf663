"""What every page shares: its frame, its own files, and the policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from biasgauge._io.atomic import write_text
from biasgauge._version import __version__
from biasgauge.report.page.colours import style_sheet
from biasgauge.report.tables import csv_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from jinja2 import Template
    from pandas import DataFrame

    from biasgauge.report.page.section import Section

CHARTS = "charts-data"
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}


def whole_page(
    name: str,
    result: object,
    sections: Mapping[str, Section],
    *,
    data: Mapping[str, object] | None = None,
    scripts: Iterable[str] = (),
) -> str:
    """A page as HTML that needs nothing else. What comes from files is escaped; only its own scripts may run.

    Args:
        name: the template, which extends `page.html`.
        result: what the template tells about.
        sections: parts of the page by their anchors; their charts are drawn.
        data: further JSON for scripts that draw, by the element's id.
        scripts: further scripts that ship with the package.
    """
    charts = {chart.key: chart.spec for section in sections.values() for chart in section.charts}
    content = {**({CHARTS: charts} if charts else {}), **(data or {})}
    blocks = {key: Markup(_script_json(one)) for key, one in content.items()}  # noqa: S704 - escaped by _script_json
    own = [own_file(one) for one in (*(("vega.js",) if content else ()), *scripts, "page.js")]
    return template(name).render(
        result=result,
        sections=sections,
        version=__version__,
        policy=_policy(own),
        style=Markup(style_sheet("".join(blocks.values())) + own_file("page.css")),  # noqa: S704 - the package's own
        data=blocks,
        scripts=[Markup(one) for one in own],  # noqa: S704 - the package's own
    )


def save_page(path: str | os.PathLike[str], page: str, content: object, frame: DataFrame) -> Path:
    """Write page, JSON and CSV: three files with one stem, each whole or not at all; give the page's place."""
    place = Path(path)
    if place.suffix not in {".html", ".htm"}:
        place = place.with_name(place.name + ".html")
    write_text(place.with_suffix(".json"), json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1))
    write_text(place.with_suffix(".csv"), csv_text(frame))
    write_text(place, page)
    return place


def own_file(name: str) -> str:
    """A style sheet or script that ships with the package."""
    return (files("biasgauge.report.page") / name).read_text(encoding="utf-8")


def template(name: str) -> Template:
    """A template that escapes everything and refuses names that it was not given."""
    loader = PackageLoader("biasgauge.report", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template(name)


def _policy(scripts: Iterable[str]) -> str:
    """What the page may do: show itself, and run exactly these scripts; load nothing, send nothing."""
    hashes = (base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in scripts)
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}; base-uri 'none'; form-action 'none'"


def _script_json(content: object) -> str:
    """JSON for a script element: ASCII, without any sign that could end the element."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)
