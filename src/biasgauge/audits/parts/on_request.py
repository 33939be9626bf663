"""Parts that need an input of their own: vectors before a change, the text, base pairs to explore, a calibration.

The module of each is imported where its input was given, so that an audit without it does not load it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.audits.part import ShippedPart
from biasgauge.lexicons import Pairs
from biasgauge.results import Result, Stored, Summary

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext
    from biasgauge.audits.result import AuditResult
    from biasgauge.audits.verdicts import Verdict


def measure_change(context: AuditContext) -> Result | None:
    """Compare the vectors with those before the change."""
    if context.before is None:
        return None
    from biasgauge.audits.change import measure_change

    return measure_change(context, context.before)


def read_change(content: Any) -> Result:  # noqa: ANN401 - whatever JSON holds
    """Read the comparison back from the JSON of an audit."""
    from biasgauge.audits.change import VectorChange

    return VectorChange.from_dict(content)


def verdicts_on_change(result: Any, _: AuditContext) -> tuple[Verdict, ...]:  # noqa: ANN401 - a VectorChange
    """The verdict on the change."""
    from biasgauge.audits.change import answer_change

    return (answer_change(result.effect, result.contrasts),)


def measure_text(context: AuditContext) -> Result | None:
    """Count the association tests in the text that was given."""
    if context.options.get("corpus") is None:
        return None
    from biasgauge.audits.text_comparison import compare_with_text

    return compare_with_text(context, context.options["corpus"])


def read_text(content: Any) -> Result:  # noqa: ANN401 - whatever JSON holds
    """Read the comparison back from the JSON of an audit."""
    from biasgauge.audits.text_comparison import CorpusComparison

    return CorpusComparison.from_dict(content)


def measure_explorer(context: AuditContext) -> Result | None:
    """Scores of the page's words, on the base pairs that were given or on those of the language."""
    pairs = [] if context.whole_battery else [lexicon for lexicon in context.lexicons if isinstance(lexicon, Pairs)]
    if not context.whole_battery and not pairs:
        return None
    from biasgauge.audits.explorer import explore

    return explore(context.scores, context.replicates, lists=pairs)


def summarize_explorer(result: Any, audit: AuditResult) -> Summary:  # noqa: ANN401 - an Explorer, or Stored
    """Any word of the page's vocabulary, under every measure and pair."""
    if isinstance(result, Stored):
        return Summary("Scores of single words", "Scores are not kept in the JSON of an audit.")
    summary: Summary = result.summary(shipped=bool(audit.settings["shipped"]))
    return summary


def measure_calibration(context: AuditContext) -> Result | None:
    """Scores of the words of the lists as planted odds ratios, where there is a calibration and lists to score."""
    if context.calibration is None or context.language.lacks("base_pairs", "scored_words"):
        return None
    from biasgauge.audits.calibrated import calibrated_scores

    return calibrated_scores(context.calibration, context.scores.of_lists(context.replicates or list(context.models)))


def read_calibration(content: Any) -> Result:  # noqa: ANN401 - whatever JSON holds
    """Read the scores back from the JSON of an audit."""
    from biasgauge.audits.calibrated import CalibratedScores

    return CalibratedScores.from_dict(content)


PART = (
    ShippedPart(
        "change", "Effect of the change", measure_change, order=10, stage="before and after", read=read_change,
        verdicts=verdicts_on_change,
        about="Bias before and after, unintended changes, and what can still be recovered (Gonen & "
        "Goldberg 2019).",
    ),
    ShippedPart(
        "text", "Associations in the text itself", measure_text, order=35, stage="counting", read=read_text, front=True,
        about="Log odds ratios counted in the text that was given: how much more likely the words of the first target "
        "set are near words of the first attribute set than near the second, less the same for the second target set. "
        "The interval generalizes over documents of the same kind. Slope: by how much a word's association in the "
        "vectors rises where its odds in the text are e = 2.7 times as large; 0 means that the vectors do not follow "
        "these counts.",
    ),
    ShippedPart("explorer", "Scores of single words", measure_explorer, summarize_explorer, order=40, stage="scoring"),
    ShippedPart(
        "calibration", "Calibration against planted bias", measure_calibration, order=105, stage="calibration",
        read=read_calibration,
    ),
)  # fmt: skip
