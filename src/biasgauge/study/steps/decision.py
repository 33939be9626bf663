"""How many replicates, pairs, words are enough? `decision_study` of the components of the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.study.kind import Kind
from biasgauge.study.parameters import function_named, parameters
from biasgauge.study.results import material, settings_of, write_result
from biasgauge.study.step import Step

if TYPE_CHECKING:
    from biasgauge.study.step import Job

KINDS = (
    Kind(
        "decision",
        needs="scores",
        step="decision",
        functions=("reliability:decision_study", "reliability:variance_components"),
        tables={"needs.csv": "needs_frame"},
    ),
)


def run(job: Job) -> None:
    """Find the components, then the designs that follow from them."""
    (kind,) = KINDS
    study, components = map(function_named, kind.functions)
    own = parameters(study, 1)
    settings = settings_of(job, kind)
    found = components(*material(job, kind), **{name: one for name, one in settings.items() if name not in own})
    result = study(found, **{name: one for name, one in settings.items() if name in own})
    write_result(job, result, kind)


STEP = Step("decision", 1, run, "how many replicates, pairs, words are enough?")
