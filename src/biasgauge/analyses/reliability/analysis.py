"""`reliability`: from scores of replicates to the three reliabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from biasgauge.analyses.reliability import verdicts
from biasgauge.analyses.reliability.components.analysis import VarianceComponents, variance_components
from biasgauge.analyses.reliability.decision.result import DecisionStudy
from biasgauge.analyses.reliability.decision.study import decision_study
from biasgauge.analyses.reliability.distributions import Blame, summarize, untrusted_rows
from biasgauge.analyses.reliability.lists import Chooser, ListsLike, WordList
from biasgauge.analyses.reliability.relations import between_measures, between_reliabilities, compare_forms
from biasgauge.analyses.reliability.reliabilities import (
    by_measure,
    over_measures,
    over_replicates,
    standardized,
    within_scales,
)
from biasgauge.analyses.reliability.result import PARTS, NotAnalyzed, ReliabilityResult
from biasgauge.analyses.reliability.rows import Rows
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
    averages = np.stack([measure.mean_over_models() for measure in by_measure(scores)])
    report = progress or (lambda _done, _total: None)
    total = len(scores.measures) + 2
    report(1, total)
    chooser = Chooser(scores.words, np.asarray((~np.isnan(averages)).any(axis=(0, 1))), min_coverage)
    asked = chooser.queries(queries)
    chosen = chooser.lists(lists, beside=asked)
    rest = chooser.unlisted(chosen) if lists is None else np.empty(0, np.intp)
    parts: list[Rows] = []
    blame: Blame = {}
    for done, measure in enumerate(by_measure(scores), 2):
        rows, spreads = over_replicates(measure, scores, chosen, rest, level)
        parts += rows
        blame |= spreads
        report(done, total)
    ensemble = str(scores.provenance.get("pairs", {}).get("name", "all pairs"))
    internal, omega = within_scales(
        averages, scores.measures, ensemble, chosen, asked, level=level, random_state=random_state
    )
    tables = {
        "test_retest": Rows.joined(parts),
        "inter_rater": over_measures(averages, scores, chosen, rest, level),
        "inter_rater_standardized": over_measures(standardized(averages), scores, chosen, rest, level),
        "internal": internal,
    }
    names = [words.name for words in chosen]
    summaries = tuple(row for name, rows in tables.items() for row in summarize(rows, name))
    measures = between_measures(averages, scores.measures, level)
    relations = between_reliabilities(tables["test_retest"], tables["inter_rater"], names, level)
    forms = tuple(row for name in PARTS[:2] for row in compare_forms(tables[name], name, scores.pairs, names, level))
    judged = (name for name in PARTS if name != "inter_rater")  # raw scores disagree by their scales alone
    untrusted = [row for name in judged for row in untrusted_rows(tables[name], name, blame)]
    studied = [*scores.measures, *([None] if len(scores.measures) > 1 else [])]
    studies = (
        [_study(scores, name, level, target, assurance, random_state) for name in studied] if target is not None else []
    )
    return ReliabilityResult(
        **tables,
        omega=omega,
        summaries=summaries,
        measures=measures,
        relations=relations,
        forms=forms,
        untrusted=tuple(untrusted),
        verdicts=(
            *(line for name in names for line in verdicts.over_replicates(tables["test_retest"], summaries, name)),
            *verdicts.over_measures(summaries, measures, names),
            *verdicts.within_scales(internal),
            *verdicts.on_relations(relations, forms),
        ),
        lists=chosen,
        queries=asked,
        settings={
            "lists": names,
            "queries": [words.name for words in asked],
            "measures": list(scores.measures),
            "models": list(scores.models),
            "pairs": ensemble,
            "min_coverage": min_coverage,
            "level": level,
            "target": target,
            "assurance": assurance,
            "random_state": random_state,
        },
        warnings=(*_warnings(scores, chosen, asked), *_heavy_tails(averages, scores.measures, chosen)),
        components=tuple(components for components, _ in studies),
        design=tuple(design for _, design in studies),
    )


def _study(
    scores: ScoreTensor | ScoreStore, measure: str | None, level: float, target: float, assurance: float, seed: int
) -> tuple[VarianceComponents | NotAnalyzed, DecisionStudy | NotAnalyzed]:
    """Components and the designs that follow from them; or why there are none."""
    try:
        components = variance_components(scores, measure=measure, level=level, random_state=seed)
        return components, decision_study(components, target=target, assurance=assurance, fixed=components.choices)
    except ParameterError as problem:
        reason = NotAnalyzed(measure, str(problem))
        return reason, reason


def _warnings(
    scores: ScoreTensor | ScoreStore, lists: tuple[WordList, ...], queries: tuple[WordList, ...]
) -> list[str]:
    notes = []
    if _views(scores):
        notes.append(
            "the models are views of transformers (layers, poolings, templates, contexts): test–retest is agreement "
            "between views here, not between training runs; the components tell the facets apart"
        )
    elif len(scores.models) == 1:
        notes.append("there is one model: test-retest reliability takes replicates")
    elif len(scores.models) < 5:
        notes.append(f"there are {len(scores.models)} replicates: intervals are wide with so few")
    if len(scores.measures) == 1:
        notes.append("there is one measure: inter-rater reliability takes at least two")
    if not queries:
        notes.append("no query was scored: score the words of a query too, such as those of du2021_queries")
    short = [words for words in (*lists, *queries) if words.short]
    return notes + [f"{words.name}: {words.short}; a lower min_coverage judges it all the same" for words in short]


def _views(scores: ScoreTensor | ScoreStore) -> bool:
    about = scores.provenance.get("models", {})
    return any("layer" in about.get(name, {}).get("facets", {}) for name in scores.models)


def _heavy_tails(averages: Floats, measures: Sequence[str], lists: tuple[WordList, ...]) -> list[str]:
    """Lists whose words' mean scores have heavy tails, from measures × pairs × words."""
    notes = []
    for words in lists:
        matrices = zip(measures, averages[:, :, words.places], strict=True)
        heavy = [name for name, matrix in matrices if heavy_tails(without_gaps(matrix.T))]
        if heavy:
            means = f"{words.name}: mean scores of words have heavy tails under {', '.join(map(measure_name, heavy))}"
            notes.append(f"{means}, so that intervals of ICC and alpha over words cover less than their level")
    return notes
