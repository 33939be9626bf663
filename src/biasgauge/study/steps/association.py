"""Association tests on all models of a group: `association`, one kind for each test of that room, and `mac`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.association import TESTS
from biasgauge.errors import ParameterError
from biasgauge.study.kind import Kind, a_lexicon, kind_named, some_words
from biasgauge.study.models import open_models
from biasgauge.study.parameters import function_named, parameters
from biasgauge.study.results import RESULT, plain, settings_of
from biasgauge.study.step import Step

if TYPE_CHECKING:
    from biasgauge.study.step import Job

MAC = "mac"
"""Takes stereotypes, not sets."""


def run(job: Job) -> None:
    """Every model with its own interval over words, and the spread over models where there are several."""
    from biasgauge.audit.replicates import NO_BIAS, spread_of  # noqa: PLC0415 - imports every room

    kind = kind_named(job.settings["kind"])
    models = open_models(job, job.settings["models"])
    function, settings = function_named(kind.functions[0]), settings_of(job, kind)
    found = [function(model, **settings) for model in models]
    rows = [{"model": model.name, "result": one.to_dict()} for model, one in zip(models, found, strict=True)]
    spread = spread_of(found) if len(found) > 1 and kind.name in NO_BIAS else ()
    job.write_json(RESULT, plain({"kind": kind.name, "models": rows, "spread": [one.to_dict() for one in spread]}))


def _possible(name: str, settings: dict[str, Any]) -> None:
    """Raise what the test would say of its settings: of missing sets, and of numbers when it is tried on two words."""
    missing = [role for role in TESTS[name].sets if role not in settings]
    if "test" not in settings and missing:
        raise ParameterError(f"a lexicon is needed ('test'), or the sets {', '.join(missing)}")
    function = function_named(f"association:{name}")
    own = {one: value for one, value in settings.items() if one in parameters(function, len(TESTS[name].sets))}
    if "samples" in own:
        own["samples"] = min(own["samples"], 1)  # enough to see whether it can be
    vectors = np.random.default_rng(0).standard_normal((len(TESTS[name].sets), 2, 3))
    function(*vectors, **{**own, "interval": None})


KINDS = (
    *(
        Kind(
            name,
            needs="models",
            step="association",
            functions=("scores:association", f"association:{name}"),
            fixed={"kind": name},
            checks={"test": a_lexicon("test"), "x": some_words, "y": some_words, "a": some_words, "b": some_words},
            trial=partial(_possible, name),
        )
        for name in TESTS
        if name != MAC
    ),
    Kind(
        MAC,
        needs="models",
        step="association",
        functions=("scores:mac",),
        checks={"stereotypes": a_lexicon("stereotypes")},
    ),
)
STEP = Step("association", 1, run, "association tests on all models of a group")
