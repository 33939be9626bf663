"""The sections of the page, in order. A new one is one function, and its line in `SECTIONS`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.report.page.bias import bias_section, spread_section
from biasgauge.report.page.change import change_section
from biasgauge.report.page.extrinsic import extrinsic_section
from biasgauge.report.page.nulls import nulls_section
from biasgauge.report.page.reliability import reliability_section
from biasgauge.report.page.robustness import robustness_section
from biasgauge.report.page.section import Cell, Section, Table, cell, shown
from biasgauge.report.page.seeds import seeds_section
from biasgauge.report.page.uncertainty import uncertainty_section

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from biasgauge.audit import AuditResult
    from biasgauge.audit.result import ModelSummary


def sections_of(result: AuditResult) -> dict[str, Section]:
    """All sections that this result has something for, by the name that links use."""
    found = {name: make(result) for name, make in SECTIONS.items()}
    return {name: one for name, one in found.items() if one is not None}


def verdicts_section(result: AuditResult) -> Section | None:
    """What the whole comes to: a decision for each question."""
    if not result.verdicts:
        return None
    return Section(title="What it comes to", template="verdicts_section.html")


def summary_section(_result: AuditResult) -> Section:
    """How many lexicons can be measured at all."""
    return Section(title="What can be measured", template="summary.html")


def warnings_section(result: AuditResult) -> Section | None:
    """What was odd about the files."""
    return Section(title="Before you trust a number", sentences=result.warnings) if result.warnings else None


def explorer_section(result: AuditResult) -> Section | None:
    """Any word of the page's vocabulary, under every measure and pair."""
    explorer = result.explorer
    if explorer is None:
        return None
    if explorer.scores is None:
        return Section(title="Look a word up", about=f"Not possible: {explorer.reason}.")
    return Section(title="Look a word up", template="explorer.html", extra={"explorer": explorer})


def lexicons_section(_result: AuditResult) -> Section:
    """Every lexicon with its lost words."""
    return Section(title="Lexicons", template="lexicons_section.html")


def models_section(result: AuditResult) -> Section:
    """The vectors themselves."""
    columns = ("Model", "Words", "Dimensions", "Stored as", "Lengths", "SHA-256 of words and vectors")
    caption = "Lengths are Euclidean: smallest, median and largest"
    rows = tuple(_model_row(model) for model in result.models)
    return Section(title="Vectors", tables=(Table(caption, columns, rows, frozenset(columns[1:3])),))


def _model_row(model: ModelSummary) -> tuple[Cell, ...]:
    lengths = model.length_quantiles
    told = " · ".join(shown(lengths[level], 2) for level in (0.0, 0.5, 1.0)) if lengths else "no vectors"
    stored = f"{model.format}, {model.precision}"
    return (cell(model.name), cell(model.words), cell(model.dim), cell(stored), cell(told), cell(model.checksum))


def settings_section(result: AuditResult) -> Section:
    """Everything that decides the result."""
    settings = result.settings
    told = [f"{name.replace('_', ' ')}: {value}" for name, value in settings.items() if name != "lexicons"]
    return Section(title="Settings", about="; ".join(told) + ".")


SECTIONS: Mapping[str, Callable[[AuditResult], Section | None]] = {
    "verdicts": verdicts_section,
    "summary": summary_section,
    "warnings": warnings_section,
    "change": change_section,
    "bias": bias_section,
    "replicates": spread_section,
    "explorer": explorer_section,
    "reliability": reliability_section,
    "robustness": robustness_section,
    "seeds": seeds_section,
    "uncertainty": uncertainty_section,
    "nulls": nulls_section,
    "extrinsic": extrinsic_section,
    "lexicons": lexicons_section,
    "vectors": models_section,
    "settings": settings_section,
}
