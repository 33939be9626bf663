"""`reliability`: from scores of replicates to the three reliabilities."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from biasgauge.agreement import over_measures, over_replicates, verdicts, within_scales
from biasgauge.agreement.components.analysis import VarianceComponents, variance_components
from biasgauge.agreement.decision.result import DecisionStudy
from biasgauge.agreement.decision.study import decision_study
from biasgauge.agreement.lists import Chooser, ListsLike, WordList
from biasgauge.agreement.relations import between_measures, between_reliabilities, compare_forms
from biasgauge.agreement.result import NotAnalyzed, ReliabilityResult
from biasgauge.agreement.rows import Rows
from biasgauge.agreement.scores_by_measure import by_measure
from biasgauge.agreement.summary import summarize
from biasgauge.agreement.untrusted import Blame, from_rows
from biasgauge.errors import ParameterError
from biasgauge.scores import ScoreStore, ScoreTensor
from biasgauge.stats.estimate import check_level

_FEW_MODELS = 5


def reliability(
    scores: ScoreTensor | ScoreStore,
    *,
    lists: ListsLike | None = None,
    queries: ListsLike | None = None,
    min_coverage: float = 0.8,
    level: float = 0.95,
    target: float | None = 0.8,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ReliabilityResult:
    """Estimate test–retest, inter-rater and internal reliability of bias scores, and what they vary with.

    The models of `scores` should be replicates: trained alike but for the seed or the bootstrap sample of the corpus.
    What is undefined stays so, with a reason; a model without any score of a matrix is left out of it, then every
    word or pair that lacks a score; `n` and `k` say what is left.

    Args:
        scores: as `bg.score` or `ScoreStore.open` give them; of a store, one measure at a time is in memory.
        lists: word lists on which pairs and measures are judged: names of lexicons, or a mapping of names to words.
            By default those of Du et al. 2021 that the scores cover, and all words where there are more.
        queries: sets of words that stand for one concept: a lexicon (each of its sets), NAME:SET, or a mapping. By
            default those of Du et al. 2021 that the scores cover.
        min_coverage: share of the words of a list or query that must have scores for it to be judged.
        level: nominal coverage of the intervals.
        target: reliability of a word's mean score that a design should reach; None for no components and no designs.
        random_state: seed of the bootstrap behind omega, and of the draws behind the components.
        progress: called with (done, total) steps.

    Raises:
        ParameterError: an argument cannot be used.
        LexiconError: a lexicon is unknown.
    """
    check_level(level)
    if not 0 <= min_coverage <= 1:
        raise ParameterError(f"The 'min_coverage' of reliability must be between 0 and 1. Got {min_coverage!r}.")
    if target is not None and not 0 < target < 1:
        raise ParameterError(f"The 'target' of reliability must lie between 0 and 1. Got {target!r}.")
    averages = np.stack([one.mean_over_models() for one in by_measure(scores)])
    told = progress or (lambda _done, _total: None)
    total = len(scores.measures) + 2
    told(1, total)
    chooser = Chooser(scores.words, np.asarray((~np.isnan(averages)).any(axis=(0, 1))), min_coverage)
    asked = chooser.queries(queries)
    chosen = chooser.lists(lists, beside=asked)
    rest = chooser.unlisted(chosen) if lists is None else np.empty(0, np.intp)
    parts: list[Rows] = []
    blame: Blame = {}
    for done, one in enumerate(by_measure(scores), 2):
        rows, spreads = over_replicates.assess(one, scores.words, scores.pairs, chosen, rest, level)
        parts += rows
        blame |= spreads
        told(done, total)
    test_retest = Rows.joined(parts)
    raw, scaled = (
        over_measures.rows(each, scores.words, scores.pairs, chosen, rest, level)
        for each in (averages, over_measures.standardized(averages))
    )
    ensemble = str(scores.provenance.get("pairs", {}).get("name", "all pairs"))
    internal, omega = within_scales.rows(
        averages, scores.measures, ensemble, chosen, asked, level=level, random_state=random_state
    )
    names = [one.name for one in chosen]
    tables = {
        "test_retest": test_retest,
        "inter_rater": raw,
        "inter_rater_standardized": scaled,
        "internal": internal,
    }
    summaries = tuple(line for name, rows in tables.items() for line in summarize(rows, name))
    measures = between_measures(averages, scores.measures, level)
    relations = between_reliabilities(test_retest, raw, names, level)
    forms = tuple(
        line
        for name in ("test_retest", "inter_rater")
        for line in compare_forms(tables[name], name, scores.pairs, names, level)
    )
    studies = (
        [] if target is None else [_study(scores, name, level, target, random_state) for name in _analyses(scores)]
    )
    return ReliabilityResult(
        **tables,
        omega=omega,
        summaries=summaries,
        measures=measures,
        relations=relations,
        forms=forms,
        untrusted=tuple(
            line
            for name in ("test_retest", "inter_rater_standardized", "internal")
            for line in from_rows(tables[name], name, blame)
        ),
        verdicts=(
            *(line for name in names for line in verdicts.over_replicates(test_retest, summaries, name)),
            *verdicts.over_measures(summaries, measures, names),
            *verdicts.within_scales(internal),
            *verdicts.on_relations(relations, forms),
        ),
        lists=chosen,
        queries=asked,
        settings={
            "lists": names,
            "queries": [one.name for one in asked],
            "measures": list(scores.measures),
            "models": list(scores.models),
            "pairs": ensemble,
            "min_coverage": min_coverage,
            "level": level,
            "target": target,
            "random_state": random_state,
        },
        warnings=tuple(_warnings(scores, chosen, asked)),
        components=tuple(components for components, _ in studies),
        design=tuple(design for _, design in studies),
    )


def _analyses(scores: ScoreTensor | ScoreStore) -> list[str | None]:
    """Every measure alone; all of them together where there are several."""
    return [*scores.measures, *([None] if len(scores.measures) > 1 else [])]


def _study(
    scores: ScoreTensor | ScoreStore, measure: str | None, level: float, target: float, random_state: int
) -> tuple[VarianceComponents | NotAnalyzed, DecisionStudy | NotAnalyzed]:
    """Components and the designs that follow from them; or why there are none."""
    try:
        components = variance_components(scores, measure=measure, level=level, random_state=random_state)
        return components, decision_study(components, target=target)
    except ParameterError as problem:
        reason = NotAnalyzed(measure, str(problem))
        return reason, reason


def _warnings(
    scores: ScoreTensor | ScoreStore, lists: tuple[WordList, ...], queries: tuple[WordList, ...]
) -> list[str]:
    found = []
    if len(scores.models) == 1:
        found.append("there is one model: test-retest reliability takes replicates")
    elif len(scores.models) < _FEW_MODELS:
        found.append(f"there are {len(scores.models)} replicates: intervals are wide with so few")
    if len(scores.measures) == 1:
        found.append("there is one measure: inter-rater reliability takes at least two")
    if not queries:
        found.append("no query was scored: score the words of a query too, such as those of du2021_queries")
    short = [one for one in (*lists, *queries) if one.short]
    return found + [f"{one.name}: {one.short}; a lower min_coverage judges it all the same" for one in short]
