"""The cell of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.spelling import did_you_mean

if TYPE_CHECKING:
    from biasgauge.study.planning.builder import PlanBuilder

REPORT = "report"


def plan_report(plan: PlanBuilder) -> None:
    """The cell of the page, where the study asks for one, over all results or those that it names."""
    table = plan.study.report
    for section in ("analyses", "tasks"):
        if REPORT in getattr(plan.study, section):
            plan.problem((section, REPORT), "the name 'report' is taken by the page; choose another")
    if table is None:
        return
    chosen = [one for one in plan.entries if table.of is None or one["name"].split("/")[0] in table.of]
    names = list(dict.fromkeys(one["name"].split("/")[0] for one in plan.entries))
    for name in table.of or ():
        if name not in names and not any((part, name) in plan.study.broken for part in ("analyses", "tasks")):
            near = did_you_mean(name, names) or f"; there are {', '.join(names) or 'none'}"
            plan.problem((REPORT, "of"), f"there is no {name!r} in analyses or tasks{near}")
    if plan.problems:  # some result is missing, or some setting is none that a cell could hold
        return
    content = plan.study.to_dict()
    about = content.pop("study")
    settings = {
        "name": about["name"],
        "title": table.title or about["title"],
        "about": table.about or about["about"],
        "seed": about["seed"],
        **{part: content[part] for part in ("corpora", "models", "vectors", "mitigations", "scores")},
        "results": chosen,
        "toml": plan.study.text,
    }
    key = plan.add(
        "report", settings, inputs={f"result{number}": one["key"] for number, one in enumerate(chosen)}, label="report"
    )
    plan.results[REPORT] = key
