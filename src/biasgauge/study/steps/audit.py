"""The whole battery on the replicates of a group: `audit`, with its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.lexicons import lexicon_names
from biasgauge.study.kind import Kind, some_lexicons
from biasgauge.study.parameters import function_named
from biasgauge.study.results import called, material, settings_of, write_result
from biasgauge.study.step import Step

if TYPE_CHECKING:
    from biasgauge.study.step import Job

KINDS = (
    Kind(
        "audit",
        needs="models",
        step="audit",
        functions=("audit:audit",),
        checks={"lexicons": some_lexicons()},
        unasked=lexicon_names(),
        hidden=("before", "points", "tasks"),
    ),
)


def run(job: Job) -> None:
    """The result, its table, and the page that `biasgauge audit` writes."""
    from biasgauge.report.audit_page import audit_page  # noqa: PLC0415 - only this step needs templates

    (kind,) = KINDS
    result = called(job, function_named(kind.functions[0]), *material(job, kind), **settings_of(job, kind))
    write_result(job, result, kind)
    (job.out / "page.html").write_text(audit_page(result), encoding="utf-8", newline="\n")


STEP = Step("audit", 1, run, "the whole battery")
