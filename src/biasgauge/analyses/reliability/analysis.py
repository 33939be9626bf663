"""`reliability`: from scores of replicates to the three reliabilities, on word lists and queries."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from biasgauge.analyses.reliability import reliabilities
from biasgauge.analyses.reliability.components import VarianceComponents, variance_components
from biasgauge.analyses.reliability.decision import DecisionStudy, decision_study
from biasgauge.analyses.reliability.reliabilities import Scores, by_measure
from biasgauge.analyses.reliability.reliability_table import Causes, ReliabilityTable, low_reliabilities, summarize
from biasgauge.analyses.reliability.result import NotAnalyzed, ReliabilityResult, conclusions
from biasgauge.core import Flags, Floats, JsonObject, LexiconLike, Places, WordsLike, check_level, check_number
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons import Lexicon, WordSet, languages, lexicon, words_of
from biasgauge.results import measure_name, share_text
from biasgauge.scores import ScoreStore, ScoreTensor
from biasgauge.stats import heavy_tails, without_gaps

ALL_WORDS = "all words"
DEFAULT_ROLES = ("scored_words", "frequent")
"""Roles of the lists of each language that are used by default where a tensor covers them."""
ListsLike: TypeAlias = "WordsLike | Iterable[LexiconLike | WordSet] | Mapping[str, WordsLike]"
"""Named lists of words: lexicons, or words by name."""
_NamedWords: TypeAlias = tuple[str, tuple[str, ...], str | None]
"""Name, words, and the lexicon that they come from."""


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
    scored = np.asarray((~np.isnan(averages)).any(axis=(0, 1)))
    word_lists, query_lists, unlisted = _find_lists(scores.words, scored, lists, queries, min_coverage)
    retest: list[ReliabilityTable] = []
    causes: Causes = {}
    for step, measure in enumerate(by_measure(scores), 2):
        measure_tables, measure_causes = reliabilities.over_replicates(measure, scores, word_lists, unlisted, level)
        retest += measure_tables
        causes |= measure_causes
        report(step, steps)
    pairs_name = str(scores.provenance.get("pairs", {}).get("name", "all pairs"))
    internal, omega = reliabilities.within_scales(
        averages, scores.measures, pairs_name, word_lists, query_lists, level=level, random_state=random_state
    )
    standardized = reliabilities.standardized(averages)
    tables = {
        "test_retest": ReliabilityTable.concatenate(retest),
        "inter_rater": reliabilities.over_measures(averages, scores, word_lists, unlisted, level),
        "inter_rater_standardized": reliabilities.over_measures(standardized, scores, word_lists, unlisted, level),
        "internal": internal,
    }
    list_names = [words.name for words in word_lists]
    summaries = tuple(row for name, table in tables.items() for row in summarize(table, name))
    correlations = reliabilities.between_measures(averages, scores.measures, level)
    relations = reliabilities.between_reliabilities(tables["test_retest"], tables["inter_rater"], list_names, level)
    forms = tuple(
        row
        for name in ("test_retest", "inter_rater")
        for row in reliabilities.compare_forms(tables[name], name, scores.pairs, list_names, level)
    )
    # Raw inter-rater reliability is left out: raw scores disagree by their scales alone.
    judged = ("test_retest", "inter_rater_standardized", "internal")
    analyzed = (*scores.measures, *([None] if len(scores.measures) > 1 else [])) if target is not None else ()
    studies = [_components_and_designs(scores, name, level, target or 0, assurance, random_state) for name in analyzed]
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
        warnings=tuple(_warnings(scores, averages, word_lists, query_lists)),
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


def _warnings(
    scores: Scores, averages: Floats, lists: Sequence[WordList], queries: Sequence[WordList]
) -> Iterator[str]:
    models = scores.provenance.get("models", {})
    if any("layer" in models.get(name, {}).get("facets", {}) for name in scores.models):
        yield (
            "the models are views of transformers (layers, poolings, templates, contexts): test–retest is agreement "
            "between views here, not between training runs; the components tell the facets apart"
        )
    elif len(scores.models) == 1:
        yield "there is one model: test-retest reliability takes replicates"
    elif len(scores.models) < 5:
        yield f"only {len(scores.models)} replicates: their intervals are wide"
    if len(scores.measures) == 1:
        yield "there is one measure: inter-rater reliability takes at least two"
    if not queries:
        yield "no query was scored: score the words of a query too, such as those of du2021_queries"
    for words in (*lists, *queries):
        if words.shortfall:
            yield f"{words.name}: {words.shortfall}; a lower min_coverage includes it"
    for words in lists:
        matrices = zip(scores.measures, averages[:, :, words.rows], strict=True)
        heavy = [measure_name(name) for name, matrix in matrices if heavy_tails(without_gaps(matrix.T))]
        if heavy:
            yield (
                f"{words.name}: mean scores of words have heavy tails under {', '.join(heavy)}, so that intervals of "
                "ICC and alpha over words cover less than their level"
            )


@dataclass(frozen=True, eq=False)
class WordList:
    """A word list, or a query from the lexicon `source`.

    Attributes:
        size: number of words in the list.
        rows: indices of its scored words in the tensor.
        lost: words without a score.
        shortfall: why too few words have scores to represent the list; empty when enough do.
    """

    name: str
    source: str | None
    size: int
    rows: Places
    lost: tuple[str, ...]
    shortfall: str

    def to_dict(self) -> JsonObject:
        """Coverage as in `--json`."""
        return {"asked": self.size, "found": len(self.rows), "lost": list(self.lost), "reason": self.shortfall or None}


def _find_lists(
    words: Sequence[str], scored: Flags, lists: ListsLike | None, queries: ListsLike | None, min_coverage: float
) -> tuple[tuple[WordList, ...], tuple[WordList, ...], Places]:
    """Word lists and queries among the words of a tensor, and the rows of scored words that are in no list.

    By default the shipped ones of which enough words are there. All words make one more list when they are more than
    those of the lists and the queries.
    """
    index = {word: row for row, word in enumerate(words)}

    def look_up(name: str, members: Iterable[str], source: str | None = None) -> WordList:
        distinct = tuple(dict.fromkeys(members))
        rows = np.array([index[word] for word in distinct if word in index and scored[index[word]]], np.intp)
        present, total = {words[row] for row in rows}, len(distinct)
        shortfall = ""
        if len(rows) < min_coverage * total:
            share, least = share_text(len(rows) / total), share_text(min_coverage)
            shortfall = f"only {len(rows)} of {total} words have scores ({share}; {least} required)"
        return WordList(name, source, total, rows, tuple(word for word in distinct if word not in present), shortfall)

    def covered(named: Iterable[_NamedWords]) -> list[WordList]:
        """Look up lists of which the tensor has enough words, with a score or not."""
        enough = max(min_coverage, 1e-9)
        return [look_up(*entry) for entry in named if len(index.keys() & entry[1]) >= enough * len(set(entry[1]))]

    if queries is not None:
        query_lists = [look_up(*query) for query in _named_words(queries, "queries")]
    else:
        shipped = [lexicon(name) for language in languages() for name in language.named("queries")]
        sets = ((name, members, source.name) for source in shipped for name, members in source.sets.items())
        query_lists = covered(sets)
    if lists is not None:
        named = _named_words(lists, "lists")
        if not named:
            raise ParameterError("The 'lists' of reliability must name at least one list. Got none.")
        word_lists = tuple(look_up(name, members) for name, members, _ in named)
        return word_lists, tuple(query_lists), np.empty(0, np.intp)
    by_role = [words_of(name) for role in DEFAULT_ROLES for language in languages() for name in language.named(role)]
    found = covered((member.name, member.words, None) for member in by_role)
    rows_of_lists = {row for member in (*found, *query_lists) for row in member.rows.tolist()}
    if len(rows_of_lists) < int(scored.sum()) or not found:
        lost = tuple(word for word, row in index.items() if not scored[row])
        found.append(WordList(ALL_WORDS, None, len(index), np.flatnonzero(scored), lost, ""))
    unlisted = scored.copy()
    for member in found:
        unlisted[member.rows] = False
    return tuple(found), tuple(query_lists), np.flatnonzero(unlisted)


def _named_words(references: ListsLike | None, parameter: str) -> list[_NamedWords]:
    """Resolve the value of the parameter `lists` or `queries`."""
    match references:
        case Mapping():
            return [(str(name), words_of(words).words, None) for name, words in references.items()]
        case str() | os.PathLike() | Lexicon() | WordSet():
            return _resolve(references, parameter)
        case Iterable():
            return [words for reference in references for words in _resolve(reference, parameter)]
    raise ParameterError(f"The '{parameter}' of reliability must be names of lexicons or a mapping of names to words.")


def _resolve(reference: Any, parameter: str) -> list[_NamedWords]:  # noqa: ANN401 - checked
    """Resolve one reference: a list is all of its words; queries are the sets of a lexicon, or one set of it."""
    if parameter == "queries" and not isinstance(reference, WordSet):
        try:
            source = lexicon(reference)
        except LexiconError:
            pass  # one set of a lexicon, as NAME:SET
        else:
            labels = {role: words.name for role, words in getattr(source, "roles", {}).items()}  # those of a test
            names = [source.name] if len(source.sets) == 1 else [labels.get(name, name) for name in source.sets]
            return [(name, words, source.name) for name, words in zip(names, source.sets.values(), strict=True)]
    words = words_of(reference)
    source_name, colon, set_name = words.name.rpartition(":")
    is_set = colon and parameter == "queries"
    return [(set_name, words.words, source_name)] if is_set else [(words.name, words.words, None)]
