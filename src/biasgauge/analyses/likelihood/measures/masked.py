"""Measures of masked models: aul and aula, pll, cps, sss; each also as its released code computes it, where it differs.

Measures of pairs align two sentences first: tokens are shared by both, or belong to one alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import NamedTuple

import numpy as np

from biasgauge.analyses.likelihood.models import (
    LanguageModel,
    PairMeasure,
    SentenceMeasure,
    TokenQuery,
    Tokens,
    token_queries,
)
from biasgauge.core import Floats, Integers

KANEKO, NANGIA = "Kaneko & Bollegala 2022", "Nangia, Vania, Bhalerao & Bowman 2020"
_DECIMALS = 3


class TokenAlignment(NamedTuple):
    """Positions of scored tokens in each of two sentences: those shared by both, and those of one alone."""

    shared: tuple[Integers, Integers]
    modified: tuple[Integers, Integers]


def align(first: Tokens, second: Tokens, *, by_word: bool = True) -> TokenAlignment:
    """Align two sentences word by word: a word is shared with all of its pieces or with none.

    Not `by_word`: piece by piece, as released codes do, so that pieces of two different words may count as shared.
    """
    units, keys = [], []
    for tokens in (first, second):
        pieces = [[position] for position in np.flatnonzero(tokens.scored).tolist()]
        units.append(word_positions(tokens) if by_word else pieces)
        keys.append([tuple(tokens.ids[positions].tolist()) for positions in units[-1]])
    positions: dict[bool, tuple[list[int], list[int]]] = {True: ([], []), False: ([], [])}
    matcher = SequenceMatcher(None, keys[0], keys[1], autojunk=not by_word)
    for kind, start, end, second_start, second_end in matcher.get_opcodes():
        matched = units[0][start:end], units[1][second_start:second_end]
        for listed, members in zip(positions[kind == "equal"], matched, strict=True):
            listed += [position for unit in members for position in unit]
    shared, modified = (tuple(np.array(listed, np.int64) for listed in positions[equal]) for equal in (True, False))
    return TokenAlignment(shared, modified)  # type: ignore[arg-type]  # two each


def word_positions(tokens: Tokens) -> list[list[int]]:
    """Positions of the scored tokens, word by word."""
    words: list[list[int]] = []
    for position in np.flatnonzero(tokens.scored).tolist():
        if words and words[-1][-1] == position - 1 and tokens.words[position] == tokens.words[position - 1]:
            words[-1].append(position)
        else:
            words.append([position])
    return words


def hidden_one_by_one(
    model: LanguageModel, rows: Sequence[tuple[Tokens, Integers]], *, whole_words: bool
) -> list[Floats]:
    """Log probability of each token at some positions, hidden in turn.

    With `whole_words` the later pieces of the same word are hidden too, and the earlier ones are not: else the rest of
    a word gives the piece away, and a rare word of many pieces looks likely (Kauf & Ivanova 2023).
    """
    queries = []
    for tokens, positions in rows:
        for position in positions.tolist():
            ids = tokens.ids.copy()
            ids[position] = model.mask
            later = position + 1
            while whole_words and later < len(ids) and tokens.words[later] == tokens.words[position] >= 0:
                ids[later] = model.mask
                later += 1
            queries.append(TokenQuery(ids, np.array([position]), tokens.ids[[position]]))
    answers = np.array([float(answer[0]) for answer in model.log_probabilities(queries)])
    counts = [len(positions) for _, positions in rows]
    return np.split(answers, np.cumsum(counts)[:-1]) if counts else []


def _unmasked(model: LanguageModel, tokens: Sequence[Tokens]) -> list[Floats]:
    """Log probability of each scored token given the whole sentence, with nothing hidden."""
    return model.log_probabilities(token_queries(tokens, [np.flatnonzero(sentence.scored) for sentence in tokens]))


def _aul(model: LanguageModel, tokens: Sequence[Tokens]) -> Floats:
    return np.array([values.mean() for values in _unmasked(model, tokens)])


def _aula(model: LanguageModel, tokens: Sequence[Tokens], *, normalized: bool) -> Floats:
    received = model.attention_received([sentence.ids for sentence in tokens])
    scores = []
    for values, weights, sentence in zip(_unmasked(model, tokens), received, tokens, strict=True):
        weight = weights[sentence.scored]
        scores.append((values * weight).sum() / (weight.sum() if normalized else len(values)))
    return np.array(scores)


def _pll(model: LanguageModel, tokens: Sequence[Tokens], *, whole_words: bool) -> Floats:
    rows = [(sentence, np.flatnonzero(sentence.scored)) for sentence in tokens]
    return np.array([values.sum() for values in hidden_one_by_one(model, rows, whole_words=whole_words)])


def _cps(model: LanguageModel, pairs: Sequence[tuple[Tokens, Tokens]], *, released: bool) -> Floats:
    rows = []
    for pair in pairs:
        rows += list(zip(pair, align(*pair, by_word=not released).shared, strict=True))
    likely = hidden_one_by_one(model, rows, whole_words=not released)
    sums = np.array([values.sum() if len(values) else np.nan for values in likely]).reshape(-1, 2)
    return np.round(sums, _DECIMALS) if released else sums


def _sss(model: LanguageModel, pairs: Sequence[tuple[Tokens, Tokens]], *, released: bool) -> Floats:
    """Mean over the modified tokens, all hidden at once.

    Released: over all positions × all tokens, k × k numbers of which the k on the diagonal are asked for.
    """
    queries = []
    for pair in pairs:
        for tokens, positions in zip(pair, align(*pair, by_word=not released).modified, strict=True):
            ids, targets = tokens.ids.copy(), tokens.ids[positions]
            ids[positions] = model.mask
            times = len(positions) if released else 1
            queries.append(TokenQuery(ids, np.repeat(positions, times), np.tile(targets, times)))
    likely = model.log_probabilities(queries)
    return np.array([values.mean() if len(values) else np.nan for values in likely]).reshape(-1, 2)


MEASURE = (
    SentenceMeasure(
        name="aul",
        summary="Mean log probability of every token given the whole sentence, nothing hidden; special tokens left "
        "out. At most 0. A model that copies its input is near 0 for every sentence.",
        source=KANEKO,
        needs="masked",
        score=_aul,
    ),
    SentenceMeasure(
        name="aula",
        summary="As `aul`, weighted by the attention that each token receives (mean over layers, heads and reading "
        "tokens); weights sum to 1 in each sentence.",
        source=f"{KANEKO}, with weights that sum to 1",
        needs="masked",
        released="aula-released",
        score=partial(_aula, normalized=True),
    ),
    SentenceMeasure(
        name="aula-released",
        summary="As `aula` in the paper and its code: weighted log probabilities are averaged over tokens though "
        "weights sum to about 1 already, so that the longer of two sentences scores higher for its length alone.",
        source=KANEKO,
        needs="masked",
        score=partial(_aula, normalized=False),
    ),
    SentenceMeasure(
        name="pll",
        summary="Sum of the log probabilities of all tokens, each hidden with the later pieces of its word, given the "
        "rest. At most 0; longer sentences score lower.",
        source="Kauf & Ivanova 2023",
        needs="masked",
        released="pll-released",
        score=partial(_pll, whole_words=True),
    ),
    SentenceMeasure(
        name="pll-released",
        summary="As `pll` with each piece hidden alone, as first published: the rest of a word gives its pieces "
        "away, so that rare words of many pieces look likely.",
        source="Salazar, Liang, Nguyen & Kirchhoff 2020",
        needs="masked",
        score=partial(_pll, whole_words=False),
    ),
    PairMeasure(
        name="cps",
        summary="Sum of the log probabilities of the shared words, each piece hidden with the later pieces of its "
        "word, given the rest. Equal scores: the model does not prefer either. Undefined where no word is shared.",
        source=f"{NANGIA}; pieces as in Kauf & Ivanova 2023",
        needs="masked",
        released="cps-released",
        undefined="the two sentences share no word",
        score=partial(_cps, released=False),
    ),
    PairMeasure(
        name="cps-released",
        summary="As `cps` in the authors' code: pieces hidden one at a time, so that the rest of a word gives a "
        "piece away; pieces of different words count as shared; rounded to 3 decimals, which makes ties.",
        source=NANGIA,
        needs="masked",
        undefined="the two sentences share no token",
        score=partial(_cps, released=True),
    ),
    PairMeasure(
        name="sss",
        summary="Mean log probability of the words in which the sentences differ, all hidden at once, given the shared "
        "ones. Equal scores: no preference. Undefined where a sentence has no word of its own.",
        source="Nadeem, Bethke & Reddy 2021, as written by Kaneko & Bollegala 2022",
        needs="masked",
        released="sss-released",
        undefined="one of the two sentences has no word of its own",
        score=partial(_sss, released=False),
    ),
    PairMeasure(
        name="sss-released",
        summary="As `sss` in a public re-implementation, which averages the probability of every modified token at "
        "every modified place (a k × k matrix for its diagonal): wrong wherever more than one piece differs.",
        source="a public re-implementation of Kaneko & Bollegala 2022",
        needs="masked",
        undefined="one of the two sentences has no token of its own",
        score=partial(_sss, released=True),
    ),
)
