"""Pairs of seed sets to compare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias, cast

from biasgauge.core import LexiconLike, WordsLike, did_you_mean
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, Filter, Lexicon, Pairs, lexicon, seed_bank, words_of

GIVEN = "given words"
"""What words without a name are called by `words_of`."""


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
    """Find out which sets are meant.

    Args:
        a: words, a lexicon, NAME:SET, or the id of a set of the seed bank.
        b: as a.
        pairs: "all" for the pairings of the seed bank, an association test (its targets and its attributes), a lexicon
            of base pairs (its first against its second ends), or several (a, b).
        paper: only pairings of sets whose paper or id holds this text; alone, it means pairs="all".
        bank_filter: which form of the seed bank.

    Raises:
        ParameterError: nothing, or too much, is named; no pairing is of that paper.
    """
    if a is None and pairs is None and paper is not None:
        pairs = "all"
    if (a is None) != (b is None):
        raise ParameterError("Seeds are compared in pairs of sets: give both 'a' and 'b'.")
    if (a is None) == (pairs is None):
        raise ParameterError("Name two sets, 'a' and 'b', or 'pairs' (\"all\" for those of the seed bank).")
    if a is not None and b is not None:
        if paper is not None:
            raise ParameterError("The 'paper' parameter chooses among the pairings of the seed bank, not a and b.")
        return (_pair(a, b, ("a", "b")),)
    if isinstance(pairs, str) and pairs == "all":
        return _of_bank(paper, bank_filter)
    if paper is not None:
        raise ParameterError("The 'paper' parameter chooses among the pairings of the seed bank; 'pairs' names others.")
    if isinstance(pairs, (str, Lexicon)):
        return of_lexicon(lexicon(pairs))
    return _listed_pairs(cast("Iterable[SeedPair | Sequence[WordsLike]]", pairs))


def _pair(a: WordsLike, b: WordsLike, names: tuple[str, str]) -> SeedPair:
    first, second = (
        (name if words.name == GIVEN else words.name, words.words)
        for name, words in zip(names, (words_of(a), words_of(b)), strict=True)
    )
    return SeedPair(first[0], second[0], first[1], second[1])


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
    papers = {listed.id: listed.paper for listed in bank.seeds}
    pairings = bank.pairings
    if paper is not None:
        wanted = paper.casefold()
        pairings = tuple(
            pair
            for pair in pairings
            if all(wanted in papers[name].casefold() or wanted in name.casefold().replace("_", " ") for name in pair)
        )
        if not pairings:
            names = dict.fromkeys(listed.short_paper for listed in bank.seeds)
            raise ParameterError(
                f"No pairing of the seed bank is of a paper {paper!r}{did_you_mean(paper, names)}; "
                "`biasgauge seeds bank` shows them."
            )
    return tuple(SeedPair(a, b, bank.sets[a], bank.sets[b]) for a, b in pairings)
