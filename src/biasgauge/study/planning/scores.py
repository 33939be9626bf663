"""Cells of scores: for each group of replicates the words, the scores of each model, and one tensor."""

from __future__ import annotations

from dataclasses import replace

from biasgauge.errors import BiasgaugeError
from biasgauge.lexicons import pairs_of, words_of
from biasgauge.spelling import did_you_mean
from biasgauge.study.costs import NOTHING, Size
from biasgauge.study.files import restored
from biasgauge.study.kind import some_pairs, some_words
from biasgauge.study.parameters import parameters
from biasgauge.study.planning.builder import Group, PlanBuilder, Settings
from biasgauge.study.planning.models import OF
from biasgauge.study.schema import ScoresTable

FULL = "full"


def plan_scores(plan: PlanBuilder) -> None:
    """Cells for every table of scores; groups NAME/GROUP."""
    for name, table in plan.study.scores.items():
        found = _checked(plan, name, table)
        for reference in dict.fromkeys(table.of):
            for group in plan.named(reference, ("scores", name, "of"), plan.groups, OF):
                full = f"{name}/{group.name}"
                tensor = _tensor(plan, full, group, found)
                plan.scores[full] = replace(group, name=full, tensor=tensor, of=group.name)


def _checked(plan: PlanBuilder, name: str, table: ScoresTable) -> Settings:
    from biasgauge.scores.scoring import AS_PUBLISHED, score

    path = ("scores", name)
    measures = [table.measures] if isinstance(table.measures, str) else list(table.measures)
    given = {"pairs": table.pairs, "words": table.words, "measures": measures, **table.settings}
    checks = {
        "pairs": some_pairs,
        "words": lambda value: "" if value == FULL else some_words(value),
        "pool": some_words,
    }
    found = plan.checked(path, given, parameters(score, 1), "scores", checks=checks, inline=None, own=["of"])
    try:
        asked = table.settings.get("as_published")
        if asked is not None and asked not in AS_PUBLISHED:
            listed = ", ".join(AS_PUBLISHED)
            plan.problem(
                (*path, "as_published"),
                f"'as_published' must be one of {listed}{did_you_mean(str(asked), AS_PUBLISHED)}",
            )
        _known_measures(measures)
    except BiasgaugeError as problem:
        plan.problem((*path, "measures"), str(problem))
    return found


def _known_measures(names: list[str]) -> None:
    from biasgauge import registry

    for name in names:
        registry.get("measure", name)


def _tensor(plan: PlanBuilder, name: str, group: Group, found: Settings) -> str:
    full = found.kept["words"] == FULL
    largest = max((plan.sizes[one.key] for one in group.members), key=lambda size: size.words)
    size = _size(found, largest)
    words = {}
    if full:
        models = {f"model{number}": one.key for number, one in enumerate(group.members)}
        words = {"words": plan.add("vocabulary", {}, inputs=models, label=f"words of {name}")}
    parts = {
        f"model{number}": plan.add(
            "score",
            found.told,
            inputs={"vectors": one.key, **words},
            places=found.places,
            label=f"score {name} {one.label.removeprefix(group.name)}".replace(" /", " ").rstrip(),
            size=size,
        )
        for number, one in enumerate(group.members)
    }
    whole = replace(size, models=len(parts))
    labels = [one.label for one in group.members]
    return plan.add("tensor", {"models": labels}, inputs=parts, label=f"tensor {name}", size=whole)


def _size(found: Settings, model: Size) -> Size:
    """How many scores of a model there will be; nothing where what is asked for cannot be found."""
    here = restored(found.kept, found.places)
    try:
        words = model.words if here["words"] == FULL else float(len(words_of(here["words"]).words))
        pairs = len(pairs_of(here["pairs"]).pairs)
    except BiasgaugeError:
        return NOTHING
    return Size(words=words, pairs=pairs, measures=len(here["measures"]))
