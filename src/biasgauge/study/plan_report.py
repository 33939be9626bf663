"""The cell of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.lexicons.nearest import meant

if TYPE_CHECKING:
    from biasgauge.study.book import Book

REPORT = "report"


def plan_report(book: Book) -> None:
    """The cell of the page, where the study asks for one, over all results or those that it names."""
    table = book.study.report
    for section in ("analyses", "tasks"):
        if REPORT in getattr(book.study, section):
            book.problem((section, REPORT), "the name 'report' is taken by the page; choose another")
    if table is None:
        return
    chosen = [one for one in book.entries if table.of is None or one["name"].split("/")[0] in table.of]
    names = list(dict.fromkeys(one["name"].split("/")[0] for one in book.entries))
    for name in table.of or ():
        if name not in names and not any((part, name) in book.study.broken for part in ("analyses", "tasks")):
            near = meant(name, names) or f"; there are {', '.join(names) or 'none'}"
            book.problem((REPORT, "of"), f"there is no {name!r} in analyses or tasks{near}")
    if book.problems:  # some result is missing, or some setting is none that a cell could hold
        return
    content = book.study.to_dict()
    about = content.pop("study")
    settings = {
        "name": about["name"],
        "title": table.title or about["title"],
        "about": table.about or about["about"],
        "seed": about["seed"],
        **{part: content[part] for part in ("corpora", "models", "vectors", "mitigations", "scores")},
        "results": chosen,
        "toml": book.study.text,
    }
    key = book.add(
        "report",
        settings,
        inputs={f"result{number}": one["key"] for number, one in enumerate(chosen)},
        label="report",
    )
    book.results[REPORT] = key
