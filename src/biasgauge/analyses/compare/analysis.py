"""`compare`: what a contrast is in each group of models, by how much groups differ, and how it goes along an order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from os import PathLike
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from biasgauge.analyses.compare.corpora import (
    are_corpora,
    count_differences,
    doubts_about_documents,
    nothing_to_compare,
    trained_models,
)
from biasgauge.analyses.compare.groups import (
    ModelGroup,
    Replicates,
    doubts_about,
    groups_by_year,
    listed,
    positions_of,
    read_groups,
)
from biasgauge.analyses.compare.questions import read_questions
from biasgauge.analyses.compare.result import Comparison
from biasgauge.analyses.compare.rows import (
    Compared,
    CountDifference,
    Difference,
    GroupContrast,
    LinePoint,
    QuestionAbout,
    Trend,
    TwoComparisons,
    WordChange,
    compared,
    estimate_alone,
)
from biasgauge.analyses.compare.verdicts import ComparedCase, judge, not_measurable
from biasgauge.audits import Subject, Tabulated, Unmeasurable, Verdict, smallest_contrast, tabulate
from biasgauge.core import (
    DEFAULT_POLICY,
    Floats,
    LexiconLike,
    ModelsLike,
    Query,
    WordPolicy,
    WordsLike,
    check_choice,
    check_level,
    check_number,
    frequency_effect,
    resolve_sets,
)
from biasgauge.lexicons import circularity
from biasgauge.stats import (
    GroupComparison,
    TableSide,
    WordPlan,
    compare_effect_sizes,
    compare_groups,
    contrast_parts,
    holm,
    plan_words,
    slope_over_groups,
    slope_weights,
    welch,
)
from biasgauge.text import TokenCorpus
from biasgauge.vectors import Coverage, Lookup, load

Measure = Literal["contrast", "effect_size"]
MOST_ROWS = 50_000
"""Rows of a model, the most frequent words of most files, among which lists that mean nothing are drawn."""
UNRECORDED = ("out", "progress", "say", "n_jobs", "device")
"""Arguments of training that change nothing in the models."""


def compare(  # noqa: PLR0913 - each is a choice that a report has to state
    groups: Mapping[str, Any] | str | PathLike[str],
    test: LexiconLike | Sequence[LexiconLike] | None = None,
    *,
    x: WordsLike | None = None,
    y: WordsLike | None = None,
    a: WordsLike | None = None,
    b: WordsLike | None = None,
    order: bool | Sequence[str] = False,
    positions: Sequence[float] | Mapping[str, float] | None = None,
    measure: Measure = "contrast",
    replicates: Replicates = "auto",
    smallest: float | None = None,
    policy: WordPolicy = DEFAULT_POLICY,
    level: float = 0.95,
    training: Mapping[str, Any] | None = None,
) -> Comparison:
    """By how much does a contrast differ between corpora, periods or recipes, each with one model or several?

    The difference is that of the second group less the first, over the words that every model has. Its interval is for
    other words of the same kind and other models of the same kind; `these_words` has the one for these very words. Its
    verdict is at most "inconclusive" where models differ by random seed alone, which know nothing of other documents,
    and where groups were trained on unequal amounts of text.

    Args:
        groups: models by name of their group: replicates of each corpus, period or recipe. Or corpora by name, each
            tokenized, or text that `read_corpus` reads: models are then trained on equal amounts of text of each, on
            disjoint parts of its documents, so that their spread is that of documents. Or a folder of models with the
            year in their names, such as HistWords: each year is then a group, at that position.
        test: a lexicon that asks a question (a test or stereotypes), several of them, or lists of words with base
            pairs; or give the four sets.
        x: words, a lexicon, or one of its sets ("weat7:x").
        y: as x.
        a: as x.
        b: as x.
        order: groups are in an order (as they stand, or as the names given here): their trend is told too, per step.
        positions: where groups stand, such as years, in place of an order: their trend is told per unit.
        measure: "contrast": in cosine units; "effect_size": WEAT's d, in standard deviations of a group's own
            associations, which does not change when all cosines of a group are larger.
        replicates: what sets the models of a group apart: "seeds", bootstrap "samples" of one text, or "texts" of their
            own; "auto" reads it from the recipes that training leaves, and takes seeds where there are none.
        smallest: the smallest difference that matters; by default, of contrasts, the smallest contrast that
            matters in an audit of these vectors.
        policy: how words are looked up, and how many of each set every model must have.
        level: nominal coverage of the intervals.
        training: settings of `text.training.train_comparable`: out (a folder to keep the models in), parts, draws,
            documents, dim, epochs, …; groups are then taken for corpora. Without it, text is told from vectors by the
            beginning of the file.

    Raises:
        ParameterError: an argument cannot be used, or no question can be compared.
    """
    if isinstance(groups, (str, PathLike)):
        groups = groups_by_year(groups)
        if order is False and positions is None:
            positions = {year: float(year) for year in groups}
    check_level(level)
    check_choice(get_args(Measure), measure=measure)
    check_choice(get_args(Replicates), replicates=replicates)
    if smallest is not None:
        check_number(0, ends=False, smallest=smallest)
    questions = read_questions(test, {"x": x, "y": y, "a": a, "b": b}, measure)
    choices: dict[str, Any] = {
        "order": order, "positions": positions, "measure": measure, "smallest": smallest, "policy": policy,
        "level": level,
    }  # fmt: skip
    if training is None and not are_corpora(groups):
        return _compare_models(groups, questions, replicates=replicates, **choices)
    with trained_models(groups, training or {}, questions, policy) as trained:
        corpora = trained.corpora
        result = _compare_models(trained.paths, questions, replicates="auto", corpora=corpora, **choices)
    recorded = {name: value for name, value in (training or {}).items() if name not in UNRECORDED}
    recorded |= {name: "a function" for name, value in recorded.items() if callable(value)}
    return replace(result, settings={**result.settings, "training": {**recorded, "tokens": trained.tokens}})


def _compare_models(
    groups: Mapping[str, ModelsLike],
    questions: Sequence[Query],
    *,
    order: bool | Sequence[str],
    positions: Sequence[float] | Mapping[str, float] | None,
    measure: Measure,
    replicates: Replicates,
    smallest: float | None,
    policy: WordPolicy,
    level: float,
    corpora: Mapping[str, TokenCorpus] | None = None,
) -> Comparison:
    """Compare groups of models, and the corpora that they were trained on where these are given."""
    group_positions = positions_of(list(groups) if isinstance(groups, Mapping) else [], order, positions)
    words = list(dict.fromkeys(word for question in questions for word in question.words))
    models = read_groups(
        groups, words, group_positions, case_fallback=policy.case != "exact", replicates=replicates,
        language=questions[0].language, texts={name: corpus.checksum for name, corpus in (corpora or {}).items()},
    )  # fmt: skip
    fallback = policy.uses_fallback([model for group in models for model in group.models])
    policy = replace(policy, case="fallback" if fallback else "exact")  # decided for all models together
    alpha = 1 - level
    comparisons = [_QuestionComparison(question, models, measure, policy, level) for question in questions]
    defined = [comparison for comparison in comparisons if not comparison.reason]
    if not defined:
        first = comparisons[0]
        raise nothing_to_compare(first.question, str(first.reason), len(comparisons) - 1)
    if smallest is None and measure == "contrast":
        smallest = smallest_that_matters(questions, models, policy)
    differences = _adjusted([pair for comparison in defined for pair in comparison.differences()], alpha)
    trends = _adjusted([pair for comparison in defined for pair in comparison.trends()], alpha)
    rows = trends or differences
    pairs = list(dict.fromkeys((row.first, row.second) for row, _ in differences))
    asked = [comparison.question for comparison in defined]
    counts = [] if corpora is None else count_differences(corpora, asked, pairs, policy, level)
    verdicts = [
        comparison.verdict(*pair, smallest=smallest, tests=len(rows), counts=counts)
        for comparison in defined
        for pair in rows
        if pair[0].question == comparison.question.name
    ]
    kind = "trend" if trends else "difference"
    everyone = [group.description for group in models]
    verdicts += [not_measurable(entry.description, kind, everyone) for entry in comparisons if entry.reason]
    by_question = {comparison.question.name: comparison for comparison in defined}
    return Comparison(
        groups=tuple(everyone),
        verdicts=tuple(verdicts),
        questions=tuple(comparison.description for comparison in comparisons),
        contrasts=tuple(row for comparison in defined for row in comparison.contrasts()),
        differences=tuple(row for row, _ in differences),
        trends=tuple(row for row, _ in trends),
        words=tuple(row for comparison in defined for row in comparison.words()),
        lines=tuple(point for row, _ in trends for point in by_question[row.question].line(row)),
        coverage={question.name: _coverage(question, models, policy).to_dict() for question in questions},
        settings={
            "measure": measure, "replicates": replicates, "smallest": smallest, **policy.settings(), "level": level,
            "ordered": bool(group_positions),
        },
        counts=tuple(counts),
        warnings=(*doubts_about(models), *doubts_about_documents(corpora or {})),
    )  # fmt: skip


def smallest_that_matters(
    questions: Sequence[Query], groups: Sequence[ModelGroup], policy: WordPolicy, random_state: int = 0
) -> float:
    """Standard deviation of contrasts of unrelated lists of eight words of like frequency, the mean over groups."""
    sizes = []
    for group in groups:
        subject = Subject(group.name, (load(group.source, limit=MOST_ROWS),))
        outcomes = [tabulate(question, subject, policy) for question in questions]
        found = [outcome for outcome in outcomes if isinstance(outcome, Tabulated)]
        sizes.append(smallest_contrast(subject, found, random_state))
    return float(np.mean(sizes))


class _GroupTables(NamedTuple):
    """Similarities of each group, draws × replicates × targets × attributes, and the words on both sides."""

    groups: list[Floats]
    rows: TableSide
    columns: TableSide


class _QuestionComparison:
    """One question put to all groups, over the words that all models of all groups have.

    Attributes:
        reason: why it cannot be compared; empty where it can.
        measured: the words and their similarities.
        tables: similarities of each group as they are.
        decisive: those that verdicts rest on: at equal word frequency where that is known. Effect sizes rest on
            similarities as they are.
        signs: 1 for words that should lean as the claim says, −1 for those of the list that should not.
        leanings: association of each target word in every draw and replicate of each group, in cosine units: with A
            less with B, for a test.
    """

    def __init__(
        self, question: Query, groups: Sequence[ModelGroup], measure: Measure, policy: WordPolicy, level: float
    ) -> None:
        self.question, self.groups, self.measure, self.level, self.reason = question, groups, measure, level, ""
        self.positions = [group.description.position or 0.0 for group in groups]
        self.ordered = groups[0].description.position is not None
        everyone = Subject("all", tuple(model for group in groups for model in group.models))
        outcome = tabulate(question, everyone, policy)
        if isinstance(outcome, Unmeasurable):
            words = {"all": question.words}
            counts = [len(resolve_sets(words, group.models, policy)["all"].words) for group in groups]
            self.reason = f"{outcome.reason}; {groups[int(np.argmin(counts))].name!r} has the fewest"
            return
        self.measured = outcome
        self.tables = self.decisive = self._by_group(outcome.table, *outcome.as_it_is)
        self.adjusts = measure == "contrast" and outcome.similarities.centered is not None
        if self.adjusts:
            self.decisive = self._by_group(*outcome.decisive)
        pattern = np.asarray(question.weights)
        opposed = len(pattern) == 2 and np.array_equal(pattern[0], -pattern[1])
        self.signs: Floats = np.where((outcome.rows == 1) & opposed, -1.0, 1.0)
        by_row = pattern[outcome.rows] * self.signs[:, None]
        by_row = by_row / np.abs(by_row).max(axis=1, keepdims=True)
        self.leanings: list[Floats] = []
        for table in self.tables.groups:
            means = [table[..., outcome.columns == group].mean(axis=-1) for group in range(pattern.shape[1])]
            self.leanings.append((np.stack(means, axis=-1) * by_row).sum(axis=-1))

    def _by_group(self, table: Floats, rows: TableSide, columns: TableSide) -> _GroupTables:
        ends = np.cumsum([len(group.models) for group in self.groups])[:-1]
        by_group = zip(self.groups, np.split(table, ends), strict=True)
        return _GroupTables([group.replicated(part) for group, part in by_group], rows, columns)

    @property
    def description(self) -> QuestionAbout:
        """Name, title and claim of the question."""
        return QuestionAbout(self.question.name, self.question.title, self.question.claims[0], self.reason or None)

    @property
    def models_vary_by(self) -> str:
        """Name of the units that models vary by: documents, or training runs."""
        return "documents" if all(group.description.over_documents for group in self.groups) else "training runs"

    def compare(self, chosen: Sequence[int], weights: Sequence[float]) -> TwoComparisons:
        """A weighted sum of the numbers of some groups, as it is and at equal word frequency."""
        adjusted = self.estimate(chosen, weights, self.decisive) if self.adjusts else None
        return TwoComparisons(self.estimate(chosen, weights, self.tables), adjusted)

    def estimate(
        self, chosen: Sequence[int], weights: Sequence[float], similarities: _GroupTables, measure: str | None = None
    ) -> GroupComparison:
        """A weighted sum of the numbers of some groups in some similarities."""
        options: dict[str, Any] = {
            "group_weights": list(weights),
            "bootstrap": [self.groups[index].resampled for index in chosen],
            "level": self.level,
            "models": self.models_vary_by,
        }
        tables = [similarities.groups[index] for index in chosen]
        if (measure or self.measure) == "effect_size":
            return compare_effect_sizes(tables, self.measured.rows, self.measured.columns, **options)
        return compare_groups(tables, similarities.rows, similarities.columns, self.question.weights, **options)

    def contrasts(self) -> Iterator[GroupContrast]:
        """The number of each group, and how far it is from the mean of all groups."""
        count = len(self.groups)
        for index, group in enumerate(self.groups):
            from_mean = self.compare(range(count), (np.eye(count)[index] - 1 / count).tolist()).decisive.other_words
            numbers = self.compare([index], [1.0])
            equal = numbers.at_equal_frequency
            yield GroupContrast.of_estimate(
                estimate_alone(numbers.as_it_is.other_words), question=self.question.name,
                group=group.name, position=group.description.position, from_mean=estimate_alone(from_mean),
                adjusted=None if equal is None else estimate_alone(equal.other_words),
            )  # fmt: skip

    def verdict(
        self,
        row: Compared,
        numbers: TwoComparisons,
        *,
        smallest: float | None,
        tests: int,
        counts: Sequence[CountDifference],
    ) -> Verdict:
        """The verdict on one of the differences or trends."""
        counted = None
        if isinstance(row, Difference):
            names = [group.name for group in self.groups]
            chosen, weights = [names.index(row.first), names.index(row.second)], [-1.0, 1.0]
            key = (row.question, row.first, row.second)
            counted = next((entry for entry in counts if (entry.question, entry.first, entry.second) == key), None)
        else:
            chosen, weights = list(range(len(self.groups))), slope_weights(self.positions).tolist()
        case = ComparedCase(
            row=row,
            contrast=numbers.decisive.other_words,
            about=self.description,
            groups=[self.groups[index].description for index in chosen],
            measure=self.measure,
            tests=tests,
            smallest=smallest,
            by_draw=self._by_draw(chosen, weights),
            effect_size=self._effect_size(chosen, weights),
            reliability=self._reliability(chosen),
            counts=counted,
            circular=circularity(self.question, [model for index in chosen for model in self.groups[index].models]),
            beware=self.question.beware,
            frequency_sources=self._frequency_sources(chosen),
        )
        return judge(replace(case, plan=self._plan(case)))

    def _by_draw(self, chosen: Sequence[int], weights: Sequence[float]) -> Floats | None:
        """The contrast of groups in each draw of their texts; None without several draws in all of them."""
        tables = [self.decisive.groups[index] for index in chosen]
        if len({len(table) for table in tables}) > 1 or len(tables[0]) == 1:
            return None
        combined = np.sum([weight * table.mean(axis=1) for table, weight in zip(tables, weights, strict=True)], axis=0)
        return contrast_parts(combined[:, None], self.decisive.rows, self.decisive.columns, self.question.weights).value

    def _frequency_sources(self, chosen: Sequence[int]) -> tuple[str | None, ...]:
        """Sources of the word frequencies of the models of some groups, each once; None where one has none."""
        ends = np.cumsum([0, *(len(group.models) for group in self.groups)])
        sources = self.measured.similarities.frequency_sources
        return tuple(dict.fromkeys(source for index in chosen for source in sources[ends[index] : ends[index + 1]]))

    def _reliability(self, chosen: Sequence[int]) -> float | None:
        """Agreement of models of one draw about which word is similar to which, of the group that has the least.

        Mean correlation of the tables of two models, less the means of rows and columns, stepped up to all models of a
        draw (Spearman and Brown); None where a group has a single model.
        """
        values = []
        for table in (self.decisive.groups[index] for index in chosen):
            models = table.shape[1]
            if models == 1:
                return None
            cells = table - table.mean(axis=-1, keepdims=True) - table.mean(axis=-2, keepdims=True)
            cells = (cells + table.mean(axis=(-2, -1), keepdims=True)).reshape(*table.shape[:2], -1)
            correlations = [np.corrcoef(draw)[np.triu_indices(models, 1)] for draw in cells]
            mean = float(np.nan_to_num(np.mean(correlations)))
            values.append(models * mean / (1 + (models - 1) * mean) if mean > 0 else 0.0)
        return min(values)

    def _effect_size(self, chosen: Sequence[int], weights: Sequence[float]) -> float | None:
        if self.question.kind != "test" or self.measure == "effect_size":
            return None
        return self.estimate(chosen, weights, self.tables, "effect_size").other_words.value

    def _plan(self, case: ComparedCase) -> WordPlan | None:
        """Number of words in each list that would show the smallest difference that matters."""
        if case.smallest is None or case.contrast.se is None or self.measure != "contrast":
            return None
        return plan_words(case.contrast, case.smallest / abs(case.span), alpha=(1 - self.level) / case.tests)

    def differences(self) -> Iterator[tuple[Difference, TwoComparisons]]:
        """The second less the first, of each pair of groups: the last and the first of an order, else every two."""
        count = len(self.groups)
        for first, second in [(0, count - 1)] if self.ordered else combinations(range(count), 2):
            numbers = self.compare([first, second], [-1.0, 1.0])
            value = numbers.decisive.other_words.value
            changes = (self.leanings[second].mean(axis=(0, 1)) - self.leanings[first].mean(axis=(0, 1))) * self.signs
            row = compared(
                Difference, numbers, question=self.question.name, first=self.groups[first].name,
                second=self.groups[second].name,
                words_with=None if not value else float((np.sign(changes) == np.sign(value)).mean()),
            )  # fmt: skip
            yield row, numbers

    def trends(self) -> Iterator[tuple[Trend, TwoComparisons]]:
        """The slope over the positions of an order; two groups have a difference only."""
        if not self.ordered or len(self.groups) < 3:
            return
        numbers = self.compare(range(len(self.groups)), slope_weights(self.positions).tolist())
        means = [row.decisive.value or 0.0 for row in self.contrasts()]
        scatter = slope_over_groups(self.positions, means, level=self.level)
        labels = {"question": self.question.name, "other_texts": estimate_alone(scatter), "p_other_texts": scatter.p}
        yield compared(Trend, numbers, **labels), numbers

    def line(self, trend: Trend) -> Iterator[LinePoint]:
        """The line of the trend through the mean of the groups, with the interval of its slope: ends and middle."""
        count, middle = len(self.positions), float(np.mean(self.positions))
        height = self.estimate(range(count), [1 / count] * count, self.decisive).other_words.value or 0.0
        for position in (self.positions[0], middle, self.positions[-1]):
            slope = trend.decisive
            slopes = (slope.value, slope.low, slope.high)
            value, *ends = (None if slope is None else height + slope * (position - middle) for slope in slopes)
            low, high = (None, None) if None in ends else sorted(ends)  # type: ignore[type-var]
            yield LinePoint(self.question.name, position, value or 0.0, low, high, trend.method)

    def words(self) -> list[WordChange]:
        """The change of each target word from the first group to the last, largest first."""
        if len(self.groups) > 2 and not self.ordered:
            return []
        sets, ends = [words.name for words in self.question.targets], (self.groups[0], self.groups[-1])
        rows = []
        for index, (word, group) in enumerate(zip(self.measured.target_words, self.measured.rows, strict=True)):
            first, last = self.leanings[0][..., index], self.leanings[-1][..., index]
            change = welch(first, last, (ends[0].resampled, ends[1].resampled), self.level, self.models_vary_by)
            labels = {"question": self.question.name, "word": word, "set": sets[int(group)]}
            means = {"first": float(first.mean()), "last": float(last.mean())}
            rows.append(WordChange.of_estimate(change, **labels, **means))
        return sorted(rows, key=lambda row: -abs(row.value or 0.0))


def _adjusted(pairs: Sequence[tuple[Any, TwoComparisons]], alpha: float) -> list[tuple[Any, TwoComparisons]]:
    """Rows with p adjusted for all of them, and what word frequency does to each; each with its comparison."""
    adjusted, as_it_is = holm([row.p_decisive for row, _ in pairs]), holm([row.p for row, _ in pairs])
    rows = []
    for (row, numbers), p, p_as_it_is in zip(pairs, adjusted, as_it_is, strict=True):
        effect = frequency_effect(
            as_it_is=None if p_as_it_is is None else p_as_it_is < alpha,
            at_equal_frequency=None if p is None or row.adjusted is None else p < alpha,
        )
        rows.append((replace(row, p_adjusted=p, frequency=effect), numbers))
    return rows


def _coverage(query: Query, groups: Sequence[ModelGroup], policy: WordPolicy) -> Coverage:
    """Words that all models have; for each lost word, which groups lack it."""
    sets = dict(query.sets) if query.kind == "test" else {
        words.name: words.words for words in (*query.targets, *query.attributes)
    }  # fmt: skip
    by_group = {group.name: resolve_sets(sets, group.models, policy) for group in groups}
    lookups = {}
    for name, words in sets.items():
        lacking = {
            word: [group for group, resolved in by_group.items() if word in resolved[name].lost]
            for word in dict.fromkeys(words)
        }
        lost = {word: f"not in every model of {listed(lack)}" for word, lack in lacking.items() if lack}
        shared = tuple(word for word in dict.fromkeys(words) if word not in lost)
        lookups[name] = Lookup(shared, np.arange(len(shared)), lost)
    return Coverage.of(lookups)
