"""`criterion`: do scores of words follow something that is known about these words?"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from biasgauge import registry
from biasgauge.analyses.criterion.result import Criterion, CriterionRow
from biasgauge.analyses.criterion.scores import WordNumbers, numbers_of
from biasgauge.core import Estimate, Floats, PairsLike, WordsLike, check_choice, check_number, check_whole
from biasgauge.errors import ParameterError
from biasgauge.lexicons import DEFAULT_LANGUAGE, AssociationTest, Lexicon, Values, language_of, lexicon, words_of
from biasgauge.results import measure_name
from biasgauge.stats import Resampling, auc_estimate, bootstrap_correlation, correlation_estimate, disattenuated

End = Literal["first", "second"]
SHORT_NAMES = {"winobias": "occupations_percent_female", "winogender": "winogender_bls"}
"""Lexicons by the name of their data set."""


@dataclass(frozen=True)
class Truth:
    """What is known: a number for each word, or two lists.

    Attributes:
        name: of it.
        unit: of the numbers; empty for lists.
        values: a number for each word; of two lists 1 for the first and 0 for the second.
        language: of the words, as their lexicon states it.
    """

    name: str
    unit: str
    values: Mapping[str, float]
    language: str = DEFAULT_LANGUAGE

    def pairs(self, given: PairsLike | None) -> PairsLike:
        """The base pairs to score with: those given, else those of the language."""
        return language_of(self.language).own_pairs() if given is None else given


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
    case_fallback: bool = False,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Criterion:
    """Correlate scores of words with something known about them, such as the share of women in occupations.

    Args:
        scores: vectors (a model or replicates), a score tensor, a `CorpusBias`, a mapping from word to score, or a data
            frame with columns `word`, `score` and perhaps `model`. Positive scores lean to the first end.
        truth: a lexicon of kind "values" ("bls2015", "winobias", "winogender", your own file), a mapping from word to
            number, or a data frame with columns `word` and `value`; or a lexicon of kind "test", whose targets X and Y
            are two lists.
        first: words known to belong to the first end, such as male names; with `second`, in the place of `truth`.
        second: words known to belong to the second end.
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
        case_fallback: look words up in lower case, then capitalized.
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
    how = Resampling("bca", level, resamples, random_state)
    known = truth_of(truth, first, second)
    sign = 1.0 if end == "first" or not known.unit else -1.0
    numbers = numbers_of(
        scores, list(known.values), pairs=known.pairs(pairs), measures=list(measures), k=k, case_fallback=case_fallback,
        min_contexts=min_contexts, progress=progress,
    )  # fmt: skip
    rows, points, lost = [], [], dict.fromkeys(known.values)
    for own in numbers:
        scored = {word for word, value in zip(own.words, own.values, strict=True) if np.isfinite(value)}
        usable = own.only([word for word in known.values if word in scored])
        for word in usable.words:
            lost.pop(word, None)
        target = np.array([known.values[word] for word in usable.words], np.float64)
        rows.append(_row(usable, target, known, sign, how, reliability))
        points += [
            {"word": word, "measure": own.measure, "truth": float(value), "score": float(sign * number)}
            for word, value, number in zip(usable.words, target, usable.values, strict=True)
        ]
    return Criterion(
        rows=tuple(rows),
        truth=known.name,
        unit=known.unit,
        points=tuple(points),
        lost=tuple(lost),
        settings={
            "truth": known.name, "end": end, "reliability": reliability, "min_contexts": min_contexts,
            "level": level, "resamples": resamples,
            "case_fallback": case_fallback, "random_state": random_state,
        },
        warnings=_warnings(rows, known),
    )  # fmt: skip


def _row(
    numbers: WordNumbers, truth: Floats, known: Truth, sign: float, how: Resampling, given: float | None
) -> CriterionRow:
    words = len(truth)
    if not known.unit:
        groups = numbers.values[truth == 1], numbers.values[truth == 0]
        auc = auc_estimate(*groups, level=how.level)
        return CriterionRow(numbers.measure, None, None, None, None, auc, words)
    values = sign * numbers.values
    pearson, spearman = (
        correlation_estimate(values, truth, kind=kind, level=how.level, over="words") for kind in _KINDS
    )
    reliable, over = numbers.reliability, numbers.over or ("documents" if numbers.errors is not None else "")
    estimate: Estimate | None = None
    corrected: Estimate | None = None
    if given is not None:
        known_share = given
        reliable, over = (lambda weights: np.full(len(weights), known_share)), "given"
        estimate = Estimate(value=given, level=how.level, n=words)
    if reliable is not None and words:
        corrected = disattenuated(values, truth, reliable, how)
        estimate = estimate or _reliability(reliable, words, how)
    return CriterionRow(numbers.measure, pearson, spearman, estimate, corrected, None, words, over)


_KINDS: tuple[Literal["pearson"], Literal["spearman"]] = ("pearson", "spearman")


def _reliability(reliable: Callable[[Floats], Floats], words: int, how: Resampling) -> Estimate:
    value = float(reliable(np.ones((1, words)))[0])
    if not np.isfinite(value):
        return Estimate(value=None, level=how.level, method=how.method, n=words, reason="the scores do not vary")
    return bootstrap_correlation(reliable, value, np.arange(words), how, "words")


def truth_of(
    truth: Any = "bls2015",  # noqa: ANN401 - as in criterion
    first: WordsLike | None = None,
    second: WordsLike | None = None,
) -> Truth:
    """What is known about words, as `criterion` takes it: with the pairs that go with them."""
    if (first is None) != (second is None):
        raise ParameterError("Give both lists, 'first' and 'second', or a 'truth'.")
    if first is not None and second is not None:
        lists = words_of(first), words_of(second)
        name = " against ".join(words.name for words in lists)
        return _of_lists(name, lists[0].words, lists[1].words, _language(first))
    if isinstance(truth, Mapping):
        return Truth("given numbers", "given numbers", {str(word): float(value) for word, value in truth.items()})
    if hasattr(truth, "columns"):
        missing = {"word", "value"} - set(truth.columns)
        if missing:
            raise ParameterError(f"A frame of truths needs the columns 'word' and 'value'. It lacks {min(missing)!r}.")
        named = dict(zip(map(str, truth["word"]), truth["value"].astype(float), strict=True))
        return Truth("given numbers", "given numbers", named)
    known = lexicon(SHORT_NAMES.get(truth, truth) if isinstance(truth, str) else truth)
    if isinstance(known, Values):
        return Truth(known.name, known.unit, known.values, known.language)
    if isinstance(known, AssociationTest):
        name = f"{known.name}: {known.x.name} against {known.y.name}"
        return _of_lists(name, known.x.words, known.y.words, known.language)
    raise ParameterError(
        f"The 'truth' must be a lexicon of kind 'values' or 'test'. {known.name!r} is of kind {known.kind!r}."
    )


def _language(words: WordsLike) -> str:
    """The language of a list: that of its lexicon, where it is one."""
    if isinstance(words, Lexicon):
        return words.language
    source = os.fspath(words).partition(":")[0] if isinstance(words, str | os.PathLike) else ""
    return lexicon(source).language if source in registry.names("lexicon") else DEFAULT_LANGUAGE


def _of_lists(name: str, first: Sequence[str], second: Sequence[str], language: str) -> Truth:
    both = set(first) & set(second)
    values = {word: 1.0 for word in first if word not in both} | {word: 0.0 for word in second if word not in both}
    if not values:
        raise ParameterError("The lists 'first' and 'second' hold the same words.")
    return Truth(name, "", values, language)


def _warnings(rows: Sequence[CriterionRow], known: Truth) -> tuple[str, ...]:
    told = []
    for row in rows:
        if row.words < len(known.values) / 2:
            told.append(f"{measure_name(row.measure)}: {row.words} of the {len(known.values)} words have a score")
        value = row.disattenuated.value if row.disattenuated is not None else None
        if value is not None and abs(value) > 1:
            why = "the disattenuated r lies beyond 1: the reliability is understated, or by chance"
            told.append(f"{measure_name(row.measure)}: {why}")
    return tuple(told)
