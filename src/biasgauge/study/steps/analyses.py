"""Analyses of models, of a model before and after a change, of views, groups and texts; results put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import Any

import numpy as np

from biasgauge import registry
from biasgauge.core import JsonObject, to_plain
from biasgauge.errors import ParameterError
from biasgauge.io import CsvRow, csv_of_records, csv_rows
from biasgauge.lexicons import describe
from biasgauge.study.cell import address_sha256
from biasgauge.study.settings import (
    TEST_OR_SETS,
    Setting,
    check_lexicon,
    check_lexicons,
    check_pairs,
    check_sets,
    check_words,
    import_function,
    parameters,
)
from biasgauge.study.step import RESULT, Job, Kind, Step, all_lexicons, analysis
from biasgauge.study.steps.inputs import RECIPE
from biasgauge.vectors import Embedding, analogy_accuracy, find_similarity, similarity_benchmark, similarity_names

MAC = "mac"
"""The association test that takes stereotypes, not sets."""
_TEXT_CHECKS = {**TEST_OR_SETS, "words": check_words, "pairs": check_pairs}
_READING = ("layout", "tokenizer", "field", "documents")


def _try_test(name: str, settings: JsonObject) -> None:
    """Raise what the test would say of its settings: of missing sets, and of numbers when it is tried on two words."""
    test = registry.get("association_test", name)
    sets = test.sets
    check_sets(settings, sets)
    values = {setting: settings[setting] for setting in parameters(test.function, len(sets)) if setting in settings}
    if "samples" in values:
        values["samples"] = min(values["samples"], 1)  # enough to see whether it can be
    vectors = np.random.default_rng(0).standard_normal((len(sets), 2, 3))
    test.function(*vectors, **{**values, "interval": None})


def _try_seed_pairs(settings: JsonObject) -> None:
    from biasgauge.analyses.seeds import seed_pairs

    sets = {name: settings.get(name) for name in ("a", "b", "pairs")}
    seed_pairs(**sets, paper=settings.get("paper"), bank_filter=settings.get("filter", "corrected"))


def _try_benchmarks(settings: JsonObject) -> None:
    for benchmark in _benchmarks(settings.get("benchmarks", ())):
        find_similarity(benchmark)


def _benchmarks(value: object) -> Sequence[str | Path]:
    """Benchmarks by name or file, whether several are given or one."""
    benchmarks: Sequence[Any] = value if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(benchmark, (str, Path)) for benchmark in benchmarks):
        raise ParameterError(f"'benchmarks' must be a benchmark or a list of benchmarks, found {describe(value)}")
    return benchmarks


def _lists_checksum(value: object) -> str:
    """Checksum of lists of words by name."""
    if not isinstance(value, dict):
        raise ParameterError(f"'targets' must be lists of words by name, found {describe(value)}")
    return address_sha256({name: check_words(words) for name, words in value.items()})


def _try_formula(settings: JsonObject) -> None:
    from biasgauge.analyses.regress import parse_formula

    parse_formula(settings["formula"])


TESTS = (
    *(
        Kind(
            name,
            needs="models",
            functions=("biasgauge.scores:association_test", test.function),
            fixed={"kind": name},
            checks=TEST_OR_SETS,
            trial=partial(_try_test, name),
            about="Contrast of two lists, as in an audit; the effect size d is the published number."
            if name == "weat"
            else "",
        )
        for name, test in registry.everything("association_test").items()
        if name != MAC
    ),
    Kind(
        MAC,
        needs="models",
        functions=("biasgauge.scores:mac",),
        checks={"stereotypes": check_lexicon("stereotypes")},
        about="Mean cosine distance of targets from attributes: 1 is no association, less is closer.",
    ),
)
AUDIT = Kind(
    "audit",
    needs="models and text",
    functions=("biasgauge.audits:audit",),
    checks={"lexicons": check_lexicons()},
    implicit_lexicons=all_lexicons,
    hidden=("before", "points", "tasks", "corpus"),
    shown=("verdicts", "bias", "replicates"),
)
COMPARE = Kind(
    "compare",
    needs="groups",
    functions=("biasgauge.analyses.compare:compare",),
    checks={**TEST_OR_SETS, "test": check_lexicons()},
    implicit_lexicons=all_lexicons,
    tables={"words.csv": "words_frame", "contrasts.csv": "contrasts_frame"},
    fewest=2,
    about="The contrast in the second group less that in the first: 0 is no difference.",
    shown=("differences", "trends", "contrasts"),
    result="biasgauge.analyses.compare:Comparison",
)
QUALITY = Kind(
    "quality",
    needs="model",
    functions=("biasgauge.vectors:similarity_benchmark",),
    hidden=("benchmark",),
    extra=(Setting("benchmarks", (), "list"), Setting("analogies", default=False, annotation="bool")),
    trial=_try_benchmarks,
    about="Rank correlation of cosines with what people say about pairs of words.",
)


def associate(job: Job) -> None:
    """Every model with its own interval over words, and the spread over models where there are several."""
    from biasgauge.audits import NO_BIAS, spread_of

    kind = next(kind for kind in TESTS if kind.name == job.settings["kind"])
    models = job.open_models(job.settings["models"])
    function, settings = import_function(kind.functions[0]), kind.arguments(job)
    results = [function(model, **settings) for model in models]
    rows = [{"model": model.name, "result": result} for model, result in zip(models, results, strict=True)]
    spread = spread_of(results) if len(results) > 1 and kind.name in NO_BIAS else ()
    job.write_json(RESULT, to_plain({"kind": kind.name, "models": rows, "spread": spread}))


def write_audit(job: Job) -> None:
    """The result, its table, what may be written, and the page of `biasgauge audit`; with the text, where there is one.

    The models of a group are replicates of each other, unless they are views or the study says otherwise. No recipe
    lies beside a model in a cell to say so.
    """
    from biasgauge.audits import what_to_write
    from biasgauge.results import markdown
    from biasgauge.results.page import summary_page

    text = {"corpus": job.open_corpus()} if "corpus" in job.inputs else {}
    (models,) = AUDIT.material(job)
    decided = "replicates" in job.settings["settings"] or len(models) == 1 or any(model.facets for model in models)
    result = AUDIT.call(job, models, **text, **({} if decided else {"replicates": True}))
    AUDIT.write(job, result)
    job.write_text("page.html", summary_page(result.summary()))
    if (written := what_to_write(result)) is not None:
        job.write_text("what_to_write.md", markdown(written))


def compare_groups(job: Job) -> None:
    """Each group with its models, which keep what their recipes say of seeds and samples."""

    def open_trained(source: str, name: str) -> Embedding:
        model, recipe = job.open_model(source, name), job.inputs[source] / RECIPE
        return replace(model, source=str(recipe)) if recipe.is_file() else model

    groups = {
        group["name"]: [open_trained(f"model{number}-{index}", name) for index, name in enumerate(group["models"])]
        for number, group in enumerate(job.settings["groups"])
    }
    COMPARE.write(job, COMPARE.call(job, groups))


def assess_quality(job: Job) -> None:
    """`similarity`: every benchmark (all that ship by default); `analogies`: those that ship, where asked for."""
    (model,) = QUALITY.material(job)
    settings = QUALITY.arguments(job)
    benchmarks, analogies = settings.pop("benchmarks", similarity_names()), settings.pop("analogies", False)
    similarity = [similarity_benchmark(model, benchmark, **settings) for benchmark in _benchmarks(benchmarks)]
    analogy_result = {"analogies": analogy_accuracy(model, **settings)} if analogies else {}
    job.write_json(RESULT, to_plain({"similarity": similarity, **analogy_result}))


def regress_text(job: Job) -> None:
    """The regression of the study's table, with one model in the place of pre-trained vectors."""
    ((model, *more),) = REGRESS.material(job)
    if more:
        raise ParameterError(f"The kind 'regress' takes one model of pre-trained vectors. Got {len(more) + 1}.")
    settings = REGRESS.arguments(job)
    function = import_function(REGRESS.functions[0])
    REGRESS.write(job, function(settings.pop("corpus"), vectors=model, progress=job.progress, **settings))


def gather(job: Job) -> None:
    """`models`: for each its name and its result; and all tables below each other, with a column `study_model`."""
    labels = job.settings["models"]
    results = [
        {"model": label, "result": job.read_json(f"model{number}", RESULT)} for number, label in enumerate(labels)
    ]
    job.write_json(RESULT, {"kind": job.settings["kind"], "of": job.settings["of"], "models": results})
    for name in sorted(path.name for path in job.inputs["model0"].glob("*.csv")):
        columns: list[str] = ["study_model"]
        rows: list[dict[str, str]] = []
        for number, label in enumerate(labels):
            path = job.inputs[f"model{number}"] / name
            with path.open(encoding="utf-8", newline="") as file:
                table = csv_rows(file, path)
                header = next(table, CsvRow([], 1)).cells
                columns += [column for column in header if column not in columns]
                rows += [
                    {"study_model": label, **dict(zip(header, row.cells, strict=False))} for row in table if row.cells
                ]
        job.write_text(name, csv_of_records(columns, rows))


def write_page(job: Job) -> None:
    """`summary.json`: what the study was and found; `page.html`: the same for people; `checklist.md`: for a paper."""
    from biasgauge.results import markdown
    from biasgauge.results.page import summary_page
    from biasgauge.study.checklist import checklist
    from biasgauge.study.page import study_summary

    results = [
        {**entry, "result": job.read_json(f"result{number}", RESULT)}
        for number, entry in enumerate(job.settings["results"])
    ]
    content = {**job.settings, "results": results}
    job.write_json("summary.json", content)
    job.write_text("page.html", summary_page(study_summary(content)))
    job.write_text("checklist.md", markdown(checklist(content)))


def _in_context(name: str, about: str) -> Kind:
    """WEAT on views, with the settings of WEAT too."""
    return Kind(
        name,
        needs="models",
        functions=(f"biasgauge.scores:{name}", registry.get("association_test", "weat").function),
        checks=TEST_OR_SETS,
        hidden=("ties", "counts"),
        trial=check_sets,
        about=about,
        shown=("rows",),
    )


SEAT = _in_context("seat", "WEAT on words in templates, by layer and pooling; words are the sample.")
CEAT = _in_context(
    "ceat", "WEAT on words in natural contexts, by layer and pooling; words are the sample, contexts nested in them."
)
SPECIFICATION_CURVE = Kind(
    "specification-curve",
    needs="models",
    functions=("biasgauge.analyses.robustness:specification_curve",),
    checks=TEST_OR_SETS,
    trial=check_sets,
    about="One test under every view, with a p of all of them together.",
    shown=("facets",),
    result="biasgauge.analyses.robustness:SpecificationCurve",
)
SEEDS = Kind(
    "seeds",
    needs="models",
    functions=("biasgauge.analyses.seeds:seeds",),
    checks={"a": check_words, "b": check_words},
    implicit_lexicons=all_lexicons,
    hidden=("counts",),
    trial=_try_seed_pairs,
    about="Are two word lists told apart at all? Held out, a coherence of 0 means that they are not.",
    shown=("pairs", "relations"),
)
STABILITY = Kind(
    "stability",
    needs="models",
    functions=("biasgauge.vectors:stability",),
    fewest=2,
    tables={"pairs.csv": "pairs_to_frame"},
    about="Mean cosine of a word with itself over aligned replicates: 1 is the same place.",
)
POSTERIOR = Kind(
    "posterior",
    needs="models",
    functions=("biasgauge.analyses.posterior:posterior",),
    checks={"lexicon": check_lexicon("stereotypes", "test")},
    implicit_lexicons=all_lexicons,
    required=("lexicon",),
    about="Posterior of the contrast, over replicates too: positive as the question claims, 0 is no association.",
    shown=("cells",),
)
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
ROBUSTNESS = Kind(
    "robustness",
    needs="model",
    functions=("biasgauge.analyses.robustness:robustness",),
    checks={"pairs": check_pairs, "words": check_words},
    implicit_lexicons=all_lexicons,
    about="Do conclusions survive another base pair, word form or measure? Kappa: 1 is agreement, 0 chance.",
    shown=("base_pairs", "word_forms", "correspondence", "between_measures"),
)
CORPUS_BIAS = Kind(
    "corpus-bias",
    needs="corpus",
    functions=("biasgauge.analyses.corpus_bias:corpus_bias",),
    checks=_TEXT_CHECKS,
    hidden=_READING,
    tables={"sets.csv": "sets_to_frame"},
    about="Log odds ratio of words near one group against near the other, from counts: 0 is as likely near both.",
    shown=("sets", "words"),
    result="biasgauge.analyses.corpus_bias:CorpusBias",
)
INFLUENCE = Kind(
    "influence",
    needs="corpus",
    functions=("biasgauge.analyses.calibrate:influence",),
    checks=_TEXT_CHECKS,
    hidden=_READING,
    about="How much a log odds ratio changes without each document, counted exactly.",
    shown=("removals", "documents"),
)
REGRESS = Kind(
    "regress",
    needs="models",
    functions=("biasgauge.analyses.regress:regress",),
    checks={"a": check_words, "b": check_words, "remove": check_words, "targets": _lists_checksum},
    hidden=("vectors",),
    required=("corpus", "formula"),
    trial=_try_formula,
    extra=(
        Setting("corpus", Parameter.empty, "Path"),
        Setting("metadata", None, "Path"),
        Setting("transform", None, "Path"),
    ),
    about="Differences in the use of words between groups of documents: 0 is no difference.",
    shown=("terms", "axis", "counts"),
    result="biasgauge.analyses.regress:EmbeddingRegression",
)
STEP = (
    Step("association", 1, associate, "association tests on all models of a group", TESTS),
    analysis(SEAT, "words in templates"),
    analysis(CEAT, "words in natural contexts"),
    analysis(SPECIFICATION_CURVE, "one test under every view"),
    analysis(SEEDS, "are word lists fit to measure anything?"),
    analysis(STABILITY, "how much of a word's meaning survives training again"),
    analysis(POSTERIOR, "how probable a contrast is, and how large"),
    analysis(BAYES, "how far protected words lie from stereotypes"),
    analysis(BAYES_CHANGE, "what a change did to distances"),
    analysis(MITIGATION_EFFECT, "what a mitigation did to bias, and what else"),
    analysis(ROBUSTNESS, "do conclusions survive another choice?"),
    analysis(CORPUS_BIAS, "what a text itself says about words"),
    analysis(INFLUENCE, "which documents of a text carry an association"),
    Step("audit", 3, write_audit, "the whole battery", (AUDIT,)),
    Step("regress", 1, regress_text, "does the use of words differ between groups of documents?", (REGRESS,)),
    Step("compare", 2, compare_groups, "by how much groups of models differ", (COMPARE,)),
    Step("quality", 1, assess_quality, "are the vectors any good?", (QUALITY,)),
    Step("gather", 1, gather, "results of several models as one"),
    Step("report", 3, write_page, "one page over all results of a study"),
)
