"""`reliability`: from scores of replicates to the three reliabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from biasgauge.analyses.reliability.components import VarianceComponents, variance_components
from biasgauge.analyses.reliability.decision import DecisionStudy, decision_study
from biasgauge.analyses.reliability.distributions import Causes, low_reliabilities, summarize
from biasgauge.analyses.reliability.relations import between_measures, between_reliabilities, compare_forms
from biasgauge.analyses.reliability.reliabilities import (
    Scores,
    by_measure,
    over_measures,
    over_replicates,
    standardized,
    within_scales,
)
from biasgauge.analyses.reliability.reliability_table import ReliabilityTable
from biasgauge.analyses.reliability.result import NotAnalyzed, ReliabilityResult, conclusions
from biasgauge.analyses.reliability.word_lists import ListLookup, ListsLike, WordList
from biasgauge.core import Floats, check_level, check_number
from biasgauge.errors import ParameterError
from biasgauge.results import measure_name
from biasgauge.scores import ScoreStore, ScoreTensor
from biasgauge.stats import heavy_tails, without_gaps


def reliability(
    scores: ScoreTensor | ScoreStore,
    *,
    lists: ListsLike | None = None,
    queries: ListsLike | None = None,
    min_coverage: float = 0.8,
    level: float = 0.95,
    target: float | None = 0.8,
    assurance: float = 0.8,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ReliabilityResult:
    """Estimate test–retest, inter-rater and internal reliability of bias scores, and what they vary with.

    Test–retest is ICC(2,1) over models, inter-rater ICC(3,1) over measures, internal Cronbach's alpha and McDonald's
    omega; all at most 1, 0 where differences are all error (Du, Fang & Nguyen 2021; Shrout & Fleiss 1979).

    The models of `scores` should be replicates: trained alike but for the seed or the bootstrap sample of the corpus.
    Or they are views of a transformer: components are then by layer, pooling, template, context and checkpoint, and
    designs speak of the layers and poolings at hand.
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
        assurance: share of the draws of the components in which a recommended design must reach the target.
        random_state: seed of the bootstrap behind omega, and of the draws behind the components.
        progress: called with (done, total) steps.

    Raises:
        ParameterError: an argument cannot be used.
        LexiconError: a lexicon is unknown.
    """
    check_level(level)
    check_number(0, 1, min_coverage=min_coverage)
    check_number(0, 1, ends=False, assurance=assurance)
    if target is not None:
        check_number(0, 1, ends=False, target=target)
    averages = np.stack([measure.mean_over_models() for measure in by_measure(scores)])  # measures × pairs × words
    report = progress or (lambda _done, _total: None)
    steps = len(scores.measures) + 2
    report(1, steps)
    lookup = ListLookup(scores.words, np.asarray((~np.isnan(averages)).any(axis=(0, 1))), min_coverage)
    query_lists = lookup.queries(queries)
    word_lists = lookup.lists(lists, query_lists)
    unlisted = lookup.unlisted(word_lists) if lists is None else np.empty(0, np.intp)
    retest: list[ReliabilityTable] = []
    causes: Causes = {}
    for step, measure in enumerate(by_measure(scores), 2):
        measure_tables, measure_causes = over_replicates(measure, scores, word_lists, unlisted, level)
        retest += measure_tables
        causes |= measure_causes
        report(step, steps)
    pairs_name = str(scores.provenance.get("pairs", {}).get("name", "all pairs"))
    internal, omega = within_scales(
        averages, scores.measures, pairs_name, word_lists, query_lists, level=level, random_state=random_state
    )
    tables = {
        "test_retest": ReliabilityTable.concatenate(retest),
        "inter_rater": over_measures(averages, scores, word_lists, unlisted, level),
        "inter_rater_standardized": over_measures(standardized(averages), scores, word_lists, unlisted, level),
        "internal": internal,
    }
    list_names = [words.name for words in word_lists]
    summaries = tuple(row for name, table in tables.items() for row in summarize(table, name))
    correlations = between_measures(averages, scores.measures, level)
    relations = between_reliabilities(tables["test_retest"], tables["inter_rater"], list_names, level)
    forms = tuple(
        row
        for name in ("test_retest", "inter_rater")
        for row in compare_forms(tables[name], name, scores.pairs, list_names, level)
    )
    # Raw inter-rater reliability is left out: raw scores disagree by their scales alone.
    judged = ("test_retest", "inter_rater_standardized", "internal")
    studies = []
    if target is not None:
        analyzed = (*scores.measures, *([None] if len(scores.measures) > 1 else []))
        studies = [_components_and_designs(scores, name, level, target, assurance, random_state) for name in analyzed]
    return ReliabilityResult(
        **tables,
        omega=omega,
        summaries=summaries,
        measures=correlations,
        relations=relations,
        forms=forms,
        untrusted=tuple(row for name in judged for row in low_reliabilities(tables[name], name, causes)),
        verdicts=conclusions(tables["test_retest"], internal, summaries, correlations, list_names, relations, forms),
        lists=word_lists,
        queries=query_lists,
        settings={
            "lists": list_names,
            "queries": [words.name for words in query_lists],
            "measures": list(scores.measures),
            "models": list(scores.models),
            "pairs": pairs_name,
            "min_coverage": min_coverage,
            "level": level,
            "target": target,
            "assurance": assurance,
            "random_state": random_state,
        },
        warnings=(*_warnings(scores, word_lists, query_lists), *_heavy_tails(averages, scores.measures, word_lists)),
        components=tuple(components for components, _ in studies),
        design=tuple(design for _, design in studies),
    )


def _components_and_designs(
    scores: Scores, measure: str | None, level: float, target: float, assurance: float, random_state: int
) -> tuple[VarianceComponents | NotAnalyzed, DecisionStudy | NotAnalyzed]:
    """Variance components and the designs that follow from them, or the reason why there are none."""
    try:
        components = variance_components(scores, measure=measure, level=level, random_state=random_state)
        return components, decision_study(components, target=target, assurance=assurance, fixed=components.choices)
    except ParameterError as error:
        missing = NotAnalyzed(measure, str(error))
        return missing, missing


def _warnings(scores: Scores, lists: Sequence[WordList], queries: Sequence[WordList]) -> Iterator[str]:
    models = scores.provenance.get("models", {})
    if any("layer" in models.get(name, {}).get("facets", {}) for name in scores.models):
        yield (
            "the models are views of transformers (layers, poolings, templates, contexts): test–retest is agreement "
            "between views here, not between training runs; the components tell the facets apart"
        )
    elif len(scores.models) == 1:
        yield "there is one model: test-retest reliability takes replicates"
    elif len(scores.models) < 5:
        yield f"there are {len(scores.models)} replicates: intervals are wide with so few"
    if len(scores.measures) == 1:
        yield "there is one measure: inter-rater reliability takes at least two"
    if not queries:
        yield "no query was scored: score the words of a query too, such as those of du2021_queries"
    for words in (*lists, *queries):
        if words.shortfall:
            yield f"{words.name}: {words.shortfall}; a lower min_coverage judges it all the same"


def _heavy_tails(averages: Floats, measures: Sequence[str], lists: Sequence[WordList]) -> Iterator[str]:
    """Warn of lists whose words' mean scores (measures × pairs × words) have heavy tails."""
    for words in lists:
        matrices = zip(measures, averages[:, :, words.rows], strict=True)
        heavy = [measure_name(name) for name, matrix in matrices if heavy_tails(without_gaps(matrix.T))]
        if heavy:
            yield (
                f"{words.name}: mean scores of words have heavy tails under {', '.join(heavy)}, so that intervals of "
                "ICC and alpha over words cover less than their level"
            )
