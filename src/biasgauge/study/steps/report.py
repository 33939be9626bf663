"""One page over all results of a study: `study_page`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.study.results import RESULT
from biasgauge.study.step import Step

if TYPE_CHECKING:
    from biasgauge.study.step import Job


def run(job: Job) -> None:
    """`summary.json`: what the study was and what it found; `page.html`: the same for people."""
    from biasgauge.report.study_page import study_page  # noqa: PLC0415 - only this step needs templates

    told = dict(job.settings)
    results = [
        {**about, "result": job.read_json(f"result{number}", RESULT)} for number, about in enumerate(told["results"])
    ]
    summary = {**told, "results": results}
    job.write_json("summary.json", summary)
    (job.out / "page.html").write_text(study_page(summary), encoding="utf-8", newline="\n")


STEP = Step("report", 1, run, "one page over all results of a study")
