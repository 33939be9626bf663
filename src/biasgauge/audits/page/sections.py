"""The page of an audit: verdicts first, then the section of each part, then vectors and settings."""

from __future__ import annotations

from collections.abc import Iterator

from biasgauge.audits.page.did_it_work import did_it_work
from biasgauge.audits.page.first_screen import CAVEAT, forest, headline, in_order, slugs, tiles
from biasgauge.audits.page.panels import panels
from biasgauge.audits.page.reporting_sentences import what_to_write
from biasgauge.audits.part import ordered_parts, summarize_part
from biasgauge.audits.result import AuditResult
from biasgauge.results import Column, Summary, Table, setting_text

VERDICTS = "verdicts"
"""Name of the first section of the page."""


def audit_summary(result: AuditResult) -> Summary:
    """The answer, the verdicts, then what they rest on, part by part."""
    names = ", ".join(subject.name for subject in result.subjects if subject.role == "audited")
    sections = (did_it_work(result), verdicts(result), what_to_write(result), *part_sections(result))
    return Summary(
        title=f"Bias audit of {names}",
        headline=headline(result),
        about="",
        date=result.date,
        caveat=CAVEAT if result.verdicts else "",
        tiles=tiles(result),
        parts=tuple(section for section in (*sections, vectors(result), settings(result)) if section is not None),
        warnings=result.warnings,
        brief=True,
    )


def part_sections(result: AuditResult) -> Iterator[Summary | None]:
    """Section of every part that has something to show, in their order."""
    for name, part in ordered_parts().items():
        if name in result.parts:
            yield summarize_part(part, result.parts[name], result)


def verdicts(result: AuditResult) -> Summary | None:
    """Every question on one axis; each opens to what its answer rests on."""
    if not result.verdicts:
        return None
    names = slugs(in_order(result))
    return Summary(
        title="Verdicts",
        headline="",
        name=VERDICTS,
        forest=forest(result, names),
        parts=tuple(panels(result, names, VERDICTS)),
    )


def vectors(result: AuditResult) -> Summary:
    """The vectors themselves."""
    lengths = [Column(f"{name} length", "number") for name in ("smallest", "median", "largest")]
    columns: list[Column | str] = [
        "model", Column("words", "count"), Column("dimensions", "count"), "stored as", *lengths,
        "SHA-256 of words and vectors",
    ]  # fmt: skip
    rows = [
        (
            model.name,
            model.words,
            model.dim,
            f"{model.format}, {model.precision}",
            *(model.length_quantiles.get(level) for level in (0.0, 0.5, 1.0)),
            model.checksum,
        )
        for model in result.models
    ]
    shapes = "; ".join(f"{model.name}: {model.words:,} words × {model.dim}" for model in result.models)
    table = Table.of("vectors", "The vectors in numbers; lengths are Euclidean", columns, rows, folded=True)
    return Summary("Vectors", f"{shapes}.", name="vectors", tables=(table,))


def settings(result: AuditResult) -> Summary:
    """Everything that decides the result."""
    rows = [(name.replace("_", " "), setting_text(value)) for name, value in result.settings.items()]
    table = Table.of("settings", "Everything that decides the result", ["setting", "value"], rows)
    return Summary("Settings", "", name="settings", tables=(table,))
