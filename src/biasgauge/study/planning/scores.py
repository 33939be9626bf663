"""Cells of scores: for each group of replicates the words, the scores of each model, and one tensor."""

from __future__ import annotations

from dataclasses import replace

from biasgauge import registry
from biasgauge.core import did_you_mean
from biasgauge.errors import BiasgaugeError
from biasgauge.study.planning.builder import Group, PlanBuilder, Settings
from biasgauge.study.planning.models import OF
from biasgauge.study.schema import ScoresTable
from biasgauge.study.settings import check_pairs, check_words, parameters

FULL = "full"


def plan_scores(plan: PlanBuilder) -> None:
    """Cells for every table of scores; groups NAME/GROUP."""
    for name, table in plan.study.scores.items():
        settings = _checked(plan, name, table)
        for reference in dict.fromkeys(table.of):
            for group in plan.named(reference, ("scores", name, "of"), plan.groups, OF):
                full = f"{name}/{group.name}"
                tensor = _tensor(plan, full, group, settings)
                plan.scores[full] = replace(group, name=full, tensor=tensor, of=group.name)


def _checked(plan: PlanBuilder, name: str, table: ScoresTable) -> Settings:
    from biasgauge.scores import AS_PUBLISHED

    path = ("scores", name)
    measures = [table.measures] if isinstance(table.measures, str) else list(table.measures)
    settings_given = {"pairs": table.pairs, "words": table.words, "measures": measures, **table.settings}
    checks = {
        "pairs": check_pairs,
        "words": lambda value: "" if value == FULL else check_words(value),
        "pool": check_words,
    }
    settings = plan.checked(
        path,
        settings_given,
        parameters("biasgauge.scores:score", 1),
        "scores",
        checks=checks,
        inline=None,
        table_keys=["of"],
    )
    try:
        rule = table.settings.get("as_published")
        if rule is not None and rule not in AS_PUBLISHED:
            near = did_you_mean(str(rule), AS_PUBLISHED)
            plan.problem((*path, "as_published"), f"'as_published' must be one of {', '.join(AS_PUBLISHED)}{near}")
        for measure in measures:
            registry.get("measure", measure)
    except BiasgaugeError as problem:
        plan.problem((*path, "measures"), str(problem))
    return settings


def _tensor(plan: PlanBuilder, name: str, group: Group, settings: Settings) -> str:
    full = settings.stored["words"] == FULL
    words = {}
    if full:
        models = {f"model{number}": member.key for number, member in enumerate(group.members)}
        words = {"words": plan.add("vocabulary", {}, inputs=models, label=f"words of {name}")}
    parts = {
        f"model{number}": plan.add(
            "score",
            settings.cell_settings,
            inputs={"vectors": member.key, **words},
            paths=settings.paths,
            label=f"score {name} {member.label.removeprefix(group.name)}".replace(" /", " ").rstrip(),
        )
        for number, member in enumerate(group.members)
    }
    labels = [member.label for member in group.members]
    return plan.add("tensor", {"models": labels}, inputs=parts, label=f"tensor {name}")
