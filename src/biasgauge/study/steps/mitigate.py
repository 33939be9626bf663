"""Vectors debiased or overbiased: `mitigate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.study.files import restored
from biasgauge.study.models import open_model, write_model
from biasgauge.study.parameters import arguments
from biasgauge.study.plan_models import method_settings
from biasgauge.study.step import Step

if TYPE_CHECKING:
    from biasgauge.study.step import Job


def run(job: Job) -> None:
    """Fit the method on the vectors and keep the changed copy, and which words it found."""
    from biasgauge.mitigation import mitigation_method  # noqa: PLC0415 - only this step needs it

    name = job.settings["method"]
    given = restored(dict(job.settings["settings"]), job.files)
    method = mitigation_method(name, **arguments(given, method_settings(name)))
    before = open_model(job, "vectors", "vectors")
    write_model(job, method.fit(before).transform(before, progress=job.progress))
    coverage = None if method.coverage_ is None else method.coverage_.to_dict()
    job.write_json("mitigation.json", {"coverage": coverage, "emptied": list(method.emptied_)})


STEP = Step("mitigate", 1, run, "vectors debiased or overbiased")
