"""A text without some of its stereotypical lines: `balance`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.study.files import restored
from biasgauge.study.results import plain
from biasgauge.study.step import Step
from biasgauge.study.steps.corpus import TEXT

if TYPE_CHECKING:
    from biasgauge.study.step import Job


def run(job: Job) -> None:
    """Write the balanced text and what became of its lines."""
    from biasgauge.mitigation import balance  # noqa: PLC0415 - only this step needs it

    settings = restored(dict(job.settings["settings"]), job.files)
    source = job.inputs["text"] / TEXT if job.inputs else job.files["text"]
    found = balance(source, settings.pop("lexicon"), out=job.out / TEXT, progress=job.progress, **settings)
    told = {name: value for name, value in found.to_dict().items() if name not in {"path", "source"}}
    job.write_json("balance.json", plain({**told, "warnings": found.warnings}))


STEP = Step("balance", 1, run, "a text without some of its stereotypical lines")
