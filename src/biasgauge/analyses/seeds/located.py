"""Rows of the seeds of pairs of sets in each replicate, and seeds that are out of vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from biasgauge.analyses.seeds.word_pairs import SeedPair
from biasgauge.core import DEFAULT_POLICY, Places, WordPolicy
from biasgauge.vectors import ZERO, Coverage, Embedding, Lookup

_MOST_LOST = 0.5
"""A seed that more than this share of the models lack is lost; otherwise the models that lack it are left out."""


class Rows(NamedTuple):
    """Rows of a pair of sets in one model: of the distinct seeds, and of the pairs by position with both ends."""

    a: Places
    b: Places
    first: Places
    second: Places


class Listed(NamedTuple):
    """Rows of two lists in a model that has every word of both, duplicates kept."""

    a: Places
    b: Places


@dataclass(frozen=True, eq=False)
class Located:
    """A pair of sets, and where the models have it.

    Attributes:
        pair: the sets.
        a, b: the distinct seeds in use, as asked for.
        model_indexes: index of each model that has all seeds in use.
        rows: their rows in each of those models.
        full_lists: rows of both lists as they are, by the index of each model that lacks nothing at all of them.
        coverage: over all models: a seed is found when at least half of the models have it.
        models: how many models there are.
        reason: why nothing can be measured.
    """

    pair: SeedPair
    a: tuple[str, ...]
    b: tuple[str, ...]
    model_indexes: tuple[int, ...]
    rows: tuple[Rows, ...]
    full_lists: Mapping[int, Listed]
    coverage: Coverage
    models: int
    reason: str | None


def locate(
    pairs: Sequence[SeedPair], models: Sequence[Embedding], policy: WordPolicy = DEFAULT_POLICY
) -> list[Located]:
    """Look every seed up in every model."""
    every = dict.fromkeys(word for pair in pairs for word in (*pair.a_words, *pair.b_words))
    fallback = policy.uses_fallback(models)
    looked_up = [_rows(model, every, case_fallback=fallback) for model in models]
    return [_located(pair, models, looked_up, policy.min_coverage) for pair in pairs]


def _rows(model: Embedding, words: Iterable[str], *, case_fallback: bool) -> Lookup:
    """Rows of words with a direction; a compound is also looked up as written with "_", "-" or a space."""
    lookup = model.lookup(words, case_fallback=case_fallback)
    spellings = {
        word: [spelling for spelling in compound_spellings(word) if spelling in model.index] for word in lookup.lost
    }
    compounds = {word: candidates[0] for word, candidates in spellings.items() if candidates}
    if compounds:
        rows = [model.index[compound] for compound in compounds.values()]
        lookup = Lookup(
            (*lookup.words, *compounds),
            np.concatenate([lookup.rows, np.array(rows, np.intp)]),
            {word: why for word, why in lookup.lost.items() if word not in compounds},
            {**lookup.respelled, **compounds},
        )
    return lookup.only(np.asarray(model.vectors[lookup.rows].any(axis=1)), ZERO)


def compound_spellings(word: str) -> tuple[str, ...]:
    """Other spellings of a word of several parts: "white collar" as "white_collar" or "white-collar"."""
    for joint in " _-":
        parts = word.split(joint)
        if len(parts) > 1 and all(parts):
            return tuple(separator.join(parts) for separator in "_- " if separator != joint)
    return ()


def _located(pair: SeedPair, models: Sequence[Embedding], looked_up: Sequence[Lookup], min_coverage: float) -> Located:
    rows = [dict(zip(model.words, model.rows.tolist(), strict=True)) for model in looked_up]
    lists = {"a": pair.a_words, "b": pair.b_words}
    coverage = Coverage.of({end: _over_models(words, looked_up, rows) for end, words in lists.items()})
    a, b = (coverage.sets[end].words for end in lists)
    reason = coverage.shortfall(min_coverage) or None
    if min_coverage == 0 and not (a and b):
        reason = f"no seed of {'b' if a else 'a'} was found"
    indexes = tuple(index for index, row_of in enumerate(rows) if all(word in row_of for word in (*a, *b)))
    if reason is None and not indexes:
        reason = f"none of the {len(models)} models has all seeds"
    if reason is not None:
        indexes = ()
    if indexes:
        a, b = (_distinct(words, rows[indexes[0]]) for words in (a, b))
    pair_rows = tuple(_rows_in(pair, a, b, rows[index]) for index in indexes)
    full_lists = {
        index: Listed(*(np.array([row_of[word] for word in words], np.intp) for words in lists.values()))
        for index, row_of in enumerate(rows)
        if all(word in row_of for words in lists.values() for word in words)
    }
    return Located(pair, a, b, indexes, pair_rows, full_lists, coverage, len(models), reason)


def _over_models(words: Sequence[str], looked_up: Sequence[Lookup], rows: Sequence[Mapping[str, int]]) -> Lookup:
    """Words that at least half of the models have; a word that stands twice in a set counts once."""
    common: list[str] = []
    lost: dict[str, str] = {}
    respelled: dict[str, str] = {}
    for word in dict.fromkeys(words):
        missing = [model for model, row_of in zip(looked_up, rows, strict=True) if word not in row_of]
        if len(missing) > _MOST_LOST * len(rows):
            lost[word] = missing[0].lost[word]
        else:
            common.append(word)
            if spellings := [model.respelled[word] for model in looked_up if word in model.respelled]:
                respelled[word] = spellings[0]
    first = np.array([next((row_of[word] for row_of in rows if word in row_of), -1) for word in common], np.intp)
    return Lookup(tuple(common), first, lost, respelled)


def _rows_in(pair: SeedPair, a: Sequence[str], b: Sequence[str], row_of: Mapping[str, int]) -> Rows:
    used = {row_of[word] for word in a}, {row_of[word] for word in b}
    by_position = [
        (row_of.get(first), row_of.get(second)) for first, second in zip(pair.a_words, pair.b_words, strict=False)
    ]
    both = [ends for ends in by_position if ends[0] in used[0] and ends[1] in used[1]]
    columns = (
        [row_of[word] for word in a],
        [row_of[word] for word in b],
        [end for end, _ in both],
        [end for _, end in both],
    )
    return Rows(*(np.array(column, np.intp) for column in columns))


def _distinct(words: Sequence[str], row_of: Mapping[str, int]) -> tuple[str, ...]:
    """Words of different rows: two spellings that lead to one vector count once."""
    return tuple({row_of[word]: word for word in reversed(words)}.values())[::-1]
