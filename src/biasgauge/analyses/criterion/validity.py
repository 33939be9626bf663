"""`criterion`: validity of word scores against an external criterion."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from biasgauge import registry
from biasgauge.analyses.criterion.amplification_slope import ScoredWords, points_chart, word_scores
from biasgauge.core import (
    EXACT_POLICY,
    Estimate,
    Floats,
    IntervalsBeside,
    JsonMapping,
    PairsLike,
    WordPolicy,
    WordsLike,
    check_choice,
    check_number,
    check_whole,
)
from biasgauge.errors import ParameterError
from biasgauge.lexicons import DEFAULT_LANGUAGE, AssociationTest, Lexicon, Values, language_of, lexicon, words_of
from biasgauge.results import (
    Chart,
    Column,
    Result,
    Summary,
    Table,
    counted,
    estimate_text,
    measure_name,
    number_text,
)
from biasgauge.stats import Resampling, auc_estimate, bootstrap_correlation, correlation_estimate, disattenuated

End = Literal["first", "second"]
SHORT_NAMES = {"winobias": "occupations_percent_female", "winogender": "winogender_bls"}
"""Lexicons by the name of their data set."""


@dataclass(frozen=True)
class CriterionRow(IntervalsBeside):
    """Agreement of one measure with the criterion.

    Attributes:
        measure: the measure of the scores.
        pearson: correlation with the criterion, signed so that positive agrees with it.
        spearman: the same of ranks.
        reliability: of the scores of these words: over repeated models, over pairs, or from known errors.
        disattenuated: Pearson's r divided by the root of the reliability: the correlation of scores without error. Its
            interval carries the error of both.
        auc: for two lists, the probability that a word of the first leans more to the first end than one of the second.
        words: number of words.
        reliability_over: facet of the reliability: "models", "pairs" or "documents".
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("pearson", "spearman", "reliability", "disattenuated", "auc")

    measure: str
    pearson: Estimate | None
    spearman: Estimate | None
    reliability: Estimate | None
    disattenuated: Estimate | None
    auc: Estimate | None
    words: int
    reliability_over: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Criterion(Result):
    """Criterion validity: scores of words against an external criterion.

    Attributes:
        rows: one per measure.
        truth: name of the criterion.
        unit: of its values; empty for two lists.
        points: word, criterion and score by measure, for the words that have both.
        lost: words of the criterion without a score.
        settings: everything that decides the result.
        warnings: limitations of the comparison.
    """

    tables: ClassVar[tuple[str, ...]] = ("rows",)

    rows: tuple[CriterionRow, ...]
    truth: str
    unit: str
    points: tuple[Mapping[str, Any], ...]
    lost: tuple[str, ...]
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    def summary(self) -> Summary:
        """Correlation, raw and disattenuated, of each measure."""
        names = {"auc": "AUC"}
        if self.unit:
            names = {"pearson": "Pearson r", "spearman": "Spearman", "reliability": "reliability"}
            names["disattenuated"] = "disattenuated r"
        columns = [Column("measure", "name"), *(Column(name, "estimate") for name in names.values())]
        rows = [(row.measure, *(getattr(row, field) for field in names), row.words) for row in self.rows]
        best = max(self.rows, key=lambda row: self._coefficient(row).value or 0.0)
        coefficient = self._coefficient(best)
        text = f"undefined: {coefficient.reason}"
        if coefficient.value is not None:
            interval = " no interval" if coefficient.low is None else ""
            text = f"{'r' if self.unit else 'AUC'} = {estimate_text(coefficient)}{interval}"
        listed = ", ".join(self.lost[:12]) + (", …" if len(self.lost) > 12 else ".")
        lost = f"{len(self.lost)} words of the list have no score: {listed}"
        return Summary(
            title=f"Criterion validity against {self.truth}" + (f" ({self.unit})" if self.unit else ""),
            headline=f"{measure_name(best.measure)}: {text} over {counted(best.words, 'word')}",
            sentences=(self._interpretation(), *((lost,) if self.lost else ())),
            tables=(Table.of("criterion", "", [*columns, Column("words", "count")], rows),),
            charts=() if not self.unit or best.words < 3 else (self._chart(best),),
            warnings=self.warnings,
        )

    def _coefficient(self, row: CriterionRow) -> Estimate:
        return (row.pearson if self.unit else row.auc) or Estimate(value=None, reason="nothing was compared")

    def _interpretation(self) -> str:
        if not self.unit:
            return "AUC: the chance that a word of the first list leans more to the first end; .5 is chance."
        over = next((row.reliability_over for row in self.rows if row.reliability_over), "")
        corrected = (
            f" Disattenuated: divided by the root of the scores' reliability over {over}; its interval carries the "
            "error of both."
        )
        return f"Positive: scores agree with {self.unit}; 0: they are unrelated to it.{corrected if over else ''}"

    def _chart(self, row: CriterionRow) -> Chart:
        title = f"{measure_name(row.measure)} against {self.unit}"
        if row.pearson is not None and row.pearson.value is not None:
            title += f": r = {number_text(row.pearson.value)}"
        points = [point for point in self.points if point["measure"] == row.measure]
        axes = (self.unit, f"{measure_name(row.measure)}, toward that end")
        remark = "Each dot is a word; the line is least squares."
        return points_chart("criterion", title, remark, points, "truth", axes)


@dataclass(frozen=True)
class CriterionValues:
    """External criterion: a number for each word, or two lists.

    Attributes:
        name: of the criterion.
        unit: of the numbers; empty for lists.
        values: a number for each word; of two lists 1 for the first and 0 for the second.
        language: of the words, as their lexicon states it.
    """

    name: str
    unit: str
    values: Mapping[str, float]
    language: str = DEFAULT_LANGUAGE

    def pairs(self, pairs: PairsLike | None) -> PairsLike:
        """Base pairs to score with: by default those of the language."""
        return language_of(self.language).own_pairs() if pairs is None else pairs


def criterion(  # noqa: PLR0913 - settings are keyword arguments
    scores: Any,  # noqa: ANN401 - vectors, a ScoreTensor, a CorpusBias, a frame or a mapping
    truth: Any = "bls2015",  # noqa: ANN401 - a lexicon, a frame or a mapping
    *,
    first: WordsLike | None = None,
    second: WordsLike | None = None,
    end: End = "second",
    pairs: PairsLike | None = None,
    measures: Sequence[str] = ("dbwa", "ripa", "nbm"),
    k: int = 100,
    reliability: float | None = None,
    min_contexts: int = 10,
    level: float = 0.95,
    resamples: int = 2_000,
    policy: WordPolicy = EXACT_POLICY,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Criterion:
    """Correlate scores of words with an external criterion, such as the share of women in occupations.

    Pearson's r of score and criterion over words, range [−1, 1], 0: unrelated; disattenuated, r / √reliability of the
    scores (Spearman 1904). Of two lists, AUC = P(score of a first word > score of a second) + ½ P(equal); .5: chance.

    Args:
        scores: vectors (a model or replicates), a score tensor, a `CorpusBias`, a mapping from word to score, or a data
            frame with columns `word`, `score` and perhaps `model`. Positive scores lean to the first end.
        truth: a lexicon of kind "values" ("bls2015", "winobias", "winogender", your own file), a mapping from word to
            number, or a data frame with columns `word` and `value`; or a lexicon of kind "test", whose targets X and Y
            are two lists.
        first: words that belong to the first end, such as male names; with `second`, in the place of `truth`.
        second: words that belong to the second end.
        end: which end large numbers of the truth belong to: "second" for the share of women, with pairs (male, female).
        pairs: base pairs that vectors are scored with; by default those of the language of the truth, where it is a
            lexicon (du2021 for English), else English ones.
        measures: measures that vectors are scored with.
        k: neighbors of a neighborhood measure.
        reliability: of the scores, taken as known; None: measured over replicates where there are several models, else
            over pairs; of a corpus bias from its standard errors.
        min_contexts: of a corpus bias, words with fewer contexts of both groups together are left out: their log odds
            are mostly error.
        level: nominal coverage of the intervals.
        resamples: draws of the words for the disattenuated correlation.
        policy: how words are looked up; by default as they are written.
        random_state: seed of the draws.
        progress: called with (done, total) while vectors are scored.

    Raises:
        ParameterError: an argument cannot be used.
        LexiconError: a lexicon is unknown.
    """
    check_choice(("first", "second"), end=end)
    check_whole(0, min_contexts=min_contexts)
    if reliability is not None:
        check_number(0, 1, reliability=reliability)
    resampling = Resampling("bca", level, resamples, random_state)
    values = criterion_values(truth, first, second)
    sign = 1.0 if end == "first" or not values.unit else -1.0
    scored = word_scores(
        scores, list(values.values), pairs=values.pairs(pairs), measures=list(measures), k=k,
        policy=policy, min_contexts=min_contexts, progress=progress,
    )  # fmt: skip
    rows, points, lost = [], [], dict.fromkeys(values.values)
    for measure_scores in scored:
        selected = measure_scores.select_finite(values.values)
        for word in selected.words:
            lost.pop(word, None)
        target = np.array([values.values[word] for word in selected.words], np.float64)
        rows.append(_row(selected, target, sign, resampling, reliability, correlate=bool(values.unit)))
        points += [
            {"word": word, "measure": selected.measure, "truth": float(value), "score": float(sign * number)}
            for word, value, number in zip(selected.words, target, selected.values, strict=True)
        ]
    return Criterion(
        rows=tuple(rows),
        truth=values.name,
        unit=values.unit,
        points=tuple(points),
        lost=tuple(lost),
        settings={
            "truth": values.name, "end": end, "reliability": reliability, "min_contexts": min_contexts, "level": level,
            "resamples": resamples, "case_fallback": policy.case == "fallback", "random_state": random_state,
        },
        warnings=tuple(_warnings(rows, values)),
    )  # fmt: skip


def _row(
    scores: ScoredWords, target: Floats, sign: float, resampling: Resampling, reliability: float | None,
    *, correlate: bool,
) -> CriterionRow:  # fmt: skip
    """Correlation of scores and criterion, or AUC of two lists; `reliability` is that of the scores, if known."""
    n, level = len(target), resampling.level
    if not correlate:
        auc = auc_estimate(scores.values[target == 1], scores.values[target == 0], level=level)
        return CriterionRow(scores.measure, None, None, None, None, auc, n)
    values = sign * scores.values
    pearson = correlation_estimate(values, target, kind="pearson", level=level, over="words")
    spearman = correlation_estimate(values, target, kind="spearman", level=level, over="words")
    reliability_of, over = scores.reliability, scores.over or ("documents" if scores.errors is not None else "")
    estimate: Estimate | None = None
    corrected: Estimate | None = None
    if reliability is not None:
        constant = reliability
        reliability_of, over = (lambda weights: np.full(len(weights), constant)), "given"
        estimate = Estimate(value=reliability, level=level, n=n)
    if reliability_of is not None and n:
        corrected = disattenuated(values, target, reliability_of, resampling)
        estimate = estimate or _estimate_reliability(reliability_of, n, resampling)
    return CriterionRow(scores.measure, pearson, spearman, estimate, corrected, None, n, over)


def _estimate_reliability(reliability: Callable[[Floats], Floats], words: int, resampling: Resampling) -> Estimate:
    value = float(reliability(np.ones((1, words)))[0])
    if not np.isfinite(value):
        reason = "the scores do not vary"
        return Estimate(value=None, level=resampling.level, method=resampling.method, n=words, reason=reason)
    return bootstrap_correlation(reliability, value, np.arange(words), resampling, "words")


def criterion_values(
    truth: Any = "bls2015",  # noqa: ANN401 - as in criterion
    first: WordsLike | None = None,
    second: WordsLike | None = None,
) -> CriterionValues:
    """Resolve the arguments `truth`, `first` and `second` of `criterion`.

    Raises:
        ParameterError: they cannot be used.
    """
    if (first is None) != (second is None):
        raise ParameterError("Give both lists, 'first' and 'second', or a 'truth'.")
    if first is not None and second is not None:
        lists = words_of(first), words_of(second)
        name = " against ".join(words.name for words in lists)
        return _two_lists(name, lists[0].words, lists[1].words, _language(first))
    if isinstance(truth, Mapping):
        numbers = {str(word): float(value) for word, value in truth.items()}
        return CriterionValues("given numbers", "given numbers", numbers)
    if hasattr(truth, "columns"):
        missing = {"word", "value"} - set(truth.columns)
        if missing:
            raise ParameterError(f"A frame of truths needs the columns 'word' and 'value'. It lacks {min(missing)!r}.")
        numbers = dict(zip(map(str, truth["word"]), truth["value"].astype(float), strict=True))
        return CriterionValues("given numbers", "given numbers", numbers)
    source = lexicon(SHORT_NAMES.get(truth, truth) if isinstance(truth, str) else truth)
    if isinstance(source, Values):
        return CriterionValues(source.name, source.unit, source.values, source.language)
    if isinstance(source, AssociationTest):
        name = f"{source.name}: {source.x.name} against {source.y.name}"
        return _two_lists(name, source.x.words, source.y.words, source.language)
    raise ParameterError(
        f"The 'truth' must be a lexicon of kind 'values' or 'test'. {source.name!r} is of kind {source.kind!r}."
    )


def _language(words: WordsLike) -> str:
    """Language of a list: that of its lexicon, where it is one."""
    if isinstance(words, Lexicon):
        return words.language
    source = os.fspath(words).partition(":")[0] if isinstance(words, str | os.PathLike) else ""
    return lexicon(source).language if registry.has("lexicon", source) else DEFAULT_LANGUAGE


def _two_lists(name: str, first: Sequence[str], second: Sequence[str], language: str) -> CriterionValues:
    shared = set(first) & set(second)
    values = {word: 1.0 for word in first if word not in shared} | {word: 0.0 for word in second if word not in shared}
    if not values:
        raise ParameterError("The lists 'first' and 'second' hold the same words.")
    return CriterionValues(name, "", values, language)


def _warnings(rows: Sequence[CriterionRow], criterion: CriterionValues) -> Iterator[str]:
    for row in rows:
        name = measure_name(row.measure)
        if row.words < len(criterion.values) / 2:
            yield f"{name}: {row.words} of the {len(criterion.values)} words have a score"
        value = row.disattenuated.value if row.disattenuated is not None else None
        if value is not None and abs(value) > 1:
            yield f"{name}: the disattenuated r lies beyond 1: the reliability is understated, or by chance"
