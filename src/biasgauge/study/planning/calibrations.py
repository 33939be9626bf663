"""Cells of a calibration: its plan, planted and shuffled texts, their models, scores and verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from biasgauge.core import JsonObject
from biasgauge.study.planning.builder import PlanBuilder, Settings
from biasgauge.study.planning.models import check_recipe, model_draws
from biasgauge.study.settings import arguments
from biasgauge.study.step import Kind
from biasgauge.study.steps.calibration import DECIDE_WORDS


def plan_calibration(
    plan: PlanBuilder, path: Sequence[str], name: str, kind: Kind, settings: Settings, corpus: str
) -> tuple[dict[str, str], dict[str, object]] | None:
    """Add all cells of a calibration but the last, whose inputs it gives, and what that is told beside its settings.

    None, and noted, where its recipe is wrong. Texts, models and scores have addresses of their own: more random seeds,
    more planted texts or other tests find them again.

    Args:
        plan: what is planned.
        path: of the table of the analysis.
        name: of the analysis and its corpus, for labels.
        kind: of the analysis.
        settings: those of the analysis, checked.
        corpus: the cell of the tokens.
    """
    from biasgauge.analyses.calibrate import registered_names

    defaults = {key: setting.default for key, setting in kind.settings.items()}
    values = {**defaults, **arguments(settings.stored, kind.settings)}
    recipe_table = {"algorithm": values["recipe"]} if isinstance(values["recipe"], str) else dict(values["recipe"])
    start = (*path, "settings", "recipe")
    recipe = check_recipe(plan, start, recipe_table.pop("algorithm", "sgns"), recipe_table)
    if recipe is None:
        return None
    first = values["random_state"]
    word_settings = {key: value for key, value in settings.stored.items() if key in DECIDE_WORDS}
    lexicons = {key: checksum for key, checksum in settings.lexicons.items() if key in (*DECIDE_WORDS, "unasked")}
    cell = plan.add(
        "calibration-plan", {"settings": word_settings, "lexicons": lexicons}, inputs={"corpus": corpus},
        paths=settings.paths, label=f"plan {name}",
    )  # fmt: skip
    about: dict[str, object] = {
        "measures": registered_names("measure", values["measures"]),
        "tests": registered_names("association_test", values["tests"]),
    }
    analysis_settings = {"kind": kind.name, **settings.cell_settings, **about}

    def planted(label: str, about: JsonObject) -> str:
        inputs = {"plan": cell, "corpus": corpus}
        return plan.add("plant", about, inputs=inputs, label=f"plant {name}/{label}")

    def model(text: str, label: str, draw: dict[str, int]) -> tuple[str, str]:
        vectors = plan.add(
            "train", {**recipe, **draw}, inputs={"corpus": text}, label=f"train {name}/{label}",
        )  # fmt: skip
        read = {"plan": cell, "vectors": vectors}
        return vectors, plan.add(
            "calibration-scores", {"measures": about["measures"]}, inputs=read, label=f"score {name}/{label}"
        )

    inputs = {"plan": cell}
    models: list[list[str]] = []
    for number in range(values["plantings"]):
        text = planted(f"text{number}", {"draw": number, "shuffled": False})
        inputs[f"text{number}"] = text
        models.append([])
        draws = model_draws(range(first, first + values["seeds"]), values["bootstrap"], first)
        for run, draw in enumerate(draws):
            vectors, inputs[f"scores{number}-{run}"] = model(text, f"text{number}-{draw.label}", draw.settings)
            models[-1].append(vectors)
    for number in range(values["shuffled"]):
        text = planted(f"shuffled{number}", {"draw": number, "shuffled": True})
        _, inputs[f"shuffled{number}"] = model(text, f"shuffled{number}", {"seed": first})
    judged = {
        f"verdicts{number}": plan.add(
            "calibration-verdicts", {**analysis_settings, "draw": number},
            inputs={**inputs, **{f"vectors{run}": vectors for run, vectors in enumerate(runs)}},
            paths=settings.paths, label=f"judge {name}/text{number}",
        )
        for number, runs in enumerate(models if values["verdicts"] else ())
    }  # fmt: skip
    return {**inputs, **judged}, about
