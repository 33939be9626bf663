"""Are the vectors any good? Similarity benchmarks, and analogies where asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.embeddings import analogy_accuracy, similarity_benchmark, similarity_names
from biasgauge.embeddings.benchmark_files import find_similarity
from biasgauge.study.kind import Kind
from biasgauge.study.parameters import Known
from biasgauge.study.results import RESULT, material, plain, settings_of
from biasgauge.study.step import Step

if TYPE_CHECKING:
    from biasgauge.study.step import Job


def _known_benchmarks(settings: dict[str, Any]) -> None:
    for one in settings.get("benchmarks", ()):
        find_similarity(one)


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
    benchmarks, analogies = settings.pop("benchmarks", similarity_names()), settings.pop("analogies", False)
    found = [similarity_benchmark(model, one, **settings).to_dict() for one in benchmarks]
    asked = {"analogies": analogy_accuracy(model, **settings).to_dict()} if analogies else {}
    job.write_json(RESULT, plain({"similarity": found, **asked}))


STEP = Step("quality", 1, run, "are the vectors any good?")
