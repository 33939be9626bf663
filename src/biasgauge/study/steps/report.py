"""One page over all results of a study."""

from __future__ import annotations

from biasgauge.study.outcomes import RESULT
from biasgauge.study.step import Job, Step


def write_page(job: Job) -> None:
    """`summary.json`: what the study was and found; `page.html`: the same for people; `checklist.md`: for a paper."""
    from biasgauge.results import markdown
    from biasgauge.results.page import summary_page
    from biasgauge.study.checklist import checklist
    from biasgauge.study.page import study_summary

    results = [
        {**entry, "result": job.read_json(f"result{number}", RESULT)}
        for number, entry in enumerate(job.settings["results"])
    ]
    content = {**job.settings, "results": results}
    job.write_json("summary.json", content)
    (job.out / "page.html").write_text(summary_page(study_summary(content)), encoding="utf-8", newline="\n")
    (job.out / "checklist.md").write_text(markdown(checklist(content)), encoding="utf-8", newline="\n")


STEP = Step("report", 3, write_page, "one page over all results of a study")
