"""The sections of an audit, in order: what may be reported, then what that rests on; a new one goes to `SECTIONS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from biasgauge.audits import data_sections as data
from biasgauge.audits import evidence_sections as evidence
from biasgauge.audits.did_it_work import did_it_work, what_changed
from biasgauge.audits.encoder import views_section
from biasgauge.audits.first_screen import CAVEAT, forest, headline, in_order, slugs, tiles
from biasgauge.audits.panels import panels
from biasgauge.audits.reporting_sentences import what_to_write
from biasgauge.audits.result import AuditResult
from biasgauge.audits.text_side import text_section
from biasgauge.results import Summary

PAGE = "verdicts"
"""What the first section of the page is called."""


def audit_summary(result: AuditResult) -> Summary:
    """The answer, the verdicts, then what they rest on, part by part."""
    names = ", ".join(subject.name for subject in result.subjects if subject.role == "audited")
    parts = (make(result) for make in SECTIONS)
    return Summary(
        title=f"Bias audit of {names}",
        headline=headline(result),
        about="",
        date=result.date,
        caveat=CAVEAT if result.verdicts else "",
        tiles=tiles(result),
        parts=tuple(part for part in parts if part is not None),
        warnings=result.warnings,
        brief=True,
    )


def verdicts(result: AuditResult) -> Summary | None:
    """Every question on one axis; each opens to what its answer rests on."""
    if not result.verdicts:
        return None
    names = slugs(in_order(result))
    return Summary(
        title="May the answers be reported?",
        headline="",
        name=PAGE,
        forest=forest(result, names),
        parts=tuple(panels(result, names, PAGE)),
    )


SECTIONS: Sequence[Callable[[AuditResult], Summary | None]] = (
    did_it_work,
    verdicts,
    what_to_write,
    what_changed,
    views_section,
    text_section,
    data.explorer,
    evidence.reliability,
    evidence.robustness,
    evidence.seeds,
    data.extrinsic,
    evidence.uncertainty,
    evidence.error_rates,
    lambda result: None if result.calibration is None else result.calibration.summary(),
    evidence.chance,
    evidence.bias,
    evidence.replicates,
    data.lexicons,
    data.vectors,
    data.settings,
)
