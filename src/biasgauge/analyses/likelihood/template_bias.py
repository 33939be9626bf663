"""`lpbs`: log probability bias score of words in templates (Kurita, Vyas, Pareek, Black & Tsvetkov 2019).

How much more does a word make a masked model expect "he" than "she", beyond what the model expects without the word?
log [P(he | word) / P(he | word hidden)] − the same for she, read where the person stands.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from biasgauge.analyses.likelihood.models import LanguageModel, ModelLike, TokenQuery, language_model
from biasgauge.analyses.likelihood.scoring import models_of
from biasgauge.core import Floats, Integers, JsonMapping, Record, check_level
from biasgauge.errors import ParameterError
from biasgauge.results import Column, RecordTable, Result, estimate_text, level_text
from biasgauge.stats import Contrast, contrast_estimate

if TYPE_CHECKING:
    import pandas as pd

PERSON, WORD = "[person]", "[word]"
TOO_LONG = "the sentence is longer than the model's window"
_COLUMNS = (
    "word",
    Column("mean score", "number", 3, source="mean"),
    Column("scores", "count", source="count"),
    Column("above 0", "share", source="share_first"),
)


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
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("_words", "By word", _COLUMNS, most=20, name="words"),
    )

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

    @property
    def _words(self) -> tuple[Any, ...]:
        return tuple(self.by_word().itertuples(index=False))

    def _title(self) -> str:
        return f"Log probability bias scores: {', '.join(self.models)}"

    def _headline(self) -> str:
        interval = f"{level_text(self.mean.level)}, over {self.mean.over or 'nothing'}"
        mean = estimate_text(self.mean, 3)
        return f"The mean score is {mean} ({interval}); above 0 leans to the first person of the pairs."


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
    sentences, listed, pairs = _check_question(templates, words, persons)
    cells = [(template, pair) for template in sentences for pair in pairs]
    sources = models_of(model)
    stack, names, scores = np.full((len(sources), len(listed), len(cells)), np.nan), [], []
    for number, source in enumerate(sources):
        language = language_model(source, "masked")
        names.append(language.name)
        for column, (template, pair) in enumerate(cells):
            stack[number, :, column] = _scores(language, template, listed, pair, as_published=as_published)
            if progress is not None:
                progress(number * len(cells) + column + 1, len(sources) * len(cells))
        for word, values in zip(listed, stack[number].tolist(), strict=True):
            for (template, pair), value in zip(cells, values, strict=True):
                outcome = (None, TOO_LONG) if np.isnan(value) else (value, None)
                scores.append(LpbsScore(word, template, *pair, language.name, *outcome))
    complete = np.isfinite(stack).all(axis=(0, 2))
    settings = {"templates": list(sentences), "persons": [list(pair) for pair in pairs]}
    settings |= {"as_published": as_published, "level": level}
    lost = f"{int((~complete).sum())} words do not fit the model's window in some template and are left out."
    mean = _mean(stack[:, complete], level)
    return LpbsResult(mean, tuple(scores), tuple(names), settings, () if complete.all() else (lost,))


def _check_question(
    templates: Sequence[str], words: Iterable[str], persons: Sequence[tuple[str, str]]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Templates and words, each once, and the pairs of persons."""
    if isinstance(templates, str | os.PathLike):
        raise ParameterError("The 'templates' parameter must be a list of sentences.")
    for template in templates:
        if not isinstance(template, str) or template.count(PERSON) != 1 or template.count(WORD) != 1:
            raise ParameterError(f"A template must hold {PERSON} and {WORD}, each once. Got {template!r}.")
    listed = tuple(dict.fromkeys([words] if isinstance(words, str) else words))
    pairs = tuple((str(first), str(second)) for first, second in persons)
    if not templates or not listed or not pairs:
        raise ParameterError("There must be at least one template, one word and one pair of persons.")
    return tuple(dict.fromkeys(templates)), listed, pairs


def _scores(
    model: LanguageModel, template: str, words: Sequence[str], pair: tuple[str, str], *, as_published: bool
) -> Floats:
    """One number per word; NaN where the sentence is too long."""
    build = _released_queries if as_published else _piece_queries
    queries: list[TokenQuery] = []
    bounds: dict[int, list[int]] = {}
    for row, word in enumerate(words):
        filled = [fill_template(model, template, person, word) for person in pair]
        if all(len(sentence.ids) <= model.window for sentence in filled):
            bounds[row] = [len(queries)]
            for sentence in filled:
                for prior in (False, True):
                    queries += build(model, sentence, prior=prior)
                    bounds[row].append(len(queries))
    answers = model.log_probabilities(queries)
    values = np.full(len(words), np.nan)
    for row, ends in bounds.items():
        # log P(person | word) and log P(person | word hidden), of the first person and of the second
        sums = [sum(float(answer[0]) for answer in answers[low:high]) for low, high in pairwise(ends)]
        values[row] = (sums[0] - sums[1]) - (sums[2] - sums[3])
    return values


def _piece_queries(model: LanguageModel, sentence: FilledTemplate, *, prior: bool) -> list[TokenQuery]:
    """The person's pieces from left to right, later ones hidden; the word hidden too for the prior."""
    queries = []
    for piece, position in enumerate(sentence.person):
        ids = sentence.ids.copy()
        ids[sentence.person[piece:]] = model.mask
        if prior:
            ids[sentence.word] = model.mask
        queries.append(TokenQuery(ids, np.array([position]), sentence.ids[[position]]))
    return queries


def _released_queries(model: LanguageModel, sentence: FilledTemplate, *, prior: bool) -> list[TokenQuery]:
    """One mask for the person whatever its pieces, its first piece as target; the prior where the code reads it."""
    remaining = np.ones(len(sentence.ids), bool)
    remaining[sentence.person[1:]] = False
    ids = sentence.ids.copy()
    ids[sentence.person[0]] = model.mask
    position = int(sentence.person[0])
    if prior:
        remaining[sentence.word[1:]] = False
        ids[sentence.word[0]] = model.mask
        masks = np.flatnonzero(ids[remaining] == model.mask)
        # The last mask is the word's where the person comes first, and its index was counted without [CLS].
        read_at = int(masks[-1] if sentence.person[0] < sentence.word[0] else masks[0]) - 1
        if sentence.person[0] >= sentence.word[0]:
            read_at += 1
    else:
        read_at = int(remaining[:position].sum())
    return [TokenQuery(ids[remaining], np.array([read_at]), sentence.ids[[position]])]


def _mean(stack: Floats, level: float) -> Contrast:
    """Over words × (templates × pairs), and models."""
    if stack.shape[1] == 0:
        return Contrast(value=None, level=level, reason="no word has a score in every template")
    rows, columns = np.zeros(stack.shape[1], int), np.zeros(stack.shape[2], int)
    return contrast_estimate(stack, rows, columns, ((1.0,),), level=level)


class FilledTemplate(NamedTuple):
    """Tokens of a sentence, with the positions of the person and of the word."""

    ids: Integers
    person: Integers
    word: Integers


def fill_template(model: LanguageModel, template: str, person: str, word: str) -> FilledTemplate:
    """The sentence as the model reads it; a person at its beginning is capitalized."""
    spans, sentence, remainder = {}, "", template
    for slot, text in sorted(((PERSON, person), (WORD, word)), key=lambda filled: template.index(filled[0])):
        before, _, remainder = remainder.partition(slot)
        sentence += before
        start = len(sentence)
        sentence += text if sentence.strip() else text[:1].upper() + text[1:]
        spans[slot] = start, len(sentence)
    sentence += remainder
    encoded = model.loaded.tokenizer(
        sentence, return_offsets_mapping=True, return_special_tokens_mask=True, truncation=False, verbose=False
    )
    offsets = np.array(encoded["offset_mapping"], np.int64)
    special = np.asarray(encoded["special_tokens_mask"], bool)
    positions = {}
    for slot, (start, end) in spans.items():
        inside = ~special & (offsets[:, 1] > start) & (offsets[:, 0] < end) & (offsets[:, 1] > offsets[:, 0])
        positions[slot] = np.flatnonzero(inside)
        if not len(positions[slot]):
            raise ParameterError(f"The tokenizer of {model.name} makes nothing of {sentence[start:end]!r}.")
    return FilledTemplate(np.asarray(encoded["input_ids"], np.int64), positions[PERSON], positions[WORD])
