"""`compare`: what a contrast is in each group of models, by how much groups differ, and how it goes along an order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from os import PathLike
from typing import Any, Literal, get_args

import numpy as np

from biasgauge.analyses.compare.groups import ModelGroup, Replicates, doubts_about, listed, positions_of, read_groups
from biasgauge.analyses.compare.result import Comparison
from biasgauge.analyses.compare.rows import (
    Difference,
    GroupContrast,
    LinePoint,
    QuestionAbout,
    Trend,
    WordChange,
    compared,
    estimate_alone,
)  # fmt: skip
from biasgauge.audits import Subject, Unmeasurable, tabulate
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
    resolve_sets,
)
from biasgauge.errors import ParameterError
from biasgauge.lexicons import (
    AssociationTest,
    Lexicon,
    WordSet,
    lexicon,
    lexicons_without_query,
    queries_from_lexicons,
    words_of,
)
from biasgauge.stats import (  # fmt: skip
    GroupComparison,
    compare_effect_sizes,
    compare_groups,
    holm,
    slope_over_groups,
    slope_weights,
    welch,
)
from biasgauge.vectors import Coverage, Lookup

Measure = Literal["contrast", "effect_size"]


def compare(
    groups: Mapping[str, ModelsLike],
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
    policy: WordPolicy = DEFAULT_POLICY,
    level: float = 0.95,
) -> Comparison:
    """By how much does a contrast differ between corpora, periods or recipes, each with one model or several?

    The difference is that of the second group less the first, over the words that every model has. Its interval is for
    other words of the same kind and other models of the same kind; `these_words` has the one for these very words.

    Args:
        groups: models by name of their group: replicates of each corpus, period or recipe.
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
        policy: how words are looked up, and how many of each set every model must have.
        level: nominal coverage of the intervals.

    Raises:
        ParameterError: an argument cannot be used, or no question can be compared.
    """
    check_level(level)
    check_choice(get_args(Measure), measure=measure)
    check_choice(get_args(Replicates), replicates=replicates)
    questions = _questions(test, {"x": x, "y": y, "a": a, "b": b}, measure)
    group_positions = positions_of(list(groups) if isinstance(groups, Mapping) else [], order, positions)
    words = list(dict.fromkeys(word for question in questions for word in question.words))
    models = read_groups(groups, words, group_positions, case_fallback=policy.case != "exact", replicates=replicates)
    fallback = policy.uses_fallback([model for group in models for model in group.models])
    policy = replace(policy, case="fallback" if fallback else "exact")  # decided for all models together
    comparisons = [_QuestionComparison(question, models, measure, policy, level) for question in questions]
    defined = [comparison for comparison in comparisons if not comparison.reason]
    if not defined:
        first = comparisons[0]
        raise ParameterError(
            f"Nothing can be compared: {first.question.name}: {first.reason}"
            f"{f', and likewise {len(comparisons) - 1} more' if len(comparisons) > 1 else ''}. Are words there in "
            f"lower case (case fallback), is the text in another language than {first.question.language!r}, or will "
            "fewer words do (min_coverage)?"
        )
    trends = {comparison: row for comparison in defined for row in comparison.trends()}
    return Comparison(
        groups=tuple(group.description for group in models),
        questions=tuple(comparison.description for comparison in comparisons),
        contrasts=tuple(row for comparison in defined for row in comparison.contrasts()),
        differences=_adjusted([row for comparison in defined for row in comparison.differences()]),
        trends=_adjusted(list(trends.values())),
        words=tuple(row for comparison in defined for row in comparison.words()),
        lines=tuple(point for comparison, row in trends.items() for point in comparison.line(row)),
        coverage={question.name: _coverage(question, models, policy).to_dict() for question in questions},
        settings={
            "measure": measure, "replicates": replicates, **policy.settings(), "level": level,
            "ordered": bool(group_positions),
        },
        warnings=tuple(doubts_about(models)),
    )  # fmt: skip


class _QuestionComparison:
    """One question put to all groups, over the words that all models of all groups have.

    Attributes:
        reason: why it cannot be compared; empty where it can.
        measured: the words and their similarities.
        tables: similarities of each group: replicates × targets × attributes.
        signs: 1 for words that should lean as the claim says, −1 for those of the list that should not.
        leanings: association of each target word in every replicate of each group, in cosine units: with A less with
            B, for a test.
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
        ends = np.cumsum([len(group.models) for group in groups])[:-1]
        by_group = zip(groups, np.split(outcome.table, ends), strict=True)
        self.tables = [group.replicated(table) for group, table in by_group]
        pattern = np.asarray(question.weights)
        opposed = len(pattern) == 2 and np.array_equal(pattern[0], -pattern[1])
        self.signs: Floats = np.where((outcome.rows == 1) & opposed, -1.0, 1.0)
        by_row = pattern[outcome.rows] * self.signs[:, None]
        by_row = by_row / np.abs(by_row).max(axis=1, keepdims=True)
        self.leanings: list[Floats] = []
        for table in self.tables:
            means = [table[:, :, outcome.columns == group].mean(axis=2) for group in range(pattern.shape[1])]
            self.leanings.append((np.stack(means, axis=2) * by_row).sum(axis=2))

    @property
    def description(self) -> QuestionAbout:
        """Name, title and claim of the question."""
        return QuestionAbout(self.question.name, self.question.title, self.question.claims[0], self.reason or None)

    def estimate(self, chosen: Sequence[int], weights: Sequence[float]) -> GroupComparison:
        """A weighted sum of the numbers of some groups."""
        options: dict[str, Any] = {
            "group_weights": list(weights),
            "bootstrap": [self.groups[index].resampled for index in chosen],
            "level": self.level,
        }
        tables = [self.tables[index] for index in chosen]
        if self.measure == "effect_size":
            return compare_effect_sizes(tables, self.measured.rows, self.measured.columns, **options)
        return compare_groups(tables, self.measured.rows, self.measured.columns, self.question.weights, **options)

    def contrasts(self) -> Iterator[GroupContrast]:
        """The number of each group, and how far it is from the mean of all groups."""
        count = len(self.groups)
        for index, group in enumerate(self.groups):
            from_mean = self.estimate(range(count), (np.eye(count)[index] - 1 / count).tolist()).other_words
            yield GroupContrast.of_estimate(
                estimate_alone(self.estimate([index], [1.0]).other_words), question=self.question.name,
                group=group.name, position=group.description.position, from_mean=estimate_alone(from_mean),
            )  # fmt: skip

    def differences(self) -> Iterator[Difference]:
        """The second less the first, of each pair of groups: the last and the first of an order, else every two."""
        count = len(self.groups)
        for first, second in [(0, count - 1)] if self.ordered else combinations(range(count), 2):
            comparison = self.estimate([first, second], [-1.0, 1.0])
            value = comparison.other_words.value
            changes = (self.leanings[second].mean(axis=0) - self.leanings[first].mean(axis=0)) * self.signs
            yield compared(
                Difference, comparison, question=self.question.name, first=self.groups[first].name,
                second=self.groups[second].name,
                words_with=None if not value else float((np.sign(changes) == np.sign(value)).mean()),
            )  # fmt: skip

    def trends(self) -> Iterator[Trend]:
        """The slope over the positions of an order; two groups have a difference only."""
        if not self.ordered or len(self.groups) < 3:
            return
        comparison = self.estimate(range(len(self.groups)), slope_weights(self.positions).tolist())
        means = [row.value or 0.0 for row in self.contrasts()]
        scatter = slope_over_groups(self.positions, means, level=self.level)
        labels = {"question": self.question.name, "other_texts": estimate_alone(scatter), "p_other_texts": scatter.p}
        yield compared(Trend, comparison, **labels)

    def line(self, trend: Trend) -> Iterator[LinePoint]:
        """The line of the trend through the mean of the groups, with the interval of its slope: ends and middle."""
        count, middle = len(self.positions), float(np.mean(self.positions))
        height = self.estimate(range(count), [1 / count] * count).other_words.value or 0.0
        for position in (self.positions[0], middle, self.positions[-1]):
            slopes = (trend.value, trend.low, trend.high)
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
            first, last = self.leanings[0][:, index], self.leanings[-1][:, index]
            change = welch(first, last, (ends[0].resampled, ends[1].resampled), self.level)
            labels = {"question": self.question.name, "word": word, "set": sets[int(group)]}
            means = {"first": float(first.mean()), "last": float(last.mean())}
            rows.append(WordChange.of_estimate(change, **labels, **means))
        return sorted(rows, key=lambda row: -abs(row.value or 0.0))


def _adjusted(rows: Sequence[Any]) -> tuple[Any, ...]:
    adjusted = holm([row.p for row in rows])
    return tuple(replace(row, p_adjusted=p) for row, p in zip(rows, adjusted, strict=True))


def _questions(
    test: LexiconLike | Sequence[LexiconLike] | None, sets: Mapping[str, WordsLike | None], measure: Measure
) -> list[Query]:
    stated = [role for role, words in sets.items() if words is not None]
    if test is not None and stated:
        raise ParameterError(f"A comparison takes either lexicons or sets. Got {test!r} and {', '.join(stated)}.")
    if test is None:
        missing = [role for role in sets if role not in stated]
        if missing:
            raise ParameterError(
                "A comparison needs a lexicon that asks a question, such as 'weat7', or the sets x, y, a and b. "
                f"Missing: {', '.join(missing)}."
            )
        lexicons: list[Lexicon] = [_test_from_sets({role: words for role, words in sets.items() if words is not None})]
    else:
        references = [test] if isinstance(test, str | PathLike | Lexicon) else list(test)
        lexicons = [lexicon(reference) for reference in references]
    languages = list(dict.fromkeys(lexicon.language for lexicon in lexicons))
    if len(languages) > 1:
        raise ParameterError(
            f"Groups are compared in one language. Got lexicons in {' and '.join(languages)}; compare them one by one."
        )
    questions = list(queries_from_lexicons(lexicons))
    if not questions:
        silent = [f"{lexicon.name!r}: {why}" for lexicon, why in lexicons_without_query(lexicons)]
        raise ParameterError(f"No lexicon asks a question ({'; '.join(silent) or 'none was given'}).")
    if measure == "effect_size" and any(question.kind != "test" for question in questions):
        raise ParameterError(
            "An effect size is defined for association tests (sets X, Y, A, B) only; use measure='contrast'."
        )
    names = [question.name for question in questions]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ParameterError(f"The lexicon {twice!r} is given twice.")
    return questions


def _test_from_sets(sets: Mapping[str, WordsLike]) -> AssociationTest:
    named = {role: words_of(words) for role, words in sets.items()}
    plain = {words.name for words in named.values() if [group.name for group in named.values()].count(words.name) > 1}
    x, y, a, b = (
        WordSet(role.upper(), named[role].words) if named[role].name in plain else named[role] for role in "xyab"
    )
    for first, second, role_names in ((x, y, "target sets, X and Y"), (a, b, "attribute sets, A and B")):
        if both := sorted(set(first.words) & set(second.words)):
            raise ParameterError(
                f"The word {both[0]!r} is in both {role_names}, which a test of their difference cannot have; remove "
                "it from one."
            )
    return AssociationTest(name="given words", title="given words", x=x, y=y, a=a, b=b)


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
