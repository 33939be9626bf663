"""Analyses of replicates together: association tests, word lists, stability, the whole audit; groups compared."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from biasgauge import registry
from biasgauge.core import JsonObject, to_plain
from biasgauge.study.outcomes import (
    CORPUS,
    RESULT,
    analysis,
    call,
    material,
    open_model,
    open_models,
    settings_of,
    write_result,
)
from biasgauge.study.settings import (
    TEST_OR_SETS,
    check_lexicon,
    check_lexicons,
    check_sets,
    check_words,
    import_function,
    parameters,
)
from biasgauge.study.step import Job, Kind, Step, all_lexicons
from biasgauge.study.steps.models import RECIPE
from biasgauge.text import open_corpus
from biasgauge.vectors import Embedding

MAC = "mac"
"""Takes stereotypes, not sets."""


def _can_be_tested(name: str, settings: JsonObject) -> None:
    """Raise what the test would say of its settings: of missing sets, and of numbers when it is tried on two words."""
    test = registry.get("association_test", name)
    sets = test.sets
    check_sets(settings, sets)
    test_settings = {
        setting: settings[setting] for setting in parameters(test.function, len(sets)) if setting in settings
    }
    if "samples" in test_settings:
        test_settings["samples"] = min(test_settings["samples"], 1)  # enough to see whether it can be
    vectors = np.random.default_rng(0).standard_normal((len(sets), 2, 3))
    test.function(*vectors, **{**test_settings, "interval": None})


def _has_pairs(settings: JsonObject) -> None:
    from biasgauge.analyses.seeds import seed_pairs

    sets = {name: settings.get(name) for name in ("a", "b", "pairs")}
    seed_pairs(**sets, paper=settings.get("paper"), bank_filter=settings.get("filter", "corrected"))


_MEANINGS = {"weat": "Effect size of an association test: 0 is no difference, 2 the most."}
TESTS = (
    *(
        Kind(
            name,
            needs="models",
            functions=("biasgauge.scores:association_test", test.function),
            fixed={"kind": name},
            checks=TEST_OR_SETS,
            trial=partial(_can_be_tested, name),
            about=_MEANINGS.get(name, ""),
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
SEEDS = Kind(
    "seeds",
    needs="models",
    functions=("biasgauge.analyses.seeds:seeds",),
    checks={"a": check_words, "b": check_words},
    implicit_lexicons=all_lexicons,
    hidden=("counts",),
    trial=_has_pairs,
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
AUDIT = Kind(
    "audit",
    needs="models and text",
    functions=("biasgauge.audits:audit",),
    checks={"lexicons": check_lexicons()},
    implicit_lexicons=all_lexicons,
    hidden=("before", "points", "tasks", "corpus"),
    shown=("verdicts", "bias", "replicates"),
)


def associate(job: Job) -> None:
    """Every model with its own interval over words, and the spread over models where there are several."""
    from biasgauge.audits import NO_BIAS, spread_of

    kind = next(kind for kind in TESTS if kind.name == job.settings["kind"])
    models = open_models(job, job.settings["models"])
    function, settings = import_function(kind.functions[0]), settings_of(job, kind)
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

    text = {"corpus": open_corpus(job.inputs["corpus"] / CORPUS)} if "corpus" in job.inputs else {}
    (models,) = material(job, AUDIT)
    decided = "replicates" in job.settings["settings"] or len(models) == 1 or any(model.facets for model in models)
    result = call(job, AUDIT, models, **text, **({} if decided else {"replicates": True}))
    write_result(job, result, AUDIT)
    (job.out / "page.html").write_text(summary_page(result.summary()), encoding="utf-8", newline="\n")
    if (written := what_to_write(result)) is not None:
        (job.out / "what_to_write.md").write_text(markdown(written), encoding="utf-8", newline="\n")


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


def compare_groups(job: Job) -> None:
    """Each group with its models, which keep what their recipes say of seeds and samples."""
    groups = {
        group["name"]: [_model(job, f"model{number}-{index}", name) for index, name in enumerate(group["models"])]
        for number, group in enumerate(job.settings["groups"])
    }
    write_result(job, call(job, COMPARE, groups), COMPARE)


def _model(job: Job, source: str, name: str) -> Embedding:
    model = open_model(job, source, name)
    recipe = job.inputs[source] / RECIPE
    return replace(model, source=str(recipe)) if recipe.is_file() else model


STEP = (
    Step("association", 1, associate, "association tests on all models of a group", TESTS),
    analysis(SEEDS, "are word lists fit to measure anything?"),
    analysis(STABILITY, "how much of a word's meaning survives training again"),
    Step("audit", 3, write_audit, "the whole battery", (AUDIT,)),
    Step("compare", 1, compare_groups, "by how much groups of models differ", (COMPARE,)),
)
