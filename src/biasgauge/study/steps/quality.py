"""Are the vectors any good? Similarity benchmarks, and analogies where asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge.embeddings import analogy_accuracy, similarity_benchmark, similarity_names
from biasgauge.embeddings.benchmark_files import find_similarity
from biasgauge.errors import ParameterError
from biasgauge.lexicons.table import found
from biasgauge.study.kind import Kind
from biasgauge.study.parameters import Known
from biasgauge.study.results import RESULT, material, plain, settings_of
from biasgauge.study.step import Step

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.study.step import Job


def _known_benchmarks(settings: dict[str, Any]) -> None:
    for one in _listed(settings.get("benchmarks", ())):
        find_similarity(one)


def _listed(benchmarks: object) -> Sequence[str | Path]:
    """Benchmarks by name or file, whether several are given or one."""
    several: Sequence[Any] = benchmarks if isinstance(benchmarks, (list, tuple)) else [benchmarks]
    if not all(isinstance(one, (str, Path)) for one in several):
        raise ParameterError(f"'benchmarks' must be a benchmark or a list of benchmarks, found {found(benchmarks)}")
    return several


KINDS = (
    Kind(
        "quality",
        needs="model",
        step="quality",
        functions=("embeddings:similarity_benchmark",),
        hidden=("benchmark",),
        extra={"benchmarks": Known((), "list"), "analogies": Known(default=False, annotation="bool")},
        trial=_known_benchmarks,
    ),
)


def run(job: Job) -> None:
    """`similarity`: every benchmark (all that ship by default); `analogies`: those that ship, where asked for."""
    (kind,) = KINDS
    (model,) = material(job, kind)
    settings = settings_of(job, kind)
    benchmarks, analogies = _listed(settings.pop("benchmarks", similarity_names())), settings.pop("analogies", False)
    similarity = [similarity_benchmark(model, one, **settings).to_dict() for one in benchmarks]
    asked = {"analogies": analogy_accuracy(model, **settings).to_dict()} if analogies else {}
    job.write_json(RESULT, plain({"similarity": similarity, **asked}))


STEP = Step("quality", 1, run, "are the vectors any good?")
