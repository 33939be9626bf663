"""`lpbs`: log probability bias score of words in templates (Kurita, Vyas, Pareek, Black & Tsvetkov 2019).

How much more does a word make a masked model expect "he" than "she", beyond what the model expects without the word?
log [P(he | word) / P(he | word hidden)] − the same for she, read where the person stands.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasgauge.analyses.likelihood.benchmark_scores import models_of
from biasgauge.analyses.likelihood.models import LanguageModel, ModelLike, Query, language_model
from biasgauge.analyses.likelihood.template_reading import Filled, fill_template
from biasgauge.core import Floats, JsonMapping, Record, check_level
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, estimate_text, level_text
from biasgauge.stats import Contrast, contrast_estimate

if TYPE_CHECKING:
    import pandas as pd

PERSON, WORD = "[person]", "[word]"


@dataclass(frozen=True)
class LpbsScore(Record):
    """One word in one template for one pair of persons; None where undefined, with the reason."""

    word: str
    template: str
    first: str
    second: str
    model: str
    value: float | None
    reason: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class LpbsResult(Result):
    """Log probability bias scores, and their mean with an interval over words, templates (with pairs) and models.

    Attributes:
        mean: over all; above 0 leans to the first person of the pairs.
        scores: one row per word, template, pair and model.
        models: names of what was scored.
        settings: everything that decides the result.
        warnings: what to know before trusting a number.
    """

    tables: ClassVar[tuple[str, ...]] = ("scores",)

    mean: Contrast
    scores: tuple[LpbsScore, ...]
    models: tuple[str, ...]
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    def by_word(self) -> pd.DataFrame:
        """One row per word: its mean score, how many scores that rests on, and the share of them above 0."""
        frame = self.to_frame().dropna(subset=["value"])
        grouped = frame.groupby("word", sort=False)["value"]
        share = grouped.apply(lambda values: float((values > 0).mean()))
        return grouped.agg(["mean", "count"]).assign(share_first=share).reset_index()

    def summary(self) -> Summary:
        """The mean, and every word's."""
        level = level_text(self.mean.level)
        rows = [tuple(row) for row in self.by_word().itertuples(index=False)]
        heads = ["word", Column("mean score", "number", 3), Column("scores", "count"), Column("above 0", "share")]
        return Summary(
            title=f"Log probability bias scores: {', '.join(self.models)}",
            headline=f"The mean score is {estimate_text(self.mean, 3)} ({level}, over {self.mean.over or 'nothing'}); "
            "above 0 leans to the first person of the pairs.",
            tables=(Table.of("words", "By word", heads, rows, most=20),),
            warnings=self.warnings,
        )


def lpbs(
    model: ModelLike | Sequence[ModelLike],
    templates: Sequence[str],
    words: Iterable[str],
    persons: Sequence[tuple[str, str]] = (("he", "she"),),
    *,
    as_published: bool = False,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> LpbsResult:
    """Log probability bias score of words in templates, by a masked model.

    Words and persons of several pieces are hidden whole, one mask a piece, and predicted piece by piece from left to
    right. `as_published` does what the released code does: the prior is read at the mask of the word, one place too far
    left, and of several pieces the first alone counts.

    Args:
        model: a masked language model; several for replicates.
        templates: sentences with [person] and [word], each once, such as "[person] is a [word]."
        words: what is put in the place of [word].
        persons: pairs of words for [person]; a positive score leans to the first.
        as_published: with the faults of the released code.
        level: nominal coverage of the interval.
        progress: called with (done, total).

    Raises:
        ParameterError: a template, the words or the persons cannot be used, or the model is not a masked one.
    """
    check_level(level)
    asked = _checked(templates, words, persons)
    tables, names, scores = [], [], []
    sources = models_of(model)
    for count, source in enumerate(sources):
        language = language_model(source, "masked")
        table = np.full((len(asked.words), len(asked.cells)), np.nan)
        for column, (template, pair) in enumerate(asked.cells):
            table[:, column] = _scores(language, template, asked.words, pair, as_published=as_published)
            if progress is not None:
                progress(count * len(asked.cells) + column + 1, len(sources) * len(asked.cells))
        tables.append(table)
        names.append(language.name)
        scores += [
            LpbsScore(word, template, *pair, language.name, _plain(table[row, column]), _reason(table[row, column]))
            for row, word in enumerate(asked.words)
            for column, (template, pair) in enumerate(asked.cells)
        ]
    stack = np.stack(tables)
    whole = np.isfinite(stack).all(axis=(0, 2))
    settings = {"templates": list(asked.templates), "persons": [list(pair) for pair in asked.persons]}
    settings |= {"as_published": as_published, "level": level}
    warnings = []
    if not whole.all():
        warnings.append(f"{int((~whole).sum())} words do not fit the model's window in some template and are left out.")
    mean = _mean(stack[:, whole], level)
    return LpbsResult(mean, tuple(scores), tuple(names), settings, tuple(warnings))


@dataclass(frozen=True)
class _Asked:
    templates: tuple[str, ...]
    words: tuple[str, ...]
    persons: tuple[tuple[str, str], ...]

    @property
    def cells(self) -> list[tuple[str, tuple[str, str]]]:
        return [(template, pair) for template in self.templates for pair in self.persons]


def _checked(templates: Sequence[str], words: Iterable[str], persons: Sequence[tuple[str, str]]) -> _Asked:
    if isinstance(templates, str | os.PathLike):
        raise ParameterError("The 'templates' parameter must be a list of sentences.")
    for template in templates:
        if not isinstance(template, str) or template.count(PERSON) != 1 or template.count(WORD) != 1:
            raise ParameterError(f"A template must hold {PERSON} and {WORD}, each once. Got {template!r}.")
    listed = tuple(dict.fromkeys([words] if isinstance(words, str) else words))
    pairs = tuple((str(first), str(second)) for first, second in persons)
    if not templates or not listed or not pairs:
        raise ParameterError("There must be at least one template, one word and one pair of persons.")
    return _Asked(tuple(dict.fromkeys(templates)), listed, pairs)


def _scores(
    model: LanguageModel, template: str, words: Sequence[str], pair: tuple[str, str], *, as_published: bool
) -> Floats:
    """One number a word; NaN where the sentence is too long."""
    queries: list[Query] = []
    spans: list[tuple[int, list[int]] | None] = []
    for word in words:
        filled = [fill_template(model, template, person, word) for person in pair]
        if any(len(sentence.ids) > model.window for sentence in filled):
            spans.append(None)
            continue
        counts = []
        start = len(queries)
        for sentence in filled:
            for prior in (False, True):
                own = _released(model, sentence, prior=prior) if as_published else _whole(model, sentence, prior=prior)
                queries += own
                counts.append(len(own))
        spans.append((start, counts))
    answers = model.log_probabilities(queries)
    values = np.full(len(words), np.nan)
    for place, span in enumerate(spans):
        if span is None:
            continue
        start, counts = span
        ends = np.cumsum([start, *counts])
        sums = [sum(float(answers[at][0]) for at in range(ends[part], ends[part + 1])) for part in range(4)]
        values[place] = (sums[0] - sums[1]) - (sums[2] - sums[3])
    return values


def _whole(model: LanguageModel, sentence: Filled, *, prior: bool) -> list[Query]:
    """The person's pieces from left to right, later ones hidden; the word hidden too for the prior."""
    queries = []
    for at, place in enumerate(sentence.person):
        ids = sentence.ids.copy()
        ids[sentence.person[at:]] = model.mask
        if prior:
            ids[sentence.word] = model.mask
        queries.append(Query(ids, np.array([place]), sentence.ids[[place]]))
    return queries


def _released(model: LanguageModel, sentence: Filled, *, prior: bool) -> list[Query]:
    """One mask for the person whatever its pieces, its first piece as target; the prior where the code reads it."""
    kept = np.ones(len(sentence.ids), bool)
    kept[sentence.person[1:]] = False
    ids = sentence.ids.copy()
    ids[sentence.person[0]] = model.mask
    place = int(sentence.person[0])
    if prior:
        kept[sentence.word[1:]] = False
        ids[sentence.word[0]] = model.mask
        masks = np.flatnonzero(ids[kept] == model.mask)
        # The last mask is the word's where the person comes first, and its index was counted without [CLS].
        place_kept = int(masks[-1] if sentence.person[0] < sentence.word[0] else masks[0]) - 1
        if sentence.person[0] >= sentence.word[0]:
            place_kept += 1
    else:
        place_kept = int(kept[:place].sum())
    return [Query(ids[kept], np.array([place_kept]), sentence.ids[[place]])]


def _mean(stack: Floats, level: float) -> Contrast:
    """Over words × (templates × pairs), and models."""
    if stack.shape[1] == 0:
        return Contrast(value=None, level=level, reason="no word has a score in every template")
    rows, columns = np.zeros(stack.shape[1], int), np.zeros(stack.shape[2], int)
    return contrast_estimate(stack, rows, columns, ((1.0,),), level=level)


def _plain(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _reason(value: float) -> str | None:
    return "the sentence is longer than the model's window" if np.isnan(value) else None
