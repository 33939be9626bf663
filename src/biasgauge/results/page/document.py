"""Frame that every page shares, its scripts and styles, and the policy that lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from calendar import month_name
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from biasgauge._version import __version__
from biasgauge.io import utf8
from biasgauge.results.page.colors import style_sheet
from biasgauge.results.wording import unbroken

if TYPE_CHECKING:
    from biasgauge.results.page.rendering import Section
    from biasgauge.results.summary import Extra, Summary

CHARTS, PLOTS, PICTURES = "charts-data", "plots-code", "pictures-data"
_PAGE = "biasgauge.results.page"


def whole_page(
    summary: Summary, sections: Mapping[str, Section], charts: Mapping[str, object], extras: Sequence[Extra]
) -> str:
    """A page as HTML that needs nothing else. What comes from files is escaped; only its own scripts may run.

    Args:
        summary: what the page tells about.
        sections: parts of the page by their anchors.
        charts: specifications by key.
        extras: further data and scripts of its sections.
    """
    content = {
        **({CHARTS: charts} if charts else {}),
        **{key: item for extra in extras for key, item in extra.data.items()},
    }
    pictures = {name: text for section in sections.values() for name, text in section.all_pictures()}
    texts = {key: json.dumps(item, allow_nan=False, separators=(",", ":")) for key, item in content.items()}
    plots = {PLOTS: own_file("vega.js")} if content else {}
    shown = {**texts, **({PICTURES: json.dumps(pictures)} if pictures else {})}
    scripts = [own_file(name) for name in (*(("pictures.js", "figures.js") if shown else ()), "page.js")]
    scripts += [own_file(name, extra.package) for extra in extras for name in extra.scripts]
    return (
        _environment()
        .get_template("page.html")
        .render(
            summary=summary,
            sections=sections,
            first=_first_screen(sections),
            terms=sorted(
                {term for section in sections.values() for term in section.all_terms()},
                key=lambda term: term.name.lower(),
            ),
            version=__version__,
            policy=_policy([*plots.values(), *scripts]),
            style=Markup(style_sheet("".join(texts.values())) + own_file("page.css")),  # noqa: S704 - the package's own
            data={key: packed(text) for key, text in (shown | plots).items()},
            scripts=[Markup(item) for item in scripts],  # noqa: S704 - the package's own
        )
    )


def _first_screen(sections: Mapping[str, Section]) -> dict[str, Section]:
    """The sections that stand above the contents: up to the forest plot, where there is one."""
    names = list(sections)
    last = next((at for at, name in enumerate(names) if sections[name].forest is not None), -1)
    return {name: sections[name] for name in names[: last + 1]}


def rendered(extra: Extra) -> Markup:
    """The markup of an extra block; what it inserts is escaped."""
    source = own_file(extra.template, extra.package)
    return Markup(_environment().from_string(source).render(**extra.context))  # noqa: S704 - escaped by the template


def own_file(name: str, package: str = _PAGE) -> str:
    """A style sheet, script or template that ships with a package."""
    return (files(package) / name).read_text(encoding="utf-8")


def _environment() -> Environment:
    """Templates that escape everything and refuse names that they were not given."""
    loader = PackageLoader("biasgauge.results", "templates")
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: unbroken(value) if type(value) is str else value,  # scripts and data are Markup
    )
    environment.filters["day"] = _day
    return environment


def _day(iso: str) -> str:
    """2026-11-16 as 16 November 2026."""
    day = date.fromisoformat(iso)
    return f"{day.day} {month_name[day.month]} {day.year}"


def _policy(scripts: Iterable[str]) -> str:
    """Content security policy: the page may show itself and run exactly these scripts; load nothing, send nothing."""
    hashes = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{script}'" for script in hashes)
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src {allowed}; base-uri 'none'; form-action 'none'"


def packed(text: str) -> str:
    """Text in zlib's format, in base64: letters, digits, + and / alone, so that nothing in it can end its element."""
    return base64.b64encode(zlib.compress(utf8(text), 9)).decode("ascii")
