"""Analyses of all views of a transformer together: tests in context, and one test under every view."""

from __future__ import annotations

from biasgauge import registry
from biasgauge.errors import ParameterError
from biasgauge.json_types import JsonObject
from biasgauge.study.kind import Kind, a_lexicon, some_words
from biasgauge.study.outcomes import analysis

WEAT = registry.get("association_test", "weat").function
"""Whose settings the tests in context take too."""
SETS = ("x", "y", "a", "b")
_CHECKS = {"test": a_lexicon("test"), **dict.fromkeys(SETS, some_words)}


def _has_sets(settings: JsonObject) -> None:
    missing = [role for role in SETS if role not in settings]
    if "test" not in settings and missing:
        raise ParameterError(f"a lexicon is needed ('test'), or the sets {', '.join(missing)}")


def _in_context(name: str, about: str) -> Kind:
    return Kind(
        name,
        needs="models",
        functions=(f"scores:{name}", WEAT),
        checks=_CHECKS,
        hidden=("ties", "counts"),
        trial=_has_sets,
        about=about,
        shown=("rows",),
    )


SEAT = _in_context("seat", "WEAT on words in templates, by layer and pooling; words are the sample.")
CEAT = _in_context(
    "ceat",
    "WEAT on words in natural contexts, by layer and pooling; words are the sample, contexts nested in them.",
)
SPECIFICATION_CURVE = Kind(
    "specification-curve",
    needs="models",
    functions=("sensitivity:specification_curve",),
    checks=_CHECKS,
    trial=_has_sets,
    about="One test under every view, with a p of all of them together.",
    shown=("facets",),
    result="sensitivity:SpecificationCurve",
    answers=True,
)
STEP = (
    analysis(SEAT, "words in templates"),
    analysis(CEAT, "words in natural contexts"),
    analysis(SPECIFICATION_CURVE, "one test under every view"),
)
