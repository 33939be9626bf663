"""Reliability of scores over training runs, on the word lists of the language."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from biasgauge import registry
from biasgauge.audits.part import NOT_REQUESTED, NotMeasured, Part, section
from biasgauge.errors import InputError
from biasgauge.results import Result, Summary, lexicon_name

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext
    from biasgauge.audits.result import AuditResult

FEWEST = 2
EMPTY = ("test_retest", "inter_rater", "internal")


def _unless_registered(names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Lists beside a file of the user's own; None for registered ones, which are found unasked, with unlisted words."""
    return None if set(names) <= set(registry.names("lexicon")) else names


def measure(context: AuditContext) -> Result:
    """Test–retest, inter-rater and internal reliability over all models; components of all measures together.

    Without replicates, base pairs or word lists there is a reason instead.
    """
    from biasgauge.analyses.reliability import NotAnalyzed, decision_study, reliability, variance_components

    if not context.whole_battery:
        return NotMeasured(NOT_REQUESTED, EMPTY)
    models, scores, language = context.replicates or list(context.models), context.scores, context.language
    if len(models) < FEWEST:
        reason = "one model cannot say whether its numbers hold: train replicates (biasgauge train --seeds 8)"
        return NotMeasured(reason, EMPTY)
    if reason := language.lacks("base_pairs", "scored_words"):
        return NotMeasured(reason, EMPTY)
    try:
        list_scores = scores.of_lists(models)
        result = reliability(
            list_scores,
            lists=_unless_registered(language.named("scored_words")),
            queries=_unless_registered(language.named("queries")),
            min_coverage=context.policy.min_coverage,
            target=None,
            random_state=context.random_state,
        )
    except InputError as problem:
        return NotMeasured(str(problem), EMPTY)
    try:
        components = variance_components(list_scores, random_state=context.random_state)
        return replace(result, components=(components,), design=(decision_study(components, fixed=components.choices),))
    except InputError as problem:  # too few words for components; the reliabilities stand
        unknown = NotAnalyzed(None, str(problem))
        return replace(result, components=(unknown,), design=(unknown,))


def summarize(result: Result, audit: AuditResult) -> Summary:
    """Reliabilities as distributions, what scores vary with, and which designs are enough."""
    lists = ", ".join(lexicon_name(words.name) for words in getattr(result, "lists", ())) or "the lists"
    introduction = (
        f"Scores of the words of {lists} on {len(audit.replicated_models)} models: do they hold when the model is "
        "trained again, do measures agree, do the words of a query measure one thing?"
    )
    return section(result.summary(), PART.name, PART.title, introduction)


def write(result: Result) -> dict[str, Any]:
    """Return the JSON of the part: components and designs of all measures together, or why there are none."""
    content: dict[str, Any] = {"components": None, "design": None, **result.to_dict()}
    if isinstance(content["components"], list):
        parts = {name: next(iter(content[name]), None) for name in ("components", "design")}
        reason = (parts["components"] or {}).get("reason")
        content |= {"components": None, "design": None, "reason": reason} if reason else parts
    return content


PART = Part(
    "reliability", "Reliability over training runs", measure, summarize, order=50, stage="reliability", write=write
)
