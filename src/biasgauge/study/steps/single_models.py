"""Analyses of one model at a time, or of a model before and after a change, and results of several models as one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from biasgauge.core import JsonObject, to_plain
from biasgauge.errors import ParameterError
from biasgauge.io import CsvRow, csv_of_records, csv_rows
from biasgauge.lexicons import describe
from biasgauge.study.outcomes import RESULT, analysis, material, settings_of
from biasgauge.study.settings import Setting, check_lexicon, check_lexicons, check_pairs, check_words
from biasgauge.study.step import Job, Kind, Step, all_lexicons
from biasgauge.vectors import analogy_accuracy, find_similarity, similarity_benchmark, similarity_names


def _known_benchmarks(settings: JsonObject) -> None:
    for benchmark in _listed(settings.get("benchmarks", ())):
        find_similarity(benchmark)


def _listed(benchmarks: object) -> Sequence[str | Path]:
    """Benchmarks by name or file, whether several are given or one."""
    benchmark_list: Sequence[Any] = benchmarks if isinstance(benchmarks, (list, tuple)) else [benchmarks]
    if not all(isinstance(benchmark, (str, Path)) for benchmark in benchmark_list):
        raise ParameterError(f"'benchmarks' must be a benchmark or a list of benchmarks, found {describe(benchmarks)}")
    return benchmark_list


BAYES = Kind(
    "bayes",
    needs="model",
    functions=("biasgauge.analyses.posterior:bayes",),
    checks={"lexicon": check_lexicon("stereotypes", "test")},
    implicit_lexicons=all_lexicons,
    required=("lexicon",),
    tables={"contrasts.csv": "contrasts_frame"},
    about="Posterior of cosine distances by connection: 1 is unrelated, less is closer.",
    shown=("groups", "contrasts"),
)
ROBUSTNESS = Kind(
    "robustness",
    needs="model",
    functions=("biasgauge.analyses.robustness:robustness",),
    checks={"pairs": check_pairs, "words": check_words},
    implicit_lexicons=all_lexicons,
    about="Do conclusions survive another base pair, word form or measure? Kappa: 1 is agreement, 0 chance.",
    shown=("base_pairs", "word_forms", "correspondence", "between_measures"),
)
QUALITY = Kind(
    "quality",
    needs="model",
    functions=("biasgauge.vectors:similarity_benchmark",),
    hidden=("benchmark",),
    extra=(Setting("benchmarks", (), "list"), Setting("analogies", default=False, annotation="bool")),
    trial=_known_benchmarks,
    about="Rank correlation of cosines with what people say about pairs of words.",
)
BAYES_CHANGE = Kind(
    "bayes-change",
    needs="change",
    functions=("biasgauge.analyses.posterior:bayes_change", "biasgauge.analyses.posterior:distances"),
    checks={"lexicon": check_lexicon("stereotypes", "test")},
    implicit_lexicons=all_lexicons,
    hidden=("reference", "name"),
    required=("lexicon",),
    about="Posterior of the change of cosine distances: 0 is no change, positive is farther.",
    shown=("change",),
)
MITIGATION_EFFECT = Kind(
    "mitigation-effect",
    needs="change",
    functions=("biasgauge.mitigation:mitigation_effect",),
    checks={"lexicons": check_lexicons("test", "stereotypes"), "controls": check_lexicons()},
    implicit_lexicons=all_lexicons,
    about="Every number before and after: bias, side effects, and what can still be recovered.",
    shown=("rows",),
)


def assess_quality(job: Job) -> None:
    """`similarity`: every benchmark (all that ship by default); `analogies`: those that ship, where asked for."""
    (model,) = material(job, QUALITY)
    settings = settings_of(job, QUALITY)
    benchmarks, analogies = _listed(settings.pop("benchmarks", similarity_names())), settings.pop("analogies", False)
    similarity = [similarity_benchmark(model, benchmark, **settings).to_dict() for benchmark in benchmarks]
    analogy_result = {"analogies": analogy_accuracy(model, **settings).to_dict()} if analogies else {}
    job.write_json(RESULT, to_plain({"similarity": similarity, **analogy_result}))


def gather(job: Job) -> None:
    """`models`: for each its name and its result; and all tables below each other, with a column `study_model`."""
    labels = job.settings["models"]
    results = [
        {"model": label, "result": job.read_json(f"model{number}", RESULT)} for number, label in enumerate(labels)
    ]
    job.write_json(RESULT, {"kind": job.settings["kind"], "of": job.settings["of"], "models": results})
    for name in sorted(path.name for path in job.inputs["model0"].glob("*.csv")):
        _stack(job, labels, name)


def _stack(job: Job, labels: list[str], name: str) -> None:
    """Rows as they stand, each after the name of its model."""
    columns: list[str] = []
    rows: list[dict[str, str]] = []
    for number, label in enumerate(labels):
        path = job.inputs[f"model{number}"] / name
        with path.open(encoding="utf-8", newline="") as file:
            table = csv_rows(file, path)
            header = next(table, CsvRow([], 1)).cells
            columns += [column for column in header if column not in columns]
            rows += [{"study_model": label, **dict(zip(header, row.cells, strict=False))} for row in table if row.cells]
    (job.out / name).write_bytes(csv_of_records(["study_model", *columns], rows).encode())


STEP = (
    analysis(BAYES, "how far protected words lie from stereotypes"),
    analysis(ROBUSTNESS, "do conclusions survive another choice?"),
    Step("quality", 1, assess_quality, "are the vectors any good?", (QUALITY,)),
    analysis(BAYES_CHANGE, "what a change did to distances"),
    analysis(MITIGATION_EFFECT, "what a mitigation did to bias, and what else"),
    Step("gather", 1, gather, "results of several models as one"),
)
