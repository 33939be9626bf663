"""Results of several models as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.study.results import RESULT, TABLE
from biasgauge.study.step import Step

if TYPE_CHECKING:
    from biasgauge.study.step import Job


def run(job: Job) -> None:
    """`models`: for each its name and its result; and all tables below each other, with a column `study_model`."""
    labels = job.settings["models"]
    found = [{"model": label, "result": job.read_json(f"model{number}", RESULT)} for number, label in enumerate(labels)]
    job.write_json(RESULT, {"kind": job.settings["kind"], "of": job.settings["of"], "models": found})
    for name in sorted(path.name for path in job.inputs["model0"].glob("*.csv")):
        _stack(job, labels, name)


def _stack(job: Job, labels: list[str], name: str = TABLE) -> None:
    """Rows as they stand, each after the name of its model."""
    import csv  # noqa: PLC0415 - only results with tables need it

    columns: list[str] = []
    rows: list[dict[str, str]] = []
    for number, label in enumerate(labels):
        with (job.inputs[f"model{number}"] / name).open(encoding="utf-8", newline="") as file:
            table = csv.DictReader(file)
            columns += [column for column in table.fieldnames or () if column not in columns]
            rows += [{"study_model": label, **row} for row in table]
    with (job.out / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["study_model", *columns], restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


STEP = Step("gather", 1, run, "results of several models as one")
