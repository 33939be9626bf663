"""`biasgauge points`: intrinsic and extrinsic bias of versions of an embedding, ready for `correlate`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biasgauge import analyses
from biasgauge.cli.command import SAVE, Outcome, ResultOptions, command
from biasgauge.cli.files import check_named
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import LOOKUP, WordLookup, typed_names
from biasgauge.errors import ParameterError

EXAMPLES = """\
Each version is named EMBEDDING:METHOD:DIRECTION:STRENGTH=FILE; of a version that
was not changed, EMBEDDING=FILE is enough. A point is a version, a test, a gap
and a random seed of the task. Its intrinsic numbers are columns: weat (effect
size), contrast (cosine units), adjusted (contrast at equal word frequency), ripa.

Examples:
  biasgauge points sgns=plain.npz sgns:attract_repel:debias:1=debiased.npz \\
    --task hateval-en --data hateval2019 --tests weat6b,weat7 --out points.csv
  biasgauge correlate points.csv --x contrast --y gap --by test,metric,of \\
    --unit variant --seed-column seed
"""
_PARTS = 4


@command(examples=EXAMPLES, terms="WEAT contrast", checks={"versions": check_named}, open_ended=True)
def points(
    versions: list[str],
    /,
    *,
    task: str,
    data: Path,
    tests: str,
    seeds: int = 3,
    cache: Path | None = None,
    lookup: WordLookup = LOOKUP,
    options: ResultOptions = SAVE,
    **further: Any,
) -> Outcome:
    """Measure versions of an embedding by tests and by a task: points for correlate.

    Args:
        versions: EMBEDDING:METHOD:DIRECTION:STRENGTH=FILE, or EMBEDDING=FILE
        task: the downstream task, as of biasgauge extrinsic
        data: folder or file of the task's data
        tests: lexicons of kind "test", separated by commas
        seeds: how many task models for each version, from --seed on
        cache: folder of finished task models, from which an interrupted run resumes
    """
    variants = [_read_version(typed) for typed in versions]
    with progress(options, "measuring versions") as report:
        result = analyses.correlate.points(
            variants,
            typed_names(tests),
            task,
            data,
            seeds=seeds,
            cache=cache,
            weat_settings={"policy": lookup.policy()},
            random_state=options.seed,
            progress=report,
            **further,
        )
    return Outcome(result)


def _read_version(typed: str) -> analyses.correlate.Variant:
    """Read a version as it is typed."""
    label, equals, file = typed.partition("=")
    names = label.split(":")
    if not (equals and file and all(names)) or len(names) not in (1, _PARTS):
        raise ParameterError(
            "A version must be named EMBEDDING=FILE or EMBEDDING:METHOD:DIRECTION:STRENGTH=FILE, such as "
            f"sgns:attract_repel:debias:0.5=debiased.npz. Got {typed!r}."
        )
    if len(names) == 1:
        return analyses.correlate.Variant(file, names[0])
    embedding, method, direction, strength = names
    try:
        return analyses.correlate.Variant(file, embedding, method, direction, float(strength))
    except ValueError:
        raise ParameterError(f"The strength of a version must be a number. Got {strength!r} in {typed!r}.") from None
