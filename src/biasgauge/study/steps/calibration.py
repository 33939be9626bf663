"""A calibration in cells: its plan, planted texts, what each model and the audit's verdicts say, and what follows.

The models are trained by the step `train`, as those of any corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.core import JsonMapping
from biasgauge.io import map_array, write_array
from biasgauge.lexicons import language_of, languages
from biasgauge.study.settings import Setting, check_pairs, check_words
from biasgauge.study.step import CORPUS, MODEL, Job, Kind, Step

if TYPE_CHECKING:
    from biasgauge.analyses.calibrate import CalibrationPlan, ModelReading, Planted, Readings

DESIGN = ("planting", "doses", "per_dose", "blanks", "others", "plantings", "seeds", "bootstrap", "shuffled")
"""Settings that make a design."""
PLANTED = ("pairs", "language", "other_pairs", "carriers", "window", "random_state")
"""Settings that, with the first five of the design, decide what is planted on which words."""
DECIDE_WORDS = (*PLANTED, *DESIGN[:5])
PLAN, SCORES, VERDICTS = "plan.json", "scores.npy", "verdicts.json"
JUDGED = "verdicts"
"""The setting that asks what the verdicts of an audit say."""


def write_plan(job: Job) -> None:
    """Choose the words that doses are planted on; how often, and what is made of it, does not matter yet."""
    from biasgauge.analyses.calibrate import calibration_plan

    job.write_json(PLAN, calibration_plan(job.open_corpus(), **CALIBRATE.arguments(job)).to_dict())


def plant(job: Job) -> None:
    """Plant one text, or shuffle one; it is a corpus that models are trained on."""
    from biasgauge.analyses.calibrate import Shuffle, plant_into

    plan, draw = _words(job).planting, job.settings["draw"]
    edits = [Shuffle()] if job.settings["shuffled"] else plan.edits(draw)
    plant_into(job.open_corpus(), edits, job.out / CORPUS, window=plan.window, random_state=plan.seed(draw))


def score(job: Job) -> None:
    """Scores of all words in one model, and the vectors of carriers and ends."""
    from biasgauge.analyses.calibrate import read_model

    plan = replace(_words(job), measures=tuple(job.settings["measures"]))
    reading = read_model(job.inputs["vectors"] / MODEL, plan.scoring)
    write_array(job.out / SCORES, reading.scores)
    job.write_model(reading.vectors)


def judge(job: Job) -> None:
    """Decisions of the audit's verdicts on sets of carriers of one planted text, its models being replicates."""
    from biasgauge.audits import verdict_decisions

    plan, draw = _plan(job), job.settings["draw"]
    models = [job.inputs[f"vectors{run}"] / MODEL for run in range(_runs(plan))]
    decided = verdict_decisions(_readings(job, plan, _planted(job, plan)), draw, models)
    job.write_json(VERDICTS, [[*verdict, passes] for verdict, passes in sorted(decided.items())])


def conclude(job: Job) -> None:
    """Curves, limits and rates."""
    from biasgauge.audits import decision_rates

    plan = _plan(job)
    planted = _planted(job, plan)
    readings = _readings(job, plan, planted)
    judged = [
        {(name, size, level): passes for name, size, level, passes in job.read_json(f"verdicts{draw}", VERDICTS)}
        for draw in range(len(planted))
        if f"verdicts{draw}" in job.inputs
    ]
    CALIBRATE.write(job, plan.conclude(planted, readings, decision_rates(readings, judged)))


def _try_design(settings: JsonMapping) -> None:
    """Raise what `calibrate` would say of its design, its recipe and the names that it is given."""
    from biasgauge.analyses.calibrate import design_from, recipe_settings, registered_names

    design_from(**{name: settings[name] for name in DESIGN if name in settings})
    recipe_settings(settings.get("recipe", "sgns"))
    registered_names("measure", settings.get("measures"))
    registered_names("association_test", settings.get("tests"))


def _words(job: Job) -> CalibrationPlan:
    """Plan of the words that doses are planted on."""
    from biasgauge.analyses.calibrate import CalibrationPlan

    return CalibrationPlan.from_dict(job.read_json("plan", PLAN))


def _plan(job: Job) -> CalibrationPlan:
    """The whole plan, as the settings of an analysis complete it."""
    named = {name: job.settings[name] for name in ("measures", "tests")}
    settings = {**CALIBRATE.arguments(job), **named}
    return _words(job).complete(**{name: value for name, value in settings.items() if name not in (*PLANTED, JUDGED)})


def _runs(plan: CalibrationPlan) -> int:
    """Models of each planted text."""
    return plan.planting.design.seeds * max(1, plan.planting.design.bootstrap)


def _planted(job: Job, plan: CalibrationPlan) -> list[Planted]:
    from biasgauge.analyses.calibrate import planted_from

    planting = plan.planting
    return [
        planted_from(job.open_corpus(f"text{draw}"), planting.edits(draw), planting.seed(draw))
        for draw in range(planting.design.plantings)
    ]


def _readings(job: Job, plan: CalibrationPlan, planted: Sequence[Planted]) -> Readings:
    from biasgauge.analyses.calibrate import join_readings

    read = [[_reading(job, plan, f"scores{draw}-{run}") for run in range(_runs(plan))] for draw in range(len(planted))]
    shuffled = [_reading(job, plan, f"shuffled{draw}") for draw in range(plan.planting.design.shuffled)]
    return join_readings(planted, read, shuffled, plan.scoring)


def _reading(job: Job, plan: CalibrationPlan, source: str) -> ModelReading:
    from biasgauge.analyses.calibrate import ModelReading

    path = job.inputs[source] / SCORES
    scores = map_array(path, np.float64, plan.scoring.shape, again="remove the cell and run the study again")
    return ModelReading(scores, job.open_model(source, source))


def _read_lexicons() -> tuple[str, ...]:
    """Base pairs of every language, and the lexicons whose words are no carriers."""
    from biasgauge.analyses.calibrate import GENDERED  # late: it compiles

    return (*(name for record in languages() for name in record.named("base_pairs")), *GENDERED)


CALIBRATE = Kind(
    "calibrate",
    needs="planted",
    functions=("biasgauge.analyses.calibrate:calibrate",),
    checks={
        "pairs": check_pairs,
        "other_pairs": check_pairs,
        "carriers": check_words,
        "language": lambda code: check_pairs(language_of(code).own_pairs()),
    },
    hidden=("trainer", "tell"),
    extra=(Setting(JUDGED, default=True, annotation="bool"),),
    implicit_lexicons=_read_lexicons,
    trial=_try_design,
    about="What each measure and test reads of associations of known strength that were planted in the text: limits "
    "of detection, false positives, validity beside reliability.",
    shown=("limits", "false_positives"),
    result="biasgauge.analyses.calibrate:Calibration",
)
STEP = (
    Step("calibrate", 2, conclude, "what measures read of planted associations", (CALIBRATE,)),
    Step("calibration-plan", 1, write_plan, "which words doses are planted on"),
    Step("plant", 1, plant, "a text with planted doses, or a shuffled one"),
    Step("calibration-scores", 1, score, "scores of planted words in one model"),
    Step("calibration-verdicts", 1, judge, "verdicts of an audit on planted sets of words"),
)
