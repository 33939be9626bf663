"""Pairs of seed sets to compare, and the rows of their seeds in each replicate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, cast

import numpy as np

from biasgauge.core import DEFAULT_POLICY, LexiconLike, Places, WordPolicy, WordsLike, did_you_mean, resolve_sets
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, Filter, Lexicon, Pairs, lexicon, seed_bank, words_of
from biasgauge.vectors import Coverage, Embedding, Lookup

GIVEN = "given words"
"""What words without a name are called by `words_of`."""
_MOST_LOST = 0.5
"""A seed that more than this share of the models lack is lost; otherwise the models that lack it are left out."""


class SeedPair(NamedTuple):
    """Two sets of seeds, in the order of their source, duplicates kept.

    Attributes:
        a, b: what tables call the sets.
        a_words, b_words: the seeds. Those at the same place are a pair; the longer set's rest has no partner.
    """

    a: str
    b: str
    a_words: tuple[str, ...]
    b_words: tuple[str, ...]

    @property
    def duplicates(self) -> dict[str, tuple[str, ...]]:
        """Words that stand more than once in a set."""
        sets = {"a": self.a_words, "b": self.b_words}
        return {end: tuple(dict.fromkeys(w for w in words if words.count(w) > 1)) for end, words in sets.items()}


SeedPairsLike: TypeAlias = "LexiconLike | Iterable[SeedPair | Sequence[WordsLike]]"
"""Pairs of seed sets: "all", a lexicon that has them, or several (a, b)."""


def seed_pairs(
    a: WordsLike | None,
    b: WordsLike | None,
    pairs: SeedPairsLike | None,
    *,
    paper: str | None = None,
    bank_filter: Filter = "corrected",
) -> tuple[SeedPair, ...]:
    """Resolve the arguments of `seeds` that name sets; `paper` alone means pairs="all".

    Raises:
        ParameterError: nothing, or too much, is named; no pairing is of that paper.
    """
    if a is None and pairs is None and paper is not None:
        pairs = "all"
    if (a is None) != (b is None):
        raise ParameterError("Seeds are compared in pairs of sets: give both 'a' and 'b'.")
    if (a is None) == (pairs is None):
        raise ParameterError("Name two sets, 'a' and 'b', or 'pairs' (\"all\" for those of the seed bank).")
    if isinstance(pairs, str) and pairs == "all":
        return _of_bank(paper, bank_filter)
    if paper is not None:
        raise ParameterError("The 'paper' parameter chooses among the pairings of the seed bank: name no other sets.")
    if a is not None and b is not None:
        return (_pair(a, b, ("a", "b")),)
    if isinstance(pairs, (str, Lexicon)):
        return of_lexicon(lexicon(pairs))
    return _listed_pairs(cast("Iterable[SeedPair | Sequence[WordsLike]]", pairs))


def _pair(a: WordsLike, b: WordsLike, names: tuple[str, str]) -> SeedPair:
    sets = words_of(a), words_of(b)
    first, second = (name if words.name == GIVEN else words.name for name, words in zip(names, sets, strict=True))
    return SeedPair(first, second, sets[0].words, sets[1].words)


def _listed_pairs(pairs: Iterable[SeedPair | Sequence[WordsLike]]) -> tuple[SeedPair, ...]:
    wrong = "The 'pairs' of seeds must be \"all\", a lexicon, or several (a, b)."
    if isinstance(pairs, (bytes, dict)) or not hasattr(pairs, "__iter__"):
        raise ParameterError(f"{wrong} Got {type(pairs).__name__}.")
    chosen = []
    for number, pair in enumerate(pairs, 1):
        if isinstance(pair, SeedPair):
            chosen.append(pair)
        elif isinstance(pair, (tuple, list)) and len(pair) == 2:
            chosen.append(_pair(pair[0], pair[1], (f"a{number}", f"b{number}")))
        else:
            raise ParameterError(f"{wrong} Got {pair!r} as number {number}.")
    if not chosen:
        raise ParameterError(f"{wrong} Got none.")
    return tuple(chosen)


def of_lexicon(source: Lexicon) -> tuple[SeedPair, ...]:
    """The pairs of sets that a lexicon sets against each other: X and Y, A and B; or the two ends of base pairs."""
    if isinstance(source, AssociationTest):
        roles = source.roles
        both = [(roles[a], roles[b]) for a, b in (("x", "y"), ("a", "b")) if a in roles and b in roles]
        return tuple(SeedPair(f"{source.name}:{a.name}", f"{source.name}:{b.name}", a.words, b.words) for a, b in both)
    if isinstance(source, Pairs):
        first, second = zip(*source.pairs, strict=True)
        return (SeedPair(f"{source.name}:{source.ends[0]}", f"{source.name}:{source.ends[1]}", first, second),)
    raise ParameterError(
        f"The lexicon {source.name!r} is of kind {source.kind!r}, which sets no two sets against each other; name two "
        "sets, or a lexicon of kind 'test' or 'pairs'."
    )


def _of_bank(paper: str | None, bank_filter: Filter) -> tuple[SeedPair, ...]:
    bank = seed_bank(bank_filter).bank
    wanted = (paper or "").casefold()
    texts = {listed.id: f"{listed.paper}\n{listed.id.replace('_', ' ')}".casefold() for listed in bank.seeds}
    pairings = [(a, b) for a, b in bank.pairings if wanted in texts[a] and wanted in texts[b]]
    if paper is not None and not pairings:
        names = dict.fromkeys(listed.short_paper for listed in bank.seeds)
        raise ParameterError(
            f"No pairing of the seed bank is of a paper {paper!r}{did_you_mean(paper, names)}; "
            "`biasgauge lexicons seed-bank` shows them."
        )
    return tuple(SeedPair(a, b, bank.sets[a], bank.sets[b]) for a, b in pairings)


class PairRows(NamedTuple):
    """Rows of a pair of sets in one model: of the distinct seeds, and of the pairs by position with both ends."""

    a: Places
    b: Places
    first: Places
    second: Places


@dataclass(frozen=True, eq=False)
class Located:
    """A pair of sets, and where the models have it.

    Attributes:
        pair: the sets.
        a, b: the distinct seeds in use, as asked for.
        rows: their rows, by the index of each model that has all seeds in use.
        full_lists: rows of both lists as they are, duplicates kept, by the index of each model that lacks nothing.
        coverage: over all models: a seed is found when at least half of the models have it.
        models: how many models there are.
        reason: why nothing can be measured.
    """

    pair: SeedPair
    a: tuple[str, ...]
    b: tuple[str, ...]
    rows: Mapping[int, PairRows]
    full_lists: Mapping[int, tuple[Places, Places]]
    coverage: Coverage
    models: int
    reason: str | None


def locate(
    pairs: Sequence[SeedPair], models: Sequence[Embedding], policy: WordPolicy = DEFAULT_POLICY
) -> list[Located]:
    """Look every seed up in every model."""
    words = list(dict.fromkeys(word for pair in pairs for word in (*pair.a_words, *pair.b_words)))
    found = [_look_up(model, words, policy.decided(models)) for model in models]
    return [_locate_pair(pair, found, policy.min_coverage) for pair in pairs]


class _Found(NamedTuple):
    """Seeds in one model: rows of those that have a direction, reasons of the others, other spellings."""

    rows: dict[str, int]
    lost: Mapping[str, str]
    respelled: dict[str, str]


def _look_up(model: Embedding, words: Sequence[str], policy: WordPolicy) -> _Found:
    """Find seeds; a compound that is out of vocabulary is also looked up as written with "_", "-" or a space."""
    seeds = resolve_sets({"seeds": words}, [model], policy)["seeds"]
    spelled = {word: [other for other in compound_spellings(word) if other in model.index] for word in seeds.lost}
    compounds = {word: others[0] for word, others in spelled.items() if others}
    rows = {word: int(row[0]) for word, row in seeds.row_of.items()}
    rows |= {word: model.index[other] for word, other in compounds.items() if model.vectors[model.index[other]].any()}
    return _Found(rows, seeds.lost, {**seeds.respelled, **compounds})


def compound_spellings(word: str) -> tuple[str, ...]:
    """Other spellings of a word of several parts: "white collar" as "white_collar" or "white-collar"."""
    for joint in " _-":
        parts = word.split(joint)
        if len(parts) > 1 and all(parts):
            return tuple(separator.join(parts) for separator in "_- " if separator != joint)
    return ()


def _locate_pair(pair: SeedPair, found: Sequence[_Found], min_coverage: float) -> Located:
    lists = pair.a_words, pair.b_words
    coverage = Coverage.of({end: _over_models(words, found) for end, words in zip("ab", lists, strict=True)})
    a, b = (lookup.words for lookup in coverage.sets.values())
    complete = [index for index, model in enumerate(found) if all(word in model.rows for word in (*a, *b))]
    reason = coverage.shortfall(min_coverage) or None
    if min_coverage == 0 and not (a and b):
        reason = f"no seed of {'b' if a else 'a'} was found"
    elif reason is None and not complete:
        reason = f"none of the {len(found)} models has all seeds"
    rows = {}
    if reason is None:
        first = found[complete[0]].rows
        # two spellings that lead to one vector count once: the first of them
        a, b = (tuple({first[word]: word for word in reversed(words)}.values())[::-1] for words in (a, b))
        rows = {index: _rows_in(pair, a, b, found[index].rows) for index in complete}
    full_lists = {
        index: (_array(lists[0], model.rows), _array(lists[1], model.rows))
        for index, model in enumerate(found)
        if all(word in model.rows for words in lists for word in words)
    }
    return Located(pair, a, b, rows, full_lists, coverage, len(found), reason)


def _over_models(words: Sequence[str], found: Sequence[_Found]) -> Lookup:
    """Words that at least half of the models have; a word that stands twice in a set counts once."""
    rows: dict[str, int] = {}
    lost: dict[str, str] = {}
    respelled: dict[str, str] = {}
    for word in dict.fromkeys(words):
        missing = [model.lost[word] for model in found if word not in model.rows]
        if len(missing) > _MOST_LOST * len(found):
            lost[word] = missing[0]
            continue
        rows[word] = next(model.rows[word] for model in found if word in model.rows)
        if spellings := [model.respelled[word] for model in found if word in model.respelled]:
            respelled[word] = spellings[0]
    return Lookup(tuple(rows), np.array(list(rows.values()), np.intp), lost, respelled)


def _rows_in(pair: SeedPair, a: Sequence[str], b: Sequence[str], row_of: Mapping[str, int]) -> PairRows:
    rows = _array(a, row_of), _array(b, row_of)
    in_a, in_b = (set(members.tolist()) for members in rows)
    positions = [(row_of.get(first), row_of.get(second)) for first, second in zip(*pair[2:], strict=False)]
    both = [(first, second) for first, second in positions if first in in_a and second in in_b]
    return PairRows(*rows, *np.array(both, np.intp).reshape(-1, 2).T)


def _array(words: Iterable[str], row_of: Mapping[str, int]) -> Places:
    return np.array([row_of[word] for word in words], np.intp)
