"""Vectors that exist, taken in: `load`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge._io.checksums import file_sha256
from biasgauge.embeddings import load
from biasgauge.embeddings.default import DEFAULT_PATH, replicate_path
from biasgauge.errors import InputError
from biasgauge.study.models import write_model
from biasgauge.study.step import Step

if TYPE_CHECKING:
    from biasgauge.study.step import Job


def run(job: Job) -> None:
    """Read a file of any format once, and keep it in one that maps into memory."""
    told = job.settings
    if "default" in told:
        source = DEFAULT_PATH if told["default"] == "glove" else replicate_path(told["member"])
        if file_sha256(source) != told["sha256"]:
            raise InputError(
                "The vectors that ship here are not those of the plan; install the same biasgauge everywhere"
            )
    else:
        source = job.files["vectors"]
    write_model(job, load(source, limit=told.get("limit"), progress=job.progress))


STEP = Step("vectors", 1, run, "vectors that exist, taken in")
